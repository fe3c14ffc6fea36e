"""How far two people agree on cases, and the reasoned decisions about cases on which they differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, did_you_mean
from assay.kinds.memory.annotation.labels import (
    APPROVED,
    LABEL_COLUMNS,
    REJECTED,
    CaseAnnotation,
    CaseLabels,
    read_annotation,
)
from assay.kinds.memory.annotation.sheets import DECIDING, FilledRow, Sheet, import_rows
from assay.kinds.memory.annotation.workspace import CsvRow, Workspace, append_rows, read_table, write_table
from assay.kinds.memory.datasets.case_file import LabelQuality
from assay.stats.agreement import cohen_kappa
from assay.stats.intervals import mean_interval

GATE = LabelQuality.needed  # the least mean Jaccard of evidence sets that passes
LEAST = LabelQuality.enough  # cases labelled by both; with fewer, the agreement is inconclusive
PARTS = ("family", "minimum", "path", "edge_types", "roles", "pairs")
COLUMNS = (
    *("case_id", "doc_id", "query", "differs", "first_labels", "second_labels", "decision"),
    *LABEL_COLUMNS,
    *("rationale", "adjudicator", "seen"),
)
Pair = tuple[CaseAnnotation, CaseAnnotation]

# -------------------------------------------------------------------------------------- agreement


class LabelAgreement(msgspec.Struct, frozen=True):
    """In how many cases both people wrote the same label.

    Only cases in which at least one of them wrote something count.
    """

    n: int
    equal: int


class Disagreement(msgspec.Struct, frozen=True):
    """A case on which two people differ."""

    case_id: str
    doc_id: str
    query: str
    jaccard: float | None  # None: only one of them approved the case
    differs: list[str]
    first: str  # what the first person wrote, in words
    second: str


@dataclass(frozen=True)
class AnnotatorAgreement:
    """How far two people agree on the cases that both finished."""

    annotators: list[str]
    doubles: int  # cases that both approved
    jaccard: float | None  # the mean over these cases
    low: float | None
    high: float | None
    kappa: float | None  # Cohen's kappa of whether a unit is in the evidence
    units: int  # how many units kappa is computed over
    exact: float | None  # share of cases with the same evidence
    parts: dict[str, LabelAgreement]
    rejected: int  # how many cases both rejected
    single: list[str]  # cases that only one of them has finished
    disagreements: list[Disagreement]  # worst first
    verdict: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"schema": "assay/annotation-agreement/1", **found}


def measure_agreement(
    workspace: Workspace, first: Sheet, second: Sheet, least: int = LEAST
) -> AnnotatorAgreement:
    """Measures agreement over the cases that both people approved.

    A case that only one of them approved is a disagreement.
    """
    pairs = doubly_labelled(first, second)
    both = [(one, other) for one, other in pairs if one.status == other.status == APPROVED]
    labels = [(one.labels, other.labels) for one, other in both]
    values = [jaccard(one, other) for one, other in labels]
    interval = mean_interval(values, binary=False, bounds=(0.0, 1.0)) if values else None
    marks = _units_in_evidence(workspace, both)
    kappa = float(cohen_kappa(*marks)[0]) if marks.size else float("nan")
    mean = float(np.mean(values)) if values else None
    parts = {}
    for name in PARTS:
        written = [(one.by_name()[name], other.by_name()[name]) for one, other in labels]
        written = [(one, other) for one, other in written if one or other]
        parts[name] = LabelAgreement(len(written), sum(one == other for one, other in written))
    if mean is None or len(values) < least:
        verdict = "inconclusive"
        reason = f"{len(values)} cases are labelled by both; {least} are needed"
    elif mean < GATE:
        verdict, reason = "no-go", f"the mean Jaccard {mean:.3f} is below {GATE}"
    else:
        verdict, reason = "go", f"the mean Jaccard {mean:.3f} reaches {GATE}"
    return AnnotatorAgreement(
        [first.annotator, second.annotator],
        len(both),
        mean,
        None if interval is None else finite_or_none(interval.low),
        None if interval is None else finite_or_none(interval.high),
        finite_or_none(kappa),
        marks.shape[1],
        float(np.mean([value == 1.0 for value in values])) if values else None,
        parts,
        sum(one.status == other.status != APPROVED for one, other in pairs),
        [
            case_id
            for case_id in dict.fromkeys([*first.annotations, *second.annotations])
            if (case_id in first.finished) != (case_id in second.finished)
        ],
        find_disagreements(pairs),
        verdict,
        reason,
    )


def doubly_labelled(first: Sheet, second: Sheet) -> list[Pair]:
    """Returns the cases that both people finished, in the order of the first sheet."""
    theirs = second.finished
    return [(each, theirs[case_id]) for case_id, each in first.finished.items() if case_id in theirs]


def jaccard(one: CaseLabels, other: CaseLabels) -> float:
    """Returns the evidence nodes that both name, divided by those that either names; 1 if there are none."""
    union = one.evidence | other.evidence
    return len(one.evidence & other.evidence) / len(union) if union else 1.0


def _units_in_evidence(workspace: Workspace, both: Sequence[Pair]) -> np.ndarray[Any, Any]:
    """Returns for each person whether each unit is in the evidence, over all units of each case.

    The units of a case are those of its document, and units of other documents that either person named.
    """
    columns = []
    for one, other in both:
        named = one.labels.evidence | other.labels.evidence
        units = dict.fromkeys([*workspace.folder.nodes[one.row["doc_id"]], *sorted(named)])
        columns += [(unit in one.labels.evidence, unit in other.labels.evidence) for unit in units]
    return np.array(columns, dtype=float).reshape(-1, 2).T


def find_disagreements(pairs: Sequence[Pair]) -> list[Disagreement]:
    """Returns the cases on which two people differ.

    Cases with different decisions come first. The others follow by the agreement of their evidence, worst
    first.
    """
    found = []
    for one, other in pairs:
        same = one.status == other.status
        differs = one.labels.differing(other.labels) if same else ["decision"]
        if differs:
            value = jaccard(one.labels, other.labels) if same else None
            row, words = one.row, [_in_words(each, differs) for each in (one, other)]
            found.append(Disagreement(one.case_id, row["doc_id"], row["query"], value, differs, *words))
    return sorted(found, key=lambda each: -1.0 if each.jaccard is None else each.jaccard)


def _in_words(annotation: CaseAnnotation, names: Sequence[str]) -> str:
    """Returns some labels of a person in words; `names` says which labels."""
    if "decision" in names:
        return annotation.status
    words = []
    for name in names:
        value = annotation.labels.by_name()[name]
        if isinstance(value, frozenset):
            text = "; ".join(" / ".join(each) if isinstance(each, tuple) else each for each in sorted(value))
        else:
            text = "all" if name == "minimum" and value is None else str(value or "")
        words.append(f"{name} {text or 'none'}")
    return ", ".join(words)


def finite_or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# ----------------------------------------------------------------------------------- adjudication


@dataclass(frozen=True)
class AdjudicationProgress:
    """The table of decisions, and which of its cases are decided."""

    path: Path
    added: int
    open: list[str]  # cases that still need a decision and a reason
    decided: list[str]

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        return {"schema": "assay/annotation-adjudication/1", **found}


@dataclass(frozen=True)
class Ruling:
    """The decision about a case, with the labels that count and the reason."""

    final: CaseAnnotation
    rationale: str


def write_adjudication(workspace: Workspace, first: Sheet, second: Sheet) -> AdjudicationProgress:
    """Adds a row for every disagreement that has none.

    Labels on which both people agree are filled in.
    """
    pairs = {one.case_id: (one, other) for one, other in doubly_labelled(first, second)}
    rows = []
    for each in find_disagreements(list(pairs.values())):
        one, other = pairs[each.case_id]
        rows.append(
            {
                **{name: one.row[name] for name in LABEL_COLUMNS if one.row[name] == other.row[name]},
                "case_id": each.case_id,
                "doc_id": each.doc_id,
                "query": each.query,
                "differs": "; ".join(each.differs),
                "first_labels": each.first,
                "second_labels": each.second,
                "seen": labels_hash(one, other),
            }
        )
    path, before = workspace.adjudication, list[CsvRow]()
    known = set[str]()
    if path.exists():
        table = read_table(path, COLUMNS)
        before, known = table.rows, {row["case_id"] for row in table.rows}
        append_rows(table, [row for row in rows if row["case_id"] not in known])
    elif rows:
        write_table(path, COLUMNS, rows)
    decided = {row["case_id"] for row in before if row["decision"] and row["rationale"]}
    names = [row["case_id"] for row in rows]
    return AdjudicationProgress(
        path,
        sum(name not in known for name in names),
        [name for name in names if name not in decided],
        [name for name in names if name in decided],
    )


def labels_hash(one: CaseAnnotation, other: CaseAnnotation) -> str:
    """Returns a short hash of what two people wrote. It shows whether a decision is about older labels."""
    encode = msgspec.json.Encoder(order="sorted").encode
    parts = [[each.status, each.labels] for each in (one, other)]
    return digest(encode(part) for part in parts)[:12]


def read_rulings(
    workspace: Workspace, pairs: Sequence[Pair], clock: Callable[[], float] = time.time
) -> dict[str, Ruling]:
    """Returns every decision, by case.

    Raises an error that lists every row that is incomplete or older than the sheets. Decisions are imported
    as marks of the people who decided.
    """
    if not workspace.adjudication.exists():
        return {}
    now = {one.case_id: (one, other) for one, other in pairs}
    differing = {each.case_id for each in find_disagreements(pairs)}
    problems, found = list[Problem](), dict[str, Ruling]()
    for row in read_table(workspace.adjudication, COLUMNS).rows:
        case_id, decision = row["case_id"], row["decision"].lower()
        if not decision and case_id in now and case_id not in differing:
            continue  # they agree now
        problems += _check_ruling(row, decision)
        if case_id in found:
            problems.append(row.problem("case_id", "the case is decided twice", "Keep one of the two rows."))
        if row["seen"] and case_id in now and row["seen"] != labels_hash(*now[case_id]):
            what = "the sheets have changed since this was decided"
            problems.append(row.problem("seen", what, "Look at the case again, then empty this cell."))
        final = read_annotation(row, decision, workspace.folder.absent, problems)
        found[case_id] = Ruling(final, row["rationale"])
    if problems:
        raise DataError(problems)
    rows = [
        FilledRow(each.final.row["adjudicator"], DECIDING, case_id, each.final.row)
        for case_id, each in found.items()
    ]
    import_rows(workspace, rows, DECIDING, clock)
    return found


def _check_ruling(row: CsvRow, decision: str) -> Iterator[Problem]:
    if not decision:
        what = f"nothing is decided about {row['case_id']!r}: they differ in {row['differs'] or 'something'}"
        fix = "Write approved, the labels that count and a rationale; or rejected and a rationale."
        yield row.problem("decision", what, fix)
    elif decision not in (APPROVED, REJECTED):
        fix = did_you_mean(decision, (APPROVED, REJECTED))
        yield row.problem("decision", f"{decision!r} is not known", fix)
    if decision and not row["rationale"]:
        what = f"the reason for {row['case_id']!r} is missing"
        yield row.problem("rationale", what, "Write a short one.")
