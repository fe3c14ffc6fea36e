"""Where marks go, whatever people were asked: a journal that is added to and never rewritten."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from assay.store.journal import JournalWriter, JudgmentEntry, read_lines
from assay.store.run_store import Store

Line = TypeVar("Line", bound=msgspec.Struct)


class MarkBook(Generic[Line]):
    """The lines of one journal. Threads may share it; a line is on disk before `add` returns.

    `read` gives what is there, and `writer` a segment to add to.
    """

    def __init__(self, writer: Callable[[], JournalWriter], read: Callable[[], Iterable[Line]]) -> None:
        self._segment, self._read = writer, read
        self._turn = threading.RLock()
        self._writer: JournalWriter | None = None
        self._held = False  # whether what is added waits for the rest
        self.lines: list[Line] = list(read())

    def add(self, *lines: Line) -> None:
        """Keeps lines for good; within `together`, once that ends."""
        with self._turn:
            if not self._held:
                self._write(lines, self.lines)
            self.lines.extend(lines)

    @contextmanager
    def together(self) -> Iterator[None]:
        """All that is added inside is kept at the end, or none of it if anything is refused."""
        with self._turn:
            before, kept, self._held = len(self.lines), False, True
            try:
                yield
                self._write(self.lines[before:], self.lines[:before])
                kept = True
            finally:
                self._held = False
                if not kept:
                    del self.lines[before:]

    def _write(self, new: Sequence[Line], known: Iterable[Line]) -> None:
        if not new:
            return
        gone = self._writer is not None and not self._writer.path.exists()
        removed = self._removed(known) if gone else []
        if gone or self._writer is None:  # a reader leaves no file
            self.close()
            self._writer = self._segment()
        for line in (*removed, *new):
            self._writer.append(line)
        self._writer.flush(force=True)

    def _removed(self, known: Iterable[Line]) -> list[Line]:
        """What was called saved, by this process or an earlier one, and is not there any more."""
        there = {msgspec.json.encode(line) for line in self._read()}
        return [line for line in known if msgspec.json.encode(line) not in there]

    def close(self) -> None:
        with self._turn:
            if self._writer is not None:
                self._writer.close()
                self._writer = None


def folder_book(folder: Path, line: Any) -> MarkBook[Any]:
    """The book of a folder of its own; `line` is what its lines are."""
    return MarkBook(
        lambda: JournalWriter(folder), lambda: read_lines(folder, line) if folder.is_dir() else ()
    )


def run_book(store: Store) -> MarkBook[JudgmentEntry]:
    """The marks among all that the journal of a run holds."""
    return MarkBook(store.writer, store.judged)
