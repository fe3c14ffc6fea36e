"""Lets people grade passages, on a page of the desk or as rows of a form.

A save adds a judgment to the journal of the run, so every other command counts the judgment at once. An undo
withdraws the judgment in the journal. The judgment that it had replaced then counts again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import msgspec

from assay.core.dataset import digest
from assay.core.errors import Problem
from assay.core.records import Judgment
from assay.judges.labels import current_judgments, text_hash
from assay.review.marks import MarkBook, import_tasks
from assay.review.work import (
    Choice,
    Conflict,
    Draft,
    MarkView,
    NewPrecedent,
    NotFound,
    PrecedentView,
    Rule,
    RuleViolation,
    SaveReceipt,
    StepForm,
    StepState,
    StepView,
    Suggestion,
    Task,
    TaskState,
    TextBlock,
    Undo,
    WorkState,
)
from assay.store.journal import JudgmentEntry

Place = tuple[str, str, str, str]  # rater, item, label and passage


@dataclass(frozen=True)
class PassageTask:
    """A passage that a person grades for an item."""

    item_id: str
    doc_id: str
    label: str
    shown: str  # the text that a judgment is bound to
    blocks: Sequence[TextBlock] = ()  # what is on the screen

    @cached_property
    def task_id(self) -> str:
        """The id of the task. It reveals no rank, arm or text."""
        return digest(part.encode() for part in (self.item_id, self.label, self.doc_id))[:24]

    @cached_property
    def seen(self) -> str:
        return text_hash(self.shown)

    def place(self, rater: str) -> Place:
        return rater, self.item_id, self.label, self.doc_id


@dataclass(frozen=True)
class GradingStep:
    """A pass over passages, in order. `grades` holds the words with which raters may grade them."""

    name: str
    title: str
    about: str
    grades: Mapping[str, float]
    form: StepForm
    tasks: Sequence[PassageTask]
    rules: Sequence[Rule] = ()

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The position of each task in the pass, from 0."""
        return {each.task_id: position for position, each in enumerate(self.tasks)}

    def position(self, task_id: str) -> int:
        if (found := self.positions.get(task_id)) is None:
            raise NotFound(f"There is no task {task_id!r} here.")
        return found


class _History:
    """All judgments of one passage by one rater, oldest first."""

    def __init__(self) -> None:
        self.current: Judgment | None = None
        self.views: list[MarkView] = []  # the mark that counts after each save or undo
        self._judgments: list[Judgment] = []

    def add(self, judgment: Judgment) -> None:
        self._judgments.append(judgment)
        self.current = next(reversed(current_judgments(self._judgments)), None)
        self.views.append(_view(self.current or judgment, judgment.time, withdrawn=self.current is None))


