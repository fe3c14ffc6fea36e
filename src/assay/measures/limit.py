"""Measures without an upper end, unless a study declares one.

The mean of times, costs or sizes hangs on the few largest, which a sample need not hold: no interval of it
covers as often as it says. With a limit, what lies above counts as the limit, and a mean can be decided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import UsageError


@dataclass(frozen=True)
class MeasureWithLimit:
    """Values from 0 up; above `limit`, where there is one, they count as the limit."""

    limit: float | None = field(default=None, kw_only=True)

    low: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.limit is not None and not (math.isfinite(self.limit) and self.limit > 0):
            raise UsageError(f"A limit is a number above 0, such as 10; not {self.limit:g}.")

    @property
    def high(self) -> float | None:
        return self.limit

    def limited(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values, none above the limit."""
        return values if self.limit is None else np.minimum(values, self.limit)


def has_no_end(measure: object) -> bool:
    """Whether a study could declare a limit of a measure, and has not."""
    return isinstance(measure, MeasureWithLimit) and measure.limit is None


def has_limit(measure: object) -> bool:
    """Whether a study declared a limit of a measure that by itself has none."""
    return isinstance(measure, MeasureWithLimit) and measure.limit is not None
