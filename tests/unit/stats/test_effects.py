"""Effect sizes, corrections and power, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.stats.families import benjamini_hochberg, holm
from assay.stats.paired_tests import (
    cliffs_delta_paired,
    cohens_dz,
    odds_ratio_by_cluster,
    win_tie_loss,
)
from assay.stats.planning import detectable_difference


def test_win_tie_loss_by_hand() -> None:
    assert win_tie_loss([0.2, 0.1 + 0.2 - 0.3, -0.1, 0.0, 0.3]) == (2, 2, 1)
    assert win_tie_loss([0.2, -0.1, 0.3], tolerance=0.1) == (2, 1, 0)
    assert win_tie_loss([]) == (0, 0, 0)


def test_cliffs_delta_by_hand() -> None:
    assert cliffs_delta_paired([1.0, 1.0, 0.0, -1.0]) == 0.25  # (2 - 1) / 4
    assert math.isnan(cliffs_delta_paired([]))


def test_cohens_dz_by_hand() -> None:
    # Mean 2, deviation sqrt((1 + 0 + 1) / 2) = 1
    assert cohens_dz([1.0, 2.0, 3.0]) == pytest.approx(2.0)
    assert math.isnan(cohens_dz([0.5, 0.5]))
    assert math.isnan(cohens_dz([0.5]))


def test_odds_ratio_of_independent_rows_by_hand() -> None:
    # 4 gains, 1 loss: 4.5 / 1.5 = 3; log deviation sqrt(1/4.5 + 1/1.5) = 0.942809;
    # factor exp(1.959964 · 0.942809) = exp(1.847872) = 6.34631
    found = odds_ratio_by_cluster([1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 1, 1], np.arange(6))
    assert found.value == pytest.approx(3.0)
    assert (found.interval.low, found.interval.high) == pytest.approx((3 / 6.34631, 3 * 6.34631), rel=1e-5)
    assert odds_ratio_by_cluster([1, 0], [1, 0], np.arange(2)).value == 1.0


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


def test_detectable_difference_by_hand() -> None:
    # the interval is 1.959964 standard errors each way, of 0.1; 80 % power takes 0.841621 more
    assert detectable_difference(-0.1959964, 0.1959964) == pytest.approx(0.2801585, abs=1e-6)
    assert detectable_difference(0.3, 0.3) == 0.0
