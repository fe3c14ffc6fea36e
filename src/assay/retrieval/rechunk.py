"""A dataset cut anew, with its gold untouched.

Gold names the passages of the dataset as it came: its *units*. A hit on a new passage counts as the units it
stands for, in their order: those it shares at least half of its own text, or half of theirs, with. Each unit
takes a place in the ranking. So figures of several chunkings are about the same things, and a passage that
stands for ten units pays for ten places. Where the dataset came uncut, as documents alone, there are no
units: gold points at text, and a hit is the passage it names.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Mapping, Sequence

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem
from assay.core.parts import Chunker
from assay.core.protocols import Kit
from assay.core.records import Document, Item, Passage, Span


def rechunked(dataset: Dataset, chunker: Chunker, kit: Kit) -> Dataset:
    """The same items over the same documents, cut by a chunker."""
    documents = _documents(dataset)
    passages = chunker.cut(list(documents.values()), kit)
    units = _units(passages, dataset.corpus)
    standing_for: dict[str, list[str]] = {}
    for doc_id, stands_for in units.items():
        for unit in stands_for:
            standing_for.setdefault(unit, []).append(doc_id)
    items = [_rescoped(item, standing_for) for item in dataset.items]
    corpus = Corpus(passages, documents, units, before=dataset.corpus)
    warnings = [*dataset.warnings, *_lost(dataset, standing_for)]
    return dataclasses.replace(dataset, corpus=corpus, items=items, warnings=warnings)


def _documents(dataset: Dataset) -> dict[str, Document]:
    """All documents; a passage that was cut from none is its own."""
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


def _lost(dataset: Dataset, standing_for: Mapping[str, Sequence[str]]) -> list[str]:
    """A warning where gold names what no new passage stands for: nobody could find it."""
    named = {unit for item in dataset.items for unit in item.gold.get("relevant", {})}
    lost = sorted(unit for unit in named if unit in dataset.corpus.position and unit not in standing_for)
    if not lost:
        return []
    some = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
    return [f"{len(lost)} passages that gold names are in no passage of this chunking ({some})"]


def _place(passage: Passage) -> tuple[str, Span]:
    """The document a passage lies in, and where."""
    source = passage.source or passage.doc_id
    whole = Span(0, len(passage.text))
    return source, whole if passage.source is None or passage.span is None else passage.span


def _units(passages: Sequence[Passage], before: Corpus) -> dict[str, tuple[str, ...]]:
    old: dict[str, list[tuple[Span, str]]] = {}
    for passage in before.passages:
        source, span = _place(passage)
        old.setdefault(source, []).append((span, passage.doc_id))
    for inside in old.values():
        inside.sort(key=lambda each: (each[0].start, each[0].end))
    ends = {source: _running_ends(inside) for source, inside in old.items()}
    units = {}
    for passage in passages:
        source, span = _place(passage)
        inside = old.get(source, [])
        first = bisect.bisect_right(ends.get(source, []), span.start)
        last = bisect.bisect_left(inside, span.end, key=lambda each: each[0].start)
        found = tuple(unit for other, unit in inside[first:last] if _same(span, other))
        if found:
            units[passage.doc_id] = found
    return units


def _running_ends(inside: Sequence[tuple[Span, str]]) -> list[int]:
    """The furthest end so far, which never falls: what ends before a passage begins can be skipped."""
    ends, furthest = [], 0
    for span, _ in inside:
        furthest = max(furthest, span.end)
        ends.append(furthest)
    return ends


def _same(one: Span, other: Span) -> bool:
    shared = one.overlap(other)
    return shared > 0 and 2 * shared >= min(one.end - one.start, other.end - other.start)


def _rescoped(item: Item, standing_for: Mapping[str, Sequence[str]]) -> Item:
    """The item with its scope in new passages: those that stand for a passage of the old one."""
    if item.scope is None:
        return item
    scope = dict.fromkeys(doc_id for unit in item.scope for doc_id in standing_for.get(unit, ()))
    return msgspec.structs.replace(item, scope=list(scope))
