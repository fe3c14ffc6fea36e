"""Sentences of a report: templates that suit its vehicle, put into words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from assay_worlds.template import capital, expand, render

_KINDS = re.compile(r"((?:air|water|rail|rope)(?:,(?:air|water|rail|rope))*): ")
_ARTICLE = re.compile(r"\b([Aa]) (?=[AEIO])")


class ReportSentence(NamedTuple):
    """A finished sentence, and the slots it was filled from."""

    text: str
    slots: frozenset[str]


class Wording:
    """The words of one report: what fills its slots, and a generator for the rest.

    A template that begins with `air:`, `water:`, `rail:` or `rope:` (or several of them, with commas) suits
    only vehicles of that kind.
    """

    def __init__(self, rng: Random, kind: str, slots: Mapping[str, str | Sequence[str]]) -> None:
        self.rng, self.kind, self.slots = rng, kind, slots
        self._used: set[str] = set()

    def say(self, template: str) -> ReportSentence:
        """One wording of a template."""
        self._used.clear()
        text = _KINDS.sub("", template, count=1) if suits(template, self.kind) else template
        text = _ARTICLE.sub(r"\1n ", render(text, self.rng, self))
        return ReportSentence(capital(text), frozenset(self._used))

    def __getitem__(self, slot: str) -> str:
        self._used.add(slot)
        words = self.slots[slot]
        return expand(words if isinstance(words, str) else self.rng.choice(words), self.rng)


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
