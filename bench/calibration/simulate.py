"""Runs a cell: many studies of known truth through the real decision, and how often it was wrong.

Every study has a seed made of the cell's name and its number, so that any line can be run again, in any
order and on any number of processes.
"""

from __future__ import annotations

import multiprocessing
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from bench.calibration import program
from bench.calibration.cells import Cell
from bench.calibration.families import PairedScores, ScoreFamily
from bench.calibration.shapes import SLICES, Side
from scipy import special

BUDGET = 0.05
MONTE_CARLO = 0.99  # confidence of each of the two bounds of a simulated rate
POWER_SIZES = (100, 300)  # of cells whose power is shown
CHUNK = 25  # studies that a process runs before it reports
LONGEST = 10.0  # times the first size that a study grows to if nobody plans its looks


@dataclass(frozen=True)
class Rate:
    """How often something happened in so many studies, with one-sided bounds (Clopper and Pearson, 1934)."""

    count: int
    studies: int

    @property
    def share(self) -> float:
        return self.count / self.studies

    @property
    def low(self) -> float:
        if self.count == 0:
            return 0.0
        return float(special.betaincinv(self.count, self.studies - self.count + 1, 1 - MONTE_CARLO))

    @property
    def high(self) -> float:
        if self.count == self.studies:
            return 1.0
        return float(special.betaincinv(self.count + 1, self.studies - self.count, MONTE_CARLO))

    @property
    def exceeds(self) -> bool:
        """Whether chance in the simulation does not explain that the budget is exceeded."""
        return self.low > BUDGET


@dataclass(frozen=True)
class CellResult:
    """One line of the table: the rate of each side, or why the program could not be asked."""

    name: str
    shape: str
    family: str
    n: int
    rates: dict[str, Rate] = field(default_factory=dict)
    not_yet: str = ""
    shown_only: str = ""

    @property
    def broken(self) -> list[str]:
        """The sides whose budget is exceeded."""
        return [side for side in ("false go", "false no-go") if side in self.rates and self.rates[side].exceeds]

    @property
    def state(self) -> str:
        """One word for the table; only a cell that was asked and kept its budget passes."""
        if self.not_yet:
            return "not yet"
        if self.shown_only:
            return "shown"
        return "FAILS" if self.broken else "kept"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "state": self.state, "broken": self.broken}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> CellResult:
        rates = {side: Rate(**rate) for side, rate in found["rates"].items()}
        kept = {name: found[name] for name in ("name", "shape", "family", "n", "not_yet", "shown_only")}
        return cls(**kept, rates=rates)


def generator_of(*names: str | int) -> np.random.Generator:
    """The random generator of one study of a cell."""
    return np.random.default_rng([zlib.crc32(str(name).encode()) for name in names])


def draw_study(
    random: np.random.Generator, family: ScoreFamily, n: int, gains: Sequence[Sequence[float]]
) -> PairedScores:
    """A study of n items; if gains differ by slice, each slice is drawn with its own and they alternate."""
    if len(gains) == 1:
        return family.draw(random, n, gains[0])
    sizes = [len(range(part, n, SLICES)) for part in range(SLICES)]
    drawn = [family.draw(random, size, each) for size, each in zip(sizes, gains, strict=True)]
    shape = drawn[0].candidates.shape[:-1]
    baseline, candidates = np.empty((*shape[1:], n)), np.empty((*shape, n))
    clusters = None if drawn[0].clusters is None else np.empty(n, dtype=np.int64)
    for part, each in enumerate(drawn):
        baseline[..., part::SLICES], candidates[..., part::SLICES] = each.baseline, each.candidates
        if clusters is not None and each.clusters is not None:
            clusters[part::SLICES] = each.clusters * SLICES + part
    return PairedScores(baseline, candidates, clusters)


def verdict_of(cell: Cell, side: Side, study: int, what: str, level: float = program.LEVEL) -> str:
    """The verdict on one simulated study."""
    random, measure = generator_of(cell.name, what, study), cell.family.measure
    grows = cell.looks > 1 and not cell.planned
    scores = draw_study(random, cell.family, int(cell.n * LONGEST) if grows else cell.n, side.gains)
    if cell.shape.against:
        return program.verdict_against(program.rows_of(scores, measure), program.measure_named(measure))
    gate = program.gate_of(side.rules, strict=cell.strict)
    if cell.looks > 1:
        return program.verdict_over_looks(
            gate, scores, measure, cell.looks, planned=cell.planned, first=cell.n
        )
    return program.verdict_on(gate, program.rows_of(scores, measure), level).verdict


def count_verdicts(task: tuple[Cell, str, Side, range, float]) -> tuple[str, str, int, int]:
    """How many studies of a range ended in the verdict that a side counts."""
    cell, what, side, studies, level = task
    found = sum(verdict_of(cell, side, study, what, level) == side.word for study in studies)
    return cell.name, what, found, len(studies)


def tasks_of(cell: Cell, studies: int, level: float = program.LEVEL) -> Iterator[tuple[Any, ...]]:
    for what, side in cell.shape.sides(cell.family).items():
        if what == "power" and cell.n not in POWER_SIZES:
            continue
        number = max(1, studies // 2) if what == "power" else studies
        for start in range(0, number, CHUNK):
            yield cell, what, side, range(start, min(start + CHUNK, number)), level


def missing_for(cell: Cell) -> str:
    """What the program lacks to decide a cell as it promises; empty if nothing is missing."""
    try:
        for side in cell.shape.sides(cell.family).values():
            if not cell.shape.against:
                program.gate_of(side.rules, strict=cell.strict)
    except program.NotYet as missing:
        return str(missing)
    if cell.looks > 1 and not program.looks_are_recorded():
        return "earlier looks are not taken into account: plain figures"
    return ""


def can_run(cell: Cell) -> bool:
    """Whether figures can be made, be it by a program that promises nothing for such a cell."""
    return not (missing := missing_for(cell)) or missing.endswith("plain figures")


def run_cells(
    cells: Sequence[Cell], studies: int, processes: int, level: float = program.LEVEL
) -> Iterator[CellResult]:
    """The result of every cell, in the order in which they are finished."""
    waiting = {cell.name: cell for cell in cells}
    for cell in cells:
        if not can_run(cell):
            yield _result(waiting.pop(cell.name), {})
    tasks = [task for cell in waiting.values() for task in tasks_of(cell, studies, level)]
    left = {name: sum(task[0].name == name for task in tasks) for name in waiting}
    counts: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in waiting}
    for name, what, found, tried in _spread(tasks, processes):
        had = counts[name].get(what, (0, 0))
        counts[name][what] = had[0] + found, had[1] + tried
        left[name] -= 1
        if not left[name]:
            yield _result(waiting[name], {side: Rate(*each) for side, each in counts.pop(name).items()})


def _spread(tasks: Sequence[Any], processes: int) -> Iterator[tuple[str, str, int, int]]:
    if processes < 2:
        yield from map(count_verdicts, tasks)
        return
    # spawned, not forked: threads of the data frames would not survive a fork
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(count_verdicts, tasks)


def _result(cell: Cell, rates: dict[str, Rate]) -> CellResult:
    order = ("false go", "false no-go", "power")
    ordered = {side: rates[side] for side in order if side in rates}
    about = (cell.name, cell.shape.name, cell.family.name, cell.n)
    return CellResult(*about, ordered, missing_for(cell), cell.shown_only)
