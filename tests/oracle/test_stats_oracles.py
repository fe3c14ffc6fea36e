"""Our statistics against those of scipy, statsmodels, scikit-learn and krippendorff."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from assay.stats.agreement import cohen_kappa, kendall, krippendorff_alpha, spearman
from assay.stats.families import benjamini_hochberg, holm
from assay.stats.intervals import clopper_pearson, percentile, quantile_interval, wilson
from assay.stats.paired_tests import mcnemar, sign_flip, wilcoxon
from assay.stats.planning import detectable_difference
from assay.stats.resample import cluster_sums, resampled_means

SEEDS = range(4)


def scores(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.random.default_rng(seed).choice([1, 1 / 2, 1 / 3, 1 / 4, 1 / 10, 0], size=(2, n))
    return a, b


@pytest.mark.parametrize("seed", SEEDS)
def test_percentile_bootstrap(seed: int) -> None:
    column, _ = scores(seed, 60)
    sums, counts = cluster_sums(column)
    draws = resampled_means(sums, counts, 20_000, seed=seed)[:, 0]
    ours = percentile(draws)
    theirs = stats.bootstrap(
        (column,), np.mean, n_resamples=20_000, method="percentile", rng=seed
    ).confidence_interval
    # Two independent sets of 20,000 resamples: a quantile at 2.5 % wanders by about 3 % of the deviation.
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.12 * draws.std())


def _permutation_test(a: np.ndarray, b: np.ndarray, **options: int) -> float:
    def statistic(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(x - y, axis=axis)

    return stats.permutation_test((a, b), statistic, permutation_type="samples", **options).pvalue


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [8, 14])
def test_sign_flips_exact(seed: int, n: int) -> None:
    # Quarters are exact in binary: scipy lets rounding break ties near a difference of zero.
    a, b = np.random.default_rng(seed).integers(0, 5, size=(2, n)) / 4
    theirs = _permutation_test(a, b, n_resamples=2**n)
    assert sign_flip(a - b)[0] == pytest.approx(theirs)


@pytest.mark.parametrize("seed", SEEDS)
def test_sign_flips_random(seed: int) -> None:
    a, b = scores(seed, 80)
    theirs = _permutation_test(a, b, n_resamples=10_000, rng=seed)
    # Both are Monte-Carlo: four deviations of the difference of two shares of 10,000.
    assert sign_flip(a - b, seed=seed)[0] == pytest.approx(theirs, abs=4 * np.sqrt(2 * 0.25 / 10_000))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [1, 2, 12, 20, 21, 50, 51, 120])
def test_wilcoxon(seed: int, n: int) -> None:
    differences = np.random.default_rng(seed).normal(0.2, 1, n)
    assert wilcoxon(differences) == pytest.approx(stats.wilcoxon(differences).pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [8, 30, 50, 300])
def test_wilcoxon_where_ranks_are_tied(seed: int, n: int) -> None:
    a, b = scores(seed, n)
    differences = a - b
    moving = np.round(differences[differences != 0], 12)
    few = len(moving) <= 20  # there each sign is tried: 2^8 are quick with them too
    theirs = stats.wilcoxon(moving, method=stats.PermutationMethod(n_resamples=np.inf) if few else "approx")
    assert wilcoxon(differences) == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 3, 20, 100, 1000])
def test_quantiles_lie_between_ordered_rows(n: int, share: float) -> None:
    below, above = stats.binom.ppf([0.025, 0.975], n, share)
    found = quantile_interval(np.arange(1, n + 1), share)  # row i is i, counted from 1
    assert found.low == (below if below >= 1 else -np.inf)
    assert found.high == (above + 1 if above < n else np.inf)


@pytest.mark.parametrize("seed", SEEDS)
def test_mcnemar(seed: int) -> None:
    a, b = np.random.default_rng(seed).integers(0, 2, size=(2, 50))
    table = [[np.sum((a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)]
    assert mcnemar(a, b) == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue)


@pytest.mark.parametrize(("successes", "n"), [(0, 30), (1, 30), (15, 40), (40, 40), (250, 300)])
def test_proportions(successes: int, n: int) -> None:
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "beta")):
        low, high = proportion_confint(successes, n, method=method)
        found = ours(successes, n)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_corrections(seed: int) -> None:
    p = np.random.default_rng(seed).random(12) ** 3
    p[3] = p[7]
    assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1].tolist())
    assert benjamini_hochberg(p.tolist()) == pytest.approx(multipletests(p, method="fdr_bh")[1].tolist())


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_detectable_difference(n: int) -> None:
    mde = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    half = stats.t.ppf(0.975, n - 1) / np.sqrt(n)  # of the interval of n differences of deviation 1
    assert detectable_difference(-half, half) == pytest.approx(mde, rel=0.02)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scheme", ["none", "linear", "quadratic"])
def test_kappa(seed: int, scheme: str) -> None:
    random = np.random.default_rng(seed)
    a = random.integers(0, 4, 70)
    b = np.where(random.random(70) < 0.5, a, random.integers(0, 4, 70))
    theirs = cohen_kappa_score(a, b, weights=None if scheme == "none" else scheme)
    assert cohen_kappa(a, b, scheme)[0] == pytest.approx(theirs)
    weight = random.integers(1, 5, 70).astype(float)
    theirs = cohen_kappa_score(a, b, weights=None if scheme == "none" else scheme, sample_weight=weight)
    assert cohen_kappa(a, b, scheme, weight[None, :])[0] == pytest.approx(theirs)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha(seed: int, level: str) -> None:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, 60)
    raters = np.where(random.random((3, 60)) < 0.6, truth, random.integers(0, 5, (3, 60))).astype(float)
    raters[random.random((3, 60)) < 0.2] = np.nan
    theirs = krippendorff.alpha(reliability_data=raters, level_of_measurement=level)
    assert krippendorff_alpha(list(raters), level)[0] == pytest.approx(theirs)


@pytest.mark.parametrize("seed", SEEDS)
def test_kendall(seed: int) -> None:
    a, b = scores(seed, 50)
    assert kendall(a, b)[0] == pytest.approx(stats.kendalltau(a, b).statistic)
    # a row that is drawn twice ties with itself: what scipy says of the repeated rows
    counts = np.random.default_rng(seed).integers(0, 4, 50)
    repeated = stats.kendalltau(np.repeat(a, counts), np.repeat(b, counts)).statistic
    assert kendall(a, b, counts[None, :].astype(float))[0] == pytest.approx(repeated)


@pytest.mark.parametrize("seed", SEEDS)
def test_spearman(seed: int) -> None:
    a, b = scores(seed, 50)
    assert spearman(a, b)[0] == pytest.approx(stats.spearmanr(a, b).statistic)
