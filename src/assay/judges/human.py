"""People: their marks lie in the journal from the moment they are made; this judge says whose count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from assay.datasets.dataset import Dataset
from assay.measures.block import Block
from assay.protocols import Kit
from assay.records import Judgment


@dataclass(frozen=True)
class Human:
    """Marks by the raters named, the first rater's before the second's. What nobody marked is unknown."""

    raters: list[str] = field(default_factory=list)

    version: ClassVar[str] = "1"
    world: ClassVar[str] = "open"
    needs_responses: ClassVar[bool] = False

    @property
    def names(self) -> list[str]:
        return self.raters

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        """Nothing new: people's marks are stored as they are made."""
        return []
