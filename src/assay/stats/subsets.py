"""The subset-mean interval. Its ends never fall when the value of a row rises.

Put the means of random subsets of the rows in order. If the rows are symmetric about a true value, this value
is equally likely to lie between any two neighbours of the ordered means (Hartigan, 1969). Counting in from
both sides gives an interval. It is the inverse of the sign-flip test: flipping the signs of a subset leaves a
sum as large as the observed sum exactly if the subset's own sum is not above zero. So the lower end is above
zero exactly if the one-sided sign-flip p is at most (1 - level) / 2.

Other intervals are shorter, but their ends can fall when a row rises. A subset's mean is a sum of rows with
weights that are not negative, so it never falls when a row rises. An end is the k-th smallest of these means,
and k depends only on their number, so the end never falls either. If the least and the greatest value of
every row are known, so are the least and the greatest value of both ends. An interval that depends on the
rows' kurtosis does not have this property.

Use the interval only to tell a difference from zero. If nearly all rows tie, it is too short for any other
use: rows that are all equal give an interval of width zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import UsageError
from assay.stats.columns import finite_column
from assay.stats.intervals import LEVEL, NO_INTERVAL, Interval
from assay.stats.resample import RESAMPLES, chunk_sizes, cluster_sums, random_generator, weighted_means

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.core.protocols import Floats

ALL_SUBSETS = 13  # up to this number of rows, all 2^n - 1 subsets are used
DIGITS = 12  # a subset whose mean is zero but for floating-point noise counts as zero
SLACK = 1e-9  # 0.05 · 20 counts as 1, even if its last bit differs


def subset_weights(n: int, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[Floats]:
    """Yields chunks of (rows × n) zeros and ones, as `bootstrap_weights` does for the bootstrap.

    Each row of weights is a subset, and none is empty. For few rows these are all subsets, and `resamples` is
    ignored. The stream depends only on n and the seed, not on the size of the chunks.
    """
    if n < 1:
        raise UsageError("There are no rows to take subsets of. Check the slice: it selects nothing.")
    if n <= ALL_SUBSETS:
        yield (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)
        return
    random = random_generator(seed)
    width = 4 * -(-n // 32)  # whole words for each row, so that the stream does not depend on the chunks
    for rows in chunk_sizes(resamples, n):
        words = np.frombuffer(random.bytes(rows * width), dtype=np.uint8).reshape(rows, width)
        drawn = np.unpackbits(words, axis=1, count=n)
        drawn[~drawn.any(axis=1)] = 1  # less than one draw in 2^13; the interval counts the empty set itself
        yield drawn.astype(np.float64)


def subset_interval(resampled_means: Floats, level: float = LEVEL) -> Interval:
    """Returns the interval from the means of subsets. It has no ends if there are too few rows.

    NaN is the mean of a subset that contains no row of a column. Its sum is zero, so it counts against both
    ends: a column with five rows never excludes zero, even if other columns have many rows.
    """
    means = np.round(resampled_means[~np.isnan(resampled_means)], DIGITS) + 0.0  # + 0.0: no negative zero
    empty = len(resampled_means) - len(means)
    place = int((1 - level) / 2 * (len(resampled_means) + 1) + SLACK) - empty
    if place < 1:
        return NO_INTERVAL
    ordered = np.partition(means, [place - 1, len(means) - place])
    return Interval(float(ordered[place - 1]), float(ordered[-place]), "subsets")


def subset_mean_intervals(
    rows: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> list[Interval]:
    """Returns the interval of the mean of each column of (n × columns) rows, all from the same subsets."""
    sums, counts = cluster_sums(finite_column(rows))
    if not len(sums):
        return [NO_INTERVAL] * sums.shape[1]
    means = weighted_means(subset_weights(len(sums), resamples, seed), sums, counts)
    return [subset_interval(column, level) for column in means.T]
