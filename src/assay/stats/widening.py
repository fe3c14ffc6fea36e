"""Widens intervals by what items do not show: other seeds, and rows that nobody saw.

Items are a sample, and so are seeds. If a whole system gets better or worse from seed to seed, three runs say
little about the next run, even with many items. The means over seeds are resampled by item. Then the error of
the seeds is added, with Student's t for the number of seeds (a two-way layout without replication, as in
generalizability theory; Brennan, 2001).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.stats.columns import TIE
from assay.stats.intervals import FEW, LEVEL, Interval
from assay.stats.resample import chunk_sizes, random_generator

if TYPE_CHECKING:
    from assay.stats.intervals import Bounds


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SeedStandardError:
    """The standard error of a mean over seeds that is due to the seeds, and the number of seeds."""

    error: float
    seeds: int

    def widened(self, interval: Interval, value: float, level: float) -> Interval:
        """Returns an interval over items, widened by the error of the seeds."""
        reach = float(special.stdtrit(self.seeds - 1, (1 + level) / 2)) * self.error
        if not reach:
            return interval
        low, high = math.hypot(value - interval.low, reach), math.hypot(interval.high - value, reach)
        return Interval(value - low, value + high, interval.method)


def seed_error_of_columns(
    columns: Iterable[tuple[float, Mapping[int, Floats], NDArray[np.bool_]]], clusters: NDArray[np.int64]
) -> SeedStandardError | None:
    """Returns the standard error, due to seeds, of a weighted sum of means.

    A column is its weight, its values under each seed and the rows that count. A column without seeds adds
    nothing, so the result then holds only for that run of it. None if fewer than two seeds are common to all
    columns with seeds.
    """
    several = [(weight, by_seed, rows) for weight, by_seed, rows in columns if by_seed]
    if not several:
        return None
    seeds = sorted(set.intersection(*(set(by_seed) for _, by_seed, _ in several)))
    parts = np.zeros((len(seeds), int(clusters.max()) + 1))
    for weight, by_seed, counted in several:
        table = np.array([by_seed[seed] for seed in seeds]).reshape(len(seeds), -1)
        rows = counted & ~np.isnan(table).any(axis=0)
        for part, column in zip(parts, table, strict=True):
            np.add.at(part, clusters[rows], weight * column[rows] / max(rows.sum(), 1))
    return seed_error_of_parts(parts)


def seed_error_of_parts(parts: Floats) -> SeedStandardError | None:
    """Returns the standard error of an estimate that is due to seeds.

    `parts` has what each seed (rows) and cluster (columns) adds to the estimate. The variance between the
    seeds' estimates, minus the part that independent changes of items explain, is divided by the number of
    seeds.
    """
    seeds, clusters = parts.shape
    if seeds < 2 or clusters < 2:
        return None
    wholes = parts.sum(axis=1)
    rest = parts - parts.mean(axis=0) - (wholes - wholes.mean())[:, None] / clusters
    within = float((rest**2).sum()) / ((seeds - 1) * (clusters - 1)) * clusters
    return SeedStandardError(math.sqrt(max(0.0, float(wholes.var(ddof=1)) - within) / seeds), seeds)


def seed_error_of_estimates(values: Floats) -> SeedStandardError | None:
    """Returns the standard error of an estimate that is due to seeds.

    `values` has one row per seed: the estimate, then its resamples. The part of the variance between seeds
    that resampled items explain is subtracted, as in `seed_error_of_parts`.
    """
    seeds = len(values)
    if seeds < 2 or not np.isfinite(values[:, 0]).all():
        return None
    drawn = values[:, 1:][
        :, np.isfinite(values[:, 1:]).all(axis=0)
    ]  # a resample may have no value, or no end
    apart = drawn - drawn.mean(axis=0)
    within = float(apart.var(axis=1).mean()) * seeds / (seeds - 1) if drawn.shape[1] else 0.0
    between = float(values[:, 0].var(ddof=1))
    return SeedStandardError(math.sqrt(max(0.0, between - within) / seeds), seeds)


def unseen_share(n: int, level: float = LEVEL) -> float:
    """Returns how large a share of items can behave unlike all n seen items: about 3 / n at 95 %."""
    return float(1 - (1 - level) ** (1 / n)) if n else 1.0


def gaffke_interval(values: Floats, bounds: Bounds, level: float, resamples: int, seed: int = 0) -> Interval:
    """Returns bounds of a mean that hold for any values that were not seen (Gaffke, 2005).

    They come from a Bayesian bootstrap of the rows and one more row, which is at the low end of the range for
    the lower bound and at the high end for the upper bound. The bounds are wide if few rows were seen: if all
    rows gained a little, a rare row that loses everything may be missing.
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
    """Returns the plain interval, with each end moved out as far as rare unseen rows allow.

    An end stays if at least eight rows on its side are half as large as the mean or larger. Then resampling
    already shows the effect of such rows.
    """
    found, half = gaffke_interval(values, bounds, level, resamples), abs(float(values.mean())) / 2
    low = plain.low if (values <= -max(half, TIE)).sum() >= FEW else min(plain.low, found.low)
    high = plain.high if (values >= max(half, TIE)).sum() >= FEW else max(plain.high, found.high)
    return Interval(low, high, plain.method)
