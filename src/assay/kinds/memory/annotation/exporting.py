"""Approved labels as case files: what two people agreed on, or what was decided with a written reason.

Cases with prime- and probe- ids are one sequence a document, and each sequence has a file of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.core.registry import Registry
from assay.kinds.memory.annotation.adjudication import Ruling, read_rulings
from assay.kinds.memory.annotation.agreement import (
    AnnotatorAgreement,
    doubly_labelled,
    find_disagreements,
    measure_agreement,
)
from assay.kinds.memory.annotation.inventory import read_inventory
from assay.kinds.memory.annotation.labels import APPROVED, CaseAnnotation
from assay.kinds.memory.annotation.quality import CaseCount, QualityCriterion, checks_of
from assay.kinds.memory.annotation.sheets import Sheet, read_pair
from assay.kinds.memory.annotation.snapshot import Snapshot, frozen_version
from assay.kinds.memory.annotation.workspace import Workspace, check_name, write_file
from assay.kinds.memory.datasets.cases import Cases
from assay.kinds.memory.systems.packs import PACKS

TURNED_DOWN = "rejected"


@dataclass(frozen=True)
class ExportSettings:
    """What a case file calls itself, and how its documents are read."""

    dataset_id: str
    pack: str
    name: str = ""
    version: str | None = None  # None: the newest snapshot


@dataclass(frozen=True)
class CaseExport:
    """The case files, what was left out of them and why, and how good the set is."""

    files: list[Path]
    version: str
    cases: int
    adjudicated: int
    left_out: dict[str, str]  # by case: why
    agreement: AnnotatorAgreement
    quality: list[QualityCriterion]
    warnings: list[str]

    @property
    def passed(self) -> bool:
        return all(check.holds for check in self.quality)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        found["agreement"] = {
            name: value for name, value in found["agreement"].items() if name != "disagreements"
        }
        return {"schema": "assay/annotation-export/1", **found, "passed": self.passed}


@dataclass(frozen=True)
class ApprovedCase:
    """A case as it is exported: whose row names it, and the labels that count."""

    row: CaseAnnotation
    final: CaseAnnotation
    tags: list[str]
    double: bool


def export_cases(
    workspace: Workspace, naming: ExportSettings, annotators: Sequence[str] = (), out: Path | None = None
) -> CaseExport:
    """Writes the case files and reads them back; refuses while a disagreement has no written reason."""
    check_name(naming.dataset_id, "a dataset")
    snapshot = frozen_version(workspace, naming.version)
    inventory = read_inventory(workspace)
    first, second = read_pair(workspace, annotators)
    pairs = doubly_labelled(first, second)
    rulings = read_rulings(workspace, pairs)
    _refuse_open(workspace, pairs, rulings)
    finals, left_out = _settled(first, second, rulings)
    if not finals:
        fix = "Write approved in review_status, in both forms, for cases that are done."
        raise DataError(Problem("no case is approved by both", str(workspace.sheets), fix=fix))
    agreement = measure_agreement(workspace, first, second)
    kept = [
        CaseCount(
            each.row.case_id,
            each.final.labels.family,
            inventory[each.row.row["doc_id"]].row["document_family"],
            each.double,
        )
        for each in finals
    ]
    unfinished = [case_id for case_id, why in left_out.items() if why != TURNED_DOWN]
    checks = checks_of(kept, agreement, unfinished)
    around = _around(workspace, naming, snapshot, _quality(agreement, checks), out or workspace.cases)
    files = _files(around, finals, out or workspace.cases)
    warnings = _written(files, finals)
    return CaseExport(
        list(files),
        snapshot.version,
        len(finals),
        sum(each.row.case_id in rulings for each in finals),
        left_out,
        agreement,
        checks,
        [*_unknown_pack(naming.pack), *warnings],
    )


def _refuse_open(
    workspace: Workspace,
    pairs: Sequence[tuple[CaseAnnotation, CaseAnnotation]],
    rulings: Mapping[str, Ruling],
) -> None:
    where = str(workspace.adjudication)
    fix = f"List them with: assay annotate adjudicate {workspace.documents}"
    problems = [
        Problem(f"{each.case_id!r} has no decision: they differ in {', '.join(each.differs)}", where, fix=fix)
        for each in find_disagreements(pairs)
        if each.case_id not in rulings
    ]
    if problems:
        raise DataError(problems)


def _settled(
    first: Sheet, second: Sheet, rulings: Mapping[str, Ruling]
) -> tuple[list[ApprovedCase], dict[str, str]]:
    """The cases to export in the order of the first form, and why the others are not."""
    finals, left_out = list[ApprovedCase](), dict[str, str]()
    for case_id in dict.fromkeys([*first.annotations, *second.annotations]):
        sides = [sheet.annotations[case_id] for sheet in (first, second) if case_id in sheet.annotations]
        done = [each for each in sides if each.finished]
        final = rulings[case_id].final if case_id in rulings else None
        if final is None and len(done) < 2:
            if done or any(each.row["query"] for each in sides):
                left_out[case_id] = "not finished by both"
            continue
        final = final or done[0]
        if final.status != APPROVED:
            left_out[case_id] = TURNED_DOWN
            continue
        tags = list(dict.fromkeys(tag for each in sides for tag in each.tags))
        finals.append(ApprovedCase(sides[0], final, tags, len(done) == 2))
    return finals, left_out


def _unknown_pack(pack: str) -> Iterator[str]:
    known = Registry().names(PACKS)
    if pack not in known:
        yield f"no domain pack is called {pack!r} here, so that no graph can be built. " + did_you_mean(
            pack, known
        )


# ------------------------------------------------------------------------------------------ files


def _around(
    workspace: Workspace, naming: ExportSettings, snapshot: Snapshot, quality: dict[str, Any], out: Path
) -> dict[str, Any]:
    """What every file says beside its cases."""
    place = os.path.relpath(workspace.documents.resolve(), out.resolve())
    return {
        "dataset_id": naming.dataset_id,
        "dataset_name": naming.name or naming.dataset_id,
        "domain_pack_name": naming.pack,
        "document_directory": Path(place).as_posix(),
        "version": snapshot.version,
        "layer": "private",
        "quality": quality,
        "document_hashes": snapshot.document_hashes,
    }


def _files(
    around: Mapping[str, Any], finals: Sequence[ApprovedCase], out: Path
) -> dict[Path, dict[str, Any]]:
    """What to write, by path."""
    groups: dict[str, list[ApprovedCase]] = {}
    for each in finals:
        ordered = each.final.labels.family == "sequence"
        part = f"-sequence-{each.row.row['doc_id']}" if ordered else ""
        groups.setdefault(around["dataset_id"] + part, []).append(each)
    return {
        out / f"{dataset_id}.json": {
            **around,
            "dataset_id": dataset_id,
            "cases": [_case(each) for each in some],
        }
        for dataset_id, some in groups.items()
    }


def _quality(agreement: AnnotatorAgreement, checks: Sequence[QualityCriterion]) -> dict[str, Any]:
    """How far people agreed, which whoever loads the file is told; it does not say who they are."""
    return {
        "agreement": agreement.jaccard,
        "kappa": agreement.kappa,
        "cases": agreement.doubles,
        "unmet": [check.name for check in checks if not check.holds],
    }


def _case(each: ApprovedCase) -> dict[str, Any]:
    row, labels = each.row.row, each.final.labels
    difficulty = [f"difficulty_{row['difficulty'].lower()}"] if row["difficulty"] else []
    return {
        "case_id": each.row.case_id,
        "query": row["query"],
        "tags": list(dict.fromkeys([*each.tags, labels.family, *difficulty])),
        "expectation": labels.expectation(),
    }


def _written(files: Mapping[Path, dict[str, Any]], finals: Sequence[ApprovedCase]) -> list[str]:
    """Writes the files once they read back as what was meant; what the reader warns of is returned."""
    drafts = {path: path.with_name(f".{path.stem}.draft.json") for path in files}
    content = {
        path: msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n" for path, file in files.items()
    }
    try:
        for path, draft in drafts.items():
            draft.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(content[path])
        folder = next(iter(files)).parent
        dataset = Cases(tuple(draft.name for draft in drafts.values())).load(Kit(root=folder))
        _compare(dataset.items, finals, dataset.layer)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
    for path, data in content.items():
        write_file(path, data)
    return [*dataset.warnings, *_older(files)]


def _older(files: Mapping[Path, dict[str, Any]]) -> Iterator[str]:
    """Case files of an earlier export, which whoever loads the folder would take for part of this one."""
    for folder in {path.parent for path in files}:
        for path in sorted(folder.glob("[!.]*.json")):
            if path not in files:
                yield f"{path} was not written by this export. Remove it, or load the files by name."


def _compare(items: Sequence[Item], finals: Sequence[ApprovedCase], layer: str) -> None:
    """Refuses files that would be read as something else than what people approved."""
    read = {
        item.item_id.rpartition("/")[2]: (item.text, set(item.gold["relevant"]))
        for item in items
        if "relevant" in item.gold
    }
    meant = {each.row.case_id: (each.row.row["query"], set(each.final.labels.evidence)) for each in finals}
    other = [case_id for case_id, what in meant.items() if read.get(case_id) != what]
    if other or layer != "private":
        raise UsageError(f"The case file does not read back as written: {', '.join(other) or layer}.")
