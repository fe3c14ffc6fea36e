"""Prediction-powered means: worked by hand, the two ends of λ, and coverage in simulated studies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.errors import UsageError
from assay.stats.intervals import clopper_pearson, wilson
from assay.stats.prediction_powered import (
    PredictionPoweredMean,
    add_known_rows,
    optimal_weight,
    prediction_powered_mean,
)

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], tuple[Floats, Floats]]  # people's and the judge's

PEOPLE, JUDGE = [1, 0, 1, 1], [1, 0, 0, 1]
OTHERS = [1, 1, 0, 0, 1, 0, 1, 1]
Z2 = 3.841458820694124  # the square of the normal quantile at 0.975


# -------------------------------------------------------------------------------- worked by hand


def test_the_weight_is_that_of_least_variance() -> None:
    # Cov = 2/4 - 3/4 · 2/4 = 1/8; 7 of 12 verdicts are 1: Var = 7/12 · 5/12 = 35/144; n/N = 1/2
    # λ = (1/8) / (35/144 · 3/2) = 12/35
    people, judge, others = (np.array(each, dtype=float) for each in (PEOPLE, JUDGE, OTHERS))
    assert optimal_weight(people, judge, others) == pytest.approx(12 / 35)
    found = prediction_powered_mean(PEOPLE, JUDGE, OTHERS, weight=12 / 35)
    # 3/4 + 12/35 · (5/8 - 2/4)
    assert found.value == pytest.approx(0.75 + 12 / 35 * 0.125)


def test_the_weight_stays_within_0_and_1() -> None:
    people, others = np.array([0.0, 1.0, 1.0, 0.0]), np.tile([0.4, 0.6], 500)
    assert optimal_weight(people, 1 - people, np.tile([0.0, 1.0], 50)) == 0  # a judge who says the reverse
    # Cov = 0.05, Var = 0.01: a judge who is right and timid would be counted five times
    assert optimal_weight(people, 0.4 + 0.2 * people, others) == 1
    assert optimal_weight(people, np.ones(4), np.ones(9)) == 0  # one who always says the same


def test_without_a_judge_it_is_the_mean_and_wilsons_interval() -> None:
    found = prediction_powered_mean(PEOPLE, JUDGE, OTHERS, weight=0)
    plain = wilson(3, 4)
    assert (found.value, found.low, found.high) == pytest.approx((0.75, plain.low, plain.high))


def test_with_the_judge_counted_in_full_it_is_the_plain_prediction_powered_mean() -> None:
    found = prediction_powered_mean(PEOPLE, JUDGE, OTHERS, weight=1)
    # 5/8 + mean(0, 0, 1, 0)
    assert found.value == pytest.approx(0.625 + 0.25)
    # 3/4 of: variance of (0, 0, 1, 0) with three degrees of freedom, 1/4, by 4; 5/8 · 3/8 by 8
    variance = 0.75 * (0.25 / 4 + 0.625 * 0.375 / 8)
    for end in (found.low, found.high):
        # each end is where the estimate lies as far off as a proportion's variance there allows
        assert (found.value - end) ** 2 == pytest.approx(Z2 * variance * end * (1 - end) / (0.75 * 0.25))


def test_another_range_moves_everything_with_it() -> None:
    random = np.random.default_rng(3)
    people = (random.random(40) < 0.7).astype(float)
    judge = np.where(random.random(40) < 0.9, people, 1 - people)
    others = (random.random(200) < 0.7).astype(float)
    plain = prediction_powered_mean(people, judge, others)
    moved = prediction_powered_mean(4 * people - 2, 4 * judge - 2, 4 * others - 2, bounds=(-2, 2))
    assert plain.weight > 0.4
    ends = [4 * each - 2 for each in (plain.value, plain.low, plain.high)]
    assert [moved.value, moved.low, moved.high] == pytest.approx(ends)


def test_a_judge_that_agreed_with_people_who_all_say_the_same_is_believed_on_the_rest() -> None:
    # 11 of 11 right, by both; the judge says 24 of the 32 others are: 0.75, within what 11 of 11 leave open
    found = prediction_powered_mean(np.ones(11), np.ones(11), np.repeat([1.0, 0.0], [24, 8]))
    assert (found.value, found.weight) == (0.75, 1.0)
    assert (found.low, found.high) == pytest.approx((clopper_pearson(11, 11).low, 1.0))
    # further down than people's labels reach: the interval goes with the estimate
    low = prediction_powered_mean(np.ones(11), np.ones(11), np.repeat([1.0, 0.0], [10, 30]))
    assert (low.value, low.low) == (0.25, 0.25)


def test_where_all_people_say_the_same_theirs_is_the_exact_interval() -> None:
    found = prediction_powered_mean(np.ones(12), [1, 0] * 6, [1, 0] * 50)
    whole = clopper_pearson(12, 12)
    assert (found.value, found.low, found.high, found.weight) == pytest.approx((1.0, whole.low, 1.0, 0.0))
    assert found.method == "people only (12 items)"
    assert prediction_powered_mean(np.full(12, 0.5), np.full(12, 0.4), [0.4, 0.3]).value == 0.5


def test_what_it_was_made_of_is_said() -> None:
    truth = np.tile([1.0, 1.0, 0.0], 20)
    found = prediction_powered_mean(truth, truth, np.tile([1.0, 0.0], 100))
    assert found.method == "prediction-powered (60 items by people, 200 by the judge only)"


def test_too_little_and_impossible_values_are_refused() -> None:
    with pytest.raises(UsageError, match="Three rows"):
        prediction_powered_mean([1, 0], [1, 0], [1])
    with pytest.raises(UsageError, match="Three rows"):
        prediction_powered_mean(PEOPLE, JUDGE, [])
    with pytest.raises(UsageError, match="one length"):
        prediction_powered_mean(PEOPLE, JUDGE[:3], OTHERS)
    with pytest.raises(UsageError, match="range 0 to 1"):
        prediction_powered_mean(PEOPLE, JUDGE, [2.0])


def test_rows_that_nobody_had_to_judge_stand_beside_the_rest() -> None:
    found = PredictionPoweredMean(0.6, 0.5, 0.8, 0.5, 20, 60)
    whole = add_known_rows(found, [1.0] * 15 + [0.0] * 5)
    # 80 of 100 rows at 0.6, 20 at 0.75
    assert whole.value == pytest.approx(0.8 * 0.6 + 0.2 * 0.75)
    own = clopper_pearson(15, 20)
    between = Z2 * 0.8 * 0.2 / 100 * (0.6 - 0.75) ** 2
    below = ((0.8 * 0.1) ** 2 + (0.2 * (0.75 - own.low)) ** 2 + between) ** 0.5
    above = ((0.8 * 0.2) ** 2 + (0.2 * (own.high - 0.75)) ** 2 + between) ** 0.5
    assert (whole.low, whole.high) == pytest.approx((whole.value - below, whole.value + above))
    assert (whole.known, whole.people, whole.weight) == (20, 20, 0.5)
    assert add_known_rows(found, []) == found


# ------------------------------------------------------------------------------------- coverage


def binary(rate: float, accuracy: float, errs: str = "both") -> tuple[Draw, float]:
    """People say 1 at a rate, the judge the same at an accuracy; it errs both ways, or up or down only."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        people = (random.random(shape) < rate).astype(float)
        if errs == "both":
            wrong = random.random(shape) > accuracy
        else:
            wrong = people == (0.0 if errs == "up" else 1.0)
            wrong &= random.random(shape) < (1 - accuracy) / ((1 - rate) if errs == "up" else rate)
        return people, np.where(wrong, 1 - people, people)

    return draw, rate


