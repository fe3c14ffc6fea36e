"""Passages that people grade, whether each is shown on a page of the desk or as a row of a form.

A save adds a judgment to the journal of the run, so that every other command counts it at once. Undoing
withdraws it there, and what it had replaced counts again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from assay.core.records import Judgment
from assay.judges.labels import current_judgments
from assay.review.book import MarkBook
from assay.review.intake import import_tasks
from assay.review.messages import (
    Draft,
    MarkView,
    NewPrecedent,
    PrecedentView,
    SaveReceipt,
    StepState,
    StepView,
    Suggestion,
    Task,
    TaskState,
    Undo,
    WorkState,
)
from assay.review.passages import FilledPassage, GradingStep, GradingSteps, PassageTask, Place, steps_of_forms
from assay.review.work import Conflict, NotFound, RuleViolation
from assay.store.journal import JudgmentEntry


class _MarkHistory:
    """All that one rater said of one passage, oldest first."""

    def __init__(self) -> None:
        self.standing: Judgment | None = None
        self.history: list[MarkView] = []  # what stood after each act; an undo shows what it went back to
        self._judgments: list[Judgment] = []

    def add(self, judgment: Judgment) -> None:
        self._judgments.append(judgment)
        self.standing = next(reversed(current_judgments(self._judgments)), None)
        now = self.standing or judgment
        self.history.append(_view(now, judgment.time, withdrawn=self.standing is None))


class PassageWork:
    """The desk's work on passages. Threads may share it; each rater sees their own judgments alone."""

    NEXT: ClassVar[str] = "Everything is judged. Whoever leads the study sees the decision with: assay report"

    def __init__(
        self,
        book: MarkBook[JudgmentEntry],
        subjects: GradingSteps,
        raters: Sequence[str],
        earlier: Sequence[Judgment],
        clock: Callable[[], float],
    ) -> None:
        """`earlier` is all that people said before, in the order in which they did."""
        self._book, self._asked, self._raters, self._clock = book, subjects, tuple(raters), clock
        self._steps = {step.name: step for step in subjects.steps}
        self._turn = threading.Lock()
        self._said: dict[Place, _MarkHistory] = {}
        self._known: dict[tuple[str, str], Place] = {}  # rater and mark_id
        self._done_tasks: dict[tuple[str, str], set[str]] = {}  # by rater and pass
        for each in earlier:
            self._take(each)

    @property
    def title(self) -> str:
        return self._asked.title

    @property
    def raters(self) -> Sequence[str]:
        return self._raters

    # --------------------------------------------------------------------------------- what is shown

    def state(self, rater: str) -> WorkState:
        steps = [self._state(rater, step) for step in self._asked.steps]
        current = next((each.step for each in steps if each.state == "open"), None)
        finished = "" if current else self.NEXT
        about = self._asked.about
        return WorkState(title=self.title, about=about, steps=steps, current=current, finished=finished)

    def _state(self, rater: str, step: GradingStep) -> StepState:
        done, total = len(self._finished(rater, step)), len(step.subjects)
        state = "done" if done == total else "open"
        return StepState(step=step.name, title=step.title, state=state, total=total, done=done)

    def step(self, rater: str, step: str) -> StepView:
        found = self._step(step)
        tasks = [TaskState(task_id=each.task_id, done=self._done(rater, each)) for each in found.subjects]
        rules = list(found.rules)
        return StepView(
            step=step, title=found.title, about=found.about, form=found.form, rules=rules, tasks=tasks
        )

    def task(self, rater: str, step: str, task_id: str) -> Task:
        found = self._step(step)
        place = self._place(found, task_id)
        subject = found.subjects[place]
        said = self._said.get(subject.of(rater), _MarkHistory())
        stands = self._stands(rater, subject)
        return Task(
            task_id=task_id,
            step=step,
            number=place + 1,
            total=len(found.subjects),
            blocks=list(subject.blocks),
            mark=_view(stands, stands.time) if stands else None,
            history=list(said.history),
        )

    def suggestion(self, rater: str, step: str, task_id: str) -> Suggestion:
        self._place(self._step(step), task_id)
        raise NotFound("There are no suggestions here: they would be somebody else's word.")

    def register(self, rater: str) -> list[PrecedentView]:
        return []

    def add_case(self, rater: str, case: NewPrecedent) -> PrecedentView:
        raise Conflict("This review keeps no precedents.")

    # --------------------------------------------------------------------------------- what is saved

    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt:
        found = self._step(step)
        subject = found.subjects[self._place(found, task_id)]
        with self._turn:
            if not self._repeats(rater, subject, draft.mark_id):
                before = self._at_base(rater, subject, draft.base)
                if problems := _problems(found, draft):
                    raise RuleViolation(problems)
                self._add(self._judgment(rater, subject, found, draft, before, when))
            return self._saved(rater, found, subject)

    def undo(self, rater: str, step: str, task_id: str, undo: Undo) -> SaveReceipt:
        found = self._step(step)
        subject = found.subjects[self._place(found, task_id)]
        with self._turn:
            if not self._repeats(rater, subject, undo.mark_id):
                before = self._at_base(rater, subject, undo.base)
                if before is None:
                    raise Conflict("There is nothing here to take back.")
                self._add(_withdrawal(before, undo.mark_id, self._clock()))
            return self._saved(rater, found, subject)

    def _judgment(
        self,
        rater: str,
        subject: PassageTask,
        step: GradingStep,
        draft: Draft,
        before: Judgment | None,
        when: float | None,
    ) -> Judgment:
        word = draft.choice or ""
        # One on an older text does not stand on this screen, and is replaced all the same.
        older = before or self._said.get(subject.of(rater), _MarkHistory()).standing
        return Judgment(
            subject.item_id,
            subject.label,
            step.grades[word],
            rater,
            target=subject.doc_id,
            category=word,
            seen=subject.seen,
            reason=draft.note.strip() or None,
            time=self._clock() if when is None else when,
            judgment_id=draft.mark_id,
            replaces=older.judgment_id if older else None,
        )

    def close(self) -> None:
        with self._turn:
            self._book.close()

    # --------------------------------------------------------------------------------------- beneath

    def _step(self, name: str) -> GradingStep:
        found = self._steps.get(name)
        if found is None:
            raise NotFound(f"There is no step {name!r}.")
        return found

    def _place(self, step: GradingStep, task_id: str) -> int:
        found = step.places.get(task_id)
        if found is None:
            raise NotFound(f"There is no task {task_id!r} here.")
        return found

    def _stands(self, rater: str, subject: PassageTask) -> Judgment | None:
        """What this rater says of the text as it is now."""
        said = self._said.get(subject.of(rater))
        found = said.standing if said else None
        return found if found is not None and found.seen in {None, subject.seen} else None

    def _done(self, rater: str, subject: PassageTask) -> bool:
        return self._stands(rater, subject) is not None

    def _finished(self, rater: str, step: GradingStep) -> set[str]:
        """The tasks of a pass that a rater has done: counted once, then kept up save by save."""
        key = rater, step.name
        if key not in self._done_tasks:
            self._done_tasks[key] = {each.task_id for each in step.subjects if self._done(rater, each)}
        return self._done_tasks[key]

    def _repeats(self, rater: str, subject: PassageTask, mark_id: str) -> bool:
        """Whether this was saved before."""
        place = self._known.get((rater, mark_id))
        if place is not None and place != subject.of(rater):
            raise Conflict("That mark was saved for another passage.")
        return place is not None

    def _at_base(self, rater: str, subject: PassageTask, base: str | None) -> Judgment | None:
        stands = self._stands(rater, subject)
        if (_id(stands) if stands else None) != base:
            what = "Something else was saved here since this page was opened."
            raise Conflict(what, _view(stands, stands.time) if stands else None)
        return stands

    def _add(self, judgment: Judgment) -> None:
        self._book.add(JudgmentEntry(judgment))
        self._take(judgment)

    def _take(self, judgment: Judgment) -> None:
        place = (judgment.judge, judgment.item_id, judgment.label, judgment.target or "")
        self._said.setdefault(place, _MarkHistory()).add(judgment)
        self._known[judgment.judge, _id(judgment)] = place

    def _saved(self, rater: str, step: GradingStep, subject: PassageTask) -> SaveReceipt:
        stands, finished = self._stands(rater, subject), self._finished(rater, step)
        (finished.discard if stands is None else finished.add)(subject.task_id)
        after = step.places[subject.task_id]
        turned = [*step.subjects[after + 1 :], *step.subjects[:after]]
        left = next((each.task_id for each in turned if each.task_id not in finished), None)
        return SaveReceipt(
            mark=_view(stands, stands.time) if stands else None, step=self._state(rater, step), next=left
        )


