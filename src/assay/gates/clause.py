"""Deciding one clause: holds, fails, or is open, with the reason.

Over one system the estimate decides. Over several, the clause holds where the estimate passes and the
interval of the difference excludes a loss (or, where the clause tolerates a loss, a larger one); it fails
where the interval excludes passing; in between it is open. `on: estimate` and `on: interval` override.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
from scipy import stats

from assay.gates.evaluate import Evaluator, Mean, means_of
from assay.gates.margin import Margin, margin_of
from assay.gates.syntax import Binary, Call, Clause, Condition, Expression, Negate
from assay.measures.block import FAILED, PENDING, UNJUDGED
from assay.records import ClauseResult
from assay.stats.power import ALPHA, POWER, items_to_settle
from assay.study import GateFile

SLACK = 1e-12  # 0.1 + 0.2 >= 0.3 holds
MOST_FAILING = 4  # systems with failed items whose ends are all combined


def decide_clause(clause: Clause, rules: GateFile, evaluator: Evaluator) -> ClauseResult:
    """The result of a clause; one with `for` is decided for each value first."""
    if clause.each is None:
        return _decided(clause, rules, evaluator)
    results = [
        (label, _decided(one, rules, evaluator))
        for label, one in repeated(clause, evaluator.rows.known_values)
    ]
    if not results:
        return _open(clause, f"nothing to repeat it for: no row has a value of {clause.each.condition.name}")
    need = len(results) if clause.each.need is None else clause.each.need
    yes = sum(result.holds is True for _, result in results)
    perhaps = sum(result.holds is None for _, result in results)
    holds = True if yes >= need else None if yes + perhaps >= need else False
    words = {True: "holds", False: "fails", None: "open"}
    detail = "; ".join(
        f"{label} {words[result.holds]}" + ("" if result.value is None else f" ({result.value:+.3g})")
        for label, result in results
    )
    sign = -1 if clause.op in {"<", "<="} else 1
    worst = sorted(
        (result for _, result in results),
        key=lambda one: sign * (-math.inf if one.value is None else one.value),
    )
    telling = worst[0] if clause.each.need is None else worst[-min(need, len(worst))]
    return msgspec.structs.replace(
        telling, text=clause.text, holds=holds, reason=f"{yes} of {len(results)} hold: {detail}"
    )


def repeated(clause: Clause, known: Callable[[str], Sequence[str]]) -> Iterator[tuple[str, Clause]]:
    """The clause once a value of its `for`: as a cut-off where one bears that name, else as a slice."""
    if clause.each is None:
        yield "", clause
        return
    condition = clause.each.condition
    values: Sequence[str] = condition.values
    if not condition.equal:
        values = [value for value in known(condition.name) if value not in condition.values]
    elif "*" in condition.values:
        values = known(condition.name)
    for value in values:
        left, right = (_bound(side, condition.name, value) for side in (clause.left, clause.right))
        where = clause.where
        if (left, right) == (clause.left, clause.right):
            where = (*where, Condition(condition.name, True, (value,)))
        yield value, dataclasses.replace(clause, left=left, right=right, where=where, each=None)


def _bound(expression: Expression, name: str, value: str) -> Expression:
    """The expression with every `@name` replaced by the value."""
    match expression:
        case Call(at=at, args=args):
            found = (int(value) if value.isdigit() else value) if at == name else at
            return dataclasses.replace(
                expression, at=found, args=tuple(_bound(arg, name, value) for arg in args)
            )
        case Negate(operand=operand):
            return Negate(_bound(operand, name, value))
        case Binary(op=op, left=left, right=right):
            return Binary(op, _bound(left, name, value), _bound(right, name, value))
    return expression


def _decided(clause: Clause, rules: GateFile, evaluator: Evaluator) -> ClauseResult:
    leaves = evaluator.leaves(clause)
    means = [mean for found in leaves.values() for mean in means_of(found)]
    ways = _ways_to_count_failures(means, rules, evaluator)
    margin = margin_of(clause, leaves, evaluator, ways[0])
    reason = _why_open(means, rules, evaluator, ways[0]) or _why_no_value(margin, rules)
    if reason:
        return _shown(clause, None, margin, reason)
    several = len({(mean.system, mean.call.where) for mean in means}) > 1
    outcomes = {
        _rule(clause, margin_of(clause, leaves, evaluator, way) if index else margin, several, rules.on)
        for index, way in enumerate(ways)
    }
    failed = _count(means, evaluator, FAILED)
    if len(outcomes) > 1:
        return _shown(
            clause, None, margin, f"{failed} failed items could turn it; they count at both ends of the range"
        )
    holds = outcomes.pop()
    reason, settle = ("", None) if holds is not None else _why_undecided(clause, margin, rules.on)
    if failed:
        note = f"{failed} failed items, counted at both ends of the range, do not change it"
        reason = f"{reason}; {note}" if reason else note
    return _shown(clause, holds, margin, reason, settle)


def _rule(clause: Clause, margin: Margin, several: bool, on: str | None) -> bool | None:
    """True, False or open, by the rule at the top of this file."""
    value, low, high = _towards_passing(clause, margin)
    passes = value > SLACK if clause.op in {">", "<"} else value >= -SLACK
    if on == "estimate" or (on is None and not several):
        return passes
    if math.isnan(low) or math.isnan(high):
        low, high = (value, value) if margin.error == 0 else (-math.inf, math.inf)
    if passes and low >= _bar(clause, margin, on) - SLACK:
        return True
    return False if not passes and high < SLACK else None


def _towards_passing(clause: Clause, margin: Margin) -> tuple[float, float, float]:
    """Estimate and interval of the margin, turned so that more is nearer to passing."""
    if clause.op in {">", ">="}:
        return margin.value, margin.interval.low, margin.interval.high
    return -margin.value, -margin.interval.high, -margin.interval.low


def _bar(clause: Clause, margin: Margin, on: str | None) -> float:
    """What the interval must stay above: the point of no difference, or the loss a clause tolerates."""
    neutral = margin.neutral if clause.op in {">", ">="} else -margin.neutral
    return 0.0 if on == "interval" or math.isnan(neutral) else min(0.0, neutral)


# ---------------------------------------------------------------------------- what leaves it open


def _ways_to_count_failures(
    means: Sequence[Mean], rules: GateFile, evaluator: Evaluator
) -> list[dict[str, str]]:
    """Every way to count failed rows: at both ends of the range for each system that has any."""
    failing = {mean.system: mean.measure for mean in means if _count([mean], evaluator, FAILED)}
    if rules.failures == "worst":
        return [
            {system: "low" if measure.better == "higher" else "high" for system, measure in failing.items()}
        ]
    ends = itertools.product(("low", "high"), repeat=len(failing))
    return [dict(zip(failing, combination, strict=True)) for combination in ends]


def _why_open(means: Sequence[Mean], rules: GateFile, evaluator: Evaluator, impute: Mapping[str, str]) -> str:
    """Why the rows allow no decision; empty where they do."""
    for code, word in ((PENDING, "not run yet"), (UNJUDGED, "not judged")):
        if n := _count(means, evaluator, code):
            return f"{n} items {word}"
    failing = {mean.system for mean in means if _count([mean], evaluator, FAILED)}
    if len(failing) > MOST_FAILING:
        return f"{len(failing)} systems have failed items"
    unbounded = [mean for mean in means if mean.system in failing and mean.measure.high is None]
    if unbounded and rules.failures == "impute":
        n, name = _count(unbounded, evaluator, FAILED), unbounded[0].measure.name
        return f"{n} failed items, and {name} has no upper end to count them at"
    return _why_unpaired(means, evaluator, impute)


def _why_unpaired(means: Sequence[Mean], evaluator: Evaluator, impute: Mapping[str, str]) -> str:
    """Systems compared on one measure must have the same rows."""
    for (_, _), group in itertools.groupby(
        sorted(means, key=lambda mean: (mean.measure.name, str(mean.where))),
        key=lambda mean: (mean.measure.name, str(mean.where)),
    ):
        first, *others = group
        have = ~np.isnan(evaluator.values(first, impute))
        for other in others:
            differ = np.flatnonzero(have != ~np.isnan(evaluator.values(other, impute)))
            if len(differ):
                items = ", ".join(evaluator.rows.item_of(row).item_id for row in differ[:3])
                more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
                return f"unpaired: {first.system} and {other.system} differ on {items}{more}"
    return ""


def _why_no_value(margin: Margin, rules: GateFile) -> str:
    if margin.n == 0:
        return "no item applies"
    if margin.n < rules.min_items:
        return f"only {margin.n} items; the gate asks for at least {rules.min_items}"
    return "the value is undefined" if math.isnan(margin.value) else ""


def _why_undecided(clause: Clause, margin: Margin, on: str | None) -> tuple[str, int | None]:
    """The reason, and how many more items would settle it if the estimate stays where it is."""
    value, low, high = _towards_passing(clause, margin)
    if value >= -SLACK:
        bar = _bar(clause, margin, on)
        reason = "the estimate passes, but its interval does not exclude a loss"
        return reason, items_to_settle(value, low, high, margin.n, bar)
    reason = "the estimate fails, but its interval does not exclude passing"
    return reason, items_to_settle(value, low, high, margin.n)


def _count(means: Sequence[Mean], evaluator: Evaluator, code: int) -> int:
    rows = np.zeros(len(evaluator.rows), dtype=bool)
    for mean in means:
        status = evaluator.rows.column(mean.system, mean.measure.name).status
        rows |= (status == code) & evaluator.rows.mask(mean.where)
    return int(rows.sum())


# ------------------------------------------------------------------------------------- showing it


def _shown(
    clause: Clause, holds: bool | None, margin: Margin, reason: str, settle: int | None = None
) -> ClauseResult:
    """The result with its evidence; the detectable effect follows from the width of the interval."""
    half = (margin.interval.high - margin.interval.low) / 2
    reach = (stats.norm.ppf(1 - ALPHA / 2) + stats.norm.ppf(POWER)) / stats.norm.ppf(1 - ALPHA / 2)
    return ClauseResult(
        clause.text,
        holds,
        _number(margin.value),
        _number(margin.interval.low),
        _number(margin.interval.high),
        margin.n,
        reason,
        left=_number(margin.left),
        right=_number(margin.right),
        mde=_number(float(reach) * half),
        items_to_settle=settle or None,
    )


def _open(clause: Clause, reason: str) -> ClauseResult:
    return ClauseResult(clause.text, None, None, None, None, 0, reason)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
