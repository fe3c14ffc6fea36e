"""Whether marks that are still to be made can change a verdict.

A clause that is linear in shares of marks is largest when every open passage is marked as speaks most for it,
and smallest when each is marked as speaks most against it. Decided on subset intervals, or on the estimate,
it is a rising function of every row; so its two ends bound whatever people may still find. A verdict is
settled where all outcomes between those ends conclude alike. Anything else that marks may move, such as a
bootstrap interval, is never called settled while passages are open.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from assay.core.records import ClauseResult, Verdict
from assay.core.results import GO, INCONCLUSIVE, NO_GO
from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.expansion import expand_for_each
from assay.gates.gate import Gate
from assay.gates.intervals import linear_form
from assay.gates.operand import Mean, StatisticOperand, means_of
from assay.gates.syntax import Arithmetic, Clause
from assay.gates.verdict import conclude, gate_levels, overall_verdict, stopping_step
from assay.measures.semantic import GRADES, REVIEW, MarkShare
from assay.review.pool import Candidate, Pool

Completion = Mapping[tuple[str, str], str]  # the mark of every open passage, by item and document
Completed = Callable[[Completion], Evaluator]  # evaluates as if the open passages were marked so
ORDER = (False, None, True)
MARKS = tuple(GRADES)
MOST_COMBINED = 4096  # outcomes of a gate's clauses that are tried together; beyond, anything may happen


@dataclass(frozen=True)
class Outlook:
    """What the gates can still conclude."""

    verdicts: list[str]  # over all deciding gates, each possible word once
    by_gate: dict[str, list[str]]
    open: int  # passages still to be judged

    @property
    def settled(self) -> bool:
        return len(self.verdicts) <= 1

    def settle(self, verdict: Verdict) -> Verdict:
        """A gate's verdict, decided where only one can come of it."""
        words = self.by_gate.get(verdict.gate, [])
        if not self.open or len(words) != 1 or words == [verdict.verdict] or not verdict.clauses:
            return verdict
        reason = f"settled: whatever the {self.open} passages still open turn out to be, it is {words[0]}"
        return msgspec.structs.replace(verdict, verdict=words[0], reason=reason)


def outlook(
    gates: Sequence[Gate], pool: Pool, now: Evaluator, completed: Completed, steps: Sequence[str] = ()
) -> Outlook:
    """Every conclusion that some completion of the open marks may lead to, and perhaps more: never fewer."""
    alone = [_words(gate, pool, now, completed) for gate in gates]
    by_gate: dict[str, set[str]] = {gate.name: set() for gate in gates}
    over_all = set()
    for words in itertools.product(*alone):
        stepped = _stepped({gate.name: word for gate, word in zip(gates, words, strict=True)}, steps)
        for name, word in stepped.items():
            by_gate[name].add(word)
        over_all.add(
            overall_verdict(
                [Verdict(gate.name, stepped[gate.name], [], "", gate.rules.deciding) for gate in gates]
            )
        )
    verdicts = sorted(word for word in over_all if word is not None)
    return Outlook(verdicts, {name: sorted(words) for name, words in by_gate.items()}, len(pool.open))


def _stepped(words: Mapping[str, str], steps: Sequence[str]) -> dict[str, str]:
    """The gates' words once steps that a no-go leaves unreached are open."""
    found = dict(words)
    for name in steps:
        if name in found and stopping_step(name, found, steps) is not None:
            found[name] = INCONCLUSIVE
    return found


def _words(gate: Gate, pool: Pool, now: Evaluator, completed: Completed) -> set[str]:
    """What one gate can conclude."""
    clauses = {clause: role for role, clause in gate.by_role()}
    ranges, levels = [], gate_levels(gate, now)
    for clause, role in clauses.items():
        decided = partial(decide_clause, clause, gate.rules, kills=role == "kill", levels=levels[role])
        ends = _ends(clause, gate, pool, now)
        ranges.append(list(_outcomes(decided, ends, now, completed)))
    if math.prod(map(len, ranges)) > MOST_COMBINED:
        return {GO, NO_GO, INCONCLUSIVE}
    return {
        conclude(gate, dict(zip(clauses, results, strict=True)))[0] for results in itertools.product(*ranges)
    }


def _outcomes(
    decided: Callable[[Evaluator], ClauseResult],
    ends: Sequence[Completion] | None,
    now: Evaluator,
    completed: Completed,
) -> Iterator[ClauseResult]:
    """The results that a clause may have once everything is marked; without known ends, any."""
    if ends is None:
        yield from (msgspec.structs.replace(decided(now), holds=holds, value=0.0) for holds in ORDER)
        yield msgspec.structs.replace(decided(now), holds=None, value=None)  # it may stay without figures
        return
    results = [decided(completed(each) if each else now) for each in ends]
    places = [ORDER.index(result.holds) for result in results]
    for holds in ORDER[min(places) : max(places) + 1]:
        yield msgspec.structs.replace(results[0], holds=holds)


def _ends(clause: Clause, gate: Gate, pool: Pool, now: Evaluator) -> Sequence[Completion] | None:
    """The completions between which a clause's outcome lies; None where that is not known."""
    if not pool.open or not _reads_marks(clause, now):
        return [{}]
    on = clause.on or (None if clause.level else gate.rules.on)
    rising = gate.rules.interval == "subsets" or on == "estimate"
    return extremes(clause, pool, now) if rising else None


def _reads_marks(clause: Clause, now: Evaluator) -> bool:
    each = expand_for_each(
        clause, now.rows.known_values
    )  # what `for` puts after an @ is no measure before that
    leaves = [found for _, one in each for found in now.leaves(one).values()]
    if any(isinstance(found, StatisticOperand) and found.label == REVIEW for found in leaves):
        return True  # agreement
    measures = [mean.measure for found in leaves for mean in means_of(found)]
    return any(
        isinstance(measure, MarkShare) or REVIEW in getattr(measure, "label", "").split("|")
        for measure in measures
    )


def extremes(clause: Clause, pool: Pool, now: Evaluator) -> tuple[Completion, Completion] | None:
    """The completions at which a clause's margin is least and greatest; None where that cannot be told.

    It can where the margin is a sum of shares of marks of one slice, and every system has one arm: then each
    passage moves its own item's row by so much for each mark, whatever the others are.
    """
    form = linear_form(Arithmetic("-", clause.left, clause.right))
    if form is None or clause.each is not None or clause.band is not None or len(now.rows.combinations) > 1:
        return None
    leaves = now.leaves(clause)
    if len({found.where for found in leaves.values()}) > 1:
        return None
    weights: list[tuple[float, str, MarkShare]] = []
    for call, weight in form[0].items():
        found = leaves[call]
        if not isinstance(found, Mean) or not isinstance(found.measure, MarkShare):
            return None
        arm = now.rows.arm(found.system, now.rows.combinations[0])
        if arm is None or arm.name not in pool.arms:
            return None
        weights.append((weight, arm.name, found.measure))
    if pool.seeds > 1 or any(measure.cutoff != pool.depth for _, _, measure in weights):
        return None

    def effect(each: Candidate, mark: str) -> float:
        return sum(
            weight * (mark in measure.marks) / pool.returned[each.item_id, arm]
            for weight, arm, measure in weights
            if arm in each.arms
        )

    least = {each.key: min(MARKS, key=lambda mark: effect(each, mark)) for each in pool.open}
    most = {each.key: max(MARKS, key=lambda mark: effect(each, mark)) for each in pool.open}
    return least, most
