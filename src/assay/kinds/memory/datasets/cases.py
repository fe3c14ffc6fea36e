"""Case files: what a memory should find, and on which way, in documents of numbered units.

Each case becomes an item, whose gold holds its expectations, and each numbered unit a passage (see
`case_file` and `units`). A file with prime- and probe- cases is one sequence; for each probe there is a twin
that is asked without the primes.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
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
        "a general claim: a private set alone supports none",
        "final answers: only what is retrieved, and on which way, is checked",
    ),
}
_PART = re.compile(r"(?:^|-)(prime|probe)-")
_MULTI_HOP = frozenset({"multi_hop", "multi-hop"})
_UNPRIMED = "unprimed"


@dataclass(frozen=True)
class Cases:
    """Cases over documents of numbered units.

    `path` is a case file, a folder of them, a glob or a list of these. `layer` says what results support;
    a file that calls itself private makes the whole set private. `unprimed` adds a twin of each probe that is
    asked in a session of its own.
    """

    path: str | tuple[str, ...]
    layer: Layer = "structured"
    unprimed: bool = True

    def load(self, kit: Kit) -> Dataset:
        named = self._named(kit)
        files, problems = list[CaseFile](), list(named.problems)
        for path in named.paths:
            file, wrong = read_case_file(path)
            problems += wrong
            files += [file] if file is not None else []
        gathered = _CaseCollection(named.single)
        for file in files:
            gathered.add(file, self.unprimed)
        if problems := [*problems, *gathered.problems]:
            once = dict.fromkeys(problems)  # two files may share a broken document
            raise DataError(sorted(once, key=lambda problem: (problem.where, problem.line or 0)))
        layer: Layer = "private" if any(file.header.layer == "private" for file in files) else self.layer
        name = files[0].header.dataset_id if named.single else named.name
        return Dataset(
            name,
            Corpus(list(gathered.passages.values()), gathered.documents),
            gathered.items,
            LABELS,
            list(dict.fromkeys(gathered.warnings)),
            places=gathered.whereabouts,
            layer=layer,
            unproven=UNPROVEN[layer],
        )

    def _named(self, kit: Kit) -> _Named:
        """The case files that the study names."""
        patterns = (self.path,) if isinstance(self.path, str) else self.path
        paths: dict[Path, None] = {}
        problems = []
        for pattern in patterns:
            found = list(_files(pattern, kit))
            paths.update(dict.fromkeys(found))
            if not found:
                fix = "Name a case file, a folder of *.json or a glob, relative to the study."
                problems.append(Problem("no case file lies here", str(kit.path(pattern)), fix=fix))
        if not patterns:
            problems.append(
                Problem("no case file is named", str(kit.root), field="data.path", fix="Name one.")
            )
        single = len(patterns) == 1 and os.path.isfile(kit.path(patterns[0]))
        folder = len(patterns) == 1 and os.path.isdir(kit.path(patterns[0]))
        name = kit.path(patterns[0]).resolve().name if folder else "cases"
        return _Named(list(paths), single, name, problems)


@dataclass(frozen=True)
class _Named:
    paths: list[Path]
    single: bool  # one file by its own name: its cases keep their plain ids
    name: str
    problems: list[Problem]


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
    """What several case files add up to."""

    single: bool
    items: list[Item] = field(default_factory=list)
    passages: dict[str, Passage] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    origin: dict[str, CaseFile] = field(default_factory=dict)  # of each document
    datasets: dict[str, CaseFile] = field(default_factory=dict)

    def add(self, file: CaseFile, unprimed: bool) -> None:
        """Takes in one file, unless what it says has another meaning in one before it."""
        for stem, units in file.folder.units.items():
            self.warnings += units.warnings
            self._take(file, stem, units.document)
        for passage in file.folder.passages:
            self.passages.setdefault(passage.doc_id, passage)
        self._unique(file)
        self.warnings += [*_doubts(file), *_idle_parts(file), *_idle_scopes(file)]
        sequence = file.header.dataset_id if any(map(_part, _ids(file))) else None
        scope = [passage.doc_id for passage in file.folder.passages]
        first = {case.case_id: index for index, case in reversed(file.cases.items())}
        for index, case in file.cases.items():
            if first[case.case_id] != index:
                continue  # the file itself was told of
            item = _item(case, file, sequence, scope, self.single)
            twin = [_twin(item)] if unprimed and _part(case.case_id) == "probe" else []
            for each in (item, *twin):
                self._add_item(each, file, index)

    def _take(self, file: CaseFile, stem: str, document: Document) -> None:
        before = self.origin.setdefault(stem, file)
        known = self.documents.setdefault(stem, document)
        loc = ("document_directory",)
        fix = "Load the two files as two datasets, or rename one of the documents."
        if known.text != document.text:
            what = f"the document {stem!r} has another text than that of {before.path}"
            self.problems.append(file.lines.problem(loc, what, fix))
        elif before.header.domain_pack_name != file.header.domain_pack_name:
            what = f"the document {stem!r} is read with another domain pack in {before.path}"
            self.problems.append(file.lines.problem(loc, what, fix))

    def _unique(self, file: CaseFile) -> None:
        before = self.datasets.setdefault(file.header.dataset_id, file)
        if before is not file:
            what, fix = f"{before.path} has the same dataset_id", "Rename one of the two."
            self.problems.append(file.lines.problem(("dataset_id",), what, fix))

    def _add_item(self, item: Item, file: CaseFile, index: int) -> None:
        place = file.place(index)
        before = self.places.get(item.item_id)
        if before is not None and self.datasets[file.header.dataset_id] is file:
            what = f"the item {item.item_id!r} stands at {before.file}:{before.line} already"
            fix = f"Rename one of the two: a probe has a twin whose id ends in ~{_UNPRIMED}."
            self.problems.append(Problem(what, *place, "case_id", fix))
        self.places.setdefault(item.item_id, place)
        self.items.append(item)

    @property
    def whereabouts(self) -> dict[str, Place]:
        """Where items stand and, of documents, where their domain pack is named; an item's id goes first."""
        packs = {
            stem: Place(file.lines.where, file.lines.of(("domain_pack_name",)))
            for stem, file in self.origin.items()
        }
        return packs | self.places


