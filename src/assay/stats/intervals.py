"""Intervals for means, paired differences, proportions and any bootstrapped expression.

The kind of interval for each case was chosen by simulation (tests/unit/stats/test_calibration.py repeats it):

- Means of scores and of paired differences: the percentile bootstrap. Its quantiles are moved outwards to
  those of Student's t (Hesterberg, 2015), with degrees of freedom from the kurtosis (Satterthwaite). The end
  on the side of a long tail moves out further, by the skewness of the rows (Hall, 1992). No end moves in.
  Plain percentile and BCa intervals cover less than 92 % at n = 30 if many rows tie.
- Too few rows that differ from the rest: a resample cannot contain values that were never seen. A row is
  added at each end of the measure's range, and Student's t is used (Agresti and Coull's idea for scores). The
  weight of the two rows falls as more rows differ. It is zero if eight or more differ. Among ties, six equal
  gains are enough to exclude zero and five are not, as in an exact sign test.
- Proportions: Wilson, or Clopper-Pearson if fewer than eight rows succeed or fail.
- Paired differences of two binary columns: Bonett and Price (2012), valid even without a discordant pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from assay.stats.columns import TIE, binary_column, count_discordant, finite_column, finite_pair, spread
from assay.stats.resample import (
    RESAMPLES,
    cluster_sums,
    jackknife_means,
    plain_means,
    resampled_means,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.protocols import Floats

    Bounds = tuple[float, float]

LEVEL = 0.95
FEW = 8  # a bootstrap needs this many rows that differ from the most frequent value
LEAST_EFFECTIVE = 30  # weighted rows must be worth this many rows of equal weight
FEWEST_CLUSTERS = 6  # of many rows each; with fewer, no sign test of their means can be significant
LEAST_TOGETHER = 20  # clusters; with fewer, it is not known which differences move together
BEYOND = 2  # resamples outside an end; with fewer, the end depends on chance
MOST_UNDEFINED = 0.05  # the largest share of undefined resamples with which there is an interval


@dataclass(frozen=True)
class Interval:
    """The two ends of an interval and the method behind them; NaN ends if the data allow no interval."""

    low: float
    high: float
    method: str


NO_INTERVAL = Interval(float("nan"), float("nan"), "none")


# ------------------------------------------------------------------------------ any expression


def interval_of(
    resampled: Floats,
    point: float,
    n: int,
    *,
    jackknife: Floats | None = None,
    bounds: Bounds | None = None,
    level: float = LEVEL,
    stepwise: bool = False,
    rows: int = 0,
) -> Interval:
    """Returns the interval of any bootstrapped value over n clusters.

    `jackknife` holds the n leave-one-out values. Give them for expressions of means, but not for quantiles,
    whose jackknife is not consistent. `bounds` is the range of the expression for a single row. With `bounds`
    there is an interval even if all rows are equal. `stepwise` is for values that jump, also to infinity:
    both ends are then values that were drawn. `rows` is the number of rows in the clusters, if it is larger
    than n.
    """
    draws = resampled[~np.isnan(resampled)]
    if n < 1 or np.isnan(point) or len(draws) < (1 - MOST_UNDEFINED) * len(resampled):
        return NO_INTERVAL
    freedom, lean = n - 1.0, 0.0
    if jackknife is not None:
        influence = np.nan_to_num((n - 1) * (point - jackknife))
        telling = _telling(influence)
        if bounds is not None and telling < _enough(n, rows):
            return _with_extremes(point + influence, point, bounds, level, weight=1 - telling / FEW)
        freedom, lean = min(freedom, _freedom(influence)), _lean(influence, level)
    if freedom < 1 or spread(draws) <= TIE:
        return NO_INTERVAL
    reach = np.sqrt(n / (n - 1)) * special.stdtrit(freedom, (1 + level) / 2)
    shares = special.ndtr([-reach, reach])
    low, high = _drawn_quantiles(draws, shares) if stepwise else np.quantile(draws, shares)
    if shares[0] * len(draws) < BEYOND and not stepwise:
        half = reach * draws.std()  # further out than resamples reach
        low, high = min(low, point - half), max(high, point + half)
    if lean:
        low, high = low + min(lean, 0.0) * draws.std(), high + max(lean, 0.0) * draws.std()
    if bounds is not None:
        low, high = max(low, min(bounds[0], point)), min(high, max(bounds[1], point))
    return Interval(float(low), float(high), "bootstrap")


def _drawn_quantiles(draws: Floats, shares: Floats) -> Floats:
    """Returns quantiles that are draws themselves.

    NumPy's quantiles, even with inverted_cdf, subtract infinity from infinity.
    """
    places = np.ceil(shares * len(draws)).astype(np.int64) - 1
    found: Floats = np.sort(draws)[np.clip(places, 0, len(draws) - 1)]
    return found


def percentile(resampled: Floats, level: float = LEVEL) -> Interval:
    """Returns the plain percentile bootstrap interval. It is too short at small n: use `interval_of`."""
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), "percentile")


def _telling(influence: Floats) -> int:
    """Returns how many rows have another influence than the most frequent one."""
    rounded = np.round(influence, 9)  # jackknife differences lose digits: coarser than TIE
    return len(rounded) - int(np.unique(rounded, return_counts=True)[1].max())


def _enough(n: int, rows: int) -> int:
    """Returns how many of n clusters must differ for a bootstrap.

    It is eight, or n - 1 if there are six to eight clusters with several rows each.
    """
    return min(FEW, n - 1) if n >= FEWEST_CLUSTERS and rows >= max(LEAST_EFFECTIVE, 2 * n) else FEW


def _freedom(influence: Floats) -> float:
    """Returns the degrees of freedom of the variance of these rows: 2n / (kurtosis - 1).

    For normally distributed rows this is n.
    """
    squares = (influence - influence.mean()) ** 2
    spread = float(np.mean(squares) ** 2)
    excess = float(np.mean(squares**2)) - spread
    return 2 * len(influence) * spread / excess if excess > TIE * spread else np.inf


def _lean(influence: Floats, level: float) -> float:
    """Returns by how many standard errors a percentile interval of skewed rows is too short at the long tail.

    The quantile of a Studentised mean differs from the normal quantile by skewness (2z² + 1) / (6 √n). The
    quantile of the resamples covers only skewness (z² - 1) / (6 √n) of this difference (Hall, 1992).
    """
    centred, z = influence - influence.mean(), float(special.ndtri((1 + level) / 2))
    variance = float(np.mean(centred**2))
    skewness = float(np.mean(centred**3)) / variance**1.5 if variance > TIE**2 else 0.0
    return float(skewness * (z**2 + 2) / (6 * np.sqrt(len(influence))))


def _with_extremes(
    values: Floats, point: float, bounds: Bounds, level: float, weight: float = 1.0
) -> Interval:
    """Returns Student's t interval after adding a row at each end of the range. It stays within the range."""
    rows, weights = np.append(values, bounds), np.append(np.ones(len(values)), [weight, weight])
    total = weights.sum()
    middle = rows @ weights / total
    error = np.sqrt((rows - middle) ** 2 @ weights) / total
    half = special.stdtrit(max(total - 1, 1.0), (1 + level) / 2) * error
    low, high = middle - half, middle + half
    return Interval(
        float(max(min(low, point), bounds[0])), float(min(max(high, point), bounds[1])), "adjusted"
    )


