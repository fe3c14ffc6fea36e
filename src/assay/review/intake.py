"""What people filled in elsewhere, in forms, tables or files: taken in as if given at the desk.

Each task goes through the same `save` as a mark made in the browser, by the same rules. All of them are kept,
or none and why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from assay.core.errors import DataError, Problem
from assay.review.book import MarkBook
from assay.review.messages import Draft, Task
from assay.review.work import Conflict, MarkRecorder, NotFound, RuleViolation


class DraftMismatch(ValueError):
    """What is filled in does not fit the task as it is shown."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix


class FilledTask(Protocol):
    """One task as a person filled it in, and where that is written."""

    @property
    def rater(self) -> str: ...
    @property
    def step(self) -> str: ...
    @property
    def task_id(self) -> str: ...
    @property
    def when(self) -> float | None:
        """When it was filled in; None: now."""
        ...

    def draft(self, task: Task) -> Draft:
        """What the desk would send; raises DraftMismatch."""
        ...

    def unknown(self) -> Problem:
        """There is no such task for this rater."""
        ...

    def problem(self, what: str, fix: str = "") -> Problem: ...


Filled = TypeVar("Filled", bound=FilledTask)


def import_tasks(
    taker: MarkRecorder,
    book: MarkBook[Any],
    tasks: Sequence[Filled],
    place: Callable[[Filled], int] = lambda _: 0,
    wrong: Sequence[Problem] = (),
) -> None:
    """Saves every task, pass by pass; `place` is where a task's pass stands among the passes.

    `wrong` is what is known to be wrong already: it is reported with the rest, and then nothing is kept.

    A pass that is not complete closes those after it. Once something of a rater is refused, nothing is said
    of their later passes being closed, or it would be said of thousands of lines that are right.
    """
    refused: dict[str, int] = {}  # by rater: the first pass in which something is wrong
    problems = list(wrong)
    with book.together():
        for task in sorted(tasks, key=place):  # stable: a later mark on the same task comes later
            first = refused.get(task.rater, place(task))
            for problem in _saved(taker, task, follows=first < place(task)):
                refused[task.rater] = first
                problems.append(problem)
        if problems:
            raise DataError(sorted(problems, key=lambda each: (each.where, each.line or 0)))


def _saved(taker: MarkRecorder, filled: FilledTask, *, follows: bool) -> Iterator[Problem]:
    """Saves one task; what stands in its way. `follows`: an earlier pass was refused, so this cannot open."""
    place = (filled.rater, filled.step, filled.task_id)
    try:
        task = taker.task(*place)
        draft = filled.draft(task)
        if all(draft.mark_id != mark.mark_id for mark in task.history):
            taker.save(*place, draft, filled.when)
    except NotFound:
        yield filled.unknown()
    except Conflict as error:
        if not follows:
            yield filled.problem(error.what)
    except RuleViolation as error:
        yield from (filled.problem(what) for what in error.problems)
    except DraftMismatch as error:
        yield filled.problem(str(error), error.fix)
