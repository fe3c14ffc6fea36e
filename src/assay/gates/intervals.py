"""Intervals of a margin that need no bootstrap, and errors that widen any interval.

There are closed forms for a proportion, a difference of two proportions, a percentile and a weighted mean,
also with a constant added.

Two errors that resampling of items does not show widen an interval. Seeds may shift a whole system; this
error is added if there are several seeds. Rare losses may be missing among the items; this error is added
only if the gate is `strict`, because such bounds decide little with ordinary numbers of items.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.core.optional import IndicatorStatistic, ShareStatistic
from assay.core.registry import as_plugin_error
from assay.gates.evaluator import Evaluator, FailureValues, Scope, value_of
from assay.gates.operand import CHOICES, Mean, Operand, StatisticOperand, means_of
from assay.gates.syntax import Arithmetic, Call, Expression, Negation, Number
from assay.measures.observed import has_limit
from assay.stats.columns import TIE, count_discordant
from assay.stats.intervals import (
    FEW,
    LEAST_EFFECTIVE,
    LEVEL,
    Interval,
    bonett_price,
    effective_rows,
    proportion_interval,
    quantile_interval,
    weighted_interval,
)
from assay.stats.resample import Draws
from assay.stats.widening import (
    SeedStandardError,
    seed_error_of_columns,
    seed_error_of_estimates,
    strict_interval,
)

Floats = NDArray[np.float64]
Linear = tuple[dict[Call, float], float]  # weights of calls, and a constant
LONG_TAILED = 100  # rows that the interval of a mean of times needs at 95 %


def closed_form_interval(
    form: Linear | None,
    operands: Mapping[Call, Operand],
    evaluator: Evaluator,
    way: FailureValues,
    scope: Scope,
    level: float,
) -> Interval | None:
    """Returns the interval of an expression that has a closed form; None for other expressions."""
    if form is None:
        return None
    weights, constant = form
    if not weights:
        return Interval(constant, constant, "constant")
    ordered = sorted(weights, key=lambda call: -weights[call])
    signs = [weights[call] for call in ordered]
    if signs not in ([1], [-1], [1, -1]):
        return None
    found = [operands[call] for call in ordered]
    interval = (
        _percentile(found, evaluator, way, scope, level)
        or _share(found, evaluator, way, scope, level)
        or _proportions(found, evaluator, way, scope, level)
        or _weighted(found, evaluator, way, scope, level)
    )
    if interval is None:
        return None
    low, high = sorted((signs[0] * interval.low, signs[0] * interval.high))
    return Interval(low + constant, high + constant, interval.method)


def prediction_powered_interval(
    form: Linear | None,
    operands: Mapping[Call, Operand],
    evaluator: Evaluator,
    way: FailureValues,
    level: float,
) -> tuple[Call, float, Interval] | None:
    """Returns the corrected mean and interval of a clause about one mean that people checked.

    None for other clauses.
    """
    if form is None or [*map(abs, form[0].values())] != [1]:
        return None
    ((call, sign),), constant = form[0].items(), form[1]
    mean = operands[call]
    found = evaluator.corrected_mean(mean, way, level) if isinstance(mean, Mean) else None
    if found is None:
        return None
    low, high = sorted((sign * found.low, sign * found.high))
    return call, found.value, Interval(low + constant, high + constant, found.method)


def _percentile(
    found: list[Operand], evaluator: Evaluator, way: FailureValues, scope: Scope, level: float
) -> Interval | None:
    """Returns the interval of one percentile, if each row is a cluster."""
    only = found[0]
    if len(found) > 1 or not isinstance(only, StatisticOperand):
        return None
    share = only.traits.share
    columns, rows = evaluator.columns(only, way)
    if share is None or len(rows) != scope.n:
        return None
    return quantile_interval(columns[0], share, level)


def _share(
    found: list[Operand], evaluator: Evaluator, way: FailureValues, scope: Scope, level: float
) -> Interval | None:
    """Returns the interval of a share of some rows, such as precision or recall, if each row is a cluster."""
    only = found[0]
    if len(found) > 1 or isinstance(only, Mean) or not isinstance(only.statistic, ShareStatistic):
        return None
    columns, rows = evaluator.columns(only, way)
    if len(rows) != scope.n or not np.isin(columns, (0.0, 1.0)).all():
        return None
    with as_plugin_error(f"{only.name} broke"):
        successes, trials = only.statistic.trials(columns)
    return proportion_interval(successes, trials, level) if trials else None


def _proportions(
    found: list[Operand], evaluator: Evaluator, way: FailureValues, scope: Scope, level: float
) -> Interval | None:
    """Returns the interval of a proportion, or of the difference of two paired proportions.

    For numbers of items, the ends are multiplied by the number of rows.
    """
    known = [column for each in found if (column := _successes(each, evaluator, way)) is not None]
    if len(known) < len(found) or len({each.kind for each in found}) > 1:
        return None
    columns = np.array(known)
    rows = ~np.isnan(columns).any(axis=0)
    n = int(rows.sum())
    # with unpaired rows, or several rows in a cluster, there are no plain successes
    if np.isnan(columns).sum() != len(known) * np.sum(~rows) or n != scope.n:
        return None
    if not np.isin(columns[:, rows], (0.0, 1.0)).all():
        return None
    if len(known) == 2:
        interval = bonett_price(*count_discordant(*columns[:, rows]), n, level)
    else:
        interval = proportion_interval(int(columns[0, rows].sum()), n, level)
    counts = any(isinstance(each, StatisticOperand) and each.traits.total for each in found)
    return Interval(n * interval.low, n * interval.high, interval.method) if counts else interval


def _weighted(
    found: list[Operand], evaluator: Evaluator, way: FailureValues, scope: Scope, level: float
) -> Interval | None:
    """Returns the interval of a mean weighted by a tag, or of the difference of two over the same rows."""
    operands = [each for each in found if isinstance(each, StatisticOperand) and each.tag]
    if len(operands) < len(found) or len({(each.kind, each.tag) for each in operands}) > 1:
        return None
    read = [evaluator.columns(each, way) for each in operands]
    (columns, rows), (others, other_rows) = read[0], read[-1]
    if len(rows) != scope.n or not np.array_equal(rows, other_rows):
        return None
    measure = operands[0].columns[0].measure
    bounds = None if measure.high is None else (measure.low, measure.high)
    if len(operands) == 1:
        return weighted_interval(columns[0], columns[-1], bounds, level)
    spread = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    return weighted_interval(columns[0] - others[0], columns[-1], spread, level)


def _successes(found: Operand, evaluator: Evaluator, way: FailureValues) -> Floats | None:
    """Returns 1 or 0 for each row of an operand that is a share of rows, and NaN for other rows.

    None if the operand is not a share of rows.
    """
    if isinstance(found, Mean):
        return evaluator.values(found, way) if found.measure.binary else None
    if not isinstance(found.statistic, IndicatorStatistic):
        return None
    columns, rows = evaluator.columns(found, way)
    whole = np.full(len(evaluator.rows), np.nan)
    with as_plugin_error(f"{found.name} broke"):
        whole[rows] = found.statistic.indicator(columns)
    return whole


def rows_for_long_tails(level: float) -> int:
    """Returns how many rows an interval of a mean of times, costs or sizes needs, as large values are rare.

    At 95 % it is 25 times the squared skewness (Cochran, 1977). Exponential times have a skewness of 2, so
    they need 100 rows. Higher levels need more.
    """
    further = special.ndtri((1 + level) / 2) / special.ndtri((1 + LEVEL) / 2)
    return int(np.ceil(LONG_TAILED * further**2 - TIE))


def explain_missing_interval(
    operands: Mapping[Call, Operand], evaluator: Evaluator, way: FailureValues, level: float
) -> str:
    """Says why an operand has no interval, or an interval without an end, and how many items it needs.

    Empty if nothing is missing. The interval of a single percentile has both ends as soon as the chance that
    all rows lie on one side of the percentile is small enough. In an expression, a percentile needs enough
    rows beyond it for a bootstrap.
    """
    for found in operands.values():
        if isinstance(found, Mean) and has_limit(found.measure):
            n, needed = evaluator.clusters(found, way), rows_for_long_tails(level)
            if n < needed:
                what = f"{n} items do not bound a mean of {found.measure.name}"
                return f"{what}: that takes {needed} items, and a median fewer"
        if isinstance(found, StatisticOperand) and found.tag:
            worth = effective_rows(evaluator.columns(found, way)[0][-1])
            if worth < LEAST_EFFECTIVE:
                what = f"by {found.tag} the items weigh as much as {worth:.0f} of one weight"
                return f"{what}, and an interval takes {LEAST_EFFECTIVE}"
        share = found.traits.share if isinstance(found, StatisticOperand) else None
        if share is None or isinstance(found, Mean):
            continue
        n, outer = evaluator.clusters(found, way), max(share, 1 - share)
        is_single = len(operands) == 1 and evaluator.used(found, way).sum() == n
        exact = math.log((1 - level) / 2) / math.log(outer)
        needed = math.ceil((exact if is_single else FEW / (1 - outer)) - 1e-9)
        if n < needed:
            end = "the upper end" if share > 0.5 else "the lower end" if share < 0.5 else "either end"
            what = f"{n} items do not reach {end} of the interval of {found.name}"
            return f"{what}: that takes {needed} items"
    return ""


def linear_form(expression: Expression) -> Linear | None:
    """Returns an expression as weights of calls and a constant; None if it is not a plain sum of calls."""
    match expression:
        case Number(value=value):
            return {}, value
        case Call(name=name):
            return None if name in CHOICES else ({expression: 1.0}, 0.0)
        case Negation(operand=operand):
            return _added(({}, 0.0), linear_form(operand), -1)
        case Arithmetic(op="+" | "-" as op, left=left, right=right):
            return _added(linear_form(left), linear_form(right), 1 if op == "+" else -1)
    return None


def _added(a: Linear | None, b: Linear | None, sign: int) -> Linear | None:
    if a is None or b is None:
        return None
    weights = {call: a[0].get(call, 0.0) + sign * b[0].get(call, 0.0) for call in {**a[0], **b[0]}}
    return {call: weight for call, weight in weights.items() if weight}, a[1] + sign * b[1]


Bounds = tuple[float, float]
STEP = 1e-6
SEED_RESAMPLES = 400  # resamples of items, for the part of the seeds' variance that items explain


@dataclass(frozen=True)
class IntervalWidening:
    """The errors that widen the interval of a margin, for one way to count failed rows."""

    seeds: SeedStandardError | None = None
    rows: Floats | None = None  # the margin of every cluster, if rare losses count
    bounds: Bounds = (0.0, 0.0)
    resamples: int = 0

    def interval(self, plain: Interval, value: float, level: float) -> Interval:
        """Returns the widened interval of a value that is the mean of the rows plus a constant."""
        found = plain
        if self.rows is not None:
            shift = value - float(self.rows.mean())
            ends = self.bounds[0] + shift, self.bounds[1] + shift
            found = strict_interval(self.rows + shift, plain, ends, level, self.resamples)
        return found if self.seeds is None else self.seeds.widened(found, value, level)


def rows_for_strict_bounds(
    margin: Expression,
    operands: Mapping[Call, Operand],
    evaluator: Evaluator,
    way: FailureValues,
    scope: Scope,
    whole: float,
) -> tuple[Floats, float] | None:
    """Returns the margin of every cluster, and the factor by which a cluster may exceed the range of a row.

    The margins are scaled so that their mean is `whole`. None if `whole` is not the mean of its rows, as for
    ratios and percentiles.
    """
    if not all(isinstance(found, Mean) for found in operands.values()):
        return None
    columns = {
        call: evaluator.values(found, way) for call, found in operands.items() if isinstance(found, Mean)
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
    operands: Mapping[Call, Operand],
    evaluator: Evaluator,
    values: Mapping[Call, Floats],
    scope: Scope,
) -> SeedStandardError | None:
    """Returns the standard error, due to seeds, of a margin.

    If seeds change a statistic, the margin is computed for each seed. Otherwise the error follows from the
    means.
    """
    spanning = [
        mean for found in operands.values() if isinstance(found, StatisticOperand) for mean in found.columns
    ]
    if any(evaluator.rows.by_seed(*mean.column) for mean in spanning):
        return _for_each_seed(margin, operands, evaluator, scope)
    points = {call: array[:1] for call, array in values.items()}
    columns = []
    for call, found in operands.items():
        by_seed = evaluator.rows.by_seed(*found.column) if isinstance(found, Mean) else {}
        if by_seed:
            moved = value_of(margin, {**points, call: points[call] + STEP})
            slope = float((moved - value_of(margin, points))[0]) / STEP
            columns.append((slope, by_seed, evaluator.used(found, {})))
    return seed_error_of_columns(columns, scope.codes)


def _for_each_seed(
    margin: Expression, operands: Mapping[Call, Operand], evaluator: Evaluator, scope: Scope
) -> SeedStandardError | None:
    """Returns the standard error, due to seeds, of a margin that is not a sum of means: of medians, say."""
    known = [evaluator.rows.by_seed(*mean.column) for found in operands.values() for mean in means_of(found)]
    seeds = sorted(set.intersection(*(set(by_seed) for by_seed in known if by_seed)))
    if len(seeds) < 2:
        return None
    weights = np.vstack([np.ones((1, scope.n)), *Draws(SEED_RESAMPLES, evaluator.seed).weights(scope.n)])
    values = [
        value_of(
            margin,
            {call: evaluator.under_seed(found, seed, weights, scope) for call, found in operands.items()},
        )
        for seed in seeds
    ]
    return seed_error_of_estimates(np.array(values))
