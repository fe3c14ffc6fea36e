"""Finds mistakes in a clause before a run: wrong names, thresholds, units or levels.

A clause is refused with a suggestion if it always passes or always fails, or if no valid interval decides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.core.errors import AssayError
from assay.core.optional import IndicatorStatistic
from assay.gates.decision import decision_rule
from assay.gates.expansion import ClauseGroup, expand_clause, expand_for_each, has_choice
from assay.gates.gate import UNLISTED, StudyNames, operands_of
from assay.gates.intervals import linear_form
from assay.gates.operand import (
    Mean,
    Operand,
    StatisticOperand,
    calls_in,
    means_of,
    operand_range,
    resolve_call,
)
from assay.gates.syntax import Arithmetic, Call, Clause, Number, Rule, substitute, walk
from assay.measures.declaration import declaration_of
from assay.measures.observed import is_unbounded
from assay.stats.intervals import LEVEL

_TURNED_ROUND = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}  # the sign after exchanging both sides


def clause_problems(clause: Clause, names: StudyNames, on: Rule | None = None) -> Iterator[str]:
    """Yields what a clause needs that the study does not have, or why the clause cannot be decided.

    `on` is the rule of the clause's gate.
    """
    try:
        operands = list(operands_of(clause, names))
    except AssayError as error:
        yield f"{clause.text}: {error}"
        return
    found = [
        *_threshold_problems(clause, operands),
        *_unit_problems(clause, operands),
        *_unbounded_problems(clause, operands, on),
        *_choice_problems(clause, names),
    ]
    yield from (f"{clause.text}: {what}" for what in found)
    if clause.level is not None and clause.level < LEVEL:
        lower = f"a gate is sure at {100 * LEVEL:g}%, and {100 * clause.level:g}% would break its promise"
        yield f"{clause.text}: {lower}. Leave `at` out, or ask for more."


# --------------------------------------------------------------------------------- thresholds


def _threshold_problems(clause: Clause, operands: Sequence[Operand]) -> Iterator[str]:
    """Yields a problem if the only operand of a clause can never reach its threshold, or always meets it."""
    match clause.left, clause.right:
        case (Call() as call, Number(value=value)):
            op = clause.op
        case (Number(value=value), Call() as call) if clause.op in _TURNED_ROUND:
            op = _TURNED_ROUND[clause.op]
        case _:
            return
    found = operands[0]
    low, high = operand_range(found)
    name = found.measure.name if isinstance(found, Mean) else found.name
    if not low <= value <= high:
        percent = f" Did you mean {value:g}%?" if low <= value / 100 <= high else ""
        if isinstance(found, StatisticOperand):
            percent = _as_count(call, found, op, value)
        yield f"{value:g} is outside the range {low:g} to {high:g} of {name}.{percent}"
    elif _always(found, op, value, low, high):
        instead = _as_count(call, found, op, value)
        yield f"{name} is a share, from {low:g} to {high:g}, so that this always holds.{instead}"


def _always(found: Operand, op: str, value: float, low: float, high: float) -> bool:
    """Whether a share always meets a threshold. A mean is only examined if it is a mean of failures."""
    if isinstance(found, Mean) and not declaration_of(found.measure).of_failures:
        return False
    return (op == "<=" and value >= high) or (op == ">=" and value <= low)


def _as_count(call: Call, found: Operand, op: str, value: float) -> str:
    """Says how to write a number of items, and how to write a share: a threshold above 1 may mean either."""
    share = f"`{call} {op} {value:g}%`"
    if isinstance(found, Mean):
        return f" Write {share}, or `count({call} = 1) {op} {value:g}` for a number of items."
    sign = found.traits.sign
    test = found.test or f"{call.args[0]} {sign} {' '.join(map(str, call.args[1:2]))}"
    if not (found.test or len(call.args) == 2):
        return ""
    if not isinstance(found.statistic, IndicatorStatistic):
        share = f"`losses({', '.join(map(str, call.args))}) {op} {value:g}%`"
    return f" Write {share} for a share of the items, or `count({test}) {op} {value:g}` for a number of them."


# -------------------------------------------------------------------------------------- units


def _unit_problems(clause: Clause, operands: Sequence[Operand]) -> Iterator[str]:
    """Yields a problem for each unit in a clause that none of its measures has."""
    sides = (clause.left, clause.right, *filter(None, [clause.band]))
    units = {part.unit for side in sides for part in walk(side) if isinstance(part, Number) and part.unit}
    measures = {mean.measure.name: mean.measure for found in operands for mean in means_of(found)}
    known = {declaration_of(measure).unit for measure in measures.values()}
    for unit in sorted(units - known):
        named = ", ".join(measures) or "it"
        yield f"{named} is not measured in {unit}. Write the number without a unit."


# ------------------------------------------------------------------------------ means without an end


def _unbounded_problems(clause: Clause, operands: Sequence[Operand], on: Rule | None) -> Iterator[str]:
    """Yields a problem if an interval would decide a mean without an upper end, such as a mean of times.

    No interval of such a mean covers the true mean as often as it claims.
    """
    means = [mean for found in operands for mean in means_of(found)]
    endless = [
        found
        for found in operands
        if (isinstance(found, Mean) or found.traits.smooth)
        and any(is_unbounded(each.measure) for each in means_of(found))
    ]
    if not endless or decision_rule(clause, on, means) == "estimate":
        return
    measure = means_of(endless[0])[0].measure
    family = declaration_of(measure).family
    meant, sides = clause, (clause.left, clause.right)
    for call in (call for side in sides for call in calls_in(side)):
        if call.name == family:
            median = Call("median", args=(call,))
            left, right = (substitute(side, call, median) for side in (meant.left, meant.right))
            meant = replace(meant, left=left, right=right)
    what = f"a few large values decide the mean of {measure.name}, and no interval of it can be trusted"
    median_too = f"`{meant}`, " if meant != clause else ""
    limit = f"declare a limit above which values count as the limit, {family}(limit=10)"
    yield f"{what}. Write {median_too}{limit}, or end the clause with `on estimate`."


# ------------------------------------------------------------------------------ choices and no comparison


def _choice_problems(clause: Clause, names: StudyNames) -> Iterator[str]:
    """Yields a problem if a `max` or `min` has no known direction, or a system is compared with itself."""

    def operands(one: Clause) -> dict[Call, Operand]:
        every = (*calls_in(one.left), *calls_in(one.right))
        return {
            call: resolve_call(call, list(names.system_names), names.registry, clause=one) for call in every
        }

    for _, each in expand_for_each(clause, lambda _: [UNLISTED]):
        tree = expand_clause(each, lambda _: [UNLISTED], operands)
        plain = list(tree.clauses()) if isinstance(tree, ClauseGroup) else [tree]
        if any(map(has_choice, plain)):
            yield (
                "max or min counts in both directions, or is multiplied or divided by something that can be "
                "negative, so nobody knows which of its values passes most easily. Write a clause for each."
            )
            return
        passing = {one: _always_passes(one) for one in plain}
        if tree.holds(passing) if isinstance(tree, ClauseGroup) else passing[tree]:
            which = "one of its values" if len(plain) > 1 else "a system"
            yield f"{which} is compared with itself, which any system passes. Leave it out."
            return


def _always_passes(clause: Clause) -> bool:
    """Whether a clause contains only numbers, and is true for them."""
    found = linear_form(Arithmetic("-", clause.left, clause.right))
    if found is None or found[0]:
        return False
    margin = found[1]
    return {">=": margin >= 0, ">": margin > 0, "<=": margin <= 0, "<": margin < 0}[clause.op]
