"""Slices: conditions on tags and factors, as studies, gates and the command line write them."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite

# A hyphen belongs to a name only where a letter follows: `bge-m3` is a name, `recall-0.1` a difference.
NAME = re.compile(r"[^\W\d]\w*(?:\.\w+|-[^\W\d]\w*)*")
WORD = re.compile(r"[^\s,|()\[\]'\"=!<>≥≤]+")  # a value that needs no quotes

_COMPARE = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


@dataclass(frozen=True)
class Condition:
    """A tag or factor that has one of the values (`equal`), or none of them.

    With `sign`, the tag is a number and is compared with the one value: `freq > 5`.
    """

    name: str
    equal: bool
    values: tuple[str, ...]
    sign: str = ""

    def met_by(self, values: Iterable[str]) -> bool:
        """Whether an item or arm with these values of the tag is in the slice; `*` is any value."""
        if self.sign:
            bound = float(self.values[0])
            return any(_COMPARE[self.sign](number, bound) for number in numbers(values))
        own = set(values)
        found = not own.isdisjoint(self.values) or ("*" in self.values and bool(own))
        return found == self.equal

    def __str__(self) -> str:
        values = "|".join(bare_or_quoted(value, WORD) for value in self.values)
        sign = f" {self.sign} " if self.sign else "=" if self.equal else "!="
        return f"{bare_or_quoted(self.name, NAME)}{sign}{values}"


def numbers(values: Iterable[str]) -> Iterator[float]:
    """The values that are numbers."""
    for value in values:
        try:
            number = float(value)
        except ValueError:
            continue
        if isfinite(number):
            yield number


def bare_or_quoted(text: str, bare: re.Pattern[str]) -> str:
    """The text as it is, or in quotes where it would not read back."""
    return text if bare.fullmatch(text) else "'" + text.replace("'", "''") + "'"
