"""Makes questions that need the right snapshot of a page: its text on a day, and its later changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from assay.datasets.evidence import AGGREGATION, OUT_OF_KB
from assay_worlds.sources.source import SourcePage
from assay_worlds.suites.real.question import (
    QuestionDraft,
    as_of,
    handbook,
    named,
    page_of,
    place,
    sound,
    spoken,
)
from assay_worlds.suites.real.value import (
    PageBook,
    PageSentence,
    Passages,
    Value,
    as_question,
    changed_value,
    mask_values,
    with_blank,
)

_SHORT = 4  # the most sentences of evidence for a change with a short answer
_LONG_WORDS = 380  # words of all changes that do not fit into the budget: well above 400 tokens
_EARLIER_YEARS = (3, 4, 5)


class _ChangedSentence(NamedTuple):
    """A sentence before and after a change, and the only value in which the two versions differ."""

    old: PageSentence
    new: PageSentence
    was: Value
    now: Value


def questions(pages: Sequence[SourcePage], passages: Passages, rng: Random) -> Iterator[QuestionDraft]:
    """Asks for values as of a day, for values before and after a change, and for all changes of a page."""
    book = PageBook(pages, passages)
    clashing = _shared_names(pages)
    for versions in _histories(pages):
        for before, after in pairwise(versions):
            name = named(before)
            if name is None or name != named(after) or (handbook(before), name) in clashing:
                continue
            yield from _about_values(book, before, after, rng)
            yield from _about_page(book, before, after, rng)
        yield from _too_early(versions[0], clashing, rng)


def _histories(pages: Sequence[SourcePage]) -> Iterator[list[SourcePage]]:
    """Yields all texts of each page that has several texts, oldest first."""
    by_path: dict[tuple[str, str], list[SourcePage]] = {}
    for page in pages:
        if path := page.document.metadata.get("snapshot_of"):
            by_path.setdefault((handbook(page), path), []).append(page)
    for versions in by_path.values():
        if len(versions) > 1:
            yield sorted(versions, key=lambda page: str(page.document.metadata["as_of"]))


def _shared_names(pages: Sequence[SourcePage]) -> set[tuple[str, str]]:
    """Returns the names that several pages of a handbook have or had. Questions with them are ambiguous."""
    owners = {
        (handbook(page), str(page.document.metadata["page"]), page.document.metadata["path"])
        for page in pages
    }
    count = Counter((book, name) for book, name, _ in owners)
    return {key for key, number in count.items() if number > 1}


# ------------------------------------------------------------------------------------------ values


def _about_values(
    book: PageBook, before: SourcePage, after: SourcePage, rng: Random
) -> Iterator[QuestionDraft]:
    for change in _changes(book, before, after):
        question = _question(change.old.said, change.was)
        if question is None or not _has_one_answer(book, change):
            continue
        yield _then(book, change.old, change.was, question, rng)
        yield _then(book, change.new, change.now, question, rng)
        yield _from_and_to(book, change, question, rng)


def _question(said: str, value: Value) -> str | None:
    question = as_question(said, value)
    if question is None and value.sort in {"name", "channel"}:
        return f'What fills the blank in "{with_blank(said, value)}"?'
    return question


def _changes(book: PageBook, before: SourcePage, after: SourcePage) -> Iterator[_ChangedSentence]:
    for olds, news in _differences(book, before, after):
        if len(olds) != len(news):
            continue
        for old, new in zip(olds, news, strict=True):
            values = changed_value(old.said, new.said)
            if values is not None and sound(old.said) and sound(new.said):
                yield _ChangedSentence(old, new, *values)


def _differences(
    book: PageBook, before: SourcePage, after: SourcePage
) -> list[tuple[list[PageSentence], list[PageSentence]]]:
    """Returns the runs of sentences in which two texts of a page differ, as pairs of old and new."""
    old, new = book.sentences(before), book.sentences(after)
    match = SequenceMatcher(None, [each.said for each in old], [each.said for each in new], autojunk=False)
    return [(old[a:b], new[c:d]) for tag, a, b, c, d in match.get_opcodes() if tag != "equal"]


def _has_one_answer(book: PageBook, change: _ChangedSentence) -> bool:
    """Whether no other sentence in either text gives another answer to the question."""
    for stated, value in ((change.old, change.was), (change.new, change.now)):
        same = {mask_values(with_blank(stated.said, value)), mask_values(stated.said)}
        if sum(mask_values(each.said) in same for each in book.sentences(stated.page)) > 1:
            return False
    return True


def _then(book: PageBook, stated: PageSentence, value: Value, question: str, rng: Random) -> QuestionDraft:
    """Asks what a page said as of a day, or what it says now after a change."""
    where, units = place(stated, rng), [book.unit(stated)]
    tags = ("temporal", "detail", "single_branch")
    if "until" not in stated.page.document.metadata:
        wording = (
            f"According to the current text of {where}: {question}",
            f"As {where} stands now: {question}",
        )
        return QuestionDraft(rng.choice(wording), value.answer, units, tags, "now")
    when = as_of(stated.page)
    wordings = (
        f"As of {when}, according to {where}: {question}",
        f"Going by {where} as it stood in {when}: {question}",
        f"What did {where} say in {when}? {question}",
    )
    kind = "as_of_name" if value.sort == "name" else "as_of_value"
    return QuestionDraft(rng.choice(wordings), value.answer, units, tags, kind)


def _from_and_to(book: PageBook, change: _ChangedSentence, question: str, rng: Random) -> QuestionDraft:
    where, since = place(change.old, rng), _span_of_time(change.old.page, change.new.page)
    wording = (
        f"{since}, one detail changed in {where}. {question} Give the answer before and after.",
        f"{since}, {where} changed its answer to this, from what to what? {question}",
    )
    units = [book.unit(change.old), book.unit(change.new)]
    answer = [change.was.answer, change.now.answer]
    return QuestionDraft(
        rng.choice(wording), answer, units, ("temporal", "detail", "comparative", "two_hop"), "from_and_to"
    )


def _span_of_time(before: SourcePage, after: SourcePage) -> str:
    if "until" in after.document.metadata:
        return f"Between {as_of(before)} and {as_of(after)}"
    return f"Between {as_of(before)} and the current text"


# ------------------------------------------------------------------------------------------- pages


def _about_page(
    book: PageBook, before: SourcePage, after: SourcePage, rng: Random
) -> Iterator[QuestionDraft]:
    """Asks what changed on a page: a few sentences, or more sentences than any budget holds."""
    pairs = _differences(book, before, after)
    touched = [each for olds, news in pairs for each in (*olds, *news)]
    since, where = _span_of_time(before, after), page_of(before)
    words = sum(len(each.said.split()) for each in touched)
    if words >= _LONG_WORDS:
        wording = (
            f"{since}, what changed on {where}? List every change.",
            f"List everything that was added, removed or reworded on {where} {since[:1].lower()}{since[1:]}.",
        )
        answer = [each.said for _, news in pairs for each in news] or ["removed"]
        tags = ("temporal", "aggregation")
        yield QuestionDraft(rng.choice(wording), answer, _units(touched), tags, "all_changes", AGGREGATION)
    elif _reworded(pairs) and len(touched) <= _SHORT and all(sound(each.said) for each in touched):
        wording = (
            f"{since}, what changed on {where}?",
            f"How did the wording of {where} change {since[:1].lower()}{since[1:]}?",
        )
        answer = [each.said for each in touched]
        yield QuestionDraft(
            rng.choice(wording), answer, _units(touched), ("temporal", "two_hop"), "few_changes"
        )


def _units(touched: Sequence[PageSentence]) -> list[dict[str, Any]]:
    """Returns sentences as evidence of a change, without the same sentences in other texts of the page."""
    return [each.unit for each in touched]


def _reworded(pairs: Sequence[tuple[list[PageSentence], list[PageSentence]]]) -> bool:
    """Whether sentences were reworded by more than a correction of spelling.

    A removal or an addition does not count. No single sentence is its evidence, only the whole other text.
    """
    if not pairs or not all(olds and news for olds, news in pairs):
        return False
    gone = Counter(
        word.casefold().strip(".,;:") for olds, _ in pairs for each in olds for word in each.said.split()
    )
    come = Counter(
        word.casefold().strip(".,;:") for _, news in pairs for each in news for word in each.said.split()
    )
    return ((gone - come) + (come - gone)).total() >= 6


def _too_early(first: SourcePage, clashing: set[tuple[str, str]], rng: Random) -> Iterator[QuestionDraft]:
    """Asks about a time before the first snapshot of a page."""
    name = named(first)
    if name is None or (handbook(first), name) in clashing:
        return
    day = str(first.document.metadata["as_of"])
    earlier = spoken(f"{int(day[:4]) - rng.choice(_EARLIER_YEARS)}{day[4:]}")
    wording = (
        f'What did the "{name}" page of the {handbook(first)} say as of {earlier}?',
        f'As it stood in {earlier}, what did the {handbook(first)} say on its page "{name}"?',
    )
    yield QuestionDraft(
        rng.choice(wording), "", [], ("temporal", "out_of_distribution"), "before_history", OUT_OF_KB
    )
