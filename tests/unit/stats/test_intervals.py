"""Intervals: numbers worked by hand, and the cases without information."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from assay.core.errors import UsageError
from assay.stats.intervals import (
    NO_INTERVAL,
    Interval,
    bonett_price,
    clopper_pearson,
    difference_interval,
    interval_of,
    mean_interval,
    mean_intervals,
    percentile,
    proportion_interval,
    wilson,
)
from assay.stats.resample import RESAMPLES, cluster_sums, resampled_means

Z = 1.959963984540054


def test_wilson_by_hand() -> None:
    # 10 of 20: centre 1/2,
    # half = z sqrt(20/4 + z²/4) / (20 + z²) = 1.95996 · sqrt(5.96036) / 23.84146 = 0.20070
    found = wilson(10, 20)
    assert (found.low, found.high) == pytest.approx((0.29930, 0.70070), abs=5e-6)


def test_exact_without_a_failure_by_hand() -> None:
    # All of 30 succeed: the lower end solves p^30 = 0.025, so p = 0.025^(1/30).
    found = clopper_pearson(30, 30)
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / 30), 1.0))


@pytest.mark.parametrize(("successes", "method"), [(0, "exact"), (7, "exact"), (8, "wilson"), (33, "exact")])
def test_proportions_near_the_ends_are_exact(successes: int, method: str) -> None:
    assert proportion_interval(successes, 40).method == method
    column = np.repeat([1.0, 0.0], [successes, 40 - successes])
    assert mean_interval(column, binary=True) == proportion_interval(successes, 40)


def test_bonett_price_by_hand() -> None:
    # 5 gains, 1 loss of 28: up = 6/30, down = 2/30, centre 4/30,
    # half = z sqrt((8/30 - 16/900) / 30) = 1.95996 · sqrt(0.248889 / 30) = 0.178521
    found = bonett_price(5, 1, 28)
    assert (found.low, found.high) == pytest.approx((4 / 30 - 0.178521, 4 / 30 + 0.178521), abs=1e-6)


def test_binary_columns_that_agree_leave_room_for_doubt() -> None:
    column = np.tile([1.0, 0.0], 15)
    # No discordant pair of 30: ± z sqrt((2/32) / 32) = ± 1.95996 · sqrt(2) / 32
    found = difference_interval(column, column, binary=True)
    assert (found.low, found.high) == pytest.approx((-Z * 2**0.5 / 32, Z * 2**0.5 / 32))


def test_alike_scores_use_the_range_by_hand() -> None:
    # Six rows at 1 and one row at each end of [0, 1]: mean 7/8, deviation sqrt(7)/8,
    # half = t(7) · sqrt(7)/8 / sqrt(8) = 2.364624 · 0.330719 / 2.828427 = 0.276488; above 1 is cut.
    found = mean_interval(np.ones(6), binary=False, bounds=(0.0, 1.0))
    assert (found.low, found.high, found.method) == (
        pytest.approx(0.875 - 0.276488, abs=1e-6),
        1.0,
        "adjusted",
    )


def test_alike_scores_without_a_range_have_no_interval() -> None:
    found = mean_interval(np.full(50, 0.3), binary=False)
    assert np.isnan([found.low, found.high]).all()


def test_graded_columns_that_agree_leave_room_for_doubt() -> None:
    column = np.random.default_rng(0).random(40)
    found = difference_interval(column, column, binary=False, bounds=(0.0, 1.0))
    assert found.low < -0.01
    assert found.high > 0.01


def test_one_telling_row_does_not_settle_anything() -> None:
    a, b = np.full(100, 0.5), np.full(100, 0.5)
    a[:4] = 1.0  # four wins, no loss: p = 0.125, so the interval must hold 0
    found = difference_interval(a, b, binary=False, bounds=(0.0, 1.0))
    assert found.low < 0 < found.high


def test_the_expansion_by_hand() -> None:
    # n = 2, no jackknife: t(1) at 97.5 % is 12.7062, times sqrt(2) is 17.969: no resample lies so far out,
    # and the end is that many deviations (0.28896) below the point
    draws = np.linspace(0.0, 1.0, 1001)
    assert interval_of(draws, 0.5, 2).low == pytest.approx(0.5 - 17.969 * 0.28896, abs=1e-3)
    # n large: t is z, and the ends are the plain quantiles 0.025 and 0.975.
    found = interval_of(draws, 0.5, 10**9)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975), abs=1e-6)
    plain = percentile(draws)
    assert (plain.low, plain.high) == pytest.approx((0.025, 0.975))


def test_undefined_resamples() -> None:
    draws = np.linspace(0.0, 1.0, 1000)
    draws[:40] = np.nan  # 4 %: left out
    assert interval_of(draws, 0.5, 100).low > 0.04
    draws[:60] = np.nan  # 6 %: too many
    assert interval_of(draws, 0.5, 100) is NO_INTERVAL
    assert interval_of(np.linspace(0, 1, 100), float("nan"), 100) is NO_INTERVAL


def test_nothing_to_measure() -> None:
    assert mean_interval([], binary=False) is NO_INTERVAL
    assert mean_interval([], binary=True) is NO_INTERVAL
    assert difference_interval([], [], binary=True) is NO_INTERVAL
    assert proportion_interval(0, 0) is NO_INTERVAL
    assert mean_interval([0.4], binary=False) is NO_INTERVAL
    one = mean_interval([0.4], binary=False, bounds=(0.0, 1.0))
    assert (one.low, one.high) == (0.0, 1.0)


def test_input_that_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="NaN"):
        mean_interval([0.1, np.nan], binary=False)
    with pytest.raises(UsageError, match="0 and 1"):
        mean_interval([0.5, 1.0], binary=True)
    with pytest.raises(UsageError, match="one length"):
        difference_interval([1.0], [1.0, 0.0], binary=False)


def test_clusters_of_one_row_change_nothing_and_larger_ones_widen() -> None:
    random = np.random.default_rng(2)
    base = random.random(60)
    column = np.concatenate([base, base])  # every row twice: 120 rows know no more than 60
    apart = mean_interval(column, binary=False)
    assert mean_interval(column, binary=False, clusters=np.arange(120)) == apart
    together = mean_interval(column, binary=False, clusters=np.tile(np.arange(60), 2))
    widening = (together.high - together.low) / (apart.high - apart.low)
    assert widening == pytest.approx(2**0.5, rel=0.05)


def test_clustered_binary_columns_are_not_taken_for_independent_rows() -> None:
    column = np.tile(np.repeat([1.0, 0.0], [20, 20]), 3)
    clusters = np.tile(np.arange(40), 3)
    found = mean_interval(column, binary=True, clusters=clusters)
    alone = mean_interval(column[:40], binary=True)
    assert found.high - found.low == pytest.approx(alone.high - alone.low, rel=0.1)
    same = difference_interval(column, column, binary=True, clusters=clusters)
    assert same.low < 0 < same.high


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 1.0]), min_size=1, max_size=40), st.integers(0, 9)
)
def test_the_interval_holds_the_mean_and_stays_in_range(values: list[float], seed: int) -> None:
    found = mean_interval(values, binary=False, bounds=(0.0, 1.0), resamples=500, seed=seed)
    assert 0 <= found.low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= found.high <= 1


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30
    )
)
def test_swapping_the_systems_mirrors_the_interval(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    ab = difference_interval(a, b, binary=False, bounds=(0.0, 1.0), resamples=500)
    ba = difference_interval(b, a, binary=False, bounds=(0.0, 1.0), resamples=500)
    assert (ab.low, ab.high) == pytest.approx((-ba.high, -ba.low), abs=1e-9)


def test_many_columns_at_once_are_the_columns_one_by_one() -> None:
    random = np.random.default_rng(3)
    table = random.choice([0, 1 / 3, 1 / 2, 1], size=(50, 3))
    table[:, 2] = table[:, 0] - table[:, 1]
    bounds = [(0.0, 1.0), None, (-1.0, 1.0)]
    together = mean_intervals(*cluster_sums(table), bounds, resamples=500, seed=1)
    for column, found, ends in zip(table.T, together, bounds, strict=True):
        alone = mean_interval(column, binary=False, bounds=ends, resamples=500, seed=1)
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_a_column_with_fewer_rows_counts_its_own_rows() -> None:
    random = np.random.default_rng(3)
    table = random.random((400, 2))
    table[100:, 1] = np.nan
    whole, part = mean_intervals(*cluster_sums(table), [None, None])
    assert (part.high - part.low) / (whole.high - whole.low) == pytest.approx(2, rel=0.15)
    table[:, 1] = np.nan
    assert mean_intervals(*cluster_sums(table), [None, None])[1] is NO_INTERVAL


@pytest.mark.parametrize("n", [12, 30, 300])
def test_equal_gains_among_ties_are_shown_from_the_sixth_on(n: int) -> None:
    """As in an exact sign test: 2 / 2^6 is under 0.05, 2 / 2^5 is not."""
    shown = []
    for gains in range(8):
        rows = np.where(np.arange(n) < gains, 0.5, 0.0)
        found = difference_interval(rows, np.zeros(n), binary=False, bounds=(0.0, 1.0))
        shown.append(found.low > 0)
    assert shown == [False] * 6 + [True] * 2


def test_six_clusters_of_many_rows_are_no_six_rows() -> None:
    """Six books of fifty questions tell more than six questions do."""
    rows = np.random.default_rng(0).beta(2, 2, 300)
    books = mean_interval(rows, binary=False, clusters=np.arange(300) % 6, bounds=(0.0, 1.0))
    six = mean_interval(rows[:6], binary=False, bounds=(0.0, 1.0))
    assert (books.method, six.method) == ("bootstrap", "adjusted")
    assert books.high - books.low < 0.2
    assert six.high - six.low > 0.4


def test_the_end_on_the_side_of_a_long_tail_moves_out_by_hand() -> None:
    # nine rows of 0 or 0.1 and one of 1: squares and cubes are worked out here, not taken from the program
    rows = np.array([0.0, 0.0, 0.1, 0.1, 0.0, 0.0, 0.1, 0.1, 0.0, 0.1, 0.05, 1.0])
    centred = rows - rows.mean()
    skewness = (centred**3).mean() / (centred**2).mean() ** 1.5
    assert skewness > 2.5
    found, mirrored = (mean_interval(each, binary=False, bounds=(-5, 5)) for each in (rows, -rows))
    draws = resampled_means(*cluster_sums(rows, None), RESAMPLES, 0)[:, 0]
    kurtosis = (centred**4).mean() / (centred**2).mean() ** 2
    reach = np.sqrt(12 / 11) * special.stdtrit(min(11, 24 / (kurtosis - 1)), 0.975)
    plain = np.quantile(draws, special.ndtr([-reach, reach]))
    # (1.96² + 2) / (6 √12) = 5.841 / 20.785 = 0.2810 standard errors per unit of skewness
    assert found.low == pytest.approx(min(plain[0], found.low))
    assert found.high - plain[1] >= 0.2809 * skewness * draws.std() - 1e-9
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))


def test_five_clusters_show_nothing_and_six_may() -> None:
    def interval(number: int) -> Interval:
        clusters = np.repeat(np.arange(number), 10)
        gains = 0.2 + 0.01 * np.sin(clusters)
        return mean_interval(gains, binary=False, clusters=clusters, bounds=(-1, 1))

    # all of five signs agree in one of sixteen studies of twins, all of six in one of thirty-two
    assert interval(5).low < 0 < interval(6).low
