"""Rankings become one: by ranks, and by normalised scores."""

from __future__ import annotations

from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.parts import Fusion, Ranking
from assay.core.records import Hit, Span
from assay.core.registry import FUSIONS, Registry
from assay.retrieval.fuse import RRF, Norm, WeightedFusion, result_distance

NORMS: list[Norm] = ["minmax", "max", "sum", "zscore", "rank", "none"]
FUSED: list[Fusion] = [RRF(), *(WeightedFusion(norm=norm) for norm in NORMS)]

orders = st.lists(st.integers(0, 30), unique=True, max_size=20)
scored = st.dictionaries(st.integers(0, 30), st.integers(-40, 40).map(lambda n: n / 8), max_size=20)


def ranking(positions: list[int]) -> Ranking:
    return Ranking(np.array(positions, dtype=np.int64), -np.arange(len(positions), dtype=np.float64))


def with_scores(scores: dict[int, float]) -> Ranking:
    best_first = sorted(scores, key=lambda position: (-scores[position], position))
    return Ranking(np.array(best_first, np.int64), np.array([scores[p] for p in best_first], np.float64))


def as_dict(fused: Ranking) -> dict[int, float]:
    return dict(zip(fused.positions.tolist(), fused.scores.tolist(), strict=True))


# ------------------------------------------------------------------------------------ both


@pytest.mark.parametrize("fusion", FUSED, ids=str)
@pytest.mark.parametrize("rankings", [[], [ranking([])], [ranking([]), ranking([])]])
def test_of_nothing_is_nothing(fusion: Fusion, rankings: list[Ranking]) -> None:
    fused = fusion.fuse(rankings)
    assert len(fused.positions) == len(fused.scores) == 0


@pytest.mark.slow
@pytest.mark.parametrize("fusion", FUSED, ids=str)
@given(each=st.lists(scored, max_size=4))
def test_each_position_stands_once_best_first_and_ties_in_corpus_order(
    fusion: Fusion, each: list[dict[int, float]]
) -> None:
    fused = fusion.fuse([with_scores(scores) for scores in each])
    assert sorted(fused.positions.tolist()) == sorted({position for scores in each for position in scores})
    pairs = list(zip((-fused.scores).tolist(), fused.positions.tolist(), strict=True))
    assert pairs == sorted(pairs)


@pytest.mark.slow
@pytest.mark.parametrize("fusion", FUSED, ids=str)
@given(each=st.lists(scored, min_size=3, max_size=3))
def test_the_order_of_the_rankings_plays_no_part(fusion: Fusion, each: list[dict[int, float]]) -> None:
    rankings = [with_scores(scores) for scores in each]
    first, *others = [fusion.fuse(order) for order in permutations(rankings)]
    for other in others:
        assert other.positions.tolist() == first.positions.tolist()
        assert other.scores.tolist() == first.scores.tolist()


@pytest.mark.parametrize(
    "fusion", [RRF(), *(WeightedFusion(norm=n) for n in ("minmax", "zscore", "sum", "rank"))]
)
@given(scores=st.dictionaries(st.integers(0, 30), st.integers(-40, 40).map(float), max_size=20))
def test_of_one_ranking_keeps_its_order(fusion: Fusion, scores: dict[int, float]) -> None:
    alone = with_scores(scores)
    assert fusion.fuse([alone]).positions.tolist() == alone.positions.tolist()


# ------------------------------------------------------------------------------- by ranks


def test_sums_reciprocal_ranks() -> None:
    fused = RRF(k=60).fuse([ranking([7, 3, 5]), ranking([3, 9])])
    # 3: 1/62 + 1/61 = 0.032522    7: 1/61 = 0.016393    9: 1/62 = 0.016129    5: 1/63 = 0.015873
    assert fused.positions.tolist() == [3, 7, 9, 5]
    assert fused.scores == pytest.approx([0.0325225, 0.0163934, 0.0161290, 0.0158730], abs=5e-8)


def test_equal_scores_stand_in_corpus_order() -> None:
    # Each is first in one ranking and second in the other.
    fused = RRF().fuse([ranking([8, 2]), ranking([2, 8])])
    assert fused.positions.tolist() == [2, 8]
    assert fused.scores[0] == fused.scores[1]


def test_the_same_ranks_in_other_rankings_tie_to_the_last_bit() -> None:
    # 1/12 + 1/13 + 1/14 is two different numbers, depending on where the adding starts.
    assert (1 / 12 + 1 / 13) + 1 / 14 != (1 / 13 + 1 / 14) + 1 / 12
    fused = RRF(k=10).fuse([ranking([0, 9, 5, 1]), ranking([0, 5, 1, 9]), ranking([0, 1, 9, 5])])
    assert fused.positions.tolist() == [0, 1, 5, 9]
    assert len(set(fused.scores[1:].tolist())) == 1


