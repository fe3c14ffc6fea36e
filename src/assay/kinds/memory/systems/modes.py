"""The memories that a study names: two flat baselines, and ways to walk a graph.

`structure`, `weights` and `expand` each switch off one part: the edges, the weights of nodes, the walk to
neighbours (which then only count for the score). A static memory forgets every query, and a dynamic one
learns along a sequence. A name without either word is static.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from assay.core.dataset import Corpus, Dataset, search_problems
from assay.core.errors import Problem, UsageError
from assay.core.parts import Embedder
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS, part_identities
from assay.kinds.memory.systems.memories import AnswerSettings, LearningRule, MemoryIndex
from assay.kinds.memory.systems.packs import (
    PACKS,
    DomainPack,
    build_graph,
    gold_warnings,
    pack_identities,
    pack_problems,
)
from assay.kinds.memory.systems.relevance import MixedRelevance, Relevance, VectorRelevance, WordRelevance
from assay.kinds.memory.systems.spread import SpreadRule
from assay.kinds.memory.systems.strategies import (
    FlatMatch,
    NeighbourExpansion,
    PersonalisedPageRank,
    SpreadingActivation,
    WalkStrategy,
)
from assay.retrieval.embed.static import StaticEmbedder
from assay.systems.retrievers import indexed_text

FIRST_ADDRESS = "assay.systems.graph.modes"


def _check_counts(least: int, **counts: int) -> None:
    for name, count in counts.items():
        if count < least:
            raise UsageError(f"{name} is {count}. It must be at least {least}.")


def _check_shares(**shares: float) -> None:
    for name, share in shares.items():
        if not 0.0 <= share <= 1.0:
            raise UsageError(f"{name} is {share}. It is a share, from 0 to 1.")


@dataclass(frozen=True, kw_only=True)
class _MemorySystem:
    """What all memories have: how many hits come back, from how many nodes they start, how nodes match."""

    k: int = 10
    seeds: int = 3
    model: Annotated[Embedder, EMBEDDERS] = StaticEmbedder()
    pack: Annotated[DomainPack | None, PACKS] = None
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "trace"})
    learning: ClassVar[LearningRule | None] = None

    def __post_init__(self) -> None:
        _check_counts(1, k=self.k, seeds=self.seeds)

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> MemoryIndex:
        graph = build_graph(corpus, self.pack, kit)
        texts = [indexed_text(passage) for passage in corpus.passages]
        return MemoryIndex(
            graph, self.relevance(texts, kit), self.strategy(), self.settings(seed), self.learning
        )

    def relevance(self, texts: list[str], kit: Kit) -> Relevance:
        return MixedRelevance(WordRelevance.build(texts), VectorRelevance.build(texts, self.model, kit))

    def strategy(self) -> WalkStrategy:
        return FlatMatch(self.seeds)

    def settings(self, seed: int) -> AnswerSettings:
        return AnswerSettings(self.k, seed)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Why it could find nothing: unknown packs, or edges that no pack draws."""
        passages, edges = dataset.corpus.passages, self.settings(0).edges
        return search_problems(dataset, self) or pack_problems(
            passages, self.pack, edges, kit, dataset.places
        )

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Words that cases ask for and no pack gives."""
        return gold_warnings(dataset, self.pack, kit)

    def identity(self, kit: Kit) -> dict[str, Any]:
        """What decides answers besides parameters: the packs that passages may name, and the parts."""
        return {"packs": pack_identities(kit), **part_identities(self, kit)}


@dataclass(frozen=True)
class LexicalBaseline(_MemorySystem):
    """Nodes by the words they share with a query. No graph."""

    def relevance(self, texts: list[str], kit: Kit) -> Relevance:
        return WordRelevance.build(texts)


@dataclass(frozen=True)
class EmbeddingBaseline(_MemorySystem):
    """Nodes by the cosine of their vectors and the query's. No graph."""

    def relevance(self, texts: list[str], kit: Kit) -> Relevance:
        return VectorRelevance.build(texts, self.model, kit)


@dataclass(frozen=True, kw_only=True)
class _WalkingMemory(_MemorySystem):
    """What all memories that walk have: how far, along which edges, and what is switched off."""

    hops: int = 2
    limit: int = 48
    edges: tuple[str, ...] = ()
    structure: bool = True
    expand: bool = True
    counterfactuals: int = 0
    trace_steps: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_counts(1, hops=self.hops, limit=self.limit, trace_steps=self.trace_steps)
        _check_counts(0, counterfactuals=self.counterfactuals)

    def settings(self, seed: int) -> AnswerSettings:
        return AnswerSettings(
            self.k, seed, self.edges, self.structure, self.counterfactuals, self.trace_steps
        )


@dataclass(frozen=True, kw_only=True)
class _WeighingMemory(_WalkingMemory):
    """What all memories have in which nodes have weights."""

    weights: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.learning is not None and not self.weights:
            raise UsageError(
                "weights is false, and weights are what a dynamic memory learns. Use the static form."
            )


@dataclass(frozen=True)
class StructureOnly(_WalkingMemory):
    """Matching nodes and their neighbours. The weights of nodes do not count."""

    def strategy(self) -> WalkStrategy:
        return NeighbourExpansion(self.seeds, self.hops, self.limit, False, self.expand)


@dataclass(frozen=True, kw_only=True)
class WeightedGraph(_WeighingMemory):
    """Matching nodes and their neighbours. Risky, unusual and important ones count for more."""

    def strategy(self) -> WalkStrategy:
        return NeighbourExpansion(self.seeds, self.hops, self.limit, self.weights, self.expand)


@dataclass(frozen=True, kw_only=True)
class WeightedGraphStatic(WeightedGraph):
    """The weighted graph; each query by itself."""


@dataclass(frozen=True, kw_only=True)
class WeightedGraphDynamic(WeightedGraph):
    """The weighted graph, whose weights change with earlier queries."""

    learning: ClassVar[LearningRule | None] = LearningRule()


@dataclass(frozen=True, kw_only=True)
class ActivationSpreading(_WeighingMemory):
    """Energy spreads from matching nodes along typed edges and fades with every hop."""

    decay: float = 0.75
    threshold: float = 0.15

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_shares(decay=self.decay, threshold=self.threshold)

    def strategy(self) -> WalkStrategy:
        rule = SpreadRule(self.hops, self.decay, self.threshold, self.limit)
        return SpreadingActivation(self.seeds, rule, self.weights, self.expand)


@dataclass(frozen=True, kw_only=True)
class ActivationSpreadingStatic(ActivationSpreading):
    """Spreading activation; each query by itself."""


@dataclass(frozen=True, kw_only=True)
class ActivationSpreadingDynamic(ActivationSpreading):
    """Spreading activation in a memory that reinforces walked nodes and lets the rest fade."""

    learning: ClassVar[LearningRule | None] = LearningRule()


@dataclass(frozen=True, kw_only=True)
class PageRank(_WalkingMemory):
    """Personalised PageRank from the nodes that match best, over the same graph."""

    starts: int = 10
    damping: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_counts(1, starts=self.starts)
        _check_shares(damping=self.damping)
        if self.damping == 1.0:
            raise UsageError("damping is 1, and the walk would never return to its seeds. Use less.")

    def strategy(self) -> WalkStrategy:
        hops = self.hops if self.expand else 0
        return PersonalisedPageRank(self.seeds, self.starts, hops, self.limit, self.damping)
