"""Judges that are not asked questions: gold by document id, and people, whose marks are in the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.core.records import Judgment


@dataclass(frozen=True)
class Ids:
    """Reads `gold["relevant"]`: {doc_id: grade}. A passage that the gold does not name is not relevant."""

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("ids",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({"relevance"})
    first_address: ClassVar[str] = "assay.judges.ids:Ids"

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        return [
            Judgment(item.item_id, "relevance", float(grade), "ids", target=doc_id, version=self.version)
            for item in dataset.items
            for doc_id, grade in item.gold.get("relevant", {}).items()
        ]


@dataclass(frozen=True)
class Human:
    """Counts marks of the people named, or of everybody if nobody is named. What nobody marked is unknown.

    Marks are in the journal as soon as they are made; this judge says whose marks count. An adjudicator's
    mark comes before any rater's mark, and the first rater's mark before the second's. Adjudicators decide
    where raters disagree, so they are not raters: agreement is measured among the raters.
    """

    raters: list[str] = field(default_factory=list)
    adjudicators: list[str] = field(default_factory=list)

    version: ClassVar[str] = "1"
    closed_labels: ClassVar[frozenset[str]] = frozenset()
    first_address: ClassVar[str] = "assay.judges.human:Human"

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise ValueError("somebody is named twice among raters and adjudicators")

    @property
    def everybody(self) -> bool:
        """Whether the marks of all people count."""
        return not self.names

    @property
    def names(self) -> list[str]:
        return [*self.adjudicators, *self.raters]
