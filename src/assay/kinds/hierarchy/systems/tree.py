"""A tree over the passages of a corpus, and the summaries of its nodes: in memory, and in the cache.

Level 0 is the root, and level 1 its children. The last level holds the leaves, whose children are passages. A
node may have several parents. Every path from the root to a passage has the same length, so "level 2" means
the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
from scipy.sparse import csr_array

from assay.core.dataset import Corpus, digest
from assay.core.optional import IdentifiedPlugin
from assay.core.parts import Ints, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.core.registry import identity
from assay.retrieval.lexical import check_runs
from assay.retrieval.vectors.exact import save_array
from assay.store.disk import UNREADABLE, ArtifactCache, DamagedArtifact
from assay.systems.retrievers import WORTH_KEEPING

ROOT = "root"
_SIZES = "sizes.json"  # how many nodes each level has, from the root on, and last how many passages


@dataclass(frozen=True)
class ChildLists:
    """The children of each node of a level: `items[starts[n]:starts[n + 1]]` for node n, in rising order."""

    starts: Ints
    items: Ints

    @classmethod
    def of_lists(cls, lists: Sequence[Sequence[int] | Ints]) -> ChildLists:
        """Returns the child lists for the given children of each node."""
        parts = [np.unique(np.asarray(each, np.int64)) for each in lists]
        starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return cls(starts, np.concatenate([np.empty(0, np.int64), *parts]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, node: int) -> Ints:
        """Returns the children of one node."""
        return self.items[self.starts[node] : self.starts[node + 1]]

    def of_all(self, nodes: Sequence[int] | Ints) -> Ints:
        """Returns the children of several nodes, each child once, in rising order."""
        return np.unique(np.concatenate([np.empty(0, np.int64), *(self.of(int(node)) for node in nodes)]))

    @cached_property
    def matrix(self) -> csr_array:
        """A matrix with one row per node and one column per child: 1 if the column is a child of the row."""
        width = int(self.items.max(initial=-1)) + 1
        return csr_array((np.ones(len(self.items), np.float32), self.items, self.starts), (len(self), width))


@dataclass(frozen=True)
class Tree:
    """A tree: `below[0]` has the children of the root, and `below[level]` those of the level's nodes.

    The children of the last level are passages.
    """

    below: tuple[ChildLists, ...]

    @property
    def depth(self) -> int:
        """How many levels of nodes there are below the root."""
        return len(self.below) - 1

    def size(self, level: int) -> int:
        """Returns the number of nodes of a level: 1 for level 0."""
        return len(self.below[level])

    @cached_property
    def passages(self) -> tuple[csr_array, ...]:
        """One matrix per level from 0 on, with a row per node and a column per passage.

        An entry is 1 if the passage is below the node.
        """
        found = [self.below[-1].matrix]
        for below in reversed(self.below[:-1]):
            matrix = csr_array(below.matrix @ found[-1])
            matrix.data[:] = 1.0  # a passage may be below a node in several ways
            matrix.sort_indices()
            found.append(matrix)
        return tuple(reversed(found))

    def members(self, level: int, node: int) -> Ints:
        """Returns the passages below a node, in rising order."""
        matrix = self.passages[level]
        found: Ints = matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]].astype(np.int64)
        return found

    def siblings(self, level: int, node: int) -> Ints:
        """Returns the other children of a node's parents, in rising order."""
        above = self.below[level - 1]
        parents = np.unique(np.searchsorted(above.starts, np.flatnonzero(above.items == node), "right") - 1)
        found = above.of_all(parents)
        others: Ints = found[found != node]
        return others


def node_id(level: int, node: int) -> str:
    """Returns the name of a node in traces and structures: `root`, `L1:4`."""
    return ROOT if level == 0 else f"L{level}:{node}"


def centroids(tree: Tree, level: int, vectors: Vectors) -> Vectors:
    """Returns the direction of the mean of the passages below each node, or zeros if they cancel out."""
    return normalize_rows(tree.passages[level] @ vectors)


