"""Analyses unblinded scores. Each metric has the paired test that fits its scale. Tests form families.

A pair is one question and one model, answered under both conditions. A difference is B - A. Rows of one
question depend on each other, so all rows of a question are summed, flipped or resampled together. Tokens are
also tested by ranks: no p-value here relies on a normal distribution.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.core.errors import UsageError
from assay.kinds.answers.results import METRICS, ConditionTest, Metric, metric_of
from assay.stats.columns import TIE, ratio
from assay.stats.families import Contrast, FamilyDecisions, GateDifference
from assay.stats.intervals import LEVEL, Interval, difference_interval, resample_means
from assay.stats.paired_tests import (
    cliffs_delta_paired,
    magnitude,
    mcnemar_by_cluster,
    odds_ratio_by_cluster,
    wilcoxon_by_cluster,
    win_tie_loss,
)
from assay.stats.planning import detectable_difference
from assay.stats.resample import RESAMPLES, cluster_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.protocols import Floats

SUBGROUPS = ("complexity", "size", "model")  # families of their own, with one test per metric and value
SITE = "site"
WILCOXON, MCNEMAR = "Wilcoxon signed-rank", "McNemar, exact"
DELTA, ODDS = "Cliff's delta", "odds ratio"


@dataclass(frozen=True)
class ScoredResponse:
    """One response with its scores. A score is None if the metric does not apply or was not measured."""

    item_id: str
    model: str
    condition: str
    site: str = ""
    complexity: str = ""
    size: str = ""  # of the model, as the study calls it
    seed: int = 0
    accuracy: float | None = None
    hallucinations: float | None = None
    completeness: float | None = None
    citation: float | None = None
    tokens: float | None = None  # of the content that the model was given


@dataclass(frozen=True)
class AnalysisOptions:
    """The options of an analysis. Rows with the same value in the column `cluster` depend on each other.

    `cluster` is item_id or site.
    """

    a: str = "A"
    b: str = "B"
    cluster: str = "item_id"
    correction: str = "holm"
    resamples: int = RESAMPLES
    level: float = LEVEL
    seed: int = 0


class DecidedDifference(NamedTuple):
    """A difference that a gate decides, and the questions and models that the difference covers."""

    by: GateDifference
    about: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class ResponsePairs:
    """The rows of both conditions, side by side. A missing side has no value for any metric."""

    about: list[ScoredResponse]  # either side: item, model, site, complexity, size
    values: Mapping[str, tuple[Floats, Floats]]  # by metric, A and B; NaN if there is none

    @classmethod
    def of(cls, rows: Sequence[ScoredResponse], options: AnalysisOptions) -> ResponsePairs:
        """Builds the pairs, ordered by item, model and seed. Rows of other conditions are left out."""
        found: dict[tuple[str, str, int], dict[str, ScoredResponse]] = {}
        for row in rows:
            if row.condition in (options.a, options.b):
                sides = found.setdefault((row.item_id, row.model, row.seed), {})
                if row.condition in sides:
                    raise UsageError(
                        f"{row.item_id} has two rows of {row.model} under {row.condition}. Keep one of them."
                    )
                sides[row.condition] = row
        pairs = [found[key] for key in sorted(found)]

        def column(condition: str, metric: str) -> Floats:
            values = [getattr(sides.get(condition), metric, None) for sides in pairs]
            return np.array(values, dtype=np.float64)  # None becomes NaN

        values = {each.name: (column(options.a, each.name), column(options.b, each.name)) for each in METRICS}
        return cls([next(iter(sides.values())) for sides in pairs], values)

    def column(self, name: str) -> NDArray[Any]:
        """Returns one property of every pair, such as its site, model or item."""
        return np.array([getattr(row, name) for row in self.about])

    def known(self, name: str) -> list[str]:
        """Returns the distinct values of a column, without the empty value."""
        return sorted({value for value in self.column(name).tolist() if value})

    def where(self, mask: NDArray[np.bool_]) -> ResponsePairs:
        """Returns the pairs for which the mask is true."""
        return ResponsePairs(
            [row for row, kept in zip(self.about, mask, strict=True) if kept],
            {name: (a[mask], b[mask]) for name, (a, b) in self.values.items()},
        )

    def difference(self, name: str) -> Floats:
        """Returns B - A of a metric, for every pair."""
        a, b = self.values[name]
        return b - a

    def cells(self) -> ResponsePairs:
        """Returns the mean of each site and model, over the pairs in which both sides have a value."""
        labels = list(zip(self.column(SITE).tolist(), self.column("model").tolist(), strict=True))
        place = {label: at for at, label in enumerate(sorted(set(labels)))}
        codes = np.array([place[label] for label in labels], dtype=np.int64)
        about = dict(zip(codes.tolist(), self.about, strict=True))
        values = {}
        for name, (a, b) in self.values.items():
            both = np.column_stack([a + 0 * b, b + 0 * a])  # NaN on one side leaves out both
            a_mean, b_mean = ratio(*cluster_sums(both, codes)).T
            values[name] = (a_mean, b_mean)
        return ResponsePairs([about[code] for code in range(len(place))], values)


def analyse(
    rows: Sequence[ScoredResponse], options: AnalysisOptions, decided: Sequence[DecidedDifference] = ()
) -> list[ConditionTest]:
    """Runs every test, and corrects its p-values within its family.

    Metrics that no row has are left out. A difference that a gate decides is decided and corrected within
    that gate.
    """
    pairs = ResponsePairs.of(rows, options)
    found = [
        dataclasses.replace(each, record=replace(each.record, family=metric_of(each.record.metric).family))
        for each in _tests(pairs, "", {}, options)
    ]
    for name, groups in _subgroups(pairs):
        for value, here in groups.items():
            found += _tests(pairs.where(here), name, {name: value}, options)
    if len(pairs.known(SITE)) > 1:
        cells = pairs.where(pairs.column(SITE) != "").cells()
        found += _tests(cells, SITE, {}, dataclasses.replace(options, cluster=SITE))
    decisions = FamilyDecisions[ConditionTest](options.correction, options.level, len(found))
    for each in found:
        decisions.add(dataclasses.replace(each, declared=_declared(each.record, pairs, decided, options)))
    return [
        one if one.family == each.record.family else replace(one, family=each.record.family, by=one.family)
        for one, each in zip(decisions.records(), found, strict=True)
    ]


def _declared(
    one: ConditionTest, pairs: ResponsePairs, decided: Sequence[DecidedDifference], options: AnalysisOptions
) -> GateDifference | None:
    """Returns the difference of B from A that a gate decides for the same metric, questions and models."""
    if one.family == SITE:  # means by site, which no gate compares
        return None
    about = frozenset(
        (row.item_id, row.model)
        for row in pairs.about
        if all(getattr(row, name) == value for name, value in one.where.items())
    )
    for by, rows in decided:
        same = by.measure == metric_of(one.metric).measure and {by.a, by.b} == {options.a, options.b}
        if same and rows == about:
            turned = dataclasses.replace(by, a=by.b, b=by.a, low=-by.high, high=-by.low)
            return by if by.a == options.b else turned
    return None


def _subgroups(pairs: ResponsePairs) -> Iterator[tuple[str, dict[str, NDArray[np.bool_]]]]:
    """Yields each column that splits the pairs into groups, with its groups.

    A column with only one group is left out. A column that splits the pairs like an earlier column is left
    out too: for example, if each size has only one model, the model column splits the pairs like the size
    column.
    """
    known: list[set[bytes]] = []
    for name in SUBGROUPS:
        groups = {value: pairs.column(name) == value for value in pairs.known(name)}
        parts = {here.tobytes() for here in groups.values()}
        if len(parts) > 1 and parts not in known:
            known.append(parts)
            yield name, groups


def _tests(
    pairs: ResponsePairs, family: str, where: dict[str, str], options: AnalysisOptions
) -> Iterator[Contrast[ConditionTest]]:
    """Yields one test per metric, over these pairs. All intervals come from one resampling."""
    metrics = [metric for metric in METRICS if not np.isnan(pairs.values[metric.name]).all()]
    if not metrics:
        return
    clusters = pairs.column(options.cluster)
    differences = np.column_stack([pairs.difference(metric.name) for metric in metrics])
    signs = np.where(np.abs(differences) <= TIE, 0.0, np.sign(differences))
    bounds = [*(metric.bounds for metric in metrics), *[(-1.0, 1.0)] * len(metrics)]
    sums, counts = cluster_sums(np.hstack([differences, signs]), clusters)
    columns = resample_means(sums, counts, bounds, resamples=options.resamples, seed=options.seed)
    models = set(pairs.column("model").tolist())
    only_model = models.pop() if len(models) == 1 else None
    for metric, mean, sign in zip(metrics, columns, columns[len(metrics) :], strict=False):
        both = ~np.isnan(pairs.difference(metric.name))
        a, b = (side[both] for side in pairs.values[metric.name])
        one = ConditionTest(metric.name, family, where, len(a), len(np.unique(clusters[both])))
        one = replace(one, left_out=len(both) - len(a), only_model=only_model)
        interval_at: Callable[[float], Interval] = mean.interval
        if len(a):
            binary = metric.binary and family != SITE  # the mean of a site is neither yes nor no
            if binary and len(np.unique(clusters[both])) == len(a):
                interval_at = partial(_interval_of_proportions, b, a)
            one = _with_means(one, metric, a, b, interval_at(options.level), options.level)
            if binary:
                one = _with_mcnemar(one, a, b, clusters[both], options.level)
            else:
                one = _with_wilcoxon(one, b - a, clusters[both], sign.interval(options.level))
        yield Contrast(one, metric.higher, interval_at, mean.moved)


def _interval_of_proportions(b: Floats, a: Floats, level: float) -> Interval:
    return difference_interval(b, a, binary=True, level=level)


def _with_means(
    one: ConditionTest, metric: Metric, a: Floats, b: Floats, interval: Interval, level: float
) -> ConditionTest:
    """Adds the means, their difference, and the numbers of pairs on which B is better, equal and worse."""
    low, high = ends(interval)
    wins, ties, losses = win_tie_loss(b - a if metric.higher else a - b)
    return replace(
        one,
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        difference=float((b - a).mean()),
        low=low,
        high=high,
        wins=wins,
        ties=ties,
        losses=losses,
        mde=finite(detectable_difference(interval.low, interval.high, level)),
    )


def _with_wilcoxon(
    one: ConditionTest, differences: Floats, clusters: NDArray[Any], interval: Interval
) -> ConditionTest:
    """Adds the signed-rank test and Cliff's delta of B against A. Both are for grades and counts."""
    low, high = ends(interval)
    delta = cliffs_delta_paired(differences)
    return replace(
        one,
        test=WILCOXON,
        p=wilcoxon_by_cluster(differences, clusters),
        effect_name=DELTA,
        effect=delta,
        effect_low=low,
        effect_high=high,
        size=magnitude(delta),
    )


def _with_mcnemar(
    one: ConditionTest, a: Floats, b: Floats, clusters: NDArray[Any], level: float
) -> ConditionTest:
    """Adds McNemar's test and the odds of "only B" against "only A". Both are for yes-or-no metrics."""
    odds = odds_ratio_by_cluster(b, a, clusters, level)
    return replace(
        one,
        test=MCNEMAR,
        p=mcnemar_by_cluster(b, a, clusters),
        effect_name=ODDS,
        effect=odds.value,
        effect_low=odds.interval.low,
        effect_high=odds.interval.high,
    )


def ends(interval: Interval) -> tuple[float | None, float | None]:
    """Returns both ends of an interval. An end that is undefined is None."""
    return finite(interval.low), finite(interval.high)


def finite(value: float) -> float | None:
    """Returns the value, or None if the value is not finite."""
    return value if math.isfinite(value) else None
