"""An append-only journal that survives `kill -9` at any moment.

Each finished task is one JSON line and one write. The file is synced every quarter of a second, and at once
for a person's mark. Each writer has a fresh segment. Readers drop torn lines, and the tasks of these lines
are done again.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import polars as pl

from assay.core.errors import DataError, Problem
from assay.core.records import Fault, Judgment, Response, Structure
from assay.store.disk import explain_write_errors, lock, sync

SYNC_EVERY = 0.25


class Answer(msgspec.Struct, array_like=True):
    """One response with its key."""

    key: str
    item_id: str
    response: Response


class AnswersEntry(msgspec.Struct, tag_field="kind", tag="answered", omit_defaults=True):
    """A finished task: all responses of one sequence."""

    arm: str
    seed: int
    answers: list[Answer]
    generation: int = 0  # rises by 1 each time that all items are asked again


class IndexEntry(msgspec.Struct, tag_field="kind", tag="built", omit_defaults=True):
    """An index that was built, with the seconds that it took and the structure that it publishes."""

    key: str
    arm: str
    seed: int
    seconds: float
    structure: Structure | None = None


class JudgmentEntry(msgspec.Struct, tag_field="kind", tag="judged", omit_defaults=True):
    """A judgment that cost something: a person's mark, a model's finding, or an import.

    If a judge was asked a question, the entry has the key of the question. If the judge gave no judgment, it
    has the fault.
    """

    judgment: Judgment | None = None
    key: str | None = None
    cost: float | None = None
    fault: Fault | None = None


class CostEntry(msgspec.Struct, tag_field="kind", tag="spent"):
    """The cost of an attempt or of an index, even if the attempt failed."""

    arm: str
    seed: int
    cost: float


Entry = AnswersEntry | IndexEntry | JudgmentEntry | CostEntry


class GateDeclaration(msgspec.Struct):
    """The gates of a study at the start of a run, before any system was asked."""

    since: float
    gates: dict[str, dict[str, Any]]


class JournalWriter:
    """The writer of one segment.

    It belongs to one process, and holds the lock of the segment while it may write. Threads may share it.
    Entries that are appended after it was closed are dropped. If somebody removes the file meanwhile, entries
    that were appended with `now` are written again.
    """

    def __init__(self, folder: Path) -> None:
        with explain_write_errors(folder):
            self.path, self._file = _fresh_segment(folder)
        self._encode = msgspec.json.Encoder().encode
        self._lock = threading.RLock()
        self._is_open = True
        self._size = self._synced_size = 0  # bytes of all whole lines, and of the lines on disk
        self._synced_at = time.monotonic()
        self._name_synced = False  # whether the name of the segment is on disk too
        self._promised: list[bytes] = []  # lines that were appended with `now`

    def append(self, entry: msgspec.Struct, *, now: bool = False) -> None:
        """Writes one line. With `now`, waits until the line is on disk."""
        line = self._encode(entry) + b"\n"
        with self._lock:
            if not self._is_open:
                return
            with explain_write_errors(self.path):
                if now and self._removed:
                    self._renew()
                self._write(line)
            self.flush(force=now)
            if now:
                self._promised.append(line)

    def _write(self, line: bytes) -> None:
        self._cut()  # an earlier failure may have left part of a line
        try:
            _write_whole(self._file, line)
        except OSError:
            self._cut()
            raise
        self._size += len(line)

    def _cut(self) -> None:
        """Removes what follows the last whole line, so that no later line continues it."""
        if os.fstat(self._file).st_size > self._size:
            os.ftruncate(self._file, self._size)

    @property
    def _removed(self) -> bool:
        return os.fstat(self._file).st_nlink == 0

    def _renew(self) -> None:
        """Continues in a fresh segment, since somebody removed the old one.

        The new segment gets all promised lines.
        """
        lines = b"".join(self._promised)
        path, file = _fresh_segment(self.path.parent)
        try:
            _write_whole(file, lines)
            os.fsync(file)
        except OSError:
            os.close(file)
            path.unlink()
            raise
        os.close(self._file)
        self.path, self._file, self._name_synced = path, file, False
        self._size = self._synced_size = len(lines)

    def flush(self, *, force: bool = False) -> None:
        """Syncs what was written, at most every quarter of a second unless forced.

        If a forced sync fails, its lines are removed. So nothing that was reported as unsaved appears later.
        """
        with self._lock:
            due = force or time.monotonic() - self._synced_at >= SYNC_EVERY
            if self._size == self._synced_size or not due:
                return
            with explain_write_errors(self.path):
                try:
                    self._sync()
                except OSError:
                    if force:
                        self._size = self._synced_size
                        self._cut()
                    raise

    def _sync(self) -> None:
        os.fsync(self._file)
        if self._removed:  # a file without a name is lost when it is closed
            raise FileNotFoundError(errno.ENOENT, "somebody removed it")
        if not self._name_synced:
            for folder in (self.path.parent, self.path.parent.parent):
                sync(folder)
            self._name_synced = True
        self._synced_size, self._synced_at = self._size, time.monotonic()

    def close(self) -> None:
        """Syncs and closes the segment. A segment without lines is removed."""
        with self._lock:
            if not self._is_open:
                return
            self._is_open = False
            try:
                with explain_write_errors(self.path):
                    if self._size > self._synced_size:
                        self._sync()
                    if self._size == 0:
                        self.path.unlink(missing_ok=True)
            finally:
                os.close(self._file)

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _write_whole(file: int, data: bytes) -> None:
    written = os.write(file, data)
    while written < len(data):  # a disk that fills up writes a part, then refuses the rest
        written += os.write(file, data[written:])


def _fresh_segment(folder: Path) -> tuple[Path, int]:
    folder.mkdir(parents=True, exist_ok=True)
    taken = [int(path.stem) for path in folder.glob("*.jsonl") if path.stem.isdigit()]
    number = max(taken, default=0) + 1
    while True:
        path = folder / f"{number:06d}.jsonl"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError:  # another writer was quicker
            number += 1
            continue
        lock(file)
        return path, file


def segments(folder: Path) -> list[Path]:
    """Returns the segments of a journal, the oldest first."""
    return sorted(folder.glob("*.jsonl"))


def read_entries(folder: Path) -> Iterator[Entry]:
    """Yields every whole line of a run's journal, the oldest segment first."""
    return read_lines(folder, Entry)


