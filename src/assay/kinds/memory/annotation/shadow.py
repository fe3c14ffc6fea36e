"""A shadow set: many queries over the same documents, without labels, to be asked again and again for drift.

It is written in Assay's own layout (see `datasets.folder`), so that any study can ask it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, UsageError
from assay.core.yaml_lines import read_text
from assay.datasets.units import read_folder
from assay.kinds.memory.annotation.snapshot import frozen_version
from assay.kinds.memory.annotation.workspace import Workspace, write_file

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class ShadowSet:
    """A shadow set, where it was written and how large it is."""

    path: Path
    queries: int
    units: int
    doubled: int  # lines that ask what an earlier one asks

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/annotation-shadow/1", **vars(self), "path": str(self.path)}


def write_shadow(workspace: Workspace, queries: Path, pack: str, out: Path | None = None) -> ShadowSet:
    """Writes a shadow set from a file with a query a line; an id is a hash of its query, and stays."""
    frozen_version(workspace)
    place = out or workspace.root / "shadow"
    if place.resolve() == workspace.documents.resolve():
        raise UsageError(f"{place} holds the documents. Name another folder.")
    lines = [" ".join(line.split()) for line in read_text(queries).splitlines()]
    asked = [line for line in lines if line and not line.startswith("#")]
    if not asked:
        raise DataError(Problem("there is no query in it", str(queries), fix="Write a query a line."))
    texts = list(dict.fromkeys(asked))
    found = read_folder(workspace.documents, pack)
    # The items last: a folder without them is no dataset, so that a crash leaves none that is half.
    files: dict[str, Iterable[object]] = {
        "documents.jsonl": [units.document for units in found.units.values()],
        "passages.jsonl": found.passages,
        "items.jsonl": [
            {"item_id": f"shadow-{digest([text.encode()])[:12]}", "text": text, "tags": {"set": "shadow"}}
            for text in texts
        ],
    }
    for name, records in files.items():
        content = b"".join(_encode(record) + b"\n" for record in records)
        write_file(place / name, content)
    return ShadowSet(place, len(texts), len(found.passages), len(asked) - len(texts))
