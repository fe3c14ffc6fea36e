"""Means of a measure whose labels a paying judge gave, set right by what people said of some of the items.

Every item is scored twice: under the labels as they are without people, and as they are with them. On the
items that people finished both are known, and their difference is the judge's error; on the others only the
first is. `stats.prediction_powered` makes one mean of the two.

An item none of whose hits the judge decided has the same value either way. People were never shown it, so it
counts beside the draw, not in it. So does an item that failed, at whatever value it is counted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import FAILED, MISSING, SCORED, Block, Labels
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
    """Who judged: people, and judges that cost something; both by the names they sign with."""

    people: frozenset[str]
    paying: frozenset[str]

    @classmethod
    def of(cls, judges: Iterable[Judge], names: Sequence[str]) -> LabelSources:
        """The sides among a study's judges; `names` are all that count, best first.

        People whom a paying judge comes before set nothing right: its word is the label, whatever they say.
        """
        listed = list(judges)
        others = {name for judge in listed if not isinstance(judge, PersonJudge) for name in judge.names}
        paying = {name for judge in listed if isinstance(judge, PayingJudge) for name in judge.names}
        first = min((place for place, name in enumerate(names) if name in paying), default=0)
        return cls(frozenset(names[:first]) - others, frozenset(paying))


@dataclass(frozen=True)
class LabelledScores:
    """The values of a measure on an arm's items, twice, and what each item is to the estimate."""

    item_ids: Sequence[str]
    people: Floats  # under the labels with people's
    judge: Floats  # and without
    judged: Bools  # the paying judge decided a hit within the cut-off
    finished: Bools  # and people graded every such hit
    failed: Bools  # no answer came, so that it has no value

    def over(self, items: Collection[str], failed: float | None = None) -> LabelledScores:
        """Some of the items; those that failed count at the value given, or not at all."""
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
        """The mean; None where people finished too few, or left nothing to a judge."""
        counted = ~np.isnan(self.judge)
        done = counted & self.finished & ~np.isnan(self.people)
        rest = counted & self.judged & ~done
        if done.sum() < LEAST or not rest.any() or measure.high is None:
            return None
        bounds = (measure.low, measure.high)
        found = prediction_powered_mean(
            self.people[done], self.judge[done], self.judge[rest], bounds=bounds, level=level
        )
        known = counted & ~self.judged
        return add_known_rows(found, self.judge[known], bounds=bounds, level=level)


