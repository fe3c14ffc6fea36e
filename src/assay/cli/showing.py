"""Printing results: data to stdout, talk and progress to stderr."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from assay.results import Results

EXIT = {None: 0, "go": 0, "no-go": 10, "inconclusive": 11}
WIDTH = 100


def say(text: str) -> None:
    """A line of talk, which never mixes with data."""
    sys.stderr.write(text + "\n")


def print_json(content: Any) -> None:
    """JSON on stdout, and nothing else there."""
    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def show(results: Results, *, as_json: bool, gates_only: bool = False) -> None:
    """Results as tables or as JSON."""
    if as_json:
        print_json(results.as_json())
        return
    from assay.report.text import render_text

    render_text(results, plain_console(), gates_only=gates_only)


def plain_console() -> Console:
    """Where tables are printed: as wide as the terminal, or 100 columns where there is none."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would leave with 1, which is a crash's

    return Piped(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def write_report(results: Results, folder: Path) -> Results:
    """Writes the HTML report beside the run, and names it in the results."""
    import dataclasses

    from assay.report.html import Html
    from assay.run.store import write_atomic

    path = folder / "report.html"
    named = dataclasses.replace(results, report=str(path))
    page = Html().render(named)
    write_atomic(path, lambda target: target.write_bytes(page))
    return named


def finish(verdict: str | None) -> None:
    """Ends the command with the exit code that the verdict means."""
    raise typer.Exit(EXIT[verdict])
