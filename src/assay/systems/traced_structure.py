"""Reads the graph or tree that an engine publishes beside its answers: one line per node or edge.

    {"node": {"node_id": "msa:4", "role": "exception"}}
    {"edge": {"source": "msa:4", "target": "msa:3", "kind": "exception_to"}}

Edges may form rings, lead from a node to itself, and be parallel. Edges of the kind `child` make a tree, in
which a node may have several parents. A tree has only one root and no ring, and a passage has no children.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.core.dataset import Corpus
from assay.core.errors import DataError, Problem
from assay.core.records import Edge, Node, Structure
from assay.datasets.reading import FileRecords, FolderReader

CHILD, ENTITY = "child", "entity"  # the kind of edges in a tree; the role of nodes that are names
T = TypeVar("T")
EdgeKinds = Mapping[tuple[str, str], set[str]]  # kinds of the edges between two nodes, in either direction


class NodeLine(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A node of the structure. Unknown fields are refused."""


class EdgeLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An edge of the structure. The file must give its `kind`."""

    source: str
    target: str
    kind: str
    weight: float = 1.0
    rule: str | None = None


class StructureLine(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """One line of a structure: a node or an edge."""

    node: NodeLine | None = None
    edge: EdgeLine | None = None

    @property
    def node_id(self) -> object:
        """The value that must be unique: a node's id, or the edge object, because edges may be parallel."""
        return self if self.node is None else self.node.node_id


