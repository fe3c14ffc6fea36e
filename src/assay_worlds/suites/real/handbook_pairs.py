"""Makes questions on topics that a handbook does not contain, and questions that ask for lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from random import Random
from typing import NamedTuple

from assay.datasets.evidence import AGGREGATION, OUT_OF_KB
from assay.retrieval.words import content_stems
from assay_worlds.sources.source import SourcePage
from assay_worlds.suites.real.question import QuestionDraft, handbook, named, page_of
from assay_worlds.suites.real.value import PageBook, PageSentence, values

_WORD = re.compile(r"[A-Za-z]{6,}")
_LETTERS = re.compile(r"[^\W\d_]+")
# What an office might have rules on; behind a bar, other words for the same.
_TOPICS = (
    "keeping beehives on the office roof|beekeeping, an apiary",
    "practising the trombone in meeting rooms",
    "travelling by submarine",
    "bringing birds of prey to work for falconry|falcons, hawks",
    "using a company snowmobile",
    "taking a sabbatical year in Antarctica|the South Pole",
    "running a fermentation cellar|brewery",
    "skydiving during team events|parachutes",
    "booking the office greenhouse",
    "repairing office typewriters",
    "working from the company lighthouse",
    "getting a commuter hovercraft pass",
    "having the office chimney swept",
    "reserving the staff sauna",
    "tuning the lobby harpsichord",
    "sending a telegram on behalf of the company",
    "living on a houseboat as a remote worker",
    "displaying taxidermy at the front desk|stuffed animals",
    "harvesting fruit in the company orchard",
    "claiming rickshaw fares",
)
# Words of topics that any handbook may have without a word on the topic; every other word is telling.
_GENERAL = """
    animals behalf birds booking bringing cellar claiming commuter company desk displaying during events fares
    front fruit getting harvesting having keeping living lobby meeting office pass practising remote repairing
    reserving roof rooms running sending South staff stuffed taking team travelling tuning using work worker
    working year
"""
_PREFIX = 5  # with this many letters or more, a stem matches all words that begin with it
_SHARE, _FEWEST = 4, 3  # one absence per four other drafts is a fifth of all; at least three are allowed


def absences(
    book: PageBook, current: Sequence[SourcePage], rng: Random, others: int | None = None
) -> Iterator[QuestionDraft]:
    """Asks about topics without any text, and about pages that only another handbook has.

    `others` is the number of all other drafts. Absences are at most a fifth of all drafts, but three are
    always allowed.
    """
    most = None if others is None else max(others // _SHARE, _FEWEST)
    yield from islice(_absences(book, current, rng), most)


def _absences(book: PageBook, current: Sequence[SourcePage], rng: Random) -> Iterator[QuestionDraft]:
    texts: dict[str, list[str]] = {}
    for page in book.pages:
        texts.setdefault(handbook(page), []).append(page.document.text.casefold())
    words = {name: {word for text in each for word in _WORD.findall(text)} for name, each in texts.items()}
    for name, each in texts.items():
        for about in _unwritten(each):
            yield _absent(_about(name, about, rng), "handbook_no_topic")
    for page in current:
        title, owner = str(named(page)), handbook(page)
        own = {word.casefold() for word in _WORD.findall(title)}
        if owner.split()[0] in title or any(sign.isdigit() for sign in title):
            continue
        for name, known in words.items():
            if name != owner and own - known:
                yield _absent(_elsewhere(name, title, rng), "handbook_other")


def _unwritten(texts: Iterable[str]) -> Iterator[str]:
    """Yields the topics whose distinctive words occur in no text, in any form."""
    general = set(content_stems([_GENERAL])[0])
    telling = {topic: set(content_stems([topic])[0]) - general for topic in _TOPICS}
    written = _words(texts, {stem for stems in telling.values() for stem in stems})
    stems = {stem for each in content_stems(sorted(written)) for stem in each}
    for topic, own in telling.items():
        begins = tuple(stem for stem in own if len(stem) >= _PREFIX)
        if not own & stems and not any(word.startswith(begins) for word in written):
            yield topic.partition("|")[0]


def _words(texts: Iterable[str], stems: Iterable[str]) -> set[str]:
    """Returns the words of texts, and joined pairs that may match a stem: "sky diving", "bee-hives"."""
    first = {stem[:end] for stem in stems for end in range(2, len(stem))}
    found = set[str]()
    for line in {line for text in texts for line in text.split("\n")}:  # snapshots repeat most lines
        words = _LETTERS.findall(line)
        found.update(words)
        found.update(one + two for one, two in pairwise(words) if one in first)
    return found


def _absent(text: str, kind: str) -> QuestionDraft:
    return QuestionDraft(text, "", [], ("out_of_distribution",), kind, OUT_OF_KB)


def _about(book_name: str, about: str, rng: Random) -> str:
    wording = (
        f"What does the {book_name} say about {about}?",
        f"Who has to approve {about}, according to the {book_name}?",
        f"What are the rules of the {book_name} for {about}?",
    )
    return rng.choice(wording)


def _elsewhere(book_name: str, title: str, rng: Random) -> str:
    wording = (
        f'What does the {book_name} say on its page "{title}"?',
        f'Where does the {book_name} describe "{title}", and what are the main points?',
    )
    return rng.choice(wording)


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
_COMMON = 4  # pages that must have a key before questions ask for it
_MENTIONS = (16, 120)  # sentences that name the same channel or address, for a listing
_PAGES = 6  # pages that must name the channel or address
_LONG_WORDS = 320  # words that a listing needs: with headings and ids, well above 400 tokens


class _KeyedLine(NamedTuple):
    """A line with a key and a value, such as "Policy Owner: Head of Security"."""

    key: str
    value: str
    stated: PageSentence


def listings(book: PageBook, current: Sequence[SourcePage], rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the values of a key that several pages have: on one page, on two pages, and on all."""
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


