"""Estimates the mean of every arm, and compares pairs of systems, on all rows and by slice.

Within a slice all systems and measures are resampled together. So the resamples of a difference of two means
are the differences of two columns of one matrix.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from assay.core.block import FAILED, PENDING, UNJUDGED
from assay.core.dataset import Condition
from assay.core.protocols import Measure
from assay.core.records import Arm, Comparison, Estimate, Factors
from assay.measures.observed import is_unbounded
from assay.stats.columns import TIE, count_discordant
from assay.stats.families import Contrast, FamilyDecisions, GateDifference
from assay.stats.intervals import (
    NO_INTERVAL,
    Interval,
    ResampledMean,
    bonett_price,
    interval_of,
    proportion_interval,
)
from assay.stats.paired_tests import (
    cliffs_delta_paired,
    cohens_dz,
    mcnemar,
    sign_flip,
    wilcoxon,
    win_tie_loss,
)
from assay.stats.planning import detectable_difference
from assay.stats.resample import Draws, cluster_sums, jackknife_means, plain_means, weighted_means
from assay.stats.rows import Column, Rows, status_counts
from assay.stats.widening import SeedStandardError, seed_error_of_columns

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
MCNEMAR, SIGN_FLIP = "McNemar", "sign-flip permutation"
OPEN = {PENDING: "not run yet", UNJUDGED: "not judged"}

# The key of a column: system, measure, and the value of failed rows (None: failed rows are left out).
ColumnKey = tuple[str, str, float | None]


@dataclass(frozen=True)
class ComparisonSettings:
    """How to compare: which pairs, correction, resamples, level, seed and slices."""

    baseline: str
    against: str = "baseline"
    correction: str = "holm"
    resamples: int = 10_000
    level: float = 0.95
    seed: int = 0
    by: Sequence[str] = ()
    family: str = ""  # the name of one family of all measures; empty: one family per measure

    def pairs(self, systems: Sequence[str]) -> list[tuple[str, str]]:
        """Returns the pairs of systems to compare. A difference is the first system minus the second."""
        if self.against == "none":
            return []
        if self.against == "all":
            return [(b, a) for a, b in combinations(systems, 2)]
        others = [system for system in systems if system != self.baseline]
        return [(system, self.baseline) for system in others] if self.baseline in systems else []


@dataclass(frozen=True)
class Slice:
    """A part of the rows: a combination of factors, and at most one value of a tag."""

    factors: Factors
    where: dict[str, str]
    mask: Bools


def slices(rows: Rows, by: Sequence[str]) -> Iterator[Slice]:
    """Yields all rows of each combination of factors, then the rows of each value of each tag within them."""
    for combo in rows.combinations:
        within = rows.mask([Condition(name, True, (value,)) for name, value in combo.items()])
        yield Slice(combo, {}, within)
        for tag in by:
            for value in rows.known_values(tag):
                yield Slice(combo, {tag: value}, within & rows.mask([Condition(tag, True, (value,))]))


def summarise(
    rows: Rows,
    measures: Sequence[Measure],
    how: ComparisonSettings,
    declared: Sequence[GateDifference] = (),
    draws: Draws | None = None,
) -> tuple[list[Estimate], list[Comparison]]:
    """Returns every estimate, and every comparison with its decision and corrected p-value.

    A family is all comparisons of one measure over all rows; the comparisons by slice are another family.
    `declared` are the differences that gates decide. They belong to the families of their gates. `draws` may
    be the gates' resamples, so that no resample is drawn twice.
    """
    estimates: dict[tuple[object, ...], Estimate] = {}
    compared: set[tuple[object, ...]] = set()
    draws, parts = draws or Draws(how.resamples, how.seed), list(slices(rows, how.by))
    largest = len(parts) * len(how.pairs(rows.systems)) * (len(measures) if how.family else 1)
    decisions = FamilyDecisions[Comparison](how.correction, how.level, largest)
    for part in parts:
        arms = [arm for system in rows.systems if (arm := rows.arm(system, part.factors))]
        here = [arm.system for arm in arms]
        table = _SliceTable(rows, part, here, measures, how, draws)
        for measure, arm in product(measures, arms):
            # an arm without the factor is the same in every combination, and estimated once
            estimates.setdefault((arm.name, measure.name, *part.where.items()), table.estimate(arm, measure))
        named = {arm.system: arm.name for arm in arms}
        for contrast in table.compare(how.pairs(here), measures):
            one = contrast.record
            key = (named[one.a], named[one.b], one.measure, *one.where.items())
            if key not in compared:
                compared.add(key)
                found = _declared(one, part.mask, rows, declared)
                decisions.add(dataclasses.replace(contrast, declared=found))
    return list(estimates.values()), decisions.records()


def _declared(
    one: Comparison, mask: Bools, rows: Rows, declared: Sequence[GateDifference]
) -> GateDifference | None:
    """Finds the difference that a gate decides for the same measure, systems and rows.

    If there are several, one whose interval excludes zero comes first. A factor that neither system has
    repeats rows; repeated rows count as the same.
    """

    def distinct(within: Bools) -> set[tuple[str, ...]]:
        tables = zip(rows.combinations, within.reshape(-1, len(rows.items)), strict=True)
        return {
            (
                *(arm.name if (arm := rows.arm(each, combo)) else "" for each in (one.a, one.b)),
                items.tobytes().hex(),
            )
            for combo, items in tables
            if items.any()
        }

    fitting = [
        each
        for each in declared
        if each.measure == one.measure and {each.a, each.b} == {one.a, one.b}
        if np.array_equal(each.rows, mask) or distinct(each.rows) == distinct(mask)
    ]
    shows = (each for each in fitting if each.low > -TIE or each.high < TIE)
    found = next(shows, next(iter(fitting), None))
    if found is None or found.a == one.a:
        return found
    return dataclasses.replace(found, a=one.a, b=one.b, low=-found.high, high=-found.low)


@dataclass(frozen=True)
class _ResampledColumn:
    """One column over the rows that count: values, mean, leave-one-out means, resampled means."""

    values: Floats
    sums: Floats  # by cluster
    point: float
    jackknife: Floats
    draws: Floats


class _SliceTable:
    """The columns of one slice. Columns over the same rows are resampled together, by one matrix product."""

    def __init__(
        self,
        rows: Rows,
        part: Slice,
        systems: Sequence[str],
        measures: Sequence[Measure],
        how: ComparisonSettings,
        draws: Draws,
    ) -> None:
        self.rows, self.part, self.how, self.draws = rows, part, how, draws
        self._drawn: dict[ColumnKey, _ResampledColumn] = {}
        groups: dict[bytes, dict[ColumnKey, Column]] = {}
        # sorted by name, because a column's place in a product may change its last bit
        for system, measure in product(sorted(systems), sorted(measures, key=lambda each: each.name)):
            for name in {(system, measure.name, None): None, **dict.fromkeys(self._names(system, measure))}:
                column = self._column(name)
                groups.setdefault((part.mask & column.counted).tobytes(), {})[name] = column
        for members in groups.values():
            self._drawn.update(zip(members, self._draw(list(members.values())), strict=True))

    def estimate(self, arm: Arm, measure: Measure) -> Estimate:
        """Returns an arm's mean with its interval. There is no value if no row counts.

        A mean of times, costs or sizes has an interval only if the study declares a limit. Otherwise no
        interval covers the true mean as often as it claims.
        """
        column, drawn = (
            self.rows.column(arm.system, measure.name),
            self._drawn[arm.system, measure.name, None],
        )
        n = len(drawn.values)
        interval = self._interval(drawn, measure) if n and not is_unbounded(measure) else None
        if interval and (seeds := self._seeds(measure, self.part.mask & column.counted, arm.system)):
            interval = seeds.widened(interval, drawn.point, self.how.level)
        return Estimate(
            arm.system,
            arm.factors,
            measure.name,
            self.part.where,
            drawn.point if n else None,
            *_ends(interval),
            n,
            int((self.part.mask & column.expected).sum()),
            interval.method if interval else "",
            status_counts(column, self.part.mask),
        )

    def compare(
        self, pairs: Sequence[tuple[str, str]], measures: Sequence[Measure]
    ) -> Iterator[Contrast[Comparison]]:
        """Yields the first system minus the second for each pair, or why the pair cannot be compared."""
        asked = [(pair, measure, self._ways(pair, measure)) for measure, pair in product(measures, pairs)]
        flipped = self._flipped([way for _, _, ways in asked for way in ways])
        for pair, measure, ways in asked:
            yield self._comparison(pair, measure, ways, flipped)

    def _ways(self, pair: tuple[str, str], measure: Measure) -> list[tuple[ColumnKey, ColumnKey]]:
        if self._refusal(pair, measure):
            return []
        return [(a, b) for a in self._names(pair[0], measure) for b in self._names(pair[1], measure)]

    def _comparison(
        self,
        pair: tuple[str, str],
        measure: Measure,
        ways: Sequence[tuple[ColumnKey, ColumnKey]],
        flipped: dict[tuple[ColumnKey, ColumnKey], float],
    ) -> Contrast[Comparison]:
        """Compares one pair. Failed rows count at each end of the range; the least certain result is kept."""
        a, b = (self.rows.column(system, measure.name) for system in pair)
        about = (*pair, self.part.factors, measure.name, self.part.where)
        shared = self.part.mask & a.counted & b.counted
        n = int(shared.sum())
        if not ways or not n:
            refused = self._refusal(pair, measure) or "no item applies to both"
            none = Comparison(*about, *(None,) * 6, 0, 0, 0, n, refused=refused)
            return Contrast(none, True, lambda _: NO_INTERVAL, np.empty(0))
        difference = a.values[shared] - b.values[shared]
        drawn = [(self._drawn[left], self._drawn[right]) for left, right in ways]
        binary = all(_binary(measure, *columns) for columns in drawn)
        # failed rows count as rows, at an end of the range
        counts = [(*count_discordant(a.values, b.values), len(a.values)) for a, b in drawn] if binary else []
        differences = [_difference(*columns, measure) for columns in drawn]

        seeds = self._seeds(measure, shared, *pair)

        def interval_at(level: float) -> Interval:
            if binary:
                return _hull([bonett_price(*each, level) for each in counts])
            plain = _hull([each.interval(level) for each in differences])
            return plain if seeds is None else seeds.widened(plain, float(difference.mean()), level)

        interval = interval_at(self.how.level)
        p = max(
            mcnemar(left.values, right.values) if binary else flipped[way]
            for way, (left, right) in zip(ways, drawn, strict=True)
        )
        record = Comparison(
            *about,
            float(difference.mean()),
            *_ends(interval),
            p,
            p,
            _finite(cliffs_delta_paired(difference) if binary else cohens_dz(difference)),
            *win_tie_loss(difference if measure.better == "higher" else -difference),
            n,
            effect_name="Cliff's delta" if binary else "Cohen's d",
            test=MCNEMAR if binary else SIGN_FLIP,
            family=(self.how.family or measure.name) + (" by slice" if self.part.where else ""),
            mde=_finite(detectable_difference(interval.low, interval.high, self.how.level)),
            p_wilcoxon=None if binary else max(wilcoxon(a.sums - b.sums) for a, b in drawn),
        )
        return Contrast(record, measure.better == "higher", interval_at, differences[0].moved)

    def _names(self, system: str, measure: Measure) -> list[ColumnKey]:
        """Returns the columns to compare for a system: two if rows failed, one for each end of the range."""
        status = self.rows.column(system, measure.name).status
        if measure.high is None or not (self.part.mask & (status == FAILED)).any():
            return [(system, measure.name, None)]
        return [(system, measure.name, measure.low), (system, measure.name, measure.high)]

    def _column(self, name: ColumnKey) -> Column:
        system, measure, end = name
        column = self.rows.column(system, measure)
        return column if end is None else column.imputed(end)

    def _draw(self, columns: Sequence[Column]) -> list[_ResampledColumn]:
        """Resamples columns over the same rows together."""
        used = self.part.mask & columns[0].counted
        values = np.array([column.values[used] for column in columns]).T
        if not len(values):
            return [_ResampledColumn(column, column, np.nan, column, column) for column in values.T]
        sums, counts = cluster_sums(values, self.rows.clusters[used])
        points, left_out = plain_means(sums, counts), jackknife_means(sums, counts)
        draws = weighted_means(self.draws.weights(len(sums)), sums, counts)
        return [
            _ResampledColumn(values[:, at], sums[:, at], float(points[at]), left_out[:, at], draws[:, at])
            for at in range(len(columns))
        ]

    def _flipped(
        self, ways: Sequence[tuple[ColumnKey, ColumnKey]]
    ) -> dict[tuple[ColumnKey, ColumnKey], float]:
        """Returns the sign-flip p-values of many pairs of columns, together for pairs of one length."""
        by_length: dict[int, list[tuple[ColumnKey, ColumnKey]]] = {}
        for way in ways:
            by_length.setdefault(len(self._drawn[way[0]].sums), []).append(way)
        found: dict[tuple[ColumnKey, ColumnKey], float] = {}
        for members in by_length.values():
            # rows of a cluster depend on each other, so a flip changes the sign of the whole cluster
            sums = [self._drawn[left].sums - self._drawn[right].sums for left, right in members]
            p = sign_flip(np.array(sums).T, self.draws.resamples, self.draws.seed)
            found.update(zip(members, p.tolist(), strict=True))
        return found

    def _seeds(self, measure: Measure, rows: Bools, *systems: str) -> SeedStandardError | None:
        """Returns the standard error, due to seeds, of the mean of one system or of the difference of two."""
        found = (self.rows.by_seed(system, measure.name) for system in systems)
        columns = [(sign, each, rows) for sign, each in zip((1.0, -1.0), found, strict=False)]
        return seed_error_of_columns(columns, self.rows.clusters)

    def _interval(self, drawn: _ResampledColumn, measure: Measure) -> Interval:
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
            rows=len(drawn.values),
        )

    def _refusal(self, pair: tuple[str, str], measure: Measure) -> str:
        """Says why two systems cannot be compared: only one has some rows, or rows have no value yet."""
        columns = [self.rows.column(system, measure.name) for system in pair]
        for system, column in zip(pair, columns, strict=True):
            unbounded = (
                {} if measure.high is not None else {FAILED: f"failed, and {measure.name} has no upper end"}
            )
            for code, word in {**OPEN, **unbounded}.items():
                if (rest := self.part.mask & (column.status == code)).any():
                    return f"{system}: {int(rest.sum())} items {word} ({self.rows.name_items(rest)})"
        left, right = (column.counted | (column.status == FAILED) for column in columns)
        if (differ := self.part.mask & (left != right)).any():
            return (
                f"different items: only one of the two has {measure.name} for {self.rows.name_items(differ)}"
            )
        return ""


def _difference(a: _ResampledColumn, b: _ResampledColumn, measure: Measure) -> ResampledMean:
    reach = None if measure.high is None else measure.high - measure.low
    bounds = None if reach is None else (-reach, reach)
    n, rows = len(a.jackknife), len(a.values)
    return ResampledMean(a.point - b.point, n, a.draws - b.draws, a.jackknife - b.jackknife, bounds, rows)


def _binary(measure: Measure, *columns: _ResampledColumn) -> bool:
    """Whether columns are plain proportions: zeros and ones, and each row is its own cluster."""
    return measure.binary and all(
        len(column.jackknife) == len(column.values) and bool(np.isin(column.values, (0.0, 1.0)).all())
        for column in columns
    )


def _hull(intervals: Sequence[Interval]) -> Interval:
    """Returns the smallest interval that contains all intervals. It has no ends if one of them has none."""
    lows, highs = [each.low for each in intervals], [each.high for each in intervals]
    return Interval(float(np.min(lows)), float(np.max(highs)), intervals[0].method)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (_finite(interval.low), _finite(interval.high))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
