"""Corrects means whose labels come from a paid judge, using what people said about some of the items.

This is prediction-powered inference: the judge's labels are predictions, and people's labels are the truth
for a sample. Every item is scored twice, with people's labels and without them. On the items that people
finished, the difference of the two scores is the judge's error. `prediction_powered_mean` removes this error
from the mean over all items.

If the judge labelled none of an item's hits, both scores of the item are equal. People never saw such an
item. So it is not part of their sample, and is added as a known row. A failed item is also added as a known
row, with the value that failed items count as.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import FAILED, MISSING, SCORED, Block
from assay.core.errors import UsageError
from assay.core.protocols import Judge, Measure, PayingJudge, PersonJudge
from assay.core.records import Estimate
from assay.measures.declaration import cutoff_of, view_of
from assay.measures.score import score_block
from assay.stats.prediction_powered import PredictionPoweredMean, add_known_rows, prediction_powered_mean

LEAST = 10  # items that people must have finished

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabelSources:
    """Who gave labels: people, and paid judges. Both are sets of names that judgments are stored under."""

    people: frozenset[str]
    paying: frozenset[str]

    @classmethod
    def of(cls, judges: Iterable[Judge], names: Sequence[str]) -> LabelSources:
        """Returns the sources among a study's judges. `names` are all names that count, best first.

        People who come after a paid judge in this order correct nothing, because the judge's label counts.
        """
        listed = list(judges)
        others = {name for judge in listed if not isinstance(judge, PersonJudge) for name in judge.names}
        paying = {name for judge in listed if isinstance(judge, PayingJudge) for name in judge.names}
        first = min((place for place, name in enumerate(names) if name in paying), default=0)
        return cls(frozenset(names[:first]) - others, frozenset(paying))


@dataclass(frozen=True)
class LabelledScores:
    """The values of a measure on an arm's items, with and without people's labels."""

    item_ids: Sequence[str]
    people: Floats  # with people's labels
    judge: Floats  # without them
    judged: Bools  # the paid judge labelled a hit that the measure reads
    finished: Bools  # people also labelled every such hit
    failed: Bools  # the system failed, so there is no value

    def over(self, items: Collection[str], failed: float | None = None) -> LabelledScores:
        """Returns the scores of some of the items. Failed items count as the given value, or not at all."""
        wanted = set(items)
        here = [row for row, item_id in enumerate(self.item_ids) if item_id in wanted]
        lost = self.failed[here] & (failed is not None)
        return LabelledScores(
            [self.item_ids[row] for row in here],
            np.where(lost, failed or 0.0, self.people[here]),
            np.where(lost, failed or 0.0, self.judge[here]),
            self.judged[here] & ~lost,
            self.finished[here] & ~lost,
            self.failed[here] & ~lost,
        )

    def mean(self, measure: Measure, level: float = 0.95) -> PredictionPoweredMean | None:
        """Returns the corrected mean; None if there is nothing to correct.

        There is nothing to correct if people finished too few items, or all items that the judge labelled. A
        measure without an upper end has no corrected mean.
        """
        counted = ~np.isnan(self.judge)
        done = counted & self.finished & ~np.isnan(self.people)
        rest = counted & self.judged & ~done
        if done.sum() < LEAST or not rest.any() or measure.high is None:
            return None
        bounds = (measure.low, measure.high)
        found = prediction_powered_mean(
            self.people[done], self.judge[done], self.judge[rest], bounds=bounds, level=level
        )
        return add_known_rows(found, self.judge[counted & ~self.judged], bounds=bounds, level=level)

    def has_items_of(self, other: LabelledScores) -> bool:
        """Whether both have the same items, and have values for the same items."""
        same = self.item_ids == other.item_ids
        return same and bool((np.isnan(self.judge) == np.isnan(other.judge)).all())


def _average(parts: Sequence[LabelledScores]) -> LabelledScores:
    """Returns each item's mean over seeds or arms.

    An item is finished if people finished it in every part in which the judge labelled it.
    """
    judged = np.any([part.judged for part in parts], axis=0)
    return LabelledScores(
        parts[0].item_ids,
        np.mean([part.people for part in parts], axis=0),
        np.mean([part.judge for part in parts], axis=0),
        judged,
        np.all([part.finished | ~part.judged for part in parts], axis=0) & judged,
        np.any([part.failed for part in parts], axis=0),
    )


@dataclass(frozen=True, eq=False)
class PredictionPowered:
    """Corrects the means of a study with people's labels.

    `blocks` hold the responses with their labels, and `sources` says who gave the labels. `names` are the
    judges of the study, the most trusted first. The rank of a label is a place in this order.
    """

    blocks: Sequence[Block]
    names: Sequence[str]
    sources: LabelSources
    _scores: dict[tuple[str, str], LabelledScores] = field(default_factory=dict, repr=False)

    def mean(
        self,
        arms: Sequence[str],
        measure: Measure,
        items: Collection[str],
        level: float = 0.95,
        failed: float | None = None,
    ) -> PredictionPoweredMean | None:
        """Returns the corrected mean over some items of one or several arms; None if there is no correction.

        There is no correction if people's labels change nothing, or people finished too few items. Failed
        items count as the given value, or not at all. The value of an item is its mean over the arms: they
        answered the same question, so they are not separate draws. Raises a UsageError if the arms count
        different items.
        """
        if not any(self.labelled_scores(arm, measure) for arm in arms):
            return None
        parts = [self._scored(arm, measure).over(items, failed) for arm in arms]
        if all(parts[0].has_items_of(part) for part in parts):
            return _average(parts).mean(measure, level)
        if any(part.mean(measure, level) for part in parts):
            what = (
                f"{', '.join(arms)} count different items, so people's marks cannot correct a mean over them"
            )
            raise UsageError(f"{what}. Ask for one of them with `where`.")
        return None

    def estimate(self, plain: Estimate, arm: str, measure: Measure, items: Collection[str]) -> Estimate:
        """Returns the estimate with the corrected mean, or the plain one if there is nothing to correct."""
        found = self.mean([arm], measure, items)
        if found is None:
            return plain
        return msgspec.structs.replace(
            plain, value=found.value, low=found.low, high=found.high, method=found.method
        )

    def labelled_scores(self, arm: str, measure: Measure) -> LabelledScores | None:
        """Returns a measure's values with and without people. None if it reads no label of a paid judge."""
        if not {"hits", "labels"} <= measure.needs or not (self.sources.people and self.sources.paying):
            return None
        found = self._scored(arm, measure)
        return found if found.judged.any() else None

    def _scored(self, arm: str, measure: Measure) -> LabelledScores:
        key = (arm, measure.name)
        if key not in self._scores:
            self._scores[key] = _average(
                [self._of_block(measure, block) for block in self.blocks if block.arm.name == arm]
            )
        return self._scores[key]

    def _of_block(self, measure: Measure, block: Block) -> LabelledScores:
        frame = block.labels.frame.filter(~self._by(self.sources.people))
        without = dataclasses.replace(block, labels=dataclasses.replace(block.labels, frame=frame))
        judged, finished = self._coverage(measure, block, without)
        (people, failed), (judge, _) = _values(measure, block), _values(measure, without)
        return LabelledScores(block.item_ids, people, judge, judged, finished, failed)

    def _by(self, names: Set[str]) -> pl.Expr:
        return pl.col("rank").is_in([rank for rank, name in enumerate(self.names) if name in names])

    def _coverage(self, measure: Measure, block: Block, without: Block) -> tuple[Bools, Bools]:
        """Returns the items with a hit that the measure reads and the judge labelled, and the finished ones.

        An item is finished if people labelled all such hits.
        """
        view = view_of(measure)
        cutoff = cutoff_of(measure) if view.level == "passage" else None
        hits = block.ranking if cutoff is None else block.top(cutoff)
        hits = hits.select("item", target="doc")
        decided = pl.concat([without.labels.anywhere(label) for label in view.labels])
        decided = decided.unique(["item", "target"], keep="first", maintain_order=True)
        judged = hits.join(decided.filter(self._by(self.sources.paying)), on=["item", "target"], how="semi")
        marked = block.labels.frame.filter(pl.col("label").is_in(view.labels), self._by(self.sources.people))
        unmarked = judged.join(marked, on=["item", "target"], how="anti")
        with_judged, with_unmarked = set(judged["item"]), set(unmarked["item"])
        is_judged = np.array([item_id in with_judged for item_id in block.item_ids], dtype=bool)
        has_unmarked = np.array([item_id in with_unmarked for item_id in block.item_ids], dtype=bool)
        return is_judged, is_judged & ~has_unmarked


def _values(measure: Measure, block: Block) -> tuple[Floats, Bools]:
    """Returns the values of the items that count (NaN for other items), and which items failed."""
    values, status = score_block(measure, block)
    return np.where(np.isin(status, (SCORED, MISSING)), values, np.nan), status == FAILED
