"""The labels that a person gave a case, read from the cells of a sheet.

evidence_node_ids              msa:14; msa:15
path_steps                     prefix: msa:15 > msa:14 via depends_on
required_contradiction_pairs   msa:2 / msa:3; msa:2 / msa:4
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.core.errors import Problem, did_you_mean
from assay.kinds.memory.annotation.sampling import SEQUENCE
from assay.kinds.memory.annotation.workspace import CsvRow, split_cell

FAMILIES = ("direct", "multi_hop", "exception", "contradiction", "sequence", "hard_negative")
DIFFICULTIES = ("", "easy", "medium", "hard")
APPROVED, REJECTED = "approved", "rejected"
UNFINISHED = ("", "draft")
STATUSES = (*UNFINISHED, APPROVED, REJECTED)
SCOPES = ("any_path", "best_path")
MODES = ("subsequence", "prefix", "exact")
LABEL_COLUMNS = (
    "case_family",
    "evidence_node_ids",
    "minimum_evidence_matches",
    "path_scope",
    "path_steps",
    "required_edge_types",
    "required_semantic_roles",
    "required_contradiction_pairs",
)

_SMALL = re.compile(r"\d{1,9}")  # a limit, because Python refuses to read numbers of thousands of digits
Absent = Callable[[str], tuple[str, str] | None]  # for a node that no document has: the fault and the fix


class LabelledPath(msgspec.Struct, frozen=True):
    """An expected path: nodes, each with the type of the edge that leads to it (None: any type)."""

    scope: str
    mode: str
    steps: tuple[tuple[str, str | None], ...]

    def __str__(self) -> str:
        steps = (node if edge is None else f"{node} via {edge}" for node, edge in self.steps)
        return f"{self.scope} {self.mode}: {' > '.join(steps)}"


class CaseLabels(msgspec.Struct, frozen=True):
    """All labels of a case on which two people have to agree."""

    family: str = ""
    evidence: frozenset[str] = frozenset()
    minimum: int | None = None  # how many evidence nodes must be found; None: all
    path: LabelledPath | None = None
    edge_types: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()  # each in alphabetical order

    def by_name(self) -> dict[str, Any]:
        return msgspec.structs.asdict(self)

    def differing(self, other: CaseLabels) -> list[str]:
        """Returns the names of the labels in which two people differ."""
        theirs = other.by_name()
        return [name for name, value in self.by_name().items() if value != theirs[name]]

    def expectation(self) -> dict[str, Any]:
        """Returns the labels as the expectation of a case in a case file."""
        found: dict[str, Any] = {
            "evidence_node_ids": sorted(self.evidence),
            "minimum_evidence_matches": self.minimum or len(self.evidence),
        }
        if self.path is not None:
            steps = [{"node_id": node, "via_edge_type": edge} for node, edge in self.path.steps]
            found["path_scope"] = self.path.scope
            found["path"] = {"match_mode": self.path.mode, "steps": steps}
        if self.edge_types:
            found["required_edge_types"] = sorted(self.edge_types)
        if self.roles:
            found["required_semantic_roles"] = sorted(self.roles)
        if self.pairs:
            found["required_contradiction_pairs"] = [list(pair) for pair in sorted(self.pairs)]
        return found


@dataclass(frozen=True)
class CaseAnnotation:
    """A row of a sheet, its status, and its labels if it is approved."""

    row: CsvRow
    status: str
    labels: CaseLabels = CaseLabels()

    @property
    def finished(self) -> bool:
        return self.status not in UNFINISHED

    @property
    def case_id(self) -> str:
        return self.row["case_id"]


def read_annotation(row: CsvRow, status: str, absent: Absent, problems: list[Problem]) -> CaseAnnotation:
    """Returns the row with its labels, which are read only if the row is approved.

    Everything that is wrong with the labels is added to `problems`.
    """
    if status != APPROVED:
        return CaseAnnotation(row, status)
    return CaseAnnotation(row, status, _RowReader(row, absent, problems).labels())


@dataclass(frozen=True)
class _RowReader:
    """A reader of the cells of an approved row, which collects what is wrong with them."""

    row: CsvRow
    absent: Absent
    problems: list[Problem]

    def labels(self) -> CaseLabels:
        evidence = frozenset(self._nodes("evidence_node_ids"))
        if not split_cell(self.row["evidence_node_ids"]):
            what, fix = "an approved case has evidence", "Name the units that support it."
            self._wrong("evidence_node_ids", what, fix)
        if not self.row["query"]:
            self._wrong("query", "an approved case asks something", "Write the query.")
        self._one_of("difficulty", DIFFICULTIES)
        return CaseLabels(
            self._family(),
            evidence,
            self._minimum(len(evidence)),
            self._path(),
            frozenset(split_cell(self.row["required_edge_types"])),
            frozenset(split_cell(self.row["required_semantic_roles"])),
            frozenset(self._pairs()),
        )

    def _wrong(self, column: str, what: str, fix: str = "") -> None:
        self.problems.append(self.row.problem(column, what, fix))

    def _one_of(self, column: str, known: Iterable[str]) -> str:
        word = self.row[column].lower()
        if word not in known:
            self._wrong(
                column, f"{word!r} is not known", did_you_mean(word, [name for name in known if name])
            )
        return word

    def _node(self, column: str, name: str) -> str:
        """Returns the id of a unit. If no document has the unit, a problem is added."""
        if (lacking := self.absent(name)) is not None:
            own = f"{self.row['doc_id']}:{name}"
            if self.absent(own) is None:
                lacking = f"{name!r} names no document", f"Write {own}."
            self._wrong(column, *lacking)
        return name

    def _nodes(self, column: str) -> list[str]:
        """Returns the units of a cell.

        They are separated by semicolons, or by commas if an entry is not a unit itself.
        """
        found: list[str] = []
        for part in split_cell(self.row[column]):
            several = [part] if self.absent(part) is None else [each.strip() for each in part.split(",")]
            found += (self._node(column, each) for each in several if each)
        return found

    def _family(self) -> str:
        family = self._one_of("case_family", FAMILIES) if self.row["case_family"] else ""
        if not family:
            self._wrong("case_family", "the cell is empty", f"Write one of {', '.join(FAMILIES)}.")
        elif (family == "sequence") != bool(SEQUENCE.search(self.row["case_id"])):
            what = "a case whose id has prime- or probe- is of the family sequence, and no other is"
            self._wrong("case_id", what, "Rename the case, or change its case_family.")
        return family

    def _minimum(self, evidence: int) -> int | None:
        """Returns how many of the evidence nodes must be found; None for all."""
        cell = self.row["minimum_evidence_matches"]
        if not cell:
            return None
        # spreadsheet programs may save a whole number as 2.0
        digits = cell.removesuffix(".0").lstrip("0")
        number = int(digits) if _SMALL.fullmatch(digits) else 0
        if not 1 <= number <= max(evidence, 1):
            what = f"{reprlib.repr(cell)} is not a number from 1 to the {evidence} evidence nodes"
            self._wrong("minimum_evidence_matches", what, "Correct it, or leave it empty for all.")
            return None
        return number if number < evidence else None

    def _path(self) -> LabelledPath | None:
        cell = self.row["path_steps"]
        scope = self._one_of("path_scope", ("", *SCOPES)) or SCOPES[0]
        if not cell:
            if self.row["path_scope"]:
                self._wrong("path_scope", "there is no path", "Write path_steps, or empty the cell.")
            return None
        mode, colon, rest = cell.partition(":")
        if colon and mode.strip().lower() in MODES:
            mode, cell = mode.strip().lower(), rest
        else:
            mode = MODES[0]
        steps = list[tuple[str, str | None]]()
        for part in filter(None, map(str.strip, cell.split(">"))):
            node, via, edge = part.rpartition(" via ")
            if via and self.absent(part) is not None:
                steps.append((self._node("path_steps", node.strip()), edge.strip()))
            else:
                steps.append((self._node("path_steps", part), None))
        if not steps:
            self._wrong("path_steps", "the path has no step", "Write NODE > NODE via EDGE_TYPE.")
        return LabelledPath(scope, mode, tuple(steps))

    def _pairs(self) -> list[tuple[str, str]]:
        column, found = "required_contradiction_pairs", []
        for part in split_cell(self.row[column]):
            names = [self._node(column, name.strip()) for name in part.split("/")]
            if len(names) != 2 or names[0] == names[1]:
                self._wrong(column, f"{part!r} is not a pair of two units", "Write NODE / NODE; NODE / NODE.")
            else:
                found.append((min(names), max(names)))
        return found
