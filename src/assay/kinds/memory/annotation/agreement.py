"""How far two people agree on what supports an answer, and where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from assay.kinds.memory.annotation.labels import APPROVED, CaseAnnotation, CaseLabels
from assay.kinds.memory.annotation.sheets import Sheet
from assay.kinds.memory.annotation.workspace import Workspace
from assay.kinds.memory.datasets.case_file import LabelQuality
from assay.stats.agreement import cohen_kappa
from assay.stats.intervals import mean_interval

GATE = LabelQuality.needed  # on the mean Jaccard of evidence sets
LEAST = LabelQuality.enough  # doubles, below which nothing is decided
PARTS = ("family", "minimum", "path", "edge_types", "roles", "pairs")


class LabelAgreement(msgspec.Struct, frozen=True):
    """How many of the cases in which somebody wrote something are labelled alike."""

    n: int
    equal: int


class Disagreement(msgspec.Struct, frozen=True):
    """A case on which two people differ."""

    case_id: str
    doc_id: str
    query: str
    jaccard: float | None  # None: only one of them approved the case
    differs: list[str]
    first: str  # what each wrote, in words
    second: str


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement of two people on the cases that both finished."""

    annotators: list[str]
    doubles: int  # cases that both approved
    jaccard: float | None  # the mean over them
    low: float | None
    high: float | None
    kappa: float | None  # Cohen's, over units in or out
    units: int  # that kappa is over
    exact: float | None  # share of cases with the same evidence
    parts: dict[str, LabelAgreement]
    rejected: int  # by both
    single: list[str]  # cases that one of them has not finished
    disagreements: list[Disagreement]  # worst first
    verdict: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"schema": "assay/annotation-agreement/1", **found}


def measure_agreement(
    workspace: Workspace, first: Sheet, second: Sheet, least: int = LEAST
) -> AnnotatorAgreement:
    """Agreement over the cases that both approved; one that only one of them approved is a disagreement."""
    pairs = doubly_labelled(first, second)
    both = [(one, other) for one, other in pairs if one.status == other.status == APPROVED]
    values = [jaccard(one.labels, other.labels) for one, other in both]
    interval = mean_interval(values, binary=False, bounds=(0.0, 1.0)) if values else None
    marks = _decisions(workspace, both)
    kappa = float(cohen_kappa(*marks)[0]) if marks.size else float("nan")
    mean = float(np.mean(values)) if values else None
    verdict, reason = _decided(mean, len(values), least)
    unfinished = [
        case_id
        for case_id in dict.fromkeys([*first.annotations, *second.annotations])
        if (case_id in first.finished) != (case_id in second.finished)
    ]
    return AnnotatorAgreement(
        [first.annotator, second.annotator],
        len(both),
        mean,
        None if interval is None else _finite(interval.low),
        None if interval is None else _finite(interval.high),
        _finite(kappa),
        marks.shape[1],
        float(np.mean([value == 1.0 for value in values])) if values else None,
        {name: _share(name, both) for name in PARTS},
        sum(one.status == other.status != APPROVED for one, other in pairs),
        unfinished,
        find_disagreements(pairs),
        verdict,
        reason,
    )


def doubly_labelled(first: Sheet, second: Sheet) -> list[tuple[CaseAnnotation, CaseAnnotation]]:
    """What both people finished, in the order of the first one's form."""
    theirs = second.finished
    return [(each, theirs[case_id]) for case_id, each in first.finished.items() if case_id in theirs]


def jaccard(one: CaseLabels, other: CaseLabels) -> float:
    """Evidence that both name, of the evidence that either names; 1 where neither names any."""
    union = one.evidence | other.evidence
    return len(one.evidence & other.evidence) / len(union) if union else 1.0


def find_disagreements(pairs: Sequence[tuple[CaseAnnotation, CaseAnnotation]]) -> list[Disagreement]:
    """The cases on which two people differ: other decisions first, then by evidence, worst first."""
    found = []
    for one, other in pairs:
        same = one.status == other.status
        differs = one.labels.differing(other.labels) if same else ["decision"]
        if differs:
            value = jaccard(one.labels, other.labels) if same else None
            row = one.row
            told = [_told(each, differs) for each in (one, other)]
            found.append(Disagreement(one.case_id, row["doc_id"], row["query"], value, differs, *told))
    return sorted(found, key=lambda each: -1.0 if each.jaccard is None else each.jaccard)


def _told(annotation: CaseAnnotation, differs: Sequence[str]) -> str:
    """What somebody wrote of the labels that differ."""
    if "decision" in differs:
        return annotation.status
    words = []
    for name in differs:
        value = getattr(annotation.labels, name)
        if isinstance(value, frozenset):
            text = "; ".join(" / ".join(each) if isinstance(each, tuple) else each for each in sorted(value))
        elif name == "path" and value is not None:
            steps = (node if edge is None else f"{node} via {edge}" for node, edge in value.steps)
            text = f"{value.scope} {value.mode}: {' > '.join(steps)}"
        else:
            text = "all" if name == "minimum" and value is None else str(value or "")
        words.append(f"{name} {text or 'none'}")
    return ", ".join(words)


def _share(name: str, both: Sequence[tuple[CaseAnnotation, CaseAnnotation]]) -> LabelAgreement:
    values = [(getattr(one.labels, name), getattr(other.labels, name)) for one, other in both]
    written = [(one, other) for one, other in values if one or other]
    return LabelAgreement(len(written), sum(one == other for one, other in written))


def _decisions(
    workspace: Workspace, both: Sequence[tuple[CaseAnnotation, CaseAnnotation]]
) -> np.ndarray[Any, Any]:
    """In or out of the evidence, for each person, over the units that a case was labelled on.

    Those are the units of its document, and any of another document that somebody named.
    """
    columns = []
    for one, other in both:
        named = one.labels.evidence | other.labels.evidence
        units = dict.fromkeys([*workspace.folder.nodes[one.row["doc_id"]], *sorted(named)])
        columns += [(unit in one.labels.evidence, unit in other.labels.evidence) for unit in units]
    return np.array(columns, dtype=float).reshape(-1, 2).T


def _decided(mean: float | None, n: int, least: int) -> tuple[str, str]:
    if mean is None or n < least:
        return "inconclusive", f"{n} cases are labelled by both; {least} are needed"
    if mean < GATE:
        return "no-go", f"the mean Jaccard {mean:.3f} is below {GATE}"
    return "go", f"the mean Jaccard {mean:.3f} reaches {GATE}"


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
