"""The compare stage: estimates of every arm and paired comparisons of systems, overall and by slice.

Within a slice all systems and measures are resampled together, so that a difference of means is a difference
of columns of one matrix.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.measures.block import FAILED, NOT_APPLICABLE, PENDING, UNJUDGED
from assay.protocols import Measure
from assay.records import Comparison, Estimate, Factors
from assay.slices import Condition
from assay.stats.corrections import benjamini_hochberg, holm
from assay.stats.effects import cliffs_delta_paired, cohens_dz, win_tie_loss
from assay.stats.intervals import Interval, bonett_price, interval_of, proportion_interval
from assay.stats.power import POWER
from assay.stats.resample import cluster_sums, jackknife_means, plain_means, resampled_means
from assay.stats.rows import Column, Rows, status_counts
from assay.stats.tests import mcnemar, sign_flip

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
SHOWN_ITEMS = 3
MCNEMAR, SIGN_FLIP = "McNemar", "sign-flip permutation"
OPEN = {PENDING: "not run yet", UNJUDGED: "not judged"}


@dataclass(frozen=True)
class Comparing:
    """How to compare: pairs, correction, resamples, level, seed, slices."""

    baseline: str
    against: str = "baseline"
    correction: str = "holm"
    resamples: int = 10_000
    level: float = 0.95
    seed: int = 0
    by: Sequence[str] = ()

    def pairs(self, systems: Sequence[str]) -> list[tuple[str, str]]:
        """Which systems are compared, the challenger first."""
        if self.against == "all":
            return [(b, a) for a, b in itertools.combinations(systems, 2)]
        return [(system, self.baseline) for system in systems if system != self.baseline]


@dataclass(frozen=True)
class Slice:
    """A part of the rows: a combination of factors, and at most one tag value."""

    factors: Factors
    where: dict[str, str]
    mask: Bools


def slices(rows: Rows, by: Sequence[str]) -> Iterator[Slice]:
    """All rows of each combination of factors, then each value of each tag within it."""
    for combo in rows.combinations:
        within = rows.mask([Condition(name, True, (value,)) for name, value in combo.items()])
        yield Slice(combo, {}, within)
        for tag in by:
            for value in rows.known_values(tag):
                yield Slice(combo, {tag: value}, within & rows.mask([Condition(tag, True, (value,))]))


def summarise(
    rows: Rows, measures: Sequence[Measure], how: Comparing
) -> tuple[list[Estimate], list[Comparison]]:
    """Every estimate, and every declared comparison with p-values corrected within families.

    A family is one measure over all pairs: overall comparisons are one, slices another.
    """
    estimates: list[Estimate] = []
    comparisons: list[Comparison] = []
    for part in slices(rows, how.by):
        here = [
            system
            for system in rows.systems
            if any(arm.factors.items() <= part.factors.items() for arm in rows.arms(system))
        ]
        table = _Table(rows, part, [(system, measure.name) for system in here for measure in measures], how)
        estimates += [table.estimate(system, measure) for measure in measures for system in here]
        comparisons += [table.compare(pair, measure) for measure in measures for pair in how.pairs(here)]
    return estimates, _corrected(comparisons, how.correction)


@dataclass(frozen=True)
class _Drawn:
    """One column over the rows it counts: values, mean, leave-one-out means, resampled means."""

    values: Floats
    sums: Floats  # by cluster
    point: float
    jackknife: Floats
    draws: Floats


class _Table:
    """The columns of one slice. Those that count the same rows are resampled in one product."""

    def __init__(self, rows: Rows, part: Slice, names: Sequence[tuple[str, str]], how: Comparing) -> None:
        self.rows, self.part, self.how = rows, part, how
        self._drawn: dict[tuple[str, str], _Drawn] = {}
        groups: dict[bytes, list[tuple[str, str]]] = {}
        for name in names:
            groups.setdefault((part.mask & rows.column(*name).counted).tobytes(), []).append(name)
        for members in groups.values():
            columns = [rows.column(*name) for name in members]
            self._drawn.update(zip(members, self._draw(columns), strict=True))

    def estimate(self, system: str, measure: Measure) -> Estimate:
        """A system's mean with its interval; no value where no row counts."""
        column, drawn = self.rows.column(system, measure.name), self._drawn[system, measure.name]
        n = len(drawn.values)
        interval = self._interval(drawn, measure) if n else None
        return Estimate(
            system,
            self.part.factors,
            measure.name,
            self.part.where,
            drawn.point if n else None,
            *_ends(interval),
            n,
            int((self.part.mask & column.expected).sum()),
            interval.method if interval else "",
            status_counts(column, self.part.mask),
        )

    def compare(self, pair: tuple[str, str], measure: Measure) -> Comparison:
        """The first system of the pair less the second."""
        a, b = (self.rows.column(system, measure.name) for system in pair)
        about = (*pair, self.part.factors, measure.name, self.part.where)
        shared = self.part.mask & a.counted & b.counted
        refused = self._refusal(pair, measure) or ("" if shared.any() else "no item applies to both")
        if refused:
            return Comparison(*about, *(None,) * 6, 0, 0, 0, int(shared.sum()), refused=refused)
        difference = a.values[shared] - b.values[shared]
        outcomes = [self._tested(left, right, measure) for left, right in self._imputed(pair, measure)]
        p = max(p for _, p, _ in outcomes)
        binary, hull = outcomes[0][2] == MCNEMAR, _hull([interval for interval, _, _ in outcomes])
        return Comparison(
            *about,
            float(difference.mean()),
            *_ends(hull),
            p,
            p,
            _finite(cliffs_delta_paired(difference) if binary else cohens_dz(difference)),
            *win_tie_loss(difference if measure.better == "higher" else -difference),
            int(shared.sum()),
            effect_name="Cliff's delta" if binary else "Cohen's d",
            test=outcomes[0][2],
            family=measure.name + (" by slice" if self.part.where else ""),
            mde=None if p < 1 - self.how.level else _detectable(hull, self.how.level),
        )

    def _draw(self, columns: Sequence[Column]) -> list[_Drawn]:
        """Columns that count the same rows, resampled together."""
        used = self.part.mask & columns[0].counted
        values = np.array([column.values[used] for column in columns]).T
        if not len(values):
            return [_Drawn(column, column, np.nan, column, column) for column in values.T]
        sums, counts = cluster_sums(values, self.rows.clusters[used])
        points, left_out = plain_means(sums, counts), jackknife_means(sums, counts)
        draws = resampled_means(sums, counts, self.how.resamples, self.how.seed)
        return [
            _Drawn(values[:, at], sums[:, at], float(points[at]), left_out[:, at], draws[:, at])
            for at in range(len(columns))
        ]

    def _imputed(self, pair: tuple[str, str], measure: Measure) -> Iterator[tuple[_Drawn, _Drawn]]:
        """Both columns of a pair, once for each way to count failed rows."""
        columns = [self.rows.column(system, measure.name) for system in pair]
        failing = [bool((self.part.mask & (column.status == FAILED)).any()) for column in columns]
        if not any(failing):
            yield self._drawn[pair[0], measure.name], self._drawn[pair[1], measure.name]
            return
        ends = [(measure.low, measure.high) if fails else (None,) for fails in failing]
        for chosen in itertools.product(*ends):
            filled = [
                column if end is None else column.imputed(end)
                for column, end in zip(columns, chosen, strict=True)
            ]
            left, right = self._draw(filled)
            yield left, right

    def _tested(self, a: _Drawn, b: _Drawn, measure: Measure) -> tuple[Interval, float, str]:
        """Interval, p-value and test of a paired difference."""
        n, difference = len(a.jackknife), a.values - b.values
        if _binary(measure, a, b):
            gains, losses = int(np.sum(difference > 0)), int(np.sum(difference < 0))
            return bonett_price(gains, losses, n, self.how.level), mcnemar(a.values, b.values), MCNEMAR
        interval = interval_of(
            a.draws - b.draws,
            a.point - b.point,
            n,
            jackknife=a.jackknife - b.jackknife,
            bounds=None if measure.high is None else (measure.low - measure.high, measure.high - measure.low),
            level=self.how.level,
        )
        # rows of a cluster depend on each other, so a flip turns the whole cluster
        p = sign_flip((a.sums - b.sums)[:, None], self.how.resamples, self.how.seed)
        return interval, float(p[0]), SIGN_FLIP

    def _interval(self, drawn: _Drawn, measure: Measure) -> Interval:
        n = len(drawn.jackknife)
        if _binary(measure, drawn):
            return proportion_interval(int(drawn.values.sum()), n, self.how.level)
        return interval_of(
            drawn.draws,
            drawn.point,
            n,
            jackknife=drawn.jackknife,
            bounds=None if measure.high is None else (measure.low, measure.high),
            level=self.how.level,
        )

    def _refusal(self, pair: tuple[str, str], measure: Measure) -> str:
        """Why two systems cannot be compared: rows that only one has, or that are still open."""
        status = [self.rows.column(system, measure.name).status[self.part.mask] for system in pair]
        if (differ := (status[0] == NOT_APPLICABLE) != (status[1] == NOT_APPLICABLE)).any():
            return f"different items: {self._named(differ)} apply to one of the two only"
        for system, found in zip(pair, status, strict=True):
            for code, word in OPEN.items():
                if (rest := found == code).any():
                    return f"{system}: {int(rest.sum())} items {word} ({self._named(rest)})"
            if measure.high is None and (rest := found == FAILED).any():
                return f"{system}: {int(rest.sum())} items failed ({self._named(rest)})"
        return ""

    def _named(self, chosen: Bools) -> str:
        which = np.flatnonzero(self.part.mask)[chosen]
        names = ", ".join(self.rows.item_of(row).item_id for row in which[:SHOWN_ITEMS])
        return names if len(which) <= SHOWN_ITEMS else f"{names} and {len(which) - SHOWN_ITEMS} more"


