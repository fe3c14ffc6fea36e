"""Intervals that need no resampling: of a proportion, a difference of two, a percentile, plus a constant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.gates.evaluate import Counting, Evaluator, Scope
from assay.gates.leaf import FUNCTIONS, Leaf, Mean, Spanning
from assay.gates.syntax import Binary, Call, Expression, Negate, Number
from assay.plugins import blamed
from assay.stats.columns import discordant
from assay.stats.intervals import Interval, bonett_price, proportion_interval, quantile_interval

Linear = tuple[dict[Call, float], float]  # weights of calls, and a constant


def closed_form(
    form: Linear | None,
    leaves: Mapping[Call, Leaf],
    evaluator: Evaluator,
    way: Counting,
    scope: Scope,
    level: float,
) -> Interval | None:
    """The interval of an expression that has one of these forms; None where it has not."""
    if form is None:
        return None
    weights, constant = form
    if not weights:
        return Interval(constant, constant, "constant")
    ordered = sorted(weights, key=lambda call: -weights[call])
    signs = [weights[call] for call in ordered]
    if signs not in ([1], [-1], [1, -1]):
        return None
    found = [leaves[call] for call in ordered]
    interval = (
        _percentile(found, evaluator, way, scope, level)
        or _share(found, evaluator, way, scope, level)
        or _proportions(found, evaluator, way, scope, level)
    )
    if interval is None:
        return None
    low, high = sorted((signs[0] * interval.low, signs[0] * interval.high))
    return Interval(low + constant, high + constant, interval.method)


def powered(
    form: Linear | None, leaves: Mapping[Call, Leaf], evaluator: Evaluator, way: Counting, level: float
) -> tuple[Call, float, Interval] | None:
    """Of a clause about one mean: that mean, and the clause's interval, set right by people; or None."""
    if form is None or [*map(abs, form[0].values())] != [1]:
        return None
    ((call, sign),), constant = form[0].items(), form[1]
    mean = leaves[call]
    found = evaluator.set_right(mean, way, level) if isinstance(mean, Mean) else None
    if found is None:
        return None
    low, high = sorted((sign * found.low, sign * found.high))
    return call, found.value, Interval(low + constant, high + constant, found.method)


def _percentile(
    found: list[Leaf], evaluator: Evaluator, way: Counting, scope: Scope, level: float
) -> Interval | None:
    """One percentile of rows that are each a cluster."""
    only = found[0]
    if len(found) > 1 or not isinstance(only, Spanning):
        return None
    share = getattr(only.statistic, "share", None)
    columns, rows = evaluator.columns(only, way)
    if share is None or len(rows) != scope.n:
        return None
    return quantile_interval(columns[0], share, level)


def _share(
    found: list[Leaf], evaluator: Evaluator, way: Counting, scope: Scope, level: float
) -> Interval | None:
    """One statistic that is a share of some of the rows, which are each a cluster: precision, recall."""
    only = found[0]
    counted = getattr(only.statistic, "trials", None) if isinstance(only, Spanning) else None
    if len(found) > 1 or counted is None or isinstance(only, Mean):
        return None
    columns, rows = evaluator.columns(only, way)
    if len(rows) != scope.n or not np.isin(columns, (0.0, 1.0)).all():
        return None
    with blamed(f"{only.name} broke"):
        successes, trials = counted(columns)
    return proportion_interval(successes, trials, level) if trials else None


def _proportions(
    found: list[Leaf], evaluator: Evaluator, way: Counting, scope: Scope, level: float
) -> Interval | None:
    """A proportion, or the difference of two paired ones."""
    means = [each for each in found if isinstance(each, Mean) and each.measure.binary]
    if len(means) < len(found) or len({mean.kind for mean in means}) > 1:
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
        return bonett_price(*discordant(*columns[:, rows]), n, level)
    return proportion_interval(int(columns[0, rows].sum()), n, level)


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
