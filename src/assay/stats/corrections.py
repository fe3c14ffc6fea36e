"""Adjusted p-values within one family of tests. What was not tested (None, NaN) stays as it is, uncounted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from assay.core.protocols import Floats

    Adjust = Callable[[Floats], Floats]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Step-down Bonferroni (Holm, 1979): bounds the chance of any false discovery."""
    return _adjusted(p_values, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Step-up (Benjamini and Hochberg, 1995): bounds the share of false discoveries."""
    return _adjusted(
        p_values, lambda p: np.minimum.accumulate((p * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    )


def _adjusted(p_values: Sequence[float | None], adjust: Adjust) -> list[float | None]:
    """Applies an adjustment that works on ascending p-values, and puts the results back in place."""
    tested = [index for index, p in enumerate(p_values) if p is not None and not np.isnan(p)]
    p = np.array([p_values[index] for index in tested], dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = list(p_values)
    for rank, value in zip(order, np.minimum(adjust(p[order]), 1.0), strict=True):
        adjusted[tested[rank]] = float(value)
    return adjusted
