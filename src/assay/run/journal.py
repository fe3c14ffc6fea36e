"""An append-only journal that survives `kill -9` at any moment.

One JSON line a finished unit, one write a line, fsync every quarter of a second (or at once where a person's
mark is at stake), a fresh segment a writer. A reader drops torn lines; what they held is simply done again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from assay.errors import DataError, Problem
from assay.records import Fault, Judgment, Response, Structure

SYNC_EVERY = 0.25


class Answer(msgspec.Struct, array_like=True):
    """One response under its key."""

    key: str
    item_id: str
    response: Response


class Answered(msgspec.Struct, tag_field="kind", tag="answered", omit_defaults=True):
    """A finished unit: all responses of one sequence."""

    arm: str
    seed: int
    answers: list[Answer]
    generation: int = 0  # higher each time that everything was to be asked afresh


class Built(msgspec.Struct, tag_field="kind", tag="built", omit_defaults=True):
    """An index was built: how long it took, and the structure it publishes."""

    key: str
    arm: str
    seed: int
    seconds: float
    structure: Structure | None = None


class Judged(msgspec.Struct, tag_field="kind", tag="judged", omit_defaults=True):
    """A judgment somebody or something paid for: a person's mark, a model's finding, an import.

    A judge that was asked a question has its key here, and the fault where it gave no judgment.
    """

    judgment: Judgment | None = None
    key: str | None = None
    cost: float | None = None
    fault: Fault | None = None


class Spent(msgspec.Struct, tag_field="kind", tag="spent"):
    """An attempt, or an index, was paid for, whatever became of it."""

    arm: str
    seed: int
    cost: float


Entry = Answered | Built | Judged | Spent


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Says plainly where the disk refused, and that nothing stored is lost by it."""
    try:
        yield
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError) -> DataError:
    what = f"cannot be written: {error.strerror or error}"
    fix = "Make room or allow writing there, then run again: what was stored before stays."
    return DataError(Problem(what, str(path), fix=fix))


class Writer:
    """One segment, written by one process, which holds a lock on it for as long as it may write.

    Its threads may share it. What comes after it was closed is dropped: whoever closed it stopped waiting.
    """

    def __init__(self, folder: Path) -> None:
        with storing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self.path, self._file = _fresh_segment(folder)
        self._encode = msgspec.json.Encoder().encode
        self._turn = threading.RLock()
        self._open = True
        self._size = 0
        self._synced = time.monotonic()
        self._dirty = False

    def append(self, entry: msgspec.Struct, *, now: bool = False) -> None:
        """Writes one line; `now` waits until it is on disk."""
        line = self._encode(entry) + b"\n"
        with self._turn:
            if self._open:
                self._write(line)
                self.flush(force=now)

    def _write(self, line: bytes) -> None:
        try:
            written = os.write(self._file, line)
            while written < len(line):  # a disk that fills up takes part of a line, then refuses the rest
                written += os.write(self._file, line[written:])
        except OSError as error:
            with storing(self.path):
                os.ftruncate(self._file, self._size)  # no later line may continue a torn one
            raise _refused(self.path, error) from error
        self._size += len(line)
        self._dirty = True

    def flush(self, *, force: bool = False) -> None:
        """Syncs what was written, at most every quarter of a second unless forced."""
        with self._turn:
            if self._dirty and (force or time.monotonic() - self._synced >= SYNC_EVERY):
                with storing(self.path):
                    os.fsync(self._file)
                    if os.fstat(self._file).st_nlink == 0:  # what has no name is lost once it is closed
                        raise FileNotFoundError(errno.ENOENT, "somebody removed it")
                self._synced, self._dirty = time.monotonic(), False

    def close(self) -> None:
        with self._turn:
            self._open = False
            try:
                self.flush(force=True)
                if self._size == 0:
                    self.path.unlink()
            finally:
                os.close(self._file)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _fresh_segment(folder: Path) -> tuple[Path, int]:
    taken = [int(path.stem) for path in folder.glob("*.jsonl") if path.stem.isdigit()]
    number = max(taken, default=0) + 1
    while True:
        path = folder / f"{number:06d}.jsonl"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError:  # another writer was quicker
            number += 1
            continue
        fcntl.flock(file, fcntl.LOCK_EX)
        return path, file


def segments(folder: Path) -> list[Path]:
    """The segments of a journal, oldest first."""
    return sorted(folder.glob("*.jsonl"))


def read_entries(folder: Path) -> Iterator[Entry]:
    """Every whole line of a run's journal, oldest segment first."""
    return read_lines(folder, Entry)


def read_lines(folder: Path, kind: Any) -> Iterator[Any]:
    """Every whole line of every segment that is of a kind of record, oldest segment first."""
    with ExitStack() as stack:
        for lines in _opened(folder, stack):
            yield from _read(lines, kind)


def read_idle(path: Path) -> Iterator[Entry]:
    """Every whole line of one segment; none while somebody may still write to it."""
    with path.open("rb") as lines:
        try:
            fcntl.flock(lines, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        yield from _read(lines, Entry)


def _opened(folder: Path, stack: ExitStack) -> list[BinaryIO]:
    """All segments opened before one is read, so that none can vanish into a sealed file half-way."""
    while True:
        try:
            return [stack.enter_context(path.open("rb")) for path in segments(folder)]
        except FileNotFoundError:  # rewritten since it was listed
            stack.close()


def _read(lines: BinaryIO, kind: Any) -> Iterator[Any]:
    decode = msgspec.json.Decoder(kind).decode
    for line in lines:
        if not line.endswith(b"\n"):
            return
        try:
            yield decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # torn by a crash of the machine: its unit counts as not done


def damaged_lines(folder: Path) -> int:
    """How many whole lines cannot be read: a crash of the machine tore them, or somebody edited them."""
    decode = msgspec.json.Decoder(Entry).decode
    damaged = 0
    with ExitStack() as stack:
        for line in (line for lines in _opened(folder, stack) for line in lines if line.endswith(b"\n")):
            try:
                decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                damaged += 1
    return damaged
