"""Printing results: data to stdout, talk and progress to stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from assay.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Table

    from assay.core.results import Results
    from assay.study.study import Study

EXIT = {None: 0, "go": 0, "no-go": 10, "inconclusive": 11}
OUTDATED = 12  # the stored answers are older than the gate, the study or the data they are to decide
WIDTH = 100


def say(text: str) -> None:
    """A line of talk, which never mixes with data."""
    sys.stderr.write(text + "\n")


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
    from assay.report.text_tables import columned

    return columned("", header, rows, words=tuple(set(range(len(header))) - figures))


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
