"""What one person wrote about one case, read from the cells of a form.

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
from assay.kinds.memory.annotation.spreadsheet import CsvRow, split_cell

FAMILIES = ("direct", "multi_hop", "exception", "contradiction", "sequence", "hard_negative")
DIFFICULTIES = ("", "easy", "medium", "hard")
STATUSES = ("", "draft", "approved", "rejected")
UNFINISHED = ("", "draft")
APPROVED, REJECTED = "approved", "rejected"
SCOPES = ("any_path", "best_path")
MODES = ("subsequence", "prefix", "exact")
LABELS = (
    "case_family",
    "evidence_node_ids",
    "minimum_evidence_matches",
    "path_scope",
    "path_steps",
    "required_edge_types",
    "required_semantic_roles",
    "required_contradiction_pairs",
)

_SMALL = re.compile(r"\d{1,9}")  # Python refuses to read numbers of thousands of digits
Absent = Callable[[str], tuple[str, str] | None]  # what and fix where no document has a node


class LabelledPath(msgspec.Struct, frozen=True):
    """A path that is expected: nodes, each with the type of the edge that leads to it, or None for any."""

    scope: str
    mode: str
    steps: tuple[tuple[str, str | None], ...]


class CaseLabels(msgspec.Struct, frozen=True):
    """All that two people have to agree on about a case."""

    family: str = ""
    evidence: frozenset[str] = frozenset()
    minimum: int | None = None  # of the evidence; None: all of it
    path: LabelledPath | None = None
    edge_types: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()  # each in the order of its names

    def differing(self, other: CaseLabels) -> list[str]:
        """The labels in which two people differ."""
        return [name for name in self.__struct_fields__ if getattr(self, name) != getattr(other, name)]

    def expectation(self) -> dict[str, Any]:
        """The expectation of a case file."""
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
    """One row of a form, as far as somebody finished it."""

    row: CsvRow
    status: str
    labels: CaseLabels = CaseLabels()

    @property
    def finished(self) -> bool:
        return self.status not in UNFINISHED

    @property
    def case_id(self) -> str:
        return self.row["case_id"]

    @property
    def tags(self) -> list[str]:
        return split_cell(self.row["tags"])


def read_annotation(row: CsvRow, status: str, absent: Absent, problems: list[Problem]) -> CaseAnnotation:
    """What a row says; the labels of one that is not approved are not looked at."""
    if status != APPROVED:
        return CaseAnnotation(row, status)
    reading = _RowReader(row, absent, problems)
    evidence = reading.nodes("evidence_node_ids")
    if not split_cell(row["evidence_node_ids"]):
        reading.wrong("evidence_node_ids", "an approved case has evidence", "Name the units that support it.")
    if not row["query"]:
        reading.wrong("query", "an approved case asks something", "Write the query.")
    reading.one_of("difficulty", DIFFICULTIES)
    return CaseAnnotation(
        row,
        status,
        CaseLabels(
            _family(reading),
            frozenset(evidence),
            _minimum(reading, len(set(evidence))),
            _walk(reading),
            frozenset(split_cell(row["required_edge_types"])),
            frozenset(split_cell(row["required_semantic_roles"])),
            frozenset(_pairs(reading)),
        ),
    )


@dataclass(frozen=True)
class _RowReader:
    """The cells of a row, and what is wrong with them."""

    row: CsvRow
    absent: Absent
    problems: list[Problem]

    def wrong(self, column: str, what: str, fix: str = "") -> None:
        self.problems.append(self.row.problem(column, what, fix))

    def one_of(self, column: str, known: Iterable[str]) -> str:
        word = self.row[column].lower()
        if word not in known:
            names = [name for name in known if name]
            self.wrong(column, f"{word!r} is not known", did_you_mean(word, names))
        return word

    def node(self, column: str, name: str) -> str:
        """The id of a unit, which must be there."""
        if self.absent(name) is None:
            return name
        own = f"{self.row['doc_id']}:{name}"
        if self.absent(own) is None:
            self.wrong(column, f"{name!r} names no document", f"Write {own}.")
        else:
            self.wrong(column, *(self.absent(name) or ("", "")))
        return name

    def nodes(self, column: str) -> list[str]:
        """Units separated by semicolons; by commas too, where that makes ids of them."""
        found: list[str] = []
        for part in split_cell(self.row[column]):
            several = [part] if self.absent(part) is None else [each.strip() for each in part.split(",")]
            found += (self.node(column, each) for each in several if each)
        return found


def _family(reading: _RowReader) -> str:
    family = reading.one_of("case_family", FAMILIES) if reading.row["case_family"] else ""
    if not family:
        reading.wrong("case_family", "the cell is empty", f"Write one of {', '.join(FAMILIES)}.")
    elif (family == "sequence") != bool(SEQUENCE.search(reading.row["case_id"])):
        what = "a case whose id has prime- or probe- is of the family sequence, and no other is"
        reading.wrong("case_id", what, "Rename the case, or change its case_family.")
    return family


def _minimum(reading: _RowReader, evidence: int) -> int | None:
    """How many of the evidence nodes must be found; None for all."""
    cell = reading.row["minimum_evidence_matches"]
    if not cell:
        return None
    # Spreadsheets may save a whole number as 2.0.
    digits = cell.removesuffix(".0").lstrip("0")
    number = int(digits) if _SMALL.fullmatch(digits) else 0
    if not 1 <= number <= max(evidence, 1):
        what = f"{reprlib.repr(cell)} is no number from 1 to the {evidence} evidence nodes"
        reading.wrong("minimum_evidence_matches", what, "Correct it, or leave it empty for all.")
        return None
    return number if number < evidence else None


def _walk(reading: _RowReader) -> LabelledPath | None:
    cell = reading.row["path_steps"]
    scope = reading.one_of("path_scope", ("", *SCOPES)) or SCOPES[0]
    if not cell:
        if reading.row["path_scope"]:
            reading.wrong("path_scope", "there is no path", "Write path_steps, or empty the cell.")
        return None
    mode, colon, rest = cell.partition(":")
    if colon and mode.strip().lower() in MODES:
        mode, cell = mode.strip().lower(), rest
    else:
        mode = MODES[0]
    steps = [_step(reading, part.strip()) for part in cell.split(">") if part.strip()]
    if not steps:
        reading.wrong("path_steps", "the path has no step", "Write NODE > NODE via EDGE_TYPE.")
    return LabelledPath(scope, mode, tuple(steps))


def _step(reading: _RowReader, part: str) -> tuple[str, str | None]:
    node, via, edge = part.rpartition(" via ")
    if via and reading.absent(part) is not None:
        return reading.node("path_steps", node.strip()), edge.strip()
    return reading.node("path_steps", part), None


def _pairs(reading: _RowReader) -> list[tuple[str, str]]:
    column, found = "required_contradiction_pairs", []
    for part in split_cell(reading.row[column]):
        names = [reading.node(column, name.strip()) for name in part.split("/")]
        if len(names) != 2 or names[0] == names[1]:
            reading.wrong(column, f"{part!r} is no pair of two units", "Write NODE / NODE; NODE / NODE.")
        else:
            found.append((min(names), max(names)))
    return found
