"""How flat systems score any passage, found or not: what links lead to is compared like everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from assay.core.dataset import Corpus, digest
from assay.core.parts import Floats, Ints, Ranking, ScoresOf, Vectors
from assay.core.protocols import Kit
from assay.retrieval.lexical import Analysis, TermWeights, engine
from assay.retrieval.vectors.exact import Compared
from assay.store.cache import ArtifactCache
from assay.systems import retrievers
from assay.systems.retrievers import (
    FusedRetriever,
    RerankedRetriever,
    Retriever,
    VectorRetriever,
    WordRetriever,
    indexed_text,
    texts_with_progress,
)

# To be raised when the weights of words are worked out otherwise: those kept from before are then not used.
WEIGHED = "1"
_LEAST = 1e-9  # what a best score counts at least


class PassageScorer(Protocol):
    """One way to score passages by position."""

    def of(self, query: str, positions: Ints) -> Floats: ...


class WeightedScorer(NamedTuple):
    """A way to score, and its share."""

    share: float
    scores: PassageScorer


@dataclass(frozen=True)
class WordScores:
    """BM25."""

    weights: TermWeights

    def of(self, query: str, positions: Ints) -> Floats:
        return self.weights.scores_at(self.weights.terms(query), positions)


@dataclass(frozen=True)
class VectorScores:
    """Cosine, negative ones as 0."""

    by: VectorRetriever
    corpus: Corpus

    def of(self, query: str, positions: Ints) -> Floats:
        if not len(positions):
            return np.empty(0)
        asked = self.by.embedding.query(query)[0].vector  # remembered: the search has asked for it
        found: Floats = np.maximum(np.vecdot(self._vectors(positions), asked), 0.0).astype(np.float64)
        return found

    def _vectors(self, positions: Ints) -> Vectors:
        if isinstance(self.by.index, Compared):
            return self.by.index.vectors[positions]
        texts = [indexed_text(self.corpus.passages[position]) for position in positions.tolist()]
        return self.by.embedding.passages(texts)


@dataclass(frozen=True)
class CombinedScorer:
    """The ways in which a system scores anything; a second look, which may be dear, is not among them."""

    ways: Sequence[WeightedScorer]

    def beside(self, query: str, first: Ranking) -> ScoresOf:
        """Scores from 0 to 1: by each way, a passage's beside the best one's of a ranking."""
        best = [
            max(float(way.scores.of(query, first.positions).max(initial=0.0)), _LEAST) for way in self.ways
        ]

        def scores(positions: Ints) -> Floats:
            found = np.zeros(len(positions))
            for way, most in zip(self.ways, best, strict=True):
                found += way.share * way.scores.of(query, positions) / most
            return found

        return scores


def build_scorer(retriever: Retriever, corpus: Corpus, analysis: Analysis, kit: Kit) -> CombinedScorer:
    """How a system scores what it did not find itself."""
    return CombinedScorer(_ways(retriever, corpus, analysis, kit))


def _ways(retriever: Retriever, corpus: Corpus, analysis: Analysis, kit: Kit) -> list[WeightedScorer]:
    match retriever:
        case WordRetriever():
            return [WeightedScorer(1.0, WordScores(load_term_weights(corpus, analysis, kit)))]
        case VectorRetriever():
            return [WeightedScorer(1.0, VectorScores(retriever, corpus))]
        case RerankedRetriever():
            return _ways(retriever.first, corpus, analysis, kit)
        case FusedRetriever():
            count = len(retriever.parts)
            weights = getattr(retriever.fusion, "weights", ()) or (1.0,) * count
            shares = [weight / sum(weights) for weight in weights]
            return [
                WeightedScorer(share * way.share, way.scores)
                for share, part in zip(shares, retriever.parts, strict=True)
                for way in _ways(part, corpus, analysis, kit)
            ]
    raise TypeError(f"{type(retriever).__name__} cannot score what it did not find")


def load_term_weights(corpus: Corpus, analysis: Analysis, kit: Kit) -> TermWeights:
    """What each word adds to the BM25 score of each passage, kept where making it takes a while."""
    if len(corpus) < retrievers.WORTH_KEEPING:
        return TermWeights.build(map(indexed_text, corpus.passages), analysis)
    shelf = ArtifactCache(kit.cache / "indexes")
    key = digest(part.encode() for part in ("weights", WEIGHED, engine(), repr(analysis), corpus.hash))

    def write(folder: Path) -> None:
        TermWeights.build(texts_with_progress(corpus, kit), analysis).save(folder)

    return shelf.read_or_put(key, partial(TermWeights.read, analysis=analysis), write)