@dataclass(frozen=True, eq=False)
class PredictionPowered:
    """The blocks of a study, labels in place, and who gave them.

    `names` are the judges in the order of the study, best first: what the labels' ranks refer to.
    """

    blocks: Sequence[Block]
    names: Sequence[str]
    sides: LabelSources
    _halves: dict[tuple[str, str], LabelledScores] = field(default_factory=dict, repr=False)

    def mean(
        self, arm: str, measure: Measure, items: Collection[str], level: float = 0.95
    ) -> PredictionPoweredMean | None:
        """An arm's mean over some items; None where people do not change it or finished fewer than LEAST."""
        return self.mean_over([arm], measure, items, level)

    def mean_over(
        self,
        arms: Sequence[str],
        measure: Measure,
        items: Collection[str],
        level: float = 0.95,
        failed: float | None = None,
    ) -> PredictionPoweredMean | None:
        """The mean over some items of several arms, failed ones counted at a value or left out.

        An item's value is its mean over the arms: they answered the same question, so that they are no draws
        of their own. Arms that count different items have no such value, and are refused.
        """
        if not any(self.halves(arm, measure) for arm in arms):
            return None
        parts = [self._scored(arm, measure).over(items, failed) for arm in arms]
        if all(_same_items(parts[0], part) for part in parts):
            return _averaged(parts).mean(measure, level)
        if any(part.mean(measure, level) for part in parts):
            what = (
                f"{', '.join(arms)} count different items, so that people's marks set no mean over them right"
            )
            raise UsageError(f"{what}. Ask for one of them with `where`.")
        return None

    def estimate(self, plain: Estimate, arm: str, measure: Measure, items: Collection[str]) -> Estimate:
        """The estimate set right by people; as it was where there is nothing to set right."""
        found = self.mean(arm, measure, items)
        if found is None:
            return plain
        return msgspec.structs.replace(
            plain, value=found.value, low=found.low, high=found.high, method=found.method
        )

    def halves(self, arm: str, measure: Measure) -> LabelledScores | None:
        """The values of a measure with and without people; None where no paying judge's label is read."""
        if not {"hits", "labels"} <= measure.needs or not (self.sides.people and self.sides.paying):
            return None
        found = self._scored(arm, measure)
        return found if found.judged.any() else None

    def _scored(self, arm: str, measure: Measure) -> LabelledScores:
        key = (arm, measure.name)
        if key not in self._halves:
            blocks = [block for block in self.blocks if block.arm.name == arm]
            self._halves[key] = _averaged([self._of_block(measure, block) for block in blocks])
        return self._halves[key]

    def _of_block(self, measure: Measure, block: Block) -> LabelledScores:
        alone = dataclasses.replace(block, labels=self._without_people(block.labels))
        judged, finished = self._looked_at(measure, block, alone)
        (people, failed), (judge, _) = _values(measure, block), _values(measure, alone)
        return LabelledScores(block.item_ids, people, judge, judged, finished, failed)

    def _without_people(self, labels: Labels) -> Labels:
        return dataclasses.replace(labels, frame=labels.frame.filter(~self._by(self.sides.people)))

    def _by(self, names: Set[str]) -> pl.Expr:
        return pl.col("rank").is_in([rank for rank, name in enumerate(self.names) if name in names])

    def _looked_at(self, measure: Measure, block: Block, alone: Block) -> tuple[Bools, Bools]:
        """Where the judge decided a hit that the measure looks at, and where people graded all of these."""
        view = view_of(measure)
        cutoff = cutoff_of(measure) if view.level == "passage" else None
        hits = block.ranking if cutoff is None else block.top(cutoff)
        hits = hits.select("item", target="doc")
        decided = pl.concat([alone.labels.anywhere(label) for label in view.labels])
        decided = decided.unique(["item", "target"], keep="first", maintain_order=True)
        asked = hits.join(decided.filter(self._by(self.sides.paying)), on=["item", "target"], how="semi")
        marked = block.labels.frame.filter(pl.col("label").is_in(view.labels), self._by(self.sides.people))
        left = asked.join(marked, on=["item", "target"], how="anti")
        judged, waiting = set(asked["item"]), set(left["item"])
        among = np.array([item_id in judged for item_id in block.item_ids], dtype=bool)
        return among, among & np.array([item_id not in waiting for item_id in block.item_ids], dtype=bool)


def _values(measure: Measure, block: Block) -> tuple[Floats, Bools]:
    """Values of the items that count, NaN for the others, and which of these failed."""
    values, status = score_block(measure, block)
    return np.where(np.isin(status, (SCORED, MISSING)), values, np.nan), status == FAILED


def _same_items(one: LabelledScores, other: LabelledScores) -> bool:
    return one.item_ids == other.item_ids and bool((np.isnan(one.judge) == np.isnan(other.judge)).all())


def _averaged(parts: Sequence[LabelledScores]) -> LabelledScores:
    """One value an item from several seeds or arms, as rows have it; finished where it is in every one."""
    return LabelledScores(
        parts[0].item_ids,
        np.mean([part.people for part in parts], axis=0),
        np.mean([part.judge for part in parts], axis=0),
        np.any([part.judged for part in parts], axis=0),
        np.all([part.finished | ~part.judged for part in parts], axis=0)
        & np.any([part.judged for part in parts], axis=0),
        np.any([part.failed for part in parts], axis=0),
    )
