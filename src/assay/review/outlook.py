"""Reports the progress of a review, and decides whether open marks can still change a verdict.

A completion gives every open passage a mark. Some clauses are linear in shares of marks. The margin of such a
clause is largest in the completion with the mark that raises the margin most, for every open passage. It is
smallest in the completion with the mark that lowers the margin most. If the clause is decided on subset
intervals or on the estimate, these two completions bound everything that people may still find, because the
interval and the estimate rise with every row.

A verdict is settled if all outcomes between the two completions lead to the same conclusion. If a clause
depends on marks in another way, such as through a bootstrap interval, its outcome is never called settled
while passages are open.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import msgspec
import numpy as np
import polars as pl

from assay.core.block import SCORED, Block
from assay.core.protocols import Judge, Measure
from assay.core.records import ClauseResult, Item, Judgment, Verdict
from assay.core.results import GO, INCONCLUSIVE, NO_GO, ReviewSummary
from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.expansion import expand_for_each
from assay.gates.gate import Gate
from assay.gates.intervals import linear_form
from assay.gates.operand import Mean, StatisticOperand, means_of
from assay.gates.syntax import Arithmetic, Clause
from assay.gates.verdict import conclude, gate_levels, overall_verdict, stopping_step
from assay.judges.labels import add_supposed
from assay.measures.declaration import view_of
from assay.measures.marks import GRADES, REVIEW, SEMANTIC_MATCH, marked_hits, wants_review
from assay.measures.score import score_blocks
from assay.measures.semantic import FalsePositiveRate, MarkShare, SemanticLift, SemanticPrecision
from assay.review.pool import DEPTH, Candidate, Pool, pool_of
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows

Completion = Mapping[tuple[str, str], str]  # the mark of every open passage, by item and document
Completed = Callable[[Completion], Evaluator]  # evaluates as if the open passages had these marks
ORDER = (False, None, True)
MARKS = tuple(GRADES)
MOST_COMBINED = 4096  # combined outcomes of a gate's clauses to try; with more, any verdict is possible


@dataclass(frozen=True)
class Outlook:
    """The verdicts that the gates can still reach."""

    verdicts: list[str]  # the possible verdicts over all deciding gates
    by_gate: dict[str, list[str]]
    open: int  # passages still to be judged

    @property
    def settled(self) -> bool:
        return len(self.verdicts) <= 1

    def settle(self, verdict: Verdict) -> Verdict:
        """Replaces a gate's verdict by the only verdict that is still possible, if there is only one."""
        words = self.by_gate.get(verdict.gate, [])
        if not self.open or len(words) != 1 or words == [verdict.verdict] or not verdict.clauses:
            return verdict
        reason = f"settled: whatever the {self.open} passages still open turn out to be, it is {words[0]}"
        return msgspec.structs.replace(verdict, verdict=words[0], reason=reason)


def outlook(
    gates: Sequence[Gate], pool: Pool, now: Evaluator, completed: Completed, steps: Sequence[str] = ()
) -> Outlook:
    """Returns every verdict that marks on the open passages may lead to.

    It may also return verdicts that no marks can lead to, but it never misses one.
    """
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
    """Returns the gates' verdicts. A step that comes after a step with a no-go is inconclusive."""
    found = dict(words)
    for name in steps:
        if name in found and stopping_step(name, found, steps) is not None:
            found[name] = INCONCLUSIVE
    return found


def _words(gate: Gate, pool: Pool, now: Evaluator, completed: Completed) -> set[str]:
    """Returns the verdicts that a gate can still reach."""
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
    """Yields the results that a clause may have once everything is marked.

    If `ends` is None, the extremes are unknown, and it yields every possible result.
    """
    if ends is None:
        yield from (msgspec.structs.replace(decided(now), holds=holds, value=0.0) for holds in ORDER)
        yield msgspec.structs.replace(decided(now), holds=None, value=None)  # it may never get a value
        return
    results = [decided(completed(each) if each else now) for each in ends]
    places = [ORDER.index(result.holds) for result in results]
    for holds in ORDER[min(places) : max(places) + 1]:
        yield msgspec.structs.replace(results[0], holds=holds)


def _ends(clause: Clause, gate: Gate, pool: Pool, now: Evaluator) -> Sequence[Completion] | None:
    """Returns the completions between which a clause's outcome lies; None if they are not known."""
    if not pool.open or not _reads_marks(clause, now):
        return [{}]
    on = clause.on or (None if clause.level else gate.rules.on)
    rising = gate.rules.interval == "subsets" or on == "estimate"
    return extremes(clause, pool, now) if rising else None


def _reads_marks(clause: Clause, now: Evaluator) -> bool:
    # A measure whose cut-off comes from `for` exists only after the expansion.
    each = expand_for_each(clause, now.rows.known_values)
    operands = [found for _, one in each for found in now.operands(one).values()]
    if any(isinstance(found, StatisticOperand) and found.label == REVIEW for found in operands):
        return True  # the clause reads an agreement
    measures = [mean.measure for found in operands for mean in means_of(found)]
    return any(isinstance(measure, MarkShare) or REVIEW in view_of(measure).labels for measure in measures)


def extremes(clause: Clause, pool: Pool, now: Evaluator) -> tuple[Completion, Completion] | None:
    """Returns the completions with the least and the greatest margin of a clause; None if they are not known.

    They are known if the margin is a sum of shares of marks on one slice, with the cut-off of the pool, and
    every system has one arm and one seed. Then a mark on a passage moves only the row of the passage's item,
    by an amount that does not depend on other marks.
    """
    form = linear_form(Arithmetic("-", clause.left, clause.right))
    if form is None or clause.each is not None or clause.band is not None or len(now.rows.combinations) > 1:
        return None
    operands = now.operands(clause)
    if len({found.where for found in operands.values()}) > 1:
        return None
    weights: list[tuple[float, str, MarkShare]] = []
    for call, weight in form[0].items():
        found = operands[call]
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


