"""Paired rows that come in clusters, as one question that several models answer.

Rows of a cluster depend on each other: they are drawn together, flipped together, and add up before they are
ranked. With one row a cluster each function gives what its plain counterpart gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from assay.stats.columns import binary_column, finite_column, finite_pair
from assay.stats.intervals import LEVEL, Interval, interval_of
from assay.stats.resample import cluster_sums
from assay.stats.tests import OddsRatio, wilcoxon

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.protocols import Floats
    from assay.stats.resample import Draws

    Labels = NDArray[Any]

# The sizes of Cliff's delta that words stand for (Romano and others, 2006): each holds below its bound.
MAGNITUDES = (("negligible", 0.147), ("small", 0.33), ("medium", 0.474))


def cluster_totals(values: ArrayLike, clusters: Labels) -> Floats:
    """The sum of the values of each cluster, in the order of the labels."""
    return cluster_sums(finite_column(values), clusters)[0][:, 0]


def wilcoxon_by_cluster(differences: ArrayLike, clusters: Labels) -> float:
    """The signed-rank test's p-value, over the sums of each cluster."""
    return wilcoxon(cluster_totals(differences, clusters))


def mcnemar_by_cluster(a: ArrayLike, b: ArrayLike, clusters: Labels) -> float:
    """The exact p-value for two paired binary columns whose clusters change sides as a whole.

    The sums of the clusters are whole numbers, so that the chance of every total under random signs can be
    built up cluster by cluster, however many there are. With one row a cluster it is McNemar's exact test.
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
    """The matched-pairs odds ratio of two binary columns: rows only a gets right over rows only b does.

    Half a row is added to both counts, as without clusters. The variance of the logarithm adds up what each
    cluster pulls, (gains_k / gains - losses_k / losses)², and each half row as one that pulls alone.
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
    """The value of a statistic of row weights, and its interval from resampled clusters.

    `statistic` takes (resamples × rows) weights and returns one value a resample.
    """
    labels, code = np.unique(clusters, return_inverse=True)
    point = float(statistic(np.ones((1, len(code))))[0])
    if len(labels) == 0 or np.isnan(point):
        return point, interval_of(np.empty(0), point, 0)
    drawn = [statistic(weights[:, code]) for weights in draws.weights(len(labels))]
    return point, interval_of(np.concatenate(drawn), point, len(labels), level=level)


def magnitude(delta: float) -> str:
    """The word for a Cliff's delta of this size; none where it is undefined."""
    if np.isnan(delta):
        return ""
    return next((word for word, bound in MAGNITUDES if abs(delta) < bound), "large")
