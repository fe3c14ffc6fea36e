"""Tests and effect sizes of paired differences that assume no distribution: sign flips, Wilcoxon, McNemar.

All tests are two-sided. If every difference is zero, p is 1. If there is no row, p is NaN. The tests exchange
rows. If rows are in clusters, such as one question that several models answer, they depend on each other.
Then pass the sums of each cluster, or use the functions with "cluster" in their name, which draw and flip
whole clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from assay.stats.columns import TIE, binary_column, count_discordant, finite_column, finite_pair
from assay.stats.intervals import LEVEL, Interval, interval_of
from assay.stats.resample import chunk_sizes, cluster_sums, random_generator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.protocols import Floats

    Columns = NDArray[np.intp]
    from assay.stats.resample import Draws

    Labels = NDArray[Any]


FLIPS = 10_000
EXACT_RANKS = 50
EXACT_PAIRS = 20  # up to 2^19 sums, as a flip of all signs changes nothing
SLACK = 1e-9  # relative: a sum this near to the observed one counts as equally extreme


def sign_flip(differences: ArrayLike, flips: int = FLIPS, seed: int = 0) -> Floats:
    """Returns one p-value per column of (n × columns) differences, from their mean under random signs.

    It is exact if at most 20 differences are not zero. Otherwise it uses `flips` random sign vectors, the
    same for all columns, and adds one to numerator and denominator (Phipson and Smyth, 2010).
    """
    table = finite_column(differences)
    table = table[:, None] if table.ndim == 1 else table
    columns = np.arange(table.shape[1])
    against_zero = np.column_stack([table, np.zeros(len(table))])
    return _p_values(against_zero, columns, np.full_like(columns, len(columns)), flips, seed)


def sign_flip_all_pairs(values: ArrayLike, flips: int = FLIPS, seed: int = 0) -> Floats:
    """Returns the (systems × systems) p-values of all pairs of columns. The diagonal is 1.

    The p-value of a pair is the one that `sign_flip` gives for its differences.
    """
    table = finite_column(values)
    systems = table.shape[1]
    left, right = np.triu_indices(systems, 1)
    p = np.eye(systems)
    p[left, right] = p[right, left] = _p_values(table, left, right, flips, seed)
    return p


def wilcoxon(differences: ArrayLike) -> float:
    """Returns the p-value of the signed-rank test. Zeros are left out, as in Wilcoxon's paper.

    It is exact up to 50 ranks, or up to 20 if some are tied. Beyond that it uses the normal distribution with
    a correction for ties. `scipy.stats.wilcoxon` does the same, but importing it takes longer than everything
    else that a gate needs.
    """
    # Rounding makes ties of values that differ only by noise, which ranks would enlarge.
    column = np.round(finite_column(differences), 12)
    column = column[column != 0]
    n = len(column)
    if n == 0:
        return 1.0 if np.size(differences) else float("nan")
    _, place, tied = np.unique(np.abs(column), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(tied) - (tied - 1) / 2)[place]
    if n <= (EXACT_RANKS if len(tied) == n else EXACT_PAIRS):
        return _exact_ranks(ranks, column > 0)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (tied**3 - tied).sum() / 48
    return float(2 * special.ndtr(-abs(ranks[column > 0].sum() - n * (n + 1) / 4) / np.sqrt(variance)))


def mcnemar(a: ArrayLike, b: ArrayLike) -> float:
    """Returns the exact p-value for two paired binary columns: a binomial test on the discordant pairs."""
    gains, losses = count_discordant(a, b)
    if gains + losses == 0:
        return 1.0 if np.size(a) else float("nan")
    return min(1.0, 2 * float(special.bdtr(min(gains, losses), gains + losses, 0.5)))


def _p_values(values: Floats, left: Columns, right: Columns, flips: int, seed: int) -> Floats:
    """Returns one p-value for each difference of a left and a right column."""
    if len(values) == 0:
        return np.full(len(left), np.nan)
    size, observed, moving = _summaries(values, left, right)
    p = np.ones(len(left))
    for pair in np.flatnonzero((moving > 0) & (moving <= EXACT_PAIRS)):
        p[pair] = _exact(values[:, left[pair]] - values[:, right[pair]])
    many = np.flatnonzero(moving > EXACT_PAIRS)
    if many.size:
        reached = np.zeros(many.size)
        bar = observed[many] - SLACK * size[many]
        for signs in _signs(len(values), flips, seed, many.size):
            moved = signs @ values
            reached += np.sum(np.abs(moved[:, left[many]] - moved[:, right[many]]) >= bar, axis=0)
        p[many] = (reached + 1) / (flips + 1)
    return p


def _summaries(values: Floats, left: Columns, right: Columns) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Returns for each difference: the sum of absolute values, the absolute sum, how many are not zero."""
    size, observed = np.empty(len(left)), np.empty(len(left))
    moving = np.empty(len(left), dtype=np.int64)
    for pair, (one, other) in enumerate(zip(left, right, strict=True)):
        difference = values[:, one] - values[:, other]
        size[pair], observed[pair] = np.abs(difference).sum(), abs(difference.sum())
        moving[pair] = np.sum(np.abs(difference) > TIE)
    return size, observed, moving


