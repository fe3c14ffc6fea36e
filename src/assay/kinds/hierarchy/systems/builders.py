"""Trees that cluster vectors from the root down, can grow by new passages, and are kept in the cache.

The same vectors and seed give the same tree with any number of threads. Products are computed in float32, but
choices between values that are too close are made in float64.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.sparse import csr_array

from assay.core.dataset import Corpus, digest
from assay.core.errors import UsageError
from assay.core.parts import Ints, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.registry import identity
from assay.kinds.hierarchy.systems.tree import ChildLists, Tree, centroids, read_tree, save_tree
from assay.store.disk import ArtifactCache
from assay.systems.retrievers import WORTH_KEEPING

FIRST_ADDRESS = "assay.systems.hierarchy.builders"

TREES = "assay.trees"  # the group of plugins


_ROUNDS = 20  # k-means moves little after a dozen
_SEEDED_FROM = 20_000  # rows that first centres are drawn from
_CELLS = 8_000_000  # similarities at once: 32 MB in float32
_DIGITS = 9  # of a cosine in float64, so that ties are the same on every machine


@runtime_checkable
class Builder(Protocol):
    """Builds a tree over passages: `kmeans(depth=3)`, `bisecting`, `gmm`.

    `vectors` has one row of length 1 per passage. A row of zeros gets a place too. The same vectors and seed
    give the same tree.
    """

    def build(self, vectors: Vectors, seed: int) -> Tree: ...


@dataclass(frozen=True)
class TreeShape:
    """The depth and the width of a tree.

    `depth` counts the levels of nodes below the root. `branching` gives the number of children for each
    level, from the root down. Without `branching`, all nodes get the same number of children, except those
    just above the leaves. They get about one leaf per `leaf` passages.
    """

    depth: int = 2
    leaf: int = 20
    branching: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("depth", "leaf"):
            if (count := getattr(self, name)) < 1:
                raise UsageError(f"{name} is {count}. It must be at least 1.")
        if self.branching and (len(self.branching) != self.depth or min(self.branching) < 1):
            what = f"branching is {list(self.branching)} for a depth of {self.depth}"
            raise UsageError(f"{what}. Give a number from 1 up for each level, or none.")

    def equal(self, passages: int) -> int:
        """Returns the branching that gives leaves of the wanted size if every level has it."""
        return math.ceil(round(math.pow(max(passages / self.leaf, 1.0), 1 / self.depth), 9))

    def children(self, level: int, members: int, passages: int) -> int:
        """Returns into how many parts a node of a level (0: the root) with `members` passages is divided."""
        if self.branching:
            return min(self.branching[level], members)
        leaves = max(1, round(members / self.leaf))
        return leaves if level == self.depth - 1 else min(self.equal(passages), leaves)


@dataclass(frozen=True)
class _TopDownBuilder(TreeShape, ABC):
    """Divides the root, then each of its parts, and so on. Every path has the same length.

    A node that is too small to be divided has one child. With `parents` above 1, a passage is also put below
    other leaves of the tree, so that it is below at most `parents` leaves. Its cosine with the centroid of
    such a leaf may be at most `within` below its highest cosine.
    """

    parents: int = 1
    within: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.parents < 1:
            raise UsageError(f"parents is {self.parents}. It must be at least 1: every passage has a leaf.")
        if not self.within >= 0.0:
            raise UsageError(f"within is {self.within}. Give a difference of cosines of 0 or more.")

    @abstractmethod
    def divide(self, rows: Vectors, count: int, rng: np.random.Generator) -> list[Ints]:
        """Divides the rows into at most `count` groups, none of them empty. Each row is in one group."""

    def build(self, vectors: Vectors, seed: int) -> Tree:
        rng, below = np.random.default_rng(seed), []
        groups = [np.arange(len(vectors))] if len(vectors) else []
        for level in range(self.depth):
            counts = [self.children(level, len(group), len(vectors)) for group in groups]
            parts = [self._parts(vectors, *each, rng) for each in zip(groups, counts, strict=True)]
            below.append(number_children(parts) if parts else ChildLists.of_lists([[]] if level == 0 else []))
            groups = [part for each in parts for part in each]
        tree = Tree((*below, ChildLists.of_lists(groups)))
        return _add_parents(tree, vectors, self.parents, self.within) if self.parents > 1 else tree

    def _parts(self, vectors: Vectors, group: Ints, count: int, rng: np.random.Generator) -> list[Ints]:
        if count == 1:
            return [group]
        return [group[part] for part in self.divide(vectors[group], count, rng)]


@dataclass(frozen=True)
class KMeans(_TopDownBuilder):
    """Divides the passages of each node by spherical k-means (Dhillon and Modha, Machine Learning 2001)."""

    version: ClassVar[str] = "1"

    def divide(self, rows: Vectors, count: int, rng: np.random.Generator) -> list[Ints]:
        return spherical_kmeans(rows, count, rng)


@dataclass(frozen=True)
class BisectingKMeans(_TopDownBuilder):
    """Halves the largest part of a node until the node has the wanted number of parts.

    Steinbach, Karypis and Kumar, KDD workshop on text mining 2000.
    """

    first_address: ClassVar[str] = "assay.systems.hierarchy.builders:Bisecting"

    version: ClassVar[str] = "1"

    def divide(self, rows: Vectors, count: int, rng: np.random.Generator) -> list[Ints]:
        parts: list[Ints] = [np.arange(len(rows))]
        whole: list[Ints] = []
        while parts and len(parts) + len(whole) < count:
            largest = parts.pop(max(range(len(parts)), key=lambda at: len(parts[at])))
            halves = [largest[half] for half in spherical_kmeans(rows[largest], 2, rng)]
            (parts if len(halves) > 1 else whole).extend(halves)  # equal rows cannot be divided
        return sorted(parts + whole, key=lambda part: int(part[0]))


def spherical_kmeans(rows: Vectors, count: int, rng: np.random.Generator) -> list[Ints]:
    """Divides rows of length 1 into at most `count` groups by spherical k-means.

    There are fewer groups if too few rows differ.
    """
    centres = _first_centres(rows, count, rng)
    if len(centres) < 2:
        return [np.arange(len(rows))]
    labels = nearest_centres(rows, centres)
    for _ in range(_ROUNDS):
        centres = _move_centres(rows, centres, labels)
        before, labels = labels, nearest_centres(rows, centres)
        if np.array_equal(before, labels):
            break
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=len(centres)))[:-1]
    return [part for part in np.split(order, ends) if len(part)]


def nearest_centres(rows: Vectors, centres: Vectors) -> Ints:
    """Returns the centre with the highest cosine for each row. The first centre wins a tie."""
    labels = np.empty(len(rows), np.int64)
    # A float32 dot product of unit vectors errs by at most dimensions × eps / 2; both sides may err.
    slack = rows.shape[1] * np.finfo(np.float32).eps
    step = max(1, _CELLS // max(1, len(centres)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        alike = block @ centres.T
        found = alike.argmax(axis=1)
        best = np.take_along_axis(alike, found[:, np.newaxis], axis=1)
        close = np.flatnonzero(np.count_nonzero(alike >= best - slack, axis=1) > 1)
        found[close] = _nearest_exactly(block[close], centres)
        labels[start : start + step] = found
    return labels


def _nearest_exactly(rows: Vectors, centres: Vectors) -> Ints:
    """Returns the nearest centres by cosines in float64. Each cosine is summed by itself and rounded."""
    exact, wide = centres.astype(np.float64), rows.astype(np.float64)
    found = [int(np.round(np.vecdot(exact, row), _DIGITS).argmax()) for row in wide]
    return np.array(found, np.int64)


def _first_centres(rows: Vectors, count: int, rng: np.random.Generator) -> Vectors:
    """Returns rows far from each other, no two alike: k-means++ (Arthur and Vassilvitskii, SODA 2007)."""
    if len(rows) > _SEEDED_FROM:
        rows = rows[np.sort(rng.choice(len(rows), _SEEDED_FROM, replace=False))]
    slack = rows.shape[1] * np.finfo(np.float32).eps
    chance = rows.any(axis=1).astype(np.float64)  # zeros have no direction, and nothing is near them
    chosen: list[int] = []
    while len(chosen) < count and (total := chance.sum()) > 0.0:
        drawn = np.searchsorted(np.cumsum(chance), rng.random() * total, side="right")
        chosen.append(int(min(drawn, np.flatnonzero(chance)[-1])))
        # Row by row: a product with a vector is bound by memory, and threads would add up in another order.
        distance = 1.0 - np.vecdot(rows, rows[chosen[-1]]).astype(np.float64)
        chance = np.minimum(chance, np.where(distance > slack, distance, 0.0))
    return rows[chosen]


def _move_centres(rows: Vectors, centres: Vectors, labels: Ints) -> Vectors:
    """Moves each centre to the mean of its rows.

    A centre that lost all its rows moves to the row that is least similar to its own centre.
    """
    members = csr_array(
        (np.ones(len(rows), np.float32), labels, np.arange(len(rows) + 1)), (len(rows), len(centres))
    )
    sums = members.T @ rows  # a sparse product runs in one thread, in the order of the rows
    moved = normalize_rows(sums)
    still = ~moved.any(axis=1)
    moved[still] = centres[still]
    empty = np.flatnonzero(np.bincount(labels, minlength=len(centres)) == 0)
    if len(empty):
        served = np.vecdot(rows, centres[labels])
        moved[empty] = rows[np.argsort(served, kind="stable")[: len(empty)]]
    return moved


def number_children(parts: Sequence[Sequence[object]]) -> ChildLists:
    """Returns the children of each node. They are numbered in the order of the parts."""
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return ChildLists(starts, np.arange(starts[-1]))


def _add_parents(tree: Tree, vectors: Vectors, parents: int, within: float) -> Tree:
    """Puts each passage also below other leaves whose centroids are almost as near as the nearest one.

    The cosines are computed in float64, because the last bits of a float32 product vary with the number of
    threads, and many pairs lie at the limit.
    """
    leaves = tree.below[-1]
    centres = centroids(tree, tree.depth, vectors).astype(np.float64)
    own = np.repeat(np.arange(len(leaves)), np.diff(leaves.starts))[np.argsort(leaves.items)]
    found = [own * len(vectors) + np.arange(len(vectors))]  # leaf and passage as one number
    step = max(1, _CELLS // max(1, len(centres)))
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        rows = np.arange(len(block))
        alike = block.astype(np.float64) @ centres.T
        limit = alike.max(axis=1, initial=0.0) - within - 10.0**-_DIGITS
        alike[rows, own[start : start + step]] = -np.inf  # it is there already
        for _ in range(min(parents, len(centres)) - 1):
            leaf = alike.argmax(axis=1)
            near = (alike[rows, leaf] >= limit) & block.any(axis=1)
            found.append(leaf[near] * len(vectors) + rows[near] + start)
            alike[rows, leaf] = -np.inf
    leaf, passage = np.divmod(np.sort(np.concatenate(found)), max(1, len(vectors)))
    starts = np.searchsorted(leaf, np.arange(len(leaves) + 1))
    return Tree((*tree.below[:-1], ChildLists(starts, passage)))


def grow(tree: Tree, vectors: Vectors, most: int = 0, seed: int = 0) -> Tree:
    """Returns the tree with new passages. Old nodes keep their numbers, and new nodes get numbers after them.

    `vectors` has one row per passage, and the passages in the tree come first. A new passage goes down from
    the root. At each node it goes to the child whose old passages have the nearest centroid. It is put below
    the one leaf that it reaches. A leaf that grew above `most` passages is halved until no part is larger,
    unless its vectors do not differ. If `most` is 0, the limit is twice the mean size of the leaves. Each new
    part gets the parents of the leaf. The part with most of the old passages keeps the leaf's number. No
    other passage leaves its leaf.

    Only leaves are added, so the nodes above them get more children. If a corpus has grown several times
    over, a new tree is better.
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
    where = _route_to_leaves(tree, vectors, held)
    groups, parents = _fill_leaves(leaves, where, held), _leaf_parents(tree)
    above = [[int(parent) for parent in parents.of(leaf)] for leaf in range(len(leaves))]
    rng = np.random.default_rng(seed)
    for leaf in np.unique(where).tolist():
        kept, *others = _halve_leaf(groups[leaf], vectors, limit, held, rng)
        groups[leaf] = kept
        groups += others
        above += [above[leaf]] * len(others)
    lower = ChildLists.of_lists(_invert(above, tree.size(tree.depth - 1)))
    return Tree((*tree.below[:-2], lower, ChildLists.of_lists(groups)))


