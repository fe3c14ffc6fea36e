"""The documents of an annotation: the inventory that people complete, and frozen versions.

A version holds the hash of every document. It makes sure that labels stay with the text that people labelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec

from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.kinds.memory.annotation.workspace import (
    CsvRow,
    SourceDocument,
    Workspace,
    check_name,
    read_table,
    write_file,
    write_table,
)

# Wordings in English that hint at what a unit does. They help to choose units to write cases about, and label
# nothing: people who label do not see them.
CUES = {
    "exception": (
        *("except", "exception", "excluding", "unless", "notwithstanding", "however", "other than"),
        *("does not apply", "do not apply", "waived", "overrides"),
    ),
    "condition": (
        *("if", "when", "whenever", "provided that", "in case", "in the event", "subject to", "until"),
        *("as long as", "only after"),
    ),
    "obligation": (
        *("shall", "must", "required to", "obliged to", "has to", "have to", "may not", "responsible for"),
    ),
}
_PATTERNS = {
    kind: re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in words)})\b", re.IGNORECASE)
    for kind, words in CUES.items()
}
STRATA = ("document_family", "language", "complexity")  # the columns whose values make strata for samples
INVENTORY_COLUMNS = (
    *("doc_id", "file_name", "document_type", *STRATA, "units", "sections"),
    *(f"{kind}_cues" for kind in CUES),
    *("selected_for_pilot", "selection_reason", "notes", "sha256", "status"),
)
_YES_NO = {"": None, "yes": True, "true": True, "1": True, "x": True, "no": False, "false": False, "0": False}
_SCHEMA = "assay/annotation-snapshot/1"


def cues_of(text: str) -> list[str]:
    """Returns the kinds of cue that occur in a text, in the order of `CUES`."""
    return [kind for kind, pattern in _PATTERNS.items() if pattern.search(text)]


# -------------------------------------------------------------------------------------- inventory


@dataclass(frozen=True)
class Inventory:
    """The inventory as it is now, and what changed since it was last written."""

    path: Path
    documents: int
    units: int
    new: list[str]
    changed: list[str]  # documents with other content under the same name
    renamed: dict[str, str]  # the earlier name by the new name; the cells of the row are kept
    gone: list[str]
    blank: dict[str, list[str]]  # by column that people fill in: the documents without a value

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/annotation-inventory/1", **vars(self), "path": str(self.path)}


@dataclass(frozen=True)
class InventoryEntry:
    """The row of the inventory about a document."""

    doc_id: str
    row: CsvRow
    selected: bool | None  # None: nobody has decided


def write_inventory(workspace: Workspace) -> Inventory:
    """Writes the inventory again. Cells that people filled in stay, even if their document is gone."""
    path = workspace.inventory
    before = _by_document(read_table(path, ("doc_id", "sha256")).rows) if path.exists() else {}
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
    rows = [_counted_row(source, own[source.doc_id]) for source in sources]
    kept = [{**before[doc_id].cells, "status": "gone"} for doc_id in gone]
    extra = dict.fromkeys(
        name for row in before.values() for name in row.cells if name not in INVENTORY_COLUMNS
    )
    write_table(path, (*INVENTORY_COLUMNS, *extra), [*rows, *kept])
    if not workspace.guide.exists():
        write_file(workspace.guide, (files(__package__) / "guide.md").read_bytes())
    blank = {column: [row["doc_id"] for row in rows if not row.get(column, "").strip()] for column in STRATA}
    return Inventory(
        path,
        len(sources),
        len(workspace.folder.passages),
        [doc_id for doc_id, row in own.items() if row is None],
        [each.doc_id for each in sources if (row := own[each.doc_id]) and row["sha256"] != each.sha256],
        renamed,
        gone,
        {column: doc_ids for column, doc_ids in blank.items() if doc_ids},
    )


def _by_document(rows: Sequence[CsvRow]) -> dict[str, CsvRow]:
    found, problems = dict[str, CsvRow](), list[Problem]()
    for row in rows:
        if not row["doc_id"]:
            problems.append(row.problem("doc_id", "the cell is empty", "Restore the id, or remove the row."))
        elif row["doc_id"] in found:
            what = f"{row['doc_id']!r} is on line {found[row['doc_id']].line} already"
            problems.append(row.problem("doc_id", what, "Keep one of the two rows."))
        else:
            found[row["doc_id"]] = row
    if problems:
        raise DataError(problems)
    return found


def _counted_row(source: SourceDocument, before: CsvRow | None) -> dict[str, str]:
    cues = [cue for unit in source.units for cue in cues_of(unit.text)]
    return {
        **(dict(before.cells) if before else {}),
        "doc_id": source.doc_id,
        "file_name": source.path.name,
        "units": str(len(source.units)),
        "sections": str(len({unit.section for unit in source.units if unit.section})),
        **{f"{kind}_cues": str(cues.count(kind)) for kind in CUES},
        "sha256": source.sha256,
        "status": "",
    }


def read_inventory(workspace: Workspace) -> dict[str, InventoryEntry]:
    """Returns the entries of all documents. An inventory that does not match the documents is refused."""
    command = f"assay annotate inventory {workspace.documents}"
    if not workspace.inventory.exists():
        raise UsageError(f"There is no inventory at {workspace.inventory}. Take it first: {command}")
    rows = _by_document(read_table(workspace.inventory, INVENTORY_COLUMNS).rows)
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


# --------------------------------------------------------------------------------- frozen versions


class Snapshot(msgspec.Struct, frozen=True):
    """A version of the documents, in the form in which it is stored."""

    schema: str
    version: str
    created: Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]  # up to the end of the year 9999
    document_hashes: dict[str, str]  # sha256 by file name

    @property
    def day(self) -> str:
        return datetime.fromtimestamp(self.created, UTC).date().isoformat()


@dataclass(frozen=True)
class FrozenVersion:
    """A snapshot, its path, and whether the snapshot existed before."""

    path: Path
    snapshot: Snapshot
    known: bool


def freeze_documents(workspace: Workspace, version: str, clock: Callable[[], float]) -> FrozenVersion:
    """Stores the hash of every document under a version.

    If the version exists already, the documents must be the same as before.
    """
    path = workspace.snapshots / f"{check_name(version, 'a version')}.json"
    read_inventory(workspace)
    if path.exists():
        before = _read_snapshot(path)
        if problems := list(_changes_since(before, workspace)):
            fix = f"The version {version!r} is taken. Restore the documents, or freeze another version."
            raise DataError([*problems, Problem("nothing was frozen", str(path), fix=fix)])
        return FrozenVersion(path, before, True)
    hashes = {source.path.name: source.sha256 for source in workspace.sources}
    snapshot = Snapshot(_SCHEMA, version, clock(), hashes)
    write_file(path, msgspec.json.format(msgspec.json.encode(snapshot), indent=2) + b"\n")
    return FrozenVersion(path, snapshot, False)


def frozen_version(workspace: Workspace, version: str | None = None) -> Snapshot:
    """Returns a snapshot, by default the newest. Documents that differ from the snapshot are refused."""
    found = {path.stem: path for path in sorted(workspace.snapshots.glob("[!.]*.json"))}
    if not found:
        command = f"assay annotate freeze {workspace.documents} --version 1"
        raise UsageError(f"The documents are not frozen, so labels could drift. Run: {command}")
    if version is not None and version not in found:
        raise UsageError(f"There is no version {version!r}. {did_you_mean(version, found)}")
    snapshots = [_read_snapshot(path) for name, path in found.items() if version in (None, name)]
    snapshot = max(snapshots, key=lambda each: each.created)
    if problems := list(_changes_since(snapshot, workspace)):
        raise DataError(problems)
    return snapshot


def _read_snapshot(path: Path) -> Snapshot:
    try:
        snapshot = msgspec.json.decode(path.read_bytes(), type=Snapshot)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        problem = decoding_problem(error)
        what, fix = f"this is not a snapshot: {problem.what}", "Restore it from a copy."
        raise DataError(Problem(what, str(path), field=problem.field, fix=fix)) from None
    if snapshot.schema != _SCHEMA:
        what = f"its schema is {snapshot.schema!r}, not {_SCHEMA!r}"
        raise DataError(Problem(what, str(path), fix="Restore it, or update Assay."))
    return snapshot


def _changes_since(then: Snapshot, workspace: Workspace) -> Iterator[Problem]:
    """Yields the documents that differ from a snapshot.

    A new document counts, because it would be searched too.
    """
    fix = "Restore it, or freeze a new version and look at its cases again."
    known, now = then.document_hashes, {source.path.name: source.sha256 for source in workspace.sources}
    for name in sorted(known.keys() | now.keys()):
        where = str(workspace.documents / name)
        if name not in now:
            yield Problem(f"the document is gone since version {then.version!r}", where, fix=fix)
        elif name not in known:
            fix_new = "Take it away, or freeze a new version."
            yield Problem(f"the document is not part of version {then.version!r}", where, fix=fix_new)
        elif known[name] != now[name]:
            yield Problem(f"the document has changed since version {then.version!r}", where, fix=fix)