class PassageWork:
    """The work of grading passages at the desk.

    Threads may share an object of this class. Each rater sees only their own judgments.
    """

    NEXT: ClassVar[str] = "Everything is judged. The study's owner sees the decision with: assay report"

    def __init__(
        self,
        book: MarkBook[JudgmentEntry],
        title: str,
        about: str,
        steps: Sequence[GradingStep],
        raters: Sequence[str],
        earlier: Sequence[Judgment],
        clock: Callable[[], float],
    ) -> None:
        """`earlier` holds all earlier judgments by people, oldest first."""
        self._book, self._about, self._clock = book, about, clock
        self.title, self.raters = title, tuple(raters)
        self._steps = {step.name: step for step in steps}
        self._turn = threading.Lock()
        self._histories: dict[Place, _History] = {}
        self._known: dict[tuple[str, str], Place] = {}  # by rater and mark_id
        self._finished_tasks: dict[tuple[str, str], set[str]] = {}  # by rater and pass
        for each in earlier:
            self._remember(each)

    # ------------------------------------------------------------------------------------- reading

    def state(self, rater: str) -> WorkState:
        steps = [self._state(rater, step) for step in self._steps.values()]
        current = next((each.step for each in steps if each.state == "open"), None)
        finished = "" if current else self.NEXT
        return WorkState(title=self.title, about=self._about, steps=steps, current=current, finished=finished)

    def _state(self, rater: str, step: GradingStep) -> StepState:
        done, total = len(self._finished(rater, step)), len(step.tasks)
        state = "done" if done == total else "open"
        return StepState(step=step.name, title=step.title, state=state, total=total, done=done)

    def step(self, rater: str, step: str) -> StepView:
        found = self._step(step)
        done = self._finished(rater, found)
        tasks = [TaskState(task_id=each.task_id, done=each.task_id in done) for each in found.tasks]
        rules = list(found.rules)
        return StepView(
            step=step, title=found.title, about=found.about, form=found.form, rules=rules, tasks=tasks
        )

    def task(self, rater: str, step: str, task_id: str) -> Task:
        found = self._step(step)
        position = found.position(task_id)
        task = found.tasks[position]
        history = self._histories.get(task.place(rater), _History())
        return Task(
            task_id=task_id,
            step=step,
            number=position + 1,
            total=len(found.tasks),
            blocks=list(task.blocks),
            mark=_current_view(self._current(rater, task)),
            history=list(history.views),
        )

    def suggestion(self, rater: str, step: str, task_id: str) -> Suggestion:
        self._step(step).position(task_id)
        raise NotFound("There are no suggestions here: they would be another judge's word.")

    def register(self, rater: str) -> list[PrecedentView]:
        return []

    def add_case(self, rater: str, case: NewPrecedent) -> PrecedentView:
        raise Conflict("This review keeps no precedents.")

    # -------------------------------------------------------------------------------------- saving

    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt:
        found = self._step(step)
        task = found.tasks[found.position(task_id)]
        with self._turn:
            if not self._is_saved(rater, task, draft.mark_id):
                before = self._check_base(rater, task, draft.base)
                if problems := _problems(found, draft):
                    raise RuleViolation(problems)
                # This screen does not show a judgment of an older text, but the new judgment replaces it.
                before = before or self._histories.get(task.place(rater), _History()).current
                self._add(self._judgment(rater, task, found, draft, before, when))
            return self._receipt(rater, found, task)

    def undo(self, rater: str, step: str, task_id: str, undo: Undo) -> SaveReceipt:
        found = self._step(step)
        task = found.tasks[found.position(task_id)]
        with self._turn:
            if not self._is_saved(rater, task, undo.mark_id):
                before = self._check_base(rater, task, undo.base)
                if before is None:
                    raise Conflict("There is nothing here to take back.")
                withdrawal = msgspec.structs.replace(
                    before,
                    judgment_id=undo.mark_id,
                    replaces=before.judgment_id,
                    withdrawn=True,
                    time=self._clock(),
                )
                self._add(withdrawal)
            return self._receipt(rater, found, task)

    def _judgment(
        self,
        rater: str,
        task: PassageTask,
        step: GradingStep,
        draft: Draft,
        before: Judgment | None,
        when: float | None,
    ) -> Judgment:
        word = draft.choice or ""
        return Judgment(
            task.item_id,
            task.label,
            step.grades[word],
            rater,
            target=task.doc_id,
            category=word,
            seen=task.seen,
            reason=draft.note.strip() or None,
            time=self._clock() if when is None else when,
            judgment_id=draft.mark_id,
            replaces=before.judgment_id if before else None,
        )

    def close(self) -> None:
        with self._turn:
            self._book.close()

    # ------------------------------------------------------------------------------------- helpers

    def _step(self, name: str) -> GradingStep:
        if (found := self._steps.get(name)) is None:
            raise NotFound(f"There is no step {name!r}.")
        return found

    def _current(self, rater: str, task: PassageTask) -> Judgment | None:
        """Returns the rater's judgment of the current text; None if there is no such judgment."""
        history = self._histories.get(task.place(rater))
        found = history.current if history else None
        return found if found is not None and found.seen in {None, task.seen} else None

    def _finished(self, rater: str, step: GradingStep) -> set[str]:
        """Returns the ids of the tasks of a pass that a rater has done.

        They are counted once. After that, every save updates them.
        """
        key = rater, step.name
        if key not in self._finished_tasks:
            self._finished_tasks[key] = {
                each.task_id for each in step.tasks if self._current(rater, each) is not None
            }
        return self._finished_tasks[key]

    def _is_saved(self, rater: str, task: PassageTask, mark_id: str) -> bool:
        """Whether this mark was saved before. Raises Conflict if it was saved for another passage."""
        place = self._known.get((rater, mark_id))
        if place is not None and place != task.place(rater):
            raise Conflict("That mark was saved for another passage.")
        return place is not None

    def _check_base(self, rater: str, task: PassageTask, base: str | None) -> Judgment | None:
        """Returns the current judgment. Raises Conflict if the page showed another one."""
        current = self._current(rater, task)
        if (_id(current) if current else None) != base:
            what = "Something else was saved here since this page was opened."
            raise Conflict(what, _current_view(current))
        return current

    def _add(self, judgment: Judgment) -> None:
        self._book.add(JudgmentEntry(judgment))
        self._remember(judgment)

    def _remember(self, judgment: Judgment) -> None:
        place = (judgment.judge, judgment.item_id, judgment.label, judgment.target or "")
        self._histories.setdefault(place, _History()).add(judgment)
        self._known[judgment.judge, _id(judgment)] = place

    def _receipt(self, rater: str, step: GradingStep, task: PassageTask) -> SaveReceipt:
        current, finished = self._current(rater, task), self._finished(rater, step)
        (finished.discard if current is None else finished.add)(task.task_id)
        after = step.positions[task.task_id]
        others = [*step.tasks[after + 1 :], *step.tasks[:after]]
        following = next((each.task_id for each in others if each.task_id not in finished), None)
        return SaveReceipt(mark=_current_view(current), step=self._state(rater, step), next=following)


