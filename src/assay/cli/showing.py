"""Printing results: data to stdout, talk and progress to stderr."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer

from assay.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID
    from rich.table import Table

    from assay.core.results import Results
    from assay.study.study import Study


EXIT = {None: 0, "go": 0, "no-go": 10, "inconclusive": 11}
OUTDATED = 12  # the stored answers are older than the gate, the study or the data they are to decide
WIDTH = 100


def say(text: str) -> None:
    """A line of talk, which never mixes with data."""
    sys.stderr.write(text + "\n")


def discard_output() -> None:
    """Discards what stdout still holds if it cannot be written: Python's own last flush would fail on it."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(content: Any) -> None:
    """JSON on stdout, and nothing else there."""
    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def show(results: Results, *, as_json: bool, gates_only: bool = False, every_item: bool = False) -> None:
    """Results as tables or as JSON."""
    if as_json:
        print_json(results.as_json())
        return
    from assay.report.text import render_text

    render_text(results, plain_console(), gates_only=gates_only, every_item=every_item)


def plain_console() -> Console:
    """Where tables are printed: as wide as the terminal, or 100 columns where there is none."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would leave with 1, which is a crash's

    return Piped(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], figures: set[int]) -> Table:
    """A table without boxes; the columns of `figures` are set right."""
    from assay.report.text_tables import plain_table

    return plain_table("", header, rows, words=tuple(set(range(len(header))) - figures))


def write_reports(results: Results, study: Study) -> Results:
    """Writes the reports that the study asks for; the results then name the page."""
    from assay.report.writing import write_reports as write

    named, broken = write(results, study)
    for reason in broken:
        say(reason)
    return named


def finish(verdict: str | None, outdated: Sequence[str] = (), *, accept: bool = False) -> None:
    """Ends the command with the exit code that the verdict means, or with that of outdated answers."""
    if outdated and verdict is not None and not accept:
        for reason in outdated:
            say(f"outdated: {reason}")
        ways = "`assay run --fresh` asks everything again under the gates as they are now"
        say(f"So the verdict does not count. {ways}. --accept-changes takes the verdict as it is.")
        raise typer.Exit(OUTDATED)
    raise typer.Exit(EXIT[verdict])


def require_gates(deciding: bool, where: str) -> None:
    """Refuses what can have no verdict, before anything is asked."""
    if not deciding:
        fix = "Add `gates:`, or a gate without `deciding: false`, or leave out --require-verdict"
        raise UsageError(f"{where}: no gate decides, and --require-verdict asks for a verdict. {fix}.")


PLAIN_EVERY = 10.0  # seconds between lines where stderr is not a terminal


class ProgressDisplay:
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

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
