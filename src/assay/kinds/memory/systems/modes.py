"""The memory systems that a study names: two flat baselines, and several ways to walk a graph.

The parameters `structure`, `weights` and `expand` each switch off one part: the edges, the weights of nodes,
or the walk to neighbours (the neighbours then only count for the score). A static memory forgets every query.
A dynamic memory learns along a sequence of queries. A system whose name says neither is static.
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
    """The parameters of all memories: how many hits, how many start nodes, and how nodes match a query."""

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
        """Returns why the system could find nothing: unknown packs, or kinds of edges that no pack draws."""
        passages, edges = dataset.corpus.passages, self.settings(0).edges
        return search_problems(dataset, self) or pack_problems(
            passages, self.pack, edges, kit, dataset.places
        )

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Returns warnings about roles, edge types and stop reasons that cases require and no pack gives."""
        return gold_warnings(dataset, self.pack, kit)

    def identity(self, kit: Kit) -> dict[str, Any]:
        """Returns what decides answers besides parameters: packs that passages may name, and the parts."""
        return {"packs": pack_identities(kit), **part_identities(self, kit)}


@dataclass(frozen=True)
class LexicalBaseline(_MemorySystem):
    """A memory without a graph. It finds nodes by the words that they share with a query."""

    def relevance(self, texts: list[str], kit: Kit) -> Relevance:
        return WordRelevance.build(texts)


@dataclass(frozen=True)
class EmbeddingBaseline(_MemorySystem):
    """A memory without a graph. It finds nodes by the cosine between their vectors and the query's vector."""

    def relevance(self, texts: list[str], kit: Kit) -> Relevance:
        return VectorRelevance.build(texts, self.model, kit)


@dataclass(frozen=True, kw_only=True)
class _WalkingMemory(_MemorySystem):
    """The parameters of all memories that walk: how far, along which edges, which parts are switched off."""

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
    """The parameter of all memories whose nodes have weights."""

    weights: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.learning is not None and not self.weights:
            raise UsageError(
                "weights is false, and weights are what a dynamic memory learns. Use the static form."
            )


@dataclass(frozen=True)
class StructureOnly(_WalkingMemory):
    """A memory that returns matching nodes and their neighbours. The weights of nodes do not count."""

    def strategy(self) -> WalkStrategy:
        return NeighbourExpansion(self.seeds, self.hops, self.limit, False, self.expand)


@dataclass(frozen=True, kw_only=True)
class WeightedGraph(_WeighingMemory):
    """A memory that returns matching nodes and their neighbours.

    Risky, unusual and important nodes score higher.
    """

    def strategy(self) -> WalkStrategy:
        return NeighbourExpansion(self.seeds, self.hops, self.limit, self.weights, self.expand)


@dataclass(frozen=True, kw_only=True)
class WeightedGraphStatic(WeightedGraph):
    """The weighted graph as a static memory: earlier queries have no effect."""


@dataclass(frozen=True, kw_only=True)
class WeightedGraphDynamic(WeightedGraph):
    """The weighted graph as a dynamic memory: its weights change with earlier queries."""

    learning: ClassVar[LearningRule | None] = LearningRule()


@dataclass(frozen=True, kw_only=True)
class ActivationSpreading(_WeighingMemory):
    """A memory in which energy spreads from matching nodes along typed edges and fades with every hop."""

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
    """Spreading activation as a static memory: earlier queries have no effect."""


@dataclass(frozen=True, kw_only=True)
class ActivationSpreadingDynamic(ActivationSpreading):
    """Spreading activation as a dynamic memory: walked nodes grow stronger, and the other nodes fade."""

    learning: ClassVar[LearningRule | None] = LearningRule()


@dataclass(frozen=True, kw_only=True)
class PageRank(_WalkingMemory):
    """A memory that runs personalised PageRank over the graph, from the nodes that match best."""

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
