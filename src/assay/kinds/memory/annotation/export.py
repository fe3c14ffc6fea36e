"""The export of approved labels as case files, and the quality gate of a private set.

The labels of an exported case are those that two people agreed on, or those that were decided with a written
reason. Cases with prime- and probe- ids make one sequence per document, and each sequence has a file of its
own.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.core.registry import Registry
from assay.kinds.memory.annotation.agreement import (
    GATE,
    LEAST,
    AnnotatorAgreement,
    Ruling,
    doubly_labelled,
    find_disagreements,
    measure_agreement,
    read_rulings,
)
from assay.kinds.memory.annotation.documents import Snapshot, frozen_version, read_inventory
from assay.kinds.memory.annotation.labels import APPROVED, CaseLabels
from assay.kinds.memory.annotation.sheets import Sheet, read_pair
from assay.kinds.memory.annotation.workspace import Workspace, check_name, split_cell, write_file
from assay.kinds.memory.datasets.cases import Cases
from assay.kinds.memory.systems.packs import PACKS
from assay.report.wording import first_names, number, quantity

TURNED_DOWN = "rejected"
LEAST_PER_FAMILY, MOST_PER_FAMILY = 20, 50  # the fewest and the most cases of a family of documents
HARD_SHARE = 0.30
HARD = frozenset({"multi_hop", "exception", "contradiction"})
_NAMED = 5


@dataclass(frozen=True)
class ExportSettings:
    """The id and name of the dataset, the pack that reads its documents, and the version of the documents."""

    dataset_id: str
    pack: str
    name: str = ""
    version: str | None = None  # None: the newest snapshot


class QualityCriterion(msgspec.Struct, frozen=True):
    """A criterion of the quality gate, with its value and whether the set meets it."""

    name: str
    value: str
    needed: str
    holds: bool


@dataclass(frozen=True)
class CaseExport:
    """The case files that were written, the cases that were left out and why, and the quality gate."""

    files: list[Path]
    version: str
    cases: int
    adjudicated: int
    left_out: dict[str, str]  # the reason, by case
    agreement: AnnotatorAgreement
    quality: list[QualityCriterion]
    warnings: list[str]

    @property
    def passed(self) -> bool:
        return all(criterion.holds for criterion in self.quality)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        del found["agreement"]["disagreements"]
        return {"schema": "assay/annotation-export/1", **found, "passed": self.passed}


@dataclass(frozen=True)
class ApprovedCase:
    """A case in the form in which it is exported."""

    case_id: str
    doc_id: str
    query: str
    difficulty: str
    tags: list[str]
    labels: CaseLabels
    double: bool  # whether both people labelled the case
    documents: str = ""  # the family of its document


def export_cases(
    workspace: Workspace, settings: ExportSettings, annotators: Sequence[str] = (), out: Path | None = None
) -> CaseExport:
    """Writes the case files, after checking that they can be read back.

    Every disagreement must have a decision with a reason.
    """
    check_name(settings.dataset_id, "a dataset")
    snapshot = frozen_version(workspace, settings.version)
    inventory = read_inventory(workspace)
    first, second = read_pair(workspace, annotators)
    pairs = doubly_labelled(first, second)
    rulings = read_rulings(workspace, pairs)
    fix = f"List them with: assay annotate adjudicate {workspace.documents}"
    undecided = [
        Problem(
            f"{each.case_id!r} has no decision: they differ in {', '.join(each.differs)}",
            str(workspace.adjudication),
            fix=fix,
        )
        for each in find_disagreements(pairs)
        if each.case_id not in rulings
    ]
    if undecided:
        raise DataError(undecided)
    families = {doc_id: entry.row["document_family"] for doc_id, entry in inventory.items()}
    cases, left_out = _approved_cases(first, second, rulings, families)
    if not cases:
        fix = "Write approved in review_status, in both sheets, for cases that are done."
        raise DataError(Problem("no case is approved by both", str(workspace.sheets), fix=fix))
    agreement = measure_agreement(workspace, first, second)
    unfinished = [case_id for case_id, why in left_out.items() if why != TURNED_DOWN]
    quality = quality_gate(cases, agreement, unfinished)
    files = _case_files(
        workspace, settings, snapshot, _quality(agreement, quality), cases, out or workspace.cases
    )
    warnings = _write_checked(files, cases)
    known = Registry().names(PACKS)
    if settings.pack not in known:
        what = f"no domain pack is called {settings.pack!r} here, so no graph can be built."
        warnings.insert(0, f"{what} {did_you_mean(settings.pack, known)}")
    adjudicated = sum(each.case_id in rulings for each in cases)
    return CaseExport(
        list(files), snapshot.version, len(cases), adjudicated, left_out, agreement, quality, warnings
    )


def _approved_cases(
    first: Sheet, second: Sheet, rulings: Mapping[str, Ruling], families: Mapping[str, str]
) -> tuple[list[ApprovedCase], dict[str, str]]:
    """Returns the cases to export in the order of the first sheet, and why other cases are left out."""
    cases, left_out = list[ApprovedCase](), dict[str, str]()
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
        row = sides[0].row
        tags = list(dict.fromkeys(tag for each in sides for tag in split_cell(each.row["tags"])))
        about = row["doc_id"], row["query"], row["difficulty"].lower(), tags
        cases.append(ApprovedCase(case_id, *about, final.labels, len(done) == 2, families[row["doc_id"]]))
    return cases, left_out


# ----------------------------------------------------------------------------------- quality gate


def quality_gate(
    cases: Sequence[ApprovedCase], agreement: AnnotatorAgreement, unfinished: Sequence[str]
) -> list[QualityCriterion]:
    """Returns the criteria that a private set must meet: enough cases, hard cases and agreement."""
    n = len(cases)
    hard = sum(case.labels.family in HARD for case in cases)
    negatives = sum(case.labels.family == "hard_negative" for case in cases)
    double = sum(case.double for case in cases)
    share = hard / n if n else 0.0
    counts = Counter(case.documents or "unnamed" for case in cases)
    left = "nothing left"
    if unfinished:
        left = f"{quantity(len(unfinished), 'case')} left: {first_names(unfinished, _NAMED)}"
    return [
        QualityCriterion("approved cases", str(n), f"at least {LEAST_PER_FAMILY}", n >= LEAST_PER_FAMILY),
        *(
            QualityCriterion(
                f"cases of {family}",
                str(counts[family]),
                f"{LEAST_PER_FAMILY} to {MOST_PER_FAMILY}",
                counts[family] >= LEAST_PER_FAMILY,
            )
            for family in sorted(counts)
        ),
        QualityCriterion(
            "multi-hop, exception, contradiction",
            f"{hard} of {n} ({share:.0%})",
            f"at least {HARD_SHARE:.0%}",
            share >= HARD_SHARE,
        ),
        QualityCriterion("hard negatives", str(negatives), "at least 1", negatives >= 1),
        QualityCriterion("labelled by both", f"{double} of {n}", "all", 0 < n == double),
        QualityCriterion("review complete", left, "nothing left", not unfinished),
        QualityCriterion(
            "mean Jaccard of evidence",
            f"{number(agreement.jaccard)} over {quantity(agreement.doubles, 'case')}",
            f"at least {GATE} over {LEAST}",
            agreement.verdict == "go",
        ),
    ]


def _quality(agreement: AnnotatorAgreement, quality: Sequence[QualityCriterion]) -> dict[str, Any]:
    """Returns how far people agreed, for the readers of the case file, without the names of the people."""
    return {
        "agreement": agreement.jaccard,
        "kappa": agreement.kappa,
        "cases": agreement.doubles,
        "unmet": [criterion.name for criterion in quality if not criterion.holds],
    }


# ------------------------------------------------------------------------------------------ files


def _case_files(
    workspace: Workspace,
    settings: ExportSettings,
    snapshot: Snapshot,
    quality: dict[str, Any],
    cases: Sequence[ApprovedCase],
    out: Path,
) -> dict[Path, dict[str, Any]]:
    """Returns the content of each case file, by path."""
    groups: dict[str, list[ApprovedCase]] = {}
    for each in cases:
        part = f"-sequence-{each.doc_id}" if each.labels.family == "sequence" else ""
        groups.setdefault(settings.dataset_id + part, []).append(each)
    documents = os.path.relpath(workspace.documents.resolve(), out.resolve())
    return {
        out / f"{dataset_id}.json": {
            "dataset_id": dataset_id,
            "dataset_name": settings.name or settings.dataset_id,
            "domain_pack_name": settings.pack,
            "document_directory": Path(documents).as_posix(),
            "version": snapshot.version,
            "layer": "private",
            "quality": quality,
            "document_hashes": snapshot.document_hashes,
            "cases": [_case_entry(each) for each in group],
        }
        for dataset_id, group in groups.items()
    }


def _case_entry(case: ApprovedCase) -> dict[str, Any]:
    difficulty = [f"difficulty_{case.difficulty}"] if case.difficulty else []
    return {
        "case_id": case.case_id,
        "query": case.query,
        "tags": list(dict.fromkeys([*case.tags, case.labels.family, *difficulty])),
        "expectation": case.labels.expectation(),
    }


def _write_checked(files: Mapping[Path, dict[str, Any]], cases: Sequence[ApprovedCase]) -> list[str]:
    """Writes the files if they read back as people approved them. Returns the warnings of the reader."""
    content = {
        path: msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n" for path, file in files.items()
    }
    drafts = {path: path.with_name(f".{path.stem}.draft.json") for path in files}
    folder = next(iter(files)).parent
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for path, draft in drafts.items():
            draft.write_bytes(content[path])
        dataset = Cases(tuple(draft.name for draft in drafts.values())).load(Kit(root=folder))
        _check_read_back(dataset.items, cases, dataset.layer)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
    for path, data in content.items():
        write_file(path, data)
    return [*dataset.warnings, *_earlier_files(folder, files)]


def _earlier_files(folder: Path, files: Mapping[Path, dict[str, Any]]) -> Iterator[str]:
    """Yields a warning for each case file of an earlier export in the folder.

    If somebody loads the whole folder, such a file would count as part of this export.
    """
    for path in sorted(folder.glob("[!.]*.json")):
        if path not in files:
            yield f"{path} was not written by this export. Remove it, or load the files by name."


def _check_read_back(items: Sequence[Item], cases: Sequence[ApprovedCase], layer: str) -> None:
    read = {
        item.item_id.rpartition("/")[2]: (item.text, set(item.gold["relevant"]))
        for item in items
        if "relevant" in item.gold
    }
    other = [
        case.case_id for case in cases if read.get(case.case_id) != (case.query, set(case.labels.evidence))
    ]
    if other or layer != "private":
        raise UsageError(f"The case file does not read back as written: {', '.join(other) or layer}.")
