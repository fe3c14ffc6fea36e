"""Traced: the answers and traces of a memory or hierarchy that ran elsewhere, read from its files.

The engine needs no code of ours. It writes one JSON line per item, and one per node or edge if it publishes
its graph or tree. `docs/external-memories.md` and `docs/external-hierarchies.md` describe both files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Item, Query, Response, Structure
from assay.datasets.reading import FolderReader, missing_passages
from assay.datasets.trec_files import read_bytes
from assay.systems.imported import ABSENT
from assay.systems.traced_file import EngineFiles, TracedAnswer, TracedLine, parts_held, read_engine
from assay.systems.traced_steps import RACE, ROUTE, VISITED
from assay.systems.traced_structure import PublishedStructure


@dataclass(frozen=True)
class TracedIndex:
    """The lines of a file by item. No query changes them, so the index is its own session."""

    kept: Mapping[str, TracedLine]
    published: PublishedStructure

    def session(self) -> TracedIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """Returns the file's answer for the item, with its seconds; a fault if the file has none."""
        if (line := self.kept.get(query.item_id)) is None:
            return Response(error=ABSENT)
        response = line.answer.response(self.published.passage_of)
        held = {context.budget: context for context in response.contexts}
        if held and (lost := [budget for budget in budgets if budget not in held]):
            which = ", ".join("inf" if budget is None else str(budget) for budget in lost)
            return Response(error=Fault(ABSENT.kind, f"the file has no context for the budget {which}"))
        response.contexts = [held[budget] for budget in budgets] if held else []
        return response


@dataclass(frozen=True)
class TracedStructureIndex(TracedIndex):
    """The lines of a file by item, and the graph or tree of the engine."""

    corpus: Corpus

    def structure(self) -> Structure:
        """Returns the part of the graph over the corpus."""
        return self.published.within(self.corpus)


@dataclass(frozen=True)
class Traced:
    """Answers by `item_id` with their traces, from the JSONL file of an engine that ran elsewhere.

    `structure` is the JSONL file of the engine's graph or tree, if the engine publishes one. An item without
    a line was never asked: it fails with the fault `absent`, so that it never counts as a miss. An item whose
    line lacks a requested context fails in the same way. Seconds are those of the file.
    """

    path: str
    structure: str = ""
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "trace"})
    seeded: ClassVar[bool] = False
    origin: ClassVar[str] = "imported"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> TracedIndex:
        engine = self._engine(kit)
        if engine.problems:
            raise DataError(engine.problems)
        by_item = {line.item_id: line for line in engine.answers.records}
        if engine.published is None:
            return TracedIndex(by_item, PublishedStructure())
        return TracedStructureIndex(by_item, engine.published, corpus)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns the problems in the files, and signs that the files are about other data."""
        engine = self._engine(kit)
        return [*engine.problems, *_foreign_items(engine, dataset), *_foreign_nodes(engine, dataset)]

    def gives_in(self, kit: Kit) -> frozenset[str]:
        """Returns the parts that responses can have: hits, traces, and the parts that any line has."""
        return self.gives | parts_held(self._files(kit)[0])

    def identity(self, kit: Kit) -> str:
        """Hashes the content of the files. A packed file has the same hash."""
        return digest(map(read_bytes, self._files(kit)))

    def _files(self, kit: Kit) -> list[Path]:
        """Returns the paths of the files, with the gzipped form if only that form exists."""
        named = [kit.path(each) for each in (self.path, self.structure) if each]
        return [FolderReader(path.parent).find(path.name) or path for path in named]

    @cached_property
    def _read(self) -> dict[object, EngineFiles]:
        """A cache of the last files: every scope has its own index, and all indexes need the same files."""
        return {}

    def _engine(self, kit: Kit) -> EngineFiles:
        try:
            states = [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in self._files(kit)]
        except (OSError, DataError):
            states = []  # reading reports the problem
        if not states or (engine := self._read.get(tuple(states))) is None:
            structure = kit.path(self.structure) if self.structure else None
            engine = read_engine(kit.path(self.path), structure)
            self._read.clear()
            self._read[tuple(states)] = engine
        return engine


def _foreign_items(engine: EngineFiles, dataset: Dataset) -> Iterator[Problem]:
    """Yields lines for items that the dataset does not have. (An item without a line fails as absent.)"""
    known = {item.item_id for item in dataset.items}
    where = engine.answers.where
    lost = [(line, kept.item_id) for line, kept in engine.answers if kept.item_id not in known]
    if known and lost and len(lost) == len(engine.answers.records):
        here, there = lost[0][1], dataset.items[0].item_id
        what = f"no item_id of the dataset occurs here: here {here!r}, there {there!r}"
        fix = "Check that file and dataset belong together and write ids the same way."
        yield Problem(what, where, fix=fix)
        return
    for line, item_id in lost:
        fix = "Add the item to the dataset, or remove the line."
        yield Problem(f"there is no item {item_id!r}", where, line, "item_id", fix)


def _foreign_nodes(engine: EngineFiles, dataset: Dataset) -> Iterator[Problem]:
    """Yields nodes that are unknown to the structure and are not passages in the item's scope."""
    published, position = engine.published or PublishedStructure(), dataset.corpus.position
    for node_id, node in published.nodes.items():
        if node.doc_id is not None and node.doc_id not in position:
            yield missing_passages(
                [node.doc_id], engine.published_where, engine.node_lines[node_id], "node.doc_id"
            )
    items = {item.item_id: item for item in dataset.items}
    for line, kept in engine.answers:
        if (item := items.get(kept.item_id)) is None:
            continue
        answer = kept.answer
        yield from _displaced(answer, dataset.corpus, engine.answers.where, line)
        for field, named in _named(answer, structured=engine.published is not None).items():
            if lost := [*_unknown(named, item, published, position)]:
                problem = missing_passages(lost, engine.answers.where, line, field)
                what, fix = problem.what, "Write ids as the dataset does, or add the nodes to the structure."
                if all(published.passage_of(node_id) in position for node_id in lost):
                    what = what.replace("in the corpus", "in the scope of the item")
                yield replace(problem, what=what, fix=fix)


