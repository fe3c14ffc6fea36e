"""A shelf: folders of built things by content key, each whole or absent.

A thing is written into a folder beside its place, synced, and moved there by one rename. So a build that is
killed leaves what was there before or nothing, and what it left half written is swept away by the next one.
Whatever is on a shelf can be made again: deleting it costs time, never evidence.
"""

from __future__ import annotations

import errno
import fcntl
import shutil
import tokenize
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.core.errors import DataError, Problem, SystemFailure
from assay.store.disk import sync

T = TypeVar("T")
# What reading a damaged file raises: NumPy parses the head of an array as Python.
UNREADABLE = (OSError, ValueError, EOFError, SyntaxError, tokenize.TokenError, msgspec.MsgspecError)
_BUILDING = ".building-"
_FULL = {errno.ENOSPC, errno.EDQUOT}


class ArtifactCache:
    """One folder of things by key. Processes may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> Path | None:
        """Where the whole thing of that key lies, if it is there."""
        place = self.folder / key
        return place if place.is_dir() else None

    def read(self, key: str, read: Callable[[Path], T]) -> T | None:
        """What `read` makes of the thing of that key; None where it is missing, or damaged: then it goes."""
        place = self.find(key)
        try:
            return None if place is None else read(place)
        except DamagedArtifact:
            shutil.rmtree(self.folder / key, ignore_errors=True)
            return None

    def read_or_put(self, key: str, read: Callable[[Path], T], write: Callable[[Path], None]) -> T:
        """What `read` makes of the thing of that key, which `write` makes where it is missing or damaged."""
        found = self.read(key, read)
        return read(self.put(key, write)) if found is None else found

    def put(self, key: str, write: Callable[[Path], None]) -> Path:
        """Lets `write` fill an empty folder and gives it its place, unless somebody else was faster."""
        with explain_cache_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._building():
                draft = self.folder / f"{_BUILDING}{uuid.uuid4().hex}"
                draft.mkdir()
                try:
                    write(draft)
                    _sync_all(draft)
                    if (self.folder / key).is_file():  # put there by mistake: nothing of ours is one
                        (self.folder / key).unlink()
                    self._place(draft, self.folder / key)
                finally:
                    shutil.rmtree(draft, ignore_errors=True)
        return self.folder / key

    @contextmanager
    def _building(self) -> Iterator[None]:
        """Holds a lock that builders share; who can have it alone knows that every draft is a dead one's."""
        with (self.folder / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for draft in self.folder.glob(f"{_BUILDING}*"):
                    shutil.rmtree(draft, ignore_errors=True)
            except BlockingIOError:
                pass
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield

    def _place(self, draft: Path, place: Path) -> None:
        try:
            draft.rename(place)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
        sync(self.folder)


@contextmanager
def explain_cache_errors(folder: Path) -> Iterator[None]:
    """Says in plain words where a disk refuses what is written below a folder."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            what, fix = "The disk is full", "Free some space, or set ASSAY_CACHE to a folder that has it"
        elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            what, fix = "It may not be written", "Change its rights, or set ASSAY_CACHE to another folder"
        elif error.errno == errno.ENOENT:
            what, fix = "It cannot be made", "Make the folder above it, or set ASSAY_CACHE to another folder"
        elif error.errno in {errno.ENOTDIR, errno.EEXIST}:
            what, fix = "A file is in its way", "Remove it, or set ASSAY_CACHE to another folder"
        else:
            raise
        raise SystemFailure(f"{folder}: {what.lower()}. {fix}. Nothing half-written was kept.") from error


class DamagedArtifact(DataError):
    """A thing on a shelf that cannot be read: it is made again."""

    def __init__(self, folder: Path, error: BaseException) -> None:
        fix = "Run again: it is made again where it is needed."
        super().__init__(Problem(f"an index is damaged ({error})", str(folder), fix=fix))


def _sync_all(folder: Path) -> None:
    """Writes a folder to the disk before its name: no crash may leave a name without its bytes."""
    for path in sorted(folder.rglob("*"), reverse=True):
        sync(path)
    sync(folder)
