"""A tree over the passages of a corpus: numbered nodes in levels, any of which may have several parents.

Level 0 is the root, level 1 its children, and the last level holds the leaves, whose children are passages.
Every path from the root to a passage has the same length, so that "level 2" means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
from scipy.sparse import csr_array

from assay.core.parts import Ints, Vectors, normalize_rows
from assay.retrieval.lexical import check_runs
from assay.retrieval.vectors.exact import save_array
from assay.store.disk import UNREADABLE, DamagedArtifact

ROOT = "root"
_SIZES = "sizes.json"  # how many nodes each level has, from the root on, and last how many passages


@dataclass(frozen=True)
class ChildLists:
    """What lies directly below each node of a level: `items[starts[n]:starts[n + 1]]` for node n, rising."""

    starts: Ints
    items: Ints

    @classmethod
    def of_lists(cls, lists: Sequence[Sequence[int] | Ints]) -> ChildLists:
        """From the children of each node."""
        parts = [np.unique(np.asarray(each, np.int64)) for each in lists]
        starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return cls(starts, np.concatenate([np.empty(0, np.int64), *parts]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, node: int) -> Ints:
        """The children of one node."""
        return self.items[self.starts[node] : self.starts[node + 1]]

    def of_all(self, nodes: Sequence[int] | Ints) -> Ints:
        """The children of several nodes, each once, rising."""
        return np.unique(np.concatenate([np.empty(0, np.int64), *(self.of(int(node)) for node in nodes)]))

    @cached_property
    def matrix(self) -> csr_array:
        """A row a node, a column a child, 1 where it is one."""
        width = int(self.items.max(initial=-1)) + 1
        return csr_array((np.ones(len(self.items), np.float32), self.items, self.starts), (len(self), width))


@dataclass(frozen=True)
class Tree:
    """`below[0]` is the root's children, `below[level]` those of a level's nodes; the last are passages."""

    below: tuple[ChildLists, ...]

    @property
    def depth(self) -> int:
        """How many levels of nodes there are below the root."""
        return len(self.below) - 1

    def size(self, level: int) -> int:
        """How many nodes a level has; the root is alone."""
        return len(self.below[level])

    @cached_property
    def passages(self) -> tuple[csr_array, ...]:
        """For each level from 0 on: a row a node, a column a passage, 1 where the passage is below it."""
        found = [self.below[-1].matrix]
        for below in reversed(self.below[:-1]):
            matrix = csr_array(below.matrix @ found[-1])
            matrix.data[:] = 1.0  # a passage may be below a node in several ways
            matrix.sort_indices()
            found.append(matrix)
        return tuple(reversed(found))

    def members(self, level: int, node: int) -> Ints:
        """The passages below a node, rising."""
        matrix = self.passages[level]
        found: Ints = matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]].astype(np.int64)
        return found

    def siblings(self, level: int, node: int) -> Ints:
        """The other children of a node's parents, rising."""
        above = self.below[level - 1]
        parents = np.unique(np.searchsorted(above.starts, np.flatnonzero(above.items == node), "right") - 1)
        found = above.of_all(parents)
        others: Ints = found[found != node]
        return others


def node_id(level: int, node: int) -> str:
    """How traces and structures call a node: `root`, `L1:4`."""
    return ROOT if level == 0 else f"L{level}:{node}"


def centroids(tree: Tree, level: int, vectors: Vectors) -> Vectors:
    """The direction of the mean of the passages below each node of a level; zeros where they cancel out."""
    return normalize_rows(tree.passages[level] @ vectors)


def save_tree(folder: Path, tree: Tree) -> None:
    """Writes a tree into a folder."""
    for level, below in enumerate(tree.below):
        save_array(folder / f"starts-{level}.npy", below.starts)
        save_array(folder / f"items-{level}.npy", below.items)
    sizes = [*map(len, tree.below), tree.below[-1].matrix.shape[1]]
    (folder / _SIZES).write_bytes(msgspec.json.encode(sizes))


def read_tree(folder: Path) -> Tree:
    """The tree that a folder holds."""
    try:
        sizes = msgspec.json.decode((folder / _SIZES).read_bytes(), type=list[int])
        if len(sizes) < 2 or sizes[0] != 1:
            raise ValueError("the root is not alone")
        parts = [[np.load(folder / f"{part}-{level}.npy", allow_pickle=False) for part in ("starts", "items")]
                 for level in range(len(sizes) - 1)]  # fmt: skip
        for (starts, items), (size, below) in zip(parts, pairwise(sizes), strict=True):
            check_runs(starts, items, size, below)
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error
    return Tree(tuple(ChildLists(starts, items) for starts, items in parts))
