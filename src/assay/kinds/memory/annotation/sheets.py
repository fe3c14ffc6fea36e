"""The sheets that people fill in, one per person, and the marks in which finished rows are kept.

The first person writes the queries. The others see nothing else of that sheet. If a sheet exists, only new
rows are added below: what somebody wrote in the sheet stays unchanged, byte for byte.

Finished rows are imported as marks. If the author changes a row, its new mark replaces the earlier mark. If a
row is removed or no longer finished, its mark is withdrawn. The journal keeps all marks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.kinds.memory.annotation.documents import frozen_version
from assay.kinds.memory.annotation.labels import LABEL_COLUMNS, STATUSES, CaseAnnotation, read_annotation
from assay.kinds.memory.annotation.sampling import SAMPLE_COLUMNS
from assay.kinds.memory.annotation.workspace import (
    CsvRow,
    Workspace,
    append_rows,
    check_name,
    read_table,
    write_table,
)
from assay.review.marks import MarkBook, folder_book, import_tasks
from assay.review.work import Draft, MarkView, SaveReceipt, StepState, Task

SHEET_COLUMNS = (
    *("case_id", "doc_id", "query", "answer_short", "case_family", "difficulty", "tags"),
    *LABEL_COLUMNS[1:],
    *("review_status", "review_notes"),
)
CANDIDATES = ("doc_id", "node_id", "section", "text")  # no hints: people label from the documents
SHOWN = ("case_id", "doc_id", "query")  # what everybody but the first person sees
LABELLING, DECIDING = "labelling", "adjudication"  # the steps that marks belong to
Place = tuple[str, str, str]  # rater, step and case

# ----------------------------------------------------------------------------------------- writing


@dataclass(frozen=True)
class SheetStatus:
    """A sheet, how many rows were added to it, and how many rows it has."""

    annotator: str
    path: Path
    added: int
    rows: int


@dataclass(frozen=True)
class Sheets:
    """All sheets as they are now."""

    candidates: Path
    sheets: list[SheetStatus]
    waiting: list[str]  # people whose sheet has to wait for the queries of the first person

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": "assay/annotation-sheets/1",
            "candidates": str(self.candidates),
            "forms": [{**vars(each), "path": str(each.path)} for each in self.sheets],
            "waiting": self.waiting,
        }


def write_sheets(workspace: Workspace, annotators: Sequence[str]) -> Sheets:
    """Writes the sheets that do not exist yet, and adds missing cases to the others."""
    first, *others = _check_people(annotators)
    frozen_version(workspace)
    if not workspace.sample.exists():
        command = f"assay annotate sample {workspace.documents}"
        raise UsageError(f"There is no sample at {workspace.sample}. Draw it first: {command}")
    drawn = read_table(workspace.sample, SAMPLE_COLUMNS).rows
    units = [(source.doc_id, unit) for source in workspace.sources for unit in source.units]
    write_table(
        workspace.candidates,
        CANDIDATES,
        [
            {"doc_id": doc_id, "node_id": unit.doc_id, "section": unit.section or "", "text": unit.text}
            for doc_id, unit in units
        ],
    )
    slots = [{"case_id": row["case_id"], "doc_id": row["doc_id"]} for row in drawn]
    sheets = [_extend_sheet(workspace, first, slots)]
    asked = [row for row in read_table(sheets[0].path, SHEET_COLUMNS).rows if row["query"]]
    shown = [{column: row[column] for column in SHOWN} for row in asked]
    shown.sort(key=lambda row: (row["doc_id"], row["case_id"]))  # the order of units would be a hint
    if not shown:
        return Sheets(workspace.candidates, sheets, others)
    sheets += [_extend_sheet(workspace, name, shown) for name in others]
    return Sheets(workspace.candidates, sheets, [])


def _check_people(annotators: Sequence[str]) -> list[str]:
    names = [check_name(name.strip(), "a person") for name in annotators if name.strip()]
    folded = [name.lower() for name in names]  # in some file systems Anna.csv and anna.csv are one file
    if len(names) < 2 or len(set(folded)) < len(names):
        raise UsageError("Name at least two people, each once, such as --annotators anna,ben.")
    return names


def _extend_sheet(workspace: Workspace, annotator: str, rows: Sequence[Mapping[str, str]]) -> SheetStatus:
    """Adds a row for each missing case to a sheet, or writes the sheet if it does not exist."""
    path = workspace.sheets / f"{annotator}.csv"
    if not path.exists():
        write_table(path, SHEET_COLUMNS, rows)
        return SheetStatus(annotator, path, len(rows), len(rows))
    table = read_table(path, SHEET_COLUMNS)
    known = {row["case_id"] for row in table.rows}
    lacking = [row for row in rows if row["case_id"] not in known]
    append_rows(table, lacking)
    return SheetStatus(annotator, path, len(lacking), len(table.rows) + len(lacking))


# ---------------------------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Sheet:
    """The sheet of a person, with the annotations that were read from it."""

    annotator: str
    annotations: dict[str, CaseAnnotation]  # by case

    @property
    def finished(self) -> dict[str, CaseAnnotation]:
        return {case_id: each for case_id, each in self.annotations.items() if each.finished}


def read_pair(
    workspace: Workspace, annotators: Sequence[str] = (), clock: Callable[[], float] = time.time
) -> tuple[Sheet, Sheet]:
    """Reads the sheets of two people, by default the only two.

    Raises an error that lists every problem of both sheets. Finished rows are imported as marks, and their
    labels are read from the marks.
    """
    names, problems = _two_people(workspace, annotators), list[Problem]()
    first, second = (_read_sheet(workspace, name, problems) for name in names)
    problems += _different_questions(first, second)
    if problems:
        raise DataError(problems)
    rows = [
        FilledRow(sheet.annotator, LABELLING, case_id, each.row)
        for sheet in (first, second)
        for case_id, each in sheet.finished.items()
    ]
    marks = import_rows(workspace, rows, LABELLING, clock, names)
    for sheet in (first, second):
        for case_id, each in sheet.finished.items():
            cells = marks[sheet.annotator, LABELLING, case_id].cells
            row = CsvRow(cells, each.row.where, each.row.line)
            sheet.annotations[case_id] = read_annotation(row, each.status, workspace.folder.absent, [])
    return first, second


def _two_people(workspace: Workspace, annotators: Sequence[str]) -> list[str]:
    found = [path.stem for path in sorted(workspace.sheets.glob("[!.]*.csv"))]
    command = f"assay annotate sheets {workspace.documents} --annotators anna,ben"
    if not found:
        raise UsageError(f"There are no sheets in {workspace.sheets}. Write them with: {command}")
    names = _check_people(annotators) if annotators else found
    for name in names:
        if name not in found:
            raise UsageError(f"There is no sheet of {name!r}. {did_you_mean(name, found)}")
    if len(names) != 2:
        what = f"There are sheets of {', '.join(names)}"
        raise UsageError(f"{what}. Agreement is between two people: name them with --annotators.")
    return names


def _read_sheet(workspace: Workspace, annotator: str, problems: list[Problem]) -> Sheet:
    found: dict[str, CaseAnnotation] = {}
    try:
        rows = read_table(workspace.sheets / f"{annotator}.csv", SHEET_COLUMNS).rows
    except DataError as error:
        problems += error.problems
        rows = []
    for row in rows:
        case_id, doc_id, status = row["case_id"], row["doc_id"], row["review_status"].lower()
        if not case_id:
            problems.append(row.problem("case_id", "the cell is empty", "Give the case an id."))
        elif case_id in found:
            what = f"{case_id!r} is on line {found[case_id].row.line} already"
            problems.append(row.problem("case_id", what, "Give one of the two another id."))
        elif status not in STATUSES:
            fix = did_you_mean(status, STATUSES[1:])
            problems.append(row.problem("review_status", f"{status!r} is not known", fix))
        else:
            if doc_id not in workspace.folder.units:
                fix = did_you_mean(doc_id, workspace.folder.units)
                problems.append(row.problem("doc_id", f"there is no document {doc_id!r}", fix))
            found[case_id] = read_annotation(row, status, workspace.folder.absent, problems)
    return Sheet(annotator, found)


def _different_questions(first: Sheet, second: Sheet) -> list[Problem]:
    """Returns a problem for each case whose query or document differs between the two sheets."""
    problems = []
    for case_id, other in second.finished.items():
        if (one := first.finished.get(case_id)) is None:
            continue
        for column in ("query", "doc_id"):
            mine, theirs = (" ".join(each.row[column].split()) for each in (one, other))
            if mine != theirs:
                what = f"{first.annotator} has {mine!r} there (line {one.row.line})"
                problems.append(other.row.problem(column, what, "Make them the same, and label it again."))
    return problems


# ------------------------------------------------------------------------------------------ marks


class SheetMark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="sheet"):
    """What a person wrote about a case: the cells of the row that are not empty."""

    mark_id: str
    rater: str
    step: str
    case_id: str
    cells: dict[str, str] = {}
    time: float = 0.0
    replaces: str | None = None
    withdrawn: bool = False  # it withdraws the mark that it replaces

    @property
    def place(self) -> Place:
        return self.rater, self.step, self.case_id

    def view(self) -> MarkView:
        note = self.cells.get("review_notes", "") or self.cells.get("rationale", "")
        return MarkView(
            mark_id=self.mark_id, choice=None, note=note, time=self.time, withdrawn=self.withdrawn
        )


class RowDraft(Draft):
    """The content of a row, to be saved as a mark."""

    cells: dict[str, str]
    withdrawn: bool


@dataclass(frozen=True)
class FilledRow:
    """A finished row of a sheet. `row` is None if the row was removed or is no longer finished."""

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
    """The marks of an annotation. Several threads may share an object."""

    def __init__(self, book: MarkBook[SheetMark], clock: Callable[[], float]) -> None:
        self._book, self._clock = book, clock
        self._turn = threading.RLock()
        self._history: dict[Place, list[SheetMark]] = {}
        for mark in book.lines:
            self._history.setdefault(mark.place, []).append(mark)

    @property
    def valid(self) -> dict[Place, SheetMark]:
        """The last mark of each rater on each case, unless it was withdrawn."""
        found = {place: marks[-1] for place, marks in self._history.items()}
        return {place: mark for place, mark in found.items() if not mark.withdrawn}

    def task(self, rater: str, step: str, task_id: str) -> Task:
        history = self._history.get((rater, step, task_id), [])
        views = [mark.view() for mark in history]
        last = views[-1] if views and not history[-1].withdrawn else None
        return Task(task_id=task_id, step=step, number=1, total=1, blocks=[], mark=last, history=views)

    def save(
        self, rater: str, step: str, task_id: str, draft: Draft, when: float | None = None
    ) -> SaveReceipt:
        cells = draft.cells if isinstance(draft, RowDraft) else {}
        withdrawn = isinstance(draft, RowDraft) and draft.withdrawn
        saved = self._clock() if when is None else when
        mark = SheetMark(draft.mark_id, rater, step, task_id, cells, saved, draft.base, withdrawn)
        with self._turn:
            self._book.add(mark)
            self._history.setdefault(mark.place, []).append(mark)
        state = StepState(step=step, title=step, state="open", total=1, done=1)
        return SaveReceipt(mark=None if withdrawn else mark.view(), step=state, next=None)


def import_rows(
    workspace: Workspace,
    rows: Sequence[FilledRow],
    step: str,
    clock: Callable[[], float],
    raters: Collection[str] | None = None,
) -> dict[Place, SheetMark]:
    """Imports the rows of some raters (None: of all raters) as marks. Returns the marks of these rows.

    Earlier marks of the same step and raters are withdrawn if their row is not among `rows`.
    """
    book: MarkBook[SheetMark] = folder_book(workspace.marks, SheetMark)
    marks = SheetMarks(book, clock)
    known = {
        place: mark
        for place, mark in marks.valid.items()
        if place[1] == step and (raters is None or place[0] in raters)
    }
    here = {row.place for row in rows}
    gone = [FilledRow(*place, None) for place in known if place not in here]
    changed = [row for row in rows if row.place not in known or known[row.place].cells != row.cells]
    try:
        import_tasks(marks, book, [*gone, *changed])
    finally:
        book.close()
    return {place: mark for place, mark in marks.valid.items() if place in here}
