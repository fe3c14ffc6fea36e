"""Measures of where hits come from: the right sections, enough documents, or nothing if nothing is right."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.records import Item
from assay.measures.declaration import Declaration, TopHitsMeasure, top_hits_declaration

FIRST_ADDRESS = "assay.measures.sections"

_WORD = re.compile(r"[^\W_]+")
_NUMBERING = re.compile(r"\d+|[a-z]|[ivxl]+")


def is_section(name: str | None, wanted: Iterable[str]) -> bool:
    """Whether a section has one of the wanted names. Names are compared flexibly."""
    words = _words(name or "")
    return any(_holds_run(words, _words(each)) for each in wanted)


def _words(name: str) -> list[str]:
    """Returns the words of a name in lower case, without the numbering at its beginning."""
    folded = unicodedata.normalize("NFKC", name).casefold().replace("&", " and ")
    words = _WORD.findall(folded)
    start = 0
    while start < len(words) - 1 and _NUMBERING.fullmatch(words[start]):
        start += 1
    return words[start:]


def _holds_run(words: Sequence[str], part: Sequence[str]) -> bool:
    places = range(len(words) - len(part) + 1)
    return bool(part) and any(words[place : place + len(part)] == part for place in places)


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class SectionAccuracy(TopHitsMeasure):
    """Section accuracy: the share of the hits within the cut-off that stand in a section the item names.

    Sections that are valid for every question, such as a synopsis, count too. Names are compared flexibly: a
    section has a wanted name if it contains the wanted words together and in order. So "(b) PROBABLE CAUSE",
    "1.18 Probable Cause" and "Probable Cause and Findings" all have the name "PROBABLE CAUSE", but "Cause"
    does not. The divisor is the cut-off, or the number of hits if there are fewer. Range 0 to 1. The measure
    applies to items whose gold names sections.
    """

    declares: ClassVar[Declaration] = top_hits_declaration("SectionAccuracy", needs=frozenset({"hits"}))

    def applies(self, block: Block) -> Bools:
        return np.array([bool(item.gold.get("sections")) for item in block.items], dtype=bool)

    def values(self, block: Block) -> Floats:
        by_item = dict(block.top(self.cutoff).group_by("item", maintain_order=True).agg("doc").rows())
        return np.array([self._share(block, item, by_item.get(item.item_id, ())) for item in block.items])

    @staticmethod
    def _share(block: Block, item: Item, docs: list[str]) -> float:
        valid = [*item.gold.get("sections", ()), *item.gold.get("universal", ())]
        right = [is_section(block.corpus.section_of(doc), valid) for doc in docs]
        return float(np.mean(right)) if right else 0.0


@dataclass(frozen=True)
class SectionPass(SectionAccuracy):
    """Section pass: 1 where section accuracy reaches the item's own minimum, else 0.

    It applies to items whose gold names sections and declares `min_section_accuracy`.
    """

    declares: ClassVar[Declaration] = top_hits_declaration(
        "SectionPass", needs=frozenset({"hits"}), binary=True
    )

    def applies(self, block: Block) -> Bools:
        declared = np.array([self._least(item) is not None for item in block.items], dtype=bool)
        named: Bools = super().applies(block) & declared
        return named

    def values(self, block: Block) -> Floats:
        least = np.array([self._least(item) or 0.0 for item in block.items])
        return (super().values(block) >= least - 1e-9).astype(float)

    @staticmethod
    def _least(item: Item) -> float | None:
        found: float | None = item.gold.get("declared", {}).get("min_section_accuracy")
        return found


@dataclass(frozen=True)
class DocumentSpread(TopHitsMeasure):
    """Spread: distinct relevant documents within the cut-off, divided by the minimum that the item asks for.

    If the cut-off is smaller than the minimum, it is divided by the cut-off. The value is at most 1. Several
    passages of one document count once. Range 0 to 1. The measure applies to items whose gold declares
    `min_relevant_reports` above 0.
    """

    first_address: ClassVar[str] = "assay.measures.sections:Spread"

    declares: ClassVar[Declaration] = top_hits_declaration("Spread")

    def applies(self, block: Block) -> Bools:
        wanted: Bools = ~block.expects_nothing & (self._least(block) > 0)
        return wanted

    def values(self, block: Block) -> Floats:
        relevant = block.relevance.filter(pl.col("grade") > 0)
        hit = block.top(self.cutoff).join(relevant, on=["item", "doc"], how="semi")
        documents: dict[str, set[str]] = {}
        for item_id, doc in hit.select("item", "doc").iter_rows():
            documents.setdefault(item_id, set()).add(block.corpus.document_of(doc))
        found = np.array([len(documents.get(item.item_id, ())) for item in block.items])
        wanted = np.maximum(np.minimum(self._least(block), self.cutoff), 1)
        return np.minimum(found / wanted, 1.0)

    @staticmethod
    def _least(block: Block) -> Floats:
        declared = (item.gold.get("declared", {}) for item in block.items)
        return np.array([float(each.get("min_relevant_reports", 0)) for each in declared])


@dataclass(frozen=True)
class CleanNegatives(TopHitsMeasure):
    """Clean: 1 where no passage within the cut-off is one that must not come back, else 0.

    Range 0 or 1. The value is 1 if nothing came back. The measure applies to items that expect nothing. Their
    labels name the passages that must not come back. An example is a passage that satisfies the clause of a
    question that the corpus cannot answer.
    """

    first_address: ClassVar[str] = "assay.measures.sections:Clean"

    declares: ClassVar[Declaration] = top_hits_declaration("Clean", absent=1.0, binary=True)

    def applies(self, block: Block) -> Bools:
        return block.expects_nothing

    def values(self, block: Block) -> Floats:
        wrong = (block.gains.top(self.cutoff) > 0).any(axis=1)
        return np.where(wrong, 0.0, 1.0)
