"""The margin of a clause, left side minus right side, with an interval for the whole expression.

A proportion, or a difference of two proportions, plus a constant has the closed-form interval that tables
also have. Any other expression has the joint bootstrap interval; for a mean or a difference of means it is
the same as in tables. A gate with `interval: subsets` has subset intervals for everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import UsageError
from assay.core.optional import IndicatorStatistic
from assay.gates.evaluator import Evaluator, FailureValues, Scope, combine, value_of
from assay.gates.intervals import (
    STEP,
    IntervalWidening,
    Linear,
    closed_form_interval,
    linear_form,
    margin_seed_error,
    prediction_powered_interval,
    rows_for_long_tails,
    rows_for_strict_bounds,
)
from assay.gates.operand import CHOICES, Mean, Operand, StatisticOperand, means_of
from assay.gates.syntax import Arithmetic, Call, Clause, Expression, Negation, Number
from assay.measures.observed import has_limit
from assay.stats.columns import TIE, spread
from assay.stats.intervals import (
    FEW,
    LEAST_EFFECTIVE,
    LEAST_TOGETHER,
    NO_INTERVAL,
    Interval,
    effective_rows,
    interval_of,
)

Floats = NDArray[np.float64]
Bounds = tuple[float, float]
NOT_STRICT = (
    "the gate is strict, and only means of measures with a range, and sums of them, have strict bounds"
)


@dataclass(frozen=True)
class BoundedValue:
    """A value with the ends of its interval. The ends are NaN if there is no interval."""

    value: float
    low: float
    high: float

    def __neg__(self) -> BoundedValue:
        return BoundedValue(-self.value, -self.high, -self.low)

    def up_to(self, other: BoundedValue) -> BoundedValue:
        """Returns this value with its own lower end and the upper end of `other`."""
        return BoundedValue(self.value, self.low, other.high)


@dataclass(frozen=True)
class Margin:
    """The margin of a clause (`whole`), and how much it exceeds the margin of equal systems (`gain`)."""

    whole: BoundedValue
    gain: BoundedValue
    left: float
    right: float
    n: int  # clusters
    most: float | None = None  # an infinite value is known to lie above this

    def boundless(self, value: float) -> bool:
        """Whether an infinite value comes from a statistic, and is not a missing end."""
        return self.most is not None and math.isinf(value)

    def __neg__(self) -> Margin:
        return Margin(-self.whole, -self.gain, self.left, self.right, self.n, self.most)


def clause_margins(
    clause: Clause,
    operands: Mapping[Call, Operand],
    evaluator: Evaluator,
    ways: Sequence[FailureValues],
    *,
    subsets: bool = False,
    levels: tuple[float, float] | None = None,
    strict: bool = False,
) -> list[Margin]:
    """Returns the margin of a clause for each way to count failed rows.

    The two ends of an interval may have different levels.
    """
    scope = evaluator.scope(operands.values(), ways[0])
    drawn = evaluator.drawn(operands, ways, scope, subsets=subsets)
    low, high = levels or (evaluator.level, evaluator.level)
    made = {
        level: _at(level, clause, operands, evaluator, ways, scope, drawn, subsets) for level in {low, high}
    }
    whole, bounds = _difference(clause), _bounds(_difference(clause), operands)
    seeds, rows, ends = margin_seed_error(whole, operands, evaluator, drawn[0], scope), None, (0.0, 0.0)
    margins = []
    for lower, upper, way in zip(made[low], made[high], ways, strict=True):
        if strict:
            found = rows_for_strict_bounds(whole, operands, evaluator, way, scope, lower.whole.value)
            if found is None or bounds is None:
                raise UsageError(NOT_STRICT)
            (rows, furthest), (least, most) = found, bounds
            ends = least * furthest, most * furthest
        wider = IntervalWidening(seeds, rows, ends, evaluator.resamples)
        one, other = _widened(lower, wider, low), _widened(upper, wider, high)
        margins.append(replace(one, whole=one.whole.up_to(other.whole), gain=one.gain.up_to(other.gain)))
    return margins


def _widened(margin: Margin, wider: IntervalWidening, level: float) -> Margin:
    whole, gain = (
        BoundedValue(each.value, found.low, found.high)
        for each in (margin.whole, margin.gain)
        for found in [wider.interval(Interval(each.low, each.high, ""), each.value, level)]
    )
    return replace(margin, whole=whole, gain=gain)


def margin_deviations(
    clause: Clause, operands: Mapping[Call, Operand], evaluator: Evaluator, way: FailureValues
) -> Floats:
    """Returns the error of a clause's margin in each resample. Larger errors are nearer to passing.

    Empty if there are too few clusters to know which clauses move together.
    """
    scope = evaluator.scope(operands.values(), way)
    if scope.n < LEAST_TOGETHER:
        return np.empty(0)
    (values,) = evaluator.drawn(operands, [way], scope)
    whole = combine("-", value_of(clause.left, values), value_of(clause.right, values))
    off: Floats = whole[scope.n + 1 :] - whole[0]
    return off if clause.upward else -off


def _at(
    level: float,
    clause: Clause,
    operands: Mapping[Call, Operand],
    evaluator: Evaluator,
    ways: Sequence[FailureValues],
    scope: Scope,
    drawn: Sequence[Mapping[Call, Floats]],
    subsets: bool,
) -> list[Margin]:
    form, bounds = linear_form(_difference(clause)), _bounds(_difference(clause), operands)
    if subsets:
        resampled = partial(_from_subsets, n=scope.n, level=level)
        return [_margin(clause, operands, values, None, resampled, scope.n) for values in drawn]
    stepwise = any(each.traits.stepwise for each in statistics_in(operands))
    long_tails = any(has_limit(found.measure) for found in operands.values() if isinstance(found, Mean))
    resampled = partial(_bootstrapped, scope=scope, bounds=bounds, level=level, stepwise=stepwise)
    margins = []
    for way, values in zip(ways, drawn, strict=True):
        if checked := prediction_powered_interval(form, operands, evaluator, way, level):
            call, mean, interval = checked
            right = {**values, call: np.concatenate([[mean], values[call][1:]])}
            margins.append(_margin(clause, operands, right, interval, resampled, scope.n))
            continue
        closed = closed_form_interval(form, operands, evaluator, way, scope, level)
        compares = _if_alike(_difference(clause), operands, values) is not None
        stuck = closed is None and not compares and _stuck(operands, values, scope.n)
        if long_tails and scope.n < rows_for_long_tails(level):
            closed = NO_INTERVAL
        if closed is None and (stuck or not _tells(form, bounds, operands, evaluator, way, compares)):
            closed = NO_INTERVAL
        margins.append(_margin(clause, operands, values, closed, resampled, scope.n))
    return margins


def _stuck(operands: Mapping[Call, Operand], values: Mapping[Call, Floats], n: int) -> bool:
    """Whether no resample changes a statistic, although its value is not certain."""
    return any(
        isinstance(found, StatisticOperand)
        and not found.traits.settled
        and spread(values[call][n + 1 :]) <= TIE
        for call, found in operands.items()
    )


def statistics_in(operands: Mapping[Call, Operand]) -> list[StatisticOperand]:
    """Returns the statistics among the operands of an expression."""
    return [found for found in operands.values() if isinstance(found, StatisticOperand)]


def _most(operands: Mapping[Call, Operand]) -> float | None:
    """Returns the bound that an infinite value of a statistic lies above; None if no statistic has one."""
    known = [each.traits.most for each in statistics_in(operands)]
    return max((each for each in known if each is not None), default=None)


def _tells(
    form: Linear | None,
    bounds: Bounds | None,
    operands: Mapping[Call, Operand],
    evaluator: Evaluator,
    way: FailureValues,
    compares: bool,
) -> bool:
    """Whether a bootstrap has enough rows to be relied on.

    It needs rows beyond a percentile, and items on which compared systems differ. The difference of two
    bounded means needs no check, because its interval adds a row at each end.
    """
    if form is not None and sorted(form[0].values()) == [-1, 1] and bounds is not None:
        return True
    columns: dict[tuple[str, ...], dict[tuple[tuple[str, str], ...], Floats]] = {}
    for found in operands.values():
        means = means_of(found)
        # a statistic may have columns that are the same for every system, such as the truth
        alike = columns.setdefault((*found.kind, str([mean.where for mean in means])), {})
        alike[tuple(mean.column for mean in means)] = np.array(
            [evaluator.values(mean, way) for mean in means]
        )
        share = found.traits.share if isinstance(found, StatisticOperand) else None
        if share is not None and evaluator.used(found, way).sum() * min(share, 1 - share) < FEW:
            return False
        if isinstance(found, StatisticOperand) and not _seen_enough(found, evaluator, way):
            return False
    for several in columns.values() if compares else ():
        table = np.array(list(several.values()))
        differ = (np.abs(table - table[0]) > TIE).any(axis=(0, 1))
        if len(table) > 1 and len(np.unique(evaluator.rows.clusters[differ])) < FEW:
            return False
    return True


def _seen_enough(found: StatisticOperand, evaluator: Evaluator, way: FailureValues) -> bool:
    """Whether the rows of a statistic are enough for a bootstrap.

    A share needs clusters that count and clusters that do not. Weighted rows must be worth enough equal rows.
    """
    statistic = found.statistic
    columns, rows = evaluator.columns(found, way)
    if not isinstance(statistic, IndicatorStatistic):
        return not found.tag or effective_rows(columns[-1]) >= LEAST_EFFECTIVE
    clusters, counted = evaluator.rows.clusters[rows], statistic.indicator(columns)
    return all(len(np.unique(clusters[side])) >= FEW for side in (counted > 0, counted < 1))


def _difference(clause: Clause) -> Expression:
    return Arithmetic("-", clause.left, clause.right)


def _margin(
    clause: Clause,
    operands: Mapping[Call, Operand],
    values: Mapping[Call, Floats],
    closed: Interval | None,
    resampled: Callable[[Floats], Interval],
    n: int,
) -> Margin:
    left, right = value_of(clause.left, values), value_of(clause.right, values)
    whole = combine("-", left, right)
    interval = closed or resampled(whole)
    estimated = BoundedValue(float(whole[0]), interval.low, interval.high)
    alike = _if_alike(_difference(clause), operands, values)
    if alike is None:
        gain = estimated
    elif spread(alike) <= TIE:
        gain = BoundedValue(
            *(end - float(alike[0]) for end in (estimated.value, interval.low, interval.high))
        )
    else:
        over = combine("-", whole, alike)
        above = NO_INTERVAL if closed is NO_INTERVAL else resampled(over)  # no interval: none for the gain
        gain = BoundedValue(float(over[0]), above.low, above.high)
    return Margin(estimated, gain, float(left[0]), float(right[0]), n, _most(operands))


def _from_subsets(values: Floats, n: int, level: float) -> Interval:
    from assay.stats.subsets import subset_interval

    return subset_interval(values[n + 1 :], level)


def _bootstrapped(
    values: Floats, scope: Scope, bounds: Bounds | None, level: float, *, stepwise: bool = False
) -> Interval:
    n = scope.n
    point, jackknife, draws = float(values[0]), values[1 : n + 1], values[n + 1 :]
    defined = None if np.isnan(jackknife).any() else jackknife
    found = interval_of(
        draws,
        point,
        n,
        jackknife=defined,
        bounds=bounds,
        level=level,
        stepwise=stepwise,
        rows=scope.size,
    )
    if np.isnan(found.low) and n > 1 and spread(draws) <= TIE:
        return Interval(point, point, "constant")  # no resample changes the value
    return found


def _if_alike(
    difference: Expression, operands: Mapping[Call, Operand], values: Mapping[Call, Floats]
) -> Floats | None:
    """Returns the margin if every call had the mean value of its kind; None if nothing is compared.

    An expression compares something if some calls raise it and others lower it. So `a - 1.15 * b` compares,
    and `max(a, b)` does not. A comparison with a number has no loss.
    """
    kinds: dict[tuple[str, ...], list[Floats]] = {}
    for call, found in operands.items():
        kinds.setdefault(found.kind, []).append(values[call])
    level = {call: np.mean(kinds[found.kind], axis=0) for call, found in operands.items()}
    points = {call: array[:1] for call, array in level.items()}
    moved = [value_of(difference, {**points, call: at + STEP}) for call, at in points.items()]
    moves = combine("-", np.concatenate(moved), value_of(difference, points))
    return value_of(difference, level) if moves.min() < 0 < moves.max() else None


def _bounds(expression: Expression, operands: Mapping[Call, Operand]) -> Bounds | None:
    """Returns the range of an expression for a single row; None if it has no range."""
    match expression:
        case Number(value=value):
            return value, value
        case Negation(operand=operand):
            inner = _bounds(operand, operands)
            return None if inner is None else (-inner[1], -inner[0])
        case Arithmetic(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = _bounds(left, operands), _bounds(right, operands)
            if a is None or b is None:
                return None
            corners = combine(op, np.repeat(a, 2), np.tile(b, 2))
            return float(corners.min()), float(corners.max())
        case Call(name=name, args=args) if name in CHOICES:
            parts = [_bounds(arg, operands) for arg in args]
            known = [part for part in parts if part is not None]
            return (min(known)[0], max(high for _, high in known)) if len(known) == len(parts) else None
        case Call():
            found = operands[expression]
            if isinstance(found, Mean) and found.measure.high is not None:
                return found.measure.low, found.measure.high
    return None
