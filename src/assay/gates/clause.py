"""Deciding a clause as it is written: its `for`, `max`, `min` and `within` stand for several plain ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import msgspec

from assay.core.records import (
    LABELS,
    ClauseResult,
)
from assay.gates.budget import Levels, share_levels
from assay.gates.decision import (
    FAILS_UNDECIDED,
    PASSES_UNDECIDED,
    decide_plain_clause,
    decision_rule,
    means_in,
    undecided_clause,
)
from assay.gates.evaluate import Evaluator, FailureValues, Scope
from assay.gates.gate_file import GateFile
from assay.gates.leaf import Operand
from assay.gates.looks import NextLook
from assay.gates.margin import margin_deviations
from assay.gates.parts import ClauseGroup, expand_clause
from assay.gates.readiness import (
    describe_only_run,
    explain_no_rows,
    explain_undecidable,
    factor_values_run,
    ways_to_count_failures,
)
from assay.gates.syntax import WITHIN, Call, Clause

WORDS = {True: "holds", False: "fails", None: "open"}
ORDER = (True, None, False)


def levels_for(
    part: ClauseGroup | Clause, rules: GateFile, evaluator: Evaluator, looking: NextLook | None = None
) -> dict[Clause, Levels]:
    """How sure each clause of a part of a gate must be, `for`, `max` and `min` written out."""
    tree = expand_clause(part, evaluator.rows.known_values, evaluator.leaves)
    ready: dict[Clause, tuple[dict[Call, Operand], FailureValues, Scope]] = {}
    for clause in tree.clauses() if isinstance(tree, ClauseGroup) else ():
        leaves = evaluator.leaves(clause)
        means = means_in(leaves)
        if decision_rule(clause, rules.on, means) == "estimate" or explain_undecidable(means, evaluator):
            continue
        if evaluator.identical(clause, leaves):  # certain, so that it takes no share
            continue
        way = ways_to_count_failures(means, evaluator)[0]
        if not explain_no_rows(leaves, evaluator, way):
            ready[clause] = leaves, way, evaluator.scope(leaves.values(), way)
    for scope in {scope.digest: scope for _, _, scope in ready.values()}.values():
        same = [(leaves, way) for leaves, way, other in ready.values() if other.digest == scope.digest]
        evaluator.draw_ahead([(each, way) for leaves, way in same for each in leaves.values()], scope)
    moved = {
        clause: margin_deviations(clause, leaves, evaluator, way)
        for clause, (leaves, way, _) in ready.items()
    }

    def alone(clause: Clause) -> tuple[float, float]:
        plain = evaluator.level
        return (plain, plain) if looking is None else looking.levels(clause.text, plain)

    return share_levels(tree, moved, alone, by_number=rules.interval == "subsets")


def decide_clause(
    clause: Clause,
    rules: GateFile,
    evaluator: Evaluator,
    *,
    kills: bool = False,
    levels: Mapping[Clause, Levels] | None = None,
    looking: NextLook | None = None,
) -> ClauseResult:
    """The result of a clause, from those of the clauses that it stands for. `kills`: it is against go.

    `levels` are those of a whole gate; without them the clause is decided as if it were all of one.
    """
    tree = expand_clause(clause, evaluator.rows.known_values, evaluator.leaves)
    if isinstance(tree, ClauseGroup) and clause.each is not None and len(tree.parts) < max(tree.need, 1):
        name = clause.each.condition.name
        if not tree.parts and (run := factor_values_run(name, evaluator)):
            return undecided_clause(clause.text, describe_only_run(name, run))
        known_values = f"only {len(tree.parts)} values of {name} to repeat it for"
        return undecided_clause(clause.text, f"{known_values}, and {max(tree.need, 1)} are asked for")
    known = levels_for(clause, rules, evaluator, looking) if levels is None else levels

    def result(part: ClauseGroup | Clause) -> ClauseResult:
        if isinstance(part, Clause):
            return decide_plain_clause(
                part, rules, evaluator, kills=kills, shared=known.get(part), looking=looking
            )
        found = [result(each) for each in part.parts]
        if part.band is not None:
            return _inside(clause, found[0], found[1], part.band)
        yes, perhaps = (sum(each.holds is holds for each in found) for holds in (True, None))
        best_first = sorted(found, key=lambda one: (ORDER.index(one.holds), _shortfall(clause, one.value)))
        outcomes = ", ".join(itertools.starmap(_in_short, zip(part.names, found, strict=True)))
        holds = True if yes >= part.need else None if yes + perhaps >= part.need else False
        labels = [one.shows for one in best_first[: part.need] if one.holds is holds]
        return msgspec.structs.replace(
            best_first[part.need - 1],  # the one that the rest hangs on
            text=clause.text,
            holds=holds,
            shows=max(labels, key=LABELS.index, default=""),  # the weakest
            reason=f"{yes} of {len(found)} hold: {outcomes}",
        )

    return result(tree)


def _shortfall(clause: Clause, value: float | None) -> float:
    """How far a margin is from passing, compared with others of the clause."""
    if value is None:
        return math.inf
    return abs(value) if clause.op == WITHIN else -value if clause.upward else value


def _inside(clause: Clause, above: ClauseResult, below: ClauseResult, band: float) -> ClauseResult:
    """A `within` from its two ends: the difference itself, with the interval that must lie in the band."""
    ends = (above.holds, below.holds)
    holds = False if False in ends else None if None in ends else True
    if above.value is None or above.right is None:
        return msgspec.structs.replace(above, text=clause.text, holds=holds)
    side = "above" if above.holds is False else "below"
    place = {True: "", False: f"the difference lies {side} the band", None: "the interval leaves the band"}
    own = (note for each in (above, below) if each.holds is holds for note in each.reason.split("; "))
    notes = [note for note in dict.fromkeys(own) if note not in {PASSES_UNDECIDED, FAILS_UNDECIDED}]
    # an end that shows that it holds may be less sure than one that shows that it fails
    low, high = (below.low, above.high) if holds else (above.low, below.high)
    first, last = (-band, band) if holds else (band, -band)
    known = low is not None and high is not None
    return msgspec.structs.replace(
        above,
        text=clause.text,
        holds=holds,
        value=above.value + band,
        low=None if low is None else low + first,
        high=None if high is None else high + last,
        right=above.right - band,
        reason="; ".join(filter(None, [place[holds] if known else "", *notes])),
        advice=above.advice if above.holds is None else below.advice,
    )


def _in_short(value: str, result: ClauseResult) -> str:
    """One value's outcome with its margin; only where there is none, why."""
    shown = result.reason if result.value is None else f"{result.value:+.3g}"
    return f"{value} {WORDS[result.holds]} ({shown})"
