"""Resampling as weights: bootstrap, jackknife and the plain estimate are one call with different weights.

A statistic is a function of columns and of how often each row counts. All columns share the draws, so any two
systems or measures are compared on the same resamples. The means of all columns under all resamples are one
matrix product. Clusters are drawn; by default each row is a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import UsageError
from assay.stats.columns import ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.protocols import Floats

RESAMPLES = 10_000
CHUNK_CELLS = 2**19  # 4 MB of float64 at a time: the quickest size when measured, and small at any n


def random_generator(seed: int) -> np.random.Generator:
    """Returns the random generator of all statistics: the same seed gives the same bits."""
    return np.random.Generator(np.random.PCG64(seed))


def chunk_sizes(total: int, width: int) -> Iterator[int]:
    """Yields how many rows of `width` cells to hold in memory at a time, until `total` rows are done."""
    rows = max(1, CHUNK_CELLS // max(width, 1))
    for start in range(0, total, rows):
        yield min(rows, total - start)


def bootstrap_weights(n: int, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[Floats]:
    """Yields chunks of (rows × n) counts. Each row is a multinomial draw whose counts add up to n.

    The stream depends only on the seed, not on the size of the chunks.
    """
    if n < 1:
        raise UsageError("There are no rows to resample. Check the slice: it selects nothing.")
    random = random_generator(seed)
    for rows in chunk_sizes(resamples, n):
        drawn = random.integers(0, n, size=(rows, n))
        drawn += np.arange(rows)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def cluster_sums(values: ArrayLike, clusters: NDArray[Any] | None = None) -> tuple[Floats, Floats]:
    """Returns the sum of the values and the number of values, by cluster and column.

    NaN marks a row that a column does not have; no other function allows NaN. Clusters are in the order of
    their labels. Without `clusters` every row is a cluster.
    """
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    present = ~np.isnan(table)
    sums, counts = np.where(present, table, 0.0), present.astype(np.float64)
    if clusters is None:
        return sums, counts
    labels, code = np.unique(clusters, return_inverse=True)
    grouped = np.zeros((2, len(labels), table.shape[1]))
    np.add.at(grouped[0], code, sums)
    np.add.at(grouped[1], code, counts)
    return grouped[0], grouped[1]


def plain_means(sums: Floats, counts: Floats) -> Floats:
    """Returns the mean of each column; NaN if the column has no rows."""
    return ratio(sums.sum(axis=0), counts.sum(axis=0))


def jackknife_means(sums: Floats, counts: Floats) -> Floats:
    """Returns the (clusters × columns) means, each without one cluster."""
    return ratio(sums.sum(axis=0) - sums, counts.sum(axis=0) - counts)


def resampled_means(sums: Floats, counts: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """Returns the (resamples × columns) bootstrap means; NaN where a resample has no row of a column."""
    return weighted_means(bootstrap_weights(len(sums), resamples, seed), sums, counts)


def weighted_means(weights: Iterable[Floats], sums: Floats, counts: Floats) -> Floats:
    """Returns the means of all columns under each row of each chunk of weights."""
    columns = sums.shape[1]
    distinct, which = np.unique(counts, axis=1, return_inverse=True)  # most columns share their rows
    both = np.column_stack([sums, distinct])
    products = (chunk @ both for chunk in weights)
    return np.concatenate(
        [ratio(drawn[:, :columns], drawn[:, columns + which.ravel()]) for drawn in products]
    )


class Draws:
    """Bootstrap weights that many tables share. They are drawn once for each number of rows.

    They are kept in memory as long as there is room. Weights are small counts, so one byte each is enough.
    """

    KEPT_CELLS = 2**26

    def __init__(self, resamples: int = RESAMPLES, seed: int = 0) -> None:
        self.resamples, self.seed = resamples, seed
        self._kept: dict[int, list[NDArray[Any]]] = {}

    def weights(self, n: int) -> Iterator[Floats]:
        """Yields the same weights as `bootstrap_weights` for n rows."""
        if n in self._kept:
            yield from (chunk.astype(np.float64) for chunk in self._kept[n])
            return
        room = self.KEPT_CELLS - self.resamples * sum(self._kept)
        chunks: list[NDArray[Any]] = []
        for weights in bootstrap_weights(n, self.resamples, self.seed):
            if n * self.resamples <= room:
                chunks.append(weights.astype(np.min_scalar_type(int(weights.max()))))
            yield weights
        if chunks:
            self._kept[n] = chunks
