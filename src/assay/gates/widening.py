"""What resampling items does not see: seeds that shift a whole system, and rare losses nobody met.

Both widen the interval of a margin. Seeds always do, where there are several; rare losses only if the gate
says `strict`, because a bound that reckons with everything unseen decides little at ordinary sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.gates.evaluate import Evaluator, FailureValues, Scope, value_of
from assay.gates.leaf import Mean, Operand, StatisticOperand, means_of
from assay.gates.syntax import Call, Expression
from assay.stats.columns import TIE
from assay.stats.intervals import Interval
from assay.stats.resample import Draws
from assay.stats.seeds import SeedStandardError, seed_error_of_columns, seed_error_of_estimates
from assay.stats.unseen import strict_interval

Floats = NDArray[np.float64]
Bounds = tuple[float, float]
STEP = 1e-6
SEED_RESAMPLES = 400  # of items, for how far they move seeds apart


@dataclass(frozen=True)
class IntervalWidening:
    """What is added to the interval of one margin under one way of counting failed rows."""

    seeds: SeedStandardError | None = None
    rows: Floats | None = None  # the margin of every cluster, where rare losses are to be reckoned with
    bounds: Bounds = (0.0, 0.0)
    resamples: int = 0

    def interval(self, plain: Interval, value: float, level: float) -> Interval:
        """The interval of a value that differs from the mean of the rows by a constant only."""
        found = plain
        if self.rows is not None:
            shift = value - float(self.rows.mean())
            ends = self.bounds[0] + shift, self.bounds[1] + shift
            found = strict_interval(self.rows + shift, plain, ends, level, self.resamples)
        return found if self.seeds is None else self.seeds.widened(found, value, level)


def rows_for_strict_bounds(
    margin: Expression,
    leaves: Mapping[Call, Operand],
    evaluator: Evaluator,
    way: FailureValues,
    scope: Scope,
    whole: float,
) -> tuple[Floats, float] | None:
    """What each cluster adds to the margin, times their number, and by how much a large one goes further.

    None where the whole is not the mean of its rows, as of ratios and percentiles.
    """
    if not all(isinstance(found, Mean) for found in leaves.values()):
        return None
    columns = {
        call: evaluator.values(found, way) for call, found in leaves.items() if isinstance(found, Mean)
    }
    rows = value_of(margin, columns)
    inside = (scope.codes >= 0) & ~np.isnan(rows)
    counts = np.bincount(scope.codes[inside], minlength=scope.n)
    sums = np.bincount(scope.codes[inside], weights=rows[inside], minlength=scope.n)
    if not counts.all():
        return None
    found: Floats = sums / counts.mean()
    return (found, float(counts.max() / counts.mean())) if abs(float(found.mean()) - whole) <= TIE else None


def margin_seed_error(
    margin: Expression,
    leaves: Mapping[Call, Operand],
    evaluator: Evaluator,
    values: Mapping[Call, Floats],
    scope: Scope,
) -> SeedStandardError | None:
    """The error that seeds leave in a margin: through its means, or by working it out for each seed."""
    spanning = [
        mean for found in leaves.values() if isinstance(found, StatisticOperand) for mean in found.columns
    ]
    if any(evaluator.rows.by_seed(*mean.column) for mean in spanning):
        return _for_each_seed(margin, leaves, evaluator, scope)
    points = {call: array[:1] for call, array in values.items()}
    columns = []
    for call, found in leaves.items():
        by_seed = evaluator.rows.by_seed(*found.column) if isinstance(found, Mean) else {}
        if by_seed:
            moved = value_of(margin, {**points, call: points[call] + STEP})
            slope = float((moved - value_of(margin, points))[0]) / STEP
            columns.append((slope, by_seed, evaluator.used(found, {})))
    return seed_error_of_columns(columns, scope.codes)


def _for_each_seed(
    margin: Expression, leaves: Mapping[Call, Operand], evaluator: Evaluator, scope: Scope
) -> SeedStandardError | None:
    """The error that seeds leave in a margin of medians, wins or shares, which is not a sum of means."""
    known = [evaluator.rows.by_seed(*mean.column) for found in leaves.values() for mean in means_of(found)]
    seeds = sorted(set.intersection(*(set(by_seed) for by_seed in known if by_seed)))
    if len(seeds) < 2:
        return None
    weights = np.vstack([np.ones((1, scope.n)), *Draws(SEED_RESAMPLES, evaluator.seed).weights(scope.n)])
    values = [
        value_of(
            margin,
            {call: evaluator.under_seed(found, seed, weights, scope) for call, found in leaves.items()},
        )
        for seed in seeds
    ]
    return seed_error_of_estimates(np.array(values))
