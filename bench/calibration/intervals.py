"""How often the intervals of tables hold the truth, and how wide they are beside plain percentiles."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
import numpy as np
from bench.calibration import program
from bench.calibration.cells import ALPHA, CATASTROPHES, chance_of_none, outside_families
from bench.calibration.families import (
    FAMILIES,
    LOWER_IS_BETTER,
    SEEDED,
    Floats,
    ScoreFamily,
    margin_of,
    measure_of,
)
from bench.calibration.simulate import Rate, generator_of, percentile_widths

SIZES = (10, 30, 50, 100, 300)
PROMISED_FROM = 30  # items, from which on intervals are to cover
LOWEST, HIGHEST = 0.93, 0.98
# Hardly any item differs from the others. As in a sign test, five items that differ show nothing at 95 %, and
# an interval that is honest about that holds the truth more often than it says.
HARDLY_DIFFER = {"ceiling", "ties"}
CHUNK = 50


@dataclass(frozen=True)
class IntervalResult:
    """Coverage of one family at one size: of a system's mean, and of its difference from the baseline."""

    family: str
    n: int
    estimate: Rate
    comparison: Rate
    estimate_width: float | None  # relative to the plain percentile interval; None: no interval is given
    comparison_width: float | None

    @property
    def off(self) -> list[str]:
        """Which of the two is shown to lie outside 93 to 98 %, if it is promised at this size."""
        if self.n < PROMISED_FROM or self.rare:
            return []
        both = {
            "estimate": (self.estimate, self.estimate_width),
            "comparison": (self.comparison, self.comparison_width),
        }
        return [
            what
            for what, (rate, width) in both.items()
            if width is not None and (rate.high < LOWEST or rate.low > HIGHEST)
        ]

    @property
    def rare(self) -> bool:
        """Whether a sample of this size may well hold none of the items that matter."""
        return self.family == CATASTROPHES or chance_of_none(self.family, self.n) > ALPHA

    @property
    def fails(self) -> bool:
        """Whether an interval is off, and not only too careful where hardly any item differs."""
        rates = {"estimate": self.estimate, "comparison": self.comparison}
        careful = self.family in HARDLY_DIFFER
        return any(not careful or rates[each].high < LOWEST for each in self.off)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "off": self.off}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> IntervalResult:
        return msgspec.convert(found, cls)


def every_family() -> tuple[ScoreFamily, ...]:
    return (*FAMILIES, *SEEDED, *outside_families())


def run_intervals(studies: int, processes: int) -> Iterator[IntervalResult]:
    """Every family at every size, as they are finished."""
    wanted = [(family, n) for family in every_family() for n in SIZES]
    tasks = [
        (family, n, range(start, min(start + CHUNK, studies)))
        for family, n in wanted
        for start in range(0, studies, CHUNK)
    ]
    sums: dict[tuple[str, int], list[Floats]] = {(family.name, n): [] for family, n in wanted}
    chunks = len(tasks) // len(wanted)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for name, n, found in pool.imap_unordered(_covered, tasks):
            sums[name, n].append(found)
            if len(sums[name, n]) == chunks:
                yield _result(name, n, np.concatenate(sums.pop((name, n))))


def _result(name: str, n: int, found: Floats) -> IntervalResult:
    covered = found[:, :2].sum(axis=0).astype(int)
    estimate, comparison = (Rate(int(count), len(found)) for count in covered)
    relative = [_relative(found[:, at], found[:, at + 2]) for at in (2, 3)]
    return IntervalResult(name, n, estimate, comparison, *relative)


def _relative(widths: Floats, plain: Floats) -> float | None:
    """The mean width of intervals beside that of plain ones, where there are both."""
    both = np.isfinite(widths) & (plain > 0)
    return float(widths[both].mean() / plain[both].mean()) if both.any() else None


def _covered(task: tuple[ScoreFamily, int, range]) -> tuple[str, int, Floats]:
    """Per study: whether the estimate and the comparison cover, their widths, and those of percentiles."""
    family, n, studies = task
    measure = program.measure_named(measure_of(family))
    gain = margin_of(family)
    difference = -gain if family.measure in LOWER_IS_BETTER else gain
    found = []
    for study in studies:
        scores = family.draw(generator_of("intervals", family.name, n, study), n, [gain])
        shown = program.tables_of(program.rows_of(scores, measure_of(family)), measure)
        truths = (family.mean + difference, difference)
        # no interval is no claim, and covers whatever is true
        ends = [
            (-np.inf if one.low is None else one.low, np.inf if one.high is None else one.high)
            for one in shown
        ]
        covers = [low - 1e-12 <= true <= high + 1e-12 for (low, high), true in zip(ends, truths, strict=True)]
        candidate, baseline = (
            np.atleast_2d(each).mean(axis=0) for each in (scores.candidates[0], scores.baseline)
        )
        plain = percentile_widths([candidate, candidate - baseline], scores.clusters)
        widths = [high - low if np.isfinite(high - low) else np.nan for low, high in ends]
        found.append([*covers, *widths, *plain])
    return family.name, n, np.array(found, dtype=np.float64)
