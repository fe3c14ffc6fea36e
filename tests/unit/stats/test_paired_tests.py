"""Paired tests: numbers worked by hand, exactness, noise and symmetry."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.stats.families import benjamini_hochberg, holm
from assay.stats.paired_tests import (
    cliffs_delta_paired,
    cohens_dz,
    mcnemar,
    odds_ratio_by_cluster,
    sign_flip,
    sign_flip_all_pairs,
    wilcoxon,
    win_tie_loss,
)
from assay.stats.planning import detectable_difference

steps = st.integers(-4, 4).map(lambda step: step / 4)


def test_sign_flip_by_hand() -> None:
    # |±1 ±2 ±3| reaches 6 for +++ and --- : 2 of 8. |±1 ±2 ±3| reaches 4 for +++, -++ and mirrors: 4 of 8.
    assert sign_flip([1.0, 2.0, 3.0]).tolist() == [0.25]
    assert sign_flip([-1.0, 2.0, 3.0]).tolist() == [0.5]


@settings(max_examples=60)
@given(st.lists(steps, min_size=1, max_size=9))
def test_exact_is_the_enumeration(differences: list[float]) -> None:
    observed = abs(sum(differences))
    signs = itertools.product([-1, 1], repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(row, differences, strict=True))) for row in signs]
    assert sign_flip(differences)[0] == pytest.approx(np.mean([total >= observed for total in sums]))


def test_zeros_are_not_pairs() -> None:
    padded = np.concatenate([np.zeros(500), [1.0, 2.0, 3.0]])
    assert sign_flip(padded)[0] == 0.25


def test_twenty_pairs_are_exact_and_more_are_not() -> None:
    assert sign_flip(np.ones(20))[0] == 2 / 2**20
    assert sign_flip(np.ones(21), flips=999)[0] == 1 / 1000


def test_noise_changes_no_p_value() -> None:
    random = np.random.default_rng(4)
    a, b = random.choice([1, 1 / 2, 1 / 3, 1 / 7, 0], size=(2, 60))
    noisy = (a - b) + random.normal(0, 1e-15, 60)
    assert sign_flip(noisy)[0] == sign_flip(a - b)[0]
    few = np.array([0.1, 0.2, -0.3, 0.3])
    assert sign_flip(few)[0] == sign_flip(few * (1 + 1e-15))[0] == sign_flip([1.0, 2.0, -3.0, 3.0])[0]
    assert wilcoxon(noisy) == wilcoxon(a - b)


def test_nothing_differs() -> None:
    assert sign_flip(np.zeros((30, 2))).tolist() == [1.0, 1.0]
    assert wilcoxon(np.zeros(30)) == 1.0
    assert mcnemar([1, 0, 1], [1, 0, 1]) == 1.0
    assert sign_flip_all_pairs(np.ones((30, 3))).tolist() == np.ones((3, 3)).tolist()


def test_no_rows_no_p_value() -> None:
    assert np.isnan(sign_flip(np.empty((0, 2)))).all()
    assert np.isnan(wilcoxon([]))
    assert np.isnan(mcnemar([], []))


def test_one_row_settles_nothing() -> None:
    assert sign_flip([0.7]).tolist() == [1.0]
    assert wilcoxon([0.7]) == 1.0


def test_columns_are_tested_alike_alone_and_together() -> None:
    table = np.random.default_rng(8).normal(0.1, 1, size=(80, 4))
    together = sign_flip(table, flips=2_000, seed=5)
    alone = [sign_flip(column, flips=2_000, seed=5)[0] for column in table.T]
    assert together.tolist() == alone


def test_all_pairs_are_the_pairs() -> None:
    random = np.random.default_rng(6)
    values = random.choice([0, 1 / 3, 1 / 2, 1], size=(90, 4))
    values[:, 3] = values[:, 2]
    values[:5, 3] = 1 - values[:5, 2]  # a pair with few differences goes the exact way
    p = sign_flip_all_pairs(values, flips=1_000, seed=2)
    assert (np.diag(p) == 1).all()
    for i, j in itertools.combinations(range(4), 2):
        expected = sign_flip(values[:, i] - values[:, j], flips=1_000, seed=2)[0]
        assert p[i, j] == p[j, i] == expected


@settings(max_examples=30)
@given(st.lists(steps, min_size=1, max_size=60), st.integers(0, 5))
def test_the_direction_does_not_matter(differences: list[float], seed: int) -> None:
    column = np.array(differences)
    p = sign_flip(column, flips=200, seed=seed)[0]
    assert 0 < p <= 1
    assert p == sign_flip(-column, flips=200, seed=seed)[0]


def test_mcnemar_by_hand() -> None:
    # 6 gains, 1 loss: two-sided binomial 2 · (C(7,0) + C(7,1)) / 2^7 = 2 · 8 / 128
    a = [1] * 6 + [0] + [1, 0]
    b = [0] * 6 + [1] + [1, 0]
    assert mcnemar(a, b) == pytest.approx(0.125)


def test_wilcoxon_by_hand() -> None:
    # Five positive differences: only +++++ and ----- are as extreme, 2 / 2^5. The zero is left out.
    assert wilcoxon([0.0, 0.1, 0.2, 0.3, 0.4, 0.5]) == pytest.approx(0.0625)


def test_input_that_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="NaN"):
        sign_flip([0.1, np.nan])
    with pytest.raises(UsageError, match="0 and 1"):
        mcnemar([2.0], [1.0])
    with pytest.raises(UsageError, match="one length"):
        mcnemar([1.0, 0.0], [1.0])


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
