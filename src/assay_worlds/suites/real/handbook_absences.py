"""Questions that a handbook certainly does not answer: it lacks the very words they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from random import Random

from assay.datasets.evidence import OUT_OF_KB
from assay.retrieval.content import stems_of
from assay_worlds.sources.source import Page
from assay_worlds.suites.real.phrasing import handbook, named
from assay_worlds.suites.real.question import Drafted
from assay_worlds.suites.real.stated import Book

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
_PREFIX = 5  # letters of a stem from which on a longer word is taken for one of its kin
_SHARE, _FEWEST = 4, 3  # one absence on so many other drafts is a fifth of all; but so many at least


def absences(
    book: Book, current: Sequence[Page], rng: Random, others: int | None = None
) -> Iterator[Drafted]:
    """Questions on topics nobody wrote about, and on pages that only another handbook has.

    `others` is how many drafts there are besides: absences are at most a fifth of all, or three.
    """
    most = None if others is None else max(others // _SHARE, _FEWEST)
    yield from islice(_absences(book, current, rng), most)


def _absences(book: Book, current: Sequence[Page], rng: Random) -> Iterator[Drafted]:
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
    """The topics of which no text has a telling word: none of its stem, none that begins with it."""
    general = set(stems_of([_GENERAL])[0])
    telling = {topic: set(stems_of([topic])[0]) - general for topic in _TOPICS}
    written = _words(texts, {stem for stems in telling.values() for stem in stems})
    stems = {stem for each in stems_of(sorted(written)) for stem in each}
    for topic, own in telling.items():
        begins = tuple(stem for stem in own if len(stem) >= _PREFIX)
        if not own & stems and not any(word.startswith(begins) for word in written):
            yield topic.partition("|")[0]


def _words(texts: Iterable[str], stems: Iterable[str]) -> set[str]:
    """The words of texts, and two as one where that may be a stem's: "sky diving", "bee-hives"."""
    first = {stem[:end] for stem in stems for end in range(2, len(stem))}
    found = set[str]()
    for line in {line for text in texts for line in text.split("\n")}:  # snapshots repeat most lines
        words = _LETTERS.findall(line)
        found.update(words)
        found.update(one + two for one, two in pairwise(words) if one in first)
    return found


def _absent(text: str, kind: str) -> Drafted:
    return Drafted(text, "", [], ("out_of_distribution",), kind, OUT_OF_KB)


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
