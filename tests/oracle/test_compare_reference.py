"""The compare stage beside a slow reading of the same definitions with scipy, statsmodels and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from assay.core.records import Comparison, Estimate
from assay.stats.compare import ComparisonSettings, summarise
from score_rows import B, M, T, items_of, rows_of

Floats = NDArray[np.float64]
RESAMPLES = 1_500
RANKS = [1, 1 / 2, 1 / 3, 1 / 4, 1 / 10, 0]


def drawn_means(columns: Floats, clusters: list[list[int]], seed: int = 0) -> Floats:
    """Means of every column over resampled clusters, one resample at a time."""
    random = np.random.Generator(np.random.PCG64(seed))
    means = []
    for _ in range(RESAMPLES):
        rows = [
            row
            for cluster in random.integers(0, len(clusters), size=len(clusters))
            for row in clusters[cluster]
        ]
        means.append(columns[rows].mean(axis=0))
    return np.array(means)


def expanded_percentile(
    draws: Floats, column: Floats, clusters: list[list[int]], level: float
) -> tuple[float, float]:
    """Percentiles moved outwards by Student's t, with the degrees of freedom that the kurtosis leaves, and on
    the side of the longer tail by what the skewness asks."""
    n = len(clusters)
    left_out = [np.delete(column, cluster).mean() for cluster in clusters]
    influence = (n - 1) * (column.mean() - np.array(left_out))
    kurtosis = stats.kurtosis(influence, fisher=False)
    freedom = min(n - 1, 2 * n / (kurtosis - 1))
    reach = np.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, freedom)
    low, high = np.quantile(draws, stats.norm.cdf([-reach, reach]))
    lean = stats.skew(influence) * (stats.norm.ppf((1 + level) / 2) ** 2 + 2) / (6 * np.sqrt(n)) * draws.std()
    return float(low + min(lean, 0)), float(high + max(lean, 0))


def table(
    columns: dict[tuple[str, str], Floats],
    measure: object,
    sites: list[str] | None = None,
    level: float = 0.95,
) -> tuple[list[Estimate], list[Comparison]]:
    n = len(next(iter(columns.values())))
    items = items_of(n, site=sites) if sites else items_of(n)
    rows = rows_of(columns, items, "site" if sites else None)
    return summarise(rows, [measure], ComparisonSettings(rows.systems[0], resamples=RESAMPLES, level=level))  # type: ignore[list-item]


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_of_means_and_differences(level: float) -> None:
    random = np.random.default_rng(1)
    old, new = random.choice(RANKS, size=41), random.choice(RANKS, size=41)
    alone = [[row] for row in range(41)]
    draws = drawn_means(np.column_stack([old, new]), alone)
    estimates, (one,) = table({("old", "M"): old, ("new", "M"): new}, M, level=level)
    for place, (estimate, column) in enumerate(zip(estimates, (old, new), strict=True)):
        low, high = expanded_percentile(draws[:, place], column, alone, level)
        assert estimate.value == pytest.approx(column.mean())
        assert (estimate.low, estimate.high) == pytest.approx((low, high))
    low, high = expanded_percentile(draws[:, 1] - draws[:, 0], new - old, alone, level)
    assert (one.difference, one.low, one.high) == pytest.approx(((new - old).mean(), low, high))


def test_intervals_over_clusters_of_unequal_size() -> None:
    random = np.random.default_rng(2)
    sizes = random.integers(1, 6, size=20)
    of = np.repeat(np.arange(20), sizes)
    old = random.choice(RANKS, size=len(of))
    new = np.clip(old + random.normal(0, 0.3, 20)[of], 0, 1)
    clusters = [np.flatnonzero(of == number).tolist() for number in range(20)]
    _, (one,) = table({("old", "M"): old, ("new", "M"): new}, M, [f"s{number}" for number in of])
    draws = drawn_means(np.column_stack([old, new]), clusters)
    low, high = expanded_percentile(draws[:, 1] - draws[:, 0], new - old, clusters, 0.95)
    assert (one.low, one.high) == pytest.approx((low, high))
    # a flip turns a whole site: permuting the signs of the sums over sites, by scipy, at random
    sums = np.bincount(of, new - old)
    by_scipy = stats.permutation_test(
        (sums,), np.sum, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(0)
    )
    assert one.p == pytest.approx(by_scipy.pvalue, abs=4 * np.sqrt(by_scipy.pvalue / 20_000))


@pytest.mark.parametrize("seed", range(6))
def test_exact_p_values(seed: int) -> None:
    random = np.random.default_rng(seed)
    old, new = random.choice(RANKS, size=11), random.choice(RANKS, size=11)
    _, (one,) = table({("old", "M"): old, ("new", "M"): new}, M)
    by_scipy = stats.permutation_test(
        (new - old,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert one.p == pytest.approx(by_scipy.pvalue)


def test_mcnemar_and_counts() -> None:
    random = np.random.default_rng(4)
    old, new = (random.random(80) < share for share in (0.5, 0.7))
    _, (one,) = table({("old", "B"): old.astype(float), ("new", "B"): new.astype(float)}, B)
    contingency = [[np.sum(new & old), np.sum(new & ~old)], [np.sum(~new & old), np.sum(~new & ~old)]]
    assert one.p == pytest.approx(mcnemar(contingency, exact=True).pvalue)
    assert [one.wins, one.ties, one.losses] == [np.sum(each) for each in (new & ~old, new == old, ~new & old)]


def test_lower_is_better_and_unbounded() -> None:
    random = np.random.default_rng(5)
    old, new = random.exponential(1.0, 30), random.exponential(0.9, 30)
    _, (one,) = table({("old", "T"): old, ("new", "T"): new}, T)
    assert (one.wins, one.losses) == (int(np.sum(new < old)), int(np.sum(new > old)))
    assert one.effect == pytest.approx((new - old).mean() / (new - old).std(ddof=1))


@pytest.mark.parametrize(("correction", "method"), [("holm", "holm"), ("benjamini-hochberg", "fdr_bh")])
def test_corrections_over_a_family(correction: str, method: str) -> None:
    random = np.random.default_rng(6)
    columns = {(f"s{index}", "M"): np.clip(random.random(40) + 0.05 * index, 0, 1) for index in range(6)}
    _, found = summarise(
        rows_of(columns), [M], ComparisonSettings("s0", correction=correction, resamples=RESAMPLES)
    )
    by_statsmodels = multipletests([one.p for one in found], method=method)[1]
    assert [one.p_adjusted for one in found] == pytest.approx(by_statsmodels.tolist())
