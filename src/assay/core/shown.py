"""Measures how much of an item's evidence a context shows, by the spans of its pieces or by their words.

A reader sees texts, not spans. So the span of a piece counts only if it is exactly as long as the text, and
if the text agrees with the evidence in that place. Any other piece, such as a piece without a span or without
its markup, counts by its words: a sentence of the evidence must occur in the piece with the same letters and
as whole words. Differences in white space are ignored.

`assay.datasets.evidence` describes what evidence is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec

from assay.core.dataset import Corpus
from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.records import Budget, Context, Item, Piece, Response, Span


def context_target(budget: Budget) -> str:
    """Returns the target of a label on the context under a budget: `context@400`, `context@inf`."""
    return f"context@{'inf' if budget is None else budget}"


class EvidenceUnit(msgspec.Struct, frozen=True):
    """A unit of evidence in a document.

    It has a span, the text of that span, and the sentences in it that are needed.
    """

    source: str
    start: int
    end: int
    text: str
    needs: list[Span] = []  # empty: the whole unit is needed
    also: list[EvidenceUnit] = []  # other places with the same statement

    def __post_init__(self) -> None:
        if self.end - self.start != len(self.text):
            raise ValueError(f"the text has {len(self.text)} characters, its span {self.end - self.start}")
        if self.start < 0 or not self.text.strip():
            raise ValueError("a unit is a stretch of text from a place at or after 0")
        if not all(self.start <= need.start < need.end <= self.end for need in self.needs):
            raise ValueError("`needs` lists a sentence outside the unit")

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def needed(self) -> list[Span]:
        """The spans of the sentences that an answer needs; the span of the whole unit if none are named."""
        return self.needs or [self.span]

    @property
    def places(self) -> list[EvidenceUnit]:
        """The unit itself, and the units of other places with the same statement."""
        return [self, *self.also]

    def within(self, start: int, end: int) -> str:
        """Returns the part of the unit's text that lies between two positions of the document."""
        return self.text[max(start - self.start, 0) : max(end - self.start, 0)]


@dataclass(frozen=True)
class ItemEvidence:
    """The evidence of one item."""

    units: Sequence[EvidenceUnit]

    @cached_property
    def places(self) -> dict[str, list[EvidenceUnit]]:
        """Every place where the evidence can be read, by document."""
        found: dict[str, list[EvidenceUnit]] = {}
        for unit in self.units:
            for place in unit.places:
                found.setdefault(place.source, []).append(place)
        return found


def evidence_of(items: Sequence[Item]) -> list[ItemEvidence | None]:
    """Returns the evidence of each item, or None for an item without evidence.

    If some evidence cannot be read, raises one DataError with all such problems.
    """
    found, problems = list[ItemEvidence | None](), list[Problem]()
    for item in items:
        try:
            units = msgspec.convert(item.gold.get("evidence") or [], list[EvidenceUnit])
            found.append(ItemEvidence(units) if units else None)
        except msgspec.ValidationError as error:
            problems.append(decoding_problem(error, f"item {item.item_id!r}, gold evidence"))
    if problems:
        raise DataError(problems)
    return found


def evidence_problems(items: Sequence[Item], corpus: Corpus) -> list[Problem]:
    """Returns the problems of evidence that cannot be read, or whose text is not at its place."""
    try:
        wanted = evidence_of(items)
    except DataError as error:
        return list(error.problems)
    found = []
    for item, evidence in zip(items, wanted, strict=True):
        for unit in (place for one in (evidence.units if evidence else ()) for place in one.places):
            text = corpus.text_of(unit.source)
            if text is None or text[unit.start : unit.end] != unit.text:
                lacks = "there is no such document" if text is None else "another text is there"
                place = f"{unit.source} [{unit.start}, {unit.end})"
                what = f"item {item.item_id!r}: the evidence at {place} is not in the corpus: {lacks}"
                found.append(
                    Problem(what, field="evidence", fix="Take document, span and text from the corpus.")
                )
                break
    return found


class _ContextParts(NamedTuple):
    """The content of a context, by how it can be compared with evidence.

    `spans` are in documents that have evidence. `words` are those of pieces without a usable span.
    `elsewhere` is the number of other characters.
    """

    spans: Mapping[str, list[tuple[int, int]]]  # by document, in order; a span shown twice is listed twice
    words: str
    elsewhere: int  # the number of characters


