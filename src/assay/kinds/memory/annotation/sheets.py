"""The forms that people fill in, one a person. The first writes the queries, the others see nothing else.

A form that exists is only added to below: what somebody wrote in it stays as it is, byte for byte.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.kinds.memory.annotation.labels import LABELS, STATUSES, CaseAnnotation, read_annotation
from assay.kinds.memory.annotation.marks import LABELLING, FilledRow, Place, SheetMark, keep_rows
from assay.kinds.memory.annotation.sampling import COLUMNS as SAMPLE
from assay.kinds.memory.annotation.snapshot import frozen_version
from assay.kinds.memory.annotation.spreadsheet import CsvRow, CsvTable, append_rows, read_table, write_table
from assay.kinds.memory.annotation.workspace import Workspace, check_name

COLUMNS = (
    "case_id",
    "doc_id",
    "query",
    "answer_short",
    "case_family",
    "difficulty",
    "tags",
    *LABELS[1:],
    "review_status",
    "review_notes",
)
CANDIDATES = ("doc_id", "node_id", "section", "text")  # nothing of ours: people label from the documents
SHOWN = ("case_id", "doc_id", "query")  # to everybody but the first


@dataclass(frozen=True)
class SheetStatus:
    """A form, how many rows were added to it, and how many it has."""

    annotator: str
    path: Path
    added: int
    rows: int


@dataclass(frozen=True)
class Sheets:
    """The forms as they lie there now."""

    candidates: Path
    forms: list[SheetStatus]
    waiting: list[str]  # people whose form has to wait for the first one's queries

    def as_json(self) -> dict[str, Any]:
        forms = [{**vars(each), "path": str(each.path)} for each in self.forms]
        return {
            "schema": "assay/annotation-sheets/1",
            "candidates": str(self.candidates),
            "forms": forms,
            "waiting": self.waiting,
        }


@dataclass(frozen=True)
class Sheet:
    """One person's form, read."""

    annotator: str
    path: Path
    annotations: dict[str, CaseAnnotation]  # by case

    @property
    def finished(self) -> dict[str, CaseAnnotation]:
        return {case_id: each for case_id, each in self.annotations.items() if each.finished}


def write_sheets(workspace: Workspace, annotators: Sequence[str]) -> Sheets:
    """Writes the forms that are not there yet, and adds to the others the cases that they lack."""
    names = _checked(annotators)
    frozen_version(workspace)
    if not workspace.sample.exists():
        command = f"assay annotate sample {workspace.documents}"
        raise UsageError(f"There is no sample at {workspace.sample}. Draw it first: {command}")
    drawn = read_table(workspace.sample, SAMPLE).rows
    _write_candidates(workspace)
    first, others = names[0], names[1:]
    slots = [{"case_id": row["case_id"], "doc_id": row["doc_id"]} for row in drawn]
    forms = [_grown(workspace.sheets / f"{first}.csv", first, slots)]
    asked = [row for row in read_table(forms[0].path, COLUMNS).rows if row["query"]]
    shown = [{column: row[column] for column in SHOWN} for row in asked]
    shown.sort(key=lambda row: (row["doc_id"], row["case_id"]))  # the order of units would tell something
    ready = others if shown else []
    forms += [_grown(workspace.sheets / f"{name}.csv", name, shown) for name in ready]
    return Sheets(workspace.candidates, forms, [] if shown else list(others))


def _checked(annotators: Sequence[str]) -> list[str]:
    names = [check_name(name.strip(), "a person") for name in annotators if name.strip()]
    folded = [name.lower() for name in names]  # some file systems do not tell Anna.csv from anna.csv
    if len(names) < 2 or len(set(folded)) < len(names):
        raise UsageError("Name at least two people, each once, such as --annotators anna,ben.")
    return names


def _write_candidates(workspace: Workspace) -> None:
    rows = [
        {
            "doc_id": source.doc_id,
            "node_id": unit.doc_id,
            "section": unit.section or "",
            "text": unit.text,
        }
        for source in workspace.sources
        for unit in source.units
    ]
    write_table(workspace.candidates, CANDIDATES, rows)


