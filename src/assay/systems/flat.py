"""Flat systems: one ranking over all passages, lexical, dense, or both fused."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

from assay.datasets.dataset import Corpus
from assay.errors import UsageError
from assay.protocols import Kit
from assay.records import Budget, Hit, Observed, Passage, Query, Response
from assay.retrieval.embed import load_embedder
from assay.retrieval.fuse import Ranking, reciprocal_rank_fusion
from assay.retrieval.lexical import Language, LexicalIndex
from assay.retrieval.vectors import VectorIndex


class Stopwatch:
    """Seconds by stage since it was made. A stage that comes twice adds up."""

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self._stages: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Books the time since the last lap under a stage."""
        now = perf_counter()
        self._stages[stage] = self._stages.get(stage, 0.0) + now - self._last
        self._last = now

    def seconds(self) -> dict[str, float]:
        """Every stage, and the total up to this moment."""
        return {**self._stages, "total": perf_counter() - self._start}


@dataclass(frozen=True)
class FlatIndex:
    """Passages behind one way to rank them. No query changes it, so it is its own session."""

    doc_ids: Sequence[str]
    rank: Callable[[str, Stopwatch], Ranking]
    k: int

    def session(self) -> FlatIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        watch = Stopwatch()
        positions, scores = self.rank(query.text, watch)
        best = zip(positions[: self.k].tolist(), scores[: self.k].tolist(), strict=True)
        hits = [Hit(self.doc_ids[position], score) for position, score in best]
        return Response(hits=hits, observed=Observed(seconds=watch.seconds()))


@dataclass(frozen=True)
class BM25:
    """BM25 over title and text, stemmed and less stop words (None: the language's own)."""

    k: int = 100
    language: Language = "english"
    stop_words: tuple[str, ...] | None = None
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})

    def __post_init__(self) -> None:
        _at_least_one(k=self.k)

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> FlatIndex:
        index = LexicalIndex(map(indexed_text, corpus.passages), self.language, self.stop_words)

        def rank(text: str, watch: Stopwatch) -> Ranking:
            found = index.search(text, self.k)
            watch.lap("search")
            return found

        return FlatIndex(_doc_ids(corpus), rank, self.k)

    def identity(self, kit: Kit) -> str:
        """The engine's version: its analysis and its scoring decide the ranking."""
        return f"tantivy {importlib.metadata.version('tantivy')}"


@dataclass(frozen=True)
class Dense:
    """Cosine between the vectors of query and passage (title and text), searched exactly."""

    model: str = "static"
    k: int = 100
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})

    def __post_init__(self) -> None:
        _at_least_one(k=self.k)

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> FlatIndex:
        embedder = load_embedder(self.model)
        vectors = VectorIndex(embedder.embed([indexed_text(passage) for passage in corpus.passages]))

        def rank(text: str, watch: Stopwatch) -> Ranking:
            query = embedder.embed([text])
            watch.lap("embed")
            (found,) = vectors.search(query, self.k)
            watch.lap("search")
            return found

        return FlatIndex(_doc_ids(corpus), rank, self.k)

    def identity(self, kit: Kit) -> str:
        """The hash of the model."""
        return f"{self.model} {load_embedder(self.model).identity}"


@dataclass(frozen=True)
class Hybrid:
    """The first `depth` hits of BM25 and of Dense, fused by reciprocal rank."""

    rrf_k: int = 60
    depth: int = 100
    k: int = 100
    model: str = "static"
    language: Language = "english"
    stop_words: tuple[str, ...] | None = None
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})

    def __post_init__(self) -> None:
        _at_least_one(rrf_k=self.rrf_k, depth=self.depth, k=self.k)

    @property
    def _parts(self) -> tuple[BM25, Dense]:
        return BM25(self.depth, self.language, self.stop_words), Dense(self.model, self.depth)

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> FlatIndex:
        indexes = [part.build(corpus, seed, kit) for part in self._parts]

        def rank(text: str, watch: Stopwatch) -> Ranking:
            fused = reciprocal_rank_fusion([index.rank(text, watch) for index in indexes], self.rrf_k)
            watch.lap("fuse")
            return fused

        return FlatIndex(_doc_ids(corpus), rank, self.k)

    def identity(self, kit: Kit) -> str:
        """What decides either part: engine, model, and the code of both."""
        return " ".join(f"{part.version} {part.identity(kit)}" for part in self._parts)


def indexed_text(passage: Passage) -> str:
    """What is indexed of a passage: its title, where it has one, and its text."""
    return f"{passage.title} {passage.text}" if passage.title else passage.text


def _doc_ids(corpus: Corpus) -> list[str]:
    return [passage.doc_id for passage in corpus.passages]


def _at_least_one(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise UsageError(f"{name} is {count}. It must be at least 1.")
