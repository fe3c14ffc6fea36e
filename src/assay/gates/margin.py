"""The margin of a clause, left minus right, with an interval for the whole expression.

Where the margin is one mean, or the difference of two, plus a constant, the interval is the one that tables
show for it (exact for proportions, and so on); any other expression gets the joint bootstrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.gates.evaluate import FUNCTIONS, Evaluator, Leaf, Mean, Scope
from assay.gates.syntax import Binary, Call, Clause, Expression, Negate, Number
from assay.stats.intervals import NO_INTERVAL, Interval, difference_interval, interval_of, mean_interval

Floats = NDArray[np.float64]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Margin:
    """Left minus right: estimate, interval, spread, and where it would lie if all systems were equal."""

    value: float
    left: float
    right: float
    interval: Interval
    neutral: float
    error: float  # standard error, from the resamples
    n: int  # clusters


def margin_of(
    clause: Clause, leaves: Mapping[Call, Leaf], evaluator: Evaluator, impute: Mapping[str, str]
) -> Margin:
    """The margin of a clause under one way of counting failed rows."""
    scope = evaluator.scope(leaves.values(), impute)
    left = evaluator.value(clause.left, leaves, impute, scope)
    right = evaluator.value(clause.right, leaves, impute, scope)
    whole = left - right
    points = {call: float(evaluator.value(call, leaves, impute, scope)[0]) for call in leaves}
    level_field = float(np.mean(list(points.values()))) if points else np.nan
    neutral = plain(Binary("-", clause.left, clause.right), dict.fromkeys(points, level_field))
    drawn = whole[scope.length :]
    error = float(np.nanstd(drawn)) if len(drawn) and not np.isnan(drawn).all() else np.nan
    interval = _interval(clause, leaves, evaluator, impute, whole, scope)
    return Margin(float(whole[0]), float(left[0]), float(right[0]), interval, neutral, error, scope.n)


def _interval(
    clause: Clause,
    leaves: Mapping[Call, Leaf],
    evaluator: Evaluator,
    impute: Mapping[str, str],
    whole: Floats,
    scope: Scope,
) -> Interval:
    difference = Binary("-", clause.left, clause.right)
    known = _known_interval(linear(difference), leaves, evaluator, impute)
    if known is not None:
        return known
    if len(whole) == 1:
        return NO_INTERVAL
    jackknife = whole[1 : scope.length]
    return interval_of(
        whole[scope.length :],
        float(whole[0]),
        scope.n,
        jackknife=None if np.isnan(jackknife).any() else jackknife,
        bounds=_bounds(difference, leaves),
        level=evaluator.level,
    )


def _known_interval(
    form: tuple[dict[Call, float], float] | None,
    leaves: Mapping[Call, Leaf],
    evaluator: Evaluator,
    impute: Mapping[str, str],
) -> Interval | None:
    """The interval that a table shows for the same mean or difference, moved by the constant."""
    if form is None:
        return None
    weights, constant = form
    means = [leaves[call] for call in weights]
    signs = sorted(weights.values(), reverse=True)
    if signs not in ([1.0], [-1.0], [1.0, -1.0]) or not all(isinstance(mean, Mean) for mean in means):
        return None
    ordered = sorted(weights, key=lambda call: -weights[call])
    columns = [evaluator.values(leaves[call], impute) for call in ordered]  # type: ignore[arg-type]
    present = ~np.isnan(np.array(columns))
    if len(columns) == 2 and (present[0] != present[1]).any():
        return None
    rows = present[0]
    measure = means[0].measure  # type: ignore[union-attr]
    settings = {
        "binary": measure.binary and all(np.isin(column[rows], (0.0, 1.0)).all() for column in columns),
        "clusters": evaluator.rows.clusters[rows],
        "bounds": None if measure.high is None else (measure.low, measure.high),
        "resamples": evaluator.resamples,
        "seed": evaluator.seed,
        "level": evaluator.level,
    }
    if len(columns) == 2:
        found = difference_interval(columns[0][rows], columns[1][rows], **settings)
        return Interval(found.low + constant, found.high + constant, found.method)
    found = mean_interval(columns[0][rows], **settings)
    low, high = sorted((signs[0] * found.low + constant, signs[0] * found.high + constant))
    return Interval(low, high, found.method)


def linear(expression: Expression) -> tuple[dict[Call, float], float] | None:
    """An expression as weights of calls and a constant; None where it is not of that form."""
    match expression:
        case Number(value=value):
            return {}, value
        case Call(name=name):
            return None if name in FUNCTIONS else ({expression: 1.0}, 0.0)
        case Negate(operand=operand):
            return _scaled(linear(operand), -1.0)
        case Binary(op="+", left=left, right=right):
            return _added(linear(left), linear(right))
        case Binary(op="-", left=left, right=right):
            return _added(linear(left), _scaled(linear(right), -1.0))
    return None


def _scaled(
    form: tuple[dict[Call, float], float] | None, by: float
) -> tuple[dict[Call, float], float] | None:
    return None if form is None else ({call: by * weight for call, weight in form[0].items()}, by * form[1])


def _added(
    a: tuple[dict[Call, float], float] | None, b: tuple[dict[Call, float], float] | None
) -> tuple[dict[Call, float], float] | None:
    if a is None or b is None:
        return None
    weights = {call: a[0].get(call, 0.0) + b[0].get(call, 0.0) for call in {**a[0], **b[0]}}
    return {call: weight for call, weight in weights.items() if weight}, a[1] + b[1]


def plain(expression: Expression, values: Mapping[Call, float]) -> float:
    """An expression's worth where every call has the value given."""
    match expression:
        case Number(value=value):
            return value
        case Negate(operand=operand):
            return -plain(operand, values)
        case Call(name=name, args=args) if name in FUNCTIONS:
            return float(FUNCTIONS[name].reduce([plain(arg, values) for arg in args]))
        case Call():
            return values[expression]
        case Binary(op=op, left=left, right=right):
            a, b = plain(left, values), plain(right, values)
            return (
                a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b if b else np.nan
            )


def _bounds(expression: Expression, leaves: Mapping[Call, Leaf]) -> Bounds | None:
    """The range an expression has for a single row; None where it has none."""
    match expression:
        case Number(value=value):
            return value, value
        case Call(name=name, args=args) if name in FUNCTIONS:
            parts = [_bounds(arg, leaves) for arg in args]
            known = [part for part in parts if part is not None]
            return (
                (min(low for low, _ in known), max(high for _, high in known))
                if len(known) == len(parts)
                else None
            )
        case Call():
            found = leaves[expression]
            if isinstance(found, Mean) and found.measure.high is not None:
                return found.measure.low, found.measure.high
            return None
        case Negate(operand=operand):
            inner = _bounds(operand, leaves)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(op="/"):
            return None
        case Binary(op=op, left=left, right=right):
            a, b = _bounds(left, leaves), _bounds(right, leaves)
            return None if a is None or b is None else _bounded(op, a, b)


def _bounded(op: str, a: Bounds, b: Bounds) -> Bounds:
    if op == "+":
        return a[0] + b[0], a[1] + b[1]
    if op == "-":
        return a[0] - b[1], a[1] - b[0]
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)
