"""Directions: what cosine compares of vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import DataError, Problem


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
