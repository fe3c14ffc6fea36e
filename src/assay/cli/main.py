"""The command line. A command parses, makes one library call, renders.

Exit codes: 0 go, or done where nothing gates; 10 no-go; 11 inconclusive; 2 usage; 3 bad data; 4 a system
under test could not be opened or failed on everything; 5 plugin. 1 stays Python's own crash.
"""

from __future__ import annotations

import sys

import typer

from assay.cli import compare, demo, gate, report, run, score, status, validate
from assay.errors import AssayError

app = typer.Typer(
    name="assay",
    help="Decides, with evidence, whether a retrieval system is good enough: go, no-go or inconclusive.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (demo, validate, run, score, compare, gate, report, status):
    app.command(module.__name__.rpartition(".")[2])(module.command)


def version(wanted: bool) -> None:
    if wanted:
        import assay

        typer.echo(f"assay {assay.__version__}")
        raise typer.Exit


@app.callback()
def root(
    show_version: bool = typer.Option(
        False, "--version", callback=version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Decides, with evidence, whether a retrieval system is good enough: go, no-go or inconclusive."""


def main() -> None:
    """Runs the command line; errors Assay raises on purpose become a message and an exit code."""
    try:
        app()
    except AssayError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
    except BrokenPipeError:  # somebody piped us into `head`
        sys.stderr.close()
        sys.exit(0)
