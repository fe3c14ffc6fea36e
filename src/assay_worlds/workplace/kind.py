"""How a kind of document is worded: relations with their sentences and questions, and prose around them.

Texts are patterns. `[a|b|c]` is one of the alternatives, `<10..90/5>` a number from 10 to 90 in steps of 5 (1
where none is given), `{name}` a slot that the document or the organisation fills.
"""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

_CHOICE = re.compile(r"\[([^\[\]]*)\]|<(\d+)\.\.(\d+)(?:/(\d+))?>")
_SLOT = re.compile(r"\{(\w+)\}")


class Relation(NamedTuple):
    """Something that holds of a subject: a value, or another entity.

    Sentences stand for themselves, without their page's title: every one of `states` names {subject} and
    {value}, and {when} where the kind has editions. Questions name the subject as {of}, which may be a name
    or, in a chain, a phrase such as "the owner of Kestrel". `natural` uses some of the words of `states`,
    `paraphrase` as few as somebody who does not know the house's terms would.
    """

    key: str  # "service.region": the kind, then the relation
    states: tuple[str, ...]
    keyword: str
    natural: tuple[str, ...]
    paraphrase: tuple[str, ...]
    gives: str = ""  # the kind of entity that the value is; empty: `value` is drawn
    value: str = ""  # a pattern
    phrase: str = ""  # "the owner of {of}": lets a chain go on from the value
    listing: str = ""  # "Which services run in {value}?": asks for every subject of a value
    compare: str = ""  # "Which runs longer, {a} or {b}?": asks for the one with the larger number
    section: str = ""  # the heading it stands under


class Kind(NamedTuple):
    """A kind of page: each is about one subject, and states its relations among prose."""

    key: str
    noun: tuple[str, str]  # singular, plural: "service", "services"
    titles: tuple[str, ...]  # with {subject}
    relations: tuple[Relation, ...]
    prose: tuple[str, ...]
    names: tuple[str, ...] = ()  # patterns of subjects' names, where the organisation has none of its own
    editions: bool = False  # whether there is a page for each of several years, that differ in values


def slots(pattern: str) -> set[str]:
    """The slots of a pattern."""
    return set(_SLOT.findall(pattern))


def capital(text: str) -> str:
    """A text that begins with a capital letter, the rest as it is."""
    return text[:1].upper() + text[1:]


def expand(pattern: str, rng: Random) -> str:
    """A pattern with every choice and number drawn; slots stay."""

    def drawn(found: re.Match[str]) -> str:
        options, low, high, step = found.groups()
        if options is not None:
            return str(rng.choice(options.split("|")))
        return str(rng.randrange(int(low), int(high) + 1, int(step or 1)))

    while _CHOICE.search(pattern):  # an alternative may hold a number
        pattern = _CHOICE.sub(drawn, pattern)
    return pattern
