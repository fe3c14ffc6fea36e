"""Built graph memories and their sessions: what a session remembers, its answers, and their traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from assay.core.records import PATH, Budget, Hit, Query, Response, Step, Structure
from assay.kinds.memory.systems.graph import Bools, Floats, Ints, MemoryGraph, best
from assay.kinds.memory.systems.relevance import Relevance
from assay.kinds.memory.systems.spread import PASSED, STOPS, Activation, WalkableGraph
from assay.kinds.memory.systems.strategies import GraphQuery, WalkOutcome, WalkStrategy
from assay.kinds.memory.walk import REMOVED, SEED, SPREAD, TENSION
from assay.retrieval.fuse import result_distance
from assay.systems.answering import Meter


@dataclass(frozen=True)
class AnswerSettings:
    """How many hits an answer has, which edges may be walked, and what is recorded besides the hits."""

    k: int
    seed: int
    edges: tuple[str, ...] = ()  # the kinds of edges that may be walked; empty: all
    structure: bool = False  # whether there are edges at all
    counterfactuals: int = 0  # how many random removals the removal of the path is compared with
    trace_steps: int = 0


@dataclass(frozen=True)
class LearningRule:
    """The numbers by which a memory changes with each query that it answers."""

    step: float = 0.02  # what each use adds to a node's weight
    most: float = 0.15  # the most that use can add to a node's weight
    recovery: float = 0.02  # what each use adds to a node's freshness
    fading: float = 0.05  # the share of its freshness that a node loses with each query that does not walk it
    floor: float = 0.5  # the least freshness of a node


class MemoryState:
    """What a session remembers about each node: how often the node was walked, and how fresh it is."""

    def __init__(self, size: int, rule: LearningRule) -> None:
        self.rule = rule
        self.used = np.zeros(size)
        self.fresh = np.ones(size)

    def learn(self, walked: Ints) -> None:
        """Strengthens the nodes that an answer walked, and lets the other nodes fade."""
        faded = np.maximum(self.fresh * (1 - self.rule.fading), self.rule.floor)
        faded[walked] = np.minimum(self.fresh[walked] + self.rule.recovery, 1.0)
        self.fresh = faded
        self.used[walked] += 1

    def _bonus(self) -> Floats:
        return np.minimum(self.used * self.rule.step, self.rule.most)

    def weight(self, weight: Floats) -> Floats:
        """Returns how much each node matters now, given the weights of the graph."""
        return np.clip((weight + self._bonus()) * self.fresh, 0.0, 1.0)

    def readiness(self) -> Floats:
        """Returns the factor of the energy that each node receives: 1 for a fresh node that was not used."""
        return self.fresh + self._bonus()


@dataclass(frozen=True)
class MemoryIndex:
    """A graph, a way to match its nodes with a query and a way to walk it. All sessions share the index."""

    graph: MemoryGraph
    relevance: Relevance
    strategy: WalkStrategy
    settings: AnswerSettings
    learning: LearningRule | None = None  # None: a session forgets each query

    def session(self) -> MemorySession:
        state = None if self.learning is None else MemoryState(len(self.graph), self.learning)
        return MemorySession(self, state)

    def structure(self) -> Structure:
        return self.graph.structure()

    def close(self) -> None:
        self.relevance.close()

    @cached_property
    def ground(self) -> WalkableGraph:
        """The graph with the links and the kinds of edges that every query may walk."""
        graph, kinds = self.graph, self.settings.edges
        allowed = np.array([not kinds or kind in kinds for kind in graph.kinds], dtype=bool)
        return WalkableGraph(graph, graph.every_link & self.settings.structure, allowed)


@dataclass
class MemorySession:
    """A conversation with a memory: a series of queries that the memory may learn from."""

    index: MemoryIndex
    state: MemoryState | None

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter, index = Meter(), self.index
        relevance = index.relevance.of(query.text, meter)
        outcome = self._outcome(relevance, index.ground.present)
        hits = self._hits(outcome)
        trace = trace_of(index.graph, outcome, index.ground.usable, index.settings.trace_steps)
        meter.lap("walk")
        observed = meter.observed()
        if index.settings.counterfactuals:  # their time is not measured: answering needs no removals
            trace += self._removals(query, relevance, outcome, hits)
        if self.state is not None:
            self.state.learn(outcome.walked)
        return Response(hits=hits, trace=trace, observed=observed)

    def _outcome(self, relevance: Floats, present: Bools) -> WalkOutcome:
        ground, weight = replace(self.index.ground, present=present), self.index.graph.traits.weight
        if self.state is not None:
            weight = self.state.weight(weight)
            ground = replace(ground, readiness=self.state.readiness())
        return self.index.strategy.outcome(GraphQuery(ground, relevance, weight))

    def _hits(self, outcome: WalkOutcome) -> list[Hit]:
        """Returns the nodes with the highest scores. Among equal scores, the earlier node comes first."""
        scores, node_ids = outcome.scores, self.index.graph.node_ids
        return [Hit(node_ids[node], float(scores[node])) for node in best(scores, self.index.settings.k)]

    def _removals(
        self, query: Query, relevance: Floats, outcome: WalkOutcome, hits: Sequence[Hit]
    ) -> list[Step]:
        """Measures how far the result changes without the best path's edges, and without as many other edges.

        "random" removes edges of the whole graph. "nearby" removes edges at the nodes that were walked, which
        is the harder comparison.
        """
        graph, settings = self.index.graph, self.index.settings
        if not outcome.paths or not outcome.paths[0].edges:
            return []
        first = outcome.paths[0]
        walked = np.unique(graph.link[list(first.edges)])
        others = np.setdiff1d(np.flatnonzero(self.index.ground.usable), walked)
        near = np.intersect1d(others, graph.link[graph.edges_of(outcome.walked)])
        draw = np.random.default_rng([settings.seed, *query.item_id.encode()])
        steps = []
        for name, pool in (("path", walked), ("random", others), ("nearby", near)):
            if len(pool) < len(walked):
                continue
            sets = (
                [pool]
                if len(pool) == len(walked)
                else [draw.choice(pool, len(walked), replace=False) for _ in range(settings.counterfactuals)]
            )
            change = float(np.mean([self._change_without(removed, relevance, hits) for removed in sets]))
            scores = {"change": change, "edges": float(len(walked))}
            steps.append(Step(REMOVED, 0, graph.node_ids[first.nodes[-1]], scores=scores, edge=name))
        return steps

    def _change_without(self, removed: Ints, relevance: Floats, hits: Sequence[Hit]) -> float:
        present = self.index.ground.present.copy()
        present[removed] = False
        return result_distance(hits, self._hits(self._outcome(relevance, present)))


# ------------------------------------------------------------------------------------------ traces


def trace_of(graph: MemoryGraph, outcome: WalkOutcome, usable: Bools, most: int) -> list[Step]:
    """Returns the steps of the paths, best first, then of the spreads, then of the tensions that paths touch.

    A spread lists every propagation that passed energy on. Propagations that were stopped are added as long
    as the spread has at most `most` steps. The step of the seed counts the propagations that were left out.
    """
    steps = [step for path in outcome.paths for step in _path_steps(graph, path.nodes, path.edges, outcome)]
    steps += [step for each in outcome.spreads for step in _spread_steps(graph, each, most)]
    edges = graph.edges_of(outcome.walked)
    edges = edges[graph.tense[graph.kind[edges]] & usable[graph.link[edges]]]
    for number in dict.fromkeys(graph.link[edges].tolist()):
        source, target, kind, *_ = graph.links[number]
        steps.append(Step(TENSION, 0, graph.node_ids[target], graph.node_ids[source], edge=kind))
    return steps


def _path_steps(
    graph: MemoryGraph, nodes: Sequence[int], edges: Sequence[int], outcome: WalkOutcome
) -> Iterator[Step]:
    for place, node in enumerate(nodes):
        before = None if place == 0 else graph.node_ids[nodes[place - 1]]
        edge = None if place == 0 else graph.kinds[graph.kind[edges[place - 1]]]
        score = {"score": float(outcome.scores[node])}
        yield Step(PATH, place, graph.node_ids[node], before, score, edge=edge, role=graph.traits.roles[node])


def _spread_steps(graph: MemoryGraph, each: Activation, most: int) -> Iterator[Step]:
    roles, seed, tried = graph.traits.roles, each.seed, each.attempts
    passed = np.flatnonzero(tried.stop == PASSED)
    stopped = np.flatnonzero(tried.stop != PASSED)[: max(most - 1 - len(passed), 0)]
    shown = np.sort(np.concatenate([passed, stopped]))
    scores = {"energy": float(each.energy[seed])}
    if len(shown) < len(tried):
        scores["untold"] = float(len(tried) - len(shown))
    yield Step(SEED, 0, graph.node_ids[seed], scores=scores, role=roles[seed])
    for place in shown.tolist():
        edge, stop = int(tried.edge[place]), int(tried.stop[place])
        target = int(graph.target[edge])
        yield Step(
            SPREAD,
            int(tried.hop[place]),
            graph.node_ids[target],
            graph.node_ids[int(graph.start[edge])],
            {"incoming": float(tried.incoming[place]), "energy": float(tried.energy[place])},
            selected=stop == PASSED,
            edge=graph.kinds[graph.kind[edge]],
            stop=STOPS[stop],
            role=roles[target],
        )
