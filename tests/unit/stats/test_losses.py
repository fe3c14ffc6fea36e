"""A test for a loss: p-values by hand, one budget for several columns, and what is found at what size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from assay.core.errors import UsageError
from assay.stats.losses import LEVEL, LossTest, detectable_loss, loss_tests

Floats = NDArray[np.float64]
ALPHA = 0.05


def changed(lost: int, won: int, n: int = 42) -> Floats:
    """A column in which so many items of n lost everything, and so many won it."""
    column = np.zeros(n)
    column[:lost], column[lost : lost + won] = -1.0, 1.0
    return column


def one(column: Floats) -> LossTest:
    (found,) = loss_tests(column[:, None])
    return found


@pytest.mark.parametrize(
    ("lost", "won", "p", "shown"),
    [
        (0, 0, 1.0, False),
        (3, 0, 1 / 16, False),  # half of (1/2)^3
        (4, 0, 1 / 32, True),
        (6, 0, 1 / 128, True),
        (5, 1, (1 + 6 / 2) / 64, False),  # all six lost, and half of the six ways to lose five
        (6, 1, (1 + 7 / 2) / 128, True),
        (0, 6, 1 - 1 / 128, False),
    ],
)
def test_items_lost_and_won_by_hand(lost: int, won: int, p: float, shown: bool) -> None:
    found = one(changed(lost, won))
    assert (found.p, found.shown) == (pytest.approx(p), shown)
    assert found.p_adjusted == found.p


def test_it_is_the_mid_p_of_a_binomial_test() -> None:
    for lost, won in itertools.product(range(0, 40, 3), range(0, 40, 5)):
        if lost + won:
            tail = stats.binom(lost + won, 0.5)
            mid = tail.sf(lost - 1) - tail.pmf(lost) / 2
            assert one(changed(lost, won, 90)).p == pytest.approx(mid)
    assert one(changed(1500, 1400, 3000)).p == pytest.approx(stats.binom(2900, 0.5).sf(1499.5), rel=0.05)


def test_graded_differences_are_gone_through_sign_by_sign() -> None:
    # 0.5 + 0.3 - 0.1 lost: of the eight sums only -0.9 is lower, and no other is the same: (1 + 1/2) / 8
    assert one(np.array([-0.5, -0.3, 0.1, 0.0])).p == pytest.approx(1.5 / 8)
    # with sizes that repeat, several sums are the same as the observed -0.2, and half of them count
    column = np.array([-0.2, -0.2, 0.1, 0.1])
    sums = [sum(s * v for s, v in zip(signs, (0.2, 0.2, 0.1, 0.1), strict=True)) for signs in SIGNS]
    lower = sum(each < -0.2 - 1e-9 for each in sums) + sum(abs(each + 0.2) < 1e-9 for each in sums) / 2
    assert one(column).p == pytest.approx(lower / 16)


SIGNS = list(itertools.product((1, -1), repeat=4))


def test_many_graded_differences_are_drawn_and_agree_with_the_normal_distribution() -> None:
    column = np.random.default_rng(3).normal(-0.05, 0.3, 200)
    expected = stats.norm.cdf(column.sum() / np.sqrt((column**2).sum()))
    found = one(column)
    assert found.p == pytest.approx(expected, abs=0.01)
    assert found == one(column)  # the same bits every time


def test_a_hole_is_refused() -> None:
    with pytest.raises(UsageError, match="NaN"):
        one(np.array([0.1, np.nan]))


# ---------------------------------------------------------------------------------- several columns


def test_columns_that_move_together_cost_nothing() -> None:
    lost = changed(5, 0)
    found = loss_tests(np.column_stack([lost, 0.4 * lost, np.zeros(42)]))
    assert [each.p_adjusted for each in found] == [1 / 64, 1 / 64, 1.0]


def test_columns_that_move_apart_share_the_budget() -> None:
    # four lost in one, four others in the other: 256 sign vectors; a smallest p of 1/32 needs all four of
    # either column to be lost, 16 + 16 - 1 of 256, and all of them have that p: half counts
    one_lost, other = np.zeros(42), np.zeros(42)
    one_lost[:4], other[4:8] = -1, -1
    found = loss_tests(np.column_stack([one_lost, other]))
    assert [each.p for each in found] == [1 / 32, 1 / 32]
    assert found[0].p_adjusted == pytest.approx(31 / 256 / 2)
    assert not any(each.shown for each in found)
    # a column in which too little changed to show anything takes no share worth the name
    beside = np.zeros(42)
    beside[10:12] = -1
    assert loss_tests(np.column_stack([one_lost, beside]))[0].shown


# -------------------------------------------------------------------------------------- calibration


def _alarms(moved: int, *, distinct: bool) -> float:
    """How often an unchanged system of which so many items changed is called worse, exactly."""
    if distinct:  # every sum of sizes is another: the p-values are (k - 1/2) / 2^moved
        return float(np.floor(LEVEL * 2.0**moved + 0.5) / 2.0**moved)
    outcomes = stats.binom(moved, 0.5)
    return float(
        sum(outcomes.pmf(lost) for lost in range(moved + 1) if one(changed(lost, moved - lost, moved)).shown)
    )


@pytest.mark.parametrize("distinct", [False, True])
def test_an_unchanged_system_is_called_worse_in_at_most_5_percent(distinct: bool) -> None:
    """Summed exactly over how many items change: q lost and q won by chance, q from 1 % to 30 %."""
    alarms = np.array([0.0, *(_alarms(moved, distinct=distinct) for moved in range(1, 101))])
    worst = 0.0
    for n in (10, 20, 30, 42, 50, 60, 70, 85, 100):
        for q in np.arange(0.01, 0.301, 0.01):
            rate = float(stats.binom(n, 2 * q).pmf(np.arange(n + 1)) @ alarms[: n + 1])
            worst = max(worst, rate)
    assert 0.03 < worst <= ALPHA


def test_a_loss_of_ten_points_of_42_items_is_found_in_more_than_60_percent() -> None:
    found = {lost: one(changed(lost, 0)).shown for lost in range(43)}
    power = sum(stats.binom(42, 0.1).pmf(lost) for lost, shown in found.items() if shown)
    assert power == pytest.approx(0.6164, abs=1e-4)  # 1 - P(at most 3 of 42)


@pytest.mark.slow
def test_several_columns_together_are_called_worse_in_at_most_5_percent() -> None:
    random, studies = np.random.default_rng(5), 2_000
    rates = {}
    for name, rho in (("apart", 0.0), ("alike", 0.8)):
        alarms = 0
        for _ in range(studies):
            shared = random.normal(size=(42, 1))
            noise = np.sqrt(rho) * shared + np.sqrt(1 - rho) * random.normal(size=(42, 3))
            noise[random.random(42) < 0.7] = 0.0  # three in ten items change
            alarms += any(each.shown for each in loss_tests(np.round(noise, 1), 2_000))
        rates[name] = alarms / studies
    # 99 % lower Monte Carlo bound: 5 % + 2.33 · sqrt(.05 · .95 / 2,000)
    assert all(rate <= ALPHA + 0.0114 for rate in rates.values()), rates


# ---------------------------------------------------------------------------------- what can be found


def test_what_could_have_been_found_is_found_so_often() -> None:
    loss = detectable_loss(np.ones(42), 0.0)
    assert loss is not None
    power = stats.binom(42, loss).sf(3)  # four lost and none won show
    assert 0.78 <= power <= 0.9
    noisy = detectable_loss(np.ones(42), 0.1)
    assert noisy is not None
    assert noisy > loss


def test_with_chance_at_work_it_is_still_found_so_often() -> None:
    random, n, share = np.random.default_rng(1), 60, 0.1
    loss = detectable_loss(np.ones(n), share)
    assert loss is not None
    caught = 0
    for _ in range(400):
        column = np.where(random.random(n) < share, random.choice([-1.0, 1.0], n), 0.0)
        column[random.random(n) < loss] = -1.0
        caught += one(column).shown
    assert 0.7 <= caught / 400 <= 0.92


def test_three_items_can_show_no_loss() -> None:
    assert detectable_loss(np.ones(3), 0.0) is None
    assert detectable_loss(np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), 0.0) is None
    assert detectable_loss(np.ones(10), 9.0) is None
