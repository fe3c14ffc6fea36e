"""The statistics of blinded scoring against scipy, statsmodels and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.discrete.discrete_model import Logit
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests

from assay.kinds.answers.scoring.agreement import KAPPA, LINEAR, QUADRATIC, RHO, RaterPair
from assay.kinds.answers.scoring.analysis import AnalysisOptions, ResponsePairs, analyse
from assay.kinds.answers.scoring.subgroups import interactions, token_changes
from assay.stats.agreement import cohen_kappa
from assay.stats.paired_tests import mcnemar_by_cluster, odds_ratio_by_cluster
from assay.stats.resample import Draws
from simulated_raters import Simulated, World, corpus, simulated

HOW = AnalysisOptions(resamples=100)


@pytest.fixture(scope="module")
def study() -> Simulated:
    return simulated(World(), 5, corpus(120, 20), share=0.6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scheme", ["linear", "quadratic"])
def test_kappa_over_all_levels(seed: int, scheme: str) -> None:
    # grade 2 does not occur: the levels have to say that it lies between 1 and 3
    a, b = np.random.default_rng(seed).choice([0, 1, 3], size=(2, 40))
    expected = cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=scheme)
    assert cohen_kappa(a, b, scheme, levels=range(4))[0] == pytest.approx(expected)
    assert cohen_kappa(a, b, scheme)[0] != pytest.approx(expected)


@pytest.mark.parametrize("scheme", ["linear", "quadratic"])
def test_the_interval_of_kappa_is_near_the_asymptotic_one(scheme: str) -> None:
    random = np.random.default_rng(2)
    a = random.integers(0, 4, 1_500)
    b = np.where(random.random(1_500) < 0.6, a, random.integers(0, 4, 1_500))
    table = np.array([[np.sum((a == one) & (b == other)) for other in range(4)] for one in range(4)])
    theirs = cohens_kappa(table, wt=scheme)
    drawn = np.concatenate(
        [cohen_kappa(a, b, scheme, weights, range(4)) for weights in Draws(2_000).weights(1_500)]
    )
    assert cohen_kappa(a, b, scheme, levels=range(4))[0] == pytest.approx(theirs.kappa)
    # a deviation from 2,000 draws is known to about 1.6 %
    assert drawn.std() == pytest.approx(theirs.std_kappa, rel=0.07)


def test_agreement_of_two_raters(study: Simulated) -> None:
    found = {
        (each.metric, each.statistic): each
        for each in RaterPair(study.first, study.second, study.questions, Draws(50)).agreement()
    }
    shared = sorted(study.second.accuracy)
    one, other = ([by.accuracy[key] for key in shared] for by in (study.first, study.second))
    for name, scheme in ((LINEAR, "linear"), (QUADRATIC, "quadratic")):
        expected = cohen_kappa_score(one, other, labels=[0, 1, 2, 3], weights=scheme)
        assert found["accuracy", name].value == pytest.approx(expected)
    one, other = ([by.completeness[key] for key in shared] for by in (study.first, study.second))
    assert found["completeness", KAPPA].value == pytest.approx(cohen_kappa_score(one, other))
    counts = ([len(by.claims[key]) for key in shared] for by in (study.first, study.second))
    assert found["hallucinations", RHO].value == pytest.approx(stats.spearmanr(*counts).statistic)


@pytest.mark.parametrize("seed", range(3))
def test_mcnemar(seed: int) -> None:
    a, b = np.random.default_rng(seed).integers(0, 2, size=(2, 90))
    table = [[np.sum((a == one) & (b == other)) for other in (0, 1)] for one in (0, 1)]
    expected = statsmodels_mcnemar(table, exact=True).pvalue
    assert mcnemar_by_cluster(a, b, np.arange(90)) == pytest.approx(expected)


def test_the_odds_ratio_is_a_clustered_logistic_regression() -> None:
    # Of discordant pairs, whether a is the right one: its log odds are an intercept, and the sandwich
    # variance by cluster is ours but for the half rows, which 900 pairs make small.
    random = np.random.default_rng(8)
    clusters = np.repeat(np.arange(450), 2)
    pull = np.repeat(random.normal(0.3, 1.0, 450), 2)
    wins = (random.random(900) < 1 / (1 + np.exp(-pull))).astype(float)
    found = odds_ratio_by_cluster(wins, 1 - wins, clusters)
    fitted = Logit(wins, np.ones((900, 1))).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    assert np.log(found.value) == pytest.approx(fitted.params[0], rel=0.01)
    deviation = np.log(found.interval.high / found.value) / stats.norm.ppf(0.975)
    assert deviation == pytest.approx(fitted.bse[0], rel=0.01)
    plain = np.sqrt(1 / wins.sum() + 1 / (900 - wins.sum()))
    assert deviation > 1.05 * plain  # models that fail together: the plain one is too sure


def test_ranks_and_corrections(study: Simulated) -> None:
    lines = analyse(study.rows, AnalysisOptions(resamples=50, correction="benjamini-hochberg"))
    pairs = ResponsePairs.of(study.rows, HOW)
    whole = {one.metric: one for one in lines if one.family in {"primary", "secondary"}}
    for metric in ("accuracy", "hallucinations", "tokens"):
        sums = pairs.difference(metric).reshape(-1, 2).sum(axis=1)  # two models a question, side by side
        expected = stats.wilcoxon(sums[sums != 0], method="approx").pvalue
        assert whole[metric].p == pytest.approx(expected)
    for family in ("primary", "secondary", "complexity", "size", "site"):
        members = [one for one in lines if one.family == family]
        expected = multipletests([one.p for one in members], method="fdr_bh")[1]
        assert [one.p_adjusted for one in members] == pytest.approx(list(expected))


def test_interaction_and_correlation(study: Simulated) -> None:
    pairs = ResponsePairs.of(study.rows, HOW)
    means = pairs.difference("accuracy").reshape(-1, 2).mean(axis=1)
    kinds = pairs.column("complexity")[::2]
    groups = [means[kinds == kind] for kind in np.unique(kinds)]
    (between,) = [
        one
        for one in interactions(study.rows, HOW)
        if one.metric == "accuracy" and one.where == {"between": "complexity"}
    ]
    assert between.p == pytest.approx(stats.kruskal(*groups).pvalue)
    expected = stats.spearmanr(pairs.difference("tokens"), pairs.difference("accuracy")).statistic
    assert token_changes(study.rows, HOW)[1][0].value == pytest.approx(expected)
