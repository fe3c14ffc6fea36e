"""Common parts of the commands: options, output to stdout and stderr, and exit codes."""

from __future__ import annotations

import getpass
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID
    from rich.table import Table

    from assay.core.results import Results
    from assay.pipeline.runner import Selection
    from assay.study.study import Study

# ---------------------------------------------------------------------------------- options

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="A folder holding study.yaml, or the file.")]
StudyOrPlan = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY",
        help="A folder holding study.yaml, or the file. A folder that holds plan.yaml is that plan.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print results as JSON (docs/results-schema.md).")]
Where = Annotated[
    list[str] | None, typer.Option("--where", metavar="k=v", help="Only these factors or tags; v may be a|b.")
]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Only this system; may be repeated.")]
AcceptChanges = Annotated[
    bool,
    typer.Option(
        "--accept-changes", help="Decide although gates, study or data were changed after the answers."
    ),
]
RequireVerdict = Annotated[
    bool, typer.Option("--require-verdict", help="Fail with exit code 2 if no gate decides.")
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="NAME", help="Compare with this baseline: a real loss is a no-go."),
]
By = Annotated[str | None, typer.Option("--by", help="Who does this; default: the user of this machine.")]


def user_of(given: str | None) -> str:
    """Returns the person who does something: `given`, or the user of this machine."""
    return given or getpass.getuser()


def selected(
    where: Iterable[str] | None, systems: list[str] | None = None, limit: int | None = None
) -> Selection:
    """Returns the part of a study that the options name."""
    from assay.pipeline.runner import Selection

    conditions: dict[str, list[str]] = {}
    for text in where or []:
        name, _, values = text.partition("=")
        if not name or not values:
            raise UsageError(f"--where {text!r} is not a condition. Write name=value, or name=one|other.")
        conditions.setdefault(name, []).extend(values.split("|"))
    return Selection(conditions, systems or [], limit)


# ----------------------------------------------------------------------------------- output

WIDTH = 100  # columns, if the output is not a terminal


def say(text: str) -> None:
    """Prints a line for people to stderr, so that it never mixes with data."""
    sys.stderr.write(text + "\n")


def discard_output() -> None:
    """Discards what stdout still holds if it cannot be written. Else Python's own last flush would fail."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(content: Any) -> None:
    """Prints JSON to stdout."""
    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def show(results: Results, *, as_json: bool, gates_only: bool = False, every_item: bool = False) -> None:
    """Prints results as tables or as JSON."""
    if as_json:
        print_json(results.as_json())
        return
    from assay.report.text import render_text

    render_text(results, plain_console(), gates_only=gates_only, every_item=every_item)


def plain_console() -> Console:
    """Returns a console for tables, as wide as the terminal."""
    from rich.console import Console

    class PipedConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1, which means a crash

    return PipedConsole(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], figures: set[int]) -> Table:
    """Makes a table without borders. The columns listed in `figures` are aligned to the right."""
    from assay.report.text_tables import plain_table

    return plain_table("", header, rows, words=tuple(set(range(len(header))) - figures))


def write_reports(results: Results, study: Study) -> Results:
    """Writes the reports that a study asks for, and names the page in the results."""
    from assay.report.formats import write_reports as write

    named, broken = write(results, study)
    for reason in broken:
        say(reason)
    return named


# ------------------------------------------------------------------------------- exit codes

EXIT = {None: 0, "go": 0, "no-go": 10, "inconclusive": 11}
OUTDATED = 12  # the stored answers are older than the gate, the study or the data


def finish(verdict: str | None, outdated: Sequence[str] = (), *, accept: bool = False) -> None:
    """Ends the command with the exit code of the verdict, or with `OUTDATED` if answers are outdated."""
    if outdated and verdict is not None and not accept:
        for reason in outdated:
            say(f"outdated: {reason}")
        fix = "`assay run --fresh` asks everything again under the gates as they are now"
        say(
            f"Therefore the verdict does not count. {fix}. To use the verdict as it is, add --accept-changes."
        )
        raise typer.Exit(OUTDATED)
    raise typer.Exit(EXIT[verdict])


def require_gates(deciding: bool, where: str) -> None:
    """Raises a UsageError for a study without a deciding gate, before anything is asked."""
    if not deciding:
        fix = "Add `gates:`, or a gate without `deciding: false`, or leave out --require-verdict"
        raise UsageError(f"{where}: no gate decides, and --require-verdict asks for a verdict. {fix}.")


# --------------------------------------------------------------------------------- progress

PLAIN_EVERY = 10.0  # seconds between two lines, if stderr is not a terminal


class ProgressDisplay:
    """Shows progress on stderr: a bar in a terminal, and otherwise a line every few seconds."""

    def __init__(self, *, stages: bool = True) -> None:
        self._shows_stages = stages
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._stages: dict[str, TaskID] = {}
        self._lock = threading.Lock()  # several workers build indexes and report at the same time
        self._failed = self._done = self._stored = self._total = 0
        self._label = ""
        self._reported = self._started = time.monotonic()

    def begin(self, label: str, total: int, done: int) -> None:
        self._label, self._total, self._done, self._stored = label, total, done, done
        self._reported = self._started = time.monotonic()
        if done:
            say(f"{label}: {done} of {total} answers are stored already")
        if total == done or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
            *(TextColumn("{task.fields[rate]}"), TimeRemainingColumn()),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(label, total=total, completed=done, rate="")
        self._bar.start()

    def advance(self, items: int, failed: int) -> None:
        self._done += items
        self._failed += failed
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=items, rate=self._rate())
        elif self._line_is_due():
            answered = max(self._done - self._stored, 1)
            left = (self._total - self._done) * (self._reported - self._started) / answered
            say(f"{self._label}: {self._done}/{self._total}, {self._rate()}, about {left:.0f} s left")

    def stage(self, what: str, done: int, total: int) -> None:
        """Reports long work before the first answer. This work has its own bar while it lasts."""
        with self._lock:
            if not self._shows_stages:
                return
            if self._bar is not None:
                self._update_stage(self._bar, what, done, total)
            elif self._line_is_due():
                say(f"{what}: {done}/{total}")

    def _update_stage(self, bar: RichProgress, what: str, done: int, total: int) -> None:
        if done >= total:
            if (task := self._stages.pop(what, None)) is not None:
                bar.remove_task(task)
        elif what in self._stages:
            bar.update(self._stages[what], completed=done, total=total)
        else:
            self._stages[what] = bar.add_task(what, total=total, completed=done, rate="")

    def _line_is_due(self) -> bool:
        if time.monotonic() - self._reported < PLAIN_EVERY:
            return False
        self._reported = time.monotonic()
        return True

    def _rate(self) -> str:
        speed = (self._done - self._stored) / max(time.monotonic() - self._started, 1e-9)
        return f"{speed:.0f}/s" + (f", {self._failed} failed" if self._failed else "")

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
