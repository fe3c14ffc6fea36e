"""What the statistics promise, kept in simulated studies: coverage, false alarms, power."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from assay.stats.intervals import Interval, bonett_price, interval_of, mean_intervals, proportion_interval
from assay.stats.paired_tests import mcnemar, sign_flip
from assay.stats.planning import detectable_difference
from assay.stats.resample import cluster_sums

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 10, 0])
GOOD = np.array([0.60, 0.12, 0.06, 0.04, 0.03, 0.05, 0.10])
MIDDLING = np.array([0.35, 0.15, 0.10, 0.05, 0.05, 0.10, 0.20])
VERY_GOOD = np.array([0.85, 0.06, 0.03, 0.01, 0.01, 0.01, 0.03])
HARD = np.array([0.15, 0.10, 0.05, 0.05, 0.05, 0.10, 0.50])


def reciprocal_ranks(chances: Floats) -> tuple[Draw, float]:
    """Scores like RR@10, and their true mean."""
    return (lambda random, shape: random.choice(RANKS, p=chances, size=shape)), float(RANKS @ chances)


def paired(left: Floats, right: Floats, alike: float) -> tuple[Draw, float]:
    """Differences of two systems that give the same rank on a share of the items, and their true mean."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        a, b = (random.choice(RANKS, p=chances, size=shape) for chances in (left, right))
        return np.where(random.random(shape) < alike, 0.0, a - b)

    return draw, (1 - alike) * float(RANKS @ (left - right))


COLUMNS = {
    "good": (*reciprocal_ranks(GOOD), (0.0, 1.0)),
    "middling": (*reciprocal_ranks(MIDDLING), (0.0, 1.0)),
    "hard": (*reciprocal_ranks(HARD), (0.0, 1.0)),
    "good - hard": (*paired(GOOD, HARD, 0.0), (-1.0, 1.0)),
    "good - middling": (*paired(GOOD, MIDDLING, 0.4), (-1.0, 1.0)),
    "twins": (*paired(MIDDLING, MIDDLING, 0.3), (-1.0, 1.0)),
}


def coverage(draw: Draw, truth: float, bounds: tuple[float, float], n: int, studies: int) -> float:
    table = draw(np.random.default_rng(n), (n, studies))
    found = mean_intervals(*cluster_sums(table), [bounds] * studies, resamples=4_000, seed=1)
    return float(np.mean([interval.low <= truth <= interval.high for interval in found]))


def test_scores_are_covered() -> None:
    # 1,000 studies: four deviations of a share near 0.95 are 0.028, so a correct interval stays above 0.92.
    for name in ("good", "twins"):
        assert 0.925 <= coverage(*COLUMNS[name], n=30, studies=1_000) <= 0.975, name


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100, 300])
@pytest.mark.parametrize("name", COLUMNS)
def test_scores_are_covered_in_2000_studies(name: str, n: int) -> None:
    assert 0.93 <= coverage(*COLUMNS[name], n=n, studies=2_000) <= 0.97


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("alike", [0.8, 0.9, 0.97, 1.0])
def test_systems_that_hardly_differ_are_not_settled_by_chance(n: int, alike: float) -> None:
    # Where few rows differ a plain bootstrap covers in as little as 35 % of studies; ours may be wide.
    draw, truth = paired(GOOD, MIDDLING, alike)
    assert coverage(draw, truth, (-1.0, 1.0), n, studies=1_000) >= 0.93


@pytest.mark.parametrize("n", [30, 100])
def test_a_system_that_hardly_fails_is_covered(n: int) -> None:
    # 85 % of the scores are 1: at n = 30 few rows tell anything, and the interval is wider than it need be.
    draw, truth = reciprocal_ranks(VERY_GOOD)
    assert coverage(draw, truth, (0.0, 1.0), n, studies=500) >= 0.93


def exact_coverage(n: int, chance: float) -> float:
    """Coverage without simulation: the binomial chances of all outcomes whose interval holds the truth."""
    outcomes = np.arange(n + 1)
    held = [_holds(proportion_interval(int(k), n), chance) for k in outcomes]
    return float(stats.binom.pmf(outcomes, n, chance)[held].sum())


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