def _exact(difference: Floats) -> float:
    """Returns the share of all sign vectors whose sum is at least as extreme as the observed sum."""
    moving = difference[np.abs(difference) > TIE]
    sums = moving[:1]  # the first sign is fixed: flipping all signs gives the same absolute sum
    for value in moving[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return float(np.mean(np.abs(sums) >= abs(moving.sum()) - SLACK * np.abs(moving).sum()))


def _exact_ranks(ranks: Floats, positive: NDArray[np.bool_]) -> float:
    """Returns the exact two-sided p-value: twice the share of sign vectors in the observed tail."""
    doubled = np.rint(2 * ranks).astype(np.intp)  # ranks of ties are halves
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    observed = doubled[positive].sum()
    tail = min(ways[: observed + 1].sum(), ways[observed:].sum())
    return min(1.0, float(2 * tail / 2.0 ** len(ranks)))


def _signs(n: int, flips: int, seed: int, pairs: int) -> Iterator[Floats]:
    """Yields chunks of random signs, one row per flip. The size of the chunks does not change the stream."""
    random = random_generator(seed)
    for rows in chunk_sizes(flips, max(n, pairs)):
        yield random.integers(0, 2, size=(rows, n)).astype(np.float64) * 2 - 1


class WinTieLoss(NamedTuple):
    """The numbers of rows on which the first system is better, equal and worse."""

    wins: int
    ties: int
    losses: int


class OddsRatio(NamedTuple):
    """An odds ratio with its interval."""

    value: float
    interval: Interval


def win_tie_loss(differences: ArrayLike, tolerance: float = TIE) -> WinTieLoss:
    """Returns how many differences are positive, tied and negative. Within `tolerance` of 0 is a tie."""
    column = finite_column(differences)
    wins, losses = int(np.sum(column > tolerance)), int(np.sum(column < -tolerance))
    return WinTieLoss(wins, len(column) - wins - losses, losses)


def cliffs_delta_paired(differences: ArrayLike, tolerance: float = TIE) -> float:
    """Returns P(a > b) - P(a < b) within rows, which is (wins - losses) / n, from -1 to 1."""
    wins, ties, losses = win_tie_loss(differences, tolerance)
    n = wins + ties + losses
    return (wins - losses) / n if n else float("nan")


def cohens_dz(differences: ArrayLike) -> float:
    """Returns the mean difference in standard deviations of the differences (Cohen's d for paired rows)."""
    column = finite_column(differences)
    if len(column) < 2 or np.ptp(column) <= TIE:
        return float("nan")
    return float(column.mean() / column.std(ddof=1))


# Words for the size of Cliff's delta (Romano and others, 2006). Each is for values below its bound.
MAGNITUDES = (("negligible", 0.147), ("small", 0.33), ("medium", 0.474))


def cluster_totals(values: ArrayLike, clusters: Labels) -> Floats:
    """Returns the sum of the values of each cluster, in the order of the labels."""
    return cluster_sums(finite_column(values), clusters)[0][:, 0]


def wilcoxon_by_cluster(differences: ArrayLike, clusters: Labels) -> float:
    """Returns the p-value of the signed-rank test over the sums of each cluster."""
    return wilcoxon(cluster_totals(differences, clusters))


def mcnemar_by_cluster(a: ArrayLike, b: ArrayLike, clusters: Labels) -> float:
    """Returns the exact p-value for two paired binary columns whose clusters change sides as a whole.

    The sums of clusters are whole numbers. So the exact distribution of their total under random signs is
    built up cluster by cluster, for any number of clusters. With one row per cluster this is McNemar's exact
    test.
    """
    left, right = finite_pair(binary_column(a), binary_column(b))
    if len(left) == 0:
        return float("nan")
    totals = np.round(cluster_totals(left - right, clusters)).astype(np.int64)
    chances = np.ones(1)  # of each total from -reach to reach, in steps of one
    for step in np.abs(totals[totals != 0]):
        chances = (np.pad(chances, (0, 2 * step)) + np.pad(chances, (2 * step, 0))) / 2
    reach = len(chances) // 2
    extreme = np.abs(np.arange(-reach, reach + 1)) >= abs(totals.sum())
    return min(float(chances[extreme].sum()), 1.0)


def odds_ratio_by_cluster(a: ArrayLike, b: ArrayLike, clusters: Labels, level: float = LEVEL) -> OddsRatio:
    """Returns the matched-pairs odds ratio of two binary columns.

    The odds ratio is the number of rows that only `a` gets right, divided by the number that only `b` gets
    right. Half a row is added to both counts (Haldane and Anscombe). The variance of the logarithm is the sum
    over clusters of (gains_k / gains - losses_k / losses)², where each half row is a cluster of its own.
    """
    left, right = finite_pair(binary_column(a), binary_column(b))
    up = cluster_totals(left > right, clusters)
    down = cluster_totals(left < right, clusters)
    gains, losses = float(up.sum()) + 0.5, float(down.sum()) + 0.5
    halves = 0.5 / gains**2 + 0.5 / losses**2
    deviation = np.sqrt(np.sum((up / gains - down / losses) ** 2) + halves)
    odds = gains / losses
    factor = float(np.exp(special.ndtri((1 + level) / 2) * deviation))
    return OddsRatio(odds, Interval(odds / factor, odds * factor, "log-wald by cluster"))


def interval_over_clusters(
    statistic: Callable[[Floats], Floats], clusters: Labels, draws: Draws, level: float = LEVEL
) -> tuple[float, Interval]:
    """Returns the value of a statistic of weighted rows, and its interval from resampled clusters.

    `statistic` takes (resamples × rows) weights and returns one value per resample.
    """
    labels, code = np.unique(clusters, return_inverse=True)
    point = float(statistic(np.ones((1, len(code))))[0])
    if len(labels) == 0 or np.isnan(point):
        return point, interval_of(np.empty(0), point, 0)
    drawn = [statistic(weights[:, code]) for weights in draws.weights(len(labels))]
    return point, interval_of(np.concatenate(drawn), point, len(labels), level=level)


def magnitude(delta: float) -> str:
    """Returns the word for a Cliff's delta of this size; empty if it is undefined."""
    if np.isnan(delta):
        return ""
    return next((word for word, bound in MAGNITUDES if abs(delta) < bound), "large")
