"""What a system does beside ranking: the route it takes, the flags it sets, and whether it meets a seeker.

An item whose category is not judged by passages says in `expects` what is right there: a route, nothing, or
an intent. The author's material is in its gold: `route`, `flags`, and text that must be withheld, which the
label "forbidden" marks on hits.
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
    """Routing: 1 where an answer took the route that its item expects, else 0.

    Where nothing should be found, an answer is right that says so, or none of whose hits scores above
    `above` (None: any hit counts). Where text must be withheld, any hit labelled "forbidden" is wrong,
    whichever route was taken, and an answer that would be right is unjudged while nobody can say what one of
    its hits holds. For every item that names a route, also those whose passages are judged beside it.
    """

    declares: ClassVar[Declaration] = expectation_declaration("Routed", needs=frozenset({"route", "labels"}))
    above: float | None = None

    @property
    def seen_in(self) -> View:
        """What it reads of a block."""
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
    """Whether nobody has looked for what is forbidden in a hit, or could: its text is not known."""
    unread = not (hit.text or "").strip() and hit.doc_id not in block.corpus.position
    return unread or block.labels.world(FORBIDDEN) == "open"


@dataclass(frozen=True)
class Flagged(ExpectationMeasure):
    """Flags: 1 where an answer set every flag that its item expects, else 0.

    `flag` names one; empty, all of them count. For items that expect a flag only.
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
    """Intent met: 1 where a hit within the cut-off meets the seeker as the item's intent asks, else 0.

    Hits are judged under the label "intent": by the passages its author expects, by a model, by people. For
    items that a category judges by intent only.
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
        """What it reads of a block."""
        return View(label=INTENT)

    def applies(self, block: Block) -> Bools:
        return np.array([item.expects == INTENT for item in block.items], dtype=bool)

    def values(self, block: Block) -> Floats:
        return (block.gains_in(self.seen_in).top(self.cutoff) >= 1).any(axis=1).astype(float)
