"""Links that lead from the passages found first, over names in them, to passages about these names.

Example: a question asks for the room of a project's lead. It finds the page of the project, which names the
lead. The page with the room shares no word with the question, but a link over the lead's name reaches it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.core.dataset import Corpus
from assay.core.errors import UsageError
from assay.core.parts import LEADS, Ints, LinkedPassage, Model, Ranking, ScoresOf
from assay.core.protocols import Kit
from assay.core.records import Edge, Node, Passage
from assay.retrieval.context import rank_relevance
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.entities import VERSION, Entities
from assay.retrieval.tokens import sentence_spans

MENTIONS = "mentions"  # the edges from a passage to a name in it
ENTITY = "entity"
_SEED = 11  # seed of the stress test with false links


def passage_node(doc_id: str) -> str:
    """Returns the id of a passage's node in a published structure.

    The prefix distinguishes passages from other nodes.
    """
    return f"passage:{doc_id}"


@dataclass(frozen=True)
class SharedNames:
    """Links over names that the query does not have.

    Links start in the best `sentences` sentences of the first `seeds` passages. The score of a sentence is 1
    / log2(1 + rank of its passage) times its cosine with the query by the static model. Below, s is this
    score divided by the best such score.

    A name links to the passages that have it in their title. If no title or more than `most` titles have the
    name, it links to the passages that mention it. If these are also more than `most`, the name links to
    nothing. A further hop starts from the sentences with the name of the last link.

    A link at hop h has the weight w = s × decayʰ. The linked passage has the relevance w × (base + (1 − base)
    × own / best), where own is its own score and best is the best score of all seeds and linked passages. In
    a context, a sentence with the name gets at least the share `floor` of this relevance.

    `fake` is for stress tests. For this share of the names, links go to the passages of another name, drawn
    by chance, and contexts prefer the sentences with that other name.
    """

    version: ClassVar[str] = "1"

    seeds: int = 5
    hops: int = 2
    sentences: int = 10
    decay: float = 0.7
    most: int = 12
    base: float = 0.6
    floor: float = 0.3
    fake: float = 0.0

    def __post_init__(self) -> None:
        for name in ("seeds", "hops", "sentences", "most"):
            if (count := getattr(self, name)) < 1:
                raise UsageError(f"names: {name} is {count}. It must be at least 1.")
        for name in ("decay", "base", "floor", "fake"):
            if not 0.0 <= (share := getattr(self, name)) <= 1.0:
                raise UsageError(f"names: {name} is {share}. It is a share, from 0 to 1.")

    def build(self, corpus: Corpus, kit: Kit) -> NameLinks:
        entities = Entities.of(corpus, kit)
        leads = _targets_of_names(entities, self.most)
        return NameLinks(
            self,
            corpus.passages,
            entities,
            leads,
            _draw_stand_ins(leads, self.fake),
            StaticEmbedder().load(kit),
        )

    def identity(self, kit: Kit) -> Any:
        """Returns the version of name recognition and the identity of the model that picks sentences."""
        return {"names": VERSION, "static": StaticEmbedder().identity(kit)}


class _LinkPath(NamedTuple):
    """The link that reached a passage: its source passage, the number of its name, its hop and its weight."""

    source: int
    number: int
    hop: int
    weight: float


class _LinkStart(NamedTuple):
    """A passage from which links start, the names in it that they can use, and their weight."""

    position: int
    numbers: Sequence[int]
    weight: float


@dataclass(frozen=True)
class NameLinks:
    """The names of a corpus, and the passages that each name links to."""

    rule: SharedNames
    passages: Sequence[Passage]
    entities: Entities
    leads: csr_array  # rows are names, columns passages
    stands_for: Ints  # for each name, the name whose targets it gets: its own, unless `fake`
    model: Model

    @property
    def floor(self) -> float:
        return self.rule.floor

    def follow(self, query: str, first: Ranking, scores_of: ScoresOf) -> list[LinkedPassage]:
        seeds = first.positions[: self.rule.seeds]
        ways = self._ways(query, seeds.tolist())
        if not ways:
            return []
        positions = np.fromiter(ways, np.int64, len(ways))
        scores = scores_of(np.concatenate([seeds, positions]))
        best = float(scores.max())
        own = np.clip(scores[len(seeds) :] / best, 0.0, 1.0) if best > 0 else np.zeros(len(positions))
        worth = (self.rule.base + (1 - self.rule.base) * own).tolist()
        found = [
            LinkedPassage(
                at, way.source, self.entities.names[way.number], way.hop, way.weight, way.weight * share
            )
            for (at, way), share in zip(ways.items(), worth, strict=True)
        ]
        return sorted(found, key=lambda each: (-each.score, each.position))

    def _ways(self, query: str, seeds: Sequence[int]) -> dict[int, _LinkPath]:
        """Returns the heaviest link to each linked passage. Seeds may be linked too."""
        ways: dict[int, _LinkPath] = {}
        asked = self.entities.mentions_of(query)
        front = self._starts(query, seeds)
        for hop in range(1, self.rule.hops + 1):
            reached: dict[int, _LinkPath] = {}
            for start in front:
                weight = start.weight * self.rule.decay
                for named in start.numbers:
                    if named in asked:
                        continue
                    number = int(self.stands_for[named])
                    for target in self._led_to(number):
                        known = reached.get(target) or ways.get(target)
                        if target != start.position and (known is None or known.weight < weight):
                            reached[target] = _LinkPath(start.position, number, hop, weight)
            ways |= reached
            if hop < self.rule.hops:
                front = [
                    _LinkStart(at, self._beside(at, way.number), way.weight) for at, way in reached.items()
                ]
        return ways

    def _starts(self, query: str, seeds: Sequence[int]) -> list[_LinkStart]:
        """Finds the sentences of the seeds that match the query best, and the names in these sentences."""
        texts = [self.passages[seed].text for seed in seeds]
        cut = [(seed, span) for seed, text in enumerate(texts) for span in sentence_spans(text)]
        sentences = [texts[seed][span.start : span.end] for seed, span in cut]
        vectors = self.model.embed([query, *sentences], "passage").vectors
        of = np.array([seed for seed, _ in cut], np.int64)
        match = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0) * rank_relevance(len(seeds))[of]
        best = [
            at for at in np.argsort(-match, kind="stable")[: self.rule.sentences].tolist() if match[at] > 0
        ]
        return [
            _LinkStart(
                seeds[of[at]],
                sorted(self.entities.mentions_of(sentences[at])),
                float(match[at] / match[best[0]]),
            )
            for at in best
        ]

    def _beside(self, position: int, number: int) -> list[int]:
        """Returns the names in those sentences of a passage that contain a given name."""
        named = (numbers.tolist() for numbers in self.entities.of_sentences(position))
        return list(dict.fromkeys(each for numbers in named if number in numbers for each in numbers))

    def _led_to(self, number: int) -> list[int]:
        found: list[int] = self.leads.indices[
            self.leads.indptr[number] : self.leads.indptr[number + 1]
        ].tolist()
        return found

    def nodes(self) -> Iterator[Node]:
        for number in np.flatnonzero(np.diff(self.leads.indptr)).tolist():
            yield Node(self._node_id(number), role=ENTITY)

    def edges(self) -> Iterator[Edge]:
        leading, mentions = np.diff(self.leads.indptr) > 0, self.entities.mentions
        for position, passage in enumerate(self.passages):
            numbers = mentions.indices[mentions.indptr[position] : mentions.indptr[position + 1]]
            for number in numbers[leading[numbers]].tolist():
                yield Edge(passage_node(passage.doc_id), self._node_id(number), MENTIONS)
        for number in np.flatnonzero(leading).tolist():
            for target in self._led_to(int(self.stands_for[number])):
                yield Edge(self._node_id(number), passage_node(self.passages[target].doc_id), LEADS)

    def _node_id(self, number: int) -> str:
        return f"{ENTITY}:{self.entities.names[number]}"


def _targets_of_names(entities: Entities, most: int) -> csr_array:
    """Returns the passages that each name links to.

    These are the passages with the name in their title. If there are none or more than `most`, they are the
    passages that mention the name. If these are more than `most` too, the name links to nothing.
    """
    homes, mentioned = entities.homes, csr_array(entities.mentions.T)
    titled, having = np.diff(homes.indptr), np.diff(mentioned.indptr)
    by_title = (titled > 0) & (titled <= most)
    parts = [_entries_of_rows(homes, by_title), _entries_of_rows(mentioned, ~by_title & (having <= most))]
    names, positions = (np.concatenate(each) for each in zip(*parts, strict=True))
    return csr_array((np.ones(len(names), np.int8), (names, positions)), homes.shape)


def _entries_of_rows(matrix: csr_array, kept: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Returns the row numbers and the column numbers of the entries in the kept rows of a matrix."""
    rows = np.repeat(np.arange(len(kept)), np.diff(matrix.indptr))
    here = kept[rows]
    return rows[here], matrix.indices[here].astype(np.int64)


def _draw_stand_ins(leads: csr_array, share: float) -> Ints:
    """Returns, for each name, the name whose targets it gets: usually its own targets.

    The given share of the names with targets gets those of a name drawn by chance.
    """
    rng = np.random.default_rng(_SEED)
    found = np.arange(leads.shape[0])
    leading = np.flatnonzero(np.diff(leads.indptr))
    false = leading[rng.random(len(leading)) < share]
    found[false] = rng.permutation(leading)[: len(false)]
    return found
