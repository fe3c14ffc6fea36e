"""Relevance by id: the gold names passages of the corpus and their grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.core.records import Judgment


@dataclass(frozen=True)
class Ids:
    """Reads `gold["relevant"]`: {doc_id: grade}. What it does not name is not relevant."""

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("ids",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({"relevance"})

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        return [
            Judgment(item.item_id, "relevance", float(grade), "ids", target=doc_id, version=self.version)
            for item in dataset.items
            for doc_id, grade in item.gold.get("relevant", {}).items()
        ]
