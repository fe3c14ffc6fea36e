"""Effect sizes, corrections and power, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.families import benjamini_hochberg, holm
from assay.stats.power import minimum_detectable_effect, power_of
from assay.stats.tests import (
    cliffs_delta_independent,
    cliffs_delta_paired,
    cohens_dz,
    odds_ratio,
    win_tie_loss,
)

numbers = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=20)


def test_win_tie_loss_by_hand() -> None:
    assert win_tie_loss([0.2, 0.1 + 0.2 - 0.3, -0.1, 0.0, 0.3]) == (2, 2, 1)
    assert win_tie_loss([0.2, -0.1, 0.3], tolerance=0.1) == (2, 1, 0)
    assert win_tie_loss([]) == (0, 0, 0)


def test_cliffs_delta_by_hand() -> None:
    assert cliffs_delta_paired([1.0, 1.0, 0.0, -1.0]) == 0.25  # (2 - 1) / 4
    # 1 against {0, 2}: one up, one down; 3 against {0, 2}: two up; (1 - 1 + 2) / 4
    assert cliffs_delta_independent([1.0, 3.0], [0.0, 2.0]) == 0.5
    assert math.isnan(cliffs_delta_paired([]))
    assert math.isnan(cliffs_delta_independent([], [1.0]))


@given(numbers, numbers)
def test_cliffs_delta_is_the_count_over_all_pairs(a: list[float], b: list[float]) -> None:
    expected = np.mean(np.sign(np.subtract.outer(a, b)))
    assert cliffs_delta_independent(a, b) == pytest.approx(expected)


def test_cohens_dz_by_hand() -> None:
    # Mean 2, deviation sqrt((1 + 0 + 1) / 2) = 1
    assert cohens_dz([1.0, 2.0, 3.0]) == pytest.approx(2.0)
    assert math.isnan(cohens_dz([0.5, 0.5]))
    assert math.isnan(cohens_dz([0.5]))


def test_odds_ratio_by_hand() -> None:
    # 4 gains, 1 loss: 4.5 / 1.5 = 3; log deviation sqrt(1/4.5 + 1/1.5) = 0.942809;
    # factor exp(1.959964 · 0.942809) = exp(1.847872) = 6.34631
    found = odds_ratio([1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 1, 1])
    assert found.value == pytest.approx(3.0)
    assert (found.interval.low, found.interval.high) == pytest.approx((3 / 6.34631, 3 * 6.34631), rel=1e-5)
    assert odds_ratio([1, 0], [1, 0]).value == 1.0


def test_corrections_by_hand() -> None:
    # Holm, ascending 0.01, 0.03, 0.04: 3 · 0.01, 2 · 0.03, then not below it.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    # Benjamini-Hochberg: 3/3 · 0.04 = 0.04, 3/2 · 0.03 = 0.045 but not above 0.04, 3/1 · 0.01
    assert benjamini_hochberg([0.04, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])


def test_what_was_not_tested_passes_through_uncounted() -> None:
    adjusted = holm([None, 0.01, float("nan"), 0.04])
    assert adjusted[0] is None
    assert math.isnan(adjusted[2] or 0.0)
    assert [adjusted[1], adjusted[3]] == pytest.approx([0.02, 0.04])
    assert holm([]) == benjamini_hochberg([]) == []


def test_mde_by_hand() -> None:
    # n = 16: t(15) at 0.975 is 2.131450, at 0.8 it is 0.866245; their sum times 0.4 / 4
    assert minimum_detectable_effect(0.4, 16) == pytest.approx(0.2997695, abs=1e-6)
    assert minimum_detectable_effect(0.0, 16) == 0.0


@given(st.floats(0.05, 2.0), st.integers(5, 5_000), st.sampled_from([0.5, 0.8, 0.95]))
def test_power_at_the_mde_is_the_power_asked(deviation: float, n: int, power: float) -> None:
    effect = minimum_detectable_effect(deviation, n, power=power)
    assert power_of(effect, deviation, n) == pytest.approx(power, abs=0.01)


def test_power_at_the_ends() -> None:
    assert power_of(0.0, 0.3, 50) == pytest.approx(0.05)
    assert power_of(5.0, 0.3, 50) == pytest.approx(1.0)
    assert power_of(0.1, 0.0, 50) == 1.0
    assert power_of(0.0, 0.0, 50) == 0.0
    assert math.isnan(power_of(0.1, 0.3, 1))
    assert math.isnan(minimum_detectable_effect(0.3, 1))