def _corrected(found: Sequence[Comparison], correction: str) -> list[Comparison]:
    if correction == "none":
        return list(found)
    adjust = holm if correction == "holm" else benjamini_hochberg
    adjusted: list[float | None] = [None] * len(found)
    for family in dict.fromkeys(comparison.family for comparison in found):
        members = [index for index, comparison in enumerate(found) if comparison.family == family]
        for index, p in zip(members, adjust([found[index].p for index in members]), strict=True):
            adjusted[index] = p
    return [msgspec.structs.replace(one, p_adjusted=p) for one, p in zip(found, adjusted, strict=True)]


def _binary(measure: Measure, *columns: _Drawn) -> bool:
    """Whether a column is a plain proportion: zeros and ones, each row its own cluster."""
    return measure.binary and all(
        len(column.jackknife) == len(column.values) and bool(np.isin(column.values, (0.0, 1.0)).all())
        for column in columns
    )


def _hull(intervals: Sequence[Interval]) -> Interval:
    """The interval that holds them all."""
    lows, highs = [each.low for each in intervals], [each.high for each in intervals]
    return Interval(min(lows), max(highs), intervals[0].method)


def _detectable(interval: Interval, level: float) -> float | None:
    """The smallest true difference found with 80 % power, given how wide the interval came out."""
    reach = special.ndtri((1 + level) / 2)
    return _finite(float((reach + special.ndtri(POWER)) / reach * (interval.high - interval.low) / 2))


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (_finite(interval.low), _finite(interval.high))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
