"""How far a review is, what it shows, and what it can still change."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from assay.core.block import SCORED, Block
from assay.core.protocols import Judge, Measure
from assay.core.records import Item, Judgment
from assay.core.results import ReviewSummary
from assay.gates.evaluator import Evaluator
from assay.gates.gate import Gate
from assay.judges.labels import add_supposed
from assay.measures.score import score_blocks
from assay.measures.semantic import (
    GRADES,
    REVIEW,
    SEMANTIC_MATCH,
    FalsePositiveRate,
    MarkShare,
    SemanticLift,
    SemanticPrecision,
    marked_hits,
    wants_review,
)
from assay.review.outlook import Completion, Outlook, outlook
from assay.review.pool import DEPTH, Pool, pool_of
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows

SHOWN_MARKS = 3


@dataclass(frozen=True)
class PassageReview:
    """A study's blocks, labels in place, seen as something that people review."""

    blocks: Sequence[Block]
    items: Sequence[Item]
    measures: Sequence[Measure]  # those of the study and of its gates
    cluster: str | None = None
    judges: Sequence[Judge] = ()

    @cached_property
    def depth(self) -> int:
        """As deep as the deepest share of marks that the study reads."""
        cutoffs = [measure.cutoff for measure in self.measures if isinstance(measure, MarkShare)]
        return max(cutoffs, default=DEPTH)

    @cached_property
    def pool(self) -> Pool:
        return pool_of(self.blocks, self.depth, self.judges)

    @property
    def warnings(self) -> list[str]:
        """Where a person says that keywords miss a passage, and a rule finds it."""
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
        """What the gates can still conclude."""
        return outlook(gates, self.pool, now, lambda completion: self._completed(completion, now), steps)

    def _completed(self, completion: Completion, now: Evaluator) -> Evaluator:
        """Clauses evaluated as if the open passages were marked so."""
        judgments = [
            Judgment(item_id, REVIEW, GRADES[mark], "", target=doc_id, category=mark)
            for (item_id, doc_id), mark in completion.items()
        ]
        labels = add_supposed(self.blocks[0].labels, judgments)
        blocks = [dataclasses.replace(block, labels=labels) for block in self.blocks]
        marks = [measure for measure in self.measures if isinstance(measure, MarkShare)]
        return dataclasses.replace(now, rows=Rows(score_blocks(marks, blocks), self.items, self.cluster))

    def summary(self, how: ComparisonSettings, found: Outlook) -> ReviewSummary:
        """Rates on the items judged for every arm, and bounds over all that want a review."""
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
        """The least and greatest mean that an arm can have over all items, whatever is still open."""
        ends: list[tuple[float, float]] = []
        for block in (block for block in self.blocks if block.arm.name == arm):
            marks: dict[str, list[str | None]] = {}
            for item_id, _, mark in marked_hits(block, self.depth).iter_rows():
                marks.setdefault(item_id, []).append(mark)
            for item, wants, asked in zip(block.items, wants_review(block), block.asked, strict=True):
                if wants:
                    ends.append(_ends(marks.get(item.item_id, []), share) if asked == SCORED else (0.0, 1.0))
        low, high = np.mean(ends, axis=0) if ends else (0.0, 0.0)
        return float(low), float(high)


def _ends(marks: Sequence[str | None], share: MarkShare) -> tuple[float, float]:
    """The share of one answer, if no open hit counted and if every one did."""
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
