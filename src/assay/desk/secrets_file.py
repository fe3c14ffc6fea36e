"""A secret that outlives the server: a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from assay.core.errors import DataError, Problem
from assay.store.disk import explain_write_errors, sync

SIZE = 32  # bytes
_OWNER_ALONE = 0o077  # what nobody else may do


def secret_in(folder: Path) -> bytes:
    """The secret that lies in a folder; made there the first time."""
    path = folder / "secret"
    with explain_write_errors(path):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _make(path)
        content, mode = path.read_bytes(), path.stat().st_mode
    if len(content) != SIZE:
        fix = "Remove it and serve again: everybody then has to log in anew, and no mark is lost."
        raise DataError(Problem("holds no secret of this desk", str(path), fix=fix))
    if mode & _OWNER_ALONE:
        fix = "Remove it and serve again, or take those rights away: chmod 600."
        raise DataError(Problem("can be read by others than its owner", str(path), fix=fix))
    return content


def _make(path: Path) -> None:
    """Whole or not at all: two servers that start at once end up with the same one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SIZE))
        sync(draft)
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        sync(path.parent)
    finally:
        draft.unlink(missing_ok=True)
