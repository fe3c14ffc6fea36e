"""Snapshots: which documents a version of a private set is about, by the hash of every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec

from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.kinds.memory.annotation.inventory import read_inventory
from assay.kinds.memory.annotation.workspace import Workspace, check_name, write_file

SCHEMA = "assay/annotation-snapshot/1"


class Snapshot(msgspec.Struct, frozen=True):
    """A version of the documents as it lies on disk."""

    schema: str
    version: str
    created: Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]  # the last second that has a date
    document_hashes: dict[str, str]  # sha256 by file name

    @property
    def day(self) -> str:
        return datetime.fromtimestamp(self.created, UTC).date().isoformat()


@dataclass(frozen=True)
class FreezeResult:
    """A snapshot, where it is, and whether it was there before."""

    path: Path
    snapshot: Snapshot
    known: bool


def freeze_documents(workspace: Workspace, version: str, clock: Callable[[], float]) -> FreezeResult:
    """Keeps the hash of every document under a version, which never stands for other content."""
    path = workspace.snapshots / f"{check_name(version, 'a version')}.json"
    read_inventory(workspace)
    hashes = {source.path.name: source.sha256 for source in workspace.sources}
    if path.exists():
        before = _read(path)
        if problems := list(_differences(before, hashes, workspace)):
            fix = f"The version {version!r} is taken. Restore the documents, or freeze another version."
            raise DataError([*problems, Problem("nothing was frozen", str(path), fix=fix)])
        return FreezeResult(path, before, True)
    snapshot = Snapshot(SCHEMA, version, clock(), hashes)
    write_file(path, msgspec.json.format(msgspec.json.encode(snapshot), indent=2) + b"\n")
    return FreezeResult(path, snapshot, False)


def frozen_version(workspace: Workspace, version: str | None = None) -> Snapshot:
    """A snapshot, by default the newest; refuses documents that are not as it has them."""
    found = {path.stem: path for path in sorted(workspace.snapshots.glob("[!.]*.json"))}
    if not found:
        command = f"assay annotate freeze {workspace.documents} --version 1"
        raise UsageError(f"The documents are not frozen, so that labels could drift. Run: {command}")
    if version is not None and version not in found:
        raise UsageError(f"There is no version {version!r}. {did_you_mean(version, found)}")
    some = [_read(path) for name, path in found.items() if version in (None, name)]
    snapshot = max(some, key=lambda each: each.created)
    now = {source.path.name: source.sha256 for source in workspace.sources}
    if problems := list(_differences(snapshot, now, workspace)):
        raise DataError(problems)
    return snapshot


def _read(path: Path) -> Snapshot:
    try:
        snapshot = msgspec.json.decode(path.read_bytes(), type=Snapshot)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        told = decoding_problem(error)
        what, fix = f"this is no snapshot: {told.what}", "Restore it from a copy."
        raise DataError(Problem(what, str(path), field=told.field, fix=fix)) from None
    if snapshot.schema != SCHEMA:
        what = f"its schema is {snapshot.schema!r}, not {SCHEMA!r}"
        raise DataError(Problem(what, str(path), fix="Restore it, or update Assay."))
    return snapshot


def _differences(then: Snapshot, now: dict[str, str], workspace: Workspace) -> Iterator[Problem]:
    """Documents that are not as a snapshot has them. A new one counts: it is part of what is searched."""
    fix = "Restore it, or freeze a new version and look at its cases again."
    known = then.document_hashes
    for name in sorted(known.keys() | now.keys()):
        where = str(workspace.documents / name)
        if name not in now:
            yield Problem(f"the document is gone since version {then.version!r}", where, fix=fix)
        elif name not in known:
            fix_new = "Take it away, or freeze a new version."
            yield Problem(f"the document is not part of version {then.version!r}", where, fix=fix_new)
        elif known[name] != now[name]:
            yield Problem(f"the document has changed since version {then.version!r}", where, fix=fix)
