"""Ranks the passages of a corpus by words, by vectors, fused or reranked, and scores any passage.

Links may lead to passages that the retriever did not find. A `CombinedScorer` scores them as the retriever
would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from assay.core.dataset import Corpus, digest
from assay.core.optional import FusionWithWeights, IdentifiedPlugin
from assay.core.parts import (
    Embedder,
    Floats,
    Fusion,
    Ints,
    Ranking,
    Scorer,
    ScoresOf,
    VectorIndex,
    Vectors,
    VectorStore,
)
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.retrieval.embedding import EmbeddingCache
from assay.retrieval.lexical import Analysis, LexicalIndex, TermWeights, engine_version
from assay.retrieval.vectors.exact import ExactStore, InMemoryIndex, VectorComparison
from assay.store.disk import ArtifactCache
from assay.systems.answering import Meter

# A smaller index is built in a fraction of a second, and a study with scopes has thousands of them.
WORTH_KEEPING = 2_000
# Raise it when the indexed text of a passage, or its processing, changes: cached indexes are then not used.
INDEXED = "1"


class Retriever(Protocol):
    """Ranks a corpus for a query, and adds the time and cost to a meter. Threads may share it."""

    def rank(self, query: str, meter: Meter) -> Ranking: ...
    def close(self) -> None: ...


def indexed_text(passage: Passage) -> str:
    """Returns the text of a passage that is indexed: its title, if it has one, and its text."""
    return f"{passage.title} {passage.text}" if passage.title else passage.text


def min_max_scaled(scores: Floats) -> Floats:
    """Scales scores from 0 for the lowest to 1 for the highest. Equal scores all become 1."""
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))


@dataclass(frozen=True)
class WordRetriever:
    """Ranks passages by BM25."""

    index: LexicalIndex
    depth: int

    @classmethod
    def build(cls, corpus: Corpus, analysis: Analysis, depth: int, kit: Kit) -> WordRetriever:
        if len(corpus) < WORTH_KEEPING:
            return cls(LexicalIndex.build(map(indexed_text, corpus.passages), analysis), depth)
        shelf = ArtifactCache(kit.cache / "indexes")
        key = _content_key("lexical", INDEXED, engine_version(), repr(analysis), corpus.hash)

        def write(folder: Path) -> None:
            LexicalIndex.build(texts_with_progress(corpus, kit), analysis, folder)

        return cls(shelf.read_or_put(key, partial(LexicalIndex.open, analysis=analysis), write), depth)

    def rank(self, query: str, meter: Meter) -> Ranking:
        found = self.index.search(query, self.depth)
        meter.lap("search")
        return found

    def close(self) -> None:
        """Does nothing: there is nothing to close."""


@dataclass(frozen=True)
class VectorRetriever:
    """Ranks passages by the cosine between their vectors and the query's. Passage vectors are cached."""

    embedding: EmbeddingCache
    index: VectorIndex
    depth: int

    @classmethod
    def build(
        cls, corpus: Corpus, model: Embedder, store: VectorStore, depth: int, kit: Kit
    ) -> VectorRetriever:
        embedding = EmbeddingCache(model, kit)
        engine_version = store.identity(kit) if isinstance(store, IdentifiedPlugin) else ""
        name = _content_key("vectors", INDEXED, embedding.identity, str(engine_version), corpus.hash)
        passing = isinstance(store, ExactStore) and len(corpus) < WORTH_KEEPING
        index = None if passing else store.open(name, kit)
        if index is None:
            vectors = embedding.passages([indexed_text(passage) for passage in corpus.passages])
            about = [_metadata(passage) for passage in corpus.passages]
            index = InMemoryIndex(vectors, about) if passing else store.build(name, vectors, kit, about)
        return cls(embedding, index, depth)

    def rank(self, query: str, meter: Meter) -> Ranking:
        embedded, cost = self.embedding.query(query)
        meter.lap("embed", took=embedded.seconds, tokens=embedded.tokens, cost=cost)
        (found,) = self.index.search(embedded.vector[np.newaxis], self.depth)
        meter.lap("search")
        return found

    def close(self) -> None:
        self.index.close()
        self.embedding.close()


@dataclass(frozen=True)
class FusedRetriever:
    """Fuses several rankings to one."""

    parts: Sequence[Retriever]
    fusion: Fusion

    def rank(self, query: str, meter: Meter) -> Ranking:
        found = self.fusion.fuse([part.rank(query, meter) for part in self.parts])
        meter.lap("search")
        return found

    def close(self) -> None:
        for part in self.parts:
            part.close()


