"""Statistics over items, as plugins: percentiles, rank correlation, agreement, shares, weighted means.

Shares and numbers of rows have a method `indicator(columns)`. It returns 1 for every row that counts and 0
for the others. Their interval is the interval of a proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.core.errors import UsageError
from assay.stats.agreement import cohen_kappa, kendall, krippendorff_alpha, spearman
from assay.stats.columns import TIE, count_discordant, finite_column, finite_pair, ratio

if TYPE_CHECKING:
    from assay.core.protocols import Floats


def weighted_percentile(column: Floats, share: float, weights: Floats) -> Floats:
    """Returns the percentile of each resample, with linear interpolation between neighbouring rows.

    It is NaN for a resample without rows. With whole-number weights it equals NumPy's percentile of the rows
    repeated as often as their weights say.
    """
    order = np.argsort(finite_column(column), kind="stable")
    if len(order) == 0:
        return np.full(len(weights), np.nan)
    through = np.cumsum(weights[:, order], axis=1)  # number of rows up to each row, by value
    total = through[:, -1]
    place = np.maximum(total - 1, 0) * share
    below = np.floor(place)

    ranks = (np.sum(through <= at[:, None], axis=1) for at in (below, np.minimum(below + 1, total - 1)))
    low, high = (column[order[np.minimum(rank, len(order) - 1)]] for rank in ranks)
    return np.where(total > 0, low + (high - low) * (place - below), np.nan)


@dataclass(frozen=True)
class Percentile:
    """The value that `rank` percent of the rows do not exceed; p10 is short for rank 10."""

    rank: float

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 1
    keeps_range: ClassVar[bool] = True  # of the values it reads

    def __post_init__(self) -> None:
        if not 0 < self.rank < 100:
            raise UsageError(
                f"p{self.rank:g} is not a percentile. Give a rank between 0 and 100, such as p10."
            )

    @property
    def share(self) -> float:
        return self.rank / 100

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return _percentile(columns, self.share, weights)


@dataclass(frozen=True)
class P50:
    """The median of a measure."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 1
    keeps_range: ClassVar[bool] = True  # of the values it reads
    share: ClassVar[float] = 0.50

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return _percentile(columns, self.share, weights)


@dataclass(frozen=True)
class P95(P50):
    """The value that 95 % of the rows do not exceed."""

    share: ClassVar[float] = 0.95


@dataclass(frozen=True)
class P99(P50):
    """The value that 99 % of the rows do not exceed."""

    share: ClassVar[float] = 0.99


@dataclass(frozen=True)
class Spearman:
    """The rank correlation of two measures, or of one measure of two systems."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return spearman(*_pair(columns, "spearman"), weights)


@dataclass(frozen=True)
class Kendall:
    """Kendall's tau-b: how far two columns order rows in the same way, from -1 to 1; ties are left out."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return kendall(*_pair(columns, "kendall"), weights)


@dataclass(frozen=True)
class MeanLoss:
    """What the first column has and the second has not: the mean over rows of max(0, first - second).

    `lost(Success@10(flat), Success@10(tree))` is the share of items that the first system finds and the
    second does not find. Gains of the second system do not count. A row holds the mean over seeds. If the
    values of a single seed are 0 or 1, a row counts with the share of seeds in which it was lost.
    """

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    low: ClassVar[float] = 0.0
    settled: ClassVar[bool] = False  # no loss on these rows does not prove that there are no losses

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        first, second = finite_pair(*_pair(columns, "lost"))
        return ratio(weights @ np.maximum(first - second, 0.0), weights.sum(axis=1))

    def trials(self, columns: Sequence[Floats]) -> tuple[int, int]:
        """Returns how many rows were lost, and the number of all rows. The columns must hold only 0 and 1."""
        return count_discordant(*_pair(columns, "lost"))[0], len(columns[0])


@dataclass(frozen=True)
class BetterOfTwo:
    """The mean over rows of the better of two columns: what a perfect choice between them would reach."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        best = np.maximum(*_pair(columns, "either"))
        return ratio(weights @ best, weights.sum(axis=1))


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa of two raters; `weights` is none, linear or quadratic.

    By default the raters are the people that the study lists. `raters` names other judges, such as
    "anna|llm". `levels` is the number of grades of the scale, such as 4 for grades 0 to 3. With it, a grade
    that nobody gave still counts as a step between its neighbours. With 0, only grades that occur count.
    """

    reads: ClassVar[str] = "judgments"
    weights: str = "none"
    raters: str = ""
    levels: int = 0

    def __post_init__(self) -> None:
        if self.levels < 0 or self.levels == 1:
            raise UsageError(f"levels is {self.levels}. Give how many grades the scale has, such as 4.")

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        scale = range(self.levels) if self.levels else None
        return cohen_kappa(*_pair(columns, "kappa"), self.weights, weights, scale)


@dataclass(frozen=True)
class Rho:
    """Spearman's rank correlation of two raters' grades, over what both judged.

    By default the raters are the people that the study lists. `raters` names other judges, such as
    "anna|llm".
    """

    reads: ClassVar[str] = "judgments"
    raters: str = ""

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        first, second = _pair(columns, "rho")
        both = ~(np.isnan(first) | np.isnan(second))
        return spearman(first[both], second[both], weights[:, both])


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha of two or more raters; `level` is nominal, ordinal or interval.

    By default the raters are the people that the study lists. `raters` names other judges, such as
    "anna|ben|llm".
    """

    reads: ClassVar[str] = "judgments"
    level: str = "nominal"
    raters: str = ""

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return krippendorff_alpha(columns, self.level, weights)


def _percentile(columns: Sequence[Floats], share: float, weights: Floats) -> Floats:
    if len(columns) != 1:
        raise UsageError(f"A percentile takes one column, not {len(columns)}: write p95(Measure(system)).")
    return weighted_percentile(columns[0], share, weights)


def _pair(columns: Sequence[Floats], name: str) -> tuple[Floats, Floats]:
    if len(columns) != 2:
        raise UsageError(f"{name} takes two columns, not {len(columns)}. For more raters use alpha.")
    return columns[0], columns[1]


def _share(counted: Floats, weights: Floats) -> Floats:
    return ratio(weights @ counted, weights.sum(axis=1))


@dataclass(frozen=True)
class Wins:
    """The share of rows on which the first column is higher than the second; a tie is not a win."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    settled: ClassVar[bool] = False  # no win on these rows does not prove that there are no wins
    sign: ClassVar[str] = ">"  # the sign with which a count of the same rows is written

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
    """The share of rows that pass a test, as in `share(nDCG@10(new) < 0.1)`.

    The column is 1 for rows that pass the test, and 0 for the others.
    """

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
    """The number of rows that pass a test, as in `count(nDCG@10(new) = 0)`.

    A resample has as many rows as the data. The interval is for the number of such rows in samples of this
    size.
    """

    high: ClassVar[float | None] = None
    total: ClassVar[bool] = True

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return len(columns[0]) * super().values(columns, weights)


def _two(columns: Sequence[Floats]) -> tuple[Floats, Floats]:
    if len(columns) != 2:
        raise UsageError(f"Wins and losses compare two columns, not {len(columns)}.")
    return finite_pair(columns[0], columns[1])


@dataclass(frozen=True)
class WeightedMean:
    """The mean over rows weighted by the number of their tag `by`, such as how often a query is asked.

    The last column holds this number. A row with a weight of 0 does not count.
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
    """The sum over rows, as in `sum(Cost(new))`. A resample has as many rows as the data."""

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
