"""Spreading activation: energy passes from a seed along edges, hop by hop, until too little is left.

An edge passes on `decay` times its weight of what its node holds. Less than `threshold` is not passed. A node
that is reached holds what its strongest edge brought, plus what its role, and a tension that leads to it,
add; an edge that is walked against its direction counts only where no other leads there.
A hop is one step of array arithmetic over the edges of all nodes reached in the hop before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assay.kinds.memory.systems.graph import Bools, Floats, Ints, MemoryGraph

PASSED, WEAKER, BELOW, DISALLOWED, FULL = range(5)
STOPS = (None, "weaker_edge", "below_threshold", "disallowed_edge", "node_limit")


@dataclass(frozen=True)
class SpreadRule:
    """How energy passes."""

    hops: int = 2
    decay: float = 0.75
    threshold: float = 0.15
    limit: int = 48  # nodes that one seed may reach
    tension: float = 0.12  # what an edge between a rule and its exception adds


@dataclass(frozen=True)
class Propagations:
    """Every propagation that was tried: arrays, in order of hop, node, edge."""

    hop: Ints
    edge: Ints
    incoming: Floats
    energy: Floats
    stop: Ints  # position in STOPS

    def __len__(self) -> int:
        return len(self.edge)


@dataclass(frozen=True)
class Activation:
    """What one seed reached: energy and hop of each node, and the edge that brought it (-1: none)."""

    seed: int
    energy: Floats
    hop: Ints  # -1 where it was not reached
    edge: Ints
    attempts: Propagations
    reached: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # in order of hop

    def way_to(self, graph: MemoryGraph, node: int) -> list[int]:
        """The edges from the seed to a node."""
        way: list[int] = []
        while (edge := int(self.edge[node])) >= 0:
            way.append(edge)
            node = int(graph.start[edge])
        return way[::-1]


@dataclass(frozen=True)
class WalkableGraph:
    """A graph as one query may walk it: which links stand, which kinds are allowed, how ready nodes are."""

    graph: MemoryGraph
    standing: Bools  # by link
    allowed: Bools  # by kind
    tense: Bools  # by kind
    readiness: Floats | None = None  # by node; None: all as they are

    @property
    def usable(self) -> Bools:
        """The links that stand and are of an allowed kind."""
        return self.standing & self.allowed[self.graph.kind_of_link]

    def readiness_of(self, nodes: Ints) -> Floats | float:
        return 1.0 if self.readiness is None else self.readiness[nodes]


def spread(ground: WalkableGraph, seed: int, energy: float, rule: SpreadRule) -> Activation:
    """Spreads the energy of one seed."""
    graph, size = ground.graph, len(ground.graph)
    held, hop_of = np.zeros(size), np.full(size, -1, dtype=np.int64)
    by = np.full(size, -1, dtype=np.int64)
    held[seed], hop_of[seed] = energy, 0
    front, reached = np.array([seed], dtype=np.int64), [np.array([seed], dtype=np.int64)]
    tried: list[Propagations] = []
    for hop in range(1, rule.hops + 1):
        edges = graph.edges_of(front)
        edges = edges[ground.standing[graph.link[edges]]]
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
    return Activation(seed, held, hop_of, by, _joined(tried), np.concatenate(reached))


def _pass_on(
    ground: WalkableGraph, edges: Ints, incoming: Floats, rule: SpreadRule, room: int, hop: int
) -> Propagations:
    """One hop: what each edge passes, and what stops it."""
    graph = ground.graph
    target, kind = graph.target[edges], graph.kind[edges]
    energy = incoming * rule.decay * graph.weight[edges]
    stop = np.where(energy < rule.threshold, BELOW, PASSED)
    stop = np.where(ground.allowed[kind], stop, DISALLOWED)
    gained = energy + graph.traits.bonus[target] + rule.tension * ground.tense[kind]
    energy = np.where(stop == PASSED, np.minimum(gained * ground.readiness_of(target), 1.0), energy)

    open_ = np.flatnonzero(stop == PASSED)
    # the strongest edge to each target; one walked against its direction only where no other leads there
    keys = (open_, -energy[open_], graph.against[edges[open_]], target[open_])
    order = open_[np.lexsort(keys)]
    again = np.concatenate([[False], target[order][1:] == target[order][:-1]]) if len(order) else order < 0
    stop[order[again]] = WEAKER
    best = order[~again]
    if len(best) > room:
        strongest = best[np.lexsort((best, -energy[best]))]
        stop[strongest[max(room, 0) :]] = FULL
    return Propagations(np.full(len(edges), hop, dtype=np.int64), edges, incoming, energy, stop)


def _joined(tried: list[Propagations]) -> Propagations:
    if not tried:
        none = np.empty(0, np.int64)
        return Propagations(none, none, np.empty(0), np.empty(0), none)
    names = ("hop", "edge", "incoming", "energy", "stop")
    return Propagations(*(np.concatenate([getattr(each, name) for each in tried]) for name in names))
