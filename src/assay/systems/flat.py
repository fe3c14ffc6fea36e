"""Flat retrieval: BM25, dense, both fused, and a strong baseline that reranks the fused hits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from assay.core.dataset import Corpus, Dataset, search_problems
from assay.core.errors import Problem, UsageError
from assay.core.optional import FusionWithWeights
from assay.core.parts import Embedder, Fusion, LinkBuilder, Reranker, Selector, Tokenizer, VectorStore
from assay.core.protocols import Kit
from assay.core.records import Budget, Query, Response
from assay.core.registry import (
    EMBEDDERS,
    FUSIONS,
    LINKS,
    RERANKERS,
    SELECTORS,
    STORES,
    TOKENIZERS,
    added_later,
    part_identities,
)
from assay.retrieval.context import ContextBuilder, Grain, Knapsack, Top
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.fuse import RRF
from assay.retrieval.lexical import Analysis, Language, engine_version
from assay.retrieval.rerankers import MaxSim
from assay.retrieval.tokens import O200kBase
from assay.retrieval.vectors.exact import ExactStore
from assay.systems.answering import AnswerBuilder, Meter
from assay.systems.retrievers import (
    FusedRetriever,
    RerankedRetriever,
    RerankStage,
    Retriever,
    VectorRetriever,
    WordRetriever,
)

if TYPE_CHECKING:
    from assay.systems.retrievers import CombinedScorer


@dataclass(frozen=True)
class FlatIndex:
    """A retriever and the builder of its answers. No query changes them, so the index is its own session."""

    retriever: Retriever
    answering: AnswerBuilder
    scorer: CombinedScorer | None = None  # needed for links

    def session(self) -> FlatIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter = Meter()
        ranking = self.retriever.rank(query.text, meter)
        scoring = None if self.scorer is None else self.scorer.scores_for
        return self.answering.response(query.text, ranking, budgets, meter, scoring)

    def close(self) -> None:
        self.retriever.close()


@dataclass(frozen=True, kw_only=True)
class _FlatSystem(ABC):
    """The parameters of every flat system: the number of hits, and how contexts show the first `show` hits.

    `links` finds passages that the first hits name. These passages become hits too.
    """

    k: int = 100
    show: int = 50
    select: Annotated[Selector, SELECTORS] = Top()
    grain: Grain = "passage"
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    links: Annotated[LinkBuilder | None, LINKS] = added_later(None)
    seeded: ClassVar[bool] = False
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        for name in ("k", "show", "depth", "rerank_depth"):
            if (count := getattr(self, name, 1)) < 1:
                raise UsageError(f"{name} is {count}. It must be at least 1.")

    @property
    def gives(self) -> frozenset[str]:
        """The parts that responses can have. With links, there is a trace of the links that were followed."""
        return frozenset({"hits", "contexts"} | ({"trace"} if self.links is not None else set()))

    @abstractmethod
    def retriever(self, corpus: Corpus, kit: Kit) -> Retriever: ...

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> FlatIndex:
        showing = ContextBuilder(
            self.select, self.grain, self.tokenizer.load(kit), StaticEmbedder().load(kit)
        )
        showing.warm()
        retriever = self.retriever(corpus, kit)
        if self.links is None:
            return FlatIndex(retriever, AnswerBuilder(corpus, showing, self.k, self.show))
        from assay.systems.retrievers import build_scorer

        answering = AnswerBuilder(corpus, showing, self.k, self.show, self.links.build(corpus, kit))
        return FlatIndex(retriever, answering, build_scorer(retriever, corpus, self.analysis, kit))

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns the reasons why the system could find nothing in a dataset."""
        return search_problems(dataset, self)

    @property
    def analysis(self) -> Analysis:
        """How texts are split into words, for systems that search by words."""
        return Analysis()

    def identity(self, kit: Kit) -> dict[str, Any]:
        """Returns what else answers depend on: the search engine, the static model, and its parts."""
        found = {
            "words": engine_version(),
            "static": StaticEmbedder().identity(kit),
            **part_identities(self, kit),
        }
        if self.links is not None:
            from assay.systems.retrievers import WEIGHED

            found["links"] = [found["links"], WEIGHED]
        return found


@dataclass(frozen=True)
class BM25(_FlatSystem):
    """BM25 over title and text, stemmed and without `stop_words`: by default those of the language."""

    language: Language = "english"
    stop_words: tuple[str, ...] | None = None

    @property
    def analysis(self) -> Analysis:
        return Analysis(self.language, self.stop_words)

    def retriever(self, corpus: Corpus, kit: Kit) -> WordRetriever:
        return WordRetriever.build(corpus, self.analysis, self.k, kit)


@dataclass(frozen=True)
class Dense(_FlatSystem):
    """Ranks by the cosine between the vectors of the query and of the passage (title and text)."""

    model: Annotated[Embedder, EMBEDDERS] = StaticEmbedder()
    store: Annotated[VectorStore, STORES] = ExactStore()

    def retriever(self, corpus: Corpus, kit: Kit) -> VectorRetriever:
        return VectorRetriever.build(corpus, self.model, self.store, self.k, kit)


@dataclass(frozen=True)
class Hybrid(_FlatSystem):
    """The first `depth` hits of BM25 and of Dense, fused to one ranking."""

    model: Annotated[Embedder, EMBEDDERS] = StaticEmbedder()
    store: Annotated[VectorStore, STORES] = ExactStore()
    fuse: Annotated[Fusion, FUSIONS] = RRF()
    depth: int = 100
    language: Language = "english"
    stop_words: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = self.fuse.weights if isinstance(self.fuse, FusionWithWeights) else ()
        if weights and len(weights) != 2:
            raise UsageError(f"{len(weights)} weights for two rankings. Give one for words, one for vectors.")

    @property
    def analysis(self) -> Analysis:
        return Analysis(self.language, self.stop_words)

    def retriever(self, corpus: Corpus, kit: Kit) -> Retriever:
        words = WordRetriever.build(corpus, self.analysis, self.depth, kit)
        return FusedRetriever(
            [words, VectorRetriever.build(corpus, self.model, self.store, self.depth, kit)], self.fuse
        )


@dataclass(frozen=True)
class FlatStrong(Hybrid):
    """Hybrid with a reranker for its first `rerank_depth` hits. Contexts avoid redundant passages.

    `trust` is the reranker's share of the final score. The rest is the share of the first ranking.
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
