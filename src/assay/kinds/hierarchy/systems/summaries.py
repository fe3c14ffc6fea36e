"""Routing summaries: what lies below each node of a tree, in words that a query can be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from assay.core.dataset import Corpus, digest
from assay.core.parts import Vectors
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.core.registry import identity
from assay.kinds.hierarchy.systems.tree import Tree
from assay.store.disk import UNREADABLE, ArtifactCache, DamagedArtifact
from assay.systems.retrievers import WORTH_KEEPING

SUMMARIES = "assay.summaries"  # the group of plugins

Style = Literal["contrastive", "generic"]  # told apart from its siblings, or from the whole corpus
_FILE = "summaries.json"


class QuotedSentence(NamedTuple):
    """A sentence as it stands in a passage: the passage's position in the corpus, and where in its text."""

    position: int
    start: int
    end: int
    text: str


class Summary(msgspec.Struct, frozen=True):
    """What lies below one node. `excludes` is what lies below its siblings and not here."""

    theme: str
    includes: list[str] = []
    excludes: list[str] = []
    key_entities: list[str] = []
    key_terms: list[str] = []
    sentences: list[QuotedSentence] = []

    @property
    def text(self) -> str:
        """What is embedded and searched by words. Not what it excludes: no search understands a "not"."""
        named = (", ".join(each) for each in (self.includes, self.key_entities, self.key_terms))
        lines = [self.theme, *named, *(quoted.text for quoted in self.sentences)]
        return "\n".join(line for line in lines if line)


@runtime_checkable
class Summariser(Protocol):
    """What summarises the nodes of a tree: `keywords`, `written(url=…)`.

    `passages` and `vectors` are those the tree was built over, in the same order. What is said of a node
    depends on the texts below it, below its siblings and in the corpus, never on how nodes are numbered.
    """

    def summarise(
        self, tree: Tree, passages: Sequence[Passage], vectors: Vectors, kit: Kit
    ) -> list[list[Summary]]:
        """A list a level from 1 on, a summary a node."""
        ...


def summary_texts(summaries: Sequence[Sequence[Summary]]) -> list[list[str]]:
    """What is embedded and searched of each node, by level from 1 on."""
    return [[summary.text for summary in level] for level in summaries]


def save_summaries(folder: Path, summaries: Sequence[Sequence[Summary]]) -> None:
    """Writes the summaries of a tree into a folder."""
    (folder / _FILE).write_bytes(msgspec.json.encode(summaries))


def read_summaries(folder: Path) -> list[list[Summary]]:
    """The summaries that a folder holds."""
    try:
        return msgspec.json.decode((folder / _FILE).read_bytes(), type=list[list[Summary]])
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error


def cached_summaries(
    summariser: Summariser, tree: Tree, corpus: Corpus, vectors: Vectors, vectors_identity: str, kit: Kit
) -> list[list[Summary]]:
    """The summaries by level, from the cache if the same tree was summarised in the same way before."""
    if len(corpus) < WORTH_KEEPING:
        return summariser.summarise(tree, corpus.passages, vectors, kit)
    cache = ArtifactCache(kit.cache / "summaries")
    own = str(getattr(summariser, "identity", lambda _: "")(kit))
    parts = (identity(summariser), own, corpus.hash, vectors_identity)
    arrays = (part.tobytes() for below in tree.below for part in (below.starts, below.items))
    key = digest([*(part.encode() for part in parts), *arrays])
    if (known := cache.read(key, read_summaries)) is not None:
        return known
    found = summariser.summarise(tree, corpus.passages, vectors, kit)
    cache.put(key, lambda place: save_summaries(place, found))
    return found
