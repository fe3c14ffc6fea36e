"""Statistics that span items: by hand, undefined cases, and the meaning of weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.registry import STATISTICS, Registry
from assay.stats.agreement import cohen_kappa, krippendorff_alpha, spearman
from assay.stats.intervals import proportion_interval
from assay.stats.resample import bootstrap_weights
from assay.stats.statistics import (
    P50,
    P95,
    P99,
    Alpha,
    BetterOfTwo,
    Kappa,
    MeanLoss,
    Rho,
    Spearman,
    Wins,
    weighted_percentile,
)
from score_rows import decided, rows_of


def test_kappa_by_hand() -> None:
    a, b = [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]
    # Agreement 4/5; chance 3/5 · 2/5 + 2/5 · 3/5 = 12/25; (20 - 12) / (25 - 12)
    assert cohen_kappa(a, b)[0] == pytest.approx(8 / 13)
    assert cohen_kappa([*a, 1, np.nan], [*b, np.nan, 0])[0] == pytest.approx(8 / 13)


def test_a_level_that_nobody_gave_keeps_its_place() -> None:
    a, b = [0, 0, 3, 3, 1], [0, 3, 3, 3, 1]
    # 0 against 3 is one of five rows: 3 steps on 0 to 3, 2 on the grades that occur.
    # By chance on 0 to 3, from a's 2, 1, 0, 2 to b's 1, 1, 0, 3: 2 · (1 + 9) + 1 · (1 + 6) + 2 · (3 + 2) = 37
    assert cohen_kappa(a, b, "linear", levels=range(4))[0] == pytest.approx(1 - 5 * 3 / 37)
    # without 2, 3 lies two steps from 0: 2 · (1 + 6) + 1 · (1 + 3) + 2 · (2 + 1) = 24
    assert cohen_kappa(a, b, "linear")[0] == pytest.approx(1 - 5 * 2 / 24)
    # unweighted, every step is the same
    assert cohen_kappa(a, b, levels=range(4))[0] == pytest.approx(cohen_kappa(a, b)[0])
    ratings, once = [np.array(a, dtype=float), np.array(b, dtype=float)], np.ones((1, 5))
    assert Kappa("linear", levels=4).values(ratings, once)[0] == pytest.approx(1 - 15 / 37)
    assert Kappa("linear").values(ratings, once)[0] == pytest.approx(1 - 10 / 24)


def test_a_grade_off_the_scale_is_refused() -> None:
    with pytest.raises(UsageError, match=r"grade of 4 is not on the scale 0, 1, 2, 3"):
        cohen_kappa([0, 4], [0, 1], "linear", levels=range(4))
    with pytest.raises(UsageError, match="levels is 1"):
        Kappa(levels=1)


def test_rho_is_over_what_both_judged() -> None:
    a, b = np.array([1, 2, np.nan, 3, 4.0]), np.array([20, 10, 99, 40, 30.0])
    # ranks 1 2 3 4 against 2 1 4 3, as above; the third row is one rater's alone
    assert Rho().values([a, b], np.ones((1, 5)))[0] == pytest.approx(0.6)
    # the first two rows alone: 1, 2 against 2, 1
    assert Rho().values([a, b], np.array([[1.0, 1.0, 5.0, 0.0, 0.0]]))[0] == pytest.approx(-1.0)
    with pytest.raises(UsageError, match="rho takes two columns"):
        Rho().values([a], np.ones((1, 5)))


def test_alpha_by_hand() -> None:
    # Units (1,1) (1,1) (1,0) (0,0): 8 ratings, five 1 and three 0;
    # disagreement observed 2, by chance 2 · 5 · 3 / 7 = 30 / 7
    assert krippendorff_alpha([[1, 1, 1, 0], [1, 1, 0, 0]])[0] == pytest.approx(1 - 2 / (30 / 7))
    # A unit that one rater judged pairs with nothing.
    assert krippendorff_alpha([[1, 1, 1, 0, 1], [1, 1, 0, 0, np.nan]])[0] == pytest.approx(1 - 14 / 30)


def test_spearman_by_hand() -> None:
    # Ranks 1 2 3 4 against 2 1 4 3: 1 - 6 · 4 / (4 · 15)
    assert spearman([1, 2, 3, 4], [20, 10, 40, 30])[0] == pytest.approx(0.6)


def test_undefined_is_nan() -> None:
    alike = np.ones(5)
    for scheme in ("none", "linear", "quadratic"):
        assert np.isnan(cohen_kappa(alike, alike, scheme)).all()
    for level in ("nominal", "ordinal", "interval"):
        assert np.isnan(krippendorff_alpha([alike * 0.1, alike * 0.1], level)).all()
        assert np.isnan(krippendorff_alpha([[np.nan, 1.0], [1.0, np.nan]], level)).all()
    assert np.isnan(spearman(alike, np.arange(5))).all()
    assert np.isnan(spearman([], [])).all()
    assert np.isnan(cohen_kappa([], [])).all()
    assert np.isnan(P50().values([np.array([])], np.ones((2, 0)))).all()
    assert np.isnan(weighted_percentile(np.array([1.0, 2.0]), 0.5, np.zeros((1, 2)))).all()


def test_a_resample_with_one_category_is_nan_and_its_neighbours_are_not() -> None:
    a, b = np.array([0.1, 0.1, 0.7]), np.array([0.1, 0.7, 0.7])
    weights = np.array([[3.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    for level in ("nominal", "ordinal", "interval"):
        assert np.isnan(krippendorff_alpha([a, b], level, weights)).tolist() == [True, False]
    assert np.isnan(cohen_kappa(a, b, "none", weights)).tolist() == [True, False]


grades = st.sampled_from([0.0, 1.0, 2.0, 3.0])
rows = st.lists(st.tuples(grades, grades, st.integers(0, 3)), min_size=1, max_size=15)


@settings(max_examples=60)
@given(rows)
def test_weights_mean_repetition(drawn: list[tuple[float, float, int]]) -> None:
    a, b, times = np.array(drawn).T
    repeated = [np.repeat(column, times.astype(int)) for column in (a, b)]
    weights = times[None, :]
    for statistic in (P50(), P95(), P99()):
        with_weights = statistic.values([a], weights)
        plain = statistic.values(repeated[:1], np.ones((1, len(repeated[0]))))
        assert with_weights == pytest.approx(plain, nan_ok=True)
    for pair in (Spearman(), Kappa(), Alpha(), Alpha("ordinal"), Alpha("interval")):
        plain = pair.values(repeated, np.ones((1, len(repeated[0]))))
        assert pair.values([a, b], weights) == pytest.approx(plain, nan_ok=True)


@settings(max_examples=60)
@given(rows, st.sampled_from(["linear", "quadratic"]))
def test_weighted_kappa_by_repetition(drawn: list[tuple[float, float, int]], scheme: str) -> None:
    # No row is left out here: a category that a resample misses must not draw its neighbours together.
    a, b, times = np.array(drawn).T
    repeated = [np.repeat(column, times.astype(int) + 1) for column in (a, b)]
    found = cohen_kappa(a, b, scheme, times[None, :] + 1)
    assert found == pytest.approx(cohen_kappa(*repeated, scheme), nan_ok=True)


@settings(max_examples=60)
@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=30),
    st.sampled_from([0.5, 0.95, 0.99]),
    st.integers(0, 99),
)
def test_percentiles_are_those_of_numpy(values: list[float], share: float, seed: int) -> None:
    column = np.array(values)
    weights = next(bootstrap_weights(len(column), 5, seed))
    expected = [np.percentile(np.repeat(column, row.astype(int)), 100 * share) for row in weights]
    assert weighted_percentile(column, share, weights) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        ("p50", P50()),
        ("p95", P95()),
        ("p99", P99()),
        ("spearman", Spearman()),
        ("wins", Wins()),
        ("kappa(weights=quadratic)", Kappa("quadratic")),
        ("kappa(weights=linear, levels=4)", Kappa("linear", levels=4)),
        ("rho", Rho()),
        ("alpha(level=ordinal)", Alpha("ordinal")),
    ],
)
def test_every_statistic_is_found_by_name(spec: str, made: object) -> None:
    assert Registry().create(STATISTICS, spec) == made


def test_wins_are_a_share_of_rows_and_ties_are_none() -> None:
    first, second = np.array([0.5, 1.0, 0.0, 0.3]), np.array([0.2, 1.0, 0.4, 0.1 + 0.2])
    weights = np.array([[1.0, 1.0, 1.0, 1.0], [3.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    # only the first row is won: 1 of 4, then 3 of 4; no rows, no share
    np.testing.assert_equal(Wins().values([first, second], weights), [0.25, 0.75, np.nan])


def test_input_that_makes_no_sense() -> None:
    column, weights = np.ones(3), np.ones((1, 3))
    with pytest.raises(UsageError, match="one column"):
        P95().values([column, column], weights)
    with pytest.raises(UsageError, match="two columns"):
        Kappa().values([column], weights)
    with pytest.raises(UsageError, match="two raters"):
        Alpha().values([column], weights)
    with pytest.raises(UsageError, match="quadratic"):
        Kappa("quadratc").values([column, column], weights)
    with pytest.raises(UsageError, match="ordinal"):
        Alpha("ordnal").values([column, column], weights)
    with pytest.raises(UsageError, match="NaN"):
        P50().values([column * np.nan], weights)


FLAT = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]
TREE = [1.0, 0.0, 0.4, 1.0, 0.0, 1.0]  # the third: lost in three of five seeds


def lost(first: list[float], second: list[float], weights: list[list[float]] | None = None) -> list[float]:
    columns = [np.array(first), np.array(second)]
    found = MeanLoss().values(columns, np.array(weights or [[1.0] * len(first)]))
    return [float(each) for each in found]


def test_by_hand() -> None:
    # lost 1 on the second, 3/5 on the third; what the fourth gains makes up for nothing
    assert lost(FLAT, TREE) == pytest.approx([1.6 / 6])
    assert lost(TREE, FLAT) == pytest.approx([1 / 6])
    assert lost(FLAT, FLAT) == [0.0]


def test_resamples() -> None:
    assert lost([1.0, 1.0], [0.0, 1.0], [[2, 0], [0, 2], [1, 3]]) == pytest.approx([1.0, 0.0, 1 / 4])
    assert np.isnan(lost([1.0], [0.0], [[0.0]])).all()


def test_it_takes_two_columns_of_finite_numbers() -> None:
    with pytest.raises(UsageError, match="lost takes two columns, not 1"):
        MeanLoss().values([np.ones(3)], np.ones((1, 3)))
    with pytest.raises(UsageError, match="NaN"):
        lost([np.nan], [1.0])


def test_in_a_gate_it_has_the_interval_of_a_share() -> None:
    flat = [1.0] * 80 + [0.0] * 20
    tree = [0.0] * 4 + [1.0] * 86 + [0.0] * 10  # lost on 4, won on 10
    found = decided("lost(B(flat), B(tree)) <= 0.1", rows_of({("flat", "B"): flat, ("tree", "B"): tree}))
    share = proportion_interval(4, 100)
    assert found.left == pytest.approx(0.04)
    assert (found.low, found.high) == pytest.approx((share.low - 0.1, share.high - 0.1))
    assert found.holds


def test_that_nothing_was_lost_is_not_certain() -> None:
    few = rows_of({("flat", "B"): [1.0] * 10, ("tree", "B"): [1.0] * 10})
    assert decided("lost(B(flat), B(tree)) <= 0.02", few).holds is None
    many = rows_of({("flat", "B"): [1.0] * 400, ("tree", "B"): [1.0] * 400})
    assert decided("lost(B(flat), B(tree)) <= 0.02", many).holds


def test_either_is_the_better_of_two_row_by_row() -> None:
    weights = np.array([[1.0] * 6, [0, 0, 0, 1, 0, 0]])
    found = BetterOfTwo().values([np.array(FLAT), np.array(TREE)], weights)
    assert found.tolist() == pytest.approx([5 / 6, 1.0])  # 1, 1, 1, 1, 0, 1
    with pytest.raises(UsageError, match="either takes two columns"):
        BetterOfTwo().values([np.ones(3)], np.ones((1, 3)))
