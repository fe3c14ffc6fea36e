"""A built graph memory and its sessions: what stays between queries, and what an answer is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.core.records import Budget, Hit, Query, Response, Step, Structure
from assay.kinds.memory.systems.building import Memory
from assay.kinds.memory.systems.graph import Bools, Floats, Ints, best
from assay.kinds.memory.systems.outcome import GraphQuery, WalkOutcome, WalkStrategy
from assay.kinds.memory.systems.relevance import Relevance
from assay.kinds.memory.systems.spread import WalkableGraph
from assay.kinds.memory.systems.state import LearningRule, MemoryState
from assay.kinds.memory.systems.tracing import trace_of
from assay.retrieval.fuse import result_distance
from assay.systems.answering import Meter


@dataclass(frozen=True)
class AnswerSettings:
    """How much of an outcome is told, and what is tried beside it."""

    k: int
    edges: tuple[str, ...]  # kinds that may be walked; empty: all
    structure: bool
    counterfactuals: int  # random removals to compare that of the path with
    trace_steps: int
    seed: int


@dataclass(frozen=True)
class MemoryIndex:
    """A graph, a way to match its nodes and a way to walk it. Sessions share it."""

    memory: Memory
    relevance: Relevance
    engine: WalkStrategy
    answering: AnswerSettings
    learning: LearningRule | None  # None: a session forgets each query

    def session(self) -> MemorySession:
        size = len(self.memory.graph)
        return MemorySession(self, None if self.learning is None else MemoryState(size, self.learning))

    def structure(self) -> Structure:
        return self.memory.graph.structure()

    def close(self) -> None:
        self.relevance.close()

    @cached_property
    def ground(self) -> WalkableGraph:
        """The graph as every query may walk it."""
        graph, kinds = self.memory.graph, self.answering.edges
        allowed = np.array([not kinds or kind in kinds for kind in graph.kinds], dtype=bool)
        tense = np.array([kind in self.memory.tensions for kind in graph.kinds], dtype=bool)
        standing = graph.unbroken if self.answering.structure else ~graph.unbroken
        return WalkableGraph(graph, standing, allowed, tense)


@dataclass
class MemorySession:
    """One conversation with a memory."""

    index: MemoryIndex
    state: MemoryState | None

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter = Meter()
        relevance = self.index.relevance.of(query.text, meter)
        outcome = self._outcome(relevance, self.index.ground.standing)
        hits = self._hits(outcome)
        memory, answering = self.index.memory, self.index.answering
        trace = trace_of(memory, outcome, self.index.ground.usable, answering.trace_steps)
        meter.lap("walk")
        observed = meter.observed()
        if answering.counterfactuals:  # not part of answering, so not of what it took
            trace += self._removals(query, relevance, outcome, hits)
        if self.state is not None:
            self.state.learn(outcome.walked)
        return Response(hits=hits, trace=trace, observed=observed)

    def _outcome(self, relevance: Floats, standing: Bools) -> WalkOutcome:
        ground, weight = replace(self.index.ground, standing=standing), self.index.memory.graph.traits.weight
        if self.state is not None:
            weight = self.state.weight(weight)
            ground = replace(ground, readiness=self.state.readiness())
        return self.index.engine.outcome(GraphQuery(ground, relevance, weight))

    def _hits(self, outcome: WalkOutcome) -> list[Hit]:
        """The nodes that score best; of equal scores the earlier node first."""
        scores, k = outcome.scores, self.index.answering.k
        node_ids = self.index.memory.graph.node_ids
        return [Hit(node_ids[node], float(scores[node])) for node in best(scores, k).tolist()]

    # ------------------------------------------------------------------- what if edges were not there

    def _removals(
        self, query: Query, relevance: Floats, outcome: WalkOutcome, hits: Sequence[Hit]
    ) -> list[Step]:
        """How far the result changes without the best path's edges, and without as many others.

        "random" are edges of the whole graph; "nearby", those at the nodes that were walked, which is the
        harder comparison.
        """
        graph, usable = self.index.memory.graph, self.index.ground.usable
        if not outcome.paths or not outcome.paths[0].edges:
            return []
        first = outcome.paths[0]
        walked = np.unique(graph.link[list(first.edges)])
        others = np.setdiff1d(np.flatnonzero(usable), walked)
        near = np.intersect1d(others, graph.link[graph.edges_of(outcome.walked)])
        draw = np.random.default_rng([self.index.answering.seed, *query.item_id.encode()])
        target, steps = graph.node_ids[first.nodes[-1]], []
        for name, pool in (("path", walked), ("random", others), ("nearby", near)):
            if len(pool) < len(walked):
                continue  # there are not as many others
            changes = [
                self._without(relevance, removed, hits)
                for removed in _drawn(draw, pool, len(walked), self.index.answering.counterfactuals)
            ]
            scores = {"change": float(np.mean(changes)), "edges": float(len(walked))}
            steps.append(Step("removed", 0, target, scores=scores, edge=name))
        return steps

    def _without(self, relevance: Floats, removed: Ints, hits: Sequence[Hit]) -> float:
        standing = self.index.ground.standing.copy()
        standing[removed] = False
        return result_distance(hits, self._hits(self._outcome(relevance, standing)))


def _drawn(draw: np.random.Generator, pool: Ints, number: int, times: int) -> list[Ints]:
    """Sets of edges to remove: several draws from a pool, or the pool itself where it is no larger."""
    if len(pool) == number:
        return [pool]
    return [draw.choice(pool, number, replace=False) for _ in range(times)]