def _ids(file: CaseFile) -> list[str]:
    return [case.case_id for case in file.cases.values()]


def _part(case_id: str) -> str | None:
    """Whether a case primes, probes, or neither: prime-001, probe-009, msa-probe-002."""
    found = _PART.search(case_id)
    return found[1] if found else None


def _doubts(file: CaseFile) -> list[str]:
    """Why its labels may not hold, where it says how far people agreed on them."""
    quality = file.header.quality
    return [] if quality is None else quality.doubts(file.header.dataset_id)


def _idle_parts(file: CaseFile) -> Iterator[str]:
    """Probes that nothing primes, and primes that nothing probes."""
    parts = {case_id: _part(case_id) for case_id in _ids(file)}
    primed = False
    for case_id, part in parts.items():
        primed = primed or part == "prime"
        if part == "probe" and not primed:
            yield f"{file.path}: no prime- case stands before {case_id!r}, so that it probes nothing."
    if primed and "probe" not in parts.values():
        yield f"{file.path}: no probe- case follows its prime- cases, so that nothing shows what they did."


def _idle_scopes(file: CaseFile) -> Iterator[str]:
    for index, case in file.cases.items():
        if case.expectation.path_scope is not None and case.expectation.path is None:
            where, line = file.place(index)
            yield f"{where}:{line}: {case.case_id!r} has a path_scope, but no path that it could narrow."


# --------------------------------------------------------------------------------- one item


def _item(case: CaseRecord, file: CaseFile, sequence: str | None, scope: list[str], single: bool) -> Item:
    header, wanted, tags = file.header, case.expectation, case.tags or []
    several = len(set(wanted.evidence_node_ids)) > 1 or not _MULTI_HOP.isdisjoint(tags)
    every: Tags = {
        "tag": list(tags),
        "part": [_part(case.case_id) or "case"],
        "dataset": [header.dataset_id],
        "pack": [header.domain_pack_name],
        "multi_hop": ["yes" if several else "no"],
    }
    return Item(
        case.case_id if single else f"{header.dataset_id}/{case.case_id}",
        case.query,
        tags={key: values for key, values in every.items() if values},
        gold=gold_of(wanted),
        sequence=sequence,
        scope=scope,
    )


def _twin(probe: Item) -> Item:
    """The probe again, in a session where nothing came before; it is only there to be compared with."""
    return Item(
        f"{probe.item_id}~{_UNPRIMED}",
        probe.text,
        tags={**probe.tags, "part": [_UNPRIMED]},
        gold={"unprimed_of": probe.item_id},
        scope=probe.scope,
    )


def gold_of(wanted: CaseExpectation) -> dict[str, Any]:
    """An expectation as the gold of an item; what is not written, or an empty list, is not there."""
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
