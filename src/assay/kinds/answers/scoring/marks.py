"""What a person said of one blinded response in one pass, as it is kept: added to, never rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from assay.review.marks import MarkBook, folder_book

FIRST, AGAIN = "first", "again"  # rounds: the score that counts, and the same person's a while later


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """One claim that the source does not support, and where the response as shown makes it."""

    category: str
    start: int  # characters [start, end) of the text as shown
    end: int
    claim: str
    note: str


class Mark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="mark"):
    """One saved score. `mark_id` is made by whoever sends it, so that sending it twice saves it once."""

    mark_id: str
    rater: str
    response_id: str
    step: str  # the pass: accuracy, hallucination, completeness, citation
    grade: int | None = None  # None: it does not apply, or the pass has none
    claims: list[Claim] = []
    note: str = ""
    flags: list[str] = []  # "refusal", "none_found"
    round: str = FIRST
    time: float = 0.0
    replaces: str | None = None  # the mark that stood here before
    withdrawn: bool = False  # it takes back what it replaces, and says nothing itself
    case: str | None = None  # the precedent that it was looked at again for
    suggested: str | None = None  # what was suggested, where the rater had seen that before
    restores: str | None = None  # the earlier mark that an undo brought back as this one

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is about: rater, round, pass and response."""
        return self.rater, self.round, self.step, self.response_id


class RaterPrecedent(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="case"):
    """A precedent that was set while scoring, and the responses that have to be looked at again for it."""

    case_id: str  # EC-11
    mark_id: str  # made by whoever sends it
    rater: str
    situation: str
    decision: str
    rationale: str
    step: str
    about: list[str] = []  # response_ids that were scored before it and may be like it
    time: float = 0.0


class SuggestionView(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="saw"):
    """A rater was shown a suggestion."""

    rater: str
    response_id: str
    step: str
    value: str
    time: float = 0.0


BookEntry = Mark | RaterPrecedent | SuggestionView


def score_book(folder: Path) -> MarkBook[BookEntry]:
    """The book of a blinded pack's marks."""
    return folder_book(folder, BookEntry)


def distinct_marks(lines: Iterable[BookEntry]) -> Iterator[Mark]:
    """The marks among some lines, each once however often it was sent."""
    known: set[str] = set()
    for line in lines:
        if isinstance(line, Mark) and line.mark_id not in known:
            known.add(line.mark_id)
            yield line


def current_marks(marks: Iterable[Mark]) -> dict[tuple[str, str, str, str], Mark]:
    """The mark that counts for each rater, round, pass and response: the last that was not taken back."""
    found: dict[tuple[str, str, str, str], Mark] = {}
    for mark in marks:
        if mark.withdrawn:
            found.pop(mark.key, None)
        else:
            found[mark.key] = mark
    return found


def history(marks: Sequence[Mark], key: tuple[str, str, str, str]) -> list[Mark]:
    """All that one rater ever said of one response in one pass, oldest first."""
    return [mark for mark in marks if mark.key == key]
