"""The ways to answer a query from a graph. Each way returns a score for every node, and its paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from assay.kinds.memory.systems.graph import Floats, Ints, MemoryGraph, best
from assay.kinds.memory.systems.spread import (
    Activation,
    SpreadRule,
    WalkableGraph,
    personalised_pagerank,
    spread,
)

SEMANTIC, STRUCTURAL, STRIKING, WEIGHT = 0.55, 0.20, 0.15, 0.10  # the weights of the parts of a node's score
WORTHWHILE = 0.5  # a walk goes on to a node that scores at least this part of its seed's score


class NodePath(NamedTuple):
    """A path that was walked: its nodes, the edges between them, and its score."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    score: float

    @classmethod
    def along(cls, graph: MemoryGraph, seed: int, edges: Sequence[int], score: float) -> NodePath:
        return cls((seed, *(int(graph.target[edge]) for edge in edges)), tuple(edges), score)


@dataclass(frozen=True)
class WalkOutcome:
    """The score of every node, the paths, best first, and the activation of each path's seed, if any."""

    scores: Floats
    paths: Sequence[NodePath]
    spreads: Sequence[Activation] = ()

    @property
    def walked(self) -> Ints:
        """The nodes of all paths."""
        return np.unique(np.array([node for path in self.paths for node in path.nodes], dtype=np.int64))


@dataclass(frozen=True)
class GraphQuery:
    """A query to a graph: what the query may walk, how well each node matches, how much each node matters."""

    ground: WalkableGraph
    relevance: Floats
    weight: Floats

    @property
    def graph(self) -> MemoryGraph:
        return self.ground.graph

    def seeds(self, number: int) -> list[int]:
        """Returns the nodes that match best. Among equal matches, the earlier node comes first."""
        nodes: list[int] = best(self.relevance, number).tolist()
        return nodes

    def scores(self, nearness: Floats, weights: bool) -> Floats:
        """Returns each node's score: its match, its nearness to a seed and, with `weights`, its traits."""
        scores: Floats = SEMANTIC * self.relevance + STRUCTURAL * nearness
        if weights:
            traits = STRIKING * self.graph.traits.striking + WEIGHT * self.weight
            scores = scores + traits * self.relevance
        return scores


class WalkStrategy(Protocol):
    """A way to answer a query from a graph."""

    def outcome(self, query: GraphQuery) -> WalkOutcome: ...


@dataclass(frozen=True)
class FlatMatch:
    """A strategy without a graph: a node scores as it matches, and each of the best is a path of one step."""

    seeds: int

    def outcome(self, query: GraphQuery) -> WalkOutcome:
        found = query.seeds(self.seeds)
        paths = [NodePath((each,), (), float(query.relevance[each])) for each in found]
        return WalkOutcome(query.relevance, paths)


@dataclass(frozen=True)
class NeighbourExpansion:
    """A strategy that walks from the best matching nodes to their best neighbours. Near nodes score more.

    The nearness of a node is the product of the weights along a shortest way from a seed. Among several
    shortest ways, the strongest counts.
    """

    seeds: int
    hops: int
    limit: int
    weights: bool
    expand: bool

    def outcome(self, query: GraphQuery) -> WalkOutcome:
        rule = SpreadRule(self.hops if self.expand else 1, 1.0, 0.0, self.limit, 0.0)
        ground, found = replace(query.ground, readiness=None), query.seeds(self.seeds)
        near = [spread(ground, seed, 1.0, rule).energy for seed in found]
        nearness = np.max(near, axis=0, initial=0.0) if near else np.zeros(len(query.relevance))
        scores = query.scores(nearness, self.weights)
        paths = [self._walk(query, seed, scores) for seed in found]
        return WalkOutcome(scores, sorted(paths, key=lambda path: -path.score))

    def _walk(self, query: GraphQuery, seed: int, scores: Floats) -> NodePath:
        """Walks from a seed to the best neighbour, again and again, while neighbours score high enough."""
        graph, ground, nodes, edges = query.graph, query.ground, [seed], list[int]()
        for _ in range(self.hops if self.expand else 0):
            ways = graph.edges_of(np.array(nodes[-1:], dtype=np.int64))
            ways = ways[ground.present[graph.link[ways]] & ground.allowed[graph.kind[ways]]]
            ways = ways[~np.isin(graph.target[ways], nodes)]
            ways = ways[scores[graph.target[ways]] >= WORTHWHILE * scores[seed]]
            if not len(ways):
                break
            keys = (ways, -graph.weight[ways], graph.against[ways], -scores[graph.target[ways]])
            edges.append(int(ways[np.lexsort(keys)[0]]))
            nodes.append(int(graph.target[edges[-1]]))
        return NodePath(tuple(nodes), tuple(edges), float(scores[seed]))


