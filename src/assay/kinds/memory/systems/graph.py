"""The graph of a memory as arrays: nodes in the order of the passages, and every way to walk between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.core.records import Edge, Node, Structure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

AGAINST = 0.7  # a one-way edge that is walked against its direction keeps this part of its weight


def best(scores: Floats, number: int) -> Ints:
    """The positions of the highest scores above 0, best first; of equal ones the earlier first."""
    least = 0.0 if len(scores) <= number else float(np.partition(scores, len(scores) - number)[-number])
    found = np.flatnonzero((scores >= least) & (scores > 0))
    return found[np.lexsort((found, -scores[found]))][:number]


class UnitLink(NamedTuple):
    """A link as a pack draws it, between two positions. `rule` says why it was drawn."""

    source: int
    target: int
    kind: str
    weight: float
    both_ways: bool = False
    rule: str = ""


@dataclass(frozen=True)
class Traits:
    """What a pack knows of each node, in the order of the passages."""

    roles: Sequence[str]
    weight: Floats  # 0 to 1: how much the node matters, before any query
    striking: Bools  # risky or unusual enough to be looked at first
    bonus: Floats  # energy that its role adds when it is reached


@dataclass(frozen=True)
class MemoryGraph:
    """A graph in which every link can be walked in both directions.

    Against its direction, a link carries `AGAINST` of its weight, unless it is drawn both ways. Each
    direction is an edge. Edges are grouped by the node that they start at, then in the order of links: those
    of node i are `first[i]:first[i + 1]`.
    """

    node_ids: Sequence[str]
    traits: Traits
    links: Sequence[UnitLink]
    tensions: frozenset[str]  # the kinds of links between units that are at odds
    kinds: Sequence[str]
    first: Ints
    target: Ints
    weight: Floats
    kind: Ints  # position in `kinds`
    link: Ints  # position in `links`
    against: Bools  # whether it is walked against its direction

    @classmethod
    def of(
        cls,
        node_ids: Sequence[str],
        traits: Traits,
        links: Sequence[UnitLink],
        tensions: frozenset[str] = frozenset(),
    ) -> MemoryGraph:
        kinds = list(dict.fromkeys(link.kind for link in links))
        number = {kind: index for index, kind in enumerate(kinds)}
        source = np.array([link.source for link in links], dtype=np.int64)
        target = np.array([link.target for link in links], dtype=np.int64)
        weight = np.array([link.weight for link in links], dtype=np.float64)
        both = np.array([link.both_ways for link in links], dtype=bool)
        kind = np.array([number[link.kind] for link in links], dtype=np.int64)
        start = np.concatenate([source, target])
        number_of = np.tile(np.arange(len(links), dtype=np.int64), 2)
        order = np.lexsort((number_of, start))
        looped = np.concatenate([np.zeros(len(links), dtype=bool), source == target])
        order = order[~looped[order]]  # a loop is one edge, not two
        back = np.where(both, weight, weight * AGAINST)
        first = np.concatenate([[0], np.cumsum(np.bincount(start[order], minlength=len(node_ids)))])
        return cls(
            node_ids,
            traits,
            links,
            tensions,
            kinds,
            first.astype(np.int64),
            np.concatenate([target, source])[order],
            np.concatenate([weight, back])[order],
            np.concatenate([kind, kind])[order],
            number_of[order],
            np.concatenate([np.zeros(len(links), dtype=bool), ~both])[order],
        )

    def __len__(self) -> int:
        return len(self.node_ids)

    @cached_property
    def start(self) -> Ints:
        """The node that each edge starts at."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    @cached_property
    def kind_of_link(self) -> Ints:
        """The position in `kinds` of each link."""
        kinds = np.empty(len(self.links), dtype=np.int64)
        kinds[self.link] = self.kind
        return kinds

    @cached_property
    def tense(self) -> Bools:
        """Whether each kind is a tension."""
        return np.array([kind in self.tensions for kind in self.kinds], dtype=bool)

    @cached_property
    def every_link(self) -> Bools:
        return np.ones(len(self.links), dtype=bool)

    def edges_of(self, nodes: Ints) -> Ints:
        """The edges that start at some nodes, node by node."""
        begin, count = self.first[nodes], self.first[nodes + 1] - self.first[nodes]
        shift = np.repeat(begin - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
        edges: Ints = np.arange(int(count.sum()), dtype=np.int64) + shift
        return edges

    def transitions(self, present: Bools) -> tuple[csr_array, Bools]:
        """The probability of each step (column: from, row: to) by edge weight, and nodes without a step.

        Only links that are present count.
        """
        return self._all_transitions if present.all() else self._transitions(present)

    @cached_property
    def _all_transitions(self) -> tuple[csr_array, Bools]:
        return self._transitions(self.every_link)

    def _transitions(self, present: Bools) -> tuple[csr_array, Bools]:
        weight = np.where(present[self.link], self.weight, 0.0)
        out = np.bincount(self.start, weights=weight, minlength=len(self))
        share = np.divide(weight, out[self.start], out=np.zeros(len(weight)), where=out[self.start] > 0)
        shape = (len(self), len(self))
        return csr_array((share, (self.target, self.start)), shape=shape), out == 0

    def structure(self) -> Structure:
        """The graph as an index publishes it."""
        ids, traits = self.node_ids, self.traits
        nodes = [
            Node(node_id, role=role, doc_id=node_id, weight=weight)
            for node_id, role, weight in zip(ids, traits.roles, traits.weight.tolist(), strict=True)
        ]
        edges = [
            Edge(ids[link.source], ids[link.target], link.kind, link.weight, link.rule or None)
            for link in self.links
        ]
        return Structure(nodes, edges)