def guessing(rate: float) -> tuple[Draw, float]:
    """A judge who tosses a coin."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        return (random.random(shape) < rate).astype(float), (random.random(shape) < 0.5).astype(float)

    return draw, rate


RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 5, 1 / 10, 0])


def ranks(*chances: float) -> tuple[Draw, float]:
    """Scores like RR@10, of which the judge gets 85 % and guesses the rest."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        people = random.choice(RANKS, p=chances, size=shape)
        return people, np.where(random.random(shape) < 0.85, people, random.choice(RANKS, size=shape))

    return draw, float(RANKS @ chances)


def shares(a: float, b: float, noise: float) -> tuple[Draw, float]:
    """Continuous scores that the judge sees too high, and through noise."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        people = random.beta(a, b, shape)
        return people, np.clip(people + random.normal(0.05, noise, shape), 0, 1)

    return draw, a / (a + b)


def studies(
    setting: tuple[Draw, float], n: int = 50, others: int = 1_000, times: int = 1_000
) -> tuple[float, float, float]:
    """The share of studies whose interval covers, its mean width, and that of people's labels alone."""
    draw, truth = setting
    people, judge = draw(np.random.default_rng(11), (times, n + others))
    covers, width, alone = 0, 0.0, 0.0
    for ours, theirs in zip(people, judge, strict=True):
        found = prediction_powered_mean(ours[:n], theirs[:n], theirs[n:])
        own = prediction_powered_mean(ours[:n], theirs[:n], theirs[n:], weight=0)
        covers += found.low <= truth <= found.high
        width += found.high - found.low
        alone += own.high - own.low
    return covers / times, width / times, alone / times


