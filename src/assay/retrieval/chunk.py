"""Chunkers of plain text: by tokens, by sentences, or not at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import Tokenizer, Tokens
from assay.core.records import Document, Passage, Span
from assay.core.registry import TOKENIZERS
from assay.retrieval.sentences import sentence_spans, trimmed
from assay.retrieval.tokens import O200kBase, release

if TYPE_CHECKING:
    from assay.core.protocols import Kit


@dataclass(frozen=True)
class Whole:
    """Every document is one passage."""

    version: ClassVar[str] = "1"

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        return [passage(each, Span(0, len(each.text))) for each in documents if each.text.strip()]


@dataclass(frozen=True)
class ByTokens:
    """Windows of `size` tokens, each sharing its first `overlap` tokens with the one before.

    Tokens are those of the document as a whole. The last window of a document may be shorter, white space
    around a window is left out, and no window lies inside the one before it.
    """

    size: int = 200
    overlap: int = 0
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        at_least(1, size=self.size)
        at_least(0, overlap=self.overlap)
        if self.overlap >= self.size:
            raise UsageError(
                f"An overlap of {self.overlap} tokens leaves nothing new in windows of {self.size}. "
                "Give an overlap below the size."
            )

    def identity(self, kit: Kit) -> str:
        return made_with(self.tokenizer, kit)

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        tokens = self.tokenizer.load(kit)
        return [
            passage(document, span)
            for document in documents
            for span in TokenLine(document.text, tokens).windows(
                Span(0, len(document.text)), self.size, self.overlap
            )
        ]


@dataclass(frozen=True)
class BySentences:
    """As many whole sentences as fit in `tokens` tokens, and no more than `count` (none: no such limit).

    A passage begins with the last `overlap` sentences of the one before, as far as they fit beside a new
    one. A sentence of more than `tokens` tokens is cut into windows, which then stand for sentences.
    """

    tokens: int | None = 200
    count: int | None = None
    overlap: int = 0
    language: str = "en"
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        at_least(1, tokens=self.tokens, count=self.count)
        at_least(0, overlap=self.overlap)
        if self.tokens is None and self.count is None:
            raise UsageError("Sentences need a limit. Give tokens, count or both.")
        if self.count is not None and self.overlap >= self.count:
            raise UsageError(
                f"An overlap of {self.overlap} sentences leaves nothing new in passages of {self.count}. "
                "Give an overlap below the count."
            )

    def identity(self, kit: Kit) -> str:
        return made_with(self.tokenizer, kit, "sentencex")

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        tokens = self.tokenizer.load(kit)
        return [
            passage(document, span) for document in documents for span in self._spans(document.text, tokens)
        ]

    def _spans(self, text: str, tokens: Tokens) -> Iterator[Span]:
        line = TokenLine(text, tokens)
        return line.packed(sentence_spans(text, self.language), self.tokens, self.count, self.overlap)


class TokenLine:
    """The tokens of a text laid out along it, to measure and cut stretches of the text."""

    def __init__(self, text: str, tokens: Tokens) -> None:
        self.text = text
        spans = tokens.spans(text)
        self._starts = np.fromiter((span.start for span in spans), np.int64, len(spans))
        self._ends = np.fromiter((span.end for span in spans), np.int64, len(spans))

    def reach(self, spans: Sequence[Span]) -> tuple[list[int], list[int]]:
        """The first token in each span, and the first after it; one that lies across an edge is in it."""
        starts = [span.start for span in spans]
        across = np.searchsorted(self._ends, starts, side="right")
        first = np.minimum(np.searchsorted(self._starts, starts, side="left"), across)
        after = np.searchsorted(self._starts, [span.end for span in spans], side="left")
        return first.tolist(), after.tolist()

    def windows(self, span: Span, size: int, overlap: int = 0) -> Iterator[Span]:
        """Windows of `size` tokens over a span, less white space, each with something new at its end."""
        (first,), (after,) = self.reach([span])
        covered = span.start
        for start in range(first, after, size - overlap):
            last = min(start + size, after) - 1
            edges = max(int(self._starts[start]), span.start), min(int(self._ends[last]), span.end)
            window = trimmed(self.text, Span(*edges))
            if window is not None and window.end > covered:
                covered = window.end
                yield window

    def packed(
        self, units: Iterable[Span], tokens: int | None, count: int | None = None, overlap: int = 0
    ) -> Iterator[Span]:
        """Stretches of as many neighbouring units as both limits allow; a unit above `tokens` is cut."""
        limit, most = tokens or math.inf, count or math.inf
        fitting = list(self._fitting(list(units), tokens))
        first, after = self.reach(fitting)
        done = 0
        while done < len(fitting):
            start = max(done - overlap, 0)
            while start < done and after[done] - first[start] > limit:
                start += 1
            done += 1
            while done < len(fitting) and done - start < most and after[done] - first[start] <= limit:
                done += 1
            yield Span(fitting[start].start, fitting[done - 1].end)

    def _fitting(self, units: Sequence[Span], tokens: int | None) -> Iterator[Span]:
        for unit, first, after in zip(units, *self.reach(units), strict=True):
            if tokens is None or after - first <= tokens:
                yield unit
            else:
                yield from self.windows(unit, tokens)


def passage(document: Document, span: Span, section: str | None = None, shown: str | None = None) -> Passage:
    """A stretch of a document as a passage of its own; `shown` is its text where that is not the source."""
    return Passage(
        doc_id=f"{document.doc_id}#{span.start}-{span.end}",
        text=document.text[span.start : span.end] if shown is None else shown,
        title=document.title,
        source=document.doc_id,
        span=span,
        section=section,
        metadata=document.metadata,
    )


def at_least(least: int, **values: int | None) -> None:
    """Refuses a parameter below the least that makes sense."""
    for name, value in values.items():
        if value is not None and value < least:
            raise UsageError(f"{name} is {value}. Give {least} or more.")


def made_with(tokenizer: Tokenizer, kit: Kit, *packages: str) -> str:
    """What decides where a chunker cuts, beside its parameters: packages, and what its tokenizer says."""
    own = getattr(tokenizer, "identity", None)
    return ", ".join([*map(release, packages), *([own(kit)] if own is not None else [])])
