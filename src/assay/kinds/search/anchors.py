"""Judges relevance by anchors. An item's gold quotes text of a document; hits that hold this text are judged
by it.

`gold["anchors"]`    text that should be found: relevance 2 (high) or 1 (partial). If the item expects that
                     its intent is met: intent 1 (high) or 0 (partial)
`gold["forbidden"]`  text that must not be found: forbidden 1. Without a text, the whole chapter or book

A passage counts as an anchor if the characters that both share, without blanks, are at least the share
`least` of the anchor's characters or of the passage's own. So with a share of a half, at least one passage
counts wherever the text is cut. Of forbidden text, 40 shared characters are enough.

A hit that is not a passage of the corpus is judged only by its text. It must hold the anchor, lie in it, or
begin or end inside it. If the anchor forbids text, 40 characters anywhere in the hit are enough. Such a
judgment is valid only for the arms and seeds that returned the hit.

A hit with the words of an anchor in other markup is a near miss, and so is a hit that is too long. A near
miss does not count, and its item stays undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product
from typing import ClassVar, NamedTuple

from assay.core.block import Block
from assay.core.dataset import Dataset, Place
from assay.core.errors import Problem, UsageError
from assay.core.protocols import Kit, NearMiss
from assay.core.records import FORBIDDEN, INTENT, RELEVANCE, Item, Judgment, Passage
from assay.judges.labels import ArmSeed
from assay.kinds.search.anchor_index import (
    REAL,
    SURE,
    Anchor,
    AnchorIndex,
    CompactTexts,
    ForbiddenText,
    anchors_of,
    count_visible,
)
from assay.kinds.search.anchor_text import SourceText

FIRST_ADDRESS = "assay.judges.anchors"

SHOWN_PLACES = 3
SHOWN_NEAR = 5


class _HitText(NamedTuple):
    """A hit to be judged: its id and text, and the arm and seed that returned the text (None: all)."""

    doc_id: str
    text: str
    arm: str | None = None
    seed: int | None = None


Said = Iterator[tuple[Anchor, _HitText]]
Returned = Mapping[str, Mapping[str, Set[ArmSeed]]]  # by id, by text: the arms and seeds


@dataclass(frozen=True)
class Anchors:
    """Reads `gold["anchors"]` and `gold["forbidden"]`. Anchors name only some of the relevant passages.

    A passage of more than `longest` characters is not judged, because it could hold anchors only because of
    its size. Forbidden text counts in passages of any size.
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
        """The documents in the form that is compared, by text. All chunkings of a corpus share them."""
        return {}

    def index(self, dataset: Dataset) -> AnchorIndex:
        """Returns an index that finds anchors in a dataset's corpus."""
        return AnchorIndex(dataset.corpus, self._sources)

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        anchored = {item.item_id: anchors for item in dataset.items if (anchors := anchors_of(item))}
        if not anchored:
            return []
        index, returned, places = self.index(dataset), _returned(blocks, anchored), _places(blocks)
        counting = cache(partial(self.passages, index=index))  # many items share their forbidden anchors
        found: list[Judgment] = []
        for item_id, anchors in anchored.items():
            hits = returned.get(item_id, {})
            foreign = {each: texts for each, texts in hits.items() if each not in dataset.corpus.position}
            twins = _PassageTwins(hits, foreign, places, index.compact)
            said = [
                (anchor, _HitText(passage.doc_id, passage.text, arm, seed))
                for anchor in anchors
                for passage in counting(anchor)
                for arm, seed in twins.without(passage)
            ]
            targets = list(_targets(foreign, places))
            wanting, forbidding = _split_by_kind(anchors)
            said += self._wanted(wanting, [each for each in targets if self._short(each.text)], index.compact)
            said += self._withheld(forbidding, targets, index, index.compact)
            found += self._judgments(item_id, said)
        return found

    def near_misses(
        self, dataset: Dataset, blocks: Sequence[Block], judged: Iterable[Judgment]
    ) -> Iterator[NearMiss]:
        """Yields hits that have an anchor's words but do not count: they have other markup, or are too long.

        `judged` are the judgments of hits that count. Near misses have no judgment, so scores that depend on
        them are unjudged.
        """
        anchored = {item.item_id: anchors for item in dataset.items if (anchors := anchors_of(item))}
        if not anchored:
            return
        index, returned, places = self.index(dataset), _returned(blocks, anchored), _places(blocks)
        longer = cache(partial(self.passages, index=index, short=False))
        known: dict[tuple[str, str, str | None], set[str | None]] = {}
        for each in judged:
            known.setdefault((each.item_id, each.label, each.target), set()).add(each.arm)
        for item_id, anchors in anchored.items():
            hits = returned.get(item_id, {})
            foreign = {each: texts for each, texts in hits.items() if each not in dataset.corpus.position}
            targets = list(_targets(foreign, places))
            wanting, forbidding = _split_by_kind(anchors)
            nearly = [
                (anchor, _HitText(passage.doc_id, passage.text, arm, seed))
                for anchor in wanting
                for passage in longer(anchor)
                for arm, seed in _as_few_places(set().union(*hits.get(passage.doc_id, {}).values()), places)
            ]
            nearly += self._wanted(
                wanting, [each for each in targets if not self._short(each.text)], index.compact
            )
            sure = [anchor for anchor in wanting if len(index.plain[anchor.text or ""]) >= SURE]
            nearly += self._wanted(sure, targets, index.plain)
            nearly += self._withheld(forbidding, targets, index, index.plain)
            best: dict[_HitText, Anchor] = {}
            for anchor, target in sorted(nearly, key=lambda each: -each[0].grade):
                arms = {target.arm} if target.arm is not None else {arm for arm, _ in places}
                counted = known.get((item_id, anchor.label, target.doc_id), set())
                if None not in counted and not arms <= counted and target not in best:
                    best[target] = anchor
                    (judgment,) = self._judgments(item_id, [(anchor, target)])
                    fits = anchor.label == FORBIDDEN or self._short(target.text)
                    yield NearMiss(judgment, 0 if fits else len(target.text))

    def describe(self, near: Sequence[NearMiss]) -> Iterator[str]:
        """Describes near misses: items, some of the hits, why they do not count, and what to do."""
        return _describe(near)

    def _judgments(self, item_id: str, said: Iterable[tuple[Anchor, _HitText]]) -> Iterator[Judgment]:
        """Yields a judgment for each hit, by the anchor with the highest grade."""
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

    def passages(self, anchor: Anchor, index: AnchorIndex, short: bool = True) -> list[Passage]:
        """Returns the passages that count as an anchor, or (`short` False) those that are only too long."""
        found: dict[str, Passage] = {}
        for place in index.places(anchor):
            wanted = count_visible(place.text)
            for passage, shared, own in index.passages(place):
                fits = anchor.label == FORBIDDEN or self._short(passage.text)
                if self._enough(anchor, shared, wanted, own) and fits is short:
                    found[passage.doc_id] = passage
        return list(found.values())

    def _enough(self, anchor: Anchor, shared: int, wanted: int, own: int) -> bool:
        """Whether the shared characters are a large enough part of the anchor or of the passage."""
        enough = self.least * min(wanted, own)
        return shared > 0 and shared >= (min(enough, REAL) if anchor.label == FORBIDDEN else enough)

    def _short(self, text: str) -> bool:
        return len(text) <= self.longest

    # --------------------------------------------------------------------- hits known by their text

    def _wanted(self, anchors: Sequence[Anchor], hits: Sequence[_HitText], form: CompactTexts) -> Said:
        """Yields the hits that hold enough of an anchor. Both texts are compared in the same form."""
        for hit, anchor in product(hits, anchors):
            own, wanted = form[hit.text], form[anchor.text or ""]
            if self._enough(anchor, len(shared_text(own, wanted)), len(wanted), len(own)):
                yield anchor, hit

    def _withheld(
        self, anchors: Sequence[Anchor], hits: Sequence[_HitText], index: AnchorIndex, form: CompactTexts
    ) -> Said:
        """Yields the hits that hold forbidden text. Both texts are compared in the same form."""
        for hit in hits if anchors else ():
            if found := self._forbidding(form[hit.text], index.withheld(anchors, form)):
                yield found, hit

    def _forbidding(self, own: str, withheld: ForbiddenText) -> Anchor | None:
        """Returns an anchor that forbids a text by a long stretch or, in short texts, by a large share."""
        if found := withheld.anchor_in(own):
            return found
        for anchor, forbidden in withheld.texts:
            if anchor.text is not None and forbidden in own:
                return anchor  # quoted words are forbidden even if they also occur elsewhere
            if self.least * min(len(own), len(forbidden)) < REAL:
                shared = shared_text(own, forbidden)
                enough = self._enough(anchor, len(shared), len(forbidden), len(own))
                if enough and not withheld.allows(shared):
                    return anchor
        return None

    # ---------------------------------------------------------------------------- before a run

    def examine(self, dataset: Dataset, kit: Kit) -> tuple[list[Problem], list[str]]:
        """Returns problems (anchors that are not in the corpus) and warnings.

        Warnings are about anchors with several places, and about anchors that no passage counts as.
        """
        index, problems, warnings = self.index(dataset), dict[Problem, None](), list[str]()
        seen: set[Anchor] = set()
        for item in dataset.items:
            place = dataset.places.get(item.item_id, Place(dataset.name))
            for number, anchor in enumerate(anchors_of(item)):
                if anchor.label == FORBIDDEN and anchor in seen:  # the same for all items
                    continue
                seen.add(anchor)
                if index.places(anchor):
                    warnings += [f"{_where(item, place)}: {doubt}" for doubt in self.doubts(anchor, index)]
                else:
                    what, fix = index.missing(anchor)
                    own = f"expected_passages.{number}.passage_substring"
                    part = FORBIDDEN if anchor.label == FORBIDDEN else own
                    problems[Problem(what, place.file, place.line, f"{item.item_id}.{part}", fix)] = None
        return list(problems), warnings

    def doubts(self, anchor: Anchor, index: AnchorIndex) -> Iterator[str]:
        """Yields warnings about an anchor that is in the corpus."""
        places = index.places(anchor)
        if len(places) > 1 and anchor.text is not None and anchor.label != FORBIDDEN:
            some = ", ".join(dict.fromkeys(place.document.doc_id for place in places[:SHOWN_PLACES]))
            yield f"{str(anchor)!r} stands at {len(places)} places ({some}), and all of them count"
        if not self.passages(anchor, index):
            yield f"no passage counts as {str(anchor)!r}: {self.lacking(anchor, index)}"

    def lacking(self, anchor: Anchor, index: AnchorIndex) -> str:
        """Returns the reason why no passage counts as an anchor that is in the corpus."""
        near = [passage for place in index.places(anchor) for passage, _, _ in index.passages(place)]
        if not near:
            return "none lies where it stands"
        if all(len(passage.text) > self.longest for passage in near):
            return f"those that hold it have more than {self.longest} characters"
        return f"none shares {self.least:.0%} of it"


