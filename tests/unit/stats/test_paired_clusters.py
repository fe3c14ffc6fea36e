"""Paired rows in clusters: by hand, and as without clusters where every row is its own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.stats.agreement import cohen_kappa, spearman
from assay.stats.paired_tests import (
    cluster_totals,
    interval_over_clusters,
    magnitude,
    mcnemar,
    mcnemar_by_cluster,
    odds_ratio_by_cluster,
    sign_flip,
    wilcoxon,
    wilcoxon_by_cluster,
)
from assay.stats.resample import Draws

# four questions, two models each: B - A is +2, +1, -1 and 0
A = np.array([0, 0, 0, 1, 1, 1, 1, 0])
B = np.array([1, 1, 1, 1, 1, 0, 0, 1])
QUESTIONS = np.array(["q1", "q1", "q2", "q2", "q3", "q3", "q4", "q4"])


def test_sums_come_in_the_order_of_the_labels() -> None:
    assert cluster_totals([1.0, 2.0, 4.0], np.array(["b", "a", "b"])).tolist() == [2.0, 5.0]


def test_questions_flip_as_a_whole_by_hand() -> None:
    # totals 2, 1, -1: sums over all signs of 2, 1, 1 are 4, 2, 2, 0 and their negatives; the observed is 2,
    # and six of eight are as far from 0
    assert mcnemar_by_cluster(B, A, QUESTIONS) == pytest.approx(6 / 8)
    assert mcnemar_by_cluster(A, B, QUESTIONS) == pytest.approx(6 / 8)
    # rows apart there are 4 gains and 2 losses: binomial, 2 · (1 + 6 + 15) / 64
    assert mcnemar_by_cluster(B, A, np.arange(8)) == pytest.approx(44 / 64)


pairs = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 8)), min_size=1, max_size=40)


@given(pairs)
def test_one_row_a_cluster_is_mcnemar_itself(drawn: list[tuple[bool, bool, int]]) -> None:
    a, b = (np.array([row[side] for row in drawn], dtype=float) for side in (0, 1))
    assert mcnemar_by_cluster(a, b, np.arange(len(a))) == pytest.approx(mcnemar(a, b))


@given(pairs)
def test_several_rows_a_cluster_are_the_sign_flip_of_their_sums(drawn: list[tuple[bool, bool, int]]) -> None:
    a, b, clusters = np.array(drawn).T
    # at most nine clusters, so that the sign flip is exact
    expected = sign_flip(cluster_totals((a - b).astype(float), clusters))[0]
    assert mcnemar_by_cluster(a, b, clusters) == pytest.approx(expected)


def test_many_discordant_pairs_stay_exact() -> None:
    a = np.repeat([1.0, 0.0], [300, 200])
    assert mcnemar_by_cluster(a, 1 - a, np.arange(500)) == pytest.approx(mcnemar(a, 1 - a), rel=1e-9)


def test_no_difference_is_1_and_no_row_is_nothing() -> None:
    assert mcnemar_by_cluster([1, 0], [1, 0], np.arange(2)) == 1.0
    assert math.isnan(mcnemar_by_cluster([], [], np.array([])))
    with pytest.raises(UsageError, match="binary"):
        mcnemar_by_cluster([2, 0], [1, 0], np.arange(2))


def test_ranks_are_of_the_sums() -> None:
    differences = np.array([1.0, 2.0, -1.0, 0.5, 0.0, 0.25])
    clusters = np.array([0, 0, 1, 1, 2, 2])
    assert wilcoxon_by_cluster(differences, clusters) == wilcoxon([3.0, -0.5, 0.25])


def test_odds_ratio_by_hand() -> None:
    # q1 gains 2, q2 gains 1, q3 loses 1, q4 loses 1 and gains 1: 4.5 / 2.5 = 1.8;
    # (2/4.5)² + (1/4.5)² + (1/2.5)² + (1/4.5 - 1/2.5)² = 0.197531 + 0.049383 + 0.16 + 0.031605 = 0.438519,
    # half rows 0.5/4.5² + 0.5/2.5² = 0.024691 + 0.08; root of 0.543210 is 0.737028; · 1.959964 = 1.444548
    found = odds_ratio_by_cluster(B, A, QUESTIONS)
    assert found.value == pytest.approx(1.8)
    factor = math.exp(1.444548)
    assert (found.interval.low, found.interval.high) == pytest.approx((1.8 / factor, 1.8 * factor), rel=1e-5)


def test_copies_of_a_row_tell_nothing_new() -> None:
    random = np.random.default_rng(3)
    a = random.integers(0, 4, 60).astype(float)
    b = np.where(random.random(60) < 0.7, a, random.integers(0, 4, 60))
    draws, rows = Draws(500), np.arange(60)
    once = interval_over_clusters(lambda weights: cohen_kappa(a, b, "linear", weights), rows, draws)
    twice = interval_over_clusters(
        lambda weights: cohen_kappa(np.tile(a, 2), np.tile(b, 2), "linear", weights), np.tile(rows, 2), draws
    )
    assert twice[0] == pytest.approx(once[0])
    assert (twice[1].low, twice[1].high) == pytest.approx((once[1].low, once[1].high))
    assert once[1].low < once[0] < once[1].high


def test_an_undefined_value_has_no_interval() -> None:
    alike = np.ones(4)
    value, interval = interval_over_clusters(
        lambda weights: spearman(alike, np.arange(4.0), weights), np.arange(4), Draws(20)
    )
    assert math.isnan(value)
    assert math.isnan(interval.low)


@pytest.mark.parametrize(
    ("delta", "word"),
    [
        (0.0, "negligible"),
        (-0.146, "negligible"),
        (0.147, "small"),
        (-0.329, "small"),
        (0.33, "medium"),
        (0.473, "medium"),
        (-0.474, "large"),
        (1.0, "large"),
        (float("nan"), ""),
    ],
)
def test_words_for_sizes(delta: float, word: str) -> None:
    assert magnitude(delta) == word