def _grown(path: Path, annotator: str, rows: Sequence[Mapping[str, str]]) -> SheetStatus:
    """The form with a row for each case that it lacks."""
    if not path.exists():
        write_table(path, COLUMNS, rows)
        return SheetStatus(annotator, path, len(rows), len(rows))
    table = read_table(path, COLUMNS)
    known = {row["case_id"] for row in table.rows}
    lacking = [row for row in rows if row["case_id"] not in known]
    append_rows(table, lacking)
    return SheetStatus(annotator, path, len(lacking), len(table.rows) + len(lacking))


# ---------------------------------------------------------------------------------------- reading


def read_pair(
    workspace: Workspace, annotators: Sequence[str] = (), clock: Callable[[], float] = time.time
) -> tuple[Sheet, Sheet]:
    """What two people labelled, by default the only two there are; raises with every problem of both forms.

    Finished rows are taken in as marks, and read from these.
    """
    first, second = _pair(workspace, annotators)
    problems: list[Problem] = []
    sheets = [_read(workspace, name, problems) for name in (first, second)]
    problems += _different(*sheets)
    if problems:
        raise DataError(problems)
    rows = [
        FilledRow(sheet.annotator, LABELLING, case_id, each.row)
        for sheet in sheets
        for case_id, each in sheet.finished.items()
    ]
    marks = keep_rows(workspace, rows, LABELLING, clock, (first, second))
    return _marked(workspace, sheets[0], marks), _marked(workspace, sheets[1], marks)


def _marked(workspace: Workspace, sheet: Sheet, marks: Mapping[Place, SheetMark]) -> Sheet:
    """The sheet with what was taken in of its finished rows."""
    found = dict(sheet.annotations)
    for case_id, each in sheet.finished.items():
        row = CsvRow(marks[sheet.annotator, LABELLING, case_id].cells, each.row.where, each.row.line)
        found[case_id] = read_annotation(row, each.status, workspace.folder.absent, [])
    return Sheet(sheet.annotator, sheet.path, found)


def _pair(workspace: Workspace, annotators: Sequence[str]) -> list[str]:
    found = [path.stem for path in sorted(workspace.sheets.glob("[!.]*.csv"))]
    command = f"assay annotate sheets {workspace.documents} --annotators anna,ben"
    if not found:
        raise UsageError(f"There are no forms in {workspace.sheets}. Write them with: {command}")
    names = _checked(annotators) if annotators else found
    for name in names:
        if name not in found:
            raise UsageError(f"There is no form of {name!r}. {did_you_mean(name, found)}")
    if len(names) != 2:
        told = f"There are forms of {', '.join(names)}"
        raise UsageError(f"{told}. Agreement is between two people: name them with --annotators.")
    return names


def _read(workspace: Workspace, annotator: str, problems: list[Problem]) -> Sheet:
    path = workspace.sheets / f"{annotator}.csv"
    try:
        table = read_table(path, COLUMNS)
    except DataError as error:
        problems += error.problems
        table = CsvTable(path, [], [])
    found: dict[str, CaseAnnotation] = {}
    for row in table.rows:
        case_id, status = row["case_id"], row["review_status"].lower()
        if not case_id:
            problems.append(row.problem("case_id", "the cell is empty", "Give the case an id."))
        elif case_id in found:
            what = f"{case_id!r} stands on line {found[case_id].row.line} already"
            problems.append(row.problem("case_id", what, "Give one of the two another id."))
        elif status not in STATUSES:
            fix = did_you_mean(status, STATUSES[1:])
            problems.append(row.problem("review_status", f"{status!r} is not known", fix))
        else:
            problems += _unknown_document(row, workspace)
            found[case_id] = read_annotation(row, status, workspace.folder.absent, problems)
    return Sheet(annotator, path, found)


def _unknown_document(row: CsvRow, workspace: Workspace) -> list[Problem]:
    if row["doc_id"] in workspace.folder.units:
        return []
    fix = did_you_mean(row["doc_id"], workspace.folder.units)
    return [row.problem("doc_id", f"there is no document {row['doc_id']!r}", fix)]


def _different(first: Sheet, second: Sheet) -> list[Problem]:
    """Cases that do not ask both people the same thing."""
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
