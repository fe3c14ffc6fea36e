"""A judge with a rule of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.core.records import Judgment


@dataclass(frozen=True)
class SameLetter:
    """A passage is relevant where its id ends in the item's letter; nothing else is."""

    names: ClassVar[tuple[str, ...]] = ("same_letter",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({"relevance"})

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        return [
            Judgment(item.item_id, "relevance", 1.0, "same_letter", target=passage.doc_id)
            for item in dataset.items
            for passage in dataset.corpus.passages
            if passage.doc_id.endswith("-" + item.gold.get("letter", "none"))
        ]
