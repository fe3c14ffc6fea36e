"""Three small documents to annotate, and people who fill in tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.kinds.memory.annotation.documents import freeze_documents, write_inventory
from assay.kinds.memory.annotation.sheets import SHEET_COLUMNS
from assay.kinds.memory.annotation.workspace import Workspace, open_workspace, read_table, write_table

LEASE = """\
# Lease of a workshop

## Rent
1 The tenant shall pay the rent on the first day of each month.
2 If the roof leaks, the tenant may keep back half of the rent until it is mended.
3 Rule 1 does not apply in August, when the workshop is closed.

## Keys
4 The landlord keeps one spare key in a sealed box.
"""
OUTAGE = """\
# When the pump stops

1 Close the main valve.
2 If the gauge still moves, call the duty engineer.
3 The duty engineer must log the call.
"""
LEAVE = """\
# Leave

1. Everybody has thirty days of leave a year.
2. Unless the head of the team agrees, leave in December must be asked for by June.
3. =cmd is what an odd text begins with.
"""
FAMILIES = {"lease": "contract", "leave": "policy", "outage": "runbook"}


def write_documents(folder: Path) -> Path:
    """The folder with the three documents: 4, 3 and 3 units."""
    folder.mkdir(parents=True)
    for name, text in {"lease": LEASE, "leave": LEAVE, "outage": OUTAGE}.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def fill(path: Path, cells: Mapping[str, Mapping[str, str]], key: str = "case_id") -> None:
    """Somebody fills in cells of a table, by the row's key; rows that it lacks are added."""
    table = read_table(path, (key,))
    rows = {row[key]: dict(row.cells) for row in table.rows}
    for name, each in cells.items():
        rows.setdefault(name, {key: name}).update(each)
    write_table(path, table.columns, rows.values())


def fill_inventory(path: Path) -> None:
    """Somebody says what family each document is of, and that all are in English."""
    cells = {
        doc_id: {"document_family": family, "language": "en", "complexity": "low"}
        for doc_id, family in FAMILIES.items()
    }
    fill(path, cells, "doc_id")


def approved(family: str, evidence: str, **more: str) -> dict[str, str]:
    """The cells of a row that is done."""
    return {"case_family": family, "evidence_node_ids": evidence, "review_status": "approved", **more}


def freeze_papers(folder: Path, version: str = "1", *, described: bool = False) -> Workspace:
    """The three documents in `folder/papers`, taken into the inventory and frozen."""
    documents = write_documents(folder / "papers")
    found = write_inventory(open_workspace(documents))
    if described:
        fill_inventory(found.path)
    freeze_documents(open_workspace(documents), version, lambda: 0.0)
    return open_workspace(documents)


def fill_sheets(
    workspace: Workspace, anna: Mapping[str, Mapping[str, str]], ben: Mapping[str, Mapping[str, str]]
) -> None:
    """Anna's and Ben's sheets, every case over the lease; a case without cells is left out."""
    for name, cells in {"anna": anna, "ben": ben}.items():
        rows = [
            {"case_id": key, "doc_id": "lease", "query": f"{key}?", **row}
            for key, row in cells.items()
            if row
        ]
        write_table(workspace.sheets / f"{name}.csv", SHEET_COLUMNS, rows)
