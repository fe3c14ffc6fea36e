"""Relevance by anchors: text that an item's gold quotes from a document decides whatever holds that text.

`gold["anchors"]`    what should come back: relevance 2 (high) or 1 (partial). For an item that expects its
                     intent to be met: intent 1 (high) or 0 (partial)
`gold["forbidden"]`  what must not come back: forbidden 1. Without a text the whole chapter, or book, is meant

A passage counts as an anchor where it shares at least `least` of the anchor's characters, or of its own, not
counting blanks. So, at a half, at least one passage counts wherever boundaries cut. Of forbidden text, 40
characters are enough. A hit that is no passage of the corpus is judged by its text alone: it holds the
anchor, lies in it, or begins or ends inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from assay.datasets.anchor_text import SourceText, joined
from assay.datasets.dataset import Dataset, Place
from assay.errors import Problem, UsageError
from assay.judges.anchor_index import FORBIDDEN, INTENT, RELEVANCE, Anchor, AnchorIndex, anchors_of, visible
from assay.measures.block import Block
from assay.protocols import Kit
from assay.records import Item, Judgment, Passage

REAL = 40  # characters of forbidden text that nobody shares by chance
SURE = 20  # characters that a text of unknown place has to share with an anchor, or all of the anchor
PROBE = 80  # characters of a hit that are looked up in forbidden text, one probe at every half of that
SHOWN_PLACES = 3


class _Target(NamedTuple):
    """What a judgment is about: an id, and the arm and seed where it has this text (None: in all of them)."""

    doc_id: str
    text: str
    arm: str | None = None
    seed: int | None = None


Said = Iterator[tuple[Anchor, _Target]]
Returned = Mapping[str, Mapping[str, Sequence[tuple[str, int]]]]  # by id, by text: the arms and seeds


class _Compact(dict[str, str]):
    """Texts as they are compared, without blanks, each worked out once."""

    def __missing__(self, text: str) -> str:
        self[text] = joined(text).replace(" ", "")
        return self[text]


@dataclass(frozen=True)
class Anchors:
    """Reads `gold["anchors"]` and `gold["forbidden"]`. It names only some of what is relevant.

    A passage of more than `longest` characters is not judged: it would hold anchors by its size alone. What
    is forbidden is forbidden at any size.
    """

    least: float = 0.5
    longest: int = 4000

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("anchors",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({RELEVANCE, INTENT, FORBIDDEN})
    incomplete: ClassVar[frozenset[str]] = frozenset({RELEVANCE, INTENT})

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise UsageError(f"least is {self.least}. Give a share above 0, up to 1.")
        if self.longest < 1:
            raise UsageError(f"longest is {self.longest}. Give a number of characters, 1 or more.")

    @cached_property
    def _sources(self) -> dict[str, SourceText]:
        """The documents as they are compared, by their text: every cut of a corpus has the same ones."""
        return {}

    def index(self, dataset: Dataset) -> AnchorIndex:
        """Where anchors stand in a dataset's corpus."""
        return AnchorIndex(dataset.corpus, self._sources)

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        anchored = {item.item_id: anchors for item in dataset.items if (anchors := anchors_of(item))}
        if not anchored:
            return []
        index, compact, returned = self.index(dataset), _Compact(), _returned(blocks, anchored)
        found: list[Judgment] = []
        for item_id, anchors in anchored.items():
            hits = returned.get(item_id, {})
            foreign = [each for each in _targets(hits) if each.doc_id not in dataset.corpus.position]
            known = {compact[each.text] for each in foreign}
            said = [
                (anchor, target)
                for anchor, target in self._of_passages(anchors, index)
                # one that came back under another id is judged there, and is not to be found twice
                if target.doc_id in hits or not known or compact[target.text] not in known
            ]
            said += self._of_hits(anchors, foreign, index, compact)
            found += self._judgments(item_id, said)
        return found

    def _judgments(self, item_id: str, said: Iterable[tuple[Anchor, _Target]]) -> Iterator[Judgment]:
        """One judgment a target: what the best of its anchors says."""
        best: dict[tuple[str, str, str | None, int | None], Anchor] = {}
        for anchor, target in said:
            key = anchor.label, target.doc_id, target.arm, target.seed
            if key not in best or best[key].grade < anchor.grade:
                best[key] = anchor
        for (label, doc_id, arm, seed), anchor in best.items():
            yield Judgment(
                item_id,
                label,
                anchor.grade,
                "anchors",
                target=doc_id,
                category=anchor.category,
                arm=arm,
                seed=seed,
                version=self.version,
                reason=str(anchor),
            )

    # ------------------------------------------------------------------- passages of the corpus

    def passages(self, anchor: Anchor, index: AnchorIndex) -> list[Passage]:
        """The passages that count as an anchor."""
        found: dict[str, Passage] = {}
        for place in index.places(anchor):
            wanted = visible(place.text)
            for passage, shared, own in index.passages(place):
                if self._enough(anchor, shared, wanted, own) and self._fits(anchor, passage.text):
                    found[passage.doc_id] = passage
        return list(found.values())

    def _of_passages(self, anchors: Sequence[Anchor], index: AnchorIndex) -> Said:
        for anchor in anchors:
            for passage in self.passages(anchor, index):
                yield anchor, _Target(passage.doc_id, passage.text)

    def _enough(self, anchor: Anchor, shared: int, wanted: int, own: int) -> bool:
        """Whether so many shared characters are enough of the anchor's, or of the passage's own."""
        enough = self.least * min(wanted, own)
        return shared > 0 and shared >= (min(enough, REAL) if anchor.label == FORBIDDEN else enough)

    def _fits(self, anchor: Anchor, text: str) -> bool:
        return anchor.label == FORBIDDEN or len(text) <= self.longest

    # --------------------------------------------------------------------- hits known by their text

    def _of_hits(
        self, anchors: Sequence[Anchor], hits: Sequence[_Target], index: AnchorIndex, compact: _Compact
    ) -> Said:
        if not hits:
            return
        for anchor in anchors:
            texts = [anchor.text] if anchor.text else [place.text for place in index.places(anchor)]
            for hit in hits:
                if self._fits(anchor, hit.text) and any(
                    self._matches(anchor, compact[hit.text], compact[text]) for text in texts
                ):
                    yield anchor, hit

    def _matches(self, anchor: Anchor, own: str, wanted: str) -> bool:
        if self._enough(anchor, shared_characters(own, wanted), len(wanted), len(own)):
            return True
        # what was put together from several stretches is forbidden where one of them is
        probes = range(0, len(own) - PROBE + 1, PROBE // 2) if anchor.label == FORBIDDEN else ()
        return any(own[start : start + PROBE] in wanted for start in probes)

    # ---------------------------------------------------------------------------- before a run

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[list[Problem], list[str]]:
        """Anchors that stand nowhere; and those that stand at several places, or that nothing counts as."""
        index, problems, warnings = self.index(dataset), dict[Problem, None](), list[str]()
        told: set[Anchor] = set()
        for item in dataset.items:
            place = dataset.places.get(item.item_id, Place(dataset.name))
            for number, anchor in enumerate(anchors_of(item)):
                if anchor.label == FORBIDDEN and anchor in told:  # the same for every item that has any
                    continue
                told.add(anchor)
                if index.places(anchor):
                    warnings += [f"{_where(item, place)}: {doubt}" for doubt in self.doubts(anchor, index)]
                else:
                    what, fix = index.missing(anchor)
                    part = FORBIDDEN if anchor.label == FORBIDDEN else f"expected_passages[{number}]"
                    problems[Problem(what, place.file, place.line, f"{item.item_id}.{part}", fix)] = None
        return list(problems), warnings

    def doubts(self, anchor: Anchor, index: AnchorIndex) -> Iterator[str]:
        """What looks wrong with an anchor that stands somewhere."""
        places = index.places(anchor)
        if len(places) > 1 and anchor.text is not None and anchor.label != FORBIDDEN:
            some = ", ".join(dict.fromkeys(place.document.doc_id for place in places[:SHOWN_PLACES]))
            yield f"{str(anchor)!r} stands at {len(places)} places ({some}), and all of them count"
        if not self.passages(anchor, index):
            yield f"no passage counts as {str(anchor)!r}: {self.lacking(anchor, index)}"

    def lacking(self, anchor: Anchor, index: AnchorIndex) -> str:
        """Why no passage counts as an anchor that stands somewhere."""
        near = [passage for place in index.places(anchor) for passage, _, _ in index.passages(place)]
        if not near:
            return "none lies where it stands"
        if all(len(passage.text) > self.longest for passage in near):
            return f"those that hold it have more than {self.longest} characters"
        return f"none shares {self.least:.0%} of it"


def shared_characters(own: str, wanted: str) -> int:
    """How much of a wanted text a text of unknown place has: all, itself, or what its ends cut off."""
    if wanted in own:
        return len(wanted)
    if own in wanted:
        return len(own) if len(own) >= SURE else 0
    bare = own.strip(".")  # dots where a snippet was cut
    return max(_overlap(bare, wanted), _overlap(wanted, bare))


def _overlap(before: str, after: str) -> int:
    """The most characters that one text ends with and another begins with, from SURE on."""
    tail, start = before[-len(after) :], after[:SURE]
    place = tail.find(start) if len(after) >= SURE else -1
    while place >= 0:
        if after.startswith(tail[place:]):
            return len(tail) - place
        place = tail.find(start, place + 1)
    return 0


def _returned(blocks: Sequence[Block], wanted: Mapping[str, object]) -> dict[str, Returned]:
    """What came back for each item: ids, the texts that each had, and where."""
    found: dict[str, dict[str, dict[str, list[tuple[str, int]]]]] = {}
    for block in blocks:
        for item, response in zip(block.items, block.responses, strict=True):
            if response is not None and item.item_id in wanted:
                for hit in response.hits:
                    texts = found.setdefault(item.item_id, {}).setdefault(hit.doc_id, {})
                    texts.setdefault(hit.text or "", []).append((block.arm.name, block.seed))
    return dict(found)


def _targets(hits: Returned) -> Iterator[_Target]:
    """The hits that have a text; an id with several texts is another hit in each arm."""
    for doc_id, texts in hits.items():
        given = {text: places for text, places in texts.items() if text}
        for text, places in given.items():
            if len(given) == 1:
                yield _Target(doc_id, text)
            else:
                yield from (_Target(doc_id, text, arm, seed) for arm, seed in dict.fromkeys(places))


def _where(item: Item, place: Place) -> str:
    return f"{place.file}{f':{place.line}' if place.line is not None else ''}: {item.item_id}"
