"""Checks columns of numbers: finite values, equal lengths, only 0 and 1 in binary columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.core.protocols import Floats

TIE = 1e-12  # scores that differ by less are equal, so that rounding decides nothing


def finite_column(values: ArrayLike) -> Floats:
    """Returns the values as float64. NaN and infinity are an error: leave out rows without a value."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise UsageError("A column holds NaN or infinity. Leave out the rows that have no value.")
    return array


def finite_pair(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Returns two columns over the same rows as float64. Different lengths are an error."""
    left, right = finite_column(a), finite_column(b)
    if left.shape != right.shape:
        raise UsageError(
            f"Paired columns must have one length, not {len(left)} and {len(right)}. Keep the rows of both."
        )
    return left, right


def binary_column(values: ArrayLike) -> Floats:
    """Returns a column as float64. A value other than 0 and 1 is an error."""
    column = finite_column(values)
    if not np.isin(column, (0.0, 1.0)).all():
        raise UsageError("A binary column holds a value other than 0 and 1. Treat it as graded scores.")
    return column


def count_discordant(a: ArrayLike, b: ArrayLike) -> tuple[int, int]:
    """Returns on how many rows of two binary columns only the first is 1, and on how many only the second."""
    left, right = finite_pair(binary_column(a), binary_column(b))
    return int(np.sum(left > right)), int(np.sum(left < right))


def spread(values: Floats) -> float:
    """Returns maximum minus minimum: 0 if all values are the same infinity, NaN if a value is NaN."""
    low, high = float(values.min()), float(values.max())
    return 0.0 if low == high else high - low


def ratio(above: Floats, below: Floats) -> Floats:
    """Divides `above` by `below`. The result is NaN where the divisor is not above 0."""
    quotient: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return quotient
