"""A measure of the first hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.measures.declaration import Declaration, DeclaredMeasure


@dataclass(frozen=True)
class FirstHit(DeclaredMeasure):
    """The grade of the first hit, at most 1; 0 where it is not relevant."""

    declares: ClassVar[Declaration] = Declaration("FirstHit", needs=frozenset({"hits", "labels"}))

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return block.gains.labelled & ~block.expects_nothing

    def values(self, block: Block) -> NDArray[np.float64]:
        first: NDArray[np.float64] = np.nan_to_num(block.gains.top(1)).sum(axis=1)
        return np.clip(first, 0.0, 1.0)
