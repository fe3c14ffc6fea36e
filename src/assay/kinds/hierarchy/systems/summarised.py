"""The summaries of a tree's nodes, kept: several systems and every run read the same ones."""

from __future__ import annotations

from assay.core.dataset import digest
from assay.core.protocols import Kit
from assay.core.registry import identity
from assay.kinds.hierarchy.systems.ground import Ground
from assay.kinds.hierarchy.systems.summaries import Summariser, Summary, read_summaries, save_summaries
from assay.kinds.hierarchy.systems.tree import Tree
from assay.store.cache import ArtifactCache
from assay.systems.retrievers import WORTH_KEEPING


def summarised(summariser: Summariser, tree: Tree, ground: Ground, kit: Kit) -> list[list[Summary]]:
    """The summaries by level, from the shelf where the same tree was summarised the same way before."""
    passages, vectors = ground.corpus.passages, ground.vectors
    if len(passages) < WORTH_KEEPING:
        return summariser.summarise(tree, passages, vectors, kit)
    shelf = ArtifactCache(kit.cache / "summaries")
    said = str(getattr(summariser, "identity", lambda _: "")(kit))
    told = (identity(summariser), said, ground.corpus.hash, ground.meanings.embedding.identity)
    arrays = (part.tobytes() for below in tree.below for part in (below.starts, below.items))
    key = digest([*(part.encode() for part in told), *arrays])
    if (known := shelf.read(key, read_summaries)) is not None:
        return known
    found = summariser.summarise(tree, passages, vectors, kit)
    shelf.put(key, lambda place: save_summaries(place, found))
    return found