@dataclass(frozen=True)
class SpreadingActivation:
    """A strategy that spreads energy from each seed. Each path leads from a seed to its best reached node."""

    seeds: int
    rule: SpreadRule
    weights: bool
    expand: bool

    def outcome(self, query: GraphQuery) -> WalkOutcome:
        rule = self.rule if self.expand else SpreadRule(1, 1.0, 0.0, self.rule.limit, 0.0)
        spreads = [
            spread(query.ground, seed, float(query.relevance[seed]), rule) for seed in query.seeds(self.seeds)
        ]
        scores = query.scores(np.zeros(len(query.relevance)), self.weights)
        if not spreads:
            return WalkOutcome(scores, [])
        by_seed = []
        for each in spreads:
            nearness = np.where(each.hop >= 0, 1.0 - 0.25 * np.maximum(each.hop, 0), 0.0)
            reached = np.maximum(each.energy, query.scores(nearness, self.weights))
            by_seed.append(np.minimum(reached, 1.0))
        touched = np.logical_or.reduce([each.hop >= 0 for each in spreads])
        scores = np.where(touched, np.max(by_seed, axis=0, initial=0.0), scores)
        paths = [self._path(query.graph, each, of) for each, of in zip(spreads, by_seed, strict=True)]
        order = sorted(range(len(paths)), key=lambda place: -paths[place].score)
        return WalkOutcome(scores, [paths[place] for place in order], [spreads[place] for place in order])

    def _path(self, graph: MemoryGraph, each: Activation, scores: Floats) -> NodePath:
        others = each.reached[1:] if self.expand else each.reached[:0]
        if not len(others):
            return NodePath((each.seed,), (), 0.0)
        order = np.lexsort((others, -each.hop[others], -each.energy[others], -scores[others]))
        last = int(others[order[0]])
        return NodePath.along(graph, each.seed, each.way_to(graph, last), float(scores[last]))


@dataclass(frozen=True)
class PersonalisedPageRank:
    """A strategy that scores nodes by personalised PageRank from the nodes that match best.

    A path leads from a matching node to the node with the highest score that can be reached from there.
    """

    seeds: int
    starts: int
    hops: int
    limit: int
    damping: float

    def outcome(self, query: GraphQuery) -> WalkOutcome:
        found = query.seeds(self.starts)
        if not found:
            return WalkOutcome(np.zeros(len(query.relevance)), [])
        home = np.zeros(len(query.relevance))
        home[found] = query.relevance[found]
        ground = replace(query.ground, present=query.ground.usable, readiness=None)
        shares = personalised_pagerank(query.graph, ground.present, home, self.damping)
        rule = SpreadRule(self.hops, 1.0, 0.0, self.limit, 0.0)
        paths = []
        for seed in found[: self.seeds]:
            each = spread(ground, seed, 1.0, rule)
            others = each.reached[1:]
            last = int(others[np.lexsort((others, -shares[others]))[0]]) if len(others) else seed
            path = NodePath.along(query.graph, seed, each.way_to(query.graph, last), 0.0)
            paths.append(path._replace(score=float(shares[list(path.nodes)].sum())))
        return WalkOutcome(shares, sorted(paths, key=lambda path: -path.score))
