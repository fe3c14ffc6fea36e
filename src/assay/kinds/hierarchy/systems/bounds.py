"""Best-first search by bounds that no passage can exceed: a tree that loses nothing a flat search finds.

A node's bound is the most that any passage below it can score. By direction it is that of the ball around
the passages: q · x ≤ q · c + |q| r for every x no farther than r from c. By words it is the sum, over the
words of the query, of the largest weight below. Nodes are opened by falling bound, until no bound that is
left reaches the k-th best passage found. Cut off earlier, it may lose something, as a beam may.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from assay.core.parts import Floats, Ints, Ranking
from assay.kinds.hierarchy.systems.beam import Walk
from assay.kinds.hierarchy.systems.ground import Asked, Blend, best_of
from assay.kinds.hierarchy.systems.planted import Planted
from assay.kinds.hierarchy.systems.routers import FIRST, NodeScorer, Words

_SLACK = 1e-6  # vectors are float32: what two sums differ by may be rounding


@dataclass(frozen=True)
class BestFirst:
    """Best-first search for the `k` best by a blend of words and vectors. Threads may share it."""

    planted: Planted
    blend: Blend
    k: int
    most: int | None = None  # leaves that are opened; None: as many as it takes

    def __post_init__(self) -> None:
        if self.blend.words:
            _ = self._by_words  # worked out now: the first query should not pay for it
        if self.blend.dense:
            _ = self.planted.radii

    @cached_property
    def _by_words(self) -> NodeScorer:
        return Words().load(self.planted)

    def ranked(self, asked: Asked, walk: Walk) -> tuple[Ranking, int]:
        """The k best passages, and how many were scored."""
        tree, turn = self.planted.tree, count()
        walk.scored[:] = [0] * tree.depth
        heap: list[tuple[float, int, int, int]] = [(-np.inf, next(turn), 0, 0)]
        best = Ranking(np.empty(0, np.int64), np.empty(0))
        seen = np.zeros(len(self.planted.ground.corpus), bool)
        queued = [np.zeros(tree.size(level), bool) for level in range(tree.depth + 1)]
        opened = 0
        while heap:
            bound, _, level, node = heapq.heappop(heap)
            if self._settled(best, -bound) or (self.most is not None and opened >= self.most):
                break
            below = tree.below[level].of(node)
            if level == tree.depth:
                opened += 1
                best = self._with(best, asked, below[~seen[below]])
                seen[below] = True
                continue
            below = below[~queued[level + 1][below]]
            queued[level + 1][below] = True
            walk.scored[level] += len(below)
            for child, most in zip(
                below.tolist(), self._bounds(asked, level + 1, below).tolist(), strict=True
            ):
                heapq.heappush(heap, (-most, next(turn), level + 1, child))
        return best, int(seen.sum())

    def _settled(self, best: Ranking, bound: float) -> bool:
        """Whether nothing under a bound can come among the best: one that ties could, by its place."""
        return len(best.scores) >= self.k and bound < float(best.scores[-1]) - _SLACK

    def _with(self, best: Ranking, asked: Asked, positions: Ints) -> Ranking:
        scores = self.blend.scores(self.planted.ground, asked, positions)
        together = np.concatenate([best.positions, positions]), np.concatenate([best.scores, scores])
        return best_of(*together, self.k)

    def _bounds(self, asked: Asked, level: int, nodes: Ints) -> Floats:
        found = np.zeros(len(nodes))
        if self.blend.words:
            found += self.blend.words * self._by_words.scores(asked, level, nodes)[FIRST]
        if self.blend.dense:
            query = asked.vector.astype(np.float64)
            centre = self.planted.means[level - 1][nodes] @ query
            found += self.blend.dense * (
                centre + np.linalg.norm(query) * self.planted.radii[level - 1][nodes]
            )
        return found
