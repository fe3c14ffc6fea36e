"""Exact cosine search over vectors in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import DataError, Problem, UsageError
from assay.retrieval.fuse import Ranking

_QUERIES_AT_ONCE = 64  # bounds the block of similarities: 64 × 1 million × 4 bytes is 256 MB


def unit(matrix: ArrayLike) -> NDArray[np.float32]:
    """The rows scaled to length 1, in float32. A row of zeros, which has no direction, stays zero."""
    rows = np.ascontiguousarray(matrix, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        row = int(np.flatnonzero(~np.isfinite(lengths))[0])
        fix = "Check the model that made it."
        raise DataError(Problem("a vector holds NaN or infinity", f"row {row}", fix=fix))
    scaled = np.zeros_like(rows)
    np.divide(rows, lengths, out=scaled, where=lengths > 0)
    return scaled


class VectorIndex:
    """Vectors by position, searched exhaustively. Immutable, so any number of threads may search."""

    def __init__(self, vectors: ArrayLike) -> None:
        self._matrix = unit(vectors)

    def __len__(self) -> int:
        return len(self._matrix)

    def search(self, queries: ArrayLike, k: int) -> list[Ranking]:
        """The k nearest by cosine for each row of `queries`; none for a row of zeros."""
        rows = unit(queries)
        if rows.shape[1] != self._matrix.shape[1]:
            raise UsageError(
                f"The queries have {rows.shape[1]} dimensions and the index {self._matrix.shape[1]}. "
                "Embed both with the same model."
            )
        rankings: list[Ranking] = []
        for start in range(0, len(rows), _QUERIES_AT_ONCE):
            block = rows[start : start + _QUERIES_AT_ONCE]
            rankings += [self._rank(*pair, k) for pair in zip(block, self._similarities(block), strict=True)]
        return rankings

    def _similarities(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        if len(queries) > 1:
            return queries @ self._matrix.T
        # One query is bound by memory: BLAS threads gain nothing, and on a busy machine wait for each other.
        alone: NDArray[np.float32] = np.vecdot(self._matrix, queries)
        return alone[np.newaxis]

    def _rank(self, query: NDArray[np.float32], similarity: NDArray[np.float32], k: int) -> Ranking:
        """The top k of approximate similarities, decided by exact ones.

        BLAS adds up in an order that depends on batch, row and processor, so that two equal passages can
        differ in the last bit. Everything close enough to the k-th to change places with it is therefore
        computed once more in float64, and rounded: what then ties, ties everywhere.
        """
        count = min(k, len(similarity)) if query.any() else 0
        if count < 1:
            return Ranking(np.empty(0, np.int64), np.empty(0, np.float64))
        kth = np.partition(similarity, len(similarity) - count)[len(similarity) - count]
        # A float32 dot product of unit vectors errs by at most dimensions × eps / 2; both sides may err.
        slack = len(query) * np.finfo(np.float32).eps
        near = np.flatnonzero(similarity >= kth - slack)
        exact = np.vecdot(self._matrix[near].astype(np.float64), query.astype(np.float64))
        scores = exact.astype(np.float32).astype(np.float64)
        best = np.argsort(-scores, kind="stable")[:count]
        return Ranking(near[best], scores[best])
