"""The graph of a memory as arrays: nodes in the order of the passages, and every edge between them."""

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

AGAINST = 0.7  # a one-way link that is walked against its direction keeps this part of its weight


def best(scores: Floats, number: int) -> Ints:
    """Returns the positions of the highest scores above 0, best first; of equal ones, the earlier first."""
    least = 0.0 if len(scores) <= number else float(np.partition(scores, len(scores) - number)[-number])
    found = np.flatnonzero((scores >= least) & (scores > 0))
    return found[np.lexsort((found, -scores[found]))][:number]


class UnitLink(NamedTuple):
    """A link that a pack draws between two positions. `rule` says why it was drawn."""

    source: int
    target: int
    kind: str
    weight: float
    both_ways: bool = False
    rule: str = ""


@dataclass(frozen=True)
class Traits:
    """The roles, weights and other traits that a pack gives to nodes, in the order of the passages."""

    roles: Sequence[str]
    weight: Floats  # 0 to 1: how much the node matters, before any query
    striking: Bools  # whether the node is risky or unusual enough to score more
    bonus: Floats  # the energy that the node's role adds when a spread reaches the node


@dataclass(frozen=True)
class MemoryGraph:
    """A graph in which every link can be walked in both directions.

    Each direction of a link is an edge. The edge against the direction of the link has `AGAINST` times the
    weight, unless the link is drawn both ways. Edges are sorted by the node at which they start, then by the
    order of links. The edges of node i are `first[i]:first[i + 1]`.
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
    against: Bools  # whether the edge walks its link against its direction

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
        """The node at which each edge starts."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    @cached_property
    def kind_of_link(self) -> Ints:
        """The kind of each link, as a position in `kinds`."""
        kinds = np.empty(len(self.links), dtype=np.int64)
        kinds[self.link] = self.kind
        return kinds

    @cached_property
    def tense(self) -> Bools:
        """Whether each kind of link is a tension."""
        return np.array([kind in self.tensions for kind in self.kinds], dtype=bool)

    @cached_property
    def every_link(self) -> Bools:
        return np.ones(len(self.links), dtype=bool)

    def edges_of(self, nodes: Ints) -> Ints:
        """Returns the edges that start at the given nodes, node by node."""
        begin, count = self.first[nodes], self.first[nodes + 1] - self.first[nodes]
        shift = np.repeat(begin - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
        edges: Ints = np.arange(int(count.sum()), dtype=np.int64) + shift
        return edges

    def transitions(self, present: Bools) -> tuple[csr_array, Bools]:
        """Returns the probability of each step, in proportion to edge weights, and the nodes without a step.

        In the matrix, a column is the node before the step, and a row the node after it. Only present links
        count.
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
        """Returns the graph in the form that an index publishes."""
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