def test_intervals_cover_and_are_narrower_where_the_judge_agrees_in_85_percent() -> None:
    # of 1,000 studies: two deviations of a share near 0.95 are 0.014
    for rate in (0.5, 0.8):
        coverage, width, alone = studies(binary(rate, 0.85))
        assert 0.93 <= coverage <= 0.97, rate
        assert width < 0.85 * alone


def test_a_judge_who_guesses_costs_nothing() -> None:
    coverage, width, alone = studies(guessing(0.7))
    assert 0.93 <= coverage <= 0.97
    assert width <= alone


GRID = {
    f"{rate} {accuracy}": binary(rate, accuracy)
    for rate in (0.5, 0.7, 0.9)
    for accuracy in (0.6, 0.75, 0.85, 0.95)
}
GRID |= {f"{rate} errs {errs}": binary(rate, 0.85, errs) for rate in (0.5, 0.8) for errs in ("up", "down")}
GRID |= {f"{rate} guesses": guessing(rate) for rate in (0.5, 0.8)}
GRID |= {
    "ranks, good": ranks(0.60, 0.14, 0.08, 0.04, 0.04, 0.10),
    "ranks, hard": ranks(0.15, 0.10, 0.05, 0.10, 0.10, 0.50),
    "shares, close": shares(2, 2, 0.05),
    "shares, noisy": shares(6, 2, 0.3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GRID)
def test_intervals_cover_in_2000_studies(name: str) -> None:
    # the true coverage, over 15,000 studies a setting, is 0.934 to 0.966
    coverage, width, alone = studies(GRID[name], times=2_000)
    assert 0.93 <= coverage <= 0.97
    assert width <= alone * 1.001


@pytest.mark.slow
@pytest.mark.parametrize(("n", "others"), [(10, 50), (20, 46), (30, 300)])
@pytest.mark.parametrize(
    "setting", [binary(0.7, 0.85), binary(0.7, 0.85, "up"), ranks(0.6, 0.14, 0.08, 0.04, 0.04, 0.1)]
)
def test_small_studies_are_covered_too(setting: tuple[Draw, float], n: int, others: int) -> None:
    # a plain Wilson interval covers 0.92 at n = 10 and a rate of 0.7
    assert studies(setting, n, others)[0] >= 0.91


def test_known_rows_beside_the_draw_are_covered() -> None:
    random, covers = np.random.default_rng(5), 0
    for _ in range(500):
        known = (random.random(40) < 0.95).astype(float)  # where an anchor decides, and search does well
        people = (random.random(80) < 0.6).astype(float)
        judge = np.where((people == 0) & (random.random(80) < 0.4), 1.0, people)  # lenient
        found = add_known_rows(prediction_powered_mean(people[:30], judge[:30], judge[30:]), known)
        covers += found.low <= (40 * 0.95 + 80 * 0.6) / 120 <= found.high
    assert covers / 500 >= 0.93
