"""The template language of all texts of the worlds.

    [a|b|c]       one of the alternatives, which may contain alternatives, numbers and slots
    <10..90/5>    a number from 10 to 90 in steps of 5; without a step, any whole number
    {name}        a slot, which the caller fills as `str.format_map` does

The caller's generator gives all random choices. Alternatives and numbers are drawn before slots are filled.
Inner ones are drawn before outer ones, and from left to right. The value of a slot may be a template too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Protocol

_CHOICE = re.compile(r"\[([^\[\]]*)\]|<(\d+)\.\.(\d+)(?:/(\d+))?>")
_SLOT = re.compile(r"\{(\w+)\}")
_MARK = re.compile(r"[\[\]{}<>|]")


class SlotValues(Protocol):
    """The values of slots, by name."""

    def __getitem__(self, name: str, /) -> str: ...


def expand(template: str, rng: Random) -> str:
    """Draws every alternative and number of a template. Slots stay unfilled."""

    def drawn(found: re.Match[str]) -> str:
        options, low, high, step = found.groups()
        if options is not None:
            return str(rng.choice(options.split("|")))
        return str(rng.randrange(int(low), int(high) + 1, int(step or 1)))

    count = 1
    while count:
        template, count = _CHOICE.subn(drawn, template)
    return template


def render(template: str, rng: Random, slots: SlotValues) -> str:
    """Draws every alternative and number of a template, and fills every slot."""
    text = expand(template, rng)
    while "{" in text:
        text = expand(text.format_map(slots), rng)
    return text


def say(rng: Random, templates: Sequence[str], **slots: str) -> str:
    """Renders one of several templates."""
    return render(rng.choice(templates), rng, slots)


def capital(text: str) -> str:
    """Returns the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def slots_of(template: str) -> set[str]:
    """Returns the names of a template's slots."""
    return set(_SLOT.findall(template))


def fault(template: str) -> str:
    """Describes the fault of a template; empty if there is none."""
    count = 1
    while count:
        template, count = _CHOICE.subn(lambda found: (found[1] or "").replace("|", ""), template)
    mark = _MARK.search(_SLOT.sub("", template))
    return f"{mark[0]!r} is not part of a [a|b], a <1..9> or a {{slot}}" if mark else ""