# ----------------------------------------------------------------------------------------------

SHOWN_MARKS = 3


@dataclass(frozen=True)
class PassageReview:
    """The passages of a study that people review, and the measures that read their marks."""

    blocks: Sequence[Block]
    items: Sequence[Item]
    measures: Sequence[Measure]  # the measures of the study and of its gates
    cluster: str | None = None
    judges: Sequence[Judge] = ()

    @cached_property
    def depth(self) -> int:
        """The largest cut-off of the study's measures that are shares of marks."""
        cutoffs = [measure.cutoff for measure in self.measures if isinstance(measure, MarkShare)]
        return max(cutoffs, default=DEPTH)

    @cached_property
    def pool(self) -> Pool:
        return pool_of(self.blocks, self.depth, self.judges)

    @property
    def warnings(self) -> list[str]:
        """Warnings about passages that a person marked as missed by keywords, although a rule finds them."""
        both = [each for each in self.pool.candidates if each.ruled and each.mark == SEMANTIC_MATCH]
        if not both:
            return []
        shown = ", ".join(f"{each.doc_id} for {each.item_id}" for each in both[:SHOWN_MARKS])
        more = f" and {len(both) - SHOWN_MARKS} more" if len(both) > SHOWN_MARKS else ""
        what = f"{len(both)} passage{'s' * (len(both) != 1)} marked {SEMANTIC_MATCH} that a rule finds too"
        return [f"{what} ({shown}{more}): counted as marked, in SemanticLift too"]

    @cached_property
    def shares(self) -> list[MarkShare]:
        return [each(self.depth) for each in (SemanticPrecision, SemanticLift, FalsePositiveRate)]

    def outlook(self, gates: Sequence[Gate], now: Evaluator, steps: Sequence[str] = ()) -> Outlook:
        """Returns the verdicts that the gates can still reach."""
        return outlook(gates, self.pool, now, lambda completion: self._completed(completion, now), steps)

    def _completed(self, completion: Completion, now: Evaluator) -> Evaluator:
        """Returns an evaluator of clauses that supposes these marks on the open passages."""
        judgments = [
            Judgment(item_id, REVIEW, GRADES[mark], "", target=doc_id, category=mark)
            for (item_id, doc_id), mark in completion.items()
        ]
        labels = add_supposed(self.blocks[0].labels, judgments)
        blocks = [dataclasses.replace(block, labels=labels) for block in self.blocks]
        marks = [measure for measure in self.measures if isinstance(measure, MarkShare)]
        return dataclasses.replace(now, rows=Rows(score_blocks(marks, blocks), self.items, self.cluster))

    def summary(self, how: ComparisonSettings, found: Outlook) -> ReviewSummary:
        """Summarises the review.

        The rates are over the items that are judged for every arm. Their bounds are over all items that want
        a review.
        """
        pool = self.pool
        complete = pool.complete()
        chosen = [item for item in self.items if item.item_id in set(complete)]
        scores = score_blocks(self.shares, self.blocks).filter(pl.col("item").is_in(complete))
        rows = Rows(scores, chosen, self.cluster)
        estimates, comparisons = summarise(rows, self.shares, dataclasses.replace(how, by=()))
        return ReviewSummary(
            pool.depth,
            len(pool.items),
            complete,
            {arm: len(pool.complete([arm])) for arm in pool.arms},
            sum(each.by_person for each in pool.candidates),
            len(pool.open),
            estimates,
            comparisons,
            {share.name: {arm: self._bounds(arm, share) for arm in pool.arms} for share in self.shares},
            found.verdicts,
            _in_words(pool, found),
        )

    def _bounds(self, arm: str, share: MarkShare) -> tuple[float, float]:
        """Returns the least and the greatest mean of a share that an arm can still reach over all items."""
        ends: list[tuple[float, float]] = []
        for block in (block for block in self.blocks if block.arm.name == arm):
            marks: dict[str, list[str | None]] = {}
            for item_id, _, mark in marked_hits(block, self.depth).iter_rows():
                marks.setdefault(item_id, []).append(mark)
            for item, wants, asked in zip(block.items, wants_review(block), block.asked, strict=True):
                if wants:
                    ends.append(
                        _share_ends(marks.get(item.item_id, []), share) if asked == SCORED else (0.0, 1.0)
                    )
        low, high = np.mean(ends, axis=0) if ends else (0.0, 0.0)
        return float(low), float(high)


def _share_ends(marks: Sequence[str | None], share: MarkShare) -> tuple[float, float]:
    """Returns the share of one answer if no open hit counts, and the share if every open hit counts."""
    known, n = sum(mark in share.marks for mark in marks), max(len(marks), 1)
    return known / n, (known + marks.count(None)) / n


def _in_words(pool: Pool, found: Outlook) -> str:
    if not pool.open:
        return "every passage is judged"
    number = f"{len(pool.open)} passage{'s' * (len(pool.open) != 1)}"
    if not found.verdicts:
        return f"{number} to judge"
    if found.settled:
        return f"settled: whatever the {number} still open turn out to be, the verdict is {found.verdicts[0]}"
    return f"the verdict can still be {' or '.join(found.verdicts)}: {number} to judge"
