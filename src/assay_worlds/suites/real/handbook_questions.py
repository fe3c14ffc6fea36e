"""Makes questions on the current text of handbooks: facts, procedures, absences and listings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

from assay.datasets.evidence import AGGREGATION
from assay_worlds.sources.source import PageSection, SourcePage
from assay_worlds.suites.real.handbook_pairs import absences, listings
from assay_worlds.suites.real.question import TITLE, QuestionDraft, handbook, named, page_of, place, sound
from assay_worlds.suites.real.value import (
    PageBook,
    PageSentence,
    Passages,
    Value,
    as_question,
    mask_values,
    values,
)

_STEP = re.compile(r"(?m)^\s*\d{1,3}\. ")
_STEPS_WORDS = (25, 220)  # words of a procedure that fits into the budget
_WORD = re.compile(r"[A-Za-z]{5,}")
_GENERAL = {"about", "details", "guide", "guidelines", "management", "overview", "process", "professional"}
_GENERAL |= {
    "program",
    "resources",
    "service",
    "services",
    "success",
    "support",
    "teams",
    "tools",
    "types",
    "using",
    "working",
}
_SAMPLE = re.compile(r"example|sample|template", re.IGNORECASE)
_CODE = re.compile(r"[{}|=]")
_OPENINGS = (
    ("Compare two handbooks. First,", "Second,"),
    ("How do these two figures compare? In", "And in"),
)
_LONG_WORDS = 380  # words of a procedure that does not fit: well above 400 tokens


class _StatedFact(NamedTuple):
    """A sentence with one value, and the question that asks for this value."""

    stated: PageSentence
    value: Value
    question: str


def questions(pages: Sequence[SourcePage], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Applies all rules to the pages whose names are unambiguous."""
    book = PageBook(pages, passages)
    current = _current(pages)
    answered = list(_answered(book, current, rng))
    yield from answered
    yield from absences(book, current, rng, len(answered))


def _answered(book: PageBook, current: Sequence[SourcePage], rng: Random) -> Iterator[QuestionDraft]:
    facts = [fact for page in current for fact in _facts(book, page)]
    yield from (_single(book, fact, rng) for fact in facts)
    yield from _side_by_side(book, facts, rng)
    for page in current:
        yield from _sections(book, page, rng)
    yield from listings(book, current, rng)


def _current(pages: Sequence[SourcePage]) -> list[SourcePage]:
    """Returns the current pages with a unique name."""
    current = [page for page in pages if "until" not in page.document.metadata]
    count = Counter((handbook(page), str(page.document.metadata["page"]).casefold()) for page in current)
    return [
        page
        for page in current
        if (name := named(page)) is not None and count[handbook(page), name.casefold()] == 1
    ]


# ------------------------------------------------------------------------------------------- facts


def _facts(book: PageBook, page: SourcePage) -> Iterator[_StatedFact]:
    """Yields sentences with one value that no text of the page contradicts."""
    sentences = book.sentences(page)
    often = Counter(each.said for each in sentences)
    for each in sentences:
        lone = often[each.said] == 1 and not _SAMPLE.search(each.heading)
        found = values(each.said) if lone and sound(each.said, closed=True) else []
        if (
            len(found) != 1
            or found[0].sort in {"channel", "clock", "day"}
            or book.contested(each, mask_values)
        ):
            continue
        question = as_question(each.said, found[0])
        if question is not None:
            yield _StatedFact(each, found[0], question)


def _single(book: PageBook, fact: _StatedFact, rng: Random) -> QuestionDraft:
    where = place(fact.stated, rng)
    opening = rng.choice((f"According to {where}", f"Going by {where}", f"This is about {where}"))
    kind, unit = f"handbook_{fact.value.sort}", book.unit(fact.stated)
    return QuestionDraft(
        f"{opening}: {fact.question}", fact.value.answer, [unit], ("detail", "single_branch"), kind
    )


