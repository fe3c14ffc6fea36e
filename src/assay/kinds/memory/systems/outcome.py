"""What a mode makes of one query: a score for every node, and the paths it walked to get there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from assay.kinds.memory.systems.graph import Floats, Ints, MemoryGraph, best
from assay.kinds.memory.systems.pagerank import personalised
from assay.kinds.memory.systems.spread import Activation, SpreadRule, WalkableGraph, spread

SEMANTIC, STRUCTURAL, STRIKING, WEIGHT = 0.55, 0.20, 0.15, 0.10  # parts of a node's score
WORTHWHILE = 0.5  # a walk goes on to a node that scores at least this part of what its seed scores


class NodePath(NamedTuple):
    """Nodes in the order of the walk, the edges between them, and what the path is worth."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    score: float


@dataclass(frozen=True)
class WalkOutcome:
    """The score of every node, paths best first, and the spread of each path's seed, where there are any."""

    scores: Floats
    paths: Sequence[NodePath]
    spreads: Sequence[Activation] = ()

    @property
    def walked(self) -> Ints:
        """The nodes of all paths."""
        return np.unique(np.array([node for path in self.paths for node in path.nodes], dtype=np.int64))


@dataclass(frozen=True)
class GraphQuery:
    """One query as a mode sees it: the ground to walk on, how well nodes match, how much they matter."""

    ground: WalkableGraph
    relevance: Floats
    weight: Floats

    @property
    def graph(self) -> MemoryGraph:
        return self.ground.graph

    def seeds(self, number: int) -> list[int]:
        """The nodes that match best, the earlier first where they match alike."""
        nodes: list[int] = best(self.relevance, number).tolist()
        return nodes

    def scores(self, strength: Floats, weights: bool) -> Floats:
        """What nodes are worth: how well they match, how near they are to what was found, what they are."""
        scores: Floats = SEMANTIC * self.relevance + STRUCTURAL * strength
        if weights:
            traits = STRIKING * self.graph.traits.striking + WEIGHT * self.weight
            scores = scores + traits * self.relevance
        return scores


class WalkStrategy(Protocol):
    """A way to answer from a graph."""

    def outcome(self, asked: GraphQuery) -> WalkOutcome: ...


@dataclass(frozen=True)
class FlatMatch:
    """No graph: nodes as they match, each of the best a path of one step."""

    seeds: int

    def outcome(self, asked: GraphQuery) -> WalkOutcome:
        found = asked.seeds(self.seeds)
        return WalkOutcome(
            asked.relevance, [NodePath((each,), (), float(asked.relevance[each])) for each in found]
        )


@dataclass(frozen=True)
class NeighbourExpansion:
    """From the nodes that match best to their best neighbours; near nodes count for more.

    How near a node is: the product of the weights along the strongest of the shortest ways from a seed.
    """

    seeds: int
    hops: int
    limit: int
    weights: bool
    expand: bool

    def outcome(self, asked: GraphQuery) -> WalkOutcome:
        near = SpreadRule(self.hops if self.expand else 1, 1.0, 0.0, self.limit, 0.0)
        plain = WalkableGraph(
            asked.graph, asked.ground.standing, asked.ground.allowed, np.zeros_like(asked.ground.tense)
        )
        found = asked.seeds(self.seeds)
        spreads = [spread(plain, seed, 1.0, near) for seed in found]
        strength = np.max([each.energy for each in spreads], axis=0, initial=0.0)
        scores = asked.scores(strength if len(found) else asked.relevance * 0, self.weights)
        paths = [self._walk(asked, seed, scores) for seed in found]
        order = sorted(range(len(paths)), key=lambda each: (-paths[each].score, each))
        return WalkOutcome(scores, [paths[each] for each in order])

    def _walk(self, asked: GraphQuery, seed: int, scores: Floats) -> NodePath:
        """From a seed to the best neighbour of the last node, as long as that is worth the step."""
        graph, ground, nodes, edges = asked.graph, asked.ground, [seed], list[int]()
        for _ in range(self.hops if self.expand else 0):
            ways = graph.edges_of(np.array(nodes[-1:], dtype=np.int64))
            ways = ways[ground.standing[graph.link[ways]] & ground.allowed[graph.kind[ways]]]
            ways = ways[~np.isin(graph.target[ways], nodes)]
            ways = ways[scores[graph.target[ways]] >= WORTHWHILE * scores[seed]]
            if not len(ways):
                break
            keys = (ways, -graph.weight[ways], graph.against[ways], -scores[graph.target[ways]])
            way = int(ways[np.lexsort(keys)[0]])
            edges.append(way)
            nodes.append(int(graph.target[way]))
        return NodePath(tuple(nodes), tuple(edges), float(scores[seed]))