def _withdrawal(judgment: Judgment, mark_id: str, when: float) -> Judgment:
    """What takes a judgment back."""
    back = {"judgment_id": mark_id, "replaces": judgment.judgment_id, "withdrawn": True, "time": when}
    return msgspec.structs.replace(judgment, **back)


def _problems(step: GradingStep, draft: Draft) -> list[str]:
    found = []
    if draft.choice not in step.grades:
        found.append(f"Choose one of {', '.join(step.grades)}.")
    if draft.spans or draft.flags:
        found.append("This pass asks for a grade and a note alone.")
    return found


def _view(judgment: Judgment, time: float | None, *, withdrawn: bool = False) -> MarkView:
    return MarkView(
        mark_id=_id(judgment),
        choice=judgment.category,
        note=judgment.reason or "",
        time=time or 0.0,
        withdrawn=withdrawn,
    )


def _id(judgment: Judgment) -> str:
    return judgment.judgment_id or ""


def import_passages(
    filled: Sequence[FilledPassage], book: MarkBook[JudgmentEntry], clock: Callable[[], float]
) -> list[Judgment]:
    """Takes in what people graded in forms: the judgments that were added to the book."""
    before = len(book.lines)
    known = [each.judgment for each in book.lines if each.judgment is not None and each.key is None]
    raters = dict.fromkeys(each.rater for each in filled)
    work = PassageWork(book, steps_of_forms(filled), list(raters), known, clock)
    try:
        import_tasks(work, book, filled)
    finally:
        work.close()
    return [each.judgment for each in book.lines[before:] if each.judgment is not None]
