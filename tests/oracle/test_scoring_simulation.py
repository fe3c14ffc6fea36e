"""Studies with a known truth: how often the intervals of blinded scoring hold it, and what p-values do."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from assay.kinds.answers.scoring.agreement import KAPPA, LINEAR, QUADRATIC, RHO, RaterPair
from assay.kinds.answers.scoring.analysis import AnalysisOptions, ScoredResponse, analyse
from assay.stats.intervals import mean_intervals
from assay.stats.paired_tests import mcnemar_by_cluster, wilcoxon_by_cluster
from assay.stats.resample import Draws, cluster_sums
from simulated_raters import MODELS, World, corpus, rated_accuracy, rated_completeness, simulated, truth

Floats = NDArray[np.float64]

STUDIES = 200
RESAMPLES = 2_000
SITES_DIFFER = World(own=0.35)  # the effect is one thing on one site, another on the next

AGREEMENT = {
    ("accuracy", LINEAR): "kappa linear",
    ("accuracy", QUADRATIC): "kappa quadratic",
    ("citation", LINEAR): "citation kappa",
    ("completeness", KAPPA): "completeness kappa",
    ("hallucination categories", KAPPA): "category kappa",
    ("hallucinations", RHO): "rho",
}
EFFECTS = {
    **{metric: metric for metric in ("accuracy", "hallucinations", "tokens", "completeness", "citation")},
    **{f"{metric} delta": metric for metric in ("accuracy", "hallucinations", "tokens", "citation")},
    "completeness odds": "completeness",
}


@cache
def held() -> Counter[str]:
    """In how many of 200 studies each interval holds the population's value.

    286 questions of 37 sites, two models, two conditions; the second rater scores a drawn 15 %. Questions are
    the clusters: each study draws questions and sites anew, and its sites differ in level, not in effect.
    """
    world, found = World(), Counter[str]()
    known = truth(world)
    for study in range(STUDIES):
        drawn = simulated(world, study)
        lines = {one.metric: one for one in analyse(_whole(drawn.rows), AnalysisOptions(resamples=RESAMPLES))}
        for name, metric in EFFECTS.items():
            one = lines[metric]
            ends = (one.low, one.high) if name == metric else (one.effect_low, one.effect_high)
            found[name] += _holds(ends, known[name])
        for each in RaterPair(drawn.first, drawn.second, drawn.questions, Draws(RESAMPLES)).agreement():
            if name := AGREEMENT.get((each.metric, each.statistic), ""):
                found[name] += _holds((each.low, each.high), known[name])
    return found


def _whole(rows: Sequence[ScoredResponse]) -> list[ScoredResponse]:
    """Rows without sites and subgroups: what is looked at here are the tests of the whole, and no others."""
    places = {model: at for at, model in enumerate(MODELS)}
    return [
        dataclasses.replace(row, site="", complexity="", size="", model="", seed=places[row.model])
        for row in rows
    ]


def _holds(ends: tuple[float | None, float | None], value: float) -> bool:
    low, high = ends
    return low is not None and high is not None and low <= value <= high


@pytest.mark.slow
@pytest.mark.parametrize("name", [*EFFECTS, *AGREEMENT.values()])
def test_what_is_known_comes_back(name: str) -> None:
    assert 0.91 * STUDIES <= held()[name] <= 0.99 * STUDIES


def test_the_population_is_what_a_large_draw_shows() -> None:
    # The truths are worked out, not drawn; 20,000 questions are a second opinion. Four deviations.
    asked = corpus(20_000, 20_000)
    for world in (World(), SITES_DIFFER):
        known = truth(world)
        differences = rated_accuracy(world, 1, asked)
        for name, values in (("accuracy", differences), ("accuracy delta", np.sign(differences))):
            means = values.mean(axis=1)
            assert means.mean() == pytest.approx(known[name], abs=4 * means.std() / np.sqrt(20_000))
        a, b = rated_completeness(world, 2, asked)
        means = (b - a).mean(axis=1)
        assert means.mean() == pytest.approx(known["completeness"], abs=4 * means.std() / np.sqrt(20_000))
        gains, losses = np.sum(b > a), np.sum(b < a)
        near = 4 * np.sqrt(1 / gains + 1 / losses)
        assert np.log(gains / losses) == pytest.approx(np.log(known["completeness odds"]), abs=near)


def _clusters() -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """The question and the site of every pair."""
    asked = corpus()
    questions, sites = (np.repeat([pair[at] for pair in asked], len(MODELS)) for at in (0, 1))
    return questions, sites


def _coverage(world: World, studies: int) -> dict[str, float]:
    """How often the interval of the mean difference of accuracy holds, by question and by site."""
    columns = np.array([rated_accuracy(world, study).ravel() for study in range(studies)]).T
    known, shares = truth(world)["accuracy"], {}
    for name, labels in zip(("question", "site"), _clusters(), strict=True):
        sums, counts = cluster_sums(columns, labels)
        found = mean_intervals(sums, counts, [(-3.0, 3.0)] * studies, resamples=RESAMPLES, seed=1)
        shares[name] = float(np.mean([each.low <= known <= each.high for each in found]))
    return shares


@pytest.mark.slow
def test_which_cluster_is_right_is_for_the_population_to_say() -> None:
    # 1,000 studies: four deviations of a share near 0.95 are 0.028.
    same, differing = _coverage(World(), 1_000), _coverage(SITES_DIFFER, 1_000)
    assert 0.922 <= same["question"] <= 0.978
    # Where sites have effects of their own, and the question is what other sites would show, questions of
    # a site are no independent witnesses: by question the interval is too short, by site it is not.
    assert differing["question"] < 0.91
    assert 0.922 <= differing["site"] <= 0.978


@pytest.mark.slow
def test_without_an_effect_5_percent_are_called_significant() -> None:
    studies, world = 1_000, World(effect=0.0)
    questions, _ = _clusters()
    low, high = stats.binom.ppf([0.005, 0.995], studies, 0.05)
    ranked = [wilcoxon_by_cluster(rated_accuracy(world, at).ravel(), questions) for at in range(studies)]
    assert low <= np.sum(np.array(ranked) < 0.05) <= high
    # the exact test is discrete, so it stays a little below
    pairs = (rated_completeness(world, at) for at in range(studies))
    flipped = [mcnemar_by_cluster(b.ravel(), a.ravel(), questions) for a, b in pairs]
    assert 0.5 * low <= np.sum(np.array(flipped) < 0.05) <= high
