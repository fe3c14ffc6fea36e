"""Titles as names: one spelling for all ways to write a title, and one stem for each text that has it."""

from __future__ import annotations

import unicodedata
from collections import Counter

_SYMBOLS = frozenset({"Sm", "Sc", "So"})  # signs that tell titles apart, as C++ and C do
UNTITLED = "untitled"


def normalize_title(title: str) -> str:
    """The title in one spelling: compatible letters made one, case folded, words joined by underscores.

    Punctuation and space part words, whichever and however many. A title of nothing but signs keeps them, so
    that it has a name at all.
    """
    seen = "".join(sign for sign in title if unicodedata.category(sign) != "Cf")
    folded = seen
    for _ in range(2):  # folding may part what was composed, and composing may bring up what folds
        folded = unicodedata.normalize("NFKC", folded).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    words = "".join(sign if _in_a_word(sign) else " " for sign in folded).split()
    signs = folded.replace(":", " ").split()  # a colon parts stem and number
    return "_".join(words or signs) or UNTITLED


def _in_a_word(sign: str) -> bool:
    category = unicodedata.category(sign)
    return category[0] in "LMN" or category in _SYMBOLS


class DocumentStems:
    """Names of texts, in the order they come: the title's, numbered from the second text under it on.

    What stands before the number is in no title's name that has letters or digits: no two stems are alike.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}
        self._texts: Counter[str] = Counter()

    def of(self, title: str, units: tuple[str, ...]) -> str:
        """The stem of a text, which is known by its title's name and its units."""
        name = normalize_title(title)
        if (name, units) not in self._known:
            self._texts[name] += 1
            number = self._texts[name]
            self._known[name, units] = name if number == 1 else f"{name}#{number}"
        return self._known[name, units]
