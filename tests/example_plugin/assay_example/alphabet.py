"""A dataset that needs no file: one passage and one item a letter."""

from __future__ import annotations

import string
from dataclasses import dataclass

from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit
from assay.core.records import Item, Passage


@dataclass(frozen=True)
class Alphabet:
    """The first `letters` letters; the gold of each item is its letter."""

    letters: int = 20

    def load(self, kit: Kit) -> Dataset:
        letters = string.ascii_lowercase[: self.letters]
        return Dataset(
            "alphabet",
            Corpus([Passage(f"p-{letter}", f"the letter {letter}") for letter in letters]),
            [
                Item(
                    f"q-{letter}",
                    f"where is {letter}",
                    tags={"vowel": [str(letter in "aeiou")]},
                    gold={"letter": letter},
                )
                for letter in letters
            ],
        )
