"""The collapsed tree: summaries and passages in one pool, searched at once, as RAPTOR does.

What is shown is passages. So a summary that is found brings in the passages below it that fit the query best,
at its own place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.parts import Ints, Ranking, Vectors
from assay.kinds.hierarchy.systems.ground import Asked
from assay.kinds.hierarchy.systems.planted import Planted
from assay.retrieval.lexical import TermWeights
from assay.retrieval.vectors.exact import ExactIndex
from assay.systems.retrievers import indexed_text


@dataclass(frozen=True)
class Collapsed:
    """All nodes and passages in one ranking. `brings` is how many passages a summary stands for."""

    planted: Planted
    brings: int = 3

    def __post_init__(self) -> None:
        _ = self.index, self.words  # worked out now: the first query should not pay for it

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Level and number of each node, in the order of the pool; passages come before them."""
        return [
            (level, node)
            for level in range(1, self.planted.tree.depth + 1)
            for node in range(self.planted.tree.size(level))
        ]

    @cached_property
    def words(self) -> TermWeights:
        """BM25 over the whole pool: a word's rarity is the same for summaries and for passages."""
        passages = [indexed_text(each) for each in self.planted.ground.corpus.passages]
        return TermWeights.build([*passages, *(self._summary(*place) for place in self.places)])

    @cached_property
    def index(self) -> ExactIndex:
        own: Vectors = np.asarray(self.planted.ground.vectors)
        return ExactIndex(np.concatenate([own, *self.planted.summary_vectors]))

    def _summary(self, level: int, node: int) -> str:
        return self.planted.summaries[level - 1][node].text

    def ranked(self, asked: Asked) -> Ranking:
        """Passages, best first, each by itself or by a summary above it."""
        ground = self.planted.ground
        scores = self.words.scores(self.words.terms(asked.text))
        best = np.argsort(-scores, kind="stable")[: ground.depth]
        best = best[scores[best] > 0]
        (near,) = self.index.search(asked.vector[np.newaxis], ground.depth)
        pool = ground.fuse.fuse([Ranking(best, scores[best]), near])
        return self._passages(asked, pool)

    def _passages(self, asked: Asked, pool: Ranking) -> Ranking:
        count = len(self.planted.ground.corpus)
        found: dict[int, float] = {}
        for position, score in zip(pool.positions.tolist(), pool.scores.tolist(), strict=True):
            if position < count:
                found.setdefault(position, score)
                continue
            for each in self._best_below(asked, *self.places[position - count]):
                found.setdefault(each, score)
        return Ranking(np.array(list(found), np.int64), np.array(list(found.values()), np.float64))

    def _best_below(self, asked: Asked, level: int, node: int) -> list[int]:
        members: Ints = self.planted.tree.members(level, node)
        best: list[int] = self.planted.ground.ranked(asked, members).positions[: self.brings].tolist()
        return best
