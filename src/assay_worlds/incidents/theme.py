"""What a theme of the reports is: a cause, and the two ways of putting it into words."""

from __future__ import annotations

from functools import cache

from assay_worlds.texts import TextEntry, read_texts

GROUPS = ("crew", "attention", "setting", "machine", "company")


class AccidentTheme(TextEntry, frozen=True):
    """A cause that reports mention, by its name or without it.

    Sentences are templates of `wording.Wording`. `words` are what a keyword search would look for: every
    sentence of `keyword`, `advice_keyword` and `other_sense` holds one of them, no sentence of `paraphrase`
    and `advice_paraphrase` does. `other_sense` are sentences in which the words mean something else, or in
    which the cause is ruled out; they only appear where the theme is absent.
    """

    key: str
    words: tuple[str, ...]
    homes: tuple[str, ...]  # the sections that mention it first
    keyword: tuple[str, ...]
    paraphrase: tuple[str, ...]
    advice_keyword: tuple[str, ...]
    advice_paraphrase: tuple[str, ...]
    other_sense: tuple[str, ...]
    kinds: tuple[str, ...] = ("air", "water", "rail", "rope")


@cache
def themes() -> dict[str, AccidentTheme]:
    """All themes, by key."""
    groups = (read_texts(tuple[AccidentTheme, ...], __package__, f"{group}_themes") for group in GROUPS)
    return {theme.key: theme for group in groups for theme in group}
