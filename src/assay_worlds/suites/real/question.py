"""Drafts of questions on real text: text, answer, evidence and tags.

A maker is a function `questions(pages, passages, rng) -> Iterator[QuestionDraft]`. `pages` are the pages of
the maker's kind, in the order of their sources. `passages` maps the doc_id of a page to its passages. `rng`
is the only source of randomness. A maker drafts more questions than are used, and the dataset chooses among
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from random import Random
from typing import Any, NamedTuple, TypeVar

from assay.core.records import Span
from assay.datasets.evidence import PARAGRAPH, SENTENCE, sentence_unit
from assay_worlds.sources.source import SourcePage
from assay_worlds.suites.real.value import PageSentence, Passages


class QuestionDraft(NamedTuple):
    """A question with its answer and evidence, before it is checked, counted and chosen."""

    text: str
    answer: str | list[str]  # a list: all of its texts belong to the answer
    units: Sequence[dict[str, Any]]  # made by `suites.evidence`; empty if the corpus has no answer
    tags: tuple[str, ...]
    kind: str  # the rule that made it, such as "handbook_number": choices are balanced over it
    impossible: str | None = None  # "aggregation", "out_of_kb", or None

    @property
    def grain(self) -> str:
        """The kind of the units: a paragraph if units list their needed sentences, otherwise a sentence."""
        return PARAGRAPH if any("needs" in unit for unit in self.units) else SENTENCE


Maker = Callable[[Sequence[SourcePage], Passages, Random], Iterator[QuestionDraft]]


_SHORTEST, _LONGEST = 7, 32  # words of a sentence that a question is made of
_VAGUE = re.compile(
    r"^(?:[aq]:|it|this|that|these|those|they|he|she|there|such|here|then|however|also|for example|e\.g|ex:"
    r"|note|and|but|or|so|whether|yes|no|same|their|therefore|thus|because|finally|instead|again|if so"
    r"|otherwise|in this|in that|in these|i|my|example)\b",
    re.IGNORECASE,
)
_ODD = re.compile(
    r"[|{}<>\[\]=`\\~^]|https?:|www\.|--|\?|\be\.g|\bi\.e|\b[Ee]xample|\betc\b|TODO|TBD|\.{3}|…|::"
    r"|\s[,.;:](?:\s|$)|\(\s*\)|Jump to|Table of Contents"  # what links leave behind, and pointers
)
TITLE = re.compile(r"[\w(][\w ,.&:'’()/+#-]{3,70}[\w).!]")


def sound(said: str, closed: bool = False) -> bool:
    """Whether a text is a sentence that is clear by itself. If `closed`, it must end like a sentence."""
    words = said.split()
    letters = sum(word.strip(".,;:()\"'’“”").replace("-", "").isalpha() for word in words)
    return (
        _SHORTEST <= len(words) <= _LONGEST
        and said[0].isupper()
        and (said[-1] in ".!)" or (not closed and said[-1].isalnum()))
        and said.count("(") == said.count(")")
        and said.count('"') % 2 == 0
        and letters >= 0.75 * len(words)
        and not _VAGUE.match(said)
        and not _ODD.search(said)
    )


def named(page: SourcePage) -> str | None:
    """Returns the page's name for use in a question, or None if the name would read like a fragment."""
    name = str(page.document.metadata["page"])
    return name if TITLE.fullmatch(name) and not name.lower().endswith("readme") else None


def handbook(page: SourcePage) -> str:
    return str(page.document.metadata["handbook"])


def as_of(page: SourcePage) -> str:
    """Returns the month from which a page is valid, in words: "April 2022"."""
    return spoken(str(page.document.metadata["as_of"]))


def spoken(day: str) -> str:
    return f"{date.fromisoformat(day):%B %Y}"


def page_of(page: SourcePage) -> str:
    """Returns the words that name a page in a question."""
    return f'the "{named(page)}" page of the {handbook(page)}'


def place(stated: PageSentence, rng: Random) -> str:
    """Returns the place of a sentence, in words that open a question."""
    where, heading = page_of(stated.page), stated.heading
    if heading and heading != named(stated.page) and TITLE.fullmatch(heading) and rng.random() < 0.5:
        return f'the section "{heading}" on {where}'
    return where


T = TypeVar("T")
Unit = dict[str, Any]
MOST = 40  # questions per rule that are drafted: more than are ever chosen
LONG = 2400  # characters of evidence: over 400 tokens of prose by any tokenizer
LONG_HEADS = 1200  # the same for lines of names, addresses and days, which take more tokens


def unit_at(page: SourcePage, span: Span, passages: Passages) -> Unit | None:
    """Returns a span of a page as evidence, or None if no passage contains the whole span."""
    for passage in passages.get(page.document.doc_id, ()):
        if passage.span and passage.span.start <= span.start and span.end <= passage.span.end:
            return sentence_unit(passage, span)
    return None


def field_span(page: SourcePage, name: str) -> Span | None:
    """Returns the span of the line `Name: …` at the head of a page, or None."""
    head = page.document.text.partition("\n\n")[0]
    found = re.search(rf"^{re.escape(name)}: .*$", head, re.MULTILINE)
    return Span(*found.span()) if found else None


def field_of(page: SourcePage, name: str) -> str:
    """Returns the value of a field at the head of a page, or an empty text."""
    span = field_span(page, name)
    return page.document.text[span.start + len(name) + 2 : span.end] if span else ""


def field_units(page: SourcePage, names: Sequence[str], passages: Passages) -> list[Unit]:
    """Returns the lines of some fields as evidence, or an empty list if a line is missing."""
    spans = [span for name in names if (span := field_span(page, name))]
    units = [unit for span in spans if (unit := unit_at(page, span, passages))]
    return units if len(units) == len(names) else []


def characters(units: Iterable[Unit]) -> int:
    """Returns the number of characters of the evidence."""
    return sum(len(unit["text"]) for unit in units)


def shuffled(candidates: Iterable[T], rng: Random) -> list[T]:
    """Returns the candidates in random order."""
    mixed = list(candidates)
    rng.shuffle(mixed)
    return mixed


def some(drafts: Iterator[QuestionDraft], most: int = MOST) -> Iterator[QuestionDraft]:
    """Returns the first questions of a rule, at most `most`."""
    return islice(drafts, most)


def day_in_words(day: str) -> str:
    """Writes a day in words: "2002-08-22" is 22 August 2002."""
    found = date.fromisoformat(day)
    return f"{found.day} {found:%B} {found.year}"