def _side_by_side(book: PageBook, facts: Sequence[_StatedFact], rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the same sort of number in two handbooks, on pages that share a distinctive word."""
    for fact, other in combinations([fact for fact in facts if fact.value.sort in {"number", "amount"}], 2):
        pages = (fact.stated.page, other.stated.page)
        if handbook(pages[0]) == handbook(pages[1]) or _unit(fact) != _unit(other):
            continue
        names = [{word.casefold() for word in _WORD.findall(str(named(page)))} for page in pages]
        if (names[0] & names[1]) - _GENERAL and fact.value.answer != other.value.answer:
            text = " ".join(
                f"{opening} {page_of(each.stated.page)}: {each.question}"
                for opening, each in zip(rng.choice(_OPENINGS), (fact, other), strict=True)
            )
            units, answer = (
                [book.unit(fact.stated), book.unit(other.stated)],
                [fact.value.answer, other.value.answer],
            )
            tags = ("comparative", "entity_spanning", "detail", "two_hop")
            yield QuestionDraft(text, answer, units, tags, "handbook_side_by_side")


def _unit(fact: _StatedFact) -> str:
    return fact.value.answer.partition(" ")[2] if fact.value.sort == "number" else fact.value.sort


# ---------------------------------------------------------------------------------------- sections


def _sections(book: PageBook, page: SourcePage, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for the text under a heading: the steps of a procedure, or the answer to a question."""
    headings = Counter(section.heading for section in page.sections)
    titles = {title for path in headings for title in path.split(" > ")}
    for section in page.sections:
        heading = section.heading.rpartition(" > ")[2]
        asking = heading.removeprefix("Q: ")
        if (
            headings[section.heading] > 1
            or heading == named(page)
            or not TITLE.fullmatch(asking.rstrip("?"))
            or asking[0].isdigit()
        ):
            continue
        body = page.document.text[section.span.start : section.span.end]
        if _CODE.search(body):
            continue
        inside = [each for each in book.sentences(page) if _within(each, section) and each.said not in titles]
        words = sum(len(each.said.split()) for each in inside)
        where = page_of(page) if len(book.texts(page)) == 1 else f"the current text of {page_of(page)}"
        if len(_STEP.findall(body)) >= 3:
            yield from _procedure(book, inside, words, f'"{heading}" in {where}', rng)
        elif asking.endswith("?") and len(asking.split()) >= 5 and 12 <= words <= _STEPS_WORDS[1]:
            text = rng.choice((f"{asking} Answer from {where}.", f"What does {where} answer: {asking}"))
            answer = " ".join(each.said for each in inside)
            yield _whole(book, text, answer, inside, "handbook_faq")


def _procedure(
    book: PageBook, inside: Sequence[PageSentence], words: int, where: str, rng: Random
) -> Iterator[QuestionDraft]:
    steps = [each for each in inside if _STEP.match(each.unit["text"])]
    first = next(at for at, each in enumerate(inside) if each is steps[0]) if steps else 0
    needed = inside[first:]
    if len(steps) < 3:
        return
    wording = (f"What are the numbered points under {where}?", f"Which points are numbered under {where}?")
    answer = [each.said for each in steps]
    if words >= _LONG_WORDS:
        text = rng.choice(
            (f"List every numbered point under {where}.", f"Give in full all points under {where}.")
        )
        units = [book.unit(each) for each in needed]
        yield QuestionDraft(
            text, answer, units, ("aggregation", "single_branch"), "handbook_long_steps", AGGREGATION
        )
    elif _STEPS_WORDS[0] <= words <= _STEPS_WORDS[1]:
        yield _whole(book, rng.choice(wording), answer, needed, "handbook_steps")


def _whole(
    book: PageBook, text: str, answer: str | list[str], inside: Sequence[PageSentence], kind: str
) -> QuestionDraft:
    """Makes a question whose evidence is whole passages."""
    needs: dict[str, list[PageSentence]] = {}
    for each in inside:
        needs.setdefault(each.passage.doc_id, []).append(each)
    units = [
        book.paragraph(group[0].page, group[0].passage, [each.span for each in group])
        for group in needs.values()
    ]
    return QuestionDraft(text, answer, units, ("single_branch",), kind)


def _within(stated: PageSentence, section: PageSection) -> bool:
    return section.span.start <= stated.span.start and stated.span.end <= section.span.end