def test_a_small_k_favours_the_top() -> None:
    # k = 1:   4 is first once: 1/2 = 0.5;           6 is fifth twice: 2/6 = 0.333
    # k = 60:  4 is first once: 1/61 = 0.0164;       6 is fifth twice: 2/65 = 0.0308
    rankings = [ranking([4, 10, 11, 12, 6]), ranking([13, 14, 15, 16, 6])]
    assert RRF(k=1).fuse(rankings).positions[0] == 4
    assert RRF(k=60).fuse(rankings).positions[0] == 6


@given(orders)
def test_scores_play_no_part_in_reciprocal_ranks(positions: list[int]) -> None:
    other = Ranking(np.array(positions, np.int64), np.linspace(9, 8, len(positions)))
    assert RRF().fuse([ranking(positions)]).scores.tolist() == RRF().fuse([other]).scores.tolist()


# ------------------------------------------------------------------------------ by scores

WORDS = {1: 8.0, 2: 6.0, 3: 2.0}  # such as BM25
DENSE = {2: 0.9, 4: 0.5, 1: 0.4}  # such as cosine


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        # words (s-2)/6: 1, 2/3, 0           dense (s-0.4)/0.5: 2: 1, 4: 0.2, 1: 0
        ("minmax", {2: 5 / 6, 1: 0.5, 4: 0.1, 3: 0.0}),
        # words s/8: 1, 0.75, 0.25           dense s/0.9: 2: 1, 4: 5/9, 1: 4/9
        ("max", {2: 0.875, 1: 13 / 18, 4: 5 / 18, 3: 0.125}),
        # words (s-2)/10: 0.6, 0.4, 0        dense (s-0.4)/0.6: 2: 5/6, 4: 1/6, 1: 0
        ("sum", {2: 37 / 60, 1: 0.3, 4: 1 / 12, 3: 0.0}),
        # words 1 - (rank-1)/3: 1, 2/3, 1/3  dense 2: 1, 4: 2/3, 1: 1/3
        ("rank", {2: 5 / 6, 1: 2 / 3, 4: 1 / 3, 3: 1 / 6}),
        ("none", {1: 4.2, 2: 3.45, 3: 1.0, 4: 0.25}),
        # words mean 16/3, deviations 8/3, 2/3, -10/3, variance (64+4+100)/27 = 56/9, root 2.4944383:
        #   1.0690450, 0.2672612, -1.3363062
        # dense mean 0.6, deviations 0.3, -0.1, -0.2, variance 0.14/3, root 0.2160247:
        #   2: 1.3887301, 4: -0.4629100, 1: -0.9258201
        # 3 is not in dense: -0.9258201;  4 is not in words: -1.3363062
        ("zscore", {2: 0.8279957, 1: 0.0716125, 4: -0.8996081, 3: -1.1310631}),
    ],
)
def test_equal_weights_give_the_mean_of_normalised_scores(norm: Norm, expected: dict[int, float]) -> None:
    fused = as_dict(WeightedFusion(norm=norm).fuse([with_scores(WORDS), with_scores(DENSE)]))
    assert list(fused) == list(expected)
    assert fused == pytest.approx(expected, abs=1e-7)


def test_weights_are_used_as_given() -> None:
    # 2: 0.3 · 2/3 + 0.7 · 1 = 0.9    1: 0.3 · 1 + 0.7 · 0 = 0.3    4: 0.7 · 0.2 = 0.14    3: 0
    fused = WeightedFusion((0.3, 0.7)).fuse([with_scores(WORDS), with_scores(DENSE)])
    assert as_dict(fused) == pytest.approx({2: 0.9, 1: 0.3, 4: 0.14, 3: 0.0})


def test_a_weight_of_nought_leaves_only_what_the_ranking_holds() -> None:
    fused = WeightedFusion((1.0, 0.0)).fuse([with_scores(WORDS), with_scores(DENSE)])
    assert as_dict(fused) == pytest.approx({1: 1.0, 2: 2 / 3, 3: 0.0, 4: 0.0})


@pytest.mark.parametrize(
    ("norm", "found"), [("minmax", 1.0), ("max", 1.0), ("sum", 0.5), ("rank", 0.75), ("none", 7.0)]
)
def test_being_found_counts_even_where_all_scores_are_equal(norm: Norm, found: float) -> None:
    # Two found with a score of 7. By rank: 1 and 0.5, in mean 0.75.
    fused = WeightedFusion(norm=norm).fuse([with_scores({1: 7.0, 2: 7.0})])
    assert fused.scores.mean() == pytest.approx(found)
    beside = as_dict(WeightedFusion(norm=norm).fuse([with_scores({1: 7.0, 2: 7.0}), with_scores({3: 0.0})]))
    assert min(beside[1], beside[2]) > 0.0


@pytest.mark.parametrize("score", [7.0, 0.0, -3.0, 0.1, 1e300, 5e-324])
@pytest.mark.parametrize("norm", NORMS)
def test_equal_scores_never_divide_by_zero(norm: Norm, score: float) -> None:
    for held in ({4: score}, {4: score, 6: score, 9: score}):
        fused = WeightedFusion(norm=norm).fuse([with_scores(held), with_scores({5: 1.0})])
        assert np.isfinite(fused.scores).all()


