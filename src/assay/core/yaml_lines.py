"""Reads YAML with the line of every field, and keeps words as they are written.

PyYAML follows YAML 1.1, in which `yes`, `no` and `on` are booleans. But tags in a golden set are words. Here
only `true` and `false` are booleans. A key that is given twice is reported as a problem.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from pydantic import BeforeValidator, StringConstraints

from assay.core.errors import DataError, Problem, did_you_mean

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


def _word(value: Any) -> Any:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else str(value)
        if isinstance(value, int | float)
        else value
    )


def as_list(value: Any) -> Any:
    return value if isinstance(value, list | Mapping) or value is None else [value]


def _share(value: Any) -> Any:
    """Reads a share as a number: 5% is 0.05."""
    try:
        found = float(value.removesuffix("%")) / 100 if str(value).endswith("%") else float(value)
    except (TypeError, ValueError):
        found = -1.0
    if isinstance(value, bool) or not 0 <= found <= 1:
        raise ValueError("expected a share, such as 5% or 0.05")
    return found


Word = Annotated[str, BeforeValidator(_word)]  # yes and 5 are words if a word is expected
Words = Annotated[list[Word], BeforeValidator(as_list)]
FilledText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Share = Annotated[float, BeforeValidator(_share)]


MOST_FIELDS = 100_000  # aliases of aliases multiply: ten lines can make billions of fields

_INT = re.compile(r"[-+]?[0-9]{1,18}")  # longer ones stay text, since Python refuses to read some
_FLOAT = re.compile(r"[-+]?(([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}

Loc = tuple[str | int, ...]


@dataclass
class Lines:
    """The line of every field of one file. A field is named by its path of keys and indexes."""

    where: str
    at: dict[Loc, int] = field(default_factory=dict)

    def of(self, loc: Sequence[str | int]) -> int | None:
        """Returns the line of a field.

        If the field has no line, returns the line of the nearest field around it.
        """
        path = tuple(loc)
        while path not in self.at and path:
            path = path[:-1]
        return self.at.get(path)

    def problem(self, loc: Sequence[str | int], what: str, fix: str = "") -> Problem:
        """Returns a problem at a field of the file."""
        return Problem(what, self.where, self.of(loc), ".".join(str(part) for part in loc), fix)


@dataclass(frozen=True)
class FileProblems:
    """Collects the problems of a file."""

    lines: Lines
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, loc: Loc, inner: Loc, what: str, fix: str, name: str = "") -> None:
        """Adds a problem at the path `inner` below the path `loc`.

        In the path that is shown, `name` replaces `loc`.
        """
        path = ".".join(map(str, (*((name,) if name else loc), *inner)))
        line = self.lines.of((*loc, *inner))
        self.problems.append(Problem(what, self.lines.where, line, path, fix))


def read_text(path: Path) -> str:
    """Reads the text of a file. Raises a DataError if the file is missing or not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(Problem("there is no such file", str(path), fix="Check the path.")) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError(
            Problem("bytes that are not UTF-8", str(path), line, fix="Save the file as UTF-8.")
        ) from None
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise DataError(Problem(what, str(path), fix="Check the path and its permissions.")) from error


def read_yaml(path: Path) -> tuple[Any, Lines]:
    """Reads a YAML file. Returns its content and the line of each field."""
    text = read_text(path)
    lines = Lines(str(path))
    problems: list[Problem] = []
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        content = _content(node, (), lines, problems) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise DataError(_not_yaml(what, path, mark.line if mark else None)) from None
    except yaml.reader.ReaderError as error:
        what = f"the character {chr(error.character)!r} is not allowed here"
        raise DataError(_not_yaml(what, path, text.count("\n", 0, error.position))) from None
    # PyYAML accepts some invalid escapes and version numbers at first, and fails on them later
    except (ValueError, OverflowError) as error:
        what, fix = f"this is not YAML: {error}", "Correct the escape in quotes, or the %YAML line."
        raise DataError(Problem(what, str(path), fix=fix)) from error
    except RecursionError:
        what = "it is nested too deeply, or an alias is inside what it refers to"
        raise DataError(_not_yaml(what, path, None)) from None
    if problems:
        raise DataError(problems)
    return content, lines


def _not_yaml(what: str, path: Path, line: int | None) -> Problem:
    fix = "Correct the line, or one shortly before it." if line is not None else "Write it flat."
    return Problem(f"this is not YAML: {what}", str(path), None if line is None else line + 1, fix=fix)


def _content(node: yaml.Node, loc: Loc, lines: Lines, problems: list[Problem]) -> Any:
    lines.at[loc] = node.start_mark.line + 1
    if len(lines.at) > MOST_FIELDS:
        what = f"more than {MOST_FIELDS:,} fields"
        raise DataError(Problem(what, lines.where, lines.at[loc], fix="Use fewer aliases."))
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return [_content(child, (*loc, index), lines, problems) for index, child in enumerate(node.value)]
    mapping: dict[str, Any] = {}
    for key_node, child in node.value:
        key, line = str(key_node.value), key_node.start_mark.line + 1
        if key in mapping:
            what = f"this field is already on line {lines.at[(*loc, key)]}"
            field = ".".join(map(str, (*loc, key)))
            problems.append(Problem(what, lines.where, line, field, "Keep one of the two."))
        mapping[key] = _content(child, (*loc, key), lines, problems)
        lines.at[(*loc, key)] = line
    return mapping


def _scalar(node: yaml.ScalarNode) -> Any:
    text: str = node.value
    if node.style is not None:
        return text
    if text.lower() in _WORDS and text in {text.lower(), text.capitalize()}:
        return _WORDS[text.lower()]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


# ------------------------------------------------------------------- errors of pydantic models

_EXPECTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a mapping of names to values",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "string_type": "text",
    "too_short": "at least one",
}


def field_problem(error: ErrorDetails, lines: Lines, known: Callable[[Loc], list[str]]) -> Problem:
    """Turns a validation error into a problem. `known` returns the known fields at a place."""
    loc, kind, given = error["loc"], error["type"], error["input"]
    if given is None and str(loc[-1]).endswith(")"):
        what = "a comma inside {…} ends a value, and so it cut this one off"
        return lines.problem(loc, what, "Put the value in quotes, or on a line of its own.")
    if kind == "extra_forbidden":
        return lines.problem(loc, "there is no such field", did_you_mean(str(loc[-1]), known(loc)))
    if kind == "missing":
        return lines.problem(loc, "this field is required", "Add it.")
    found = f", found {given!r}" if isinstance(given, str | int | float) else ", found nothing" * (not given)
    if kind in _EXPECTED:
        return lines.problem(loc, f"expected {_EXPECTED[kind]}{found}", "Correct the value.")
    if kind == "literal_error":
        return lines.problem(loc, f"expected {error['ctx']['expected']}{found}", "Correct the value.")
    what = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return lines.problem(loc, what + found, "Correct the value.")
