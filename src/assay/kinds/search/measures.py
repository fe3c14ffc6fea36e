"""Measures that do not rank: the route that a system takes, its flags, and whether it meets the intent.

If an item's category is not judged by passages, the item expects a route, nothing, or an intent (`expects`).
Its gold has the details: `route`, `flags`, and text that must be withheld. Hits with such text get the label
"forbidden".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block, View
from assay.core.errors import UsageError
from assay.core.protocols import Reference
from assay.core.records import FORBIDDEN, INTENT, NO_RESULTS, Hit, Item, Response
from assay.measures.declaration import Declaration, ExpectationMeasure, expectation_declaration

if TYPE_CHECKING:
    from assay.core.dataset import Dataset
    from assay.study.study import Study

FIRST_ADDRESS = "assay.measures.routing"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Routed(ExpectationMeasure):
    """Routing: 1 if an answer took the route that its item expects, else 0.

    If nothing should be found, an answer is right if it says so, or if none of its hits scores above `above`
    (None: any hit counts). If text must be withheld, an answer with a hit labelled "forbidden" is wrong on
    every route. An otherwise right answer is unjudged while the text of one of its hits is unknown. The
    measure applies to every item that names a route, even if its passages are judged too.
    """

    declares: ClassVar[Declaration] = expectation_declaration("Routed", needs=frozenset({"route", "labels"}))
    above: float | None = None

    @property
    def seen_in(self) -> View:
        """The part of a block that the measure reads."""
        return View(label=FORBIDDEN)

    def applies(self, block: Block) -> Bools:
        return np.array(["route" in item.gold for item in block.items], dtype=bool)

    def values(self, block: Block) -> Floats:
        worst = block.label(FORBIDDEN).group_by("item", "target").agg(pl.col("grade").max())
        forbidden = {(item_id, target): grade == 1 for item_id, target, grade in worst.iter_rows()}
        pairs = zip(block.items, block.responses, strict=True)
        return np.array([self._value(item, response, forbidden, block) for item, response in pairs])

    def _value(
        self, item: Item, response: Response | None, forbidden: Mapping[tuple[str, str], bool], block: Block
    ) -> float:
        if response is None or "route" not in item.gold:
            return np.nan
        marks = [forbidden.get((item.item_id, hit.doc_id)) for hit in response.hits]
        if any(marks) or not self._as_wanted(item.gold["route"], response):
            return 0.0
        unmarked = [hit for hit, mark in zip(response.hits, marks, strict=True) if mark is None]
        if item.gold.get(FORBIDDEN) and any(_is_unread(hit, block) for hit in unmarked):
            return np.nan
        return 1.0

    def _as_wanted(self, wanted: str, response: Response) -> bool:
        counted = [hit for hit in response.hits if self.above is None or hit.score > self.above]
        return response.route == wanted or (wanted == NO_RESULTS and not counted)


def _is_unread(hit: Hit, block: Block) -> bool:
    """Whether a hit was not searched for forbidden text, or has no known text to search."""
    unread = not (hit.text or "").strip() and hit.doc_id not in block.corpus.position
    return unread or block.labels.world(FORBIDDEN) == "open"


@dataclass(frozen=True)
class Flagged(ExpectationMeasure):
    """Flags: 1 if an answer set every flag that its item expects, else 0.

    `flag` is the name of a single flag; if it is empty, all flags count. The measure applies only to items
    that expect a flag.
    """

    declares: ClassVar[Declaration] = expectation_declaration("Flagged", needs=frozenset({"flags"}))
    flag: str = ""

    def references(self, study: Study, datasets: Mapping[str, Dataset]) -> Iterator[Reference]:
        items = (item for each in datasets.values() for item in each.items)
        known = {flag for item in items for flag in item.gold.get("flags", ())}
        if self.flag:
            yield Reference("flag", self.flag, known)

    def applies(self, block: Block) -> Bools:
        return np.array([bool(self._wanted(item)) for item in block.items], dtype=bool)

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
class IntentMet(ExpectationMeasure):
    """Intent met: 1 if a hit within the cut-off meets the seeker as the item's intent asks, else 0.

    Hits are judged under the label "intent": by the expected passages, by a model, or by people. The measure
    applies to items of categories that are judged only by intent.
    """

    declares: ClassVar[Declaration] = expectation_declaration(
        "IntentMet", needs=frozenset({"hits", "labels"}), at="rank", blank=frozenset({"hits"})
    )
    cutoff: int = 3

    def __post_init__(self) -> None:
        if self.cutoff < 1:
            raise UsageError(f"{self.family}: cutoff is {self.cutoff}, and must be at least 1.")

    @property
    def seen_in(self) -> View:
        """The part of a block that the measure reads."""
        return View(label=INTENT)

    def applies(self, block: Block) -> Bools:
        return np.array([item.expects == INTENT for item in block.items], dtype=bool)

    def values(self, block: Block) -> Floats:
        return (block.gains_in(self.seen_in).top(self.cutoff) >= 1).any(axis=1).astype(float)
