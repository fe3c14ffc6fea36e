"""Templates put into words: alternatives are chosen, and slots filled from the report or by chance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from assay_worlds.incidents.region_text import MONTHS, SURNAMES

_ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_KINDS = re.compile(r"((?:air|water|rail|rope)(?:,(?:air|water|rail|rope))*): ")
_ARTICLE = re.compile(r"\b([Aa]) (?=[AEIO])")
_NUMBERS = {
    "teens": (11, 19),
    "years": (3, 26),
    "years_old": (22, 58),
    "dozen": (11, 29),
    "many": (30, 180),
    "percent": (31, 88),
    "hundreds": (180, 950),
    "thousands": (1100, 9800),
}
_WORDS = {
    "few": ("two", "three", "four", "five", "six", "seven"),
    "month": MONTHS,
    "person": SURNAMES,
}


class Sentence(NamedTuple):
    """A finished sentence, and the slots it was filled from."""

    text: str
    slots: frozenset[str]


class Wording:
    """The words of one report: what is fixed for it, and a generator for the rest."""

    def __init__(self, rng: Random, kind: str, slots: Mapping[str, str | Sequence[str]]) -> None:
        self.rng, self.kind, self.slots = rng, kind, slots

    def say(self, template: str) -> Sentence:
        """One wording of a template. `[a|b]` is a or b; `{slot}` may hold alternatives and slots in turn."""
        used: set[str] = set()
        text = _KINDS.sub("", template, count=1) if suits(template, self.kind) else template
        while _ALTERNATIVES.search(text) or _SLOT.search(text):
            text = _ALTERNATIVES.sub(lambda found: self.rng.choice(found[1].split("|")), text)
            used |= set(_SLOT.findall(text))
            text = _SLOT.sub(lambda found: self._fill(found[1]), text)
        text = _ARTICLE.sub(r"\1n ", text)
        return Sentence(text[0].upper() + text[1:], frozenset(used))

    def _fill(self, slot: str) -> str:
        if slot in _NUMBERS:
            return str(self.rng.randint(*_NUMBERS[slot]))
        words = self.slots[slot] if slot in self.slots else _WORDS[slot]
        return words if isinstance(words, str) else self.rng.choice(words)


class Decks:
    """Templates dealt like cards: none comes again before all of its pool have come."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._left: dict[tuple[Sequence[str], str], list[str]] = {}

    def deal(self, pool: Sequence[str], kind: str, count: int) -> list[str]:
        """That many different templates of the pool, all of which suit the kind of vehicle."""
        cards = [template for template in pool if suits(template, kind)]
        left = self._left.setdefault((pool, kind), [])
        dealt: list[str] = []
        while len(dealt) < min(count, len(cards)):
            if not left:
                left += self._rng.sample(cards, len(cards))
            card = left.pop()
            if card not in dealt:
                dealt.append(card)
        return dealt


def suits(template: str, kind: str) -> bool:
    """Whether a template is unmarked, or marked for this kind of vehicle."""
    marked = _KINDS.match(template)
    return marked is None or kind in marked[1].split(",")
