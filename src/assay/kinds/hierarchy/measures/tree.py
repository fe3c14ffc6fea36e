"""A published tree, the way down it that a trace reports, and the place of an item's evidence in the tree.

Edges of the kind "child" make the tree, and every other edge is a cross-link. The root has level 0, and its
children have level 1. Passages state no level, and may have several parents. `assay.datasets.evidence`
describes an item's evidence. Of each unit, this module reads the passages that hold it, including `also`. A
node is correct for an item if it lies on any path, over all parents, to one of these passages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.errors import DataError, Problem, UsageError, decoding_problem
from assay.core.records import Item, Node, Response, Step, Structure

CHILD = "child"  # the kind of the edges that make the tree
ENTITY = "entity"  # the role of a name that links go over
ROUTE, LINK, VISITED = "route", "link", "visited"  # kinds of steps
PASSAGES = "passages"  # what a step calls the level below the leaves
_HELD = "tree_cases"
_LEVEL = re.compile(r"L([1-9][0-9]{0,3})")


def level_number(cutoff: str, family: str) -> int:
    """Returns the number of the level that a measure reads: 1 for the cut-off "L1"."""
    if (found := _LEVEL.fullmatch(cutoff)) is None:
        raise UsageError(f"{family}: {cutoff!r} is not a level. Write {family}@L1, {family}@L2 and so on.")
    return int(found[1])


# ------------------------------------------------------------------------------------- the tree


@dataclass(frozen=True)
class PublishedTree:
    """A published structure whose nodes can be looked up by id and by passage."""

    structure: Structure

    @cached_property
    def level(self) -> dict[str, int]:
        """The level of every node that states a level."""
        return {node.node_id: node.level for node in self.structure.nodes if node.level is not None}

    @cached_property
    def depth(self) -> int:
        """The number of the deepest level, or 0 if no node states a level."""
        return max(self.level.values(), default=0)

    @cached_property
    def order(self) -> dict[str, int]:
        """The position of each node in the structure."""
        return {node.node_id: place for place, node in enumerate(self.structure.nodes)}

    @cached_property
    def passages(self) -> dict[str, list[str]]:
        """The nodes that stand for each passage, by the id of the passage."""
        found: dict[str, list[str]] = {}
        for node in self.structure.nodes:
            if node.doc_id is not None:
                found.setdefault(node.doc_id, []).append(node.node_id)
        return found

    @cached_property
    def parents(self) -> dict[str, list[str]]:
        """The parents of each node that has a parent."""
        return _group_pairs((edge.target, edge.source) for edge in self.structure.edges if edge.kind == CHILD)

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """The children of each node that has a child."""
        return _group_pairs((edge.source, edge.target) for edge in self.structure.edges if edge.kind == CHILD)

    @cached_property
    def roots(self) -> frozenset[str]:
        """The nodes of level 0. If no node has level 0, the nodes that have children and no parent."""
        stated = frozenset(node_id for node_id, level in self.level.items() if level == 0)
        return stated or frozenset(self.children.keys() - self.parents.keys())

    def above(self, doc_id: str) -> frozenset[str]:
        """Returns every node on any path to a passage, including the nodes that stand for the passage."""
        if doc_id not in self._above:
            found = dict.fromkeys(self.passages.get(doc_id, ()))
            left = list(found)
            while left:
                new = [each for each in self.parents.get(left.pop(), ()) if each not in found]
                found.update(dict.fromkeys(new))
                left.extend(new)
            self._above[doc_id] = frozenset(found)
        return self._above[doc_id]

    @cached_property
    def _above(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def sizes(self) -> Counter[int]:
        """How many nodes each level has. Passages do not count."""
        return Counter(level for node_id, level in self.level.items() if node_id not in self.passage_nodes)

    def linked_from(self, node_id: str) -> set[str]:
        """Returns the nodes from which one cross-link leads to a node. A name between them is not a hop."""
        near = set(self._links.get(node_id, ()))
        found = (near - self._names).union(*(self._links.get(name, ()) for name in near & self._names))
        return found - {node_id}  # a passage that bears its own name is not a link to itself

    @cached_property
    def _links(self) -> dict[str, list[str]]:
        return _group_pairs((edge.target, edge.source) for edge in self.structure.edges if edge.kind != CHILD)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(node.node_id for node in self.structure.nodes if node.role == ENTITY)

    @cached_property
    def passage_nodes(self) -> frozenset[str]:
        """Every node that stands for a passage."""
        return frozenset(node_id for nodes in self.passages.values() for node_id in nodes)


def _group_pairs(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


# ------------------------------------------------------------------------------------- the way down


@dataclass(frozen=True)
class Descent:
    """The routing steps of one response, by level and by the expanded node above the candidates."""

    expanded: Mapping[int, Mapping[str | None, Sequence[Step]]]

    @classmethod
    def of(cls, response: Response) -> Descent | None:
        """Returns the descent of a response, or None if its trace has no routing step."""
        found: dict[int, dict[str | None, list[Step]]] = {}
        for step in response.trace:
            if step.kind == ROUTE:
                found.setdefault(step.depth, {}).setdefault(step.source, []).append(step)
        return cls(found) if found else None

    def by_parent(self, level: int) -> Mapping[str | None, Sequence[Step]]:
        """Returns the candidates of a level, grouped by the expanded node whose children they are."""
        return self.expanded.get(level, {})

    def candidates(self, level: int) -> list[Step]:
        """Returns every candidate of a level, once for each of its expanded parents."""
        return [step for steps in self.by_parent(level).values() for step in steps]

    def selected(self, level: int) -> frozenset[str]:
        """Returns the nodes of a level that were kept as a child of any of their parents."""
        return self._selected.get(level, frozenset())

    @cached_property
    def _selected(self) -> dict[int, frozenset[str]]:
        return {
            level: frozenset(step.target for step in self.candidates(level) if step.selected)
            for level in self.expanded
        }

    @cached_property
    def visited(self) -> frozenset[str]:
        """The nodes of all levels that were kept."""
        return frozenset[str]().union(*self._selected.values())


# -------------------------------------------------------------------------------------- an item in it


@dataclass(frozen=True)
class RoutedItem:
    """One item: the passages of each unit of its evidence, the tree, and the way down in the trace."""

    units: Sequence[frozenset[str]]
    tree: PublishedTree
    descent: Descent | None  # None: the item was not routed, or not asked

    @cached_property
    def doc_ids(self) -> frozenset[str]:
        """Every passage that holds a part of the evidence."""
        return frozenset[str]().union(*self.units)

    def correct(self, level: int) -> frozenset[str]:
        """Returns the nodes of a level that lie on any path to the evidence."""
        return self._correct.get(level, frozenset())

    @cached_property
    def _correct(self) -> dict[int, frozenset[str]]:
        nodes = frozenset[str]().union(*map(self.tree.above, self.doc_ids))
        found: dict[int, set[str]] = {}
        for node_id in nodes & self.tree.level.keys():
            found.setdefault(self.tree.level[node_id], set()).add(node_id)
        return {level: frozenset(each) for level, each in found.items()}

    def ways(self, level: int) -> list[frozenset[str]]:
        """Returns, for each unit, the nodes of a level that lead to it: none if the tree does not hold it.

        Units that the root reaches without passing this level, as in trees of uneven depth, are left out.
        """
        found = []
        for unit in self.units:
            above = frozenset[str]().union(*map(self.tree.above, unit))
            here = above & self.correct(level)
            if here or above.isdisjoint(self.tree.roots):
                found.append(here)
        return found


class _EvidencePassage(msgspec.Struct, frozen=True):
    """The passage that holds a unit of evidence, and the other places that say the same."""

    doc_id: str
    also: list[_EvidencePassage] = []


def routed_items(block: Block) -> list[RoutedItem | None]:
    """Returns each item with its tree. The list is computed once per block.

    An entry is None if the item has no evidence, or if the tree holds no passage of its evidence.
    """
    held = vars(block)  # a block keeps here what is computed once
    if _HELD not in held:
        held[_HELD] = _build_routed_items(block)
    found: list[RoutedItem | None] = held[_HELD]
    return found


def _build_routed_items(block: Block) -> list[RoutedItem | None]:
    trees: dict[int, PublishedTree] = {}
    standing = _group_pairs((unit, doc_id) for doc_id, units in block.corpus.units.items() for unit in units)
    found: list[RoutedItem | None] = []
    for item, units, response in zip(block.items, _evidence_units(block.items), block.responses, strict=True):
        structure = block.structure_of(item) if units else None
        if structure is None:
            found.append(None)
            continue
        tree = trees.setdefault(id(structure), PublishedTree(structure))
        case = RoutedItem(
            [frozenset(one for doc_id in unit for one in standing.get(doc_id, [doc_id])) for unit in units],
            tree,
            None if response is None else Descent.of(response),
        )
        found.append(None if case.doc_ids.isdisjoint(tree.passages) else case)
    return found


def _evidence_units(items: Sequence[Item]) -> list[list[frozenset[str]]]:
    """Returns the passages of each unit of each item. One error reports all gold that cannot be read."""
    found, problems = list[list[frozenset[str]]](), list[Problem]()
    for item in items:
        try:
            units = msgspec.convert(item.gold.get("evidence") or [], list[_EvidencePassage])
        except msgspec.ValidationError as error:
            problems.append(decoding_problem(error, f"item {item.item_id!r}, gold evidence"))
            continue
        found.append([frozenset(place.doc_id for place in (unit, *unit.also)) for unit in units])
    if problems:
        raise DataError(problems)
    return found


Embed = Callable[[Sequence[str]], NDArray[np.floating]]  # texts to vectors of length 1, one row per text


@dataclass(frozen=True)
class LevelQuality:
    """The quality of one level: how different its nodes are from their siblings."""

    level: int
    nodes: int
    children: float  # the mean per node; the children of the last level are passages
    distinctiveness: float | None  # how far siblings lie apart: 0 (alike) to 2, higher is better
    overlap: float | None  # how many of their names siblings share: 0 to 1, lower is better


def tree_quality(structure: Structure, embed: Embed) -> list[LevelQuality]:
    """Returns the quality of every level of a tree, from the root's children down. It needs no queries.

    Distinctiveness is the mean of 1 - cosine over all pairs of siblings, by their `about`. Overlap is the
    mean Jaccard index of the siblings' `entities`. Both are means over the parents with at least two such
    children, and None if there is none. Nodes without words do not count for distinctiveness. Parents whose
    children have no names do not count for overlap.
    """
    tree = PublishedTree(structure)
    found = []
    for level in range(1, tree.depth + 1):
        here = [node for node in structure.nodes if node.level == level]
        siblings = list(_siblings(tree, here))
        found.append(
            LevelQuality(
                level,
                len(here),
                sum(len(tree.children.get(node.node_id, ())) for node in here) / max(len(here), 1),
                _mean(_distances(siblings, embed)),
                _mean(map(_overlap, (group for group in siblings if any(node.entities for node in group)))),
            )
        )
    return found


def coverage(structure: Structure) -> float | None:
    """Returns the share of the passages that the root reaches, or None if there are no passages."""
    tree = PublishedTree(structure)
    reached = [not tree.roots.isdisjoint(tree.above(doc_id)) for doc_id in tree.passages]
    return sum(reached) / len(reached) if reached else None


def _siblings(tree: PublishedTree, nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """Yields, for each parent, its children among these nodes, if there are at least two."""
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        for parent in dict.fromkeys(tree.parents.get(node.node_id, ())):
            groups.setdefault(parent, []).append(node)
    yield from (group for group in groups.values() if len(group) > 1)


def _distances(siblings: Sequence[Sequence[Node]], embed: Embed) -> Iterator[float]:
    """Yields the mean distance between the children of each parent. Every text is embedded once."""
    said = [[node.about for node in group if node.about] for group in siblings]
    texts = list(dict.fromkeys(text for group in said for text in group))
    if not texts:
        return
    place = {text: row for row, text in enumerate(texts)}
    vectors = np.asarray(embed(texts), dtype=np.float64)
    for group in said:
        if (n := len(group)) > 1:
            own = vectors[[place[text] for text in group]]
            yield 1 - float((own @ own.T)[np.triu_indices(n, 1)].mean())


def _overlap(group: Sequence[Node]) -> float:
    names = [frozenset(node.entities) for node in group]
    shares = [len(a & b) / len(a | b) if a or b else 0.0 for a, b in combinations(names, 2)]
    return sum(shares) / len(shares)


def _mean(values: Iterator[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


# ---------------------------------------------------------------------------- where queries were lost


@dataclass(frozen=True)
class NodeError:
    """How often a node on the way to the evidence was expanded, and how often no correct child was kept."""

    expanded: int
    lost: int

    @property
    def share(self) -> float:
        """The share of the expansions of this node at which the way to the evidence was lost."""
        return self.lost / self.expanded


def node_errors(block: Block) -> dict[str, NodeError]:
    """Returns the routing errors of one arm and seed for each correct node that was expanded.

    A child counts as kept if it was selected as a child of any of its parents.
    """
    expanded, lost = dict[str, int](), dict[str, int]()
    for case in routed_items(block):
        if case is None or case.descent is None:
            continue
        for node_id, kept in _expansions(case, case.descent):
            expanded[node_id] = expanded.get(node_id, 0) + 1
            lost[node_id] = lost.get(node_id, 0) + (not kept)
    return {node_id: NodeError(times, lost[node_id]) for node_id, times in expanded.items()}


def _expansions(case: RoutedItem, descent: Descent) -> Iterator[tuple[str, bool]]:
    """Yields each correct node that was expanded, and whether a correct child of the node was kept."""
    for level in descent.expanded:
        correct, selected = case.correct(level), descent.selected(level)
        for parent in descent.by_parent(level):
            below = correct.intersection(case.tree.children.get(parent, ()) if parent is not None else ())
            if parent is not None and below:
                yield parent, not below.isdisjoint(selected)
