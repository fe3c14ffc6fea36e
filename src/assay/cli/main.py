"""The command line. Each command is loaded when it is called, so that `assay --help` answers at once.

A kind of study, or any other package, adds commands by entry points of the group `assay.commands`. An entry
point names a function, or a help text with functions by name, which become a group. An entry point
`review.blind` becomes the command `blind` of the group `review`.

Exit codes: 0 go, or success without gates; 10 no-go; 11 inconclusive; 2 usage; 3 bad data; 4 a system under
test could not be opened or failed on everything; 5 plugin; 12 the stored answers are older than the gate, the
study or the data; 130 interrupted (Ctrl-C); 141 nobody reads our output any more, or stdout is closed. Python
itself uses 1 for a crash.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from assay.cli.terminal import discard_output, say
from assay.core.errors import AssayError, DataError

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells report it. It is never the code of a verdict
PLUGGED = "assay.commands"
P = ParamSpec("P")
Command = TyperCommand | TyperGroup
Parts = dict[str, Callable[[], Command | None]]  # makes each command, by name, in the order of help

COMMANDS = {
    **{name: f"assay.cli.start:{name}" for name in ("demo", "init", "plugins")},
    "validate": "assay.cli.stored:validate",
    "run": "assay.cli.run:run",
    **{name: f"assay.cli.run_files:{name}" for name in ("score", "compare")},
    **{name: f"assay.cli.stored:{name}" for name in ("gate", "prove", "report", "export", "status")},
    "sweep": "assay.cli.run:sweep",
    "import": "assay.cli.stored:import_",
}
GROUPS = {
    "review": (
        "What people judge: at a desk in the browser, or in forms.",
        {
            name: f"assay.cli.review:{name.replace('import', 'import_')}"
            for name in ("export", "import", "status", "agreement", "serve")
        },
    ),
    "data": (
        "Public data sets: official releases, pinned by checksum.",
        {name: f"assay.cli.data:{name.replace('list', 'list_')}" for name in ("list", "get", "verify")},
    ),
    "baseline": (
        "What a study showed earlier, and what changed since.",
        {name: f"assay.cli.baseline:{name.replace('list', 'list_')}" for name in ("tag", "list", "diff")},
    ),
}


def with_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Wraps a command: an expected error is shown as one line, and the command ends with its exit code."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
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
            discard_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            say(f"{where}{error.strerror or error}. Check the path, its permissions and the space left.")
            discard_output()
            raise typer.Exit(DataError.exit_code) from None

    return wrapped


class LazyCommands(Mapping[str, Any]):
    """Commands by name. A command is made when it is first needed, and removed if this fails."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._made: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._made:
            if (made := self._parts[name]()) is None:
                del self._parts[name]
                raise KeyError(name)
            self._made[name] = made
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


class LazyGroup(TyperGroup):
    """A group that loads only the command that is called. The help of the group loads all its commands."""

    def __init__(self, parts: Parts, **settings: Any) -> None:
        super().__init__(rich_markup_mode=None, no_args_is_help=True, **settings)
        self.commands = LazyCommands(parts)  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


def root_parts(plugged: Iterable[EntryPoint]) -> Parts:
    """Returns every command and group: the program's own, then those of entry points."""
    parts: Parts = {name: partial(_load_own, name, place) for name, place in COMMANDS.items()}
    groups: dict[str, Parts] = {}
    for group, (about, steps) in GROUPS.items():
        groups[group] = {name: partial(_load_own, name, place) for name, place in steps.items()}
        parts[group] = partial(LazyGroup, groups[group], name=group, help=about)
    for point in sorted(plugged, key=lambda each: each.name):
        group, dot, name = point.name.rpartition(".")
        among = groups.get(group) if dot else parts
        if among is None or name in among:
            why = "there is one of that name" if among else f"there is no group {group!r}"
            say(f"The command {point.name!r} of {point.value} is not loaded: {why}.")
        else:
            among[name] = partial(_load_plugged, name, point)
    return parts


def _load_own(name: str, place: str) -> Command:
    return _command(name, EntryPoint(name, place, PLUGGED).load())


def _load_plugged(name: str, point: EntryPoint) -> Command | None:
    try:
        found = point.load()
    except Exception as error:  # the code of another package may raise anything
        say(f"The command {point.name!r} ({point.value}) does not load: {type(error).__name__}: {error}")
        return None
    if callable(found):
        return _command(name, found)
    about, steps = found
    parts: Parts = {step: partial(_command, step, function) for step, function in steps.items()}
    return LazyGroup(parts, name=name, help=about)


def _command(name: str, function: Callable[..., None]) -> Command:
    """Makes a command from a function. Its options come from the function's signature."""
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    one.command(name)(with_errors(function))
    made: Command = typer.main.get_command(one)  # type: ignore[assignment]
    return made


def _print_version(wanted: bool) -> None:
    if wanted:
        import assay

        typer.echo(f"assay {assay.__version__}")
        raise typer.Exit


def root(
    show_version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
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
    """Runs the command line. The `assay` script calls this."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:  # else the next open file would get its number, and all printed text
        say("There is nowhere to print to: standard output is closed. Send it to a file, or to /dev/null.")
        sys.exit(BROKEN_PIPE)
    try:
        app()
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # while help was printed
            discard_output()
            sys.exit(BROKEN_PIPE)
        raise
    except OSError as error:  # from what is printed before a command begins: --help, --version
        say(f"{error.strerror or error}. Check where standard output goes.")
        discard_output()
        sys.exit(DataError.exit_code)