@dataclass(frozen=True)
class PublishedStructure:
    """The nodes and edges that an engine publishes, in the order of its file."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    edges: Sequence[Edge] = ()

    def passage_of(self, node_id: str) -> str:
        """Returns the passage of a node: the passage that it names, or the passage with its own id."""
        node = self.nodes.get(node_id)
        return node_id if node is None or node.doc_id is None else node.doc_id

    @cached_property
    def walked(self) -> EdgeKinds:
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

    @cached_property
    def children(self) -> Mapping[str, set[str]]:
        """The children of each node that has children."""
        found: dict[str, set[str]] = defaultdict(set)
        for edge in self.edges:
            if edge.kind == CHILD:
                found[edge.source].add(edge.target)
        return dict(found)

    @cached_property
    def below(self) -> Set[str]:
        """The nodes that are below another node."""
        return set[str]().union(*self.children.values())

    def linked(self, source: str, target: str, kind: str | None) -> bool:
        """Whether an edge joins two passages or nodes, directly or through one entity.

        The edge must have the kind `kind`. If `kind` is None, it may have any kind except `child`.
        """
        starts, ends = self._nodes_of(source), self._nodes_of(target)
        near = set[str]().union(*(self._neighbours.get(start, ()) for start in starts))
        names = (each for each in near if self.nodes[each].role == ENTITY)
        for before, after in product([*starts, *names], ends):
            found = self.walked.get(ends_of(before, after), set()) - {CHILD}
            if kind in found or (kind is None and found):
                return True
        return False

    def _nodes_of(self, named: str) -> list[str]:
        """Returns the given id, and the ids of the nodes of the passage with this id."""
        return [named, *self._nodes_by_passage.get(named, ())]

    @cached_property
    def _nodes_by_passage(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for node_id, node in self.nodes.items():
            if node.doc_id is not None and node.doc_id != node_id:
                found[node.doc_id].append(node_id)
        return dict(found)

    def within(self, corpus: Corpus) -> Structure:
        """Returns the part over some passages: their nodes, and connected nodes that have no passage.

        A node with the id of a passage is published as a node of that passage.
        """
        inside = {node_id for node_id in self.nodes if self.passage_of(node_id) in corpus.position}
        waiting = list(inside)
        while waiting:
            for other in self._neighbours.get(waiting.pop(), ()):
                if other not in inside and self.nodes[other].doc_id is None:
                    inside.add(other)
                    waiting.append(other)
        edges = [edge for edge in self.edges if edge.source in inside and edge.target in inside]
        nodes = [_published(node, corpus) for node_id, node in self.nodes.items() if node_id in inside]
        return Structure(nodes, edges)


def _published(node: Node, corpus: Corpus) -> Node:
    known = node.doc_id is not None or node.node_id not in corpus.position
    return node if known else msgspec.structs.replace(node, doc_id=node.node_id)


def _structure_line(raw: bytes) -> StructureLine:
    line = decode_line(raw, StructureLine)
    if (line.node is None) == (line.edge is None):
        raise DataError(Problem("a line is a node or an edge", fix='Write {"node": …} or {"edge": …}.'))
    return line


def read_structure(reader: FolderReader, path: Path | None) -> tuple[PublishedStructure, Mapping[str, int]]:
    """Reads the graph in a file, and the line of each node. An edge to a missing node is a problem."""
    rows = reader.jsonl(path, _structure_line, "node_id")
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
    published = PublishedStructure(nodes, edges)
    if published.children:
        reader.problems += _nesting_problems(rows, published, lines)
    for node_id in _ringed(published):
        what, fix = f"{node_id!r} lies below itself", "Turn an edge of kind child round, or take it out."
        reader.problems.append(Problem(what, rows.where, lines.get(node_id), "node", fix))
    return published, lines


def _nesting_problems(
    rows: FileRecords[StructureLine], published: PublishedStructure, lines: Mapping[str, int]
) -> Iterator[Problem]:
    """Yields what a tree cannot have: several roots, repeated edges, passages with children, wrong levels."""
    roots = [node_id for node_id, node in published.nodes.items() if node.level == 0]
    for other in roots[1:]:
        what = f"{other!r} has level 0, and so has {roots[0]!r} on line {lines[roots[0]]}"
        fix = "Put both below one root. Where every scope has a tree of its own, leave the roots' level out."
        yield Problem(what, rows.where, lines[other], "node.level", fix)
    first: dict[object, int] = {}
    for line, each in rows:
        if (edge := each.edge) is None:
            continue
        # parallel links of one kind must differ in weight or rule; a child edge occurs once
        same = (edge.source, edge.target) if edge.kind == CHILD else edge
        if (earlier := first.setdefault(same, line)) != line:
            what = f"the edge from {edge.source!r} to {edge.target!r} stands on line {earlier} already"
            yield Problem(what, rows.where, line, "edge", "Take one of the two out.")
        if edge.kind == CHILD:
            yield from _uneven(edge, published.nodes, rows.where, line)
            if (parent := published.nodes.get(edge.source)) is not None and parent.doc_id is not None:
                what = f"{edge.source!r} is a passage, and has a child"
                fix = "Put the child below a node without doc_id, or take the edge out."
                yield Problem(what, rows.where, line, "edge.source", fix)


def _uneven(edge: EdgeLine, nodes: Mapping[str, Node], where: str, line: int) -> Iterator[Problem]:
    """Yields a child whose level is not its parent's level plus 1, if both have a level."""
    above, below = (nodes[each].level if each in nodes else None for each in (edge.source, edge.target))
    if above is not None and below is not None and below != above + 1:
        what = f"a child of level {below} below {edge.source!r}, which has level {above}"
        fix = f"Give {edge.target!r} the level {above + 1}, or take the edge out."
        yield Problem(what, where, line, "edge", fix)


def _ringed(published: PublishedStructure) -> Iterator[str]:
    """Yields a node on a ring of `child` edges, if there is a ring: no way up from this node would end."""
    try:
        TopologicalSorter(published.children).prepare()
    except CycleError as error:
        yield error.args[1][0]


def ends_of(one: str, other: str) -> tuple[str, str]:
    """Returns two nodes in a fixed order, for edges that are compared without their direction."""
    return (one, other) if one <= other else (other, one)


def decode_line(raw: bytes, kind: type[T]) -> T:
    """Decodes a line of JSON. If a number is not finite, the error names this number."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        # Python's own writer writes NaN and Infinity for such scores, which are not JSON
        seen: list[str] = []
        try:
            json.loads(raw, parse_constant=seen.append)
        except (ValueError, RecursionError):
            raise error from None
        if not seen:
            raise
        fix = "Write a finite number, or leave the field out."
        raise DataError(Problem(f"{seen[0]} is not a finite number", fix=fix)) from None
