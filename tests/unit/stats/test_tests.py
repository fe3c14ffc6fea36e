"""Paired tests: numbers worked by hand, exactness, noise and symmetry."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.stats.paired_tests import mcnemar, sign_flip, sign_flip_all_pairs, wilcoxon

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
