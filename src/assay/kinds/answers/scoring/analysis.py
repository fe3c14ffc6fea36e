"""What unblinded scores show: each metric by the paired test that fits its scale, in families.

A pair is one question and one model, answered under both conditions; differences are B - A. Rows of one
question depend on each other, so that a question is what is summed, flipped and drawn. Tokens are tested by
ranks too: no p-value here rests on a normal distribution.
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
from assay.kinds.answers.results import ConditionTest
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

    Labels = NDArray[Any]

PRIMARY, SECONDARY = "primary", "secondary"
SUBGROUPS = ("complexity", "size", "model")  # families of their own, one test a metric and value
SITE = "site"
WILCOXON, MCNEMAR = "Wilcoxon signed-rank", "McNemar, exact"
DELTA, ODDS = "Cliff's delta", "odds ratio"


@dataclass(frozen=True)
class ScoredResponse:
    """One response with its scores; None where a metric does not apply or was not taken."""

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
class Metric:
    """A metric's scale: how far a pair can lie apart (None: any), and whether more is better."""

    name: str
    measure: str  # that scores it, as studies name it
    family: str
    reach: float | None = None
    higher: bool = True
    binary: bool = False

    @property
    def bounds(self) -> tuple[float, float] | None:
        return None if self.reach is None else (-self.reach, self.reach)


METRICS = (
    Metric("accuracy", "Accuracy", PRIMARY, 3.0),
    Metric("hallucinations", "Hallucinations", PRIMARY, higher=False),
    Metric("tokens", "ContentTokens", PRIMARY, higher=False),
    Metric("completeness", "Completeness", SECONDARY, 1.0, binary=True),
    Metric("citation", "CitationFidelity", SECONDARY, 2.0),
)
FAMILIES = {metric.name: metric.family for metric in METRICS}
MEASURES = {metric.name: metric.measure for metric in METRICS}


@dataclass(frozen=True)
class AnalysisOptions:
    """How to analyse. `cluster` names the column whose values depend on each other: item_id or site."""

    a: str = "A"
    b: str = "B"
    cluster: str = "item_id"
    correction: str = "holm"
    resamples: int = RESAMPLES
    level: float = LEVEL
    seed: int = 0


class DecidedDifference(NamedTuple):
    """A difference that a gate decides, and the questions and models that it is about."""

    by: GateDifference
    about: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class ResponsePairs:
    """The rows of both conditions, side by side. A side that is missing has no value for any metric."""

    about: list[ScoredResponse]  # either side: item, model, site, complexity, size
    values: Mapping[str, tuple[Floats, Floats]]  # by metric, A and B; NaN where there is none

    @classmethod
    def of(cls, rows: Sequence[ScoredResponse], how: AnalysisOptions) -> ResponsePairs:
        """Pairs in the order of item, model and seed; rows of other conditions are left alone."""
        found: dict[tuple[str, str, int], dict[str, ScoredResponse]] = {}
        for row in rows:
            if row.condition in (how.a, how.b):
                sides = found.setdefault((row.item_id, row.model, row.seed), {})
                if row.condition in sides:
                    raise UsageError(
                        f"{row.item_id} has two rows of {row.model} under {row.condition}. Keep one of them."
                    )
                sides[row.condition] = row
        pairs = [found[key] for key in sorted(found)]
        values = {
            metric.name: (_column(pairs, how.a, metric.name), _column(pairs, how.b, metric.name))
            for metric in METRICS
        }
        return cls([next(iter(sides.values())) for sides in pairs], values)

    def column(self, name: str) -> NDArray[Any]:
        """Site, model, item and the like of every pair."""
        return np.array([getattr(row, name) for row in self.about])

    def known(self, name: str) -> list[str]:
        """The values of such a column, but the empty one."""
        return sorted({value for value in self.column(name).tolist() if value})

    def where(self, mask: NDArray[np.bool_]) -> ResponsePairs:
        return ResponsePairs(
            [row for row, kept in zip(self.about, mask, strict=True) if kept],
            {name: (a[mask], b[mask]) for name, (a, b) in self.values.items()},
        )

    def difference(self, name: str) -> Floats:
        a, b = self.values[name]
        return b - a

    def cells(self) -> ResponsePairs:
        """The mean of each site and model, over the pairs of which both sides have a value."""
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
    rows: Sequence[ScoredResponse], how: AnalysisOptions, decided: Sequence[DecidedDifference] = ()
) -> list[ConditionTest]:
    """Every test of every family, decided and p-values corrected within each.

    Metrics that no row has are not there. What a gate decides is decided as it does, and corrected with it.
    """
    pairs = ResponsePairs.of(rows, how)
    found = [
        dataclasses.replace(each, record=replace(each.record, family=FAMILIES[each.record.metric]))
        for each in _tests(pairs, "", {}, how)
    ]
    for name, groups in _subgroups(pairs):
        for value, here in groups.items():
            found += _tests(pairs.where(here), name, {name: value}, how)
    if len(pairs.known(SITE)) > 1:
        cells = pairs.where(pairs.column(SITE) != "").cells()
        found += _tests(cells, SITE, {}, dataclasses.replace(how, cluster=SITE))
    decisions = FamilyDecisions[ConditionTest](how.correction, how.level, len(found))
    for each in found:
        decisions.add(dataclasses.replace(each, declared=_declared(each.record, pairs, decided, how)))
    return [
        one if one.family == each.record.family else replace(one, family=each.record.family, by=one.family)
        for one, each in zip(decisions.records(), found, strict=True)
    ]


