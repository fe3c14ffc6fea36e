"""Which documents and which units to write cases about: drawn by a seed, within what people filled in.

Every choice is made by a hash of the seed and a name, so that a document more or less moves no other choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.dataset import digest
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.records import Passage
from assay.kinds.memory.annotation.cues import CUES, cues_of
from assay.kinds.memory.annotation.inventory import COLUMNS as INVENTORY
from assay.kinds.memory.annotation.inventory import InventoryEntry, read_inventory
from assay.kinds.memory.annotation.snapshot import frozen_version
from assay.kinds.memory.annotation.spreadsheet import write_table
from assay.kinds.memory.annotation.workspace import SourceDocument, Workspace, write_file

STRATA = ("document_family", "language", "complexity")
COLUMNS = ("case_id", "doc_id", "stratum", "node_id", "cues", "suggested_family", "section", "text")
ALL = "all"
SEQUENCE = re.compile(r"(?:^|-)(prime|probe)-")  # in the ids of cases that are asked in order
# What a unit of each kind lends itself to; one without a cue is close to others in wording alone.
SUGGESTED = {
    "exception": "exception",
    "condition": "multi_hop",
    "obligation": "direct",
    "plain": "hard_negative",
}


@dataclass(frozen=True)
class SampleSettings:
    """How to draw: documents in all (None: every one), the least a stratum, units a document."""

    documents: int | None = None
    least: int = 1
    units: int = 5
    by: tuple[str, ...] | None = None  # None: those of STRATA that somebody filled in
    seed: int = 0


class Stratum(msgspec.Struct, frozen=True):
    """The documents that share their values, and those that were drawn."""

    name: str
    size: int
    drawn: list[str]
    short: int = 0  # how many it lacks of the least


@dataclass(frozen=True)
class Sample:
    """What was drawn, and where it was written."""

    path: Path
    version: str
    by: list[str]
    seed: int
    strata: list[Stratum]
    cases: int
    suggested: dict[str, int]  # cases by suggested family

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        return {"schema": "assay/annotation-sample/1", **found}


def draw_sample(workspace: Workspace, drawing: SampleSettings, version: str | None = None) -> Sample:
    """Draws documents and units, and writes them down; the same settings give the same files."""
    inventory = read_inventory(workspace)
    snapshot = frozen_version(workspace, version)
    entries = [entry for entry in inventory.values() if entry.selected]
    if not entries:
        entries = [entry for entry in inventory.values() if entry.selected is None]
    if not entries:
        fix = "Write yes in selected_for_pilot for some."
        raise DataError(Problem("no document is selected", str(workspace.inventory), fix=fix))
    by = _by(entries, drawing, workspace.inventory)
    strata = _drawn(_grouped(entries, by), drawing)
    sources = {source.doc_id: source for source in workspace.sources}
    rows = [
        row
        for stratum in strata
        for doc_id in stratum.drawn
        for row in _rows(sources[doc_id], stratum.name, drawing)
    ]
    suggested = [row["suggested_family"] for row in rows]
    counts = {family: suggested.count(family) for family in SUGGESTED.values()}
    found = Sample(workspace.sample, snapshot.version, list(by), drawing.seed, strata, len(rows), counts)
    settings = msgspec.json.format(msgspec.json.encode({**found.as_json(), "drawing": drawing}), indent=2)
    write_table(workspace.sample, COLUMNS, rows)
    write_file(workspace.sample.with_suffix(".json"), settings + b"\n")
    return found


# -------------------------------------------------------------------------------------- documents


def _by(entries: Sequence[InventoryEntry], drawing: SampleSettings, where: Path) -> tuple[str, ...]:
    """The columns to draw within; a document that leaves one of them blank is in no stratum."""
    by = drawing.by
    if by is None:
        by = tuple(column for column in STRATA if any(entry.row[column] for entry in entries))
    known = {*INVENTORY, *(column for entry in entries for column in entry.row.cells)}
    for column in by:
        if column not in known:
            raise UsageError(f"The inventory has no column {column!r}. {did_you_mean(column, known)}")
    blank = [
        entry.row.problem(column, f"the cell of {entry.doc_id!r} is empty", f"Fill it in: see {where}.")
        for entry in entries
        for column in by
        if not entry.row[column]
    ]
    if blank:
        raise DataError(blank)
    return by


def _grouped(entries: Sequence[InventoryEntry], by: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for entry in entries:
        name = " / ".join(entry.row[column] for column in by) or ALL
        groups.setdefault(name, []).append(entry.doc_id)
    return dict(sorted(groups.items()))


def _drawn(groups: Mapping[str, list[str]], drawing: SampleSettings) -> list[Stratum]:
    sizes = {name: len(doc_ids) for name, doc_ids in groups.items()}
    counts = allotted(sizes, drawing.documents, drawing.least)
    return [
        Stratum(
            name,
            sizes[name],
            sorted(_shuffled(doc_ids, drawing.seed)[: counts[name]]),
            max(0, drawing.least - sizes[name]),
        )
        for name, doc_ids in groups.items()
    ]


def allotted(sizes: Mapping[str, int], total: int | None, least: int) -> dict[str, int]:
    """How many of each stratum: its least first, the rest by size, largest remainders first."""
    if total is None:
        return dict(sizes)
    counts = {name: min(least, size) for name, size in sizes.items()}
    spare = {name: size - counts[name] for name, size in sizes.items()}
    left = max(0, min(total - sum(counts.values()), sum(spare.values())))
    if not left:
        return counts
    shares = {name: left * each / sum(spare.values()) for name, each in spare.items()}
    counts = {name: count + int(shares[name]) for name, count in counts.items()}
    by_remainder = sorted(shares, key=lambda name: (int(shares[name]) - shares[name], name))
    for name in by_remainder[: left - sum(map(int, shares.values()))]:
        counts[name] += 1
    return counts


def _shuffled(names: Iterable[str], seed: int) -> list[str]:
    return sorted(names, key=lambda name: digest([str(seed).encode(), name.encode()]))


# ------------------------------------------------------------------------------------------ units


def _rows(source: SourceDocument, stratum: str, drawing: SampleSettings) -> list[dict[str, str]]:
    return [
        {
            "case_id": case_id(unit.doc_id),
            "doc_id": source.doc_id,
            "stratum": stratum,
            "node_id": unit.doc_id,
            "cues": "; ".join(cues_of(unit.text)),
            "suggested_family": SUGGESTED[_kind(unit)],
            "section": unit.section or "",
            "text": unit.text,
        }
        for unit in _some(source.units, drawing)
    ]


def case_id(node_id: str) -> str:
    """The id of the case that is written about a unit; a larger sample later keeps it.

    It does not tell the unit, which whoever labels the case second has to find alone.
    """
    stem = node_id.rpartition(":")[0]
    name = f"{stem}-{digest([node_id.encode()])[:6]}"
    return SEQUENCE.sub(lambda found: f"{found[0][:-1]}_", name)


def _some(units: Sequence[Passage], drawing: SampleSettings) -> list[Passage]:
    """One unit of each kind in turn, so that rare kinds are seen; in document order."""
    by_id = {unit.doc_id: unit for unit in units}
    order = _shuffled(by_id, drawing.seed)
    piles = [[name for name in order if _kind(by_id[name]) == kind] for kind in SUGGESTED]
    ranks = {name: (rank, pile) for pile, names in enumerate(piles) for rank, name in enumerate(names)}
    chosen = set(sorted(order, key=ranks.__getitem__)[: drawing.units])
    return [unit for unit in units if unit.doc_id in chosen]


def _kind(unit: Passage) -> str:
    """Its first cue, in the order of `CUES`; "plain" where it has none."""
    found = cues_of(unit.text)
    return next((kind for kind in CUES if kind in found), "plain")