def _named(answer: TracedAnswer, *, structured: bool) -> dict[str, dict[str, None]]:
    """Returns the distinct nodes that an answer names, by the field that names them.

    The targets of races and counts are not nodes. If there is a tree, the ends of routing steps are checked
    against the tree and not here.
    """
    skipped = {RACE, VISITED, ROUTE} if structured else {RACE, VISITED}
    steps = (step for step in answer.trace if step.kind not in skipped)
    ends = (end for step in steps for end in (step.source, step.target) if end is not None)
    pieces = (piece.doc_id for context in answer.contexts or () for piece in context.pieces)
    return {
        "hits": dict.fromkeys(each.doc_id for each in answer.returned),
        "contexts": dict.fromkeys(pieces),
        "trace": dict.fromkeys(ends),
    }


def _displaced(answer: TracedAnswer, corpus: Corpus, where: str, line: int) -> Iterator[Problem]:
    """Yields pieces whose text differs from the corpus text at their position."""
    for at, context in enumerate(answer.contexts or ()):
        for number, piece in enumerate(context.pieces):
            text = corpus.text_of(corpus.document_of(piece.doc_id))
            if text is not None and piece.span is not None and text[piece.start : piece.end] != piece.text:
                what = f"another text is at [{piece.start}, {piece.end}) of {piece.doc_id!r}"
                fix = "Count characters of the document, or leave start and end out: its words count then."
                yield Problem(what, where, line, f"contexts[{at}].pieces[{number}]", fix)


def _unknown(
    named: Iterable[str], item: Item, published: PublishedStructure, position: Mapping[str, int]
) -> Iterator[str]:
    """Yields the named nodes that are not in the item's scope. A node without a passage is in every scope."""
    scope = None if item.scope is None else set(item.scope)
    for node_id in named:
        passage = published.passage_of(node_id)
        inside = passage in position if scope is None else passage in scope
        if not inside and (passage in position or node_id not in published.nodes):
            yield node_id