def _problems(step: GradingStep, draft: Draft) -> list[str]:
    found = []
    if draft.choice not in step.grades:
        found.append(f"Choose one of {', '.join(step.grades)}.")
    if draft.spans or draft.flags:
        found.append("This pass asks only for a grade and a note.")
    return found


def _current_view(judgment: Judgment | None) -> MarkView | None:
    return None if judgment is None else _view(judgment, judgment.time)


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


# --------------------------------------------------------------------------------------- forms


@dataclass(frozen=True)
class FilledPassage:
    """A passage that a person graded in a form."""

    task: PassageTask
    rater: str
    word: str
    note: str
    mark_id: str
    when: float
    grades: Mapping[str, float]  # the words that the form accepts
    problem: Callable[[str, str], Problem]  # makes a problem of this row from what is wrong and what to do

    @property
    def step(self) -> str:
        return f"{self.task.label}: {', '.join(self.grades)}"

    @property
    def task_id(self) -> str:
        return self.task.task_id

    def draft(self, task: Task) -> Draft:
        base = None if task.mark is None else task.mark.mark_id
        return Draft.model_construct(mark_id=self.mark_id, base=base, choice=self.word, note=self.note)

    def unknown(self) -> Problem:
        return self.problem("nobody is asked for this passage", "Export the form again.")


def import_passages(
    filled: Sequence[FilledPassage], book: MarkBook[JudgmentEntry], clock: Callable[[], float]
) -> list[Judgment]:
    """Imports the grades that people gave in forms, and returns the judgments that were added to the book."""
    by_step: dict[str, dict[str, FilledPassage]] = {}  # one pass for each label and its words
    for row in filled:
        by_step.setdefault(row.step, {}).setdefault(row.task_id, row)
    steps = []
    for name, rows in by_step.items():
        grades = next(iter(rows.values())).grades
        form = StepForm(choices=[Choice(value=word, label=word, key="") for word in grades])
        steps.append(GradingStep(name, name, "", grades, form, [each.task for each in rows.values()]))
    before = len(book.lines)
    known = [each.judgment for each in book.lines if each.judgment is not None and each.key is None]
    raters = list(dict.fromkeys(each.rater for each in filled))
    work = PassageWork(book, "forms", "", steps, raters, known, clock)
    try:
        import_tasks(work, book, filled)
    finally:
        work.close()
    return [each.judgment for each in book.lines[before:] if each.judgment is not None]
