"""Slices: conditions on tags and factors, as studies, gates and the command line write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A hyphen belongs to a name only where a letter follows: `bge-m3` is a name, `recall-0.1` a difference.
NAME = re.compile(r"[^\W\d]\w*(?:\.\w+|-[^\W\d]\w*)*")
WORD = re.compile(r"[^\s,|()\[\]'\"=!<>≥≤]+")  # a value that needs no quotes


@dataclass(frozen=True)
class Condition:
    """A tag or factor that has one of the values (`equal`), or none of them."""

    name: str
    equal: bool
    values: tuple[str, ...]

    def __str__(self) -> str:
        values = "|".join(bare_or_quoted(value, WORD) for value in self.values)
        return f"{bare_or_quoted(self.name, NAME)}{'=' if self.equal else '!='}{values}"


def bare_or_quoted(text: str, bare: re.Pattern[str]) -> str:
    """The text as it is, or in quotes where it would not read back."""
    return text if bare.fullmatch(text) else "'" + text.replace("'", "''") + "'"
