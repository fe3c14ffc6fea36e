"""One process at a time takes marks into a folder, or opens its seal: two would not see each other's."""

from __future__ import annotations

import fcntl
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.core.errors import UsageError


def hold_folder_for(owner: object, folder: Path) -> Callable[[], object]:
    """Holds a folder for an owner, and gives what lets go of it; a process that dies lets go, too."""
    return weakref.finalize(owner, os.close, _locked(folder))


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Holds a folder for as long as something is done in it."""
    handle = _locked(folder)
    try:
        yield
    finally:
        os.close(handle)


def _locked(folder: Path) -> int:
    """The folder itself, locked, so that no file of a lock lies among what is shown."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            f"Another process serves {folder}, or takes scores in. Wait for it, or end it."
        ) from None
    return handle
