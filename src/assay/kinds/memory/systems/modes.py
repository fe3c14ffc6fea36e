"""The memories that a study names: two flat baselines and the ways to walk a graph.

`structure`, `weights` and `expand` switch a part off each: a graph without edges, nodes that all matter
alike, neighbours that count but are not walked to. The static form of a mode forgets every query, the dynamic
one learns along a sequence; the plain name is static.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from assay.core.dataset import Corpus, Dataset, search_problems
from assay.core.errors import Problem, UsageError
from assay.core.parts import Embedder
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS, part_identities
from assay.kinds.memory.systems.building import build_memory, gold_warnings, pack_identities, pack_problems
from assay.kinds.memory.systems.memories import AnswerSettings, MemoryIndex
from assay.kinds.memory.systems.outcome import (
    FlatMatch,
    NeighbourExpansion,
    PersonalisedPageRank,
    SpreadingActivation,
    WalkStrategy,
)
from assay.kinds.memory.systems.packs import PACKS, DomainPack
from assay.kinds.memory.systems.relevance import Relevance, Texts
from assay.kinds.memory.systems.spread import SpreadRule
from assay.kinds.memory.systems.state import LearningRule
from assay.retrieval.embed.static import Static

FIRST_ADDRESS = "assay.systems.graph.modes"

_LEAST = {"k": 1, "seeds": 1, "hops": 1, "limit": 1, "starts": 1, "trace_steps": 1, "counterfactuals": 0}


@dataclass(frozen=True, kw_only=True)
class _MemorySystem:
    """What every memory has: how many hits come back, and from how many nodes it starts."""

    k: int = 10
    seeds: int = 3
    model: Annotated[Embedder, EMBEDDERS] = Static()
    pack: Annotated[DomainPack | None, PACKS] = None
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "trace"})
    learning: ClassVar[LearningRule | None] = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if (count := getattr(self, name, least)) < least:
                raise UsageError(f"{name} is {count}. It must be at least {least}.")
        for name in ("decay", "threshold", "damping"):
            if not 0.0 <= (share := getattr(self, name, 0.5)) <= 1.0:
                raise UsageError(f"{name} is {share}. It is a share, from 0 to 1.")
        if self.learning is not None and not getattr(self, "weights", True):
            raise UsageError(
                "weights is false, and weights are what a dynamic memory learns. Use the static form."
            )

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> MemoryIndex:
        memory = build_memory(corpus, self.pack, kit)
        relevance = self.relevance(Texts(corpus, self.model, kit))
        return MemoryIndex(memory, relevance, self.engine(), self.answering(seed), self.learning)

    def relevance(self, texts: Texts) -> Relevance:
        return texts.by_both()

    def engine(self) -> WalkStrategy:
        return FlatMatch(self.seeds)

    def answering(self, seed: int) -> AnswerSettings:
        return AnswerSettings(self.k, (), False, 0, 0, seed)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Why it could find nothing; packs that passages name and nobody offers, edges that no pack draws."""
        edges = getattr(self, "edges", ())
        found = search_problems(dataset, self)
        return found or pack_problems(dataset.corpus.passages, self.pack, edges, kit, dataset.places)

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Words that cases ask for and no pack gives."""
        return gold_warnings(dataset, self.pack, kit)

    def identity(self, kit: Kit) -> dict[str, Any]:
        """What decides answers besides parameters: the rules that passages may name, and the parts."""
        return {"packs": pack_identities(kit), **part_identities(self, kit)}


@dataclass(frozen=True)
class LexicalBaseline(_MemorySystem):
    """Nodes by the words they share with a query. No graph."""

    def relevance(self, texts: Texts) -> Relevance:
        return texts.by_words()


@dataclass(frozen=True)
class EmbeddingBaseline(_MemorySystem):
    """Nodes by the cosine of their vectors and a query's. No graph."""

    def relevance(self, texts: Texts) -> Relevance:
        return texts.by_vectors()


@dataclass(frozen=True, kw_only=True)
class _WalkingMemory(_MemorySystem):
    """What every memory has that walks: how far, along which edges, and what is switched off."""

    hops: int = 2
    limit: int = 48
    edges: tuple[str, ...] = ()
    structure: bool = True
    expand: bool = True
    counterfactuals: int = 0
    trace_steps: int = 200

    def answering(self, seed: int) -> AnswerSettings:
        return AnswerSettings(
            self.k, self.edges, self.structure, self.counterfactuals, self.trace_steps, seed
        )


@dataclass(frozen=True)
class StructureOnly(_WalkingMemory):
    """Matching nodes and their neighbours; what a node is does not count."""

    def engine(self) -> WalkStrategy:
        return NeighbourExpansion(self.seeds, self.hops, self.limit, False, self.expand)


@dataclass(frozen=True, kw_only=True)
class WeightedGraph(_WalkingMemory):
    """Matching nodes and their neighbours; risky, unusual and important ones count for more."""

    weights: bool = True

    def engine(self) -> WalkStrategy:
        return NeighbourExpansion(self.seeds, self.hops, self.limit, self.weights, self.expand)


@dataclass(frozen=True, kw_only=True)
class WeightedGraphStatic(WeightedGraph):
    """The weighted graph, each query for itself."""


@dataclass(frozen=True, kw_only=True)
class WeightedGraphDynamic(WeightedGraph):
    """The weighted graph, whose weights change with what was asked before."""

    learning: ClassVar[LearningRule | None] = LearningRule()


@dataclass(frozen=True, kw_only=True)
class ActivationSpreading(_WalkingMemory):
    """Energy spreads from matching nodes along typed edges and fades with every hop."""

    weights: bool = True
    decay: float = 0.75
    threshold: float = 0.15

    def engine(self) -> WalkStrategy:
        rule = SpreadRule(self.hops, self.decay, self.threshold, self.limit)
        return SpreadingActivation(self.seeds, rule, self.weights, self.expand)


@dataclass(frozen=True, kw_only=True)
class ActivationSpreadingStatic(ActivationSpreading):
    """Spreading activation, each query for itself."""


@dataclass(frozen=True, kw_only=True)
class ActivationSpreadingDynamic(ActivationSpreading):
    """Spreading activation in a memory that readies what was walked and lets the rest fade."""

    learning: ClassVar[LearningRule | None] = LearningRule()


@dataclass(frozen=True, kw_only=True)
class PageRank(_WalkingMemory):
    """Personalised PageRank from the nodes that match best, over the same graph."""

    starts: int = 10
    damping: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.damping == 1.0:
            raise UsageError("damping is 1, and the walk would never return to its seeds. Use less.")

    def engine(self) -> WalkStrategy:
        return PersonalisedPageRank(
            self.seeds, self.starts, self.hops if self.expand else 0, self.limit, self.damping
        )
