"""A measure of the first hit alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.measures.parse import measure_name


@dataclass(frozen=True)
class FirstHit:
    """The grade of the first hit, at most 1; 0 where it is not relevant."""

    family: ClassVar[str] = "FirstHit"
    needs: ClassVar[frozenset[str]] = frozenset({"hits", "labels"})
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return measure_name(self)

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return block.gains.labelled & ~block.expects_nothing

    def values(self, block: Block) -> NDArray[np.float64]:
        first: NDArray[np.float64] = np.nan_to_num(block.gains.top(1)).sum(axis=1)
        return np.clip(first, 0.0, 1.0)
