"""Where the sentences of a text lie, by Wikimedia's sentencex."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from assay.core.records import Span
from assay.retrieval.tokens import release

_ITEM = r"(?:[-*+•]|\d{1,3}[.)])[ \t]"  # how an item of a list begins
_LONE = r"[ \t]*(?:#{1,6}[ \t]|\|)"  # how a heading and a row of a table begin, which are a sentence each
_BORDER = re.compile(rf"^[ \t\r]*$|^(?=[ \t]*{_ITEM})|^{_LONE}.*$", re.MULTILINE)  # whatever the punctuation
_LONE_START = re.compile(_LONE)
_ITEM_START = re.compile(rf"\s*(?:{_ITEM})?\s*")
_STRETCH = 10_000  # characters: sentencex takes the square of a paragraph's quotes and brackets


def sentence_spans(text: str, language: str = "en") -> list[Span]:
    """The sentences of a text in order, less the white space around each.

    A heading (`# …`) and a row of a table (`| …`) are one each; a list item and what ends at a blank line are
    never joined with what follows. A language that sentencex has no rules for is read by its general ones.
    """
    release("sentencex")
    borders = sorted({0, len(text), *(at for found in _BORDER.finditer(text) for at in found.span())})
    spans = (
        trimmed(text, Span(start, end))
        for block in pairwise(borders)
        for start, end in pairwise(_borders(text, *block, language))
    )
    return [span for span in spans if span is not None]


def trimmed(text: str, span: Span) -> Span | None:
    """A span less the white space at its ends; None where nothing else is in it."""
    inside = text[span.start : span.end]
    start = span.start + len(inside) - len(inside.lstrip())
    end = span.end - len(inside) + len(inside.rstrip())
    return Span(start, end) if start < end else None


def _borders(text: str, start: int, end: int, language: str) -> Iterator[int]:
    """Where the sentences of one block start, and where the last one ends."""
    from sentencex import get_sentence_boundaries

    yield start
    if _LONE_START.match(text, start, end):
        yield end
        return
    if number := _ITEM_START.match(text, start, end):
        start = number.end()  # else "1." would be a sentence
    while end - start > _STRETCH:
        # The last sentence of a stretch may go on after it, so it is the first of the next stretch.
        stretch = text[start : start + _STRETCH]
        starts = [start + each["start_index"] for each in get_sentence_boundaries(language, stretch)][1:]
        starts = starts or [start + _last_gap(stretch)]
        yield from starts
        start = starts[-1]
    yield from (start + each["end_index"] for each in get_sentence_boundaries(language, text[start:end]))
    yield end


def _last_gap(stretch: str) -> int:
    """Where to cut what goes on without a sentence border: after white space, if there is any."""
    return max(stretch.rfind(" "), stretch.rfind("\n")) + 1 or len(stretch)