# --------------------------------------------------------------------------------- one measure


@dataclass(frozen=True)
class ResampledMean:
    """A mean, or a difference of means, with its resamples: ready for an interval at any level."""

    point: float
    n: int
    draws: Floats
    jackknife: Floats
    bounds: Bounds | None
    rows: int

    def interval(self, level: float = LEVEL) -> Interval:
        return interval_of(
            self.draws,
            self.point,
            self.n,
            jackknife=self.jackknife,
            bounds=self.bounds,
            level=level,
            rows=self.rows,
        )

    @property
    def moved(self) -> Floats:
        """The error of the mean in each resample. Empty if there are too few clusters to rely on it."""
        return self.draws - self.point if self.n >= LEAST_TOGETHER else np.empty(0)


def resample_means(
    sums: Floats,
    counts: Floats,
    bounds: Sequence[Bounds | None],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[ResampledMean]:
    """Returns the means of many columns, all from the same resamples.

    `sums` and `counts` come from `cluster_sums`. A column may hold a measure of one system, or a paired
    difference of two. `bounds` has the range of each column.
    """
    draws = resampled_means(sums, counts, resamples, seed) if len(sums) else np.empty((0, sums.shape[1]))
    points, left_out, present = plain_means(sums, counts), jackknife_means(sums, counts), counts > 0
    return [
        ResampledMean(
            float(points[column]),
            int(present[:, column].sum()),
            draws[:, column],
            left_out[present[:, column], column],
            bounds[column],
            int(counts[:, column].sum()),
        )
        for column in range(sums.shape[1])
    ]


def mean_intervals(
    sums: Floats,
    counts: Floats,
    bounds: Sequence[Bounds | None],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Interval]:
    """Returns the intervals of the means of many columns, all from the same resamples."""
    columns = resample_means(sums, counts, bounds, resamples=resamples, seed=seed)
    return [column.interval(level) for column in columns]


def mean_interval(
    values: ArrayLike,
    *,
    binary: bool,
    clusters: NDArray[Any] | None = None,
    bounds: Bounds | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Interval:
    """Returns the interval of the mean of one column. NaN is an error: leave out rows without a value."""
    column = binary_column(values) if binary else finite_column(values)
    if binary:
        if _rows_are_clusters(clusters, len(column)):
            return proportion_interval(int(column.sum()), len(column), level)
        bounds = (0.0, 1.0)
    table = cluster_sums(column, clusters)
    return mean_intervals(*table, [bounds], resamples=resamples, seed=seed, level=level)[0]


def difference_interval(
    a: ArrayLike,
    b: ArrayLike,
    *,
    binary: bool,
    clusters: NDArray[Any] | None = None,
    bounds: Bounds | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Interval:
    """Returns the interval of mean(a) - mean(b), paired by row. `bounds` is the range of one column."""
    left, right = finite_pair(a, b)
    if binary:
        gains, losses = count_discordant(left, right)
        if len(left) and _rows_are_clusters(clusters, len(left)):
            return bonett_price(gains, losses, len(left), level)
        bounds = (0.0, 1.0)
    widened = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    return mean_interval(
        left - right,
        binary=False,
        clusters=clusters,
        bounds=widened,
        resamples=resamples,
        seed=seed,
        level=level,
    )


def _rows_are_clusters(clusters: NDArray[Any] | None, n: int) -> bool:
    return clusters is None or len(np.unique(clusters)) == n


# --------------------------------------------------------------------------------- proportions


def proportion_interval(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Returns Wilson's interval, or Clopper-Pearson's if fewer than eight rows succeeded or failed."""
    if n < 1:
        return NO_INTERVAL
    return (clopper_pearson if min(successes, n - successes) < FEW else wilson)(successes, n, level)


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Returns the score interval of a proportion (Wilson, 1927)."""
    z = float(special.ndtri((1 + level) / 2))
    share, widened = successes / n, 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / widened
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / widened
    low = 0.0 if successes == 0 else float(middle - half)
    high = 1.0 if successes == n else float(middle + half)
    return Interval(low, high, "wilson")


def clopper_pearson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Returns the interval of a proportion that covers at its level or more (Clopper and Pearson, 1934)."""
    tail = (1 - level) / 2
    # quantiles of beta distributions: binomtest searches for the same numbers, a hundred times slower
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(special.betaincinv(successes + 1, n - successes, 1 - tail))
    return Interval(low, high, "exact")


def _binomial_quantile(chance: float, n: int, share: float) -> int:
    """Returns the smallest k such that at most k of n draws succeed with probability `chance` or more.

    Each draw succeeds with probability `share`.
    """
    near = int(np.ceil(special.bdtrik(chance, n, share)))
    return near - 1 if near > 0 and special.bdtr(near - 1, n, share) >= chance else near


def quantile_interval(values: ArrayLike, share: float, level: float = LEVEL) -> Interval:
    """Returns the interval of a quantile. Its ends are values of rows; an end beyond all rows is infinite.

    The number of n rows below the true quantile is binomial for any distribution (Conover, 1999).
    """
    rows = np.sort(finite_column(values))
    n = len(rows)
    if n < 1:
        return NO_INTERVAL
    below, above = (_binomial_quantile(each, n, share) for each in ((1 - level) / 2, (1 + level) / 2))
    low = float(rows[below - 1]) if below >= 1 else -np.inf
    high = float(rows[above]) if above < n else np.inf
    return Interval(low, high, "order statistics")


def effective_rows(traffic: ArrayLike) -> float:
    """Returns how many rows of equal weight have as much information as these weighted rows (Kish, 1965)."""
    weights = finite_column(traffic)
    squares = float(np.sum(weights**2))
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def weighted_interval(
    values: ArrayLike, traffic: ArrayLike, bounds: Bounds | None, level: float = LEVEL
) -> Interval:
    """Returns the interval of a mean of weighted rows: Student's t with a jackknife standard error.

    A row of mean weight is added at each end of the range. There is no interval if the weighted rows are
    worth fewer than 30 rows of equal weight: heavy rows that were not drawn could then change the mean too
    much.
    """
    rows, weights = finite_pair(values, traffic)
    if effective_rows(weights) < LEAST_EFFECTIVE:
        return NO_INTERVAL
    point = float(rows @ weights / weights.sum())
    if bounds is not None:
        rows, weights = np.append(rows, bounds), np.append(weights, [weights.mean()] * 2)
    total, whole, n = weights.sum(), rows @ weights, len(rows)
    left_out = (whole - rows * weights) / (total - weights)
    error = np.sqrt(np.sum((left_out - left_out.mean()) ** 2) * (n - 1) / n)
    freedom = min(effective_rows(weights) - 1, _freedom((n - 1) * (whole / total - left_out)))
    half = float(special.stdtrit(max(freedom, 1.0), (1 + level) / 2) * error)
    low, high = min(point, whole / total - half), max(point, whole / total + half)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Interval(float(low), float(high), "weighted")


def bonett_price(gains: int, losses: int, n: int, level: float = LEVEL) -> Interval:
    """Returns the adjusted Wald interval of a paired difference of proportions (Bonett and Price, 2012).

    Of n pairs, `gains` are (1, 0) and `losses` are (0, 1). One pair of each kind is added.
    """
    up, down = (gains + 1) / (n + 2), (losses + 1) / (n + 2)
    half = special.ndtri((1 + level) / 2) * np.sqrt((up + down - (up - down) ** 2) / (n + 2))
    return Interval(max(float(up - down - half), -1.0), min(float(up - down + half), 1.0), "bonett-price")
