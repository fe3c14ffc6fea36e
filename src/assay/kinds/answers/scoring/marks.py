"""Marks: what a person said about one blinded response in one pass. Marks are added, never rewritten.

`ScoringFolder` reads a pack with its marks. Once the seal was opened on record, it also reads which arm each
response comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.core.dataset import digest
from assay.core.records import Judgment, Span
from assay.judges.labels import text_hash
from assay.kinds.answers.blinding.acts import Act, ActLog, ActName, append_act, read_acts
from assay.kinds.answers.blinding.masks import to_original
from assay.kinds.answers.blinding.pack import (
    MAP,
    MARKS,
    PACK,
    BlindPack,
    OriginalResponse,
    read_key,
    read_pack,
    unseal,
)
from assay.kinds.answers.measures.rubric import (
    ACCURACY,
    CITATION,
    CITATION_APPLIES,
    COMPLETENESS,
    HALLUCINATION,
    HALLUCINATIONS,
)
from assay.review.marks import MarkBook, folder_book
from assay.store.disk import hold_lock

FIRST, AGAIN = "first", "again"  # rounds: the marks that are analysed, and a rater's marks some time later

MarkKey = tuple[str, str, str, str]  # rater, round, pass, response


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """One claim that the source does not support, and its place in the response as shown."""

    category: str
    start: int  # characters [start, end) of the text as shown
    end: int
    claim: str
    note: str


class Mark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="mark"):
    """One saved mark. The sender makes `mark_id`, so that a mark that is sent twice is saved once."""

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
    replaces: str | None = None  # the mark that counted before
    withdrawn: bool = False  # it only takes back the mark that it replaces
    case: str | None = None  # the precedents for which the response was looked at again
    suggested: str | None = None  # the suggestion that the rater had seen before, if any
    restores: str | None = None  # the earlier mark that an undo brought back as this one

    @property
    def key(self) -> MarkKey:
        """The rater, round, pass and response that the mark is about."""
        return self.rater, self.round, self.step, self.response_id


class RaterPrecedent(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="case"):
    """A precedent that a rater set, and the responses that raters have to look at again because of it."""

    case_id: str  # EC-11
    mark_id: str  # made by the sender
    rater: str
    situation: str
    decision: str
    rationale: str
    step: str
    about: list[str] = []  # response_ids that were scored before it and that it may concern
    time: float = 0.0


class SuggestionView(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="saw"):
    """A record that a rater was shown a suggestion."""

    rater: str
    response_id: str
    step: str
    value: str
    time: float = 0.0


BookEntry = Mark | RaterPrecedent | SuggestionView


def score_book(folder: Path) -> MarkBook[BookEntry]:
    """Opens the book of a pack's marks."""
    return folder_book(folder, BookEntry)


def current_marks(entries: Iterable[BookEntry]) -> dict[MarkKey, Mark]:
    """Returns the marks that count: the last mark of each rater, round, pass and response.

    A mark that was taken back does not count.
    """
    known: set[str] = set()
    found: dict[MarkKey, Mark] = {}
    for mark in entries:
        if not isinstance(mark, Mark) or mark.mark_id in known:  # sent twice
            continue
        known.add(mark.mark_id)
        if mark.withdrawn:
            found.pop(mark.key, None)
        else:
            found[mark.key] = mark
    return found


def rater_label(rater: str, turn: str = FIRST) -> str:
    """Returns the judge name of a rater's marks in one round: `anna`, `anna (again)`."""
    return f"{rater} ({AGAIN})" if turn == AGAIN else rater


@dataclass(frozen=True)
class ScoringFolder:
    """The folder of one blinded scoring: its pack, its marks and its acts."""

    folder: Path

    @property
    def key_path(self) -> Path:
        """The path of the key of the pack. The key lies beside the pack, never inside."""
        return self.folder.with_name(f"{self.folder.name}.key")

    @property
    def head_path(self) -> Path:
        """The path of the second file with the number of acts and the last hash. It lies beside the pack."""
        return self.folder.with_name(f"{self.folder.name}.acts")

    @property
    def has_pack(self) -> bool:
        return (self.folder / PACK).is_file()

    @cached_property
    def pack(self) -> BlindPack:
        return read_pack(self.folder)

    @cached_property
    def acts(self) -> ActLog:
        return read_acts(self.folder, self.head_path)

    @cached_property
    def entries(self) -> list[BookEntry]:
        return score_book(self.folder / MARKS).lines

    @cached_property
    def marks(self) -> list[Mark]:
        """The marks that count, of every rater, round and pass."""
        return list(current_marks(self.entries).values())

    def locked(self) -> AbstractContextManager[None]:
        """Locks the folder: only one process at a time may save marks or open the seal."""
        return hold_lock(self.folder, busy=f"serving {self.folder}, or taking scores in")

    @property
    def is_open(self) -> bool:
        """Whether the seal was opened."""
        return self.has_pack and self.acts.opened is not None

    def record(self, act: ActName, by: str, time: float, detail: str = "") -> None:
        """Adds an act to the record of the seal."""
        append_act(self.folder, Act(act, by, time, detail), self.head_path)

    def originals(self) -> dict[str, OriginalResponse]:
        """Decrypts what the seal hides, even before it is opened. Only for acts on the seal and checks."""
        found = unseal((self.folder / MAP).read_bytes(), read_key(self.key_path), self.pack.commitment)
        return {each.response_id: each for each in found.originals}

    def judgments(self) -> list[Judgment]:
        """Returns the marks as judgments on the original responses; empty until the seal was opened."""
        if not self.is_open:
            return []
        originals = self.originals()
        return [each for mark in self.marks for each in judgments_of(mark, originals[mark.response_id])]


def judgments_of(mark: Mark, original: OriginalResponse) -> Iterator[Judgment]:
    """Converts a mark into judgments on the response as the model wrote it."""
    by_step: dict[str, dict[str, int | None]] = {
        ACCURACY: {ACCURACY: mark.grade},
        HALLUCINATION: {HALLUCINATIONS: len(mark.claims)},
        COMPLETENESS: {COMPLETENESS: mark.grade},
        CITATION: {CITATION_APPLIES: int(mark.grade is not None), CITATION: mark.grade},
    }
    plain = Judgment(
        original.item_id,
        mark.step,
        0.0,
        rater_label(mark.rater, mark.round),
        arm=original.arm,
        seed=original.seed,
        seen=text_hash(original.text),
        time=mark.time,
    )
    for label, grade in by_step[mark.step].items():
        if grade is not None:
            judgment_id, note = digest([mark.mark_id.encode(), label.encode()]), mark.note or None
            yield replace(plain, label=label, grade=float(grade), reason=note, judgment_id=judgment_id)
    for number, claim in enumerate(mark.claims):
        yield replace(
            plain,
            grade=1.0,
            span=Span(*to_original((claim.start, claim.end), original.masks)),
            category=claim.category,
            reason=claim.note,
            judgment_id=digest([mark.mark_id.encode(), str(number).encode()]),
        )
