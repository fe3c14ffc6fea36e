"""JSON that remembers where things stand; a key given twice is a problem instead of a silent loss."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import DataError, Problem
from assay.core.yaml_lines import Lines, Loc, read_text

_TOKEN = re.compile(r'[{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+')  # of a text that is known to be JSON


def read_json(path: Path) -> tuple[Any, Lines]:
    """The content of a JSON file and where each field stands."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str) -> tuple[Any, Lines]:
    """The content of a JSON text and where each field stands; `where` is what problems call the text."""
    try:
        content = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(_not_json(text, where, error)) from None
    lines = Lines(where)
    if doubled := _placed(text, lines):
        raise DataError(doubled)
    return content, lines


def _not_json(text: str, where: str, error: Exception) -> Problem:
    if isinstance(error, RecursionError):
        return Problem("it is nested too deeply", where, fix="Write it flat.")
    try:
        json.loads(text)
    except json.JSONDecodeError as found:  # it knows the line
        what = f"this is not JSON: {found.msg[:1].lower()}{found.msg[1:]}"
        return Problem(what, where, found.lineno, fix="Correct the line, or one shortly before it.")
    except (ValueError, RecursionError):
        pass
    what = "this is not JSON: it holds NaN, Infinity, a number out of range or half a character"
    return Problem(what, where, fix="Write numbers that are finite, and \\u escapes of characters in pairs.")


def _placed(text: str, lines: Lines) -> list[Problem]:
    """Fills in the line of every field, and tells of keys that stand twice in an object."""
    loc: list[str | int] = []  # of the value to come; a key that is not read yet is ""
    key_next, line, at = False, 1, 0
    problems: list[Problem] = []
    for token in _TOKEN.finditer(text):
        sign, start = token[0], token.start()
        line, at = line + text.count("\n", at, start), start
        if sign in "]}":
            loc.pop()
            key_next = False
        elif sign == ",":
            last = loc[-1]
            key_next = isinstance(last, str)
            loc[-1] = last + 1 if isinstance(last, int) else ""
        elif key_next and sign != ":":
            loc[-1] = msgspec.json.decode(sign, type=str)
            problems += _doubled(tuple(loc), line, lines)
            lines.at[tuple(loc)] = line
            key_next = False
        elif sign != ":":
            lines.at.setdefault(tuple(loc), line)
            if sign in "[{":
                loc.append(0 if sign == "[" else "")
                key_next = sign == "{"
    return problems


def _doubled(loc: Loc, line: int, lines: Lines) -> list[Problem]:
    if loc not in lines.at:
        return []
    what, field = f"this field stands on line {lines.at[loc]} already", ".".join(map(str, loc))
    return [Problem(what, lines.where, line, field, "Keep one of the two.")]
