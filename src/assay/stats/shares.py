"""Statistics that count rows: wins, losses, and any test of each item, as a share or as a number.

Each has `indicator(columns)`, 1 on every row that counts, from which its interval is worked out as that of a
proportion; and a range, so that a threshold outside it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.core.errors import UsageError
from assay.stats.columns import TIE, finite_column, finite_pair, ratio

if TYPE_CHECKING:
    from assay.core.protocols import Floats


def _share(counted: Floats, weights: Floats) -> Floats:
    return ratio(weights @ counted, weights.sum(axis=1))


@dataclass(frozen=True)
class Wins:
    """The share of rows on which the first column is higher than the second; a tie is not a win."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    settled: ClassVar[bool] = False  # that none was won on these rows does not make it certain
    sign: ClassVar[str] = ">"  # how a count of the same rows is written

    def indicator(self, columns: Sequence[Floats]) -> Floats:
        first, second = _two(columns)
        return (first - second > TIE).astype(np.float64)

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return _share(self.indicator(columns), weights)


@dataclass(frozen=True)
class Losses(Wins):
    """The share of rows on which the first column is lower than the second; a tie is not a loss."""

    sign: ClassVar[str] = "<"

    def indicator(self, columns: Sequence[Floats]) -> Floats:
        first, second = _two(columns)
        return (second - first > TIE).astype(np.float64)


@dataclass(frozen=True)
class ShareOfItems:
    """The share of rows that pass a test, as in `share(nDCG@10(new) < 0.1)`; the column has 1 for those."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 1
    tests: ClassVar[bool] = True  # its argument is a test of each item
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    settled: ClassVar[bool] = False

    def indicator(self, columns: Sequence[Floats]) -> Floats:
        if len(columns) != 1:
            raise UsageError(f"A share is taken of one test, not of {len(columns)}.")
        return finite_column(columns[0])

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return _share(self.indicator(columns), weights)


@dataclass(frozen=True)
class CountOfItems(ShareOfItems):
    """How many rows pass a test, as in `count(nDCG@10(new) = 0)`.

    A resample counts as many rows as there are; its interval is that of the number in samples of this size.
    """

    high: ClassVar[float | None] = None
    total: ClassVar[bool] = True

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return len(columns[0]) * super().values(columns, weights)


def _two(columns: Sequence[Floats]) -> tuple[Floats, Floats]:
    if len(columns) != 2:
        raise UsageError(f"Wins and losses compare two columns, not {len(columns)}.")
    return finite_pair(columns[0], columns[1])