def _declared(
    one: ConditionTest, pairs: ResponsePairs, decided: Sequence[DecidedDifference], how: AnalysisOptions
) -> GateDifference | None:
    """What a gate decides of the same metric, questions and models, as a difference of B from A."""
    if one.family == SITE:  # of means by site, which no gate compares
        return None
    about = frozenset(
        (row.item_id, row.model)
        for row in pairs.about
        if all(getattr(row, name) == value for name, value in one.where.items())
    )
    for by, rows in decided:
        if by.measure == MEASURES[one.metric] and {by.a, by.b} == {how.a, how.b} and rows == about:
            return (
                by if by.a == how.b else dataclasses.replace(by, a=by.b, b=by.a, low=-by.high, high=-by.low)
            )
    return None


def _subgroups(pairs: ResponsePairs) -> Iterator[tuple[str, dict[str, NDArray[np.bool_]]]]:
    """The columns that part the pairs, each with its groups, but none that says again what was said.

    One group is the whole. Where each size has one model, models part the pairs as sizes do.
    """
    known: list[set[bytes]] = []
    for name in SUBGROUPS:
        groups = {value: pairs.column(name) == value for value in pairs.known(name)}
        parts = {here.tobytes() for here in groups.values()}
        if len(parts) > 1 and parts not in known:
            known.append(parts)
            yield name, groups


def _tests(
    pairs: ResponsePairs, family: str, where: dict[str, str], how: AnalysisOptions
) -> Iterator[Contrast[ConditionTest]]:
    """One test a metric, over these pairs; all intervals come from one resampling."""
    metrics = [metric for metric in METRICS if not np.isnan(pairs.values[metric.name]).all()]
    if not metrics:
        return
    clusters = pairs.column(how.cluster)
    differences = np.column_stack([pairs.difference(metric.name) for metric in metrics])
    signs = np.where(np.abs(differences) <= TIE, 0.0, np.sign(differences))
    bounds = [*(metric.bounds for metric in metrics), *[(-1.0, 1.0)] * len(metrics)]
    sums, counts = cluster_sums(np.hstack([differences, signs]), clusters)
    columns = resample_means(sums, counts, bounds, resamples=how.resamples, seed=how.seed)
    models = set(pairs.column("model").tolist())
    only_model = models.pop() if len(models) == 1 else None
    for metric, mean, sign in zip(metrics, columns, columns[len(metrics) :], strict=False):
        both = ~np.isnan(pairs.difference(metric.name))
        a, b = (side[both] for side in pairs.values[metric.name])
        one = ConditionTest(metric.name, family, where, len(a), len(np.unique(clusters[both])))
        one = replace(one, left_out=len(both) - len(a), only_model=only_model)
        interval_at: Callable[[float], Interval] = mean.interval
        if len(a) and metric.binary and family != SITE:  # a site's share is no yes or no
            if len(np.unique(clusters[both])) == len(a):
                interval_at = partial(_proportions, b, a)
            one = _counted(one, metric, a, b, interval_at(how.level), how.level)
            one = _binary(one, a, b, clusters[both], how.level)
        elif len(a):
            one = _counted(one, metric, a, b, interval_at(how.level), how.level)
            one = _ranked(one, b - a, clusters[both], sign.interval(how.level))
        yield Contrast(one, metric.higher, interval_at, mean.moved)


def _proportions(b: Floats, a: Floats, level: float) -> Interval:
    return difference_interval(b, a, binary=True, level=level)


def _counted(
    one: ConditionTest, metric: Metric, a: Floats, b: Floats, interval: Interval, level: float
) -> ConditionTest:
    """Means, their difference, and how many pairs are better, alike and worse under B."""
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


def _ranked(one: ConditionTest, differences: Floats, clusters: Labels, interval: Interval) -> ConditionTest:
    """Grades and counts: the signed-rank test, and Cliff's delta of B against A."""
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


def _binary(one: ConditionTest, a: Floats, b: Floats, clusters: Labels, level: float) -> ConditionTest:
    """Yes and no: McNemar's test, and the odds of B alone against A alone."""
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


def _column(pairs: Sequence[Mapping[str, ScoredResponse]], condition: str, metric: str) -> Floats:
    values = [getattr(sides.get(condition), metric, None) for sides in pairs]
    return np.array(values, dtype=np.float64)  # None becomes NaN


def ends(interval: Interval) -> tuple[float | None, float | None]:
    """Both ends of an interval, None where there is none."""
    return finite(interval.low), finite(interval.high)


def finite(value: float) -> float | None:
    """The value, None where it is undefined."""
    return value if math.isfinite(value) else None