@dataclass(frozen=True)
class ShownEvidence:
    """How much of the evidence of one item is shown by one context."""

    wanted: ItemEvidence
    context: Context
    corpus: Corpus

    @cached_property
    def recall(self) -> float:
        """The share of units that are shown.

        A unit is shown if everything that is needed of it is shown, in one of its places.
        """
        units = self.wanted.units
        return sum(any(map(self._is_shown, unit.places)) for unit in units) / len(units)

    @property
    def complete(self) -> bool:
        """Whether every unit is shown."""
        return self.recall == 1

    @property
    def precision(self) -> float:
        """The share of the context, in characters, that lies in units; 0 if the context is empty."""
        spans, words, elsewhere = self._parts
        placed = (end - start for each in spans.values() for start, end in each)
        whole = sum(placed) + elsewhere + len(words)
        inside = sum(end - start for document in spans for start, end in self._evidence_in(document))
        if words:
            places = (place for each in self.wanted.places.values() for place in each)
            found = (at for place in places for text in _texts_of(place) for at in _find_words(text, words))
            inside += sum(end - start for start, end in _union(found))
        return inside / whole if whole else 0.0

    @cached_property
    def _parts(self) -> _ContextParts:
        spans: dict[str, list[tuple[int, int]]] = {}
        words, elsewhere, places = list[str](), 0, self.wanted.places
        for piece in self.context.pieces:
            document = self.corpus.document_of(piece.doc_id)
            if piece.span is None or not self._lies_there(piece, piece.span, places.get(document, ())):
                words.append(piece.text)
            elif document in places:
                spans.setdefault(document, []).append((piece.span.start, piece.span.end))
            else:
                elsewhere += len(piece.text)
        ordered = {document: sorted(each) for document, each in spans.items()}
        return _ContextParts(ordered, _normalized(" ".join(words)), elsewhere)

    def _lies_there(self, piece: Piece, span: Span, places: Iterable[EvidenceUnit]) -> bool:
        """Whether the span of a piece can be trusted.

        It can if it is as long as the text, if the text agrees with the evidence where they overlap, and if
        the corpus has the text to which the span belongs.
        """
        if span.end - span.start != len(piece.text):
            return False
        for unit in places:
            inside = piece.text[max(unit.start - span.start, 0) : max(unit.end - span.start, 0)]
            if inside != unit.within(span.start, span.end):
                return False
        return self.corpus.text_of(piece.doc_id) is not None  # otherwise the text of the span is unknown

    def _is_shown(self, unit: EvidenceUnit) -> bool:
        if unit.source not in self._parts.spans and not self._parts.words:
            return False
        return all(self._covers(unit, need) or self._has_words(unit, need) for need in unit.needed)

    def _has_words(self, unit: EvidenceUnit, need: Span) -> bool:
        return any(_find_words(unit.within(need.start, need.end), self._parts.words))

    def _covers(self, unit: EvidenceUnit, need: Span) -> bool:
        """Whether pieces with spans show a sentence together. White space may be missing."""
        at = need.start
        for start, end in self._parts.spans.get(unit.source, ()):
            if unit.within(at, min(start, need.end)).strip():
                return False
            at = max(at, end)
        return not unit.within(at, need.end).strip()

    def _evidence_in(self, document: str) -> Iterator[tuple[int, int]]:
        """Yields the spans of evidence in the pieces of a document.

        A span that is shown twice is yielded twice.
        """
        evidence = list(_union((unit.start, unit.end) for unit in self.wanted.places[document]))
        for start, end in self._parts.spans[document]:
            for first, last in evidence:
                if max(first, start) < min(last, end):
                    yield max(first, start), min(last, end)


def shown_by_budget(
    items: Sequence[Item], responses: Sequence[Response | None], corpus: Corpus
) -> dict[Budget, list[ShownEvidence | None]]:
    """Returns, for each budget, how much evidence the context of each item shows.

    The value is None for an item without evidence, or without a context under that budget. A context with
    more tokens than its budget shows nothing, since a reader with that budget never sees it.
    """
    evidence = evidence_of(items)
    contexts = [
        {each.budget: _within_budget(each) for each in response.contexts} if response else {}
        for response in responses
    ]
    return {
        budget: [
            ShownEvidence(wanted, held[budget], corpus) if wanted and budget in held else None
            for wanted, held in zip(evidence, contexts, strict=True)
        ]
        for budget in dict.fromkeys(budget for held in contexts for budget in held)
    }


def _within_budget(context: Context) -> Context:
    if context.budget is None or context.tokens <= context.budget:
        return context
    return msgspec.structs.replace(context, pieces=[])


def _texts_of(unit: EvidenceUnit) -> list[str]:
    """Returns the texts whose words show a unit: the whole unit, and each of its needed sentences."""
    return [unit.text, *(unit.within(need.start, need.end) for need in unit.needs)]


def _find_words(text: str, words: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each place where a text occurs among words, as whole words."""
    wanted = _normalized(text)
    at = words.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if not (_is_inside_word(words, at) or _is_inside_word(words, end)):
            yield at, end
        at = words.find(wanted, at + 1)


def _is_inside_word(words: str, at: int) -> bool:
    """Whether a position is inside a word or number."""
    return 0 < at < len(words) and words[at - 1].isalnum() and words[at].isalnum()


def _normalized(text: str) -> str:
    return " ".join(text.split())


def _union(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merges overlapping spans, and yields the results in order."""
    held: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if held is not None and start <= held[1]:
            held = held[0], max(held[1], end)
            continue
        if held is not None:
            yield held
        held = start, end
    if held is not None:
        yield held
