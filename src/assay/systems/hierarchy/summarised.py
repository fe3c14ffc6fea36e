"""The summaries of a tree's nodes, kept: several systems and every run read the same ones."""

from __future__ import annotations

from assay.datasets.dataset import digest
from assay.plugins import identity
from assay.protocols import Kit
from assay.retrieval.shelf import Shelf
from assay.systems.hierarchy.ground import Ground
from assay.systems.hierarchy.summaries import Summariser, Summary, read_summaries, save_summaries
from assay.systems.hierarchy.tree import Tree
from assay.systems.retrievers import WORTH_KEEPING


def summarised(summariser: Summariser, tree: Tree, ground: Ground, kit: Kit) -> list[list[Summary]]:
    """The summaries by level, from the shelf where the same tree was summarised the same way before."""
    passages, vectors = ground.corpus.passages, ground.vectors
    if len(passages) < WORTH_KEEPING:
        return summariser.summarise(tree, passages, vectors, kit)
    shelf = Shelf(kit.cache / "summaries")
    said = str(getattr(summariser, "identity", lambda _: "")(kit))
    told = (identity(summariser), said, ground.corpus.hash, ground.meanings.embedding.identity)
    arrays = (part.tobytes() for below in tree.below for part in (below.starts, below.items))
    key = digest([*(part.encode() for part in told), *arrays])
    if (known := shelf.read(key, read_summaries)) is not None:
        return known
    found = summariser.summarise(tree, passages, vectors, kit)
    shelf.put(key, lambda place: save_summaries(place, found))
    return found
