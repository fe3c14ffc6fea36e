"""Flat retrieval as a baseline worth beating: both rankings fused, reranked, and shown within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from assay.core.dataset import Corpus
from assay.core.errors import UsageError
from assay.core.parts import Reranker, Selector
from assay.core.protocols import Kit
from assay.core.registry import RERANKERS, SELECTORS
from assay.retrieval.context import Knapsack
from assay.retrieval.rerankers import MaxSim
from assay.systems.flat import Hybrid
from assay.systems.retrievers import RerankedRetriever, RerankStage

FIRST_ADDRESS = "assay.systems.flat"


@dataclass(frozen=True)
class FlatStrong(Hybrid):
    """Hybrid whose first `rerank_depth` hits get a second look, shown by relevance less redundancy.

    `trust` is the reranker's share of the final score; the rest is the first ranking's.
    """

    rerank: Annotated[Reranker, RERANKERS] = MaxSim()
    rerank_depth: int = 50
    trust: float = 0.5
    select: Annotated[Selector, SELECTORS] = Knapsack()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.trust <= 1.0:
            raise UsageError(f"trust is {self.trust}. It is a share, from 0 to 1.")

    def retriever(self, corpus: Corpus, kit: Kit) -> RerankedRetriever:
        scorer = self.rerank.load(self.model, kit)
        first = super().retriever(corpus, kit)
        return RerankedRetriever(first, RerankStage(scorer, corpus.passages, self.rerank_depth, self.trust))