def _route_to_leaves(tree: Tree, vectors: Vectors, held: int) -> Ints:
    """Returns the leaf that each new passage reaches from the root."""
    where = np.zeros(len(vectors) - held, np.int64)
    for level, below in enumerate(tree.below[:-1]):
        centres, before = centroids(tree, level + 1, vectors[:held]), where
        where = np.empty_like(before)
        for node in np.unique(before).tolist():
            here, children = np.flatnonzero(before == node), below.of(node)
            where[here] = children[nearest_centres(vectors[here + held], centres[children])]
    return where


def _fill_leaves(leaves: ChildLists, where: Ints, held: int) -> list[Ints]:
    """Returns the passages of each leaf, old and new."""
    order = np.argsort(where, kind="stable")
    new = np.split(order + held, np.cumsum(np.bincount(where, minlength=len(leaves)))[:-1])
    return [np.concatenate([leaves.of(leaf), each]) for leaf, each in enumerate(new)]


def _halve_leaf(group: Ints, vectors: Vectors, most: int, held: int, rng: np.random.Generator) -> list[Ints]:
    """Divides a leaf into parts of at most `most` passages. The part with most old passages comes first."""
    done: list[Ints] = []
    waiting = [group]
    while waiting:
        part = waiting.pop(0)
        halves = (
            [part[half] for half in spherical_kmeans(vectors[part], 2, rng)] if len(part) > most else [part]
        )
        (waiting if len(halves) > 1 else done).extend(halves)  # equal rows cannot be divided
    return sorted(done, key=lambda part: (-int(np.count_nonzero(part < held)), int(part[0])))


