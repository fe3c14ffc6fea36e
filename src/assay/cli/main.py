"""The command line. A command parses, makes one library call, renders.

Exit codes: 0 go, or done where nothing gates; 10 no-go; 11 inconclusive; 2 usage; 3 bad data; 4 a system
under test could not be opened or failed on everything; 5 plugin; 12 the stored answers are older than the
gate, the study or the data they are to decide; 130 interrupted (Ctrl-C); 141 nobody reads our output: its
reader went away, or it is closed. 1 stays Python's own crash.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points

import typer

from assay.cli.commands import BROKEN_PIPE, PLUGGED, LazyGroup, root_parts
from assay.cli.showing import discard_output, say
from assay.core.errors import DataError


def version(wanted: bool) -> None:
    if wanted:
        import assay

        typer.echo(f"assay {assay.__version__}")
        raise typer.Exit


def root(
    show_version: bool = typer.Option(
        False, "--version", callback=version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Decides, with evidence, whether a retrieval system is good enough: go, no-go or inconclusive."""


def _app() -> LazyGroup:
    options = typer.Typer(add_completion=False, rich_markup_mode=None)
    options.callback()(root)
    shown = typer.main.get_group(options)
    parts = root_parts(entry_points(group=PLUGGED))
    return LazyGroup(parts, name="assay", help=shown.help, params=shown.params, callback=shown.callback)


app = _app()


def main() -> None:
    """What the `assay` script calls."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:  # the next file that is opened would get its number, and what others print
        say("There is nowhere to print to: standard output is closed. Send it to a file, or to /dev/null.")
        sys.exit(BROKEN_PIPE)
    try:
        app()
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # while help was printed
            discard_output()
            sys.exit(BROKEN_PIPE)
        raise
    except OSError as error:  # of what is printed before a command begins: --help, --version
        say(f"{error.strerror or error}. Check where standard output goes.")
        discard_output()
        sys.exit(DataError.exit_code)
