"""A tree that takes in new passages without being built anew.

Nodes keep their numbers, new ones are appended: a trace from before and one from after speak of the same
nodes. Only leaves are added, so the nodes above them get more children; after a corpus has grown several
times over, a new tree is the better one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import Ints, Vectors
from assay.kinds.hierarchy.systems.builders import clusters, nearest
from assay.kinds.hierarchy.systems.tree import Below, Tree, centroids


def grow(tree: Tree, vectors: Vectors, most: int = 0, seed: int = 0) -> Tree:
    """A tree over the first passages, with the rest of them put below it.

    `vectors` has a row a passage, those that the tree holds first. A new one goes down from the root, at each
    node to the child whose old passages have the nearest centroid, and is put below the one leaf it comes to.
    A leaf that grew above `most` passages (0: twice the mean of the leaves) is halved until none of its parts
    is larger, as far as their vectors differ; each new part gets the parents of the leaf. The part that holds
    most of the old passages keeps its number. No passage leaves its leaf otherwise.
    """
    held = int(tree.below[-1].items.max(initial=-1)) + 1
    if len(vectors) < held:
        what = f"The tree holds {held} passages, and there are {len(vectors)} vectors"
        raise UsageError(f"{what}. Give the vectors of the old passages first, then those of the new.")
    leaves = tree.below[-1]
    if len(vectors) == held:
        return tree
    if not len(leaves):
        raise UsageError("A tree without passages cannot grow. Build one on the passages that there are.")
    limit = most or 2 * max(1, round(len(leaves.items) / len(leaves)))
    where = _down(tree, vectors, held)
    groups, parents = _filled(leaves, where, held), _parents(tree)
    above = [[int(parent) for parent in parents.of(leaf)] for leaf in range(len(leaves))]
    rng = np.random.default_rng(seed)
    for leaf in np.unique(where).tolist():
        kept, *others = _halved(groups[leaf], vectors, limit, held, rng)
        groups[leaf] = kept
        groups += others
        above += [above[leaf]] * len(others)
    lower = Below.of_lists(_turned(above, tree.size(tree.depth - 1)))
    return Tree((*tree.below[:-2], lower, Below.of_lists(groups)))


def _down(tree: Tree, vectors: Vectors, held: int) -> Ints:
    """The leaf that each new passage comes to, from the root down."""
    where = np.zeros(len(vectors) - held, np.int64)
    for level, below in enumerate(tree.below[:-1]):
        centres, before = centroids(tree, level + 1, vectors[:held]), where
        where = np.empty_like(before)
        for node in np.unique(before).tolist():
            here, children = np.flatnonzero(before == node), below.of(node)
            where[here] = children[nearest(vectors[here + held], centres[children])]
    return where


def _filled(leaves: Below, where: Ints, held: int) -> list[Ints]:
    """The passages of each leaf, old and new."""
    order = np.argsort(where, kind="stable")
    new = np.split(order + held, np.cumsum(np.bincount(where, minlength=len(leaves)))[:-1])
    return [np.concatenate([leaves.of(leaf), each]) for leaf, each in enumerate(new)]


def _halved(group: Ints, vectors: Vectors, most: int, held: int, rng: np.random.Generator) -> list[Ints]:
    """A leaf in parts of at most `most` passages, the one with most of the old ones first."""
    done: list[Ints] = []
    waiting = [group]
    while waiting:
        part = waiting.pop(0)
        halves = [part[half] for half in clusters(vectors[part], 2, rng)] if len(part) > most else [part]
        (waiting if len(halves) > 1 else done).extend(halves)  # rows all alike are not told apart
    return sorted(done, key=lambda part: (-int(np.count_nonzero(part < held)), int(part[0])))


def _parents(tree: Tree) -> Below:
    """The parents of each leaf."""
    above = tree.below[-2]
    return Below.of_lists(_turned([above.of(node) for node in range(len(above))], len(tree.below[-1])))


def _turned(lists: Sequence[Sequence[int] | Ints], width: int) -> list[list[int]]:
    """Who names each number below `width`."""
    found: list[list[int]] = [[] for _ in range(width)]
    for who, named in enumerate(lists):
        for each in named:
            found[int(each)].append(who)
    return found
