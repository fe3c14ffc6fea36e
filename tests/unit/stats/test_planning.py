"""Bounds for repeated looks: what is spent when, and that all looks together keep the budget."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from assay.stats.planning import chance_to_decide, last_look_tail, size_of, spent_error, step_of

TAIL = 0.025


def nested(sizes: list[float]) -> NDArray[np.float64]:
    """The correlation of the estimates of looks that only ever add items."""
    return np.sqrt(np.minimum.outer(sizes, sizes) / np.maximum.outer(sizes, sizes))


def test_the_first_look_has_the_plain_bound() -> None:
    assert last_look_tail([0], np.ones((1, 1)), TAIL) == TAIL


def test_sizes_grow_by_three_tenths() -> None:
    assert [size_of(step, 100) for step in (-1, 0, 1, 2)] == [77, 100, 130, 169]
    assert [step_of(size, 100) for size in (76, 77, 100, 129, 130, 168, 169)] == [-2, -1, 0, 0, 1, 1, 2]


def test_spending_by_hand() -> None:
    assert spent_error(0, TAIL) == pytest.approx(TAIL)
    # 1.3^-4 = 0.350, its root 0.592: 0.025 (1 + 0.4 · 0.408) = 0.0291
    assert spent_error(4, TAIL) == pytest.approx(0.0291, abs=1e-4)
    assert spent_error(60, TAIL) < 1.4 * TAIL
    # half of the planned items (1.3^-2.64): O'Brien and Fleming spend 2 (1 - Phi(2.2414 / root of t))
    assert spent_error(-3, TAIL) == pytest.approx(2 * stats.norm.sf(2.2414 / math.sqrt(1.3**-3)), rel=1e-3)
    assert spent_error(-9, TAIL) < 1e-6


def test_the_second_of_two_looks_at_once_as_a_published_table_has_it() -> None:
    # Pocock (1977): two looks, the second at twice the items, both at 2.178, spend 5 % on two sides, of which
    # the first look takes what 2.178 leaves outside; so half of the items, spent 0.01470, then 0.025 at 2.178
    first = float(stats.norm.sf(2.178))
    cov = nested([1, 2])
    both = stats.multivariate_normal([0, 0], cov).cdf([2.178, 2.178])
    assert 1 - both == pytest.approx(TAIL, abs=2e-4)
    # our recursion, given these spends, must find 2.178 again
    scores = np.random.default_rng(0).standard_normal((400_000, 2)) @ np.linalg.cholesky(cov).T
    kept = scores[scores[:, 0] < 2.178, 1]
    share = (TAIL - first) * len(scores) / len(kept)
    assert np.quantile(kept, 1 - share) == pytest.approx(2.178, abs=0.02)


@pytest.mark.parametrize("steps", [[0, 1], [0, 3, 4], [-4, -2, 0], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
def test_looks_together_spend_what_they_may(steps: list[int]) -> None:
    cov = nested([1.3**step for step in steps])
    bars = [
        -float(special.ndtri(last_look_tail(steps[: at + 1], cov[: at + 1, : at + 1], TAIL)))
        for at in range(len(steps))
    ]
    scores = np.random.default_rng(1).multivariate_normal(np.zeros(len(steps)), cov, 200_000)
    crossed = float((scores > bars).any(axis=1).mean())
    assert crossed == pytest.approx(spent_error(steps[-1], TAIL), abs=0.0015)
    assert all(bar > 1.95 for bar in bars)


def test_looks_at_other_items_cost_more_than_looks_at_more_items() -> None:
    apart, more = np.eye(2), nested([1, 2])
    assert last_look_tail([0, 3], apart, TAIL) < last_look_tail([0, 3], more, TAIL) < TAIL


def test_a_further_look_at_nearly_the_same_items_is_never_easier_than_the_first() -> None:
    assert last_look_tail([0, 1], np.ones((2, 2)), TAIL) == TAIL


# ------------------------------------------------------------------------------- chances to decide


@pytest.mark.parametrize("truth", [0.02, 0.0])
@pytest.mark.parametrize("slack", [0.0, 0.01])
def test_the_chance_to_decide_is_that_of_a_simulation(truth: float, slack: float) -> None:
    random, n, more, error, reach, margin = np.random.default_rng(2), 100, 200, 0.02, 2.1, 0.015
    deviation = error * math.sqrt(n)
    new = truth + random.normal(size=200_000) * deviation / math.sqrt(more)
    later = (n * margin + more * new) / (n + more)
    half = reach * deviation / math.sqrt(n + more)
    decided = ((later >= 0) & (later + slack - half >= 0)) | (later + half < 0)
    chance = chance_to_decide(margin, truth, slack, error, n, more, reach)
    assert chance == pytest.approx(decided.mean(), abs=0.005)
