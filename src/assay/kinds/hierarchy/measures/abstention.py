"""Saying that a query cannot be answered within a budget: what was said, what is true, what it was worth.

A system says so with the flag "impossible": "aggregation" (what it needs is too long), "out_of_kb" (it is not
there), or true, which gives no reason. The truth is the item's gold. All apply to items that carry the tag
"feasible", which is how a suite says that it knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.errors import UsageError
from assay.core.records import IMPOSSIBLE, Budget, Item, Response
from assay.kinds.hierarchy.measures.budget import CONTEXTS, A
from assay.measures.parse import measure_name

FIRST_ADDRESS = "assay.measures.abstention"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Kind = Literal["any", "aggregation", "out_of_kb"]


def says_impossible(response: Response, kind: Kind = "any") -> bool:
    """Whether a response calls its query impossible, for a reason or for any."""
    said = response.flags.get(IMPOSSIBLE, False)
    return bool(said) if kind == "any" else said == kind


def is_impossible(item: Item, kind: Kind = "any") -> bool:
    """Whether a query cannot be answered within the budget, for a reason or for any."""
    why = item.gold.get(IMPOSSIBLE)
    return bool(why) if kind == "any" else why == kind


def labelled(block: Block) -> Bools:
    """The items whose suite says whether they can be answered."""
    return np.array([bool(item.values("feasible")) for item in block.items], dtype=bool)


@dataclass(frozen=True)
class _Detection:
    """A column of 0 and 1 that precision, recall and f1 read.

    It is no figure of merit: saying it always is as wrong as saying it never. As a measure has to say which
    way is better, the lower is, because every call withholds an answer.
    """

    family: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset()
    at: ClassVar[str] = ""
    better: ClassVar[str] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = True
    kind: Kind = "any"

    @property
    def name(self) -> str:
        return measure_name(self)

    def applies(self, block: Block) -> Bools:
        return labelled(block)


@dataclass(frozen=True)
class CallsImpossible(_Detection):
    """Calls impossible: 1 where the system said that the query cannot be answered, else 0.

    `kind` is the reason that counts; under "any", one without a reason counts too. A system that never says
    so has 0 everywhere. No figure of merit by itself: read it with IsImpossible in precision, recall and f1.
    """

    family: ClassVar[str] = "CallsImpossible"

    def values(self, block: Block) -> Floats:
        return np.array(
            [np.nan if each is None else says_impossible(each, self.kind) for each in block.responses],
            dtype=float,
        )


@dataclass(frozen=True)
class IsImpossible(_Detection):
    """Is impossible: 1 where the item's gold says that it cannot be answered, else 0, whoever is asked.

    `kind` is the reason that counts. No figure of merit: the truth that CallsImpossible is held against.
    """

    family: ClassVar[str] = "IsImpossible"

    def values(self, block: Block) -> Floats:
        return np.array([is_impossible(item, self.kind) for item in block.items], dtype=float)


@dataclass(frozen=True)
class Utility:
    """Utility within tokens: what it is worth to answer, or to refuse to, under the budget.

    A query that can be answered is worth `right` where A@T holds, else `wrong`, and `refused` where it was
    called impossible, for whatever reason. One that cannot is worth `spared` where it was called so, else
    `attempted`. Range: from the least of the five to the greatest. To attempt the impossible wastes tokens
    and misleads, so it must cost more than to refuse the possible.

    Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information Theory, 1970.
    """

    family: ClassVar[str] = "Utility"
    needs: ClassVar[frozenset[str]] = CONTEXTS
    blank: ClassVar[frozenset[str]] = frozenset()  # a refusal without a context is an answer
    at: ClassVar[str] = "tokens"
    better: ClassVar[str] = "higher"
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = False
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
        return labelled(block)

    def values(self, block: Block) -> Floats:
        answerable = A(self.cutoff).values(block).tolist()
        rows = zip(block.items, block.responses, answerable, strict=True)
        return np.array([self._worth(*row) for row in rows], dtype=float)

    def _worth(self, item: Item, response: Response | None, answerable: float) -> float:
        if response is None:
            return np.nan
        if is_impossible(item):
            return self.spared if says_impossible(response) else self.attempted
        if says_impossible(response):
            return self.refused
        if not response.contexts and item.gold.get("evidence"):
            return self.wrong
        return np.nan if math.isnan(answerable) else self.right if answerable else self.wrong
