"""Progress on stderr: how much is done, how fast, how long still, how many failed."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PLAIN_EVERY = 10.0  # seconds between lines where stderr is not a terminal


class Shown:
    """A bar in a terminal, a line now and then elsewhere."""

    def __init__(self, *, stages: bool = True) -> None:
        self._tells_stages = stages
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._stages: dict[str, TaskID] = {}
        self._turn = threading.Lock()  # workers build indexes side by side, and each tells
        self._failed = self._done = self._stored = self._total = 0
        self._label = ""
        self._said = self._started = time.monotonic()

    def begin(self, label: str, total: int, done: int) -> None:
        self._label, self._total, self._done, self._stored = label, total, done, done
        self._said = self._started = time.monotonic()
        if done:
            sys.stderr.write(f"{label}: {done} of {total} answers are stored already\n")
        if total == done or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        rate = TextColumn("{task.fields[rate]}")
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            rate,
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(label, total=total, completed=done, rate="")
        self._bar.start()

    def advance(self, items: int, failed: int) -> None:
        self._done += items
        self._failed += failed
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=items, rate=self._rate())
        elif time.monotonic() - self._said >= PLAIN_EVERY:
            self._said = time.monotonic()
            answered = max(self._done - self._stored, 1)
            left = (self._total - self._done) * (self._said - self._started) / answered
            sys.stderr.write(
                f"{self._label}: {self._done}/{self._total}, {self._rate()}, about {left:.0f} s left\n"
            )

    def stage(self, what: str, done: int, total: int) -> None:
        """Long work before the first answer: a bar of its own while it lasts."""
        with self._turn:
            if not self._tells_stages:
                return
            if self._bar is not None:
                self._show_stage(self._bar, what, done, total)
            elif time.monotonic() - self._said >= PLAIN_EVERY:
                self._said = time.monotonic()
                sys.stderr.write(f"{what}: {done}/{total}\n")

    def _show_stage(self, bar: RichProgress, what: str, done: int, total: int) -> None:
        if done >= total:
            if (task := self._stages.pop(what, None)) is not None:
                bar.remove_task(task)
        elif what in self._stages:
            bar.update(self._stages[what], completed=done, total=total)
        else:
            self._stages[what] = bar.add_task(what, total=total, completed=done, rate="")

    def _rate(self) -> str:
        speed = (self._done - self._stored) / max(time.monotonic() - self._started, 1e-9)
        return f"{speed:.0f}/s" + (f", {self._failed} failed" if self._failed else "")

    def __enter__(self) -> Shown:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