def _split_by_kind(anchors: Iterable[Anchor]) -> tuple[list[Anchor], list[Anchor]]:
    """Returns the anchors that should be found, and the anchors that must not be found."""
    kinds: tuple[list[Anchor], list[Anchor]] = [], []
    for anchor in anchors:
        kinds[anchor.label == FORBIDDEN].append(anchor)
    return kinds


def shared_text(own: str, wanted: str) -> str:
    """Returns the text that two texts share: all of one of them, or an overlap at their ends."""
    if wanted in own:
        return wanted
    if own in wanted:
        return own if len(own) >= SURE else ""
    bare = own.strip(".")  # dots at the ends of a snippet
    return max(_overlap(bare, wanted), _overlap(wanted, bare), key=len)


def _overlap(before: str, after: str) -> str:
    """Returns the longest end of one text with which the other begins, of at least SURE characters."""
    tail, start = before[-len(after) :], after[:SURE]
    place = tail.find(start) if len(after) >= SURE else -1
    while place >= 0:
        if after.startswith(tail[place:]):
            return tail[place:]
        place = tail.find(start, place + 1)
    return ""


def _places(blocks: Sequence[Block]) -> frozenset[ArmSeed]:
    return frozenset((block.arm.name, block.seed) for block in blocks)


def _returned(blocks: Sequence[Block], wanted: Mapping[str, object]) -> dict[str, Returned]:
    """Returns the hits of each item: by id and text, the arms and seeds that returned them."""
    found: dict[str, dict[str, dict[str, set[ArmSeed]]]] = {}
    for block in blocks:
        for item, response in zip(block.items, block.responses, strict=True):
            if response is not None and item.item_id in wanted:
                for hit in response.hits:
                    texts = found.setdefault(item.item_id, {}).setdefault(hit.doc_id, {})
                    texts.setdefault(hit.text or "", set()).add((block.arm.name, block.seed))
    return dict(found)


