"""The inventory: one row a document, counted by us and described by people, before anything is annotated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, Problem, UsageError
from assay.kinds.memory.annotation.cues import CUES, cues_of
from assay.kinds.memory.annotation.guide import GUIDE
from assay.kinds.memory.annotation.spreadsheet import CsvRow, read_table, write_table
from assay.kinds.memory.annotation.workspace import SourceDocument, Workspace, write_file

FILLED_IN = (
    "document_type",
    "document_family",
    "language",
    "complexity",
    "selected_for_pilot",
    "selection_reason",
    "notes",
)
GONE = "gone"
COLUMNS = (
    "doc_id",
    "file_name",
    *FILLED_IN[:4],
    "units",
    "sections",
    *(f"{kind}_cues" for kind in CUES),
    *FILLED_IN[4:],
    "sha256",
    "status",
)
_YES_NO = {"": None, "yes": True, "true": True, "1": True, "x": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class Inventory:
    """The inventory as it stands now, and what is not as it was."""

    path: Path
    documents: int
    units: int
    new: list[str]
    changed: list[str]  # other content under the same name
    renamed: dict[str, str]  # now: before; what people wrote moved with the content
    gone: list[str]
    blank: dict[str, list[str]]  # by column that people fill in: documents without a value

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/annotation-inventory/1", **vars(self), "path": str(self.path)}


@dataclass(frozen=True)
class InventoryEntry:
    """What the inventory says about a document that is there."""

    doc_id: str
    row: CsvRow
    selected: bool | None  # None: nobody said


def write_inventory(workspace: Workspace) -> Inventory:
    """Writes the inventory anew; what people filled in stays, also for documents that are gone."""
    before = _before(workspace)
    sources = workspace.sources
    now = {source.doc_id for source in sources}
    lost = {row["sha256"]: doc_id for doc_id, row in before.items() if doc_id not in now}
    renamed = {
        source.doc_id: lost[source.sha256]
        for source in sources
        if source.doc_id not in before and source.sha256 in lost
    }
    own = {source.doc_id: before.get(renamed.get(source.doc_id, source.doc_id)) for source in sources}
    gone = [doc_id for doc_id in before if doc_id not in now and doc_id not in renamed.values()]
    rows = [_counted(source, own[source.doc_id]) for source in sources]
    kept = [{**before[doc_id].cells, "status": GONE} for doc_id in gone]
    extra = dict.fromkeys(name for row in before.values() for name in row.cells if name not in COLUMNS)
    write_table(workspace.inventory, (*COLUMNS, *extra), [*rows, *kept])
    if not workspace.guide.exists():
        write_file(workspace.guide, GUIDE.encode())
    return Inventory(
        workspace.inventory,
        len(sources),
        len(workspace.nodes),
        [doc_id for doc_id, row in own.items() if row is None],
        [each.doc_id for each in sources if (row := own[each.doc_id]) and row["sha256"] != each.sha256],
        renamed,
        gone,
        _blank(rows),
    )


def _before(workspace: Workspace) -> dict[str, CsvRow]:
    if not workspace.inventory.exists():
        return {}
    rows = read_table(workspace.inventory, ("doc_id", "sha256")).rows
    return _by_document(rows)


def _by_document(rows: Sequence[CsvRow]) -> dict[str, CsvRow]:
    found, problems = dict[str, CsvRow](), list[Problem]()
    for row in rows:
        if not row["doc_id"]:
            problems.append(row.problem("doc_id", "the cell is empty", "Restore the id, or remove the row."))
        elif row["doc_id"] in found:
            what = f"{row['doc_id']!r} stands on line {found[row['doc_id']].line} already"
            problems.append(row.problem("doc_id", what, "Keep one of the two rows."))
        else:
            found[row["doc_id"]] = row
    if problems:
        raise DataError(problems)
    return found


def _counted(source: SourceDocument, before: CsvRow | None) -> dict[str, str]:
    cues = [cue for unit in source.units for cue in cues_of(unit.text)]
    sections = {unit.section for unit in source.units if unit.section}
    return {
        **(dict(before.cells) if before else {}),
        "doc_id": source.doc_id,
        "file_name": source.path.name,
        "units": str(len(source.units)),
        "sections": str(len(sections)),
        **{f"{kind}_cues": str(cues.count(kind)) for kind in CUES},
        "sha256": source.sha256,
        "status": "",
    }


def _blank(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    wanted = ("document_family", "language", "complexity")
    blank = {column: [row["doc_id"] for row in rows if not row.get(column, "").strip()] for column in wanted}
    return {column: doc_ids for column, doc_ids in blank.items() if doc_ids}


def read_inventory(workspace: Workspace) -> dict[str, InventoryEntry]:
    """What people say about every document; refuses an inventory that is not of the documents as they are."""
    command = f"assay annotate inventory {workspace.documents}"
    if not workspace.inventory.exists():
        raise UsageError(f"There is no inventory at {workspace.inventory}. Take it first: {command}")
    rows = _by_document(read_table(workspace.inventory, COLUMNS).rows)
    problems, found = list[Problem](), dict[str, InventoryEntry]()
    for source in workspace.sources:
        row = rows.get(source.doc_id)
        if row is None:
            what = "the document is not in the inventory"
            problems.append(Problem(what, str(source.path), fix=f"Take it again: {command}"))
        elif row["sha256"] != source.sha256:
            what = f"{source.path.name} has changed since the inventory was taken"
            problems.append(row.problem("sha256", what, f"Take it again: {command}"))
        elif (word := row["selected_for_pilot"].lower()) not in _YES_NO:
            problems.append(row.problem("selected_for_pilot", f"{word!r} is neither yes nor no"))
        else:
            found[source.doc_id] = InventoryEntry(source.doc_id, row, _YES_NO[word])
    if problems:
        raise DataError(problems)
    return found
