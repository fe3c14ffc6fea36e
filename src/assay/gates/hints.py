"""Suggestions for spellings that are not in the grammar: what the author probably meant.

Every function returns the text of an error message. A clause in backticks can be used without changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.gates.syntax import WITHIN, Arithmetic, Call, Clause, Expression, Number, substitute

HINTS = {
    "≥": "Write >=.",
    "≤": "Write <=.",
    "=>": "Write >=.",
    "=<": "Write <=.",
    "−": "Write the plain minus sign, -.",
    "–": "Write the plain minus sign, -.",
    "×": "Write *.",
    "÷": "Write /.",
    "∞": "Write inf.",
    "and": "Write each condition as a clause of its own.",
    "or": "Write each condition as a clause of its own.",
    "by": "To ask it of every value of a tag, end the clause with: for each TAG=*.",
    "{": "In figures, {system} stands for each system.",
}

_EQUAL = re.compile(r"==?(?![<>=])\s*(.+)", re.DOTALL)
_TAIL = re.compile(r"\s(?:where|for|on|at|and|or|with)\s")
_AND = re.compile(r"and\s+([^\W\d][\w.-]*\s*(?:=|!=|[<>]=?).*)", re.DOTALL)
_OR = re.compile(r"or\s+(.+)", re.DOTALL)
_WITH_P = re.compile(r"with\s+p\s*<=?\s*(0?\.\d+)\s*")
_SIDES = re.compile(r"(>=|<=|>|<)(?![^(]*\))\s*")


def suggest_band(left: str, rest: str) -> str:
    """Suggests a band instead of `a == b`; empty if another sign is there."""
    found = _EQUAL.match(rest)
    if found is None:
        return ""
    right = _first(found[1])
    band = f"`{left} within 0.02 of {right}`"
    return f"No sample shows that two figures are equal. Say how far apart they may be, as in {band}."


def suggest_plain_band(left: str, band: str, right: str) -> str:
    """Suggests a plain number instead of `a within 2% of b`, which can mean two points or 2 % of b."""
    other = _first(right)
    points, share = f"`{left} within {band} of {other}`", f"`({left}) / ({other}) within {band} of 1`"
    return f"a band in percent reads two ways. Write {points} for points, or {share} for a share"


def suggest_two_clauses(read: str, rest: str) -> str:
    """Suggests two clauses instead of `0.6 <= x <= 0.9`."""
    middle = _SIDES.split(read, maxsplit=1)[-1].strip()
    second = _first(rest)
    scope = rest.strip().removeprefix(second).rstrip()
    both = f"`{read.strip()}{scope}` and `{middle} {second}{scope}`"
    return f"a second comparison. A clause has one: write two clauses, {both}"


def suggest_for_tail(read: str, rest: str, sliced: bool) -> str:
    """Suggests what words after a clause probably mean; empty if this is unknown."""
    if sliced and (found := _AND.match(rest)):
        return f"In a slice, and is a comma: `{read}, {found[1].strip()}`."
    if found := _OR.match(rest):
        return f'If one of them is enough, write `{{any: ["{read}", "{found[1].strip()}"]}}`.'
    if found := _WITH_P.match(rest):
        return f"How sure a clause must be is its level: `{read} at {100 - 100 * float(found[1]):g}%`."
    return ""


def _first(text: str) -> str:
    """Returns the text up to the words that end a clause."""
    tail = _TAIL.search(text)
    return (text if tail is None else text[: tail.start()]).strip()


# ------------------------------------------------------------------------------ calls of no such thing


def suggest_for_call(call: Call, clause: Clause | None) -> str:
    """Suggests how to write a call that many authors spell differently; empty if this is unknown."""
    name = call.name.lower()
    if name == "baseline":
        measure = f"{call.args[0]}" if call.args else "nDCG@10"
        limits = f"`limits: {{worse: {{{measure}: 0.01}}}}` in the study"
        return f"a clause names systems of its study. For a stored baseline use --against NAME, with {limits}"
    if name in {"n", "len", "items"}:
        number = clause.right if clause and isinstance(clause.right, Number) else 50
        return f"how many items a clause needs is said once for the gate: `min_items: {number}`"
    if name in _RENAMED and call.args:
        spelt, why = _RENAMED[name]
        one = replace(call, name=spelt) if spelt else call.args[0]
        return f"{why}: {_rewritten(clause, call, one)}"
    if name in {"low", "high", "lower", "upper", "lcb", "ucb"} and call.args:
        on = None if clause is None else replace(clause, on="interval")
        return f"an end of the interval is what `on interval` reads: {_rewritten(on, call, call.args[0])}"
    if len(call.args) == 2 and name in {"p", "pvalue", "p_value", "d", "cohen_d", "effect"}:
        return _of_a_test(name, call, clause)
    if name in {"std", "sd", "stdev", "stddev", "var", "variance"} and call.args:
        low, few = f"`p10({call.args[0]}) >= 0.1`", f"`share({call.args[0]} < 0.1) <= 10%`"
        return f"a spread does not say which end is bad. For the low end write {low}, for bad items {few}"
    if name == "abs" and len(call.args) == 1:
        return _of_a_distance(call.args[0], clause)
    return ""


_RENAMED = {  # replaced by another name, or by the argument if the name is empty
    **dict.fromkeys(("avg", "average"), ("", "a measure of a system is its mean already")),
    **dict.fromkeys(("failures", "failure", "errors"), ("Failed", "the share that failed is Failed")),
    **dict.fromkeys(("pearson", "corr"), ("spearman", "the correlation of ranks is spearman")),
    **dict.fromkeys(("total",), ("sum", "a total is a sum")),
    **dict.fromkeys(("fraction", "proportion"), ("share", "the share of items that pass a test is share")),
}


def _of_a_test(name: str, call: Call, clause: Clause | None) -> str:
    """Suggests a clause instead of a p-value or an effect size of two columns."""
    one, other = call.args
    if name.startswith("p"):
        bound = clause.right if clause else None
        level = 1 - bound.value if isinstance(bound, Number) and 0 < bound.value < 0.5 else 0.95
        meant = f"`{Clause(one, '>', other, clause.where if clause else (), level=level)}`"
        return f"a gate asks for the difference, and how sure it must be is its level: {meant}"
    meant = f"`{one} >= {other} + 0.02`"
    why = "an effect size is shown beside every comparison"
    return f"{why}; a clause asks for the least difference that matters, in the measure's own unit: {meant}"


def _of_a_distance(inner: Expression, clause: Clause | None) -> str:
    """Suggests a band instead of `abs(a - b) <= x`."""
    match inner, clause:
        case (Arithmetic(op="-", left=left, right=right), Clause(op="<=" | "<", right=Number() as band)):
            meant = replace(clause, left=left, op=WITHIN, band=band, right=right)
            return f"how far apart two may be is a band: `{meant}`"
    return "how far apart two may be is a band: `nDCG@10(new) within 0.02 of nDCG@10(old)`"


def suggest_for_one_value(call: Call, clause: Clause | None) -> str:
    """Suggests a clause instead of `max` or `min` of a single value, which would be the mean."""
    arg, least = call.args[0], call.name == "min"
    bound = clause.right if clause and isinstance(clause.right, Number) else Number(0.1)
    worst = f"`count({arg} {'<' if least else '>'} {bound}) <= 0`"
    what = f"{call.name} of one value is that value, and a measure of a system is its mean over the items"
    end = f"the low end p10({arg})" if least else f"the high end p95({arg})"
    fix = f"For every item write {worst}, for {end}, for the mean {arg}"
    return f"{what}. {fix}, and for the worst slice {call.name}({arg} by TAG)"


def suggest_system_list(call: Call, systems: Sequence[str], clause: Clause | None) -> str:
    """Suggests all systems by name instead of `M(*) >= x`."""
    least = clause is None or (clause.upward == (clause.left == call))
    each = tuple(replace(call, args=(Call(system),)) for system in systems)
    meant = _rewritten(clause, call, Call("min" if least else "max", args=each)) if len(each) > 1 else ""
    return f"name the systems, all of which must pass: {meant}" if meant else f"name the system: {each[0]}"


def explain_wrong_number(call: Call, takes: int, clause: Clause | None) -> str:
    """Says what to do about a statistic with the wrong number of arguments."""
    what = f"{call.name} takes {takes} measure{'s' * (takes != 1)}, not {len(call.args)}"
    if takes == 2 and len(call.args) == 1:
        return f"{what}. A measure needs no statistic for its mean: {_rewritten(clause, call, call.args[0])}"
    return what


def _rewritten(clause: Clause | None, call: Call, by: Expression) -> str:
    """Returns the clause with another expression in place of a call."""
    if clause is None:
        return f"`{by}`"
    left, right = (substitute(side, call, by) for side in (clause.left, clause.right))
    return f"`{replace(clause, left=left, right=right)}`"
