"""The documents and units to write cases about, drawn at random by a seed, within strata.

Every choice is made by a hash of the seed and a name. Adding or removing a document therefore leaves the
random order of the others unchanged.
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
from assay.kinds.memory.annotation.documents import (
    CUES,
    INVENTORY_COLUMNS,
    STRATA,
    InventoryEntry,
    cues_of,
    frozen_version,
    read_inventory,
)
from assay.kinds.memory.annotation.workspace import Workspace, write_file, write_table

SAMPLE_COLUMNS = ("case_id", "doc_id", "stratum", "node_id", "cues", "suggested_family", "section", "text")
SEQUENCE = re.compile(r"(?:^|-)(prime|probe)-")  # part of the ids of cases that are asked in order
# The family of case that each kind of unit suits. A unit without a cue is only worded like others.
SUGGESTED = {
    "exception": "exception",
    "condition": "multi_hop",
    "obligation": "direct",
    "plain": "hard_negative",
}


@dataclass(frozen=True)
class SampleSettings:
    """The numbers and columns by which a sample is drawn."""

    documents: int | None = None  # how many documents in all; None: every one
    least: int = 1  # the fewest documents per stratum
    units: int = 5  # how many units per document
    by: tuple[str, ...] | None = None  # the columns that make strata; None: the columns of STRATA with values
    seed: int = 0


class Stratum(msgspec.Struct, frozen=True):
    """The documents with the same values in the columns of the strata, and which of them were drawn."""

    name: str
    size: int
    drawn: list[str]
    short: int = 0  # how many documents are missing to reach the least


@dataclass(frozen=True)
class Sample:
    """The sample that was drawn, and the path of its file."""

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


def draw_sample(workspace: Workspace, settings: SampleSettings, version: str | None = None) -> Sample:
    """Draws documents and units, and writes them to the sample file. Equal settings give equal files."""
    inventory = read_inventory(workspace)
    snapshot = frozen_version(workspace, version)
    entries = [entry for entry in inventory.values() if entry.selected]
    if not entries:
        entries = [entry for entry in inventory.values() if entry.selected is None]
    if not entries:
        fix = "Write yes in selected_for_pilot for some."
        raise DataError(Problem("no document is selected", str(workspace.inventory), fix=fix))
    by = _strata_columns(entries, settings, workspace.inventory)
    groups: dict[str, list[str]] = {}
    for entry in entries:
        name = " / ".join(entry.row[column] for column in by) or "all"
        groups.setdefault(name, []).append(entry.doc_id)
    counts = allocate({name: len(ids) for name, ids in groups.items()}, settings.documents, settings.least)
    strata = [
        Stratum(
            name,
            len(doc_ids),
            sorted(_shuffled(doc_ids, settings.seed)[: counts[name]]),
            max(0, settings.least - len(doc_ids)),
        )
        for name, doc_ids in sorted(groups.items())
    ]
    units = {source.doc_id: source.units for source in workspace.sources}
    rows = [
        {
            "case_id": case_id(unit.doc_id),
            "doc_id": doc_id,
            "stratum": stratum.name,
            "node_id": unit.doc_id,
            "cues": "; ".join(cues_of(unit.text)),
            "suggested_family": SUGGESTED[_kind(unit)],
            "section": unit.section or "",
            "text": unit.text,
        }
        for stratum in strata
        for doc_id in stratum.drawn
        for unit in _draw_units(units[doc_id], settings)
    ]
    suggested = [row["suggested_family"] for row in rows]
    by_family = {family: suggested.count(family) for family in SUGGESTED.values()}
    found = Sample(workspace.sample, snapshot.version, list(by), settings.seed, strata, len(rows), by_family)
    written = msgspec.json.format(msgspec.json.encode({**found.as_json(), "drawing": settings}), indent=2)
    write_table(workspace.sample, SAMPLE_COLUMNS, rows)
    write_file(workspace.sample.with_suffix(".json"), written + b"\n")
    return found


def _strata_columns(
    entries: Sequence[InventoryEntry], settings: SampleSettings, where: Path
) -> tuple[str, ...]:
    """Returns the columns that make strata. Every document must have a value in each of these columns."""
    by = settings.by
    if by is None:
        by = tuple(column for column in STRATA if any(entry.row[column] for entry in entries))
    known = {*INVENTORY_COLUMNS, *(column for entry in entries for column in entry.row.cells)}
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


def allocate(sizes: Mapping[str, int], total: int | None, least: int) -> dict[str, int]:
    """Returns how many documents are drawn from each stratum; all of them if `total` is None.

    Each stratum first gets `least` documents, or all it has. The rest of `total` is shared in proportion to
    the documents that are left in each stratum, by the method of largest remainders.
    """
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


def case_id(node_id: str) -> str:
    """Returns the id of the case about a unit. In a larger sample, the case has the same id.

    The id does not name the unit, because the second person to label the case has to find the unit again.
    """
    stem = node_id.rpartition(":")[0]
    name = f"{stem}-{digest([node_id.encode()])[:6]}"
    return SEQUENCE.sub(lambda found: f"{found[0][:-1]}_", name)


def _draw_units(units: Sequence[Passage], settings: SampleSettings) -> list[Passage]:
    """Draws units of each kind in turn, so that rare kinds are drawn too; returns them in document order."""
    by_id = {unit.doc_id: unit for unit in units}
    order = _shuffled(by_id, settings.seed)
    piles = [[name for name in order if _kind(by_id[name]) == kind] for kind in SUGGESTED]
    ranks = {name: (rank, pile) for pile, names in enumerate(piles) for rank, name in enumerate(names)}
    chosen = set(sorted(order, key=ranks.__getitem__)[: settings.units])
    return [unit for unit in units if unit.doc_id in chosen]


def _kind(unit: Passage) -> str:
    """Returns the first kind of cue that a unit has, in the order of `CUES`; "plain" if it has none."""
    found = cues_of(unit.text)
    return next((kind for kind in CUES if kind in found), "plain")
