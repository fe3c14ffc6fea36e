"""Every command by the place of its code, which is loaded when the command is asked for.

A kind of study, or anybody, adds commands by entry points of the group `assay.commands`: a function, or a
help text and functions by name, which become a group. One that is called `review.blind` becomes the command
`blind` of the group `review`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from assay.cli.showing import discard_output, say
from assay.core.errors import AssayError, DataError

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells report it: never a verdict, whatever was decided
PLUGGED = "assay.commands"
P = ParamSpec("P")
Command = TyperCommand | TyperGroup
Parts = dict[str, Callable[[], Command | None]]  # by name, in the order of the help: what makes the command

COMMANDS = {
    **{name: f"assay.cli.{name}:command" for name in ("demo", "init", "plugins", "validate", "run", "score")},
    **{name: f"assay.cli.{name}:command" for name in ("compare", "gate", "prove", "report", "export")},
    **{name: f"assay.cli.{name}:command" for name in ("status", "sweep")},
    "import": "assay.cli.import_results:command",
}
GROUPS = {
    "review": (
        "What people judge: at a desk in the browser, or in forms.",
        {
            "export": "assay.cli.review:export",
            "import": "assay.cli.review:take_in",
            "status": "assay.cli.review:status",
            "agreement": "assay.cli.review:agreement",
            "serve": "assay.cli.review:serve",
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
    """The command, with an error that is nobody's bug shown as a line, and with an exit code of its own."""

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
    """Commands by name, each made when it is first asked for. One that cannot be made goes."""

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
    """A group that loads only the command that is called; its help loads all of them."""

    def __init__(self, parts: Parts, **settings: Any) -> None:
        super().__init__(rich_markup_mode=None, no_args_is_help=True, **settings)
        self.commands = LazyCommands(parts)  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)


def root_parts(plugged: Iterable[EntryPoint]) -> Parts:
    """Every command and group: the program's own, then those of entry points."""
    parts: Parts = {name: _from_place(name, place) for name, place in COMMANDS.items()}
    groups: dict[str, Parts] = {}
    for group, (about, steps) in GROUPS.items():
        groups[group] = {name: _from_place(name, place) for name, place in steps.items()}
        parts[group] = partial(LazyGroup, groups[group], name=group, help=about)
    for point in sorted(plugged, key=lambda each: each.name):
        group, dot, name = point.name.rpartition(".")
        among = groups.get(group) if dot else parts
        if among is None or name in among:
            why = "there is one of that name" if among else f"there is no group {group!r}"
            say(f"The command {point.name!r} of {point.value} is left out: {why}.")
        else:
            among[name] = partial(_plugged, name, point)
    return parts


def _from_place(name: str, place: str) -> Callable[[], Command | None]:
    return lambda: _command(name, EntryPoint(name, place, PLUGGED).load())


def _command(name: str, function: Callable[..., None]) -> Command:
    """A function as a command that reads its options from the function's signature."""
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    one.command(name)(with_errors(function))
    made: Command = typer.main.get_command(one)  # type: ignore[assignment]
    return made


def _plugged(name: str, point: EntryPoint) -> Command | None:
    try:
        found = point.load()
    except Exception as error:  # anybody's code
        say(f"The command {point.name!r} ({point.value}) does not load: {type(error).__name__}: {error}")
        return None
    if callable(found):
        return _command(name, found)
    about, steps = found
    return LazyGroup(
        {step: partial(_command, step, function) for step, function in steps.items()},
        name=name,
        help=about,
    )
