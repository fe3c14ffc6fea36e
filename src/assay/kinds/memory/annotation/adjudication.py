"""What was decided where two people differ, and why: a table with a written reason a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, did_you_mean
from assay.kinds.memory.annotation.agreement import Disagreement, doubly_labelled, find_disagreements
from assay.kinds.memory.annotation.labels import APPROVED, LABELS, REJECTED, CaseAnnotation, read_annotation
from assay.kinds.memory.annotation.marks import DECIDING, FilledRow, keep_rows
from assay.kinds.memory.annotation.sheets import Sheet
from assay.kinds.memory.annotation.spreadsheet import CsvRow, append_rows, read_table, write_table
from assay.kinds.memory.annotation.workspace import Workspace

COLUMNS = (
    "case_id",
    "doc_id",
    "query",
    "differs",
    "first_labels",
    "second_labels",
    "decision",
    *LABELS,
    "rationale",
    "adjudicator",
    "seen",
)
DECISIONS = (APPROVED, REJECTED)


@dataclass(frozen=True)
class AdjudicationProgress:
    """The table, and how far it is."""

    path: Path
    added: int
    open: list[str]  # cases that still need a decision and a reason
    decided: list[str]

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        return {"schema": "assay/annotation-adjudication/1", **found}


@dataclass(frozen=True)
class Ruling:
    """What was decided about a case; `final` has the labels."""

    final: CaseAnnotation
    rationale: str


def write_adjudication(workspace: Workspace, first: Sheet, second: Sheet) -> AdjudicationProgress:
    """Adds a row for every disagreement that has none; what both wrote alike is filled in."""
    pairs = {one.case_id: (one, other) for one, other in doubly_labelled(first, second)}
    found = find_disagreements(list(pairs.values()))
    rows = [_row(each, *pairs[each.case_id]) for each in found]
    path, known = workspace.adjudication, set[str]()
    if path.exists():
        table = read_table(path, COLUMNS)
        known = {row["case_id"] for row in table.rows}
        append_rows(table, [row for row in rows if row["case_id"] not in known])
    elif rows:
        write_table(path, COLUMNS, rows)
    added = sum(each.case_id not in known for each in found)
    decided = {
        row["case_id"]
        for row in (read_table(path, COLUMNS).rows if path.exists() else [])
        if row["decision"] and row["rationale"]
    }
    names = [each.case_id for each in found]
    return AdjudicationProgress(
        path,
        added,
        [name for name in names if name not in decided],
        [name for name in names if name in decided],
    )


def _row(each: Disagreement, one: CaseAnnotation, other: CaseAnnotation) -> dict[str, str]:
    alike = {name: one.row[name] for name in LABELS if one.row[name] == other.row[name]}
    return {
        **alike,
        "case_id": each.case_id,
        "doc_id": each.doc_id,
        "query": each.query,
        "differs": "; ".join(each.differs),
        "first_labels": each.first,
        "second_labels": each.second,
        "seen": labels_hash(one, other),
    }


def labels_hash(one: CaseAnnotation, other: CaseAnnotation) -> str:
    """A short hash of what two people wrote: a decision about other labels is stale."""
    encode = msgspec.json.Encoder(order="sorted").encode
    parts = [[each.status, each.labels] for each in (one, other)]
    return digest(encode(part) for part in parts)[:12]


def read_rulings(
    workspace: Workspace,
    pairs: Sequence[tuple[CaseAnnotation, CaseAnnotation]],
    clock: Callable[[], float] = time.time,
) -> dict[str, Ruling]:
    """Every decision that was taken, by case; raises with every row that is incomplete or stale.

    Decisions are taken in as marks of whoever decided.
    """
    if not workspace.adjudication.exists():
        return {}
    now = {one.case_id: (one, other) for one, other in pairs}
    differing = {each.case_id for each in find_disagreements(pairs)}
    problems, found = list[Problem](), dict[str, Ruling]()
    for row in read_table(workspace.adjudication, COLUMNS).rows:
        case_id = row["case_id"]
        if not row["decision"] and case_id in now and case_id not in differing:
            continue  # they came to agree
        problems += _incomplete(row, found)
        if row["seen"] and case_id in now and row["seen"] != labels_hash(*now[case_id]):
            what = "the forms have changed since this was decided"
            problems.append(row.problem("seen", what, "Look at the case again, then empty this cell."))
        final = read_annotation(row, row["decision"].lower(), workspace.folder.absent, problems)
        found[case_id] = Ruling(final, row["rationale"])
    if problems:
        raise DataError(problems)
    rows = [
        FilledRow(each.final.row["adjudicator"], DECIDING, case_id, each.final.row)
        for case_id, each in found.items()
    ]
    keep_rows(workspace, rows, DECIDING, clock)
    return found


def _incomplete(row: CsvRow, found: dict[str, Ruling]) -> list[Problem]:
    problems = []
    decision = row["decision"].lower()
    if not decision:
        what = f"nothing is decided about {row['case_id']!r}: they differ in {row['differs'] or 'something'}"
        fix = "Write approved, the labels that count and a rationale; or rejected and a rationale."
        problems.append(row.problem("decision", what, fix))
    elif decision not in DECISIONS:
        fix = did_you_mean(decision, DECISIONS)
        problems.append(row.problem("decision", f"{decision!r} is not known", fix))
    if decision and not row["rationale"]:
        what = f"the reason for {row['case_id']!r} is missing"
        problems.append(row.problem("rationale", what, "Write a short one."))
    if row["case_id"] in found:
        problems.append(row.problem("case_id", "the case is decided twice", "Keep one of the two rows."))
    return problems
