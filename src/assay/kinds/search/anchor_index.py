"""Finds the text that gold quotes in a corpus, and the passages at these places."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterator, MutableMapping, Sequence
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.dataset import Corpus
from assay.core.errors import did_you_mean
from assay.core.records import FORBIDDEN, QUOTED_GRADES, Document, Item, Passage, Span
from assay.kinds.search.anchor_text import SimilarText, SourceText, join_hyphens, without_markup

SURE = 20  # characters that a hit must share with an anchor if its place is unknown (or all of the anchor)
REAL = 40  # characters of forbidden text that are not shared by chance
SHOWN = 60
_MIX, _TIMES = 0x9E3779B97F4A7C15, (2, 2, 2, 5)  # a large odd number; factors of REAL
_SLOTS = 24  # bits of a hash in the table: most unknown hashes fall on an empty slot
CLOSE = 0.8  # similarity of a text in the anchor's chapter, above which other chapters are not searched


class Anchor(NamedTuple):
    """A quoted text of a book, and the label and grade of the hits that hold it.

    If `text` is None, the whole chapter is the text.
    """

    book: str
    chapter: int | None
    text: str | None
    language: str | None  # None: any
    label: str
    grade: float
    category: str | None = None

    @property
    def of(self) -> str:
        """The chapter or book of the anchor, in words."""
        return repr(self.book) if self.chapter is None else f"chapter {self.chapter} of {self.book!r}"

    def __str__(self) -> str:
        words = " ".join((self.text or self.of).split())
        return words if len(words) <= SHOWN else words[: SHOWN - 1].rstrip() + "…"


class AnchorPlace(NamedTuple):
    """A stretch of a document that an anchor quotes."""

    document: Document
    span: Span

    @property
    def text(self) -> str:
        return self.document.text[self.span.start : self.span.end]


class NearestPlace(NamedTuple):
    """The text of a document that is most similar to an anchor."""

    document: Document
    near: SimilarText

    def __str__(self) -> str:
        text = " ".join(self.near.text.split())
        return f"{text!r} in {self.document.doc_id}, {self.near.similarity:.0%} alike"


def anchors_of(item: Item) -> list[Anchor]:
    """Returns the anchors in an item's gold: texts that should be found, then texts that must not be."""
    label, grades = item.label, QUOTED_GRADES[item.label]
    wanted = [
        Anchor(each["book"], each.get("chapter"), each["text"], item.language, label, grades[level], level)
        for each in item.gold.get("anchors", ())
        for level in [each["relevance"]]
    ]
    # forbidden in every language
    return wanted + [
        Anchor(each["book"], each.get("chapter"), each.get("text"), None, FORBIDDEN, 1.0)
        for each in item.gold.get("forbidden", ())
    ]


class CompactTexts(dict[str, str]):
    """A cache of texts in the form in which they are compared, without blanks."""

    def __missing__(self, text: str) -> str:
        self[text] = join_hyphens(text).replace(" ", "")
        return self[text]


class PlainTexts(CompactTexts):
    """A cache of texts in the form in which they are compared, without markup."""

    def __missing__(self, text: str) -> str:
        self[text] = without_markup(text)
        return self[text]