def _leaf_parents(tree: Tree) -> ChildLists:
    """Returns the parents of each leaf."""
    above = tree.below[-2]
    return ChildLists.of_lists(_invert([above.of(node) for node in range(len(above))], len(tree.below[-1])))


def _invert(lists: Sequence[Sequence[int] | Ints], width: int) -> list[list[int]]:
    """Returns, for each number below `width`, the lists that contain the number."""
    found: list[list[int]] = [[] for _ in range(width)]
    for who, named in enumerate(lists):
        for each in named:
            found[int(each)].append(who)
    return found


# Raise it when growing, or what is stored of a tree, changes. A builder has its own version.
TREE_VERSION = "2"


def cached_tree(
    builder: Builder,
    start: int,
    corpus: Corpus,
    vectors: Vectors,
    vectors_identity: str,
    seed: int,
    kit: Kit,
) -> Tree:
    """Returns the tree of a corpus, from the cache or built now.

    `vectors` has one row per passage. With `start` above 0, the tree is built on the first `start` passages
    of the corpus, and grown by the others.
    """
    if start < 0:
        raise UsageError(
            f"start is {start}. Give the number of passages that a tree begins with, or 0 for all."
        )
    if len(vectors) != len(corpus):
        raise UsageError(f"{len(vectors)} vectors for {len(corpus)} passages. Give a row for each passage.")
    first = min(start or len(corpus), len(corpus))
    make = partial(_build_tree, builder, first, vectors, seed, kit)
    if len(corpus) < WORTH_KEEPING:
        return make()
    shelf = ArtifactCache(kit.cache / "indexes")
    parts = ("tree", TREE_VERSION, identity(builder), str(first), str(seed), corpus.hash, vectors_identity)
    key = digest(part.encode() for part in parts)
    return shelf.read_or_put(key, read_tree, lambda folder: save_tree(folder, make()))


def _build_tree(builder: Builder, first: int, vectors: Vectors, seed: int, kit: Kit) -> Tree:
    kit.progress("building the tree", 0, len(vectors))
    tree = builder.build(vectors[:first], seed)
    if first < len(vectors):
        kit.progress("building the tree", first, len(vectors))
        tree = grow(tree, vectors, seed=seed)
    kit.progress("building the tree", len(vectors), len(vectors))
    return tree
