"""What has to be on the disk before something else may happen, and who alone may write there."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assay.core.errors import UsageError


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk: no crash can take them back."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def alone(lock: Path, doing: str) -> Iterator[None]:
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
