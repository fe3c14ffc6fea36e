"""Case files as a dataset: what a memory should find in documents of numbered units, and by which path.

Each case becomes an item, and the gold of the item holds the expectations of the case. Each numbered unit
becomes a passage (see `case_file` and `units`). A file with prime- and probe- cases is one sequence. Each
probe in it has a twin: the same question, asked without the primes.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.records import Document, Item, Passage, Tags
from assay.kinds.memory.datasets.case_file import CaseExpectation, CaseFile, CaseRecord, Layer, read_case_file

LABELS = {"relevance": "1: evidence that the case lists, 0: anything else"}
UNPROVEN: dict[Layer, tuple[str, ...]] = {
    "structured": (
        "documents that were not written for the test",
        "questions as people ask them at work",
        "final answers: only what is retrieved, and on which way, is checked",
    ),
    "private": (
        "anything to a reader who may not see the documents",
        "a general claim: only a private set was asked",
        "final answers: only what is retrieved, and on which way, is checked",
    ),
}
_PART = re.compile(r"(?:^|-)(prime|probe)-")
_MULTI_HOP = frozenset({"multi_hop", "multi-hop"})
_UNPRIMED = "unprimed"


@dataclass(frozen=True)
class Cases:
    """Cases over documents of numbered units.

    `path` is a case file, a folder of case files, a glob or a list of these. `layer` says what results
    support; one private file makes the whole set private. `unprimed` adds a twin of each probe, which is
    asked in a session of its own.
    """

    path: str | tuple[str, ...]
    layer: Layer = "structured"
    unprimed: bool = True

    def load(self, kit: Kit) -> Dataset:
        patterns = (self.path,) if isinstance(self.path, str) else self.path
        paths, problems = _named_files(patterns, kit)
        files = list[CaseFile]()
        for path in paths:
            file, wrong = read_case_file(path)
            problems += wrong
            files += [file] if file is not None else []
        first = kit.path(patterns[0]) if len(patterns) == 1 else None
        # the cases of one file that is named by itself keep their plain ids
        cases = _CaseCollection(plain_ids=first is not None and os.path.isfile(first))
        for file in files:
            cases.add(file, self.unprimed)
        if problems := [*problems, *cases.problems]:
            once = dict.fromkeys(problems)  # two files may share a broken document
            raise DataError(sorted(once, key=lambda problem: (problem.where, problem.line or 0)))
        layer: Layer = "private" if any(file.header.layer == "private" for file in files) else self.layer
        name = first.resolve().name if first is not None and os.path.isdir(first) else "cases"
        return Dataset(
            files[0].header.dataset_id if cases.plain_ids else name,
            Corpus(list(cases.passages.values()), cases.documents),
            cases.items,
            LABELS,
            list(dict.fromkeys(cases.warnings)),
            places=cases.pack_places() | cases.places,
            layer=layer,
            unproven=UNPROVEN[layer],
        )


def _named_files(patterns: Sequence[str], kit: Kit) -> tuple[list[Path], list[Problem]]:
    """Returns the case files that a study names, and a problem for each pattern that finds none."""
    if not patterns:
        return [], [Problem("no case file is named", str(kit.root), field="data.path", fix="Name one.")]
    paths: dict[Path, None] = {}
    problems = []
    for pattern in patterns:
        found = list(_files(pattern, kit))
        paths.update(dict.fromkeys(found))
        if not found:
            fix = "Name a case file, a folder of *.json or a glob, relative to the study."
            problems.append(Problem("there is no case file here", str(kit.path(pattern)), fix=fix))
    return list(paths), problems


def _files(pattern: str, kit: Kit) -> Iterator[Path]:
    path = kit.path(pattern)
    if os.path.isdir(path):
        yield from sorted(each for each in path.glob("*.json") if not each.name.startswith("."))
    elif os.path.isfile(path) or not glob.has_magic(pattern):
        yield from [path] if os.path.isfile(path) else []
    else:
        yield from sorted(
            each for each in map(kit.path, glob.glob(pattern, root_dir=kit.root)) if each.is_file()
        )


# ----------------------------------------------------------------------------------- all files


@dataclass
class _CaseCollection:
    """The cases of several files, and the problems between these files."""

    plain_ids: bool
    items: list[Item] = field(default_factory=list)
    passages: dict[str, Passage] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    origin: dict[str, CaseFile] = field(default_factory=dict)  # the file that first had each document
    datasets: dict[str, CaseFile] = field(default_factory=dict)

    def add(self, file: CaseFile, unprimed: bool) -> None:
        header, cases = file.header, file.cases.values()
        for stem, units in file.folder.units.items():
            self.warnings += units.warnings
            self._add_document(file, stem, units.document)
        for passage in file.folder.passages:
            self.passages.setdefault(passage.doc_id, passage)
        before = self.datasets.setdefault(header.dataset_id, file)
        if before is not file:
            what, fix = f"{before.path} has the same dataset_id", "Rename one of the two."
            self.problems.append(file.lines.problem(("dataset_id",), what, fix))
        if header.quality is not None:
            self.warnings += header.quality.doubts(header.dataset_id)
        self.warnings += [*_idle_parts(file), *_idle_scopes(file)]
        sequence = header.dataset_id if any(_part(case.case_id) for case in cases) else None
        scope = [passage.doc_id for passage in file.folder.passages]
        first = {case.case_id: index for index, case in reversed(file.cases.items())}
        for index, case in file.cases.items():
            if first[case.case_id] != index:
                continue  # the reader of the file reports the doubled id
            item_id = case.case_id if self.plain_ids else f"{header.dataset_id}/{case.case_id}"
            item = _item(item_id, case, file, sequence, scope)
            self._add_item(item, file, index)
            if unprimed and _part(case.case_id) == "probe":
                self._add_item(_twin(item), file, index)

    def _add_document(self, file: CaseFile, stem: str, document: Document) -> None:
        before = self.origin.setdefault(stem, file)
        known = self.documents.setdefault(stem, document)
        what = ""
        if known.text != document.text:
            what = f"the document {stem!r} has another text than that of {before.path}"
        elif before.header.domain_pack_name != file.header.domain_pack_name:
            what = f"the document {stem!r} is read with another domain pack in {before.path}"
        if what:
            fix = "Load the two files as two datasets, or rename one of the documents."
            self.problems.append(file.lines.problem(("document_directory",), what, fix))

    def _add_item(self, item: Item, file: CaseFile, index: int) -> None:
        place = file.place(index)
        before = self.places.get(item.item_id)
        if before is not None and self.datasets[file.header.dataset_id] is file:
            what = f"the item {item.item_id!r} is at {before.file}:{before.line} already"
            fix = f"Rename one of the two: a probe has a twin whose id ends in ~{_UNPRIMED}."
            self.problems.append(Problem(what, *place, "case_id", fix))
        self.places.setdefault(item.item_id, place)
        self.items.append(item)

    def pack_places(self) -> dict[str, Place]:
        """Returns the place where the domain pack of each document is named."""
        return {
            stem: Place(file.lines.where, file.lines.of(("domain_pack_name",)))
            for stem, file in self.origin.items()
        }


def _part(case_id: str) -> str | None:
    """Returns "prime" or "probe" if the id of a case has the word (prime-001, msa-probe-002), else None."""
    found = _PART.search(case_id)
    return found[1] if found else None


def _idle_parts(file: CaseFile) -> Iterator[str]:
    """Yields a warning for each probe without a prime before it, and for primes without a probe."""
    parts = {case.case_id: _part(case.case_id) for case in file.cases.values()}
    primed = False
    for case_id, part in parts.items():
        primed = primed or part == "prime"
        if part == "probe" and not primed:
            yield f"{file.path}: no prime- case comes before {case_id!r}, so that it probes nothing."
    if primed and "probe" not in parts.values():
        yield f"{file.path}: no probe- case follows its prime- cases, so that nothing shows what they did."


def _idle_scopes(file: CaseFile) -> Iterator[str]:
    for index, case in file.cases.items():
        if case.expectation.path_scope is not None and case.expectation.path is None:
            where, line = file.place(index)
            yield f"{where}:{line}: {case.case_id!r} has a path_scope, but no path that it could narrow."


# --------------------------------------------------------------------------------- one item


def _item(item_id: str, case: CaseRecord, file: CaseFile, sequence: str | None, scope: list[str]) -> Item:
    wanted, tags = case.expectation, case.tags or []
    several = len(set(wanted.evidence_node_ids)) > 1 or not _MULTI_HOP.isdisjoint(tags)
    every: Tags = {
        "tag": list(tags),
        "part": [_part(case.case_id) or "case"],
        "dataset": [file.header.dataset_id],
        "pack": [file.header.domain_pack_name],
        "multi_hop": ["yes" if several else "no"],
    }
    used = {key: values for key, values in every.items() if values}
    return Item(item_id, case.query, tags=used, gold=gold_of(wanted), sequence=sequence, scope=scope)


def _twin(probe: Item) -> Item:
    """Returns the same question as an item outside the sequence, to compare the probe with."""
    return Item(
        f"{probe.item_id}~{_UNPRIMED}",
        probe.text,
        tags={**probe.tags, "part": [_UNPRIMED]},
        gold={"unprimed_of": probe.item_id},
        scope=probe.scope,
    )


def gold_of(wanted: CaseExpectation) -> dict[str, Any]:
    """Returns an expectation as the gold of an item, without empty lists and absent fields."""
    gold: dict[str, Any] = {
        "relevant": dict.fromkeys(wanted.evidence_node_ids, 1.0),
        "minimum_evidence_matches": wanted.minimum_evidence_matches,
    }
    if wanted.path is not None:
        gold["path"] = wanted.path.model_dump()
        gold["path_scope"] = wanted.path_scope or "any_path"
    if wanted.activation_trace is not None:
        gold["activation_trace"] = wanted.activation_trace.model_dump(exclude_none=True)
    rest = wanted.model_dump(
        exclude={*gold, "evidence_node_ids", "path", "path_scope", "activation_trace"}, exclude_none=True
    )
    return {**gold, **{name: value for name, value in rest.items() if value != []}}
