"""The ground a tree stands on: a corpus by its words and by its vectors, and a query seen the same way.

A tree that loses nothing ranks as a flat system does: both fuse the first `depth` by words with the first
`depth` by vectors, but for tantivy's rounding of lengths. A tree only decides among which passages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from assay.core.dataset import Corpus
from assay.core.parts import NOTHING, Embedder, Floats, Fusion, Ints, Ranking, Vectors
from assay.core.protocols import Kit
from assay.retrieval.lexical import Analysis, Terms, TermWeights
from assay.retrieval.vectors.exact import Compared, Exact
from assay.systems.answering import Meter
from assay.systems.linked import (
    CombinedScorer,
    PassageScorer,
    VectorScores,
    WeightedScorer,
    WordScores,
    load_term_weights,
)
from assay.systems.retrievers import VectorRetriever


@dataclass(frozen=True)
class Asked:
    """A query: its text, its direction, and its words as far as the corpus has them."""

    text: str
    vector: Vectors
    terms: Terms


@dataclass(frozen=True)
class Ground:
    """A corpus that can be asked. Threads may share it."""

    corpus: Corpus
    meanings: VectorRetriever
    words: TermWeights
    fuse: Fusion
    depth: int

    @classmethod
    def of(cls, corpus: Corpus, model: Embedder, fuse: Fusion, depth: int, kit: Kit) -> Ground:
        meanings = VectorRetriever.build(corpus, model, Exact(), depth, kit)
        return cls(corpus, meanings, load_term_weights(corpus, Analysis(), kit), fuse, depth)

    @property
    def index(self) -> Compared:
        """The vectors, to be compared with a query's."""
        found = self.meanings.index
        if not isinstance(found, Compared):
            raise TypeError("vectors of a tree are compared one by one")
        return found

    @property
    def vectors(self) -> Vectors:
        return self.index.vectors

    def ask(self, text: str, meter: Meter) -> Asked:
        """A query as everything here sees it."""
        embedded, cost = self.meanings.embedding.query(text)
        meter.lap("embed", took=embedded.seconds, tokens=embedded.tokens, cost=cost)
        return Asked(text, embedded.vector, self.words.terms(text))

    def lexical(self, asked: Asked, positions: Ints) -> Floats:
        """The BM25 scores of some passages."""
        return self.words.scores_at(asked.terms, positions)

    def dense(self, asked: Asked, positions: Ints) -> Floats:
        """The cosines of some passages, rounded as a vector index rounds them: what ties there, ties here."""
        if not len(positions):
            return np.empty(0)  # an empty corpus has vectors of no length
        exact = np.vecdot(self.vectors[positions].astype(np.float64), asked.vector.astype(np.float64))
        rounded: Floats = exact.astype(np.float32).astype(np.float64)
        return rounded

    def ranked(self, asked: Asked, positions: Ints) -> Ranking:
        """Some passages, given in order, as a flat system ranks them: by words and by vectors, fused."""
        scores = self.lexical(asked, positions)
        best = np.argsort(-scores, kind="stable")[: self.depth]
        best = best[scores[best] > 0]
        by_words = Ranking(positions[best], scores[best])
        return self.fuse.fuse([by_words, self._nearest(asked, positions)])

    def _nearest(self, asked: Asked, positions: Ints) -> Ranking:
        if not len(positions) or not asked.vector.any():
            return NOTHING
        among = None if len(positions) == len(self.corpus) else positions
        (found,) = self.index.nearest(asked.vector[np.newaxis], self.depth, among)
        return found

    @cached_property
    def rescoring(self) -> CombinedScorer:
        """How any passage is scored beside those found, as flat systems do it."""
        weights = getattr(self.fuse, "weights", ()) or (0.5, 0.5)
        ways: list[PassageScorer] = [WordScores(self.words), VectorScores(self.meanings, self.corpus)]
        return CombinedScorer(
            [WeightedScorer(share / sum(weights), way) for share, way in zip(weights, ways, strict=True)]
        )

    def close(self) -> None:
        self.meanings.close()


@dataclass(frozen=True)
class Blend:
    """One score for a passage, whatever else is there: `words` × BM25 + `dense` × cosine."""

    words: float
    dense: float

    def scores(self, ground: Ground, asked: Asked, positions: Ints) -> Floats:
        found = np.zeros(len(positions))
        if self.words:
            found += self.words * ground.lexical(asked, positions)
        if self.dense:
            found += self.dense * ground.dense(asked, positions)
        return found


def best_of(positions: Ints, scores: Floats, k: int) -> Ranking:
    """The k best of some passages; equal ones in corpus order."""
    order = np.lexsort((positions, -scores))[:k]
    return Ranking(positions[order], scores[order])