@pytest.mark.parametrize("n", [30, 100, 300])
@pytest.mark.parametrize("chance", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
def test_proportions_are_covered(n: int, chance: float) -> None:
    assert 0.93 <= exact_coverage(n, chance) <= 0.97


@pytest.mark.parametrize("n", [30, 50, 100])
@pytest.mark.parametrize("chance", [0.001, 0.01, 0.02, 0.05, 0.95, 0.98, 0.99, 0.999])
def test_proportions_near_the_ends_are_covered(n: int, chance: float) -> None:
    assert exact_coverage(n, chance) >= 0.93


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize(("gain", "loss"), [(0.3, 0.2), (0.2, 0.2), (0.25, 0.01), (0.4, 0.05)])
def test_paired_proportions_are_covered(n: int, gain: float, loss: float) -> None:
    assert 0.93 <= _paired_coverage(n, gain, loss) <= 0.97


@pytest.mark.parametrize(("gain", "loss"), [(0.05, 0.05), (0.02, 0.001), (0.01, 0.01), (0.05, 0.01)])
def test_rarely_discordant_pairs_are_covered(gain: float, loss: float) -> None:
    assert _paired_coverage(50, gain, loss) >= 0.93


def _paired_coverage(n: int, gain: float, loss: float) -> float:
    """Exact, over all counts of gained and lost rows."""
    counts = np.array([(up, down) for up in range(n + 1) for down in range(n + 1 - up)])
    held = [_holds(bonett_price(int(up), int(down), n), gain - loss) for up, down in counts]
    rest = n - counts.sum(axis=1)
    chances = stats.multinomial.pmf(np.column_stack([counts, rest]), n, [gain, loss, 1 - gain - loss])
    return float(chances[held].sum())


def test_expressions_without_a_jackknife_are_covered() -> None:
    # A ratio of two means, as a gate bootstraps it: only resampled values, the point and n are known.
    random = np.random.default_rng(11)
    weights = random.multinomial(50, np.full(50, 1 / 50), size=2_000).astype(float)
    truth, held = float((RANKS @ GOOD) / (RANKS @ MIDDLING)), 0
    for _ in range(500):
        a, b = (random.choice(RANKS, p=chances, size=50) for chances in (GOOD, MIDDLING))
        held += _holds(interval_of(weights @ a / (weights @ b), a.mean() / b.mean(), 50), truth)
    assert 0.92 <= held / 500 <= 0.98


@pytest.mark.parametrize("n", [15, 60])
def test_p_values_are_uniform_when_nothing_differs(n: int) -> None:
    # Continuous and symmetric differences: n = 15 goes the exact way, n = 60 the random one.
    differences = np.random.default_rng(1).normal(size=(n, 1_500))
    assert stats.kstest(sign_flip(differences, flips=2_000, seed=3), "uniform").pvalue > 0.001


def test_twins_are_called_different_no_more_often_than_stated() -> None:
    random = np.random.default_rng(2)
    studies = 1_500
    scores = random.choice(RANKS, p=MIDDLING, size=(2, 66, studies))
    alarms = np.mean(sign_flip(scores[0] - scores[1], flips=2_000, seed=5) <= 0.05)
    assert alarms <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)
    hits = random.random((2, 66, 500)) < 0.6
    exact_alarms = np.mean([mcnemar(*hits[:, :, study]) <= 0.05 for study in range(500)])
    assert exact_alarms <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 500)


@pytest.mark.parametrize("loss", [0.05, 0.08])
def test_a_planted_loss_is_caught_at_the_stated_power(loss: float) -> None:
    # Each item loses `loss` on average: 0.5 with chance 2 · loss, amid changes that cancel out.
    n, studies = 300, 1_000
    random = np.random.default_rng(7)
    before, redrawn = random.choice(RANKS, p=MIDDLING, size=(2, n, studies))
    after = np.where(random.random((n, studies)) < 0.3, redrawn, before)
    differences = after - before - 0.5 * (random.random((n, studies)) < 2 * loss)
    shift, least = loss / differences.std() * np.sqrt(n), stats.t.ppf(0.975, n - 1)
    stated = stats.nct.sf(least, n - 1, shift) + stats.nct.cdf(-least, n - 1, shift)  # of a t-test
    caught = np.mean(sign_flip(differences, flips=2_000, seed=9) <= 0.05)
    assert caught == pytest.approx(stated, abs=4 * np.sqrt(stated * (1 - stated) / studies) + 0.01)


def test_the_detectable_difference_is_detected_at_80_percent() -> None:
    half = 1.959964 / np.sqrt(80)  # of the interval of 80 differences of deviation 1
    effect = detectable_difference(-half, half)
    differences = np.random.default_rng(4).normal(effect, 1.0, size=(80, 1_000))
    caught = np.mean(sign_flip(differences, flips=2_000, seed=9) <= 0.05)
    assert caught == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / 1_000))