@dataclass(frozen=True)
class RerankStage:
    """Reranks the first `depth` passages of a ranking. The other passages follow in their order.

    `trust` is the reranker's share of the score; the rest is the share of the first ranking. Both scores are
    scaled to 0 to 1.
    """

    scorer: Scorer
    passages: Sequence[Passage]
    depth: int
    trust: float

    def at(self, query: str, first: Ranking, meter: Meter) -> Ranking:
        head, tail = first.positions[: self.depth], first.positions[self.depth :]
        texts = [indexed_text(self.passages[position]) for position in head.tolist()]
        second = self.scorer.scores(query, texts)
        mixed = self.trust * min_max_scaled(second.scores) + (1 - self.trust) * min_max_scaled(
            first.scores[: self.depth]
        )
        order = np.lexsort((head, -mixed))
        meter.lap("rerank", tokens=second.tokens, cost=second.cost)
        below = -np.arange(1.0, len(tail) + 1)  # lower than any score of a reranked passage
        return Ranking(np.concatenate([head[order], tail]), np.concatenate([mixed[order], below]))


@dataclass(frozen=True)
class RerankedRetriever:
    """Ranks passages with a first retriever, and reranks its first hits."""

    first: Retriever
    look: RerankStage

    def rank(self, query: str, meter: Meter) -> Ranking:
        return self.look.at(query, self.first.rank(query, meter), meter)

    def close(self) -> None:
        self.first.close()


def texts_with_progress(corpus: Corpus, kit: Kit, what: str = "indexing words") -> Iterator[str]:
    """Yields the texts to index, and reports progress now and then."""
    for number, passage in enumerate(corpus.passages):
        if number % WORTH_KEEPING == 0:
            kit.progress(what, number, len(corpus))
        yield indexed_text(passage)
    kit.progress(what, len(corpus), len(corpus))


def _metadata(passage: Passage) -> Mapping[str, object]:
    """Returns the metadata by which a store can filter: the passage's own, its section and its source."""
    own = {"section": passage.section, "source": passage.source}
    return {**{key: value for key, value in own.items() if value is not None}, **passage.metadata}


def _content_key(*parts: str) -> str:
    return digest(part.encode() for part in parts)


# Raise it when the weights of words are computed differently: cached weights are then not used.
WEIGHED = "1"
_LEAST = 1e-9  # lower limit of a best score, which others are divided by


class PassageScorer(Protocol):
    """Scores passages by their positions in the corpus."""

    def of(self, query: str, positions: Ints) -> Floats: ...


class WeightedScorer(NamedTuple):
    """A scorer and its share in the sum of scores."""

    share: float
    scores: PassageScorer


@dataclass(frozen=True)
class WordScores:
    """Scores passages by BM25."""

    weights: TermWeights

    def of(self, query: str, positions: Ints) -> Floats:
        return self.weights.scores_at(self.weights.terms(query), positions)


@dataclass(frozen=True)
class VectorScores:
    """Scores passages by the cosine. A negative cosine counts as 0."""

    by: VectorRetriever
    corpus: Corpus

    def of(self, query: str, positions: Ints) -> Floats:
        if not len(positions):
            return np.empty(0)
        asked = self.by.embedding.query(query)[0].vector  # cached: the search has asked for it
        found: Floats = np.maximum(np.vecdot(self._vectors(positions), asked), 0.0).astype(np.float64)
        return found

    def _vectors(self, positions: Ints) -> Vectors:
        if isinstance(self.by.index, VectorComparison):
            return self.by.index.vectors[positions]
        texts = [indexed_text(self.corpus.passages[position]) for position in positions.tolist()]
        return self.by.embedding.passages(texts)


@dataclass(frozen=True)
class CombinedScorer:
    """Scores any passage as a system would. A reranker is left out, because it may be expensive."""

    ways: Sequence[WeightedScorer]

    def scores_for(self, query: str, first: Ranking) -> ScoresOf:
        """Returns a function that scores passages relative to the best passage of the ranking `first`.

        Each scorer's score is divided by its best score in the ranking. The weighted sum of these is the
        score.
        """
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
    """Returns the scorer for passages that a retriever did not find itself."""
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
            fusion = retriever.fusion
            weights = (fusion.weights if isinstance(fusion, FusionWithWeights) else ()) or (1.0,) * count
            shares = [weight / sum(weights) for weight in weights]
            return [
                WeightedScorer(share * way.share, way.scores)
                for share, part in zip(shares, retriever.parts, strict=True)
                for way in _ways(part, corpus, analysis, kit)
            ]
    raise TypeError(f"{type(retriever).__name__} cannot score what it did not find")


def load_term_weights(corpus: Corpus, analysis: Analysis, kit: Kit) -> TermWeights:
    """Returns the BM25 weight of each word in each passage. For a large corpus the weights are cached."""
    if len(corpus) < WORTH_KEEPING:
        return TermWeights.build(map(indexed_text, corpus.passages), analysis)
    shelf = ArtifactCache(kit.cache / "indexes")
    key = digest(
        part.encode() for part in ("weights", WEIGHED, engine_version(), repr(analysis), corpus.hash)
    )

    def write(folder: Path) -> None:
        TermWeights.build(texts_with_progress(corpus, kit), analysis).save(folder)

    return shelf.read_or_put(key, partial(TermWeights.read, analysis=analysis), write)
