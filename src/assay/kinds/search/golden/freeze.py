"""Freezing a golden set: which ids are taken for ever, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.core.errors import DataError
from assay.kinds.search.datasets.golden_lock import SCHEMA, Known, Lock, known, read_lock
from assay.kinds.search.golden.check import check_golden
from assay.kinds.search.golden.opening import GoldenStudy
from assay.store.disk import write_atomic


@dataclass(frozen=True)
class Frozen:
    """A lock as it stands now, and what it did not hold before."""

    path: Path
    version: int
    items: int
    new: list[str]
    changed: list[str]  # ids whose expectations are others now


def freeze_golden(opened: GoldenStudy) -> Frozen:
    """Writes the lock. A golden set that does not pass its check is refused; without news nothing changes."""
    if problems := check_golden(opened).problems:
        raise DataError(problems)
    before = read_lock(opened.lock)
    earlier = before.items if before else {}
    version = before.version + 1 if before else 1
    now: dict[str, Known] = {}
    for _, _, entry in opened.golden.read(opened.study.kit).entries():
        since = earlier[entry.id].since if entry.id in earlier else version
        now[entry.id] = msgspec.structs.replace(known(entry.model_dump()), since=since, text="")
    new = [item_id for item_id in now if item_id not in earlier]
    changed = [item_id for item_id in now if item_id in earlier and now[item_id] != earlier[item_id]]
    if before is not None and not new and not changed:
        return Frozen(opened.lock, before.version, len(now), [], [])
    today = datetime.fromtimestamp(opened.study.kit.clock(), UTC).date().isoformat()
    lock = msgspec.json.format(msgspec.json.encode(Lock(SCHEMA, version, today, now)), indent=2) + b"\n"
    write_atomic(opened.lock, lambda target: target.write_bytes(lock))
    return Frozen(opened.lock, version, len(now), new, changed)
