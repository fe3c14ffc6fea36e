"""Runs a cell: many studies of known truth through the real decision, and how often it was wrong.

Every study has a seed made of the cell's name and its number, so that any line can be run again, in any
order and on any number of processes.
"""

from __future__ import annotations

import math
import multiprocessing
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any

import msgspec
import numpy as np
from bench.calibration import program
from bench.calibration.cells import SMALL_SET, Cell
from bench.calibration.families import Floats, PairedScores, ScoreFamily, measure_of, median_of
from bench.calibration.shapes import SLICES, Side
from scipy import special

from assay.core.records import Verdict
from assay.stats.columns import TIE
from assay.stats.resample import cluster_sums, weighted_means

BUDGET = 0.05
LEAST_COVERAGE = 0.93  # of an interval, at all looks together if there are several
DOUBTFUL = 0.04  # a rate above this in the first studies asks for more of them
MONTE_CARLO = 0.99  # confidence of each of the two bounds of a simulated rate
POWER_SIZES = (SMALL_SET, 100, 300)  # of cells whose power is shown
CHUNK = 25  # studies that a process runs before it reports
Task = tuple[Cell, str, Side, range, float]  # cell, side by name and by value, studies, level
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
    coverage: Rate | None = None  # of the interval of the gate's only clause, if it has only one
    width: float | None = None  # of that interval relative to the plain one
    not_yet: str = ""
    shown_only: str = ""

    @property
    def broken(self) -> list[str]:
        """The sides whose budget is exceeded, and coverage where the interval does not hold the truth."""
        sides = [
            side for side in ("false go", "false no-go") if side in self.rates and self.rates[side].exceeds
        ]
        missed = self.coverage is not None and self.coverage.high < LEAST_COVERAGE
        return [*sides, *(["coverage"] if missed else [])]

    def doubtful(self, enough: int) -> bool:
        """Whether a rate that has a budget lies near it or above, in fewer studies than are enough."""
        sides = (self.rates[side] for side in ("false go", "false no-go") if side in self.rates)
        return not self.shown_only and any(rate.share > DOUBTFUL and rate.studies < enough for rate in sides)

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
        return msgspec.convert(found, cls)


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


@dataclass(frozen=True)
class Outcomes:
    """What some studies of one side came to. Sums, so that parts of a cell can be added."""

    studies: int = 0
    counted: int = 0  # ended in the verdict that the side counts
    intervals: int = 0  # studies whose only clause has a truth to cover
    covered: int = 0  # its interval held the truth at every look
    width: float = 0.0
    plain_width: float = 0.0  # of the plain interval: percentiles, over looks the interval of a single look

    def __add__(self, other: Outcomes) -> Outcomes:
        return Outcomes(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def outcome_of(cell: Cell, side: Side, what: str, study: int, level: float = program.LEVEL) -> Outcomes:
    """One simulated study, decided by the program."""
    random, measure = generator_of(cell.name, what, study), measure_of(cell.family)
    grows = cell.looks > 1 and not cell.planned
    scores = draw_study(random, cell.family, int(cell.n * LONGEST) if grows else cell.n, side.gains)
    if cell.shape.against:
        rows = program.rows_of(scores, measure)
        lost = program.loss_is_shown(rows, program.measure_named(measure))
        return Outcomes(1, int(lost == (side.word == "no-go")))
    planned = cell.n if cell.looks > 1 and cell.planned else None
    gate = program.gate_of(side.rules, strict=cell.strict, planned=planned)
    if cell.looks > 1:
        verdicts, plain = program.verdicts_over_looks(
            gate, scores, measure, cell.looks, planned=cell.planned, first=cell.n
        )
        plain_width = _width(plain)
    else:
        verdicts = [program.verdict_on(gate, program.rows_of(scores, measure), level)]
        plain_width = _percentile_width(scores, cell) if side.truth is not None else math.nan
    counted = int(verdicts[-1].verdict == side.word)
    if side.truth is None or what == "power":
        return Outcomes(1, counted)
    covered = int(all(_covers(verdict, side.truth) for verdict in verdicts))
    width = _width(verdicts[-1])
    if not math.isfinite(width + plain_width):
        return Outcomes(1, counted, 1, covered)
    return Outcomes(1, counted, 1, covered, width, plain_width)


def _covers(verdict: Verdict, truth: float) -> bool:
    """Whether the interval of a verdict's only clause holds the truth; no interval claims nothing."""
    (clause,) = verdict.clauses
    return (clause.low is None or clause.low - TIE <= truth) and (
        clause.high is None or truth <= clause.high + TIE
    )


def _width(verdict: Verdict) -> float:
    """The width of the interval of a verdict's only clause; NaN if there is none."""
    low, high = (
        (verdict.clauses[0].low, verdict.clauses[0].high) if len(verdict.clauses) == 1 else (None, None)
    )
    return math.nan if low is None or high is None else high - low


def _percentile_width(scores: PairedScores, cell: Cell) -> float:
    """The width of the plain percentile interval of what a clause is about; NaN if that is no mean."""
    if median_of(cell.family) is not None:
        return math.nan
    candidate, baseline = (
        np.atleast_2d(each).mean(axis=0) for each in (scores.candidates[0], scores.baseline)
    )
    column = candidate if cell.shape.name.startswith("number") else candidate - baseline
    return percentile_widths([column], scores.clusters)[0]


def percentile_widths(columns: Sequence[Floats], clusters: Any) -> list[float]:
    """The widths of plain percentile bootstrap intervals of means."""
    sums, counts = cluster_sums(np.column_stack(columns), clusters)
    weights = program.KeptWeights(program.RESAMPLES, seed=0).weights(len(sums))
    tail = (1 - program.LEVEL) / 2
    low, high = np.quantile(weighted_means(weights, sums, counts), [tail, 1 - tail], axis=0)
    return [float(each) for each in high - low]


def outcomes_of(task: Task) -> tuple[str, str, Outcomes]:
    """The outcomes of a range of studies."""
    cell, what, side, studies, level = task
    found = (outcome_of(cell, side, what, study, level) for study in studies)
    return cell.name, what, sum(found, Outcomes())


def tasks_of(cell: Cell, studies: int, level: float = program.LEVEL) -> Iterator[Task]:
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
    left = Counter(task[0].name for task in tasks)
    sums: dict[str, dict[str, Outcomes]] = {name: {} for name in waiting}
    for name, what, found in _spread(tasks, processes):
        sums[name][what] = sums[name].get(what, Outcomes()) + found
        left[name] -= 1
        if not left[name]:
            yield _result(waiting[name], sums.pop(name))


def _spread(tasks: Sequence[Any], processes: int) -> Iterator[tuple[str, str, Outcomes]]:
    if processes < 2:
        yield from map(outcomes_of, tasks)
        return
    # spawned, not forked: threads of the data frames would not survive a fork
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(outcomes_of, tasks)


def _result(cell: Cell, found: dict[str, Outcomes]) -> CellResult:
    order = ("false go", "false no-go", "power")
    rates = {side: Rate(found[side].counted, found[side].studies) for side in order if side in found}
    asked = found.get("false go", Outcomes())
    coverage = Rate(asked.covered, asked.intervals) if asked.intervals else None
    width = asked.width / asked.plain_width if asked.plain_width else None
    about = (cell.name, cell.shape.name, cell.family.name, cell.n)
    return CellResult(*about, rates, coverage, width, missing_for(cell), cell.shown_only)