class AnchorIndex:
    """Finds anchors in a corpus, and the passages at their places.

    A passage without a document counts as a document of its own.
    """

    def __init__(self, corpus: Corpus, sources: MutableMapping[str, SourceText] | None = None) -> None:
        self.compact, self.plain = CompactTexts(), PlainTexts()
        self._sources = {} if sources is None else sources  # by text: reused for each chunking
        self._found: dict[tuple[Any, ...], list[AnchorPlace]] = {}
        self._withheld: dict[tuple[type[CompactTexts], tuple[Anchor, ...]], ForbiddenText] = {}
        self._inside: dict[str, list[tuple[Span, Passage]]] = defaultdict(list)
        documents = dict(corpus.documents)
        for passage in corpus.passages:
            span, source = passage.span, passage.source
            if span is None or source is None or source not in corpus.documents:
                span, source = Span(0, len(passage.text)), passage.doc_id
                documents[source] = Document(source, passage.text, passage.title, passage.metadata)
            self._inside[source].append((span, passage))
        for inside in self._inside.values():
            inside.sort(key=lambda each: each[0].start)
        self._books: dict[str, list[Document]] = defaultdict(list)
        for document in documents.values():
            self._books[str(document.metadata.get("book", document.doc_id))].append(document)

    def places(self, anchor: Anchor) -> list[AnchorPlace]:
        """Returns every place of an anchor in its chapter."""
        key = anchor[:4]
        if key not in self._found:
            self._found[key] = [found for each in self._chapters(anchor) for found in self._in(each, anchor)]
        return self._found[key]

    def _chapters(self, anchor: Anchor) -> list[Document]:
        return [
            document
            for document in self._books.get(anchor.book, ())
            if _matches(document, "chapter", anchor.chapter)
            and _matches(document, "language", anchor.language)
        ]

    def _source(self, document: Document) -> SourceText:
        if document.text not in self._sources:
            self._sources[document.text] = SourceText(document.text)
        return self._sources[document.text]

    def _in(self, document: Document, anchor: Anchor) -> Iterator[AnchorPlace]:
        if anchor.text is None:
            yield AnchorPlace(document, Span(0, len(document.text)))
        else:
            for span in self._source(document).spans(anchor.text):
                yield AnchorPlace(document, span)

    def passages(self, found: AnchorPlace) -> Iterator[tuple[Passage, int, int]]:
        """Yields each passage that overlaps a place.

        With it come the number of visible characters that it shares with the place, and the number of its
        own.
        """
        inside, text = self._inside.get(found.document.doc_id, []), found.document.text
        after = bisect.bisect_left(inside, found.span.end, key=lambda each: each[0].start)
        for span, passage in inside[:after]:
            if span.overlap(found.span):
                start, end = max(span.start, found.span.start), min(span.end, found.span.end)
                yield passage, count_visible(text[start:end]), count_visible(text[span.start : span.end])

    def withheld(self, anchors: Sequence[Anchor], form: CompactTexts) -> ForbiddenText:
        """Returns the forbidden text of some anchors in one form, from the cache if possible."""
        key = type(form), tuple(anchors)
        if key not in self._withheld:
            self._withheld[key] = ForbiddenText(key[1], self, form)
        return self._withheld[key]

    def outside(self, anchors: Sequence[Anchor]) -> Iterator[str]:
        """Yields the text of all documents outside the places of some anchors."""
        inside: dict[str, list[Span]] = defaultdict(list)
        for anchor in anchors:
            for found in self.places(anchor):
                inside[found.document.doc_id].append(found.span)
        for document in (each for documents in self._books.values() for each in documents):
            done = 0
            for span in sorted(inside[document.doc_id], key=lambda each: each.start):
                yield document.text[done : span.start]
                done = max(done, span.end)
            yield document.text[done:]

    def nearest(self, anchor: Anchor) -> NearestPlace | None:
        """Returns the text that is most similar to an anchor.

        It is searched in the anchor's chapter, and in the whole book if no text of the chapter is close.
        """
        best: NearestPlace | None = None
        for where in (anchor, anchor._replace(chapter=None)):
            for document in self._chapters(where) if best is None or best.near.similarity < CLOSE else ():
                near = self._source(document).nearest(anchor.text or "")
                if near.similarity > (best.near.similarity if best else 0):
                    best = NearestPlace(document, near)
        return best

    def missing(self, anchor: Anchor) -> tuple[str, str]:
        """Returns the reason why an anchor is not in the corpus, and what to do."""
        if anchor.book not in self._books:
            return f"the corpus has no book {anchor.book!r}", did_you_mean(anchor.book, self._books)
        if not self._chapters(anchor):
            what = f"the corpus has no {anchor.of}" + (f" in {anchor.language!r}" if anchor.language else "")
            return what, "Correct the chapter, or add it to the corpus."
        what = f"{str(anchor)!r} is not in {anchor.of}"
        if there := self.places(anchor._replace(chapter=None)):
            return what, f"It is in {there[0].document.doc_id}: correct the chapter."
        wanted = self.plain[anchor.text or ""]
        if len(wanted) >= SURE and any(wanted in self.plain[each.text] for each in self._chapters(anchor)):
            what += " with this markup and punctuation"
        best = self.nearest(anchor)
        nearest = f"Nearest: {best}" if best else "Nothing there is like it"
        return what, f"Quote the text as it stands. {nearest}."


