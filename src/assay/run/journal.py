"""An append-only journal that survives `kill -9` at any moment.

One JSON line a finished unit, one write a line, fsync every quarter of a second (or at once where a person's
mark is at stake), a fresh segment a writer. A reader drops torn lines; what they held is simply done again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import msgspec

from assay.records import Judgment, Response, Structure

SYNC_EVERY = 0.25


class Answer(msgspec.Struct, array_like=True):
    """One response under its key."""

    key: str
    item_id: str
    response: Response


class Answered(msgspec.Struct, tag_field="kind", tag="answered"):
    """A finished unit: all responses of one sequence."""

    arm: str
    seed: int
    answers: list[Answer]


class Built(msgspec.Struct, tag_field="kind", tag="built", omit_defaults=True):
    """An index was built: how long it took, and the structure it publishes."""

    arm: str
    seed: int
    seconds: float
    structure: Structure | None = None


class Judged(msgspec.Struct, tag_field="kind", tag="judged"):
    """A judgment somebody or something paid for: a person's mark, a model's verdict, an import."""

    judgment: Judgment


Entry = Answered | Built | Judged


class Writer:
    """One segment, written by one process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._encode = msgspec.json.Encoder().encode
        self.path, self._file = _fresh_segment(folder)
        self._synced = time.monotonic()
        self._dirty = False

    def append(self, entry: Entry, *, now: bool = False) -> None:
        """Writes one line; `now` waits until it is on disk."""
        line = self._encode(entry) + b"\n"
        written = os.write(self._file, line)
        if written != len(line):  # a full disk may take part of a line: the reader drops the torn part
            raise OSError(
                f"only {written} of {len(line)} bytes of a journal line were written to {self.path}"
            )
        self._dirty = True
        self.flush(force=now)

    def flush(self, *, force: bool = False) -> None:
        """Syncs what was written, at most every quarter of a second unless forced."""
        if self._dirty and (force or time.monotonic() - self._synced >= SYNC_EVERY):
            os.fsync(self._file)
            self._synced, self._dirty = time.monotonic(), False

    def close(self) -> None:
        self.flush(force=True)
        os.close(self._file)
        if self.path.stat().st_size == 0:
            self.path.unlink()

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
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError:  # another writer was quicker
            number += 1


def read_segment(path: Path) -> Iterator[Entry]:
    """Every whole line of one segment."""
    decode = msgspec.json.Decoder(Entry).decode
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return
            try:
                yield decode(line)
            except msgspec.DecodeError:
                continue  # torn by a crash of the machine: its unit counts as not done


def segments(folder: Path) -> list[Path]:
    """The segments of a journal, oldest first."""
    return sorted(folder.glob("*.jsonl"))


def read_entries(folder: Path) -> Iterator[Entry]:
    """Every whole line of every segment, oldest segment first."""
    for path in segments(folder):
        yield from read_segment(path)
