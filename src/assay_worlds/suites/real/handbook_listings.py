"""Questions over several pages of a handbook: keys they share, comparisons, and listings too long to give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from assay.datasets.evidence import AGGREGATION
from assay_worlds.sources.source import Page
from assay_worlds.suites.real.phrasing import handbook, named, page_of
from assay_worlds.suites.real.question import Drafted
from assay_worlds.suites.real.stated import Book, Stated
from assay_worlds.suites.real.value import values

_KEY = re.compile(r"(?P<key>[A-Z][A-Za-z]+(?: [A-Za-z]+){0,3}): (?P<value>[A-Z0-9][^:|]{1,60})")
# These head remarks, or lines that many pages have by nature.
_NO_KEY = {
    "note",
    "notes",
    "warning",
    "tip",
    "example",
    "important",
    "next",
    "see",
    "step",
    "question",
    "answer",
    "for",
    "you",
    "examples",
}
_COMMON = 4  # pages that give the same key, for it to be one people ask for
_MENTIONS = (16, 120)  # sentences that name the same channel or address, for a listing
_PAGES = 6  # that name it
_LONG_WORDS = 320  # of what a listing needs: with headings and ids well above 400 tokens


class _Pair(NamedTuple):
    """A line that gives a value under a key, such as "Policy Owner: Head of Security"."""

    key: str
    value: str
    stated: Stated


def listings(book: Book, current: Sequence[Page], rng: Random) -> Iterator[Drafted]:
    """What pages say under a key they share, one by one, two by two and all together."""
    for group in _pairs(book, current):
        settled = [pair for pair in group if not book.contested(pair.stated, _key_of)]
        for pair in settled:
            yield _one(book, pair, rng)
        rng.shuffle(settled)
        for pair, other in pairwise(settled):
            if pair.value.casefold() != other.value.casefold():
                yield _two(book, pair, other, rng)
        if sum(len(pair.stated.said.split()) for pair in group) >= _LONG_WORDS:
            yield _all_of_a_key(group, rng)
    yield from _mentions(book, current, rng)


def _key_of(said: str) -> str:
    found = _KEY.fullmatch(said)
    return found["key"] if found else f"\0{said}"


def _pairs(book: Book, current: Sequence[Page]) -> list[list[_Pair]]:
    """What pages give under keys that several of them have, one a page, by handbook and key."""
    found: dict[tuple[str, str], list[_Pair]] = {}
    for page in current:
        own: dict[str, list[_Pair]] = {}
        for each in book.sentences(page):
            match = _KEY.fullmatch(each.said)
            if match and match["key"].split()[0].lower() not in _NO_KEY:
                own.setdefault(match["key"], []).append(
                    _Pair(match["key"], match["value"].strip(" .\\"), each)
                )
        for key, pairs in own.items():
            if len(pairs) == 1 and not str(named(page)).startswith(key):
                found.setdefault((handbook(page), key), []).append(pairs[0])
    return [pairs for pairs in found.values() if len(pairs) >= _COMMON]


def _one(book: Book, pair: _Pair, rng: Random) -> Drafted:
    where = page_of(pair.stated.page)
    wording = (
        f'What does {where} give as its "{pair.key}"?',
        f'Which entry stands behind "{pair.key}" on {where}?',
    )
    tags = ("detail", "single_branch")
    return Drafted(rng.choice(wording), pair.value, [book.unit(pair.stated)], tags, "handbook_key")


def _two(book: Book, pair: _Pair, other: _Pair, rng: Random) -> Drafted:
    names = f'"{named(pair.stated.page)}" and "{named(other.stated.page)}"'
    book_name = handbook(pair.stated.page)
    wording = (
        f'How do the pages {names} of the {book_name} differ in their "{pair.key}"?',
        f'Compare the "{pair.key}" of two pages of the {book_name}: {names}.',
    )
    units = [book.unit(pair.stated), book.unit(other.stated)]
    tags = ("comparative", "entity_spanning", "detail")
    return Drafted(rng.choice(wording), [pair.value, other.value], units, tags, "handbook_compared")


def _all_of_a_key(group: Sequence[_Pair], rng: Random) -> Drafted:
    key, book_name = group[0].key, handbook(group[0].stated.page)
    wording = (
        f'List the "{key}" of every page of the {book_name} that gives one.',
        f'For each page of the {book_name} with a line "{key}", what does it say?',
    )
    units = [pair.stated.unit for pair in group]
    answer = [f"{named(pair.stated.page)}: {pair.value}" for pair in group]
    tags = ("aggregation", "entity_spanning")
    return Drafted(rng.choice(wording), answer, units, tags, "handbook_all_keys", AGGREGATION)


def _mentions(book: Book, current: Sequence[Page], rng: Random) -> Iterator[Drafted]:
    """Which pages name a channel or an address: as many sentences as there are places that do."""
    found: dict[tuple[str, str], list[Stated]] = {}
    for page in current:
        for each in book.sentences(page):
            for value in sorted({v.answer for v in values(each.said) if v.sort in {"channel", "email"}}):
                found.setdefault((handbook(page), value), []).append(each)
    for (book_name, name), places in found.items():
        pages = {each.page.document.doc_id: str(named(each.page)) for each in places}
        words = sum(len(each.said.split()) for each in places)
        if not _MENTIONS[0] <= len(places) <= _MENTIONS[1] or len(pages) < _PAGES or words < _LONG_WORDS:
            continue
        wording = (
            f"For which purposes do the current pages of the {book_name} name {name}? List them all.",
            f"List every current page of the {book_name} that mentions {name}, and what for.",
        )
        units = [each.unit for each in places]
        tags = ("aggregation", "entity_spanning")
        yield Drafted(
            rng.choice(wording), list(pages.values()), units, tags, "handbook_mentions", AGGREGATION
        )
