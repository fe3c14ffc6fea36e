"""Energy over a graph: spreading activation along edges, and personalised PageRank.

Spreading activation passes the energy of a seed along edges, hop by hop, until too little energy is left. An
edge passes on `decay` times its weight times the energy of the node at its start. It passes nothing if the
result is below `threshold`. A node that is reached holds the energy from its strongest edge, plus the bonus
of its role, plus a bonus if the edge is a tension. An edge that is walked against its direction counts only
if no other edge leads to the node.

PageRank: Haveliwala, "Topic-sensitive PageRank", WWW 2002; as a memory's retrieval step, Gutiérrez et al.,
"HippoRAG: neurobiologically inspired long-term memory for large language models", NeurIPS 2024.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.kinds.memory.systems.graph import Bools, Floats, Ints, MemoryGraph

PASSED, WEAKER, BELOW, DISALLOWED, FULL = range(5)
STOPS = (None, "weaker_edge", "below_threshold", "disallowed_edge", "node_limit")
_MOST_ROUNDS = 1_000  # of PageRank; about twenty are enough at a damping of 0.5


@dataclass(frozen=True)
class SpreadRule:
    """The numbers that decide how energy passes along edges."""

    hops: int = 2
    decay: float = 0.75
    threshold: float = 0.15
    limit: int = 48  # the most nodes that one seed may reach
    tension: float = 0.12  # the energy that an edge of a tension adds


@dataclass(frozen=True)
class Propagations:
    """Every attempt to pass energy along an edge, as arrays in the order of hop, node and edge."""

    hop: Ints
    edge: Ints
    incoming: Floats
    energy: Floats
    stop: Ints  # position in STOPS

    def __len__(self) -> int:
        return len(self.edge)


@dataclass(frozen=True)
class Activation:
    """The nodes that the energy of one seed reached: energy, hop, and the edge that brought the energy."""

    seed: int
    energy: Floats
    hop: Ints  # -1: the node was not reached
    edge: Ints  # -1: no edge led to the node
    attempts: Propagations
    reached: Ints  # the reached nodes, in order of hop

    def way_to(self, graph: MemoryGraph, node: int) -> list[int]:
        """Returns the edges from the seed to a node, in order."""
        way: list[int] = []
        while (edge := int(self.edge[node])) >= 0:
            way.append(edge)
            node = int(graph.start[edge])
        return way[::-1]


@dataclass(frozen=True)
class WalkableGraph:
    """A graph with the links that one query may walk."""

    graph: MemoryGraph
    present: Bools  # by link: whether it is there (False: removed)
    allowed: Bools  # by kind of link
    readiness: Floats | None = None  # by node: a factor of the energy it receives; None: 1

    @property
    def usable(self) -> Bools:
        """Whether each link is present and of an allowed kind."""
        return self.present & self.allowed[self.graph.kind_of_link]


def spread(ground: WalkableGraph, seed: int, energy: float, rule: SpreadRule) -> Activation:
    """Spreads the energy of one seed over the graph."""
    graph, size = ground.graph, len(ground.graph)
    held, hop_of = np.zeros(size), np.full(size, -1, dtype=np.int64)
    by = np.full(size, -1, dtype=np.int64)
    held[seed], hop_of[seed] = energy, 0
    front, reached = np.array([seed], dtype=np.int64), [np.array([seed], dtype=np.int64)]
    none = np.empty(0, np.int64)
    tried = [Propagations(none, none, np.empty(0), np.empty(0), none)]
    for hop in range(1, rule.hops + 1):
        edges = graph.edges_of(front)
        edges = edges[ground.present[graph.link[edges]]]
        edges = edges[hop_of[graph.target[edges]] < 0]
        if not len(edges):
            break
        room = rule.limit - sum(map(len, reached))
        attempt = _pass_on(ground, edges, held[graph.start[edges]], rule, room, hop)
        tried.append(attempt)
        passed = attempt.stop == PASSED
        front = graph.target[edges[passed]]
        held[front], hop_of[front], by[front] = attempt.energy[passed], hop, edges[passed]
        reached.append(front)
        if not len(front):
            break
    columns = zip(*(vars(each).values() for each in tried), strict=True)
    attempts = Propagations(*map(np.concatenate, columns))
    return Activation(seed, held, hop_of, by, attempts, np.concatenate(reached))


def _pass_on(
    ground: WalkableGraph, edges: Ints, incoming: Floats, rule: SpreadRule, room: int, hop: int
) -> Propagations:
    """Computes one hop: the energy that each edge passes on, or the reason why the edge stops it."""
    graph = ground.graph
    target, kind = graph.target[edges], graph.kind[edges]
    energy = incoming * rule.decay * graph.weight[edges]
    stop = np.where(energy < rule.threshold, BELOW, PASSED)
    stop = np.where(ground.allowed[kind], stop, DISALLOWED)
    gained = energy + graph.traits.bonus[target] + rule.tension * graph.tense[kind]
    readiness = 1.0 if ground.readiness is None else ground.readiness[target]
    energy = np.where(stop == PASSED, np.minimum(gained * readiness, 1.0), energy)

    open_ = np.flatnonzero(stop == PASSED)
    # the strongest edge to each node passes; an edge against its direction only if no other leads there
    keys = (open_, -energy[open_], graph.against[edges[open_]], target[open_])
    order = open_[np.lexsort(keys)]
    again = np.concatenate([[False], target[order][1:] == target[order][:-1]]) if len(order) else order < 0
    stop[order[again]] = WEAKER
    best = order[~again]
    if len(best) > room:
        strongest = best[np.lexsort((best, -energy[best]))]
        stop[strongest[max(room, 0) :]] = FULL
    return Propagations(np.full(len(edges), hop, dtype=np.int64), edges, incoming, energy, stop)


def personalised_pagerank(
    graph: MemoryGraph, present: Bools, seeds: Floats, damping: float, tolerance: float = 1e-6
) -> Floats:
    """Returns the share of time that a walk spends at each node if it keeps returning to its seeds.

    `seeds` has the weight of each node to which the walk returns. The walk also returns from a node without
    outgoing steps. The computation ends when a round changes all shares together by less than `tolerance`.
    """
    steps, stuck = graph.transitions(present)
    home = seeds / seeds.sum()
    here: Floats = home.copy()
    for _ in range(_MOST_ROUNDS):
        lost = float(here[stuck].sum())
        then: Floats = damping * (steps @ here + lost * home) + (1 - damping) * home
        if float(np.abs(then - here).sum()) < tolerance:
            return then
        here = then
    return here
