"""Lines of pages as evidence: a field at the head of a message or report, an entry of release notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from random import Random
from typing import Any, TypeVar

from assay.core.records import Span
from assay.datasets.evidence import sentence_unit
from assay_worlds.sources.source import Page
from assay_worlds.suites.real.question import Drafted, Passages

T = TypeVar("T")
Unit = dict[str, Any]
MOST = 40  # questions of a rule: more than are ever chosen
LONG = 2400  # characters of evidence: over 400 tokens of prose by any tokenizer
LONG_HEADS = 1200  # the same for lines of names, addresses and days, which take more tokens


def unit_at(page: Page, span: Span, passages: Passages) -> Unit | None:
    """A stretch of a page as evidence; None where no passage holds the whole of it."""
    for passage in passages.get(page.document.doc_id, ()):
        if passage.span and passage.span.start <= span.start and span.end <= passage.span.end:
            return sentence_unit(passage, span)
    return None


def field_span(page: Page, name: str) -> Span | None:
    """Where the line `Name: …` at the head of a page lies."""
    head = page.document.text.partition("\n\n")[0]
    found = re.search(rf"^{re.escape(name)}: .*$", head, re.MULTILINE)
    return Span(*found.span()) if found else None


def field_of(page: Page, name: str) -> str:
    """What the head of a page says after a field's name; empty where it has none."""
    span = field_span(page, name)
    return page.document.text[span.start + len(name) + 2 : span.end] if span else ""


def field_units(page: Page, names: Sequence[str], passages: Passages) -> list[Unit]:
    """The lines of some fields as evidence; nothing where one of them is missing."""
    spans = [span for name in names if (span := field_span(page, name))]
    units = [unit for span in spans if (unit := unit_at(page, span, passages))]
    return units if len(units) == len(names) else []


def characters(units: Iterable[Unit]) -> int:
    """How long the evidence is."""
    return sum(len(unit["text"]) for unit in units)


def shuffled(candidates: Iterable[T], rng: Random) -> list[T]:
    """Candidates in an order of chance."""
    mixed = list(candidates)
    rng.shuffle(mixed)
    return mixed


def some(drafts: Iterator[Drafted], most: int = MOST) -> Iterator[Drafted]:
    """The first of a rule's questions."""
    return islice(drafts, most)


def day_in_words(day: str) -> str:
    """A day as people write it: "2002-08-22" is 22 August 2002."""
    found = date.fromisoformat(day)
    return f"{found.day} {found:%B} {found.year}"
