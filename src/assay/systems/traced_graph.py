"""The graph that an engine publishes beside its answers: one line a node or an edge.

    {"node": {"node_id": "msa:4", "role": "exception"}}
    {"edge": {"source": "msa:4", "target": "msa:3", "kind": "exception_to"}}

Edges may form rings, lead from a node to itself, and stand side by side.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.datasets.dataset import Corpus
from assay.datasets.reading import Reader
from assay.errors import DataError, Problem
from assay.records import Edge, Node, Structure

T = TypeVar("T")
Walked = Mapping[tuple[str, str], set[str]]  # the kinds of the edges between two nodes, either way round


class GraphNode(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A node of the graph, read strictly."""


class GraphEdge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An edge of the graph. Its kind has to be said."""

    source: str
    target: str
    kind: str
    weight: float = 1.0
    rule: str | None = None


class GraphLine(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """One line of a graph: a node or an edge."""

    node: GraphNode | None = None
    edge: GraphEdge | None = None

    @property
    def node_id(self) -> object:
        """What must be unique: the id of a node. Edges may stand side by side, and are equal to no other."""
        return self if self.node is None else self.node.node_id


@dataclass(frozen=True)
class Graph:
    """The nodes and edges that an engine publishes, in the order of its file."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Sequence[Edge] = ()

    def passage_of(self, node_id: str) -> str:
        """The passage that a node stands for: the one it names, or the one of its own id."""
        node = self.nodes.get(node_id)
        return node_id if node is None or node.doc_id is None else node.doc_id

    @cached_property
    def walked(self) -> Walked:
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for edge in self.edges:
            found[ends_of(edge.source, edge.target)].add(edge.kind)
        return dict(found)

    @cached_property
    def _neighbours(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for edge in self.edges:
            found[edge.source].add(edge.target)
            found[edge.target].add(edge.source)
        return dict(found)

    def within(self, corpus: Corpus) -> Structure:
        """The part over some passages: their nodes, and those of no passage that lead on from them."""
        inside = {node_id for node_id in self.nodes if self.passage_of(node_id) in corpus.position}
        waiting = list(inside)
        while waiting:
            for other in self._neighbours.get(waiting.pop(), ()):
                if other not in inside and self.nodes[other].doc_id is None:
                    inside.add(other)
                    waiting.append(other)
        edges = [edge for edge in self.edges if edge.source in inside and edge.target in inside]
        return Structure([node for node_id, node in self.nodes.items() if node_id in inside], edges)


def _graph_line(raw: bytes) -> GraphLine:
    line = decoded(raw, GraphLine)
    if (line.node is None) == (line.edge is None):
        raise DataError(Problem("a line is a node or an edge", fix='Write {"node": …} or {"edge": …}.'))
    return line


def read_graph(reader: Reader, path: Path | None) -> tuple[Graph, Mapping[str, int]]:
    """The graph in a file, and the line of each node. An edge to a node that it lacks is a problem."""
    rows = reader.jsonl(path, _graph_line, "node_id")
    lines: dict[str, int] = {}
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for line, each in rows:
        if each.node is not None:
            lines.setdefault(each.node.node_id, line)
            nodes.setdefault(each.node.node_id, each.node)
    for line, each in rows:
        if (edge := each.edge) is None:
            continue
        ends = {"source": edge.source, "target": edge.target}
        for name in (name for name, node_id in ends.items() if node_id not in nodes):
            what, fix = f"there is no node {ends[name]!r}", "Add a line for the node, or take the edge out."
            reader.problems.append(Problem(what, rows.where, line, f"edge.{name}", fix))
        edges.append(Edge(edge.source, edge.target, edge.kind, edge.weight, edge.rule))
    return Graph(nodes, edges), lines


def ends_of(one: str, other: str) -> tuple[str, str]:
    """Two nodes in one order, whichever way an edge between them points."""
    return (one, other) if one <= other else (other, one)


def decoded(raw: bytes, kind: type[T]) -> T:
    """A line of JSON as a record; a number that is not finite is told as that."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        # Python's own writer puts NaN and Infinity, which are not JSON, where a score is no number.
        seen: list[str] = []
        try:
            json.loads(raw, parse_constant=seen.append)
        except (ValueError, RecursionError):
            raise error from None
        if not seen:
            raise
        fix = "Write a finite number, or leave the field out."
        raise DataError(Problem(f"{seen[0]} is no finite number", fix=fix)) from None
