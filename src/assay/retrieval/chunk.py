"""Cuts documents into passages: by tokens, by sentences, or not at all; and cuts a dataset again.

Gold names the original passages of the dataset, its *units*. When a dataset is cut again, gold does not
change. A hit on a new passage counts as the units that the passage covers, in their order. A passage covers a
unit if they share at least half of the text of the shorter of the two. Each covered unit takes a place in the
ranking. So the scores of several chunkings are about the same units, and a passage that covers ten units
takes ten places. If the dataset came as whole documents only, there are no units: gold points at text, and a
hit is the passage itself.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
import numpy as np

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem, UsageError
from assay.core.parts import Chunker, Tokenizer, Tokens
from assay.core.protocols import Kit
from assay.core.records import Document, Item, Passage, Span
from assay.core.registry import TOKENIZERS
from assay.retrieval.tokens import O200kBase, package_release, sentence_spans, trim_span

if TYPE_CHECKING:
    from assay.core.protocols import Kit


@dataclass(frozen=True)
class WholeDocuments:
    """Makes each document one passage."""

    first_address: ClassVar[str] = "assay.retrieval.chunk:Whole"
    version: ClassVar[str] = "1"

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        return [make_passage(each, Span(0, len(each.text))) for each in documents if each.text.strip()]


@dataclass(frozen=True)
class TokenWindows:
    """Windows of `size` tokens. Each window shares its first `overlap` tokens with the window before it.

    Tokens are counted in the whole document. The last window of a document may be shorter. White space around
    a window is left out, and no window lies inside the window before it.
    """

    size: int = 200
    overlap: int = 0
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    first_address: ClassVar[str] = "assay.retrieval.chunk:ByTokens"
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        check_at_least(1, size=self.size)
        check_at_least(0, overlap=self.overlap)
        if self.overlap >= self.size:
            raise UsageError(
                f"An overlap of {self.overlap} tokens leaves nothing new in windows of {self.size}. "
                "Give an overlap below the size."
            )

    def identity(self, kit: Kit) -> str:
        return cutter_identity(self.tokenizer, kit)

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        tokens = self.tokenizer.load(kit)
        return [
            make_passage(document, span)
            for document in documents
            for span in TokenLine(document.text, tokens).windows(
                Span(0, len(document.text)), self.size, self.overlap
            )
        ]


@dataclass(frozen=True)
class SentenceGroups:
    """As many whole sentences as fit in `tokens` tokens, and at most `count` sentences (None: no limit).

    A passage begins with the last `overlap` sentences of the passage before it, as far as they fit together
    with a new sentence. A sentence of more than `tokens` tokens is cut into windows, which then count as
    sentences.
    """

    tokens: int | None = 200
    count: int | None = None
    overlap: int = 0
    language: str = "en"
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    first_address: ClassVar[str] = "assay.retrieval.chunk:BySentences"
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        check_at_least(1, tokens=self.tokens, count=self.count)
        check_at_least(0, overlap=self.overlap)
        if self.tokens is None and self.count is None:
            raise UsageError("Sentences need a limit. Give tokens, count or both.")
        if self.count is not None and self.overlap >= self.count:
            raise UsageError(
                f"An overlap of {self.overlap} sentences leaves nothing new in passages of {self.count}. "
                "Give an overlap below the count."
            )

    def identity(self, kit: Kit) -> str:
        return cutter_identity(self.tokenizer, kit, "sentencex")

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        tokens = self.tokenizer.load(kit)
        return [
            make_passage(document, span)
            for document in documents
            for span in self._spans(document.text, tokens)
        ]

    def _spans(self, text: str, tokens: Tokens) -> Iterator[Span]:
        line = TokenLine(text, tokens)
        return line.packed(sentence_spans(text, self.language), self.tokens, self.count, self.overlap)


class TokenLine:
    """The places of the tokens of a text, used to measure and cut parts of the text."""

    def __init__(self, text: str, tokens: Tokens) -> None:
        self.text = text
        spans = tokens.spans(text)
        self._starts = np.fromiter((span.start for span in spans), np.int64, len(spans))
        self._ends = np.fromiter((span.end for span in spans), np.int64, len(spans))

    def reach(self, spans: Sequence[Span]) -> tuple[list[int], list[int]]:
        """Returns the first token of each span, and the first token after each span.

        A token that crosses an edge of a span belongs to the span.
        """
        starts = [span.start for span in spans]
        across = np.searchsorted(self._ends, starts, side="right")
        first = np.minimum(np.searchsorted(self._starts, starts, side="left"), across)
        after = np.searchsorted(self._starts, [span.end for span in spans], side="left")
        return first.tolist(), after.tolist()

    def windows(self, span: Span, size: int, overlap: int = 0) -> Iterator[Span]:
        """Yields windows of `size` tokens over a span, without white space around them.

        A window that adds no text at its end is left out.
        """
        (first,), (after,) = self.reach([span])
        covered = span.start
        for start in range(first, after, size - overlap):
            last = min(start + size, after) - 1
            edges = max(int(self._starts[start]), span.start), min(int(self._ends[last]), span.end)
            window = trim_span(self.text, Span(*edges))
            if window is not None and window.end > covered:
                covered = window.end
                yield window

    def packed(
        self, units: Iterable[Span], tokens: int | None, count: int | None = None, overlap: int = 0
    ) -> Iterator[Span]:
        """Yields stretches of as many adjacent units as both limits allow. A unit above `tokens` is cut."""
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


def make_passage(
    document: Document, span: Span, section: str | None = None, shown: str | None = None
) -> Passage:
    """Makes a passage of a stretch of a document.

    `shown` is the text of the passage if it differs from the source.
    """
    return Passage(
        doc_id=f"{document.doc_id}#{span.start}-{span.end}",
        text=document.text[span.start : span.end] if shown is None else shown,
        title=document.title,
        source=document.doc_id,
        span=span,
        section=section,
        metadata=document.metadata,
    )


def check_at_least(least: int, **values: int | None) -> None:
    """Raises a UsageError if a parameter is below its minimum."""
    for name, value in values.items():
        if value is not None and value < least:
            raise UsageError(f"{name} is {value}. Give {least} or more.")


def cutter_identity(tokenizer: Tokenizer, kit: Kit, *packages: str) -> str:
    """Returns what decides the cuts besides the parameters: versions of packages, and the tokenizer."""
    own = getattr(tokenizer, "identity", None)
    return ", ".join([*map(package_release, packages), *([own(kit)] if own is not None else [])])


def rechunk(dataset: Dataset, chunker: Chunker, kit: Kit) -> Dataset:
    """Returns the dataset with the same items and documents, but with passages that a chunker cuts."""
    documents = _documents(dataset)
    passages = chunker.cut(list(documents.values()), kit)
    units = _covered_units(passages, dataset.corpus)
    covered_by: dict[str, list[str]] = {}
    for doc_id, covered in units.items():
        for unit in covered:
            covered_by.setdefault(unit, []).append(doc_id)
    items = [_rescope(item, covered_by) for item in dataset.items]
    corpus = Corpus(passages, documents, units, before=dataset.corpus)
    warnings = [*dataset.warnings, *_warn_of_lost_units(dataset, covered_by)]
    return dataclasses.replace(dataset, corpus=corpus, items=items, warnings=warnings)


def _documents(dataset: Dataset) -> dict[str, Document]:
    """Returns all documents. A passage without a source document counts as a document of its own."""
    documents, missing = dict(dataset.corpus.documents), []
    for passage in dataset.corpus.passages:
        if passage.source is None:
            own = Document(passage.doc_id, passage.text, passage.title, passage.metadata)
            documents.setdefault(passage.doc_id, own)
        elif passage.source not in documents or passage.span is None:
            missing.append(passage)
    if missing:
        first = missing[0]
        lacks = "the span" if first.source in documents else f"the document {first.source!r}"
        what = f"{lacks} of the passage {first.doc_id!r} is missing, and of {len(missing) - 1} others"
        fix = "Add documents.jsonl and each passage's span, or study the passages as they are."
        raise DataError(Problem(what, dataset.name, field="chunk", fix=fix))
    return documents


def _warn_of_lost_units(dataset: Dataset, covered_by: Mapping[str, Sequence[str]]) -> list[str]:
    """Warns if gold names units that no new passage covers: no search could find them."""
    named = {unit for item in dataset.items for unit in item.gold.get("relevant", {})}
    lost = sorted(unit for unit in named if unit in dataset.corpus.position and unit not in covered_by)
    if not lost:
        return []
    some = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
    return [f"{len(lost)} passages that gold names are in no passage of this chunking ({some})"]


def _place_of(passage: Passage) -> tuple[str, Span]:
    """Returns the id of a passage's document, and the place of the passage in it."""
    source = passage.source or passage.doc_id
    whole = Span(0, len(passage.text))
    return source, whole if passage.source is None or passage.span is None else passage.span


