"""What a system does beside ranking: the route it takes, the flags it sets, and whether it meets a seeker.

An item whose category is not judged by passages says in `expects` what is right there: a route, nothing, or
an intent. The author's material is in its gold: `route`, `flags`, and text that must be withheld, which the
label "forbidden" marks on hits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.measures.block import Block, View
from assay.measures.parse import measure_name
from assay.records import Item, Response

NO_RESULTS = "no_results"  # the route of a system that says: there is nothing here
FORBIDDEN, INTENT = "forbidden", "intent"  # labels

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Expectation:
    """A measure that asks of one answer whether it is as its item expects: 1 or 0, 0 where nothing came."""

    family: ClassVar[str]
    pooled: ClassVar[bool] = False
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return measure_name(self)


@dataclass(frozen=True)
class Routed(Expectation):
    """Routing: 1 where an answer took the route that its item expects, else 0.

    Where nothing should be found, an answer is right that says so, or none of whose hits scores above
    `above` (None: hits count whatever they score). Where text must be withheld, any hit labelled "forbidden"
    is wrong, whichever route was taken. For items that a category judges by route only.
    """

    family: ClassVar[str] = "Routed"
    needs: ClassVar[frozenset[str]] = frozenset({"route"})
    above: float | None = None

    def applies(self, block: Block) -> Bools:
        return np.array(
            [item.expects in {"route", "nothing"} and "route" in item.gold for item in block.items]
        )

    def values(self, block: Block) -> Floats:
        marked = block.label(FORBIDDEN).filter(grade=1.0).select("item", "target")
        forbidden = set(marked.iter_rows())
        pairs = zip(block.items, block.responses, strict=True)
        return np.array([self._value(item, response, forbidden) for item, response in pairs])

    def _value(self, item: Item, response: Response | None, forbidden: set[tuple[str, str]]) -> float:
        if response is None or "route" not in item.gold:
            return np.nan
        if any((item.item_id, hit.doc_id) in forbidden for hit in response.hits):
            return 0.0
        wanted = item.gold["route"]
        if wanted == NO_RESULTS and self.above is not None:
            return float(all(hit.score <= self.above for hit in response.hits))
        return float(response.route == wanted)


@dataclass(frozen=True)
class Flagged(Expectation):
    """Flags: 1 where an answer set every flag that its item expects, else 0.

    `flag` names one; empty, all of them count. For items that expect a flag only.
    """

    family: ClassVar[str] = "Flagged"
    needs: ClassVar[frozenset[str]] = frozenset({"flags"})
    flag: str = ""

    def applies(self, block: Block) -> Bools:
        return np.array([bool(self._wanted(item)) for item in block.items])

    def values(self, block: Block) -> Floats:
        pairs = zip(block.items, block.responses, strict=True)
        return np.array([self._value(item, response) for item, response in pairs])

    def _value(self, item: Item, response: Response | None) -> float:
        if response is None:
            return np.nan
        wanted = self._wanted(item)
        return float(all(response.flags.get(name, False) == value for name, value in wanted.items()))

    def _wanted(self, item: Item) -> dict[str, bool | str]:
        wanted: dict[str, bool | str] = item.gold.get("flags", {})
        return {name: value for name, value in wanted.items() if self.flag in ("", name)}


@dataclass(frozen=True)
class IntentMet(Expectation):
    """Intent met: 1 where a hit within the cut-off meets the seeker as the item's intent asks, else 0.

    Hits are judged under the label "intent": by the passages its author expects, by a model, by people. For
    items that a category judges by intent only.
    """

    family: ClassVar[str] = "IntentMet"
    needs: ClassVar[frozenset[str]] = frozenset({"hits", "labels"})
    at: ClassVar[str] = "rank"
    cutoff: int = 3

    def __post_init__(self) -> None:
        if self.cutoff < 1:
            raise UsageError(f"{self.family}: cutoff is {self.cutoff}, and must be at least 1.")

    @property
    def seen_in(self) -> View:
        """What it reads of a block."""
        return View(label=INTENT)

    def applies(self, block: Block) -> Bools:
        return np.array([item.expects == INTENT for item in block.items])

    def values(self, block: Block) -> Floats:
        return (block.gains_in(self.seen_in).top(self.cutoff) >= 1).any(axis=1).astype(float)
