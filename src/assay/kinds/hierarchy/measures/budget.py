"""Measures under a token budget: how much evidence a context shows, and whether a refusal was right.

T is the budget, and `inf` stands for the context without a budget. A measure of evidence applies to items
whose gold has evidence. A response without any context is missing and counts 0. A response that has contexts,
but none for this budget, has no value. These values do not depend on whether the system called the query
impossible.

A system calls a query impossible by the flag "impossible". Its value is "aggregation" (the needed evidence is
too long), "out_of_kb" (the needed evidence is not in the corpus), or true, which gives no reason. The truth
is in the item's gold. Measures of these calls apply to items with the tag "feasible". A suite that knows the
truth sets this tag.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block, View
from assay.core.errors import UsageError
from assay.core.records import IMPOSSIBLE, Budget, Item, Response
from assay.core.shown import ShownEvidence, context_target
from assay.measures.declaration import Declaration, DeclaredMeasure
from assay.measures.parse import measure_name

FIRST_ADDRESS = "assay.measures.budget"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
CONTEXTS = frozenset({"contexts"})


budget_declaration = partial(Declaration, at="tokens", blank=CONTEXTS, pooled=False)


@dataclass(frozen=True)
class BudgetMeasure(DeclaredMeasure, ABC):
    """A measure of the context under a budget, from 0 to 1. It is 0 if the system returned nothing."""

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
        """Returns one value per item. NaN means that the response has no context for this budget."""


@dataclass(frozen=True)
class ContextMeasure(BudgetMeasure):
    """A measure of the evidence that one context shows."""

    def values(self, block: Block) -> Floats:
        found = block.shown.get(self.cutoff) or [None] * len(block.items)
        return np.array([np.nan if shown is None else self.of(shown) for shown in found], dtype=float)

    @abstractmethod
    def of(self, shown: ShownEvidence) -> float:
        """Returns the value of one context."""


@dataclass(frozen=True)
class ER(ContextMeasure):
    """Evidence recall within tokens: the fraction of the evidence units that the context shows.

    A unit is shown if the context holds, in full, every sentence of it that an answer needs. The sentences of
    another place that says the same are enough too. Range 0 to 1.

    Yang et al., "HotpotQA", EMNLP 2018, for supporting sentences; Dasigi et al., "A dataset of
    information-seeking questions and answers anchored in research papers", NAACL 2021, for paragraphs.
    """

    declares: ClassVar[Declaration] = budget_declaration("ER")

    def of(self, shown: ShownEvidence) -> float:
        return shown.recall


@dataclass(frozen=True)
class EP(ContextMeasure):
    """Evidence precision within tokens: the fraction of the context's characters that lie in evidence units.

    Range 0 to 1. The value of an empty context is 0. Line breaks between the pieces are not counted.
    """

    declares: ClassVar[Declaration] = budget_declaration("EP")

    def of(self, shown: ShownEvidence) -> float:
        return shown.precision


@dataclass(frozen=True)
class A(ContextMeasure):
    """Answerability within tokens: 1 where the context shows every evidence unit, else 0.

    With `label`, a judge decides whether the context is enough. The value is then 1 if the label's grade for
    the target "context@400" (or "context@inf") is at least 1, else 0. The grade is that of this arm and seed.
    Without a grade, the item is unjudged, or has the value 0 if the context is empty.
    """

    declares: ClassVar[Declaration] = budget_declaration("A", binary=True)
    label: str = ""

    @property
    def needs(self) -> frozenset[str]:
        return CONTEXTS | {"labels"} if self.label else CONTEXTS

    @property
    def seen_in(self) -> View:
        """The label that the measure reads, if it reads one."""
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
class AUC(BudgetMeasure):
    """Area under the budget curve: the area under A@t from 0 to T, divided by T.

    The area is computed by trapezoids between the budgets of the study up to T, and A@0 is 0. Range 0 to 1.
    The value 1 cannot be reached, because the curve starts at 0. An item's area is linear in its A@t, so the
    mean over items is the area under the mean curve.
    """

    declares: ClassVar[Declaration] = budget_declaration("AUC")
    cutoff: int = 1200

    def values(self, block: Block) -> Floats:
        found = block.shown
        budgets = sorted(each for each in found if each is not None and each <= self.cutoff)
        if self.cutoff not in budgets:
            return np.full(len(block.items), np.nan)
        # an item without one of the budgets has another curve than the rest, so it gets no value
        curve = [np.zeros(len(block.items)), *(_completeness(found[budget]) for budget in budgets)]
        parts = (
            (right - left) * (low + high) / 2
            for (left, right), (low, high) in zip(pairwise([0, *budgets]), pairwise(curve), strict=True)
        )
        area: Floats = np.sum(list(parts), axis=0) / self.cutoff
        return area


def _completeness(found: Sequence[ShownEvidence | None]) -> Floats:
    return np.array([np.nan if shown is None else shown.complete for shown in found], dtype=float)


Kind = Literal["any", "aggregation", "out_of_kb"]


def calls_impossible(response: Response, kind: Kind = "any") -> bool:
    """Whether a response calls its query impossible for the reason `kind`, or for any reason."""
    said = response.flags.get(IMPOSSIBLE, False)
    return bool(said) if kind == "any" else said == kind


def is_impossible(item: Item, kind: Kind = "any") -> bool:
    """Whether the gold says that a query cannot be answered within the budget.

    `kind` is the reason that counts. With "any", every reason counts.
    """
    why = item.gold.get(IMPOSSIBLE)
    return bool(why) if kind == "any" else why == kind


def knows_feasibility(block: Block) -> Bools:
    """Returns, for each item, whether its suite says if the item can be answered."""
    return np.array([bool(item.values("feasible")) for item in block.items], dtype=bool)


impossibility_declaration = partial(Declaration, better="lower", absent=None, binary=True)


@dataclass(frozen=True)
class _ImpossibilityMeasure(DeclaredMeasure):
    """A column of 0 and 1 that precision, recall and f1 read.

    Neither a low nor a high value is good: to call every query impossible is as wrong as to call none. A
    measure has to declare which direction is better. Here lower is declared better, because every call
    withholds an answer.
    """

    kind: Kind = "any"

    def applies(self, block: Block) -> Bools:
        return knows_feasibility(block)


@dataclass(frozen=True)
class ImpossibleCalls(_ImpossibilityMeasure):
    """Calls impossible: 1 where the system said that the query cannot be answered, else 0.

    `kind` is the reason that counts. With "any", a call without a reason counts too. A system that never
    calls a query impossible has 0 everywhere. The value is not a quality by itself. Read it together with
    IsImpossible in precision, recall and f1.
    """

    first_address: ClassVar[str] = "assay.measures.abstention:CallsImpossible"

    declares: ClassVar[Declaration] = impossibility_declaration("CallsImpossible")

    def values(self, block: Block) -> Floats:
        return np.array(
            [np.nan if each is None else calls_impossible(each, self.kind) for each in block.responses],
            dtype=float,
        )


@dataclass(frozen=True)
class ImpossibleItems(_ImpossibilityMeasure):
    """Is impossible: 1 where the item's gold says that it cannot be answered, else 0, for every system.

    `kind` is the reason that counts. The value is not a quality. It is the truth that CallsImpossible is
    compared with.
    """

    first_address: ClassVar[str] = "assay.measures.abstention:IsImpossible"

    declares: ClassVar[Declaration] = impossibility_declaration("IsImpossible")

    def values(self, block: Block) -> Floats:
        return np.array([is_impossible(item, self.kind) for item in block.items], dtype=float)


@dataclass(frozen=True)
class Utility(DeclaredMeasure):
    """Utility within tokens: the worth of an answer, or of a refusal to answer, under the budget.

    A query that can be answered has the worth `refused` if it was called impossible, for any reason.
    Otherwise it has the worth `right` if A@T is 1, else `wrong`. A query that cannot be answered has the
    worth `spared` if it was called impossible, else `attempted`. Range: from the lowest to the highest of
    these five. An attempt to answer an impossible query wastes tokens and misleads, so it must cost more than
    the refusal of a possible one.

    Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information Theory, 1970.
    """

    first_address: ClassVar[str] = "assay.measures.abstention:Utility"

    # a refusal without a context is an answer
    declares: ClassVar[Declaration] = Declaration(
        "Utility", needs=CONTEXTS, at="tokens", absent=None, blank=frozenset()
    )
    right: float = 1.0
    wrong: float = 0.0
    spared: float = 1.0
    refused: float = -1.0
    attempted: float = -2.0
    cutoff: Budget = 400

    def __post_init__(self) -> None:
        if self.cutoff is not None and self.cutoff < 1:
            raise UsageError(f"Utility: the budget is {self.cutoff}, and must be at least 1 token.")
        if not all(map(math.isfinite, self._worths)):
            raise UsageError("Utility: what an outcome is worth must be a finite number.")
        order = {
            "attempted must be below refused: attempting the impossible costs more than refusing the "
            "possible": self.attempted < self.refused,
            "refused must be below right: else refusing everything is best": self.refused < self.right,
            "attempted must be below spared: else noticing is worth nothing": self.attempted < self.spared,
            "wrong must not be above right": self.wrong <= self.right,
        }
        for rule, holds in order.items():
            if not holds:
                raise UsageError(f"Utility: {rule}.")

    @property
    def name(self) -> str:
        return measure_name(self, "@inf")

    @property
    def low(self) -> float:
        return min(self._worths)

    @property
    def high(self) -> float | None:
        return max(self._worths)

    @property
    def _worths(self) -> tuple[float, ...]:
        return self.right, self.wrong, self.spared, self.refused, self.attempted

    def applies(self, block: Block) -> Bools:
        return knows_feasibility(block)

    def values(self, block: Block) -> Floats:
        answerable = A(self.cutoff).values(block).tolist()
        rows = zip(block.items, block.responses, answerable, strict=True)
        return np.array([self._worth(*row) for row in rows], dtype=float)

    def _worth(self, item: Item, response: Response | None, answerable: float) -> float:
        if response is None:
            return np.nan
        if is_impossible(item):
            return self.spared if calls_impossible(response) else self.attempted
        if calls_impossible(response):
            return self.refused
        if not response.contexts and item.gold.get("evidence"):
            return self.wrong
        return np.nan if math.isnan(answerable) else self.right if answerable else self.wrong