def _targets(hits: Returned, places: Set[ArmSeed]) -> Iterator[_HitText]:
    """Yields the hits that have a text, for the arms and seeds that returned them."""
    for doc_id, texts in hits.items():
        for text, here in texts.items():
            if text:
                yield from (_HitText(doc_id, text, arm, seed) for arm, seed in _as_few_places(here, places))


class _PassageTwins:
    """Finds passages that were returned under another id: they are judged there, and must not count twice."""

    def __init__(
        self, hits: Returned, foreign: Returned, places: Set[ArmSeed], compact: CompactTexts
    ) -> None:
        self._hits, self._places, self._compact = hits, places, compact
        self._by_text: dict[str, set[ArmSeed]] = {}
        for texts in foreign.values():
            for text, here in texts.items():
                if text:
                    self._by_text.setdefault(compact[text], set()).update(here)

    def without(self, passage: Passage) -> list[ArmSeed]:
        """Returns the arms and seeds that did not return the passage under another id."""
        away = self._by_text.get(self._compact[passage.text], set()) if self._by_text else set()
        own = set[ArmSeed]().union(*self._hits.get(passage.doc_id, {}).values())
        return _as_few_places(self._places - (away - own), self._places) if away else [(None, None)]


def _as_few_places(some: Set[ArmSeed], places: Set[ArmSeed]) -> list[ArmSeed]:
    """Returns arms and seeds in as few entries as possible; None means all."""
    if some == places:
        return [(None, None)]
    found: dict[ArmSeed, None] = {}
    for arm, seed in sorted(some, key=str):
        whole = all(each in some for each in places if each[0] == arm)
        found[arm, None if whole else seed] = None
    return list(found)


