"""Scan: every passage by the scorer that a tree bounds, and no tree: what a search by bounds must come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from assay.core.dataset import Corpus, Dataset, search_problems
from assay.core.errors import Problem, UsageError
from assay.core.parts import Embedder
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Query, Response
from assay.core.registry import EMBEDDERS, part_identities
from assay.kinds.hierarchy.systems.corpus_tree import Blend, CorpusIndex, top_ranking
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.fuse import RRF
from assay.retrieval.lexical import engine_version
from assay.systems.answering import Meter

FIRST_ADDRESS = "assay.systems.hierarchy.scan"


@dataclass(frozen=True)
class ScanIndex:
    """A corpus, each of whose passages is scored. No query changes it, so it is its own session."""

    ground: CorpusIndex
    blend: Blend
    k: int

    def session(self) -> ScanIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter = Meter()
        asked = self.ground.ask(query.text, meter)
        every = np.arange(len(self.ground.corpus))
        found = top_ranking(every, self.blend.scores(self.ground, asked, every), self.k)
        meter.lap("search")
        passages = self.ground.corpus.passages
        pairs = zip(found.positions.tolist(), found.scores.tolist(), strict=True)
        hits = [Hit(passages[position].doc_id, score) for position, score in pairs]
        return Response(hits=hits, observed=meter.observed())

    def close(self) -> None:
        self.ground.close()


@dataclass(frozen=True)
class Scan:
    """All passages by `words` × BM25 + `dense` × cosine."""

    words: float = 0.05
    dense: float = 1.0
    model: Annotated[Embedder, EMBEDDERS] = StaticEmbedder()
    k: int = 100
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})
    seeded: ClassVar[bool] = False
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k is {self.k}. It must be at least 1.")
        if self.words < 0 or self.dense < 0 or not self.words + self.dense:
            raise UsageError(f"words is {self.words}, dense {self.dense}. Neither is below 0, one above it.")

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ScanIndex:
        return ScanIndex(
            CorpusIndex.of(corpus, self.model, RRF(), self.k, kit), Blend(self.words, self.dense), self.k
        )

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Why it could find nothing."""
        return search_problems(dataset, self)

    def identity(self, kit: Kit) -> dict[str, Any]:
        return {"words": engine_version(), **part_identities(self, kit)}
