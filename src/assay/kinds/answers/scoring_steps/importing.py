"""Imports marks that were made elsewhere. If one mark is wrong, no mark is imported.

A file has one JSON line per mark. The rules and the order of passes are the same as at the desk:

    {"rater": "anna", "response_id": "R-1Q8ZK2MT", "step": "accuracy", "choice": 2, "note": "no limit"}
    {"rater": "anna", "response_id": "R-1Q8ZK2MT", "step": "hallucination", "claims": [{"category": "H-FAB",
     "text": "up to 100 items", "claim": "batches of 100", "note": "the source has no batches"}]}

A claim gives its text as the response shows it, or the `start` and `end` of that text. A line on
hallucinations without claims says that no hallucination was found. `flags` may contain "refusal".
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.core.dataset import digest
from assay.core.errors import Problem, decoding_problem, did_you_mean
from assay.kinds.answers.blinding.pack import MARKS
from assay.kinds.answers.panel import scoring_folder
from assay.kinds.answers.scoring.agreement import STEPS
from assay.kinds.answers.scoring.marks import score_book
from assay.kinds.answers.scoring.progress import MarkIndex, remaining_work
from assay.kinds.answers.scoring.rubric import HALLUCINATION, NONE_FOUND
from assay.kinds.answers.scoring_steps.work import scoring_work
from assay.review.marks import DraftMismatch, import_tasks
from assay.review.work import Draft, SpanClaim, Task
from assay.study.study import Study


class ClaimLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An unsupported claim, located by its words or by its place."""

    category: str
    claim: str
    note: str
    text: str | None = None
    start: int | None = None
    end: int | None = None

    def span(self, text: str) -> tuple[int, int]:
        """Returns the claim's place in a response. Its words must occur exactly once.

        Otherwise raises a DraftMismatch.
        """
        if self.start is not None and self.end is not None:
            return self.start, self.end
        times = text.count(self.text) if self.text else 0
        if not self.text or times != 1:
            what = f"the words {self.text!r} occur {times} times in the response, not once"
            raise DraftMismatch(what, "Copy the words as the response shows them, or give start and end.")
        start = text.index(self.text)
        return start, start + len(self.text)


class MarkLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of marks."""

    rater: str
    response_id: str
    step: str
    choice: str | int | None = None
    note: str = ""
    claims: list[ClaimLine] = []
    flags: list[str] = []


@dataclass(frozen=True)
class ImportedMark:
    """A line of a file of marks, with its file and line number."""

    content: MarkLine
    where: str
    line: int
    raters: Sequence[str] = ()  # all raters of the panel

    when = None

    @property
    def rater(self) -> str:
        return self.content.rater

    @property
    def step(self) -> str:
        return self.content.step

    @property
    def task_id(self) -> str:
        return self.content.response_id

    @property
    def place(self) -> int:
        """The place of the line's pass in the order of passes.

        An unknown pass comes last; it is a problem anyway.
        """
        name, _, again = self.step.partition(":")
        return (STEPS.index(name) if name in STEPS else len(STEPS)) + (len(STEPS) + 1) * bool(again)

    def problem(self, what: str, fix: str = "") -> Problem:
        return Problem(f"{self.task_id}, {self.step}: {what}", self.where, self.line, fix=fix)

    def unknown(self) -> Problem:
        """Returns a problem that names the unknown rater, pass or id, and what was probably meant."""
        fix = "Check the id: assay review status shows who scores what."
        for known, word in ((STEPS, self.step.partition(":")[0]), (self.raters, self.rater)):
            if word not in known:
                fix = f"There is no {word!r}. {did_you_mean(word, known)}"
        return self.problem(f"{self.rater} has no such response to score", fix)

    def draft(self, task: Task) -> Draft:
        """Returns the draft that the desk would send. The rules of the desk validate it later."""
        line = self.content
        text = next((block.text for block in task.blocks if block.markable), "")
        text = text or next((block.text for block in task.blocks if block.role == "response"), "")
        spans = []
        for claim in line.claims:
            start, end = claim.span(text)
            spans.append(
                SpanClaim.model_construct(
                    category=claim.category, start=start, end=end, claim=claim.claim, note=claim.note
                )
            )
        # A person wrote this line. Without claims, it means that there are none, not that the form is empty
        none = [NONE_FOUND] if line.step.startswith(HALLUCINATION) and not spans else []
        return Draft.model_construct(
            mark_id=digest([msgspec.json.encode(line)]),  # importing the same words twice imports them once
            base=task.mark.mark_id if task.mark is not None else None,
            choice=None if line.choice is None else str(line.choice),
            note=line.note,
            spans=spans,
            flags=line.flags or none,
        )


@dataclass(frozen=True)
class MarkImport:
    """The outcome of an import."""

    taken: int
    known: int  # imported before in the same words
    left: list[str]  # what is still to be done before the seal can be opened


def import_marks(study: Study, paths: Sequence[Path]) -> MarkImport:
    """Imports files of marks pass by pass, by the rules of the desk. Imports all marks or none."""
    book = score_book(scoring_folder(study).folder / MARKS)
    work, before = scoring_work(study, book), len(book.lines)
    try:
        filled, problems = _read(paths, work.raters)
        import_tasks(work, book, filled, lambda each: each.place, problems)
    finally:
        work.close()
    scoring = scoring_folder(study)
    new = len(book.lines) - before
    left = remaining_work(MarkIndex(scoring.pack, scoring.entries), study.kit.clock())
    return MarkImport(new, len(filled) - new, left)


def _read(paths: Sequence[Path], raters: Sequence[str]) -> tuple[list[ImportedMark], list[Problem]]:
    decode = msgspec.json.Decoder(MarkLine).decode
    found, problems = list[ImportedMark](), list[Problem]()
    for path in paths:
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        if not content.strip() or content.lstrip().startswith(b"["):
            what = "is a JSON list" if content.strip() else "holds no score"
            fix = "Write one score per line, as JSON: docs/scoring.md."
            problems.append(Problem(what, str(path), fix=fix))
            continue
        for number, line in enumerate(content.splitlines(), 1):
            try:
                if line.strip():
                    found.append(ImportedMark(decode(line), str(path), number, raters))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                problems.append(decoding_problem(error, str(path), number))
    return found, problems
