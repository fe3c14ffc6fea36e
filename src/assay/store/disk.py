"""What has to be on the disk before something else may happen, and who alone may write there."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import polars as pl

from assay.core.errors import DataError, Problem, UsageError


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk: no crash can take them back."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Says plainly where the disk refused, and that nothing stored is lost by it."""
    try:
        yield
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        room = "Move it away" if isinstance(error, IsADirectoryError) else "Make room or allow writing there"
        fix = f"{room}, then run again: what was stored before stays."
        raise DataError(Problem(what, str(path), fix=fix)) from error


@contextmanager
def hold_lock(lock: Path, doing: str) -> Iterator[None]:
    """Held by one process at a time; the kernel lets go of it when that process dies.

    `doing` is what the other one does, as in "running my-study/run".
    """
    with lock.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"Another process{_holder(handle)} is {doing}. Wait for it, or end it."
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def _holder(handle: IO[str]) -> str:
    handle.seek(0)
    pid = handle.read().strip()
    return f" (pid {pid})" if pid else ""


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
    with explain_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _disk_errors():
                write(draft)
            sync(draft)
            draft.replace(path)
            sync(path.parent)  # the new name is on disk before anything it replaces goes
        finally:
            draft.unlink(missing_ok=True)
