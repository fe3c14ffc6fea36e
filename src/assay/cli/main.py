"""The command line. A command parses, makes one library call, renders.

Exit codes: 0 go, or done where nothing gates; 10 no-go; 11 inconclusive; 2 usage; 3 bad data; 4 a system
under test could not be opened or failed on everything; 5 plugin; 12 the stored answers are older than the
gate, the study or the data they are to decide; 130 interrupted (Ctrl-C); 141 nobody reads our output: its
reader went away, or it is closed. 1 stays Python's own crash.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import ParamSpec

import typer

from assay.cli import (
    baseline,
    compare,
    data,
    demo,
    export,
    gate,
    import_results,
    init,
    plugins,
    prove,
    report,
    review,
    review_desk,
    run,
    score,
    status,
    sweep,
    validate,
)
from assay.cli.showing import say
from assay.core.errors import AssayError, DataError

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells report it: never a verdict, whatever was decided
P = ParamSpec("P")

app = typer.Typer(
    name="assay",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def told(command: Callable[P, None]) -> Callable[P, None]:
    """The command, with errors that are nobody's bug told in a line and an exit code of their own."""

    @functools.wraps(command)
    def telling(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            try:
                command(*args, **kwargs)
            finally:
                sys.stdout.flush()
        except AssayError as error:
            say(str(error))
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt as stop:
            say(str(stop) or "Interrupted. What was stored is kept: run the command again to go on.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's own last flush
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            say(f"{where}{error.strerror or error}. Check the path, its permissions and the space left.")
            raise typer.Exit(DataError.exit_code) from None

    return telling


for module in (
    demo,
    init,
    plugins,
    validate,
    run,
    score,
    compare,
    gate,
    prove,
    report,
    export,
    status,
    sweep,
):
    app.command(module.__name__.rpartition(".")[2])(told(module.command))
app.command("import")(told(import_results.command))

GROUPS: dict[str, tuple[str, dict[str, Callable[..., None]]]] = {
    "review": (
        "What people judge: at a desk in the browser, or in forms.",
        {
            "export": review.export,
            "import": review.take_in,
            "status": review.status,
            "agreement": review.agreement,
            "blind": review_desk.blind,
            "check": review_desk.check,
            "serve": review_desk.serve,
            "suggest": review_desk.suggest,
            "unblind": review_desk.unblind,
        },
    ),
    "data": (
        "Public data sets: official releases, pinned by checksum.",
        {"list": data.list_, "get": data.get, "verify": data.verify},
    ),
    "baseline": (
        "What a study showed earlier, and what changed since.",
        {"tag": baseline.tag, "list": baseline.list_, "diff": baseline.diff},
    ),
}


def add_group(name: str, about: str, steps: Mapping[str, Callable[..., None]]) -> None:
    commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=about)
    for step, command in steps.items():
        commands.command(step)(told(command))
    app.add_typer(commands, name=name)


for group, (summary, parts) in GROUPS.items():
    add_group(group, summary, parts)


def add_plugged(point: EntryPoint) -> None:
    """A command of a kind of study, or of anybody: a function, or a pair of a help text and functions."""
    commands, groups = app.registered_commands, app.registered_groups
    if point.name in {*(each.name for each in commands), *(each.name for each in groups)}:
        say(f"The command {point.name!r} of {point.value} is left out: there is one of that name.")
        return
    try:
        found = point.load()
    except Exception as error:  # anybody's code
        say(f"The command {point.name!r} ({point.value}) does not load: {type(error).__name__}: {error}")
        return
    if callable(found):
        app.command(point.name)(told(found))
    else:
        add_group(point.name, *found)


for plugged in sorted(entry_points(group="assay.commands"), key=lambda each: each.name):
    add_plugged(plugged)


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
            sys.exit(BROKEN_PIPE)
        raise
    except OSError as error:  # of what is printed before a command begins: --help, --version
        say(f"{error.strerror or error}. Check where standard output goes.")
        sys.exit(DataError.exit_code)
