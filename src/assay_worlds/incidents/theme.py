"""What a theme of the reports is: a cause, and the two ways of putting it into words."""

from __future__ import annotations

from typing import NamedTuple


class Theme(NamedTuple):
    """A cause that reports speak of, named outright or told without its name.

    Sentences are templates of `wording.Wording`; one that begins with `air:`, `water:`, `rail:` or `rope:`
    (or several of them, with commas) suits those vehicles alone. `words` are what a keyword search would look
    for: every sentence of `keyword`, `advice_keyword` and `other_sense` holds one of them, no sentence of
    `paraphrase` and `advice_paraphrase` does. `other_sense` are sentences in which the words mean something
    else, or in which the cause is ruled out; they only appear where the theme is absent.
    """

    key: str
    words: tuple[str, ...]
    homes: tuple[str, ...]  # the sections that speak of it first
    keyword: tuple[str, ...]
    paraphrase: tuple[str, ...]
    advice_keyword: tuple[str, ...]
    advice_paraphrase: tuple[str, ...]
    other_sense: tuple[str, ...]
    kinds: tuple[str, ...] = ("air", "water", "rail", "rope")
