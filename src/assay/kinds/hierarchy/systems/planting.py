"""Trees by corpus, vectors and seed: made once, and kept where making them takes a while."""

from __future__ import annotations

from functools import partial

from assay.core.dataset import Corpus, digest
from assay.core.errors import UsageError
from assay.core.parts import Vectors
from assay.core.protocols import Kit
from assay.core.registry import identity
from assay.kinds.hierarchy.systems.builders import Builder
from assay.kinds.hierarchy.systems.growth import grow
from assay.kinds.hierarchy.systems.tree import Tree, read_tree, save_tree
from assay.store.cache import ArtifactCache
from assay.systems.retrievers import WORTH_KEEPING

# To be raised when growing, or what is kept of a tree, changes; a builder has its own version.
PLANTED = "2"


def planted(
    builder: Builder,
    start: int,
    corpus: Corpus,
    vectors: Vectors,
    vectors_identity: str,
    seed: int,
    kit: Kit,
) -> Tree:
    """The tree of a corpus, from the cache or made now.

    `vectors` has a row a passage. `start` above 0: it is built on that many passages, the first of the
    corpus, and grown by the rest; 0: built on all of them.
    """
    if start < 0:
        raise UsageError(f"start is {start}. It is how many passages a tree begins with; 0 is all of them.")
    if len(vectors) != len(corpus):
        raise UsageError(f"{len(vectors)} vectors for {len(corpus)} passages. Give a row for each passage.")
    first = min(start or len(corpus), len(corpus))
    make = partial(_made, builder, first, vectors, seed, kit)
    if len(corpus) < WORTH_KEEPING:
        return make()
    shelf = ArtifactCache(kit.cache / "indexes")
    parts = ("tree", PLANTED, identity(builder), str(first), str(seed), corpus.hash, vectors_identity)
    key = digest(part.encode() for part in parts)
    return shelf.read_or_put(key, read_tree, lambda folder: save_tree(folder, make()))


def _made(builder: Builder, first: int, vectors: Vectors, seed: int, kit: Kit) -> Tree:
    kit.progress("building the tree", 0, len(vectors))
    tree = builder.build(vectors[:first], seed)
    if first < len(vectors):
        kit.progress("building the tree", first, len(vectors))
        tree = grow(tree, vectors, seed=seed)
    kit.progress("building the tree", len(vectors), len(vectors))
    return tree
