"""Reciprocal rank fusion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.retrieval.fuse import Ranking, reciprocal_rank_fusion

permutations = st.lists(st.integers(0, 30), unique=True, max_size=20)


def ranking(positions: list[int]) -> Ranking:
    return Ranking(np.array(positions, dtype=np.int64), -np.arange(len(positions), dtype=np.float64))


def test_sums_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([ranking([7, 3, 5]), ranking([3, 9])], k=60)
    # 3: 1/62 + 1/61 = 0.032522    7: 1/61 = 0.016393    9: 1/62 = 0.016129    5: 1/63 = 0.015873
    assert fused.positions.tolist() == [3, 7, 9, 5]
    assert fused.scores == pytest.approx([0.0325225, 0.0163934, 0.0161290, 0.0158730], abs=5e-8)


def test_equal_scores_stand_in_corpus_order() -> None:
    # Each is first in one ranking and second in the other.
    fused = reciprocal_rank_fusion([ranking([8, 2]), ranking([2, 8])])
    assert fused.positions.tolist() == [2, 8]
    assert fused.scores[0] == fused.scores[1]


def test_a_small_k_favours_the_top() -> None:
    # k = 1:   4 is first once: 1/2 = 0.5;           6 is fifth twice: 2/6 = 0.333
    # k = 60:  4 is first once: 1/61 = 0.0164;       6 is fifth twice: 2/65 = 0.0308
    rankings = [ranking([4, 10, 11, 12, 6]), ranking([13, 14, 15, 16, 6])]
    assert reciprocal_rank_fusion(rankings, k=1).positions[0] == 4
    assert reciprocal_rank_fusion(rankings, k=60).positions[0] == 6


@pytest.mark.parametrize("rankings", [[], [ranking([])], [ranking([]), ranking([])]])
def test_of_nothing_is_nothing(rankings: list[Ranking]) -> None:
    fused = reciprocal_rank_fusion(rankings)
    assert len(fused.positions) == len(fused.scores) == 0


@given(st.lists(permutations, max_size=4))
def test_holds_each_position_once_best_first(lists: list[list[int]]) -> None:
    fused = reciprocal_rank_fusion([ranking(each) for each in lists])
    assert sorted(fused.positions.tolist()) == sorted({position for each in lists for position in each})
    assert (np.diff(fused.scores) <= 0).all()


@given(permutations)
def test_of_one_ranking_keeps_its_order(positions: list[int]) -> None:
    assert reciprocal_rank_fusion([ranking(positions)]).positions.tolist() == positions
