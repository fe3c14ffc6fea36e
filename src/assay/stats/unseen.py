"""What rows that nobody saw could do to a mean: how many there may be, and bounds that hold whatever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.stats.columns import TIE
from assay.stats.intervals import FEW, LEVEL, Interval
from assay.stats.resample import chunk_sizes, random_generator

if TYPE_CHECKING:
    from assay.core.protocols import Floats
    from assay.stats.intervals import Bounds


def unseen_share(n: int, level: float = LEVEL) -> float:
    """The share of items that can behave in a way that none of n did: about 3 / n at 95 %."""
    return float(1 - (1 - level) ** (1 / n)) if n else 1.0


def gaffke_interval(values: Floats, bounds: Bounds, level: float, resamples: int, seed: int = 0) -> Interval:
    """Bounds of a mean that hold whatever was not seen (Gaffke, 2005).

    A Bayesian bootstrap of the rows and of one more at the end of the range. Wide where few rows were seen:
    a rare loss of everything may hide among any rows that all gained a little.
    """
    random, tail, n = random_generator(seed), (1 - level) / 2, len(values)
    low, high = [], []
    for size in chunk_sizes(resamples, n + 1):
        weights = random.standard_exponential((size, n + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        inside = weights[:, :n] @ values
        low.append(inside + weights[:, n] * bounds[0])
        high.append(inside + weights[:, n] * bounds[1])
    ends = np.quantile(np.concatenate(low), tail), np.quantile(np.concatenate(high), 1 - tail)
    return Interval(float(ends[0]), float(ends[1]), "gaffke")


def strict_interval(
    values: Floats, plain: Interval, bounds: Bounds, level: float, resamples: int
) -> Interval:
    """The plain interval, each end moved out to what rare rows nobody saw allow.

    An end stays where at least eight rows of that side were seen that weigh half the mean or more: then
    resampling knows what such rows do.
    """
    found, half = gaffke_interval(values, bounds, level, resamples), abs(float(values.mean())) / 2
    low = plain.low if (values <= -max(half, TIE)).sum() >= FEW else min(plain.low, found.low)
    high = plain.high if (values >= max(half, TIE)).sum() >= FEW else max(plain.high, found.high)
    return Interval(low, high, plain.method)