class ForbiddenText:
    """The texts that anchors forbid.

    In hits of unknown place, they are found by stretches of REAL characters. A stretch that also occurs
    outside the forbidden places does not count, because the hit may be from there.
    """

    def __init__(self, anchors: Sequence[Anchor], index: AnchorIndex, form: CompactTexts) -> None:
        self._anchors, self._index, self._form = anchors, index, form
        self.texts = [
            (anchor, form[text])
            for anchor in anchors
            for text in ([anchor.text] if anchor.text else [found.text for found in index.places(anchor)])
        ]
        hashes = [stretch_hashes(text) for _, text in self.texts]
        self._known = np.sort(np.concatenate([np.zeros(0, np.uint64), *hashes]))
        self._slots = np.zeros(1 << _SLOTS, np.bool_)
        self._slots[_slots_of(self._known)] = True

    def anchor_in(self, text: str) -> Anchor | None:
        """Returns an anchor whose forbidden text shares a stretch with a normalized text.

        Stretches that also occur in allowed text do not count. Returns None if there is no such anchor.
        """
        start, known = self._where(stretch_hashes(text))
        telling = start[~self._allowed[known]] if len(start) else start
        if not len(telling):
            return None
        stretch = text[telling[0] : telling[0] + REAL]
        return next((anchor for anchor, forbidden in self.texts if stretch in forbidden), None)

    def allows(self, text: str) -> bool:
        """Whether a normalized text occurs outside the forbidden places."""
        return any(text in each for each in self._others)

    @cached_property
    def _others(self) -> list[str]:
        return [self._form[text] for text in self._index.outside(self._anchors)]

    @cached_property
    def _allowed(self) -> NDArray[np.bool_]:
        """A mask of the known stretches that also occur outside the forbidden places.

        It is computed when a hit first has a known stretch.
        """
        allowed = np.zeros(len(self._known), np.bool_)
        for text in self._others:
            allowed[self._where(stretch_hashes(text))[1]] = True
        return allowed

    def _where(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the indices of the hashes that are known, and the index of each in the list of known
        hashes."""
        start = np.flatnonzero(self._slots[_slots_of(hashes)])
        known = np.searchsorted(self._known, hashes[start])
        known[known == len(self._known)] = 0
        same = np.flatnonzero(self._known[known] == hashes[start]) if len(start) else start
        return start[same], known[same]


def _slots_of(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (hashes >> np.uint64(64 - _SLOTS)).astype(np.int64)


def stretch_hashes(text: str) -> NDArray[np.uint64]:
    """Returns a hash of every stretch of REAL characters: a 64-bit polynomial, built from shorter hashes."""
    found = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    size = 1
    for times in _TIMES:
        n, step = max(len(found) - (times - 1) * size, 0), np.uint64(pow(_MIX, size, 1 << 64))
        parts = [found[part * size : part * size + n] for part in range(times)]
        found = reduce(lambda before, after: before * step + after, parts)
        size *= times
    return found


def _matches(document: Document, key: str, wanted: Any) -> bool:
    """Whether a document has the wanted chapter or language. A document without that metadata matches any."""
    return wanted is None or document.metadata.get(key) in (None, wanted)


def count_visible(text: str) -> int:
    """Counts the characters of a text that are not white space."""
    return sum(map(len, text.split()))
