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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, did_you_mean
from assay.datasets.reading import explained
from assay.kinds.answers.blinding.pack import MARKS
from assay.kinds.answers.scoring.marks import Line, MarkBook
from assay.kinds.answers.scoring.rubric import HALLUCINATION, NONE_FOUND
from assay.kinds.answers.scoring_steps.work import scoring_folder, scoring_work
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.desk.messages import Draft, Task
    from assay.kinds.answers.desk.scoring_work import ScoringWork

STEPS = ("accuracy", "hallucination", "completeness", "citation")


class GivenClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An unsupported claim, by its words or by its place."""

    category: str
    claim: str
    note: str
    text: str | None = None
    start: int | None = None
    end: int | None = None


class Score(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of scores."""

    rater: str
    response_id: str
    step: str
    choice: str | int | None = None
    note: str = ""
    claims: list[GivenClaim] = []
    flags: list[str] = []


@dataclass(frozen=True)
class Placed:
    """A score and where it stands."""

    score: Score
    where: str
    line: int

    def problem(self, what: str, fix: str = "") -> Problem:
        return Problem(f"{self.score.response_id}, {self.score.step}: {what}", self.where, self.line, fix=fix)

    @property
    def mark_id(self) -> str:
        """The same for the same words, so that taking a file twice takes it once."""
        return digest([msgspec.json.encode(self.score)])


@dataclass(frozen=True)
class TakenScores:
    """What files brought."""

    taken: int
    known: int  # taken before in the same words
    left: list[str]  # what is still to be done before the seal can be opened


def take_scores(study: Study, paths: Sequence[Path]) -> TakenScores:
    """Takes scores in, pass by pass, as the desk would: by its rules, or not at all."""
    from assay.kinds.answers.scoring.progress import complete

    placed, problems = _read(paths)
    before = len(scoring_folder(study).lines)
    rehearsal = Rehearsal(scoring_folder(study).folder / MARKS)
    work = scoring_work(study, rehearsal)
    try:
        problems += _rehearsed(work, placed)
        if problems:
            raise DataError(sorted(problems, key=lambda each: (each.where, each.line or 0)))
        new = rehearsal.lines[before:]
        book = MarkBook(scoring_folder(study).folder / MARKS)
        book.add(*new)
        book.close()
    finally:
        work.close()
    now = scoring_folder(study)
    return TakenScores(len(new), len(placed) - len(new), complete(now.pack, now.lines, study.kit.clock()))


class Rehearsal(MarkBook):
    """A book that writes nothing down: what is tried on it is seen to be right before it counts."""

    def add(self, *lines: Line) -> None:
        self.lines.extend(lines)


def _rehearsed(work: ScoringWork, placed: Sequence[Placed]) -> Iterator[Problem]:
    """Tries every score in the order of the passes; what stands in the way.

    A pass that is not complete closes those after it. Once a rater's score is refused, nothing is said of
    their later passes being closed, or it would be said of thousands of lines that are right.
    """
    refused: dict[str, int] = {}  # the first pass of each rater in which something is wrong
    for each in sorted(placed, key=_pass):  # stable: a later score of the same response comes later
        first = refused.get(each.score.rater, _pass(each))
        for problem in _tried(work, each, follows=first < _pass(each)):
            refused[each.score.rater] = first
            yield problem


def _pass(placed: Placed) -> int:
    """Where its pass stands in the order; one that there is not comes last, and is told."""
    name, _, again = placed.score.step.partition(":")
    return (STEPS.index(name) if name in STEPS else len(STEPS)) + (len(STEPS) + 1) * bool(again)


def _read(paths: Sequence[Path]) -> tuple[list[Placed], list[Problem]]:
    decode = msgspec.json.Decoder(Score).decode
    found, problems = list[Placed](), list[Problem]()
    for path in paths:
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        if not content.strip() or content.lstrip().startswith(b"["):
            what = "is a JSON list" if content.strip() else "holds no score"
            problems.append(Problem(what, str(path), fix="Write one score a line, as JSON: docs/scoring.md."))
            continue
        for number, line in enumerate(content.splitlines(), 1):
            try:
                if line.strip():
                    found.append(Placed(decode(line), str(path), number))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                problems.append(explained(error, str(path), number))
    return found, problems


def _tried(work: ScoringWork, placed: Placed, *, follows: bool) -> Iterator[Problem]:
    """Saves one score in the rehearsal; what stands in its way, `follows` where its pass could not open."""
    from assay.desk.work import Broken, Conflict, NoSuchThing

    score = placed.score
    try:
        task = work.task(score.rater, score.step, score.response_id)
        if any(placed.mark_id == mark.mark_id for mark in task.history):
            return
        work.save(score.rater, score.step, score.response_id, _draft(placed, task))
    except NoSuchThing:
        yield placed.problem(f"{score.rater} has no such response to score", _nearest(work, score))
    except Conflict as error:
        if not follows:
            yield placed.problem(error.what)
    except Broken as error:
        yield from (placed.problem(what) for what in error.problems)
    except _Unplaced as error:
        fix = "Copy the words as the response shows them, or give start and end."
        yield placed.problem(str(error), fix)


def _nearest(work: ScoringWork, score: Score) -> str:
    """Which of rater, pass and id is not known, and what was probably meant."""
    for known, word in ((work.raters, score.rater), (STEPS, score.step.partition(":")[0])):
        if word not in known:
            return f"There is no {word!r}. {did_you_mean(word, known)}"
    return "Check the id: assay review status shows who scores what."


class _Unplaced(ValueError):
    """Words that do not stand in the response once."""


def _draft(placed: Placed, task: Task) -> Draft:
    from assay.desk.messages import Draft, SpanClaim

    text = next((block.text for block in task.blocks if block.markable), "")
    text = text or next((block.text for block in task.blocks if block.role == "response"), "")
    spans = []
    for claim in placed.score.claims:
        start, end = _place(claim, text)
        said = SpanClaim.model_construct(
            category=claim.category, start=start, end=end, claim=claim.claim, note=claim.note
        )
        spans.append(said)
    choice = placed.score.choice
    # A file has a line where somebody looked: one without claims is not a form that was left empty.
    none = [NONE_FOUND] if placed.score.step.startswith(HALLUCINATION) and not spans else []
    return Draft.model_construct(
        mark_id=placed.mark_id,
        base=task.mark.mark_id if task.mark is not None else None,
        choice=None if choice is None else str(choice),
        note=placed.score.note,
        spans=spans,
        flags=placed.score.flags or none,
    )


def _place(claim: GivenClaim, text: str) -> tuple[int, int]:
    if claim.start is not None and claim.end is not None:
        return claim.start, claim.end
    if not claim.text or text.count(claim.text) != 1:
        times = text.count(claim.text) if claim.text else 0
        raise _Unplaced(f"the words {claim.text!r} stand {times} times in the response, not once")
    start = text.index(claim.text)
    return start, start + len(claim.text)
