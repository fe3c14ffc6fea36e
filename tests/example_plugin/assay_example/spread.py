"""A statistic that spans items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """The standard deviation of a measure over its items."""

    reads: ClassVar[str] = "scores"

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        (column,) = columns
        total = weights.sum(axis=1)
        mean = weights @ column / total
        spread: Floats = np.sqrt(np.maximum(weights @ column**2 / total - mean**2, 0.0))
        return spread
