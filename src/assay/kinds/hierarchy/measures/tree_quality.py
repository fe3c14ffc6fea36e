"""How good a tree is: how far siblings can be told apart, what it holds, and where queries were lost.

The first two need no queries: a tree can be looked at before anybody asks it anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.records import Node, Structure
from assay.kinds.hierarchy.measures.tree import Case, Descent, PublishedTree, cases

Embed = Callable[[Sequence[str]], NDArray[np.floating]]  # texts to vectors of length 1, a row a text


@dataclass(frozen=True)
class LevelQuality:
    """The nodes of one level, seen as their parents' choices."""

    level: int
    nodes: int
    children: float  # a node, on average; those of the last level are passages
    distinctiveness: float | None  # how far siblings lie apart: 0 (alike) to 2, higher is better
    overlap: float | None  # how many of their names siblings share: 0 to 1, lower is better


def tree_quality(structure: Structure, embed: Embed) -> list[LevelQuality]:
    """Every level of a tree from the root's children down.

    Distinctiveness is the mean of 1 - cosine over all pairs of siblings, by what their `about` says; overlap
    is the mean Jaccard index of their `entities`. Both are means over the parents with at least two such
    children, and None where there is none. A node without words, or a parent none of whose children has a
    name, does not count.
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
    """The share of the passages that can be reached from the root; None where there are no passages."""
    tree = PublishedTree(structure)
    reached = [not tree.roots.isdisjoint(tree.above(doc_id)) for doc_id in tree.passages]
    return sum(reached) / len(reached) if reached else None


def _siblings(tree: PublishedTree, nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """The children of each parent that has at least two of these nodes."""
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        for parent in dict.fromkeys(tree.parents.get(node.node_id, ())):
            groups.setdefault(parent, []).append(node)
    yield from (group for group in groups.values() if len(group) > 1)


def _distances(siblings: Sequence[Sequence[Node]], embed: Embed) -> Iterator[float]:
    """The mean distance between the children of each parent; every text is embedded once."""
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
    """How often a node on the way to the evidence was expanded, and how often no such child was kept."""

    expanded: int
    lost: int

    @property
    def share(self) -> float:
        """How often the way was lost here, of how often it led here."""
        return self.lost / self.expanded


def node_errors(block: Block) -> dict[str, NodeError]:
    """The routing errors of one arm and seed by the node they happened at; correct nodes that were expanded.

    A child counts as kept where it was selected from any of its parents.
    """
    expanded, lost = dict[str, int](), dict[str, int]()
    for case in cases(block):
        if case is None or case.descent is None:
            continue
        for node_id, kept in _decisions(case, case.descent):
            expanded[node_id] = expanded.get(node_id, 0) + 1
            lost[node_id] = lost.get(node_id, 0) + (not kept)
    return {node_id: NodeError(times, lost[node_id]) for node_id, times in expanded.items()}


def _decisions(case: Case, descent: Descent) -> Iterator[tuple[str, bool]]:
    """The correct nodes that were expanded, and whether a correct child of theirs was kept."""
    for level in descent.expanded:
        correct, selected = case.correct(level), descent.selected(level)
        for parent in descent.by_parent(level):
            below = correct.intersection(case.tree.children.get(parent, ()) if parent is not None else ())
            if parent is not None and below:
                yield parent, not below.isdisjoint(selected)