def save_tree(folder: Path, tree: Tree) -> None:
    """Writes a tree into a folder."""
    for level, below in enumerate(tree.below):
        save_array(folder / f"starts-{level}.npy", below.starts)
        save_array(folder / f"items-{level}.npy", below.items)
    sizes = [*map(len, tree.below), tree.below[-1].matrix.shape[1]]
    (folder / _SIZES).write_bytes(msgspec.json.encode(sizes))


def read_tree(folder: Path) -> Tree:
    """Reads the tree that a folder holds."""
    try:
        sizes = msgspec.json.decode((folder / _SIZES).read_bytes(), type=list[int])
        if len(sizes) < 2 or sizes[0] != 1:
            raise ValueError("there is not one root")
        parts = [[np.load(folder / f"{part}-{level}.npy", allow_pickle=False) for part in ("starts", "items")]
                 for level in range(len(sizes) - 1)]  # fmt: skip
        for (starts, items), (size, below) in zip(parts, pairwise(sizes), strict=True):
            check_runs(starts, items, size, below)
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error
    return Tree(tuple(ChildLists(starts, items) for starts, items in parts))


SUMMARIES = "assay.summaries"  # the group of plugins

Style = Literal["contrastive", "generic"]  # compared with its siblings, or with the whole corpus
_FILE = "summaries.json"


class QuotedSentence(NamedTuple):
    """A sentence of a passage: the passage's position in the corpus, the span in its text, and the words."""

    position: int
    start: int
    end: int
    text: str


class Summary(msgspec.Struct, frozen=True):
    """A description of the passages below one node.

    `excludes` names what lies below the node's siblings and not below the node.
    """

    theme: str
    includes: list[str] = []
    excludes: list[str] = []
    key_entities: list[str] = []
    key_terms: list[str] = []
    sentences: list[QuotedSentence] = []

    @property
    def text(self) -> str:
        """The text to embed and to search by words.

        `excludes` is left out, because a search does not understand the word "not".
        """
        named = (", ".join(each) for each in (self.includes, self.key_entities, self.key_terms))
        lines = [self.theme, *named, *(quoted.text for quoted in self.sentences)]
        return "\n".join(line for line in lines if line)


@runtime_checkable
class Summariser(Protocol):
    """Summarises the nodes of a tree: `keywords`, `written(url=…)`.

    The tree was built over `passages` and `vectors`, in this order. The summary of a node depends on the
    texts below the node, below its siblings and in the corpus. It does not depend on how nodes are numbered.
    """

    def summarise(
        self, tree: Tree, passages: Sequence[Passage], vectors: Vectors, kit: Kit
    ) -> list[list[Summary]]:
        """Returns one list per level from 1 on, with one summary per node."""
        ...


def save_summaries(folder: Path, summaries: Sequence[Sequence[Summary]]) -> None:
    """Writes the summaries of a tree into a folder."""
    (folder / _FILE).write_bytes(msgspec.json.encode(summaries))


def read_summaries(folder: Path) -> list[list[Summary]]:
    """Reads the summaries that a folder holds."""
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=list[list[Summary]])
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error


def cached_summaries(
    summariser: Summariser, tree: Tree, corpus: Corpus, vectors: Vectors, vectors_identity: str, kit: Kit
) -> list[list[Summary]]:
    """Returns the summaries by level. They are read from the cache if the same tree was summarised before."""
    if len(corpus) < WORTH_KEEPING:
        return summariser.summarise(tree, corpus.passages, vectors, kit)
    cache = ArtifactCache(kit.cache / "summaries")
    own = str(summariser.identity(kit)) if isinstance(summariser, IdentifiedPlugin) else ""
    parts = (identity(summariser), own, corpus.hash, vectors_identity)
    arrays = (part.tobytes() for below in tree.below for part in (below.starts, below.items))
    key = digest([*(part.encode() for part in parts), *arrays])
    if (known := cache.read(key, read_summaries)) is not None:
        return known
    found = summariser.summarise(tree, corpus.passages, vectors, kit)
    cache.put(key, lambda place: save_summaries(place, found))
    return found