def read_lines(folder: Path, kind: Any) -> Iterator[Any]:
    """Yields every whole line of every segment that decodes as `kind`, the oldest segment first."""
    for lines in _open_in_turn(folder):
        yield from _read(lines, kind)


def read_idle_segment(path: Path) -> Iterator[Entry]:
    """Yields every whole line of one segment, or none if a process may still write to it."""
    with path.open("rb") as lines:
        if lock(lines, shared=True, wait=False):
            yield from _read(lines, Entry)


def _open_in_turn(folder: Path) -> Iterator[BinaryIO]:
    """Opens the segments one after the other, the oldest first.

    There may be more segments than a process may have open at a time. A segment that vanishes meanwhile was
    sealed, or rewritten as a later segment, which will be opened too.
    """
    known: set[Path] = set()
    while coming := [path for path in segments(folder) if path not in known]:
        known.update(coming)
        for path in coming:
            try:
                lines = path.open("rb")
            except FileNotFoundError:
                if path.is_symlink():
                    fix = "Fetch the file it stands for, or remove the link."
                    raise DataError(
                        Problem("is a link to a file that does not exist", str(path), fix=fix)
                    ) from None
                continue
            with lines:
                yield lines


def _read(lines: BinaryIO, kind: Any) -> Iterator[Any]:
    decode = msgspec.json.Decoder(kind).decode
    for line in lines:
        if not line.endswith(b"\n"):
            return
        try:
            yield decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # a crash of the machine tore it: its task counts as not done


def damaged_lines(folder: Path) -> int:
    """Counts whole lines that cannot be read, because a crash tore them or somebody edited them."""
    decode = msgspec.json.Decoder(Entry).decode
    damaged = 0
    for line in (line for lines in _open_in_turn(folder) for line in lines if line.endswith(b"\n")):
        try:
            decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            damaged += 1
    return damaged


# -------------------------------------------------------------------------- answers in columns

CHUNK = 1_000  # responses turned into columns at a time

COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "key": pl.String,
    "item": pl.String,
    "failed": pl.Boolean,
    "generation": pl.Int64,
    "docs": pl.List(pl.String),
    "scores": pl.List(pl.Float64),
    "rest": pl.Binary,
}


def select_by_key(stored: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Returns one row per key, in the order given. Keys that are not stored have nulls."""
    wanted = pl.DataFrame({"key": keys}, schema={"key": pl.String})
    return wanted.join(stored, on="key", how="left", maintain_order="left")


def answer_columns(answers: Iterable[Answer], generation: int = 0) -> pl.DataFrame:
    """Turns responses into columns: the ids and scores of hits, and everything else as one JSON field."""
    waiting = iter(answers)
    parts = [pl.DataFrame(schema=COLUMNS)]
    while some := list(islice(waiting, CHUNK)):  # records are many times as large as their columns
        parts.append(_chunk(some, generation))
    return pl.concat(parts)


def _chunk(answers: Sequence[Answer], generation: int) -> pl.DataFrame:
    encode = msgspec.json.Encoder().encode
    responses = [answer.response for answer in answers]
    plain = [
        response
        if any(hit.span is not None or hit.text is not None for hit in response.hits)
        else msgspec.structs.replace(response, hits=[])
        for response in responses
    ]
    rows = pl.DataFrame(
        {
            "row": range(len(answers)),
            "key": [answer.key for answer in answers],
            "item": [answer.item_id for answer in answers],
            "failed": [response.error is not None for response in responses],
            "generation": [generation] * len(answers),
            "rest": [encode(response) for response in plain],
        }
    )
    hits = [(row, hit.doc_id, hit.score) for row, response in enumerate(responses) for hit in response.hits]
    columns = {"row": pl.Int64, "docs": pl.String, "scores": pl.Float64}
    # Grouped, since Polars makes a column of lists from Python lists one list at a time, which is slow.
    lists = (
        pl.DataFrame(hits, columns, orient="row").group_by("row", maintain_order=True).agg("docs", "scores")
    )
    whole = rows.join(lists, on="row", how="left", maintain_order="left")
    empty = [pl.col(name).fill_null(pl.lit([], COLUMNS[name])) for name in ("docs", "scores")]
    return whole.with_columns(empty).select(list(COLUMNS))
