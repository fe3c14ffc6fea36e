"""Compares the effect between subgroups, models and sites, and with the change in tokens.

All these results only inform. `analysis` has the tests whose p-values are corrected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.kinds.answers.results import METRICS, ConditionTest, Correlation, TokenChange
from assay.kinds.answers.scoring.analysis import (
    WILCOXON,
    AnalysisOptions,
    ResponsePairs,
    ScoredResponse,
    ends,
    finite,
)
from assay.stats.agreement import spearman
from assay.stats.columns import TIE, ratio, spread
from assay.stats.paired_tests import interval_over_clusters, wilcoxon
from assay.stats.resample import Draws, cluster_sums

if TYPE_CHECKING:
    from assay.core.protocols import Floats

INTERACTION = "interaction"
KRUSKAL, FRIEDMAN = "Kruskal-Wallis", "Friedman"
CORRELATION = "Spearman's rho of the differences of tokens and of accuracy"


def interactions(rows: Sequence[ScoredResponse], options: AnalysisOptions) -> list[ConditionTest]:
    """Tests whether the effect differs between complexities, and between sizes of model.

    The p-values are not corrected. Complexities have different questions, so Kruskal-Wallis compares the mean
    difference of each question. Sizes answer the same questions, so Friedman compares the questions that all
    sizes have. If there are two sizes, Wilcoxon is used instead.
    """
    pairs = ResponsePairs.of(rows, options)
    return [*_between(pairs, "complexity"), *_within(pairs, "size")]


def mean_differences(rows: Sequence[ScoredResponse], options: AnalysisOptions, by: str) -> dict[str, float]:
    """Returns the mean difference of accuracy for each value of the column `by`, such as each site."""
    pairs = ResponsePairs.of(rows, options)
    accuracy, column = pairs.difference("accuracy"), pairs.column(by)
    known = ~np.isnan(accuracy)
    return {
        value: float(accuracy[here].mean())
        for value in pairs.known(by)
        if (here := known & (column == value)).any()
    }


def token_changes(
    rows: Sequence[ScoredResponse], options: AnalysisOptions
) -> tuple[list[TokenChange], list[Correlation]]:
    """Returns each pair's differences of tokens and of accuracy, and the correlation between the two."""
    pairs = ResponsePairs.of(rows, options)
    both = ~np.isnan(pairs.difference("tokens") + pairs.difference("accuracy"))
    if not both.any():
        return [], []
    here = pairs.where(both)
    tokens, accuracy = here.difference("tokens"), here.difference("accuracy")
    value, interval = interval_over_clusters(
        lambda weights: spearman(tokens, accuracy, weights),
        here.column(options.cluster),
        Draws(options.resamples, options.seed),
        options.level,
    )
    points = [
        TokenChange(row.item_id, row.model, float(one), float(other))
        for row, one, other in zip(here.about, tokens, accuracy, strict=True)
    ]
    return points, [Correlation(CORRELATION, finite(value), *ends(interval), len(points))]


def _between(pairs: ResponsePairs, name: str) -> Iterator[ConditionTest]:
    """Yields one test per metric between groups that have different questions."""
    from scipy.stats import kruskal  # imported late: every report would wait for it

    for metric in METRICS:
        means = [_by_question(pairs, metric.name, name, group) for group in pairs.known(name)]
        groups = [np.array(list(each.values())) for each in means if each]
        if len(groups) > 1:
            p = 1.0 if spread(np.concatenate(groups)) <= TIE else float(kruskal(*groups).pvalue)
            n = int((~np.isnan(pairs.difference(metric.name)) & (pairs.column(name) != "")).sum())
            clusters = sum(map(len, groups))
            yield ConditionTest(metric.name, INTERACTION, {"between": name}, n, clusters, test=KRUSKAL, p=p)


def _within(pairs: ResponsePairs, name: str) -> Iterator[ConditionTest]:
    """Yields one test per metric between groups of models that answer the same questions."""
    groups = pairs.known(name)
    for metric in METRICS if len(groups) > 1 else ():
        found = [_by_question(pairs, metric.name, name, group) for group in groups]
        shared = sorted(set.intersection(*(set(by) for by in found)))
        if not shared:
            continue
        columns = [np.array([by[item] for item in shared]) for by in found]
        two = len(columns) == 2
        p = wilcoxon(columns[1] - columns[0]) if two else _friedman(np.column_stack(columns))
        where, test = {"between": name}, WILCOXON if two else FRIEDMAN
        n = len(shared) * len(groups)
        yield ConditionTest(metric.name, INTERACTION, where, n, len(shared), test=test, p=p)


def _friedman(table: Floats) -> float:
    """Returns Friedman's p-value of a table (questions × groups); 1 if every question has equal groups."""
    if (np.ptp(table, axis=1) <= TIE).all():
        return 1.0
    from scipy.stats import friedmanchisquare

    return float(friedmanchisquare(*np.round(table, 12).T).pvalue)  # noise must not break a tie


def _by_question(pairs: ResponsePairs, metric: str, name: str, group: str) -> dict[str, float]:
    """Returns the mean difference in a metric of each question that has the metric, within one group."""
    difference = pairs.difference(metric)
    inside = (pairs.column(name) == group) & ~np.isnan(difference)
    items = pairs.column("item_id")[inside]
    means = ratio(*cluster_sums(difference[inside], items))[:, 0]
    return dict(zip(np.unique(items).tolist(), means.tolist(), strict=True))
