"""Questions that a handbook certainly does not answer: it lacks the very words they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from assay.datasets.sources.source import Page
from assay.suites.evidence import OUT_OF_KB
from assay.suites.real.phrasing import handbook, named
from assay.suites.real.question import Drafted
from assay.suites.real.stated import Book

_WORD = re.compile(r"[A-Za-z]{6,}")
# What an office might have rules on; the word before the bar must stand nowhere in the handbook.
_TOPICS = (
    "beekeeping|keeping beehives on the office roof",
    "trombone|practising the trombone in meeting rooms",
    "submarine|travelling by submarine",
    "falconry|bringing birds of prey to work for falconry",
    "snowmobile|using a company snowmobile",
    "sabbatical year in Antarctica|taking a sabbatical year in Antarctica",
    "fermentation|running a fermentation cellar",
    "skydiving|skydiving during team events",
    "greenhouse|booking the office greenhouse",
    "typewriter|repairing office typewriters",
    "lighthouse|working from the company lighthouse",
    "ferry pass|getting a commuter ferry pass",
    "chimney|having the office chimney swept",
    "sauna|reserving the staff sauna",
    "harpsichord|tuning the lobby harpsichord",
    "telegram|sending a telegram on behalf of the company",
    "houseboat|living on a houseboat as a remote worker",
    "taxidermy|displaying taxidermy at the front desk",
    "orchard|harvesting fruit in the company orchard",
    "rickshaw|claiming rickshaw fares",
)


def absences(book: Book, current: Sequence[Page], rng: Random) -> Iterator[Drafted]:
    """Questions on topics nobody wrote about, and on pages that only another handbook has."""
    texts: dict[str, list[str]] = {}
    for page in book.pages:
        texts.setdefault(handbook(page), []).append(page.document.text.casefold())
    words = {name: {word for text in each for word in _WORD.findall(text)} for name, each in texts.items()}
    for name, each in texts.items():
        for topic in _TOPICS:
            word, _, about = topic.partition("|")
            if not any(word.casefold() in text for text in each):
                yield _absent(_about(name, about, rng), "handbook_no_topic")
    for page in current:
        title, owner = str(named(page)), handbook(page)
        own = {word.casefold() for word in _WORD.findall(title)}
        if owner.split()[0] in title or any(sign.isdigit() for sign in title):
            continue
        for name, known in words.items():
            if name != owner and own - known:
                yield _absent(_elsewhere(name, title, rng), "handbook_other")


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
