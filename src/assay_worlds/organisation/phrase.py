"""How a relation is worded: once as the organisation writes it, three ways as people ask for it."""

from __future__ import annotations

from typing import NamedTuple

STYLES = ("keyword", "natural", "paraphrase")


class Phrase(NamedTuple):
    """One relation in words. `{value}` is the answer; a question's `{scope}` says whose and when.

    `state` is the sentence of the document. `keyword` reuses its words, `natural` some of them, and
    `paraphrase` as few as a person who does not know the house's terms would.
    """

    state: str
    keyword: str
    natural: str
    paraphrase: str
    values: tuple[str, ...] = ()


class Topic(NamedTuple):
    """A subject the handbook has editions of: its prose, and the clauses whose values differ between them."""

    key: str
    title: str
    local: bool  # every office keeps its own edition
    prose: tuple[str, ...]
    clauses: tuple[Phrase, ...]