def _where(item: Item, place: Place) -> str:
    return f"{place.file}{f':{place.line}' if place.line is not None else ''}: {item.item_id}"


def _describe(near: Iterable[NearMiss]) -> Iterator[str]:
    kinds: dict[tuple[bool, bool], list[NearMiss]] = {}
    for each in near:
        kinds.setdefault((each.judgment.label == FORBIDDEN, each.size > 0), []).append(each)
    for (forbidden, long), misses in kinds.items():
        items = dict.fromkeys(each.judgment.item_id for each in misses)
        some = "; ".join(_near_words(each) for each in misses[:SHOWN_NEAR])
        more = f"; and {len(misses) - SHOWN_NEAR} more" if len(misses) > SHOWN_NEAR else ""
        what = "forbidden text" if forbidden else "an anchor's words"
        why = "too long to count" if long else "with other markup or punctuation"
        fix = "return shorter passages, or raise `longest`" if long else "return text as the anchors quote it"
        count = f"{len(items)} item{'s' * (len(items) != 1)}"
        yield (
            f"near misses, {count}: hits show {what} {why}, so scores that depend on them are unjudged: "
            f"{some}{more}. To settle it, {fix}, or let people judge these hits"
        )


def _near_words(near: NearMiss) -> str:
    judgment, size = near.judgment, f", {near.size} characters" if near.size else ""
    where = f" of {judgment.arm}" if judgment.arm else ""
    return f"{judgment.item_id}: hit {judgment.target!r}{where} has {judgment.reason!r}{size}"
