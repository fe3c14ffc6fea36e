"""Measures of size: how much content a model was given, and how much it wrote.

The content of a response is the text of the documents that its hits name, joined as the model was given them.
The instructions and the question are not part of the content: they are the same under every condition.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.errors import UsageError
from assay.kinds.answers.content_pairs import join_texts
from assay.measures.declaration import Declaration
from assay.measures.observed import LimitedMeasure
from assay.retrieval.tokens import PACKAGED, load_packaged

FIRST_ADDRESS = "assay.measures.content"

Counts = Callable[[Sequence[str]], Sequence[int]]  # the sizes of some texts

# an empty answer has the size 0
size_declaration = partial(Declaration, better="lower", absent=None, blank=frozenset())


@dataclass(frozen=True)
class _SizeMeasure(LimitedMeasure, ABC):
    """A size of 0 or more; lower is better. An item without the measured text stays out of the mean."""

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        return self.limited(self.counted(block, self.sizes))

    @classmethod
    def counted(cls, block: Block, sizes: Counts) -> NDArray[np.float64]:
        """Returns the size of each item's text by the function `sizes`, or NaN for an item without a text.

        Equal texts are measured once.
        """
        texts = cls.texts(block)
        distinct = list(dict.fromkeys(text for text in texts if text is not None))
        known = dict(zip(distinct, sizes(distinct), strict=True))
        return np.array([np.nan if text is None else float(known[text]) for text in texts], dtype=float)

    @classmethod
    @abstractmethod
    def texts(cls, block: Block) -> Sequence[str | None]:
        """Returns the text of each item that is measured; None for an item without such a text."""

    @abstractmethod
    def sizes(self, texts: Sequence[str]) -> Sequence[int]: ...


content_size_declaration = partial(size_declaration, needs=frozenset({"hits"}), blank=frozenset({"hits"}))


class _ContentSize(_SizeMeasure):
    @classmethod
    def texts(cls, block: Block) -> Sequence[str | None]:
        """Returns the content of each item. Items with the same documents share one joined text."""
        known: dict[tuple[str, ...], str | None] = {}
        found: list[str | None] = []
        for response in block.responses:
            ids = () if response is None else tuple(hit.doc_id for hit in response.hits)
            if ids not in known:
                texts = [text for doc_id in ids if (text := block.corpus.text_of(doc_id)) is not None]
                known[ids] = join_texts(texts) if ids and len(texts) == len(ids) else None
            found.append(known[ids])
        return found


@dataclass(frozen=True)
class _TokenCount(_SizeMeasure):
    """A measure that counts tokens with a vocabulary that comes with the program."""

    tokenizer: str = "llama3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenizer not in PACKAGED:
            known = ", ".join(PACKAGED)
            raise UsageError(f"tokenizer: a measure counts by one of {known}, not by {self.tokenizer!r}.")

    def sizes(self, texts: Sequence[str]) -> Sequence[int]:
        return load_packaged(self.tokenizer).counts(texts)


@dataclass(frozen=True)
class ContentTokens(_TokenCount, _ContentSize):
    """The number of tokens of the content that a model was given, without instructions and question."""

    declares: ClassVar[Declaration] = content_size_declaration("ContentTokens")


@dataclass(frozen=True)
class ContentChars(_ContentSize):
    """The number of characters of the content that a model was given. This size needs no tokenizer."""

    declares: ClassVar[Declaration] = content_size_declaration("ContentChars")

    def sizes(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text) for text in texts]


@dataclass(frozen=True)
class OutputTokens(_TokenCount):
    """The number of tokens of the answer."""

    declares: ClassVar[Declaration] = size_declaration("OutputTokens", needs=frozenset({"answer"}))

    @classmethod
    def texts(cls, block: Block) -> Sequence[str | None]:
        return [None if response is None else response.answer for response in block.responses]
