"""Keeps people's marks in a book, and imports marks from files.

A book of marks is a journal: lines are added and never rewritten. Marks from forms, tables or files go
through the same `save` as marks made in the browser, and follow the same rules. An import is saved
completely. If anything in it is wrong, nothing is saved, and the error gives every reason.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from assay.core.errors import DataError, Problem
from assay.review.work import Conflict, Draft, MarkRecorder, NotFound, RuleViolation, Task
from assay.store.journal import JournalWriter, JudgmentEntry, read_lines
from assay.store.run_store import Store

Line = TypeVar("Line", bound=msgspec.Struct)


class MarkBook(Generic[Line]):
    """The lines of one journal. Threads may share the book.

    A line that is added outside `together` is on disk before `add` returns. `read` returns the lines on disk.
    `writer` opens a new segment to add to.
    """

    def __init__(self, writer: Callable[[], JournalWriter], read: Callable[[], Iterable[Line]]) -> None:
        self._open_segment, self._read = writer, read
        self._turn = threading.RLock()
        self._writer: JournalWriter | None = None
        self._waits = False  # whether lines wait for the end of `together`
        self.lines: list[Line] = list(read())

    def add(self, *lines: Line) -> None:
        """Adds lines and writes them to disk; inside `together` they are written at its end."""
        with self._turn:
            if not self._waits:
                self._write(lines, self.lines)
            self.lines.extend(lines)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Writes all lines that are added in this context at its end. After an exception it writes none."""
        with self._turn:
            before, kept, self._waits = len(self.lines), False, True
            try:
                yield
                self._write(self.lines[before:], self.lines[:before])
                kept = True
            finally:
                self._waits = False
                if not kept:
                    del self.lines[before:]

    def _write(self, new: Sequence[Line], known: Iterable[Line]) -> None:
        if not new:
            return
        gone = self._writer is not None and not self._writer.path.exists()
        lost = self._find_lost(known) if gone else []
        if gone or self._writer is None:  # only writing makes a file
            self.close()
            self._writer = self._open_segment()
        for line in (*lost, *new):
            self._writer.append(line)
        self._writer.flush(force=True)

    def _find_lost(self, known: Iterable[Line]) -> list[Line]:
        """Returns the saved lines that are no longer on disk because somebody removed the file."""
        there = {msgspec.json.encode(line) for line in self._read()}
        return [line for line in known if msgspec.json.encode(line) not in there]

    def close(self) -> None:
        with self._turn:
            if self._writer is not None:
                self._writer.close()
                self._writer = None


def folder_book(folder: Path, line: Any) -> MarkBook[Any]:
    """Returns the book of marks in a folder of its own. `line` is the type of its lines."""
    return MarkBook(
        lambda: JournalWriter(folder), lambda: read_lines(folder, line) if folder.is_dir() else ()
    )


def run_book(store: Store) -> MarkBook[JudgmentEntry]:
    """Returns the book of the marks in the journal of a run."""
    return MarkBook(store.writer, store.judged)


# ----------------------------------------------------------------------------------------------


class DraftMismatch(ValueError):
    """Raised when an answer that a person filled in does not fit the current task."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


class FilledTask(Protocol):
    """A task as a person filled it in, with its place in the file."""

    @property
    def rater(self) -> str: ...
    @property
    def step(self) -> str: ...
    @property
    def task_id(self) -> str: ...
    @property
    def when(self) -> float | None:
        """The time at which the task was filled in; None means now."""
        ...

    def draft(self, task: Task) -> Draft:
        """Returns the draft that the desk would send. Raises DraftMismatch if it does not fit the task."""
        ...

    def unknown(self) -> Problem:
        """Returns the problem that this rater has no such task."""
        ...

    def problem(self, what: str, fix: str, /) -> Problem: ...


Filled = TypeVar("Filled", bound=FilledTask)


def import_tasks(
    recorder: MarkRecorder,
    book: MarkBook[Any],
    tasks: Sequence[Filled],
    position: Callable[[Filled], int] = lambda _: 0,
    wrong: Sequence[Problem] = (),
) -> None:
    """Saves every task, pass by pass. If anything is wrong, it saves nothing and raises DataError.

    `position` returns the number of a task's pass. `wrong` holds problems that are known already; they are
    reported with the rest.

    An incomplete pass closes the later passes. After a task of a rater is refused, it is not reported that
    the later passes of this rater are closed. Otherwise thousands of correct lines would get the same
    message.
    """
    refused: dict[str, int] = {}  # by rater: the first pass in which something is wrong
    problems = list(wrong)
    with book.together():
        for task in sorted(tasks, key=position):  # stable: a later mark on a task stays later
            first = refused.get(task.rater, position(task))
            for problem in _save(recorder, task, follows=first < position(task)):
                refused[task.rater] = first
                problems.append(problem)
        if problems:
            raise DataError(sorted(problems, key=lambda each: (each.where, each.line or 0)))


def _save(recorder: MarkRecorder, filled: FilledTask, *, follows: bool) -> Iterator[Problem]:
    """Saves one task and yields its problems. `follows` means that a task of an earlier pass was refused."""
    place = (filled.rater, filled.step, filled.task_id)
    try:
        task = recorder.task(*place)
        draft = filled.draft(task)
        if all(draft.mark_id != mark.mark_id for mark in task.history):
            recorder.save(*place, draft, filled.when)
    except NotFound:
        yield filled.unknown()
    except Conflict as error:
        if not follows:
            yield filled.problem(error.what, "")
    except RuleViolation as error:
        yield from (filled.problem(what, "") for what in error.problems)
    except DraftMismatch as error:
        yield filled.problem(str(error), error.fix)