def _covered_units(passages: Sequence[Passage], before: Corpus) -> dict[str, tuple[str, ...]]:
    old: dict[str, list[tuple[Span, str]]] = {}
    for passage in before.passages:
        source, span = _place_of(passage)
        old.setdefault(source, []).append((span, passage.doc_id))
    for inside in old.values():
        inside.sort(key=lambda each: (each[0].start, each[0].end))
    ends = {source: _running_ends(inside) for source, inside in old.items()}
    units = {}
    for passage in passages:
        source, span = _place_of(passage)
        inside = old.get(source, [])
        first = bisect.bisect_right(ends.get(source, []), span.start)
        last = bisect.bisect_left(inside, span.end, key=lambda each: each[0].start)
        found = tuple(unit for other, unit in inside[first:last] if _overlap_by_half(span, other))
        if found:
            units[passage.doc_id] = found
    return units


def _running_ends(inside: Sequence[tuple[Span, str]]) -> list[int]:
    """Returns the largest end up to each place, to skip the units that end before a passage begins."""
    ends, furthest = [], 0
    for span, _ in inside:
        furthest = max(furthest, span.end)
        ends.append(furthest)
    return ends


def _overlap_by_half(one: Span, other: Span) -> bool:
    shared = one.overlap(other)
    return shared > 0 and 2 * shared >= min(one.end - one.start, other.end - other.start)


def _rescope(item: Item, covered_by: Mapping[str, Sequence[str]]) -> Item:
    """Returns the item with the new passages as its scope: those that cover a passage of the old scope."""
    if item.scope is None:
        return item
    scope = dict.fromkeys(doc_id for unit in item.scope for doc_id in covered_by.get(unit, ()))
    return msgspec.structs.replace(item, scope=list(scope))
