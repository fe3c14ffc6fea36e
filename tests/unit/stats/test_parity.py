"""Budget at parity, worked by hand, and how its interval behaves where values jump to infinity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.kinds.hierarchy.statistics import Parity, ParityAt
from assay.stats.intervals import interval_of
from assay.stats.resample import bootstrap_weights
from score_rows import Made

AT = ParityAt(0.02, (200.0, 400.0, 800.0, math.inf))


class Budgeted(Made):
    """A measure under a token budget."""

    at = "tokens"


class Lower(Budgeted):
    """One that should be low."""

    better = "lower"


def columns(*means: float, n: int = 100) -> list[np.ndarray]:
    """Yes-or-no columns with these means."""
    return [(np.arange(n) < round(mean * n)).astype(float) for mean in means]


@pytest.mark.parametrize(
    ("means", "budget"),
    [
        ((0.30, 0.50, 0.60, 0.70, 0.52), 400),  # 0.50 >= 0.52 - 0.02
        ((0.30, 0.49, 0.60, 0.70, 0.52), 800),  # 0.49 is 0.01 short of 0.50
        ((0.60, 0.40, 0.40, 0.40, 0.52), 200),  # the smallest, though it does not last
        ((0.30, 0.40, 0.49, 0.70, 0.52), math.inf),  # only without a limit
        ((0.30, 0.40, 0.45, 0.49, 0.52), math.inf),  # never
    ],
)
def test_the_smallest_budget_that_comes_near_enough(means: tuple[float, ...], budget: float) -> None:
    assert AT.values(columns(*means), np.ones((1, 100))) == [budget]


def test_rows_count_as_often_as_they_are_drawn() -> None:
    # two rows: the first is answered from 200 on, the second from 800 on; the reference has both
    curve = [np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.ones(2), np.ones(2), np.ones(2)]
    weights = np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    assert AT.values(curve, weights).tolist()[:3] == [800, 200, 800]
    assert np.isnan(AT.values(curve, weights)[3])  # nothing was drawn


def test_within_may_be_nothing_and_forgives_rounding() -> None:
    thirds = [np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1])]
    assert ParityAt(0.0, (200.0,)).values(thirds, np.ones((1, 3))) == [200]


def test_it_learns_its_budgets_from_its_measures() -> None:
    bound = Parity(0.1).of([Budgeted(200), Budgeted(800), Budgeted(None), Budgeted(None)])
    assert bound == ParityAt(0.1, (200.0, 800.0, math.inf))
    assert bound.most == 800
    assert ParityAt(0.1, (math.inf,)).most is None
    # bound to nothing, columns count from 1
    assert Parity().values(columns(0.1, 0.5, 0.5), np.ones((1, 100))) == [2]


@pytest.mark.parametrize(
    ("measures", "what"),
    [
        ([Budgeted(None)], "a curve, then a reference"),
        ([Budgeted(400), Budgeted(200), Budgeted(None)], "rising order"),
        ([Budgeted(400), Budgeted(400), Budgeted(None)], "rising order"),
        ([Made(200), Made(None)], "under a token budget"),
        ([Lower(200), Lower(None)], "should be high"),
    ],
)
def test_what_is_no_curve_is_refused(measures: list[Made], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Parity().of(measures)


@pytest.mark.parametrize("within", [-0.1, math.nan, math.inf])
def test_within_is_what_may_be_missing(within: float) -> None:
    with pytest.raises(UsageError, match="within"):
        Parity(within)


def test_a_measure_is_held_against_itself() -> None:
    class Other(Budgeted):
        family = "N"

    with pytest.raises(UsageError, match="not M@200 with N"):
        Parity().of([Budgeted(200), Other(400)])


# ------------------------------------------------------------------------------------- intervals


def test_interval_ends_are_values_that_were_drawn() -> None:
    draws = np.repeat([200.0, 400.0, np.inf], [30, 930, 40])  # 3 % below, 4 % above
    found = interval_of(draws, 400.0, 1000, stepwise=True)
    assert (found.low, found.high) == (200.0, np.inf)
    narrow = interval_of(np.repeat([200.0, 400.0, np.inf], [10, 980, 10]), 400.0, 1000, stepwise=True)
    assert (narrow.low, narrow.high) == (400.0, 400.0)


def test_nothing_but_infinity_has_no_spread() -> None:
    assert math.isnan(interval_of(np.full(100, np.inf), np.inf, 50, stepwise=True).low)


@pytest.mark.parametrize(("at_800", "true"), [(0.62, 800.0), (0.57, 1200.0), (0.58, 800.0)])
def test_intervals_cover(at_800: float, true: float) -> None:
    """150 studies of 180 items; the reference is 0.60, so 0.58 is exactly enough."""
    random, at = np.random.default_rng(5), ParityAt(0.02, (200.0, 400.0, 800.0, 1200.0, math.inf))
    covered = 0
    for repeat in range(150):
        ease, luck, other = random.random((3, 180))
        mine, theirs = (np.where(random.random(180) < 0.6, ease, own) for own in (luck, other))
        curve = [(mine < share).astype(float) for share in (0.3, 0.5, at_800, 0.66, 0.7)]
        curve.append((theirs < 0.6).astype(float))
        draws = np.concatenate([at.values(curve, each) for each in bootstrap_weights(180, 400, repeat)])
        found = interval_of(draws, 800.0, 180, stepwise=True)
        covered += found.low <= true <= found.high
    assert covered / 150 >= 0.92  # three standard errors under 95 % would be 0.897
