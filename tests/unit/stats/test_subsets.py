"""The subset-mean interval: by hand, against the sign-flip test, never falling, and covering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from assay.core.errors import UsageError
from assay.stats import resample
from assay.stats.paired_tests import sign_flip
from assay.stats.resample import cluster_sums, weighted_means
from assay.stats.subsets import subset_interval, subset_mean_intervals, subset_weights

Floats = NDArray[np.float64]

lifts = st.integers(-10, 10).map(lambda tenths: tenths / 10)

# ----------------------------------------------------------------------------------------- draws


def subset_draws(n: int, resamples: int = 10_000, seed: int = 0) -> Floats:
    return np.concatenate(list(subset_weights(n, resamples, seed)))


def test_few_rows_give_all_subsets() -> None:
    assert subset_draws(2).tolist() == [[1, 0], [0, 1], [1, 1]]
    assert len(subset_draws(13)) == 2**13 - 1
    assert len(np.unique(subset_draws(7), axis=0)) == 2**7 - 1


@pytest.mark.parametrize("n", [14, 20, 32, 33, 100])
def test_many_rows_give_random_halves(n: int) -> None:
    draws = subset_draws(n, 4_000, seed=1)
    assert draws.shape == (4_000, n)
    assert np.isin(draws, (0.0, 1.0)).all()
    assert draws.any(axis=1).all()
    # A share of 4,000 coins has a deviation of 0.0079: five of them are 0.04, in each of the columns.
    assert np.abs(draws.mean(axis=0) - 0.5).max() < 0.04
    assert np.array_equal(draws, subset_draws(n, 4_000, seed=1))
    assert not np.array_equal(draws, subset_draws(n, 4_000, seed=2))


@pytest.mark.parametrize("cells", [1, 50, 333])
def test_the_stream_does_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    whole = subset_draws(20, 101, seed=3)
    monkeypatch.setattr(resample, "CHUNK_CELLS", cells)
    assert len(list(subset_weights(20, 101, seed=3))) > 1
    assert np.array_equal(subset_draws(20, 101, seed=3), whole)


def test_no_rows_is_an_error() -> None:
    with pytest.raises(UsageError, match="no rows"):
        subset_draws(0)


# -------------------------------------------------------------------------------------- by hand


def interval(rows: Any) -> tuple[float, float]:
    found = subset_mean_intervals(rows)[0]
    return found.low, found.high


def test_intervals_by_hand() -> None:
    # Six rows: 0.025 · 64 = 1.6, so the first of the 63 means from either side: the extreme rows.
    assert interval([1, 2, 3, 4, 5, 6]) == (1.0, 6.0)
    # Seven rows: 0.025 · 128 = 3.2, so the third: {1}, {1, 2} = 1.5, then {2} and {1, 3} = 2; 8 - 2 above.
    assert interval([1, 2, 3, 4, 5, 6, 7]) == (2.0, 6.0)
    assert subset_mean_intervals([1, 2, 3, 4, 5, 6])[0].method == "subsets"


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_fewer_than_six_rows_claim_nothing(n: int) -> None:
    # 0.025 · 2^5 = 0.8: not even the smallest mean may be taken.
    assert np.isnan(interval(np.ones(n))).all()
    assert interval(np.ones(6)) == (1.0, 1.0)


def test_a_level_that_is_met_exactly_counts() -> None:
    # 19 means and a level of 0.9: 0.05 · 20 is 1, although (1 - 0.9) / 2 · 20 is a little less.
    means = np.arange(19.0)
    assert (subset_interval(means, 0.9).low, subset_interval(means, 0.9).high) == (0.0, 18.0)
    assert np.isnan(subset_interval(means[:18], 0.9).low)


def test_noise_is_no_difference() -> None:
    # 0.1 + 0.2 - 0.3 is not zero in floating point, and must not be above it.
    assert subset_interval(np.full(100, 0.1 + 0.2 - 0.3)).low == 0.0
    assert str(subset_interval(np.full(100, 0.3 - 0.1 - 0.2)).high) == "0.0"


@pytest.mark.parametrize(("rows", "claims"), [(5, False), (6, True)])
def test_a_column_with_few_rows_among_many_claims_as_little(rows: int, claims: bool) -> None:
    # 1 subset in 2^5 of the column's own rows is empty, more than 2.5 %; 1 in 2^6 is less.
    column = np.full(20, np.nan)
    column[:rows] = 1.0
    means = weighted_means(subset_weights(20), *cluster_sums(column))[:, 0]
    assert np.isnan(subset_interval(means).low) != claims


def test_columns_share_their_subsets() -> None:
    rows = np.random.default_rng(5).normal(size=(30, 3))
    together = subset_mean_intervals(rows, seed=2)
    assert together[1] == subset_mean_intervals(rows[:, 1], seed=2)[0]


# ------------------------------------------------------------------------------- what it promises


@given(rows=st.lists(lifts, min_size=6, max_size=30), data=st.data())
def test_no_end_falls_when_a_row_rises(rows: list[float], data: st.DataObject) -> None:
    before = interval(rows)
    raised = np.array(rows)
    raised[data.draw(st.integers(0, len(rows) - 1))] += data.draw(st.floats(0, 2))
    after = interval(raised)
    assert after[0] >= before[0]
    assert after[1] >= before[1]


@given(rows=st.lists(lifts, min_size=6, max_size=30))
def test_the_other_way_round_is_the_mirror_image(rows: list[float]) -> None:
    low, high = interval(rows)
    assert interval(-np.array(rows)) == (-high, -low)


@given(rows=st.lists(lifts, min_size=6, max_size=13))
def test_it_is_the_sign_flip_test_turned_round(rows: list[float]) -> None:
    low, high = interval(rows)
    p = float(sign_flip(rows)[0])  # two-sided and exact: twice the one-sided, where there is a difference
    assert (low > 0 or high < 0) == (p <= 0.05)


@pytest.mark.parametrize("seed", range(8))
def test_scipy_flips_signs_to_the_same_end(seed: int) -> None:
    rows = np.random.default_rng(seed).integers(-3, 8, size=8) / 10
    oracle = stats.permutation_test(
        (rows,), np.sum, permutation_type="samples", alternative="greater", n_resamples=np.inf
    ).pvalue
    means = np.round(subset_draws(8) @ rows, 12)
    assert (np.sum(means <= 0) + 1) / 2**8 == pytest.approx(oracle)
    assert (interval(rows)[0] > 0) == (oracle <= 0.025)


def test_random_subsets_come_near_the_exact_test() -> None:
    rows = np.random.default_rng(3).integers(-4, 7, size=(20, 200)) / 10
    p = sign_flip(rows)  # exact up to 20 rows
    found = subset_mean_intervals(rows)
    claimed = np.array([each.low > 0 or each.high < 0 for each in found])
    # 10,000 draws know a share of 0.025 within 0.0016: three of them, doubled, are 0.01.
    clear = np.abs(p - 0.05) > 0.01
    assert clear.sum() > 150
    assert np.array_equal(claimed[clear], p[clear] <= 0.05)


# ----------------------------------------------------------------------------------- calibration


def differences(name: str, n: int, studies: int) -> tuple[Floats, float]:
    """Differences of two lifts, each of six passages of its own among ten, and their true mean."""
    random, shape = np.random.default_rng(n), (n, studies)
    surprising = np.where(random.random(shape) < 0.25, 0.7, 0.05)  # a quarter of the items holds most of it
    chances, truth = {
        "alike": ((0.2, 0.2), 0.0),
        "alike, uneven": ((random.beta(0.3, 0.9, shape), random.beta(0.3, 0.9, shape)), 0.0),
        "apart": ((0.5, 0.15), 0.6 * 0.35),
        "skewed": ((surprising, 0.05), 0.6 * (0.25 * 0.7 + 0.75 * 0.05 - 0.05)),
        "mostly ties": ((0.05, 0.02), 0.6 * 0.03),
    }[name]
    a, b = (random.binomial(6, chance, shape) for chance in chances)
    return (a - b) / 10, truth


def calibrated(name: str, n: int, studies: int) -> tuple[float, float]:
    """How often the interval holds the truth, and how often it excludes zero."""
    rows, truth = differences(name, n, studies)
    found = subset_mean_intervals(rows)
    held = np.mean([each.low <= truth <= each.high for each in found])
    return float(held), float(np.mean([each.low > 0 or each.high < 0 for each in found]))


NAMES = ["alike", "alike, uneven", "apart", "skewed", "mostly ties"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_lifts_are_covered(name: str) -> None:
    held, alarms = calibrated(name, 20, 1_000)
    assert held >= 0.92  # 0.93 less a deviation and a half of 1,000 studies
    if name.startswith("alike"):
        assert alarms <= 0.05 + 0.014  # two deviations


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("name", NAMES)
def test_lifts_are_covered_in_5000_studies(name: str, n: int) -> None:
    held, alarms = calibrated(name, n, 5_000)
    assert held >= 0.93
    if name.startswith("alike"):
        assert alarms <= 0.05
