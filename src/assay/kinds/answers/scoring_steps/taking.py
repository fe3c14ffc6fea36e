"""Scores that were made elsewhere, taken in as if given at the desk: all of them, or none and why.

One JSON line a score, by the same rules and in the same order of passes as at the desk:

    {"rater": "anna", "response_id": "R-1Q8ZK2MT", "step": "accuracy", "choice": 2, "note": "no limit"}
    {"rater": "anna", "response_id": "R-1Q8ZK2MT", "step": "hallucination", "claims": [{"category": "H-FAB",
     "text": "up to 100 items", "claim": "batches of 100", "note": "the source has no batches"}]}

A claim names its text as the response shows it, or `start` and `end` of it. A line on hallucinations without
claims says that none was found. `flags` may hold "refusal".
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
from assay.kinds.answers.scoring.marks import score_book
from assay.kinds.answers.scoring.progress import remaining_work
from assay.kinds.answers.scoring.rubric import HALLUCINATION, NONE_FOUND
from assay.kinds.answers.scoring_steps.work import scoring_folder, scoring_work
from assay.review.marks import DraftMismatch, import_tasks
from assay.review.work import Draft, SpanClaim, Task
from assay.study.study import Study

STEPS = ("accuracy", "hallucination", "completeness", "citation")


class ClaimLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An unsupported claim, by its words or by its place."""

    category: str
    claim: str
    note: str
    text: str | None = None
    start: int | None = None
    end: int | None = None


class MarkLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of scores."""

    rater: str
    response_id: str
    step: str
    choice: str | int | None = None
    note: str = ""
    claims: list[ClaimLine] = []
    flags: list[str] = []


@dataclass(frozen=True)
class ImportedMark:
    """A score and where it is written."""

    score: MarkLine
    where: str
    line: int
    raters: Sequence[str] = ()  # those of the panel

    when = None

    @property
    def rater(self) -> str:
        return self.score.rater

    @property
    def step(self) -> str:
        return self.score.step

    @property
    def task_id(self) -> str:
        return self.score.response_id

    @property
    def place(self) -> int:
        """Where its pass stands in the order; one that there is not comes last, and is a problem."""
        name, _, again = self.step.partition(":")
        return (STEPS.index(name) if name in STEPS else len(STEPS)) + (len(STEPS) + 1) * bool(again)

    def problem(self, what: str, fix: str = "") -> Problem:
        return Problem(f"{self.score.response_id}, {self.score.step}: {what}", self.where, self.line, fix=fix)

    def unknown(self) -> Problem:
        """Which of rater, pass and id is not known, and what was probably meant."""
        fix = "Check the id: assay review status shows who scores what."
        for known, word in ((STEPS, self.step.partition(":")[0]), (self.raters, self.rater)):
            if word not in known:
                fix = f"There is no {word!r}. {did_you_mean(word, known)}"
        return self.problem(f"{self.rater} has no such response to score", fix)

    def draft(self, task: Task) -> Draft:
        score = self.score
        text = next((block.text for block in task.blocks if block.markable), "")
        text = text or next((block.text for block in task.blocks if block.role == "response"), "")
        spans = []
        for claim in score.claims:
            start, end = _place(claim, text)
            spans.append(
                SpanClaim.model_construct(
                    category=claim.category, start=start, end=end, claim=claim.claim, note=claim.note
                )
            )
        # A file has a line where somebody looked: one without claims is not a form that was left empty.
        none = [NONE_FOUND] if score.step.startswith(HALLUCINATION) and not spans else []
        return Draft.model_construct(
            mark_id=digest([msgspec.json.encode(score)]),  # taking the same words twice takes them once
            base=task.mark.mark_id if task.mark is not None else None,
            choice=None if score.choice is None else str(score.choice),
            note=score.note,
            spans=spans,
            flags=score.flags or none,
        )


def _place(claim: ClaimLine, text: str) -> tuple[int, int]:
    if claim.start is not None and claim.end is not None:
        return claim.start, claim.end
    if not claim.text or text.count(claim.text) != 1:
        times = text.count(claim.text) if claim.text else 0
        what = f"the words {claim.text!r} stand {times} times in the response, not once"
        raise DraftMismatch(what, "Copy the words as the response shows them, or give start and end.")
    start = text.index(claim.text)
    return start, start + len(claim.text)


@dataclass(frozen=True)
class MarkImport:
    """What files brought."""

    taken: int
    known: int  # taken before in the same words
    left: list[str]  # what is still to be done before the seal can be opened


def import_marks(study: Study, paths: Sequence[Path]) -> MarkImport:
    """Takes scores in, pass by pass, as the desk would: by its rules, or not at all."""
    book = score_book(scoring_folder(study).folder / MARKS)
    work, before = scoring_work(study, book), len(book.lines)
    try:
        filled, problems = _read(paths, work.raters)
        import_tasks(work, book, filled, lambda each: each.place, problems)
    finally:
        work.close()
    now, new = scoring_folder(study), len(book.lines) - before
    return MarkImport(new, len(filled) - new, remaining_work(now.pack, now.lines, study.kit.clock()))


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
