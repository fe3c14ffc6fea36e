"""What people labelled, as marks: a finished row of a sheet is taken in as every mark is.

A sheet is a form. A row that its author changed replaces the earlier mark, one that is unfinished again or
gone takes it back, and the journal keeps them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import msgspec

from assay.core.dataset import digest
from assay.core.errors import Problem
from assay.kinds.memory.annotation.spreadsheet import CsvRow
from assay.kinds.memory.annotation.workspace import Workspace
from assay.review.marks import MarkBook, folder_book, import_tasks
from assay.review.work import Draft, MarkView, SaveReceipt, StepState, Task

LABELLING, DECIDING = "labelling", "adjudication"
Place = tuple[str, str, str]  # rater, step and case


class SheetMark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="sheet"):
    """What one person wrote about one case: the cells of the row that are not empty."""

    mark_id: str
    rater: str
    step: str
    case_id: str
    cells: dict[str, str] = {}
    time: float = 0.0
    replaces: str | None = None
    withdrawn: bool = False  # it takes back what it replaces

    @property
    def place(self) -> Place:
        return self.rater, self.step, self.case_id


class RowDraft(Draft):
    """A row of a sheet as a draft; one that is withdrawn takes back what was said."""

    cells: dict[str, str]
    withdrawn: bool


@dataclass(frozen=True)
class FilledRow:
    """A finished row of a sheet; without cells, one that is not finished any more."""

    rater: str
    step: str
    task_id: str  # the case
    row: CsvRow | None

    when = None

    @property
    def place(self) -> Place:
        return self.rater, self.step, self.task_id

    @property
    def cells(self) -> dict[str, str]:
        return {} if self.row is None else {name: self.row[name] for name in self.row.cells if self.row[name]}

    def draft(self, task: Task) -> RowDraft:
        base = None if task.mark is None else task.mark.mark_id
        content = msgspec.json.encode([self.place, sorted(self.cells.items()), base])
        return RowDraft.model_construct(
            mark_id=digest([content]), base=base, cells=self.cells, withdrawn=self.row is None
        )

    def unknown(self) -> Problem:
        return self.problem(f"there is no case {self.task_id!r}")

    def problem(self, what: str, fix: str = "") -> Problem:
        return Problem(what, fix=fix) if self.row is None else self.row.problem("case_id", what, fix)


class SheetMarks:
    """The marks of one annotation. Threads may share it."""

    def __init__(self, book: MarkBook[SheetMark], clock: Callable[[], float]) -> None:
        self._book, self._clock = book, clock
        self._turn = threading.RLock()
        self._history: dict[Place, list[SheetMark]] = {}
        for mark in book.lines:
            self._history.setdefault(mark.place, []).append(mark)

    @property
    def standing(self) -> dict[Place, SheetMark]:
        """The last mark of each rater on each case that was not taken back."""
        found = {place: marks[-1] for place, marks in self._history.items()}
        return {place: mark for place, mark in found.items() if not mark.withdrawn}

    def task(self, rater: str, step: str, task_id: str) -> Task:
        history = self._history.get((rater, step, task_id), [])
        views = [_view(mark) for mark in history]
        stands = views[-1] if views and not history[-1].withdrawn else None
        return Task(task_id=task_id, step=step, number=1, total=1, blocks=[], mark=stands, history=views)

    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt:
        cells = draft.cells if isinstance(draft, RowDraft) else {}
        withdrawn = isinstance(draft, RowDraft) and draft.withdrawn
        time = self._clock() if when is None else when
        mark = SheetMark(draft.mark_id, rater, step, task_id, cells, time, draft.base, withdrawn)
        with self._turn:
            self._book.add(mark)
            self._history.setdefault(mark.place, []).append(mark)
        state = StepState(step=step, title=step, state="open", total=1, done=1)
        return SaveReceipt(mark=None if withdrawn else _view(mark), step=state, next=None)


def _view(mark: SheetMark) -> MarkView:
    note = mark.cells.get("review_notes", "") or mark.cells.get("rationale", "")
    return MarkView(mark_id=mark.mark_id, choice=None, note=note, time=mark.time, withdrawn=mark.withdrawn)


def keep_rows(
    workspace: Workspace,
    rows: Sequence[FilledRow],
    step: str,
    clock: Callable[[], float],
    raters: Collection[str] | None = None,
) -> dict[Place, SheetMark]:
    """Takes in what the forms of some raters hold now, None: of all; what counts of them afterwards."""
    book: MarkBook[SheetMark] = folder_book(workspace.marks, SheetMark)
    marks = SheetMarks(book, clock)
    of_step = {place: mark for place, mark in marks.standing.items() if place[1] == step}
    own = {place: mark for place, mark in of_step.items() if raters is None or place[0] in raters}
    here = {row.place for row in rows}
    gone = [FilledRow(*place, None) for place in own if place not in here]
    changed = [row for row in rows if row.place not in own or own[row.place].cells != row.cells]
    try:
        import_tasks(marks, book, [*gone, *changed])
    finally:
        book.close()
    return {place: mark for place, mark in marks.standing.items() if place in here}
