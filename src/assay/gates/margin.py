"""The margin of a clause, left minus right, with an interval for the whole expression.

Where the margin is one proportion, or the difference of two, plus a constant, the interval is the closed form
that tables show for it; any other expression gets the joint bootstrap, which for a mean or a difference of
means is again what tables show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.gates.evaluate import Counting, Evaluator, Scope, combined, worth
from assay.gates.leaf import FUNCTIONS, Leaf, Mean
from assay.gates.syntax import Binary, Call, Clause, Expression, Negate, Number
from assay.stats.columns import TIE, discordant
from assay.stats.intervals import Interval, bonett_price, interval_of, proportion_interval

Floats = NDArray[np.float64]
Bounds = tuple[float, float]
Linear = tuple[dict[Call, float], float]  # weights of calls, and a constant
STEP = 1e-6


@dataclass(frozen=True)
class Estimated:
    """A value with the ends of its interval, NaN where there is none."""

    value: float
    low: float
    high: float

    def __neg__(self) -> Estimated:
        return Estimated(-self.value, -self.high, -self.low)


@dataclass(frozen=True)
class Margin:
    """Left minus right, and how far that lies above what systems that are all alike would show."""

    whole: Estimated
    gain: Estimated
    left: float
    right: float
    n: int  # clusters

    def __neg__(self) -> Margin:
        return Margin(-self.whole, -self.gain, self.left, self.right, self.n)


def margins_of(
    clause: Clause, leaves: Mapping[Call, Leaf], evaluator: Evaluator, ways: Sequence[Counting]
) -> list[Margin]:
    """The margin of a clause under each way of counting failed rows."""
    scope = evaluator.scope(leaves.values(), ways[0])
    drawn = evaluator.drawn(leaves, ways, scope)
    return [
        _margin(
            clause,
            leaves,
            values,
            _closed_form(linear(_difference(clause)), leaves, evaluator, way, scope),
            scope.n,
            evaluator.level,
        )
        for way, values in zip(ways, drawn, strict=True)
    ]


def _difference(clause: Clause) -> Expression:
    return Binary("-", clause.left, clause.right)


def _margin(
    clause: Clause,
    leaves: Mapping[Call, Leaf],
    values: Mapping[Call, Floats],
    closed: Interval | None,
    n: int,
    level: float,
) -> Margin:
    left, right = worth(clause.left, values), worth(clause.right, values)
    whole, bounds = left - right, _bounds(_difference(clause), leaves)
    interval = closed or _bootstrapped(whole, n, bounds, level)
    estimated = Estimated(float(whole[0]), interval.low, interval.high)
    alike = _if_alike(_difference(clause), leaves, values)
    if alike is None:
        gain = estimated
    elif np.ptp(alike) <= TIE:
        gain = Estimated(*(end - float(alike[0]) for end in (estimated.value, interval.low, interval.high)))
    else:
        above = _bootstrapped(whole - alike, n, bounds, level)
        gain = Estimated(float(whole[0] - alike[0]), above.low, above.high)
    return Margin(estimated, gain, float(left[0]), float(right[0]), n)


def _bootstrapped(values: Floats, n: int, bounds: Bounds | None, level: float) -> Interval:
    point, jackknife, draws = float(values[0]), values[1 : n + 1], values[n + 1 :]
    defined = None if np.isnan(jackknife).any() else jackknife
    found = interval_of(draws, point, n, jackknife=defined, bounds=bounds, level=level)
    if np.isnan(found.low) and n > 1 and np.ptp(draws) <= TIE:
        return Interval(point, point, "constant")  # no resample moves it
    return found


def _if_alike(
    difference: Expression, leaves: Mapping[Call, Leaf], values: Mapping[Call, Floats]
) -> Floats | None:
    """The margin if every call were worth the mean of its kind; None where it compares nothing.

    An expression compares where some calls raise it and others lower it: `a - 1.15 * b` does, `max(a, b)`
    does not, and against a number there is no loss to speak of.
    """
    kinds: dict[tuple[str, ...], list[Floats]] = {}
    for call, found in leaves.items():
        kinds.setdefault(found.kind, []).append(values[call])
    level = {call: np.mean(kinds[found.kind], axis=0) for call, found in leaves.items()}
    points = {call: array[:1] for call, array in level.items()}
    moved = [worth(difference, {**points, call: at + STEP}) for call, at in points.items()]
    moves = np.concatenate(moved) - worth(difference, points)
    return worth(difference, level) if moves.min() < 0 < moves.max() else None


def _closed_form(
    form: Linear | None, leaves: Mapping[Call, Leaf], evaluator: Evaluator, way: Counting, scope: Scope
) -> Interval | None:
    """The interval of a constant, a proportion, or a difference of two paired ones, plus a constant."""
    if form is None:
        return None
    weights, constant = form
    if not weights:
        return Interval(constant, constant, "constant")
    ordered = sorted(weights, key=lambda call: -weights[call])
    means = [found for call in ordered if isinstance(found := leaves[call], Mean) and found.measure.binary]
    signs = [weights[call] for call in ordered]
    if signs not in ([1], [-1], [1, -1]) or len(means) < len(signs) or len({mean.kind for mean in means}) > 1:
        return None
    columns = np.array([evaluator.values(mean, way) for mean in means])
    rows = ~np.isnan(columns).any(axis=0)
    n = int(rows.sum())
    # unpaired, several rows a cluster, or seeds that disagree: no longer plain successes and failures
    if np.isnan(columns).sum() != len(means) * np.sum(~rows) or n != scope.n:
        return None
    if not np.isin(columns[:, rows], (0.0, 1.0)).all():
        return None
    if len(means) == 2:
        interval = bonett_price(*discordant(*columns[:, rows]), n, evaluator.level)
    else:
        interval = proportion_interval(int(columns[0, rows].sum()), n, evaluator.level)
    low, high = sorted((signs[0] * interval.low, signs[0] * interval.high))
    return Interval(low + constant, high + constant, interval.method)


def linear(expression: Expression) -> Linear | None:
    """An expression as weights of calls and a constant; None where it is not a plain sum of calls."""
    match expression:
        case Number(value=value):
            return {}, value
        case Call(name=name):
            return None if name in FUNCTIONS else ({expression: 1.0}, 0.0)
        case Negate(operand=operand):
            return _added(({}, 0.0), linear(operand), -1)
        case Binary(op="+" | "-" as op, left=left, right=right):
            return _added(linear(left), linear(right), 1 if op == "+" else -1)
    return None


def _added(a: Linear | None, b: Linear | None, sign: int) -> Linear | None:
    if a is None or b is None:
        return None
    weights = {call: a[0].get(call, 0.0) + sign * b[0].get(call, 0.0) for call in {**a[0], **b[0]}}
    return {call: weight for call, weight in weights.items() if weight}, a[1] + sign * b[1]


def _bounds(expression: Expression, leaves: Mapping[Call, Leaf]) -> Bounds | None:
    """The range an expression has for a single row; None where it has none."""
    match expression:
        case Number(value=value):
            return value, value
        case Negate(operand=operand):
            inner = _bounds(operand, leaves)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = _bounds(left, leaves), _bounds(right, leaves)
            if a is None or b is None:
                return None
            corners = combined(op, np.repeat(a, 2), np.tile(b, 2))
            return float(corners.min()), float(corners.max())
        case Call(name=name, args=args) if name in FUNCTIONS:
            parts = [_bounds(arg, leaves) for arg in args]
            known = [part for part in parts if part is not None]
            return (min(known)[0], max(high for _, high in known)) if len(known) == len(parts) else None
        case Call():
            found = leaves[expression]
            if isinstance(found, Mean) and found.measure.high is not None:
                return found.measure.low, found.measure.high
    return None
