"""Trees built from the passages up, by Gaussian mixtures whose clusters overlap.

RAPTOR builds its trees in this way (Sarthi et al., ICLR 2024). Each level is clustered twice: first as a
whole, then each of the resulting clusters again. Both times, only the few directions count in which the
members differ most. A passage or node that is likely enough in several clusters belongs to all of them. So
passages and nodes of any level may have several parents.

Two things differ from the paper. Directions are principal components, and not computed by UMAP. Principal
components need no other library and no neighbour graph, and are reproducible. The number of clusters follows
from the size of the leaves, and not from BIC. So trees of all builders have the same size, and each fitted
mixture is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import Floats, Ints, Vectors, normalize_rows
from assay.kinds.hierarchy.systems.builders import TreeShape, spherical_kmeans
from assay.kinds.hierarchy.systems.tree import ChildLists, Tree

FIRST_ADDRESS = "assay.systems.hierarchy.mixture"

_FITTED_TO = 20_000  # rows that directions and clusters are computed from
_AT_ONCE = 64  # more clusters than this are found in two steps, as the paper does
_ROUNDS = 20
_CELLS = 4_000_000  # probabilities at once: 32 MB
_LEAST_SPREAD = 0.01  # of the rows' variance: the least that a cluster of one row, or of equal ones, can have


@dataclass(frozen=True)
class Mixture(TreeShape):
    """Gaussian mixtures with one variance per cluster, in `dims` principal components.

    A passage is put below every cluster that it belongs to with a probability of at least `threshold`. It is
    always put below its likeliest cluster. The number of leaves is the number of passages divided by `leaf`.
    Because leaves share passages, a leaf holds more than `leaf` passages on average.
    """

    version: ClassVar[str] = "1"

    threshold: float = 0.1
    dims: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.threshold <= 1.0:
            raise UsageError(f"threshold is {self.threshold}. It is a probability, above 0 and at most 1.")
        if self.dims < 1:
            raise UsageError(f"dims is {self.dims}. It must be at least 1.")

    def build(self, vectors: Vectors, seed: int) -> Tree:
        rng, rows = np.random.default_rng(seed), vectors
        below: list[ChildLists] = []
        for count in reversed(self._sizes(len(vectors))):
            groups = self._level(rows, count, rng) if len(rows) else []
            below.append(ChildLists.of_lists(groups))
            rows = normalize_rows(_group_means(rows, groups))
        return Tree((ChildLists.of_lists([np.arange(len(rows))]), *reversed(below)))

    def _sizes(self, passages: int) -> list[int]:
        """Returns the wanted number of nodes per level, from level 1 down."""
        if self.branching:
            return [math.prod(self.branching[: level + 1]) for level in range(self.depth)]
        above = [self.equal(passages) ** level for level in range(1, self.depth)]
        return [*above, max(1, round(passages / self.leaf))]

    def _level(self, rows: Vectors, count: int, rng: np.random.Generator) -> list[Ints]:
        """Returns the groups that the rows fall into, about `count` groups."""
        if count <= _AT_ONCE:
            return self._groups(rows, count, rng)
        wide = self._groups(rows, math.isqrt(count), rng)
        held = sum(map(len, wide))
        return [
            group[part]
            for group in wide
            for part in self._groups(rows[group], round(count * len(group) / held), rng)
        ]

    def _groups(self, rows: Vectors, count: int, rng: np.random.Generator) -> list[Ints]:
        """Returns at most `count` groups, none of them empty. Every row is in at least one group."""
        count = min(count, len(rows))
        if count < 2:
            return [np.arange(len(rows))]
        some = np.sort(rng.permutation(len(rows))[:_FITTED_TO])
        first = spherical_kmeans(rows[some], count, rng)
        if len(first) < 2:
            return [np.arange(len(rows))]
        directions = _principal_directions(rows[some], self.dims)
        fitted = _fit_mixture(rows[some] @ directions, first)
        found: list[tuple[Ints, Ints]] = []
        step = max(1, _CELLS // len(first))
        for start in range(0, len(rows), step):
            likely = fitted.probabilities(rows[start : start + step] @ directions)
            enough = likely >= self.threshold
            enough[np.arange(len(likely)), likely.argmax(axis=1)] = True
            row, group = np.nonzero(enough)
            found.append((row + start, group))
        row, group = (np.concatenate(each) for each in zip(*found, strict=True))
        ends = np.cumsum(np.bincount(group, minlength=len(first)))[:-1]
        parts = np.split(row[np.argsort(group, kind="stable")], ends)
        return [part for part in parts if len(part)]


class _MixtureModel(NamedTuple):
    """A fitted mixture: the share, the mean and the variance of each cluster."""

    shares: Floats
    middles: Floats
    variances: Floats

    def probabilities(self, rows: Floats) -> Floats:
        """Returns the probability that each row (down) belongs to each cluster (across)."""
        squared = np.einsum("ij,ij->i", rows, rows)[:, np.newaxis] - 2.0 * rows @ self.middles.T
        squared += np.einsum("ij,ij->i", self.middles, self.middles)
        logs = np.log(self.shares) - 0.5 * rows.shape[1] * np.log(self.variances)
        logs = logs - np.maximum(squared, 0.0) / (2.0 * self.variances)
        logs -= logs.max(axis=1, keepdims=True)
        likely: Floats = np.exp(logs)
        likely /= likely.sum(axis=1, keepdims=True)
        return likely


def _fit_mixture(rows: Floats, first: Sequence[Ints]) -> _MixtureModel:
    """Fits a mixture to rows by expectation and maximisation, starting from groups."""
    likely = np.zeros((len(rows), len(first)))
    for cluster, members in enumerate(first):
        likely[members, cluster] = 1.0
    least = max(_LEAST_SPREAD * float(rows.var(axis=0).mean()), np.finfo(np.float64).tiny)
    fitted = _maximise(rows, likely, least)
    for _ in range(_ROUNDS):
        fitted = _maximise(rows, fitted.probabilities(rows), least)
    return fitted


def _maximise(rows: Floats, likely: Floats, least: float) -> _MixtureModel:
    """Returns the mixture that fits the rows best, given their probabilities of belonging to each cluster."""
    held = likely.sum(axis=0) + 10 * np.finfo(np.float64).eps  # a cluster may have lost all its rows
    middles = (likely.T @ rows) / held[:, np.newaxis]
    mean_square = (likely.T @ np.einsum("ij,ij->i", rows, rows)) / held
    spread = (mean_square - np.einsum("ij,ij->i", middles, middles)) / rows.shape[1]
    return _MixtureModel(held / held.sum(), middles, np.maximum(spread, least))


def _principal_directions(rows: Vectors, dims: int) -> Floats:
    """Returns the directions in which rows differ most, one per column. Rows differ most in the first."""
    wide = rows.astype(np.float64)
    wide -= wide.mean(axis=0)
    _, found = np.linalg.eigh(wide.T @ wide)
    return np.ascontiguousarray(found[:, ::-1][:, :dims])


def _group_means(rows: Vectors, groups: Sequence[Ints]) -> Floats:
    """Returns the mean row of each group."""
    found = np.zeros((len(groups), rows.shape[1]))
    for number, group in enumerate(groups):
        found[number] = rows[group].mean(axis=0, dtype=np.float64)
    return found
