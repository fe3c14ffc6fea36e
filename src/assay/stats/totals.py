"""Statistics of one column that are smooth in its rows: a mean weighted by a tag, and a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from assay.core.errors import UsageError
from assay.stats.columns import finite_column, ratio

if TYPE_CHECKING:
    from assay.core.protocols import Floats


@dataclass(frozen=True)
class WeightedMean:
    """The mean over rows that count as much as their tag `by` says, such as how often a query is asked.

    The last column is that tag's number. A row with a weight of 0 does not count.
    """

    by: str

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 1
    keeps_range: ClassVar[bool] = True  # of the values it reads
    smooth: ClassVar[bool] = True

    @property
    def tag(self) -> str:
        return self.by

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        if len(columns) != 2:
            raise UsageError("weighted takes one measure and a tag, as in weighted(R@5(new), by=freq).")
        column, traffic = finite_column(columns[0]), finite_column(columns[1])
        if (traffic < 0).any():
            raise UsageError(f"A value of {self.by} is negative, and no item counts less than nothing.")
        return ratio(weights @ (column * traffic), weights @ traffic)


@dataclass(frozen=True)
class SumOfItems:
    """The sum over rows, as in `sum(Cost(new))`; in a resample, of as many rows as there are."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 1
    smooth: ClassVar[bool] = True

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        column = _only(columns, "sum")
        return len(column) * ratio(weights @ column, weights.sum(axis=1))


def _only(columns: Sequence[Floats], name: str) -> Floats:
    if len(columns) != 1:
        raise UsageError(f"{name} takes one column, not {len(columns)}.")
    return finite_column(columns[0])
