"""How a relation is worded: once as the organisation writes it, three ways as people ask for it."""

from __future__ import annotations

from assay_worlds.texts import TextEntry

STYLES = ("keyword", "natural", "paraphrase")


class Phrase(TextEntry, frozen=True):
    """One relation in words. `{value}` is the answer; a question's `{scope}` says whose and when.

    Its templates hold slots and no chance, so that a fact reads the same wherever it is quoted.

    `state` is the sentence of the document. `keyword` reuses its words, `natural` some of them, and
    `paraphrase` as few as a person who does not know the house's terms would.
    """

    state: str
    keyword: str
    natural: str
    paraphrase: str
    values: tuple[str, ...] = ()


class Topic(TextEntry, frozen=True):
    """A subject the handbook has editions of: its prose, and the clauses whose values differ between them."""

    key: str
    title: str
    prose: tuple[str, ...]
    clauses: tuple[Phrase, ...]
    local: bool = False  # every office keeps its own edition
