"""Directions: what cosine compares of vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import DataError, Problem


def lengths(matrix: ArrayLike) -> NDArray[np.float64]:
    """The length of each row, in float64: the squares of very small or large numbers leave float32."""
    rows = np.asarray(matrix)
    squared: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return np.sqrt(squared)


def unit(matrix: ArrayLike) -> NDArray[np.float32]:
    """The rows scaled to length 1, in float32. A row of zeros, which has no direction, stays zero."""
    rows = np.asarray(matrix)
    long = lengths(rows)
    if not np.isfinite(long).all():
        row = int(np.flatnonzero(~np.isfinite(long))[0])
        fix = "Check the model that made it."
        raise DataError(Problem("a vector holds NaN or infinity", f"row {row}", fix=fix))
    scaled = np.zeros(rows.shape, dtype=np.float32)
    np.divide(rows, long[:, None], out=scaled, where=long[:, None] > 0)
    return scaled
