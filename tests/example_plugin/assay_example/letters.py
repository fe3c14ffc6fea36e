"""An embedding model that knows letters only: a part that the systems of others can be made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.parts import EmbeddingResult, Role, normalize_rows
from assay.core.protocols import Kit

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Letters:
    """How often a text has each letter; `weight` counts the first letter of each word so many times more."""

    weight: int = 1
    version: ClassVar[str] = "1"

    def load(self, kit: Kit) -> LettersModel:
        return LettersModel(self)

    def identity(self, kit: Kit) -> str:
        return f"letters {self.version} {self.weight}"


@dataclass(frozen=True)
class LettersModel:
    """The part at work. It has no state, so that any number of threads may embed."""

    part: Letters
    batch: ClassVar[int] = 256

    @property
    def identity(self) -> str:
        return self.part.identity(Kit())

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        counts = np.zeros((len(texts), len(ALPHABET)))
        for row, text in zip(counts, texts, strict=True):
            words = text.lower().split()
            for letter in [*"".join(words), *"".join(word[0] for word in words) * self.part.weight]:
                if letter in ALPHABET:
                    row[ALPHABET.index(letter)] += 1
        return EmbeddingResult(normalize_rows(counts), tokens=sum(map(len, texts)))