@dataclass(frozen=True)
class SpreadingActivation:
    """Energy spreads from each seed; a path leads from a seed to the best node that its energy reached."""

    seeds: int
    rule: SpreadRule
    weights: bool
    expand: bool

    def outcome(self, asked: GraphQuery) -> WalkOutcome:
        rule = self.rule if self.expand else SpreadRule(1, 1.0, 0.0, self.rule.limit, 0.0)
        found = asked.seeds(self.seeds)
        spreads = [spread(asked.ground, seed, float(asked.relevance[seed]), rule) for seed in found]
        scores, ends = asked.scores(np.zeros(len(asked.relevance)), self.weights), []
        for each in spreads:
            near = np.where(each.hop >= 0, 1.0 - 0.25 * np.maximum(each.hop, 0), 0.0)
            ends.append(np.minimum(np.maximum(each.energy, asked.scores(near, self.weights)), 1.0))
        highest = np.max(ends, axis=0, initial=0.0) if ends else scores
        reached = np.logical_or.reduce([each.hop >= 0 for each in spreads]) if spreads else scores < 0
        paths = [self._path(asked.graph, each, end) for each, end in zip(spreads, ends, strict=True)]
        order = sorted(range(len(paths)), key=lambda each: (-paths[each].score, each))
        return WalkOutcome(
            np.where(reached, highest, scores), [paths[i] for i in order], [spreads[i] for i in order]
        )

    def _path(self, graph: MemoryGraph, each: Activation, end: Floats) -> NodePath:
        others = each.reached[1:] if self.expand else each.reached[:0]
        if not len(others):
            return NodePath((each.seed,), (), 0.0)
        order = np.lexsort((others, -each.hop[others], -each.energy[others], -end[others]))
        last = int(others[order[0]])
        way = each.way_to(graph, last)
        return NodePath((each.seed, *(int(graph.target[edge]) for edge in way)), tuple(way), float(end[last]))


@dataclass(frozen=True)
class PersonalisedPageRank:
    """Personalised PageRank from the nodes that match best; paths lead from them to the best nodes."""

    seeds: int
    starts: int
    hops: int
    limit: int
    damping: float

    def outcome(self, asked: GraphQuery) -> WalkOutcome:
        found = asked.seeds(self.starts)
        if not found:
            return WalkOutcome(np.zeros(len(asked.relevance)), [])
        home = np.zeros(len(asked.relevance))
        home[found] = asked.relevance[found]
        standing = asked.ground.standing & asked.ground.allowed[asked.graph.kind_of_link]
        shares = personalised(asked.graph, standing, home, self.damping)
        near = SpreadRule(self.hops, 1.0, 0.0, self.limit, 0.0)
        plain = WalkableGraph(asked.graph, standing, asked.ground.allowed, np.zeros_like(asked.ground.tense))
        paths = []
        for seed in found[: self.seeds]:
            each = spread(plain, seed, 1.0, near)
            others = each.reached[1:]
            last = int(others[np.lexsort((others, -shares[others]))[0]]) if len(others) else seed
            way = each.way_to(asked.graph, last)
            nodes = (seed, *(int(asked.graph.target[edge]) for edge in way))
            paths.append(NodePath(nodes, tuple(way), float(shares[list(nodes)].sum())))
        return WalkOutcome(shares, sorted(paths, key=lambda path: -path.score))
