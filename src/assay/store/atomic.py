"""Files that are whole or absent, whatever happens while they are written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from assay.store.disk import sync
from assay.store.journal import storing


@contextmanager
def _disk_errors() -> Iterator[None]:
    """What polars says of a disk that refuses, as the error that it is."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        if (found := re.search(r"\(os error (\d+)\)", str(error))) is None:
            raise
        raise OSError(int(found[1]), os.strerror(int(found[1]))) from error


def write_atomic(path: Path, write: Callable[[Path], object]) -> None:
    """Writes beside the target, syncs, renames: a reader sees the old file or the new, never a half."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with storing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _disk_errors():
                write(draft)
            sync(draft)
            draft.replace(path)
            sync(path.parent)  # the new name is on disk before anything it replaces goes
        finally:
            draft.unlink(missing_ok=True)
