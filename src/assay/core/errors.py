"""The errors that Assay raises on purpose, with their exit codes.

AssayError                      exit 1 is a crash of Python itself, and is never used here
├── UsageError         exit 2   the command or call makes no sense as written
│   └── MissingVariable         an environment variable that a study names is not set
├── DataError          exit 3   a file or record is wrong; the error lists all problems that were found
├── SystemFailure      exit 4   a system under test could not be opened, or failed on every item
├── PluginError        exit 5   a plugin is unknown, broken, or was given wrong parameters
└── Retryable                   a system raises it: this attempt failed, but another may succeed
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import msgspec

_PLACE = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
_MISSING = re.compile(r"missing required field `(.+?)`")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, where it is, and how to correct it."""

    what: str
    where: str = ""
    line: int | None = None
    field: str = ""
    fix: str = ""

    def __str__(self) -> str:
        place = self.where + (f":{self.line}" if self.line is not None else "")
        parts = [part for part in (place, self.field, self.what) if part]
        text = ": ".join(parts)
        return f"{text}. {self.fix}" if self.fix else text


class AssayError(Exception):
    """The base class of all errors. The message says what went wrong, where, and what to do next."""

    exit_code: ClassVar[int] = 2
    fault_kind: ClassVar[str] = ""  # the kind of its fault in stored answers; empty: the name of the class


class UsageError(AssayError):
    """A call or a command makes no sense as written."""

    exit_code = 2


class MissingVariable(UsageError):
    """An environment variable that a study names is not set."""

    fault_kind = "NotSet"


class DataError(AssayError):
    """Input that cannot be used.

    The error lists all problems of a file, so that they can be corrected together.
    """

    exit_code = 3
    SHOWN: ClassVar[int] = 20

    def __init__(self, problems: Iterable[Problem] | Problem | str) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        shown = [str(problem) for problem in self.problems[: self.SHOWN]]
        if len(self.problems) > self.SHOWN:
            shown.append(f"… and {len(self.problems) - self.SHOWN} more")
        super().__init__("\n".join(shown))


class SystemFailure(AssayError):
    """A system under test could not be opened, or failed on every item."""

    exit_code = 4


class PluginError(AssayError):
    """A plugin is unknown, does not load, or was given parameters that it does not accept."""

    exit_code = 5


class Retryable(AssayError):
    """An attempt of a system failed for a temporary reason.

    The system raises this, and the runner tries again.
    """

    exit_code = 4


def decoding_problem(error: Exception, where: str = "", line: int | None = None) -> Problem:
    """Turns a decoding error into a problem that names the field, its fault and the correction."""
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return Problem(f"not UTF-8 (byte 0x{byte:02x})", where, line, fix="Save the file as UTF-8.")
    if isinstance(error, RecursionError):
        return Problem("nested too deeply", where, line, fix="Flatten the record.")
    text = str(error)
    if not isinstance(error, msgspec.ValidationError):
        fix = "Write one complete JSON object per line."
        return Problem(f"not JSON: {text.removeprefix('JSON is malformed: ')}", where, line, fix=fix)
    place = _PLACE.search(text)
    field = place[1] if place else ""
    if missing := _MISSING.search(text):
        field = f"{field}.{missing[1]}" if field else missing[1]
        return Problem("the field is missing", where, line, field, f"Add {missing[1]!r}.")
    what = _PLACE.sub("", text).replace("`", "")
    return Problem(what[:1].lower() + what[1:], where, line, field, "Correct the value.")


def fault_kind(error: BaseException) -> str:
    """Returns the kind of fault under which an exception is stored. A renamed class keeps its first kind."""
    return (error.fault_kind if isinstance(error, AssayError) else "") or type(error).__name__


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.55) -> str:
    """Returns a closing sentence that suggests the most similar known names, or lists all known names.

    Short names are similar to many words. For short names, pass a higher `cutoff`.
    """
    names = sorted(set(known))
    folded = {name.lower(): name for name in names}
    near = [folded[hit] for hit in difflib.get_close_matches(word.lower(), list(folded), n=3, cutoff=cutoff)]
    if near:
        return "Did you mean " + " or ".join(repr(name) for name in near) + "?"
    return f"Known: {', '.join(names)}." if names else ""