def _pairs(book: PageBook, current: Sequence[SourcePage]) -> list[list[_KeyedLine]]:
    """Returns the lines with a key that several pages have, by handbook and key, one line per page."""
    found: dict[tuple[str, str], list[_KeyedLine]] = {}
    for page in current:
        own: dict[str, list[_KeyedLine]] = {}
        for each in book.sentences(page):
            match = _KEY.fullmatch(each.said)
            if match and match["key"].split()[0].lower() not in _NO_KEY:
                own.setdefault(match["key"], []).append(
                    _KeyedLine(match["key"], match["value"].strip(" .\\"), each)
                )
        for key, pairs in own.items():
            if len(pairs) == 1 and not str(named(page)).startswith(key):
                found.setdefault((handbook(page), key), []).append(pairs[0])
    return [pairs for pairs in found.values() if len(pairs) >= _COMMON]


def _one(book: PageBook, pair: _KeyedLine, rng: Random) -> QuestionDraft:
    where = page_of(pair.stated.page)
    wording = (
        f'What does {where} give as its "{pair.key}"?',
        f'Which entry stands behind "{pair.key}" on {where}?',
    )
    tags = ("detail", "single_branch")
    return QuestionDraft(rng.choice(wording), pair.value, [book.unit(pair.stated)], tags, "handbook_key")


def _two(book: PageBook, pair: _KeyedLine, other: _KeyedLine, rng: Random) -> QuestionDraft:
    names = f'"{named(pair.stated.page)}" and "{named(other.stated.page)}"'
    book_name = handbook(pair.stated.page)
    wording = (
        f'How do the pages {names} of the {book_name} differ in their "{pair.key}"?',
        f'Compare the "{pair.key}" of two pages of the {book_name}: {names}.',
    )
    units = [book.unit(pair.stated), book.unit(other.stated)]
    tags = ("comparative", "entity_spanning", "detail")
    return QuestionDraft(rng.choice(wording), [pair.value, other.value], units, tags, "handbook_compared")


def _all_of_a_key(group: Sequence[_KeyedLine], rng: Random) -> QuestionDraft:
    key, book_name = group[0].key, handbook(group[0].stated.page)
    wording = (
        f'List the "{key}" of every page of the {book_name} that gives one.',
        f'For each page of the {book_name} with a line "{key}", what does it say?',
    )
    units = [pair.stated.unit for pair in group]
    answer = [f"{named(pair.stated.page)}: {pair.value}" for pair in group]
    tags = ("aggregation", "entity_spanning")
    return QuestionDraft(rng.choice(wording), answer, units, tags, "handbook_all_keys", AGGREGATION)


def _mentions(book: PageBook, current: Sequence[SourcePage], rng: Random) -> Iterator[QuestionDraft]:
    """Asks which pages name a channel or an address, and for which purposes."""
    found: dict[tuple[str, str], list[PageSentence]] = {}
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
        yield QuestionDraft(
            rng.choice(wording), list(pages.values()), units, tags, "handbook_mentions", AGGREGATION
        )
