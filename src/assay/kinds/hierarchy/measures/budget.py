"""Token budgets: how much of its evidence an item's context shows, and whether it is enough to answer.

T is the budget, `inf` the context without one. An item applies where its gold has evidence. A response
without any context is missing and counts 0; one that has contexts, but none for this budget, has no value.
Calling a query impossible changes nothing here: a context shows what it shows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block, View
from assay.core.errors import UsageError
from assay.core.records import Budget, Response
from assay.core.shown import ShownEvidence, context_target
from assay.measures.parse import measure_name

FIRST_ADDRESS = "assay.measures.budget"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
CONTEXTS = frozenset({"contexts"})


@dataclass(frozen=True)
class Budgeted(ABC):
    """A measure of the context under a budget: from 0 to 1, 0 when nothing came back."""

    family: ClassVar[str]
    blank: ClassVar[frozenset[str]] = CONTEXTS
    at: ClassVar[str] = "tokens"
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = False
    pooled: ClassVar[bool] = False
    cutoff: Budget = None

    def __post_init__(self) -> None:
        if self.cutoff is not None and self.cutoff < 1:
            raise UsageError(f"{self.family}: the budget is {self.cutoff}, and must be at least 1 token.")

    @property
    def name(self) -> str:
        return measure_name(self, "@inf")

    @property
    def needs(self) -> frozenset[str]:
        return CONTEXTS

    def applies(self, block: Block) -> Bools:
        return np.array([bool(item.gold.get("evidence")) for item in block.items], dtype=bool)

    @abstractmethod
    def values(self, block: Block) -> Floats:
        """The values. NaN: the response has no context for this budget."""


@dataclass(frozen=True)
class OneContext(Budgeted):
    """A measure of one context alone."""

    def values(self, block: Block) -> Floats:
        found = block.shown.get(self.cutoff) or [None] * len(block.items)
        return np.array([np.nan if shown is None else self.of(shown) for shown in found], dtype=float)

    @abstractmethod
    def of(self, shown: ShownEvidence) -> float:
        """The value of one context."""


@dataclass(frozen=True)
class ER(OneContext):
    """Evidence recall within tokens: the fraction of the evidence units that the context shows.

    A unit is shown where every sentence that an answer takes of it is there in full, or those of another
    place that says the same. Range 0 to 1.

    Yang et al., "HotpotQA", EMNLP 2018, for supporting sentences; Dasigi et al., "A dataset of
    information-seeking questions and answers anchored in research papers", NAACL 2021, for paragraphs.
    """

    family: ClassVar[str] = "ER"

    def of(self, shown: ShownEvidence) -> float:
        return shown.recall


@dataclass(frozen=True)
class EP(OneContext):
    """Evidence precision within tokens: the fraction of the context's characters that lie in evidence units.

    Range 0 to 1; 0 for an empty context. Line breaks between the pieces are not counted.
    """

    family: ClassVar[str] = "EP"

    def of(self, shown: ShownEvidence) -> float:
        return shown.precision


@dataclass(frozen=True)
class A(OneContext):
    """Answerability within tokens: 1 where the context shows every evidence unit, else 0.

    With `label`, a judge says instead whether the context is enough: the label's grade of the target
    "context@400" (or "context@inf"), for this arm and seed, 1 where it is at least 1. Where there is none the
    item is unjudged, unless the context is empty: from nothing nobody can answer.
    """

    family: ClassVar[str] = "A"
    binary: ClassVar[bool] = True
    label: str = ""

    @property
    def needs(self) -> frozenset[str]:
        return CONTEXTS | {"labels"} if self.label else CONTEXTS

    @property
    def seen_in(self) -> View:
        """What it reads of a block."""
        return View(label=self.label) if self.label else View()

    def of(self, shown: ShownEvidence) -> float:
        return float(shown.complete)

    def values(self, block: Block) -> Floats:
        return self._judged(block) if self.label else super().values(block)

    def _judged(self, block: Block) -> Floats:
        said = block.label(self.label).filter(pl.col("target") == context_target(self.cutoff))
        grades = dict(said.select("item", "grade").iter_rows())
        pairs = zip(block.item_ids, block.responses, strict=True)
        return np.array(
            [self._enough(response, grades.get(item_id)) for item_id, response in pairs], dtype=float
        )

    def _enough(self, response: Response | None, grade: float | None) -> float:
        contexts = response.contexts if response is not None else ()
        context = next((each for each in contexts if each.budget == self.cutoff), None)
        if context is None:
            return np.nan
        if grade is None:
            return np.nan if context.text.strip() else 0.0
        return float(grade >= 1)


@dataclass(frozen=True)
class AUC(Budgeted):
    """Area under the budget curve: that under A@t from 0 to T, by trapezoids between budgets, divided by T.

    The budgets are those of the study up to T; A@0 is 0. Range 0 to 1, which no curve reaches that starts
    from 0. An item's area is linear in its A@t, so the mean over items is the area under the mean curve.
    """

    family: ClassVar[str] = "AUC"
    cutoff: int = 1200

    def values(self, block: Block) -> Floats:
        found = block.shown
        budgets = sorted(each for each in found if each is not None and each <= self.cutoff)
        if self.cutoff not in budgets:
            return np.full(len(block.items), np.nan)
        # an item that lacks one of the budgets has another curve than the rest, and no value
        curve = [np.zeros(len(block.items)), *(_complete(found[budget]) for budget in budgets)]
        parts = (
            (right - left) * (low + high) / 2
            for (left, right), (low, high) in zip(pairwise([0, *budgets]), pairwise(curve), strict=True)
        )
        area: Floats = np.sum(list(parts), axis=0) / self.cutoff
        return area


def _complete(found: Sequence[ShownEvidence | None]) -> Floats:
    return np.array([np.nan if shown is None else shown.complete for shown in found], dtype=float)
