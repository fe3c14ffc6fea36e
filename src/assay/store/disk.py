"""Protects files from crashes and other processes: locks, atomic writes, and a cache of built artifacts."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import tokenize
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar

import msgspec
import polars as pl

from assay.core.errors import DataError, Problem, SystemFailure, UsageError

T = TypeVar("T")

# ------------------------------------------------------------------------------------ locks


def lock(file: int | IO[bytes] | IO[str], *, shared: bool = False, wait: bool = True) -> bool:
    """Locks an open file or folder until it is closed, or until this process dies.

    Several processes can have a shared lock at the same time. Without `wait`, returns False if another
    process has the lock.
    """
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


@contextmanager
def hold_lock(path: Path, busy: str = "") -> Iterator[None]:
    """Holds the lock of a file or folder. A file is created if needed.

    If another process has the lock, this waits. With `busy`, it raises a UsageError instead. `busy` is what
    the other process does, such as "running my-study/run".
    """
    handle = _open_locked(path, busy)
    try:
        yield
    finally:
        os.close(handle)


def hold_lock_for(owner: object, path: Path, busy: str) -> Callable[[], object]:
    """Holds a lock as `hold_lock` does, for the life of an owner.

    Returns a function that releases the lock earlier.
    """
    return weakref.finalize(owner, os.close, _open_locked(path, busy))


def _open_locked(path: Path, busy: str) -> int:
    is_folder = path.is_dir()  # a lock of a folder needs no file among what is shown
    handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR | os.O_CREAT, 0o644)
    if not lock(handle, wait=not busy):
        pid = "" if is_folder else os.read(handle, 32).decode("ascii", "replace").strip()
        os.close(handle)
        holder = f"Another process (pid {pid})" if pid else "Another process"
        raise UsageError(f"{holder} is {busy}. Wait for it, or end it.")
    if busy and not is_folder:
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
    return handle


# ------------------------------------------------------------------------------ safe writes


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk. After that, no crash can undo them."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turns an error of the disk into a DataError that says what to do, and that nothing stored is lost."""
    try:
        yield
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        room = "Move it away" if isinstance(error, IsADirectoryError) else "Make room or allow writing there"
        fix = f"{room}, then run again: what was stored before stays."
        raise DataError(Problem(what, str(path), fix=fix)) from error


def write_atomic(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file completely or not at all.

    A reader sees the old file or the new file, never a part of one. `write` is called with the path of a
    draft beside the file. The draft is synced and then renamed.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with explain_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            try:
                write(draft)
            except pl.exceptions.PolarsError as error:  # polars hides the error of the disk in its text
                if (found := re.search(r"\(os error (\d+)\)", str(error))) is None:
                    raise
                raise OSError(int(found[1]), os.strerror(int(found[1]))) from error
            sync(draft)
            draft.replace(path)
            sync(path.parent)  # the new name is on disk before anything it replaces goes
        finally:
            draft.unlink(missing_ok=True)


# ---------------------------------------------------------------------------- artifact cache

# What reading a damaged file raises: NumPy parses the head of an array as Python.
UNREADABLE = (OSError, ValueError, EOFError, SyntaxError, tokenize.TokenError, msgspec.MsgspecError)
_BUILDING = ".building-"


class ArtifactCache:
    """Folders of built artifacts, by content key. Each is complete or absent. Processes may share the cache.

    An artifact is written into a draft folder, which is synced and then renamed. A build that is killed
    leaves only its draft, which the next build removes. Every artifact can be built again: deleting one costs
    time, never evidence.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> Path | None:
        """Returns the folder of an artifact, or None if there is none."""
        place = self.folder / key
        return place if place.is_dir() else None

    def read(self, key: str, read: Callable[[Path], T]) -> T | None:
        """Returns what `read` makes of an artifact, or None if there is none.

        A damaged artifact is deleted.
        """
        place = self.find(key)
        try:
            return None if place is None else read(place)
        except DamagedArtifact:
            shutil.rmtree(self.folder / key, ignore_errors=True)
            return None

    def read_or_put(self, key: str, read: Callable[[Path], T], write: Callable[[Path], None]) -> T:
        """Returns what `read` makes of an artifact. If it is missing or damaged, `write` builds it first."""
        found = self.read(key, read)
        return read(self.put(key, write)) if found is None else found

    def put(self, key: str, write: Callable[[Path], None]) -> Path:
        """Lets `write` fill an empty folder, and moves the folder to its place.

        If another process was faster, the artifact of that process stays.
        """
        place = self.folder / key
        with explain_cache_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "lock").open("a") as building:
                if lock(
                    building, wait=False
                ):  # nobody else builds, so every draft was left by a killed build
                    for draft in self.folder.glob(f"{_BUILDING}*"):
                        shutil.rmtree(draft, ignore_errors=True)
                lock(building, shared=True)
                draft = self.folder / f"{_BUILDING}{uuid.uuid4().hex}"
                draft.mkdir()
                try:
                    write(draft)
                    for path in sorted(draft.rglob("*"), reverse=True):  # no name without its bytes
                        sync(path)
                    sync(draft)
                    if place.is_file():  # somebody put it there by mistake: no artifact is a file
                        place.unlink()
                    try:
                        draft.rename(place)
                    except OSError as error:
                        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                            raise
                    sync(self.folder)
                finally:
                    shutil.rmtree(draft, ignore_errors=True)
        return place


@contextmanager
def explain_cache_errors(folder: Path) -> Iterator[None]:
    """Turns an error of the disk in a folder of the cache into a SystemFailure that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            what, fix = "the disk is full", "Free some space, or set ASSAY_CACHE to a folder that has it"
        elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            what, fix = "it may not be written", "Change its rights, or set ASSAY_CACHE to another folder"
        elif error.errno == errno.ENOENT:
            what, fix = "it cannot be made", "Make the folder above it, or set ASSAY_CACHE to another folder"
        elif error.errno in {errno.ENOTDIR, errno.EEXIST}:
            what, fix = "a file is in its way", "Remove it, or set ASSAY_CACHE to another folder"
        else:
            raise
        raise SystemFailure(f"{folder}: {what}. {fix}. Nothing half-written was kept.") from error


class DamagedArtifact(DataError):
    """An artifact cannot be read. It will be built again."""

    fault_kind = "DamagedFolder"

    def __init__(self, folder: Path, error: BaseException) -> None:
        fix = "Run again: it is made again where it is needed."
        super().__init__(Problem(f"an index is damaged ({error})", str(folder), fix=fix))