def test_equal_scores_have_no_spread_to_standardise() -> None:
    # The mean of three times 0.1 is not 0.1 in binary; its rounding must not become a score.
    fused = WeightedFusion(norm="zscore").fuse([with_scores({1: 0.1, 2: 0.1, 3: 0.1})])
    assert fused.scores.tolist() == [0.0, 0.0, 0.0]


def test_scores_below_zero_keep_their_order() -> None:
    # By the largest magnitude, 4: -0.25, -0.5, -1. What is not held is no better than the last: -1.
    fused = WeightedFusion(norm="max").fuse([with_scores({1: -1.0, 2: -2.0, 3: -4.0}), with_scores({9: 1.0})])
    assert as_dict(fused) == pytest.approx({9: 0.0, 1: -0.125, 2: -0.25, 3: -0.5})


@pytest.mark.parametrize("norm", NORMS)
@given(held=scored.filter(bool), other=scored.filter(bool))
def test_what_a_ranking_lacks_is_never_better_there_than_what_it_holds(
    norm: Norm, held: dict[int, float], other: dict[int, float]
) -> None:
    # All weight on the first: its own come before all others, up to ties.
    fused = as_dict(WeightedFusion((1.0, 0.0), norm).fuse([with_scores(held), with_scores(other)]))
    lacking = [score for position, score in fused.items() if position not in held]
    assert all(score <= fused[position] for score in lacking for position in held)


# --------------------------------------------------------------------------- as parameters


def test_says_how_many_weights_it_needs() -> None:
    with pytest.raises(UsageError, match="3 weights for 2 rankings"):
        WeightedFusion((0.2, 0.3, 0.5)).fuse([ranking([1]), ranking([2])])


@pytest.mark.parametrize("weights", [(-0.1, 1.0), (0.0, 0.0), (float("nan"), 1.0), (float("inf"), 1.0)])
def test_refuses_weights_that_mean_nothing(weights: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="weights are"):
        WeightedFusion(weights)


def test_refuses_a_negative_k() -> None:
    with pytest.raises(UsageError, match="k is -1"):
        RRF(k=-1)


def test_are_made_from_what_a_study_says() -> None:
    registry = Registry({FUSIONS: {"rrf": RRF, "weighted": WeightedFusion}})
    assert registry.create(FUSIONS, "rrf(k=10)") == RRF(10)
    made = registry.create(FUSIONS, "weighted(weights=[0.3, 0.7], norm=zscore)")
    assert made == WeightedFusion((0.3, 0.7), "zscore")
    assert isinstance(made, Fusion)


results = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1e300, 1e300, allow_nan=False)).map(
    lambda scores: [Hit(doc, score) for doc, score in scores.items()]
)


def of(**scores: float) -> list[Hit]:
    return [Hit(doc, score) for doc, score in scores.items()]


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        (of(), of(), 0.0),
        (of(a=1), of(), 1.0),
        (of(), of(a=0), 1.0),
        (of(a=1), of(b=1), 1.0),
        (of(a=3, b=1), of(a=6, b=2), 0.0),  # twice the scores are the same shares
        (of(a=3, b=1), of(b=1, a=3), 0.0),
        (of(a=3, b=1), of(a=1, b=1), 0.25),  # ½(|3/4 − 1/2| + |1/4 − 1/2|)
        (of(a=3, b=1), of(a=1, c=1), 0.5),  # ½(|3/4 − 1/2| + 1/4 + 1/2)
        (of(a=1, b=-5), of(a=1), 0.0),  # a negative score weighs nothing
        (of(a=1, b=-5), of(b=1), 1.0),
        (of(a=0, b=-1), of(a=2, b=2), 0.0),  # nothing above 0: each weighs the same
        (of(a=0, b=0), of(a=1), 0.5),  # ½(|1/2 − 1| + 1/2)
        (of(a=1e308, b=1e308), of(a=1), 0.5),
    ],
)
def test_it_is_half_the_sum_of_what_the_shares_differ_by(a: list[Hit], b: list[Hit], distance: float) -> None:
    assert result_distance(a, b) == distance
    assert result_distance(b, a) == distance


def test_of_several_spans_the_best_counts() -> None:
    spans = [Hit("a", 3.0, Span(0, 5)), Hit("a", 2.0, Span(6, 9)), Hit("b", 1.0)]
    assert result_distance(spans, of(a=3, b=1)) == 0.0


@given(results, results, results)
def test_it_is_a_distance(a: list[Hit], b: list[Hit], c: list[Hit]) -> None:
    apart = result_distance(a, b)
    assert 0.0 <= apart <= 1.0
    assert apart == result_distance(b, a)
    assert apart <= result_distance(a, c) + result_distance(c, b) + 1e-9


@given(results, st.randoms())
def test_the_same_scores_are_exactly_the_same_in_any_order(a: list[Hit], random: Random) -> None:
    b = list(a)
    random.shuffle(b)
    assert result_distance(a, b) == 0.0
