"""What is shown of the candidates, within a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.parts import Candidates, Selector, Vectors
from assay.core.registry import SELECTORS, Registry
from assay.retrieval.context import MMR, Coverage, Knapsack, Top

EVERY: list[Selector] = [Top(), MMR(), MMR(1.0), Knapsack(), Knapsack(0.5), Knapsack(0.0)]


def directions(*angles: float) -> Vectors:
    """Vectors in the plane: the cosine of two is that of the angle between them."""
    turned = np.radians(angles)
    return np.column_stack([np.cos(turned), np.sin(turned)]).astype(np.float32)


def given_candidates(relevance: Sequence[float], tokens: Sequence[int], vectors: Vectors) -> Candidates:
    return Candidates(np.array(relevance, np.float64), np.array(tokens, np.int64), lambda: vectors)


def unasked() -> Vectors:
    raise AssertionError("nobody needs the vectors here")


@st.composite
def drawn(draw: st.DrawFn, most: int = 10) -> Candidates:
    """Candidates with ties, near-twins, free ones and ones larger than any budget."""
    count = draw(st.sampled_from(range(1, most + 1)))  # large ones as often as small ones
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = generator.normal(size=(draw(st.integers(1, count)), draw(st.integers(1, 4))))
    noise = draw(st.sampled_from([0.0, 0.05, 1.0]))
    rows = kinds[generator.integers(0, len(kinds), count)]
    rows = rows + noise * generator.normal(size=rows.shape)
    relevance = np.sort(generator.integers(0, 11, count) / 10)[::-1]
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return given_candidates(relevance.tolist(), generator.integers(0, 30, count).tolist(), vectors)


budgets = st.one_of(st.none(), st.integers(0, 120))

# ------------------------------------------------------------------------------- every selector


@pytest.mark.parametrize("selector", EVERY, ids=str)
@given(candidates=drawn(), budget=budgets)
@settings(max_examples=60)
def test_what_is_chosen_fits_and_nothing_left_would(
    selector: Selector, candidates: Candidates, budget: int | None
) -> None:
    chosen = selector.select(candidates, budget)
    assert len(set(chosen)) == len(chosen)
    assert all(type(position) is int for position in chosen)
    left = math.inf if budget is None else budget - candidates.tokens[chosen].sum()
    rest = set(range(len(candidates.tokens))) - set(chosen)
    assert left >= 0
    assert all(candidates.tokens[position] > left for position in rest)
    assert selector.select(candidates, budget) == chosen


@pytest.mark.parametrize("selector", EVERY, ids=str)
def test_nothing_is_chosen_of_nothing_or_where_nothing_fits(selector: Selector) -> None:
    none = Candidates(np.empty(0), np.empty(0, np.int64), unasked)
    assert selector.select(none, 100) == selector.select(none, None) == []
    large = Candidates(np.array([0.9, 0.4]), np.array([50, 60]), unasked)
    assert selector.select(large, 49) == []


@pytest.mark.parametrize("selector", EVERY, ids=str)
def test_of_equal_ones_the_first_comes_first(selector: Selector) -> None:
    same = given_candidates([0.7] * 4, [10] * 4, directions(0, 90, 180, 270))
    assert selector.select(same, 20) == [0, 1]


@pytest.mark.parametrize("selector", EVERY, ids=str)
def test_one_candidate_is_the_choice(selector: Selector) -> None:
    assert selector.select(given_candidates([0.0], [10], directions(0)), 10) == [0]


# ----------------------------------------------------------------------------------------- top


def test_top_passes_over_what_does_not_fit() -> None:
    # 40, then 70 is too much for 60 left, 50 fits, 20 is too much for 10, 10 fits.
    candidates = Candidates(np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([40, 70, 50, 20, 10]), unasked)
    assert Top().select(candidates, 100) == [0, 2, 4]
    assert Top(k=2).select(candidates, 100) == [0, 2]
    assert Top(k=3).select(candidates, None) == [0, 1, 2]


# ----------------------------------------------------------------------------------------- mmr

# 0 and 1 are nearly twins (cos 10° = 0.985), 2 is apart (cos 80° = 0.174 and cos 70° = 0.342)
TWINS = given_candidates([1.0, 0.9, 0.5], [10, 10, 10], directions(0, 10, 80))


def test_mmr_weighs_relevance_against_likeness() -> None:
    # diversity 0.3, after 0:   1: 0.7 · 0.9 - 0.3 · 0.985 = 0.335    2: 0.7 · 0.5 - 0.3 · 0.174 = 0.298
    assert MMR(0.3).select(TWINS, None) == [0, 1, 2]
    # diversity 0.5, after 0:   1: 0.5 · 0.9 - 0.5 · 0.985 = -0.042   2: 0.5 · 0.5 - 0.5 · 0.174 = 0.163
    assert MMR(0.5).select(TWINS, None) == [0, 2, 1]
    assert MMR(0.5, k=2).select(TWINS, None) == [0, 2]


def test_mmr_looks_only_at_what_still_fits() -> None:
    candidates = given_candidates([1.0, 0.9, 0.5], [10, 10, 30], directions(0, 10, 80))
    assert MMR(0.5).select(candidates, 25) == [0, 1]


def test_mmr_does_not_ask_for_vectors_it_does_not_need() -> None:
    candidates = Candidates(np.array([0.9, 0.8]), np.array([10, 10]), unasked)
    assert MMR(0.0).select(candidates, None) == [0, 1]
    assert MMR(0.5).select(candidates, 10) == [0]


@given(drawn(), budgets)
def test_mmr_without_diversity_is_top(candidates: Candidates, budget: int | None) -> None:
    assert MMR(0.0).select(candidates, budget) == Top().select(candidates, budget)


@given(drawn(), budgets, st.sampled_from([0.25, 0.5, 0.9]))
def test_mmr_is_its_formula(candidates: Candidates, budget: int | None, diversity: float) -> None:
    chosen: list[int] = []
    left = math.inf if budget is None else budget
    while True:
        worths = {
            position: round(
                (1 - diversity) * candidates.relevance[position]
                - diversity * max((candidates.similarity[position, other] for other in chosen), default=0.0),
                6,
            )
            for position in range(len(candidates.tokens))
            if position not in chosen and candidates.tokens[position] <= left
        }
        if not worths:
            break
        chosen.append(min(worths, key=lambda position: (-worths[position], position)))
        left -= candidates.tokens[chosen[-1]]
    assert MMR(diversity).select(candidates, budget) == chosen


# ------------------------------------------------------------------------- knapsack: the value


def test_one_alone_is_worth_its_relevance_and_two_less_what_they_share() -> None:
    telling = Coverage.of(given_candidates([1.0, 0.8, 0.5], [1, 1, 1], directions(0, 60, 180)))
    assert [telling.value([each]) for each in range(3)] == pytest.approx([1.0, 0.8, 0.5])
    # cos 60° = 0.5: 1 + 0.8 - 0.5 · min(1, 0.8) = 1.4
    assert telling.value([0, 1]) == pytest.approx(1.4)
    # They join 2 at the mean of cos 180° and cos 120°, which count as 0: nothing is shared.
    assert telling.value([0, 2]) == pytest.approx(1.5)
    assert telling.value([0, 1, 2]) == pytest.approx(1.9)
    assert telling.value([]) == 0.0


def test_what_three_have_in_common_counts_once() -> None:
    # 0 and 1 join at cos 30° = 0.8660; 2 joins them at (cos 90° + cos 60°) / 2 = 0.25.
    telling = Coverage.of(given_candidates([1.0, 1.0, 1.0], [1, 1, 1], directions(0, 30, 90)))
    # branches: all three 0.25; 0 with 1: 0.616; alone: 0.134, 0.134 and 0.75
    assert telling.value([0, 1]) == pytest.approx(0.25 + 0.6160 + 0.1340 * 2, abs=1e-4)
    assert telling.value([1, 2]) == pytest.approx(2.0 - 0.25, abs=1e-4)
    assert telling.value([0, 1, 2]) == pytest.approx(0.25 + 0.6160 + 0.1340 * 2 + 0.75, abs=1e-4)


def test_redundancy_says_how_far_likeness_is_sharing() -> None:
    candidates = given_candidates([1.0, 0.8], [1, 1], directions(0, 60))
    # 1.8 - redundancy · 0.5 · 0.8
    for redundancy, value in [(1.0, 1.4), (0.5, 1.6), (0.0, 1.8)]:
        assert Coverage.of(candidates, redundancy).value([0, 1]) == pytest.approx(value)


@given(drawn(most=7), st.sampled_from([0.0, 0.4, 1.0]))
@settings(max_examples=60)
def test_the_value_is_monotone_and_submodular(candidates: Candidates, redundancy: float) -> None:
    telling = Coverage.of(candidates, redundancy)
    count = len(candidates.tokens)
    value = {
        chosen: telling.value(chosen)
        for size in range(count + 1)
        for chosen in combinations(range(count), size)
    }
    for chosen, worth in value.items():
        rest = [each for each in range(count) if each not in chosen]
        gains = {each: value[tuple(sorted((*chosen, each)))] - worth for each in rest}
        assert all(gain >= -1e-9 for gain in gains.values())
        for each in rest:  # nothing gains more once something else is chosen too
            for other in set(rest) - {each}:
                both = value[tuple(sorted((*chosen, each, other)))]
                assert both - value[tuple(sorted((*chosen, other)))] <= gains[each] + 1e-9


@given(drawn(most=7))
def test_the_value_lies_between_the_most_relevant_and_the_sum(candidates: Candidates) -> None:
    everything = range(len(candidates.tokens))
    value = Coverage.of(candidates).value(everything)
    assert candidates.relevance.max() - 1e-9 <= value <= candidates.relevance.sum() + 1e-9


# ------------------------------------------------------------------------ knapsack: the choice


def test_knapsack_leaves_a_twin_for_something_else() -> None:
    # After 0: the twin adds 0.9 · (1 - 0.985) = 0.014; 2, less relevant, adds about 0.37.
    assert Knapsack().select(TWINS, 20) == [0, 2]
    assert Knapsack(redundancy=0.0).select(TWINS, 20) == [0, 1]
    assert Knapsack().select(TWINS, None) == [0, 2, 1]


def test_knapsack_takes_many_small_ones_for_one_large() -> None:
    # By gain alone the first takes all the room, worth 1. By gain a token: 0.9 + 0.8 + 0.7 = 2.4.
    apart = np.eye(4, dtype=np.float32)
    candidates = given_candidates([1.0, 0.9, 0.8, 0.7], [30, 10, 10, 10], apart)
    assert Knapsack().select(candidates, 30) == [1, 2, 3]


def test_knapsack_does_not_let_a_crumb_keep_out_a_loaf() -> None:
    # By gain a token the crumb (0.1 a token) comes before the loaf (0.09), which then has no room.
    candidates = given_candidates([0.9, 0.1], [10, 1], np.eye(2, dtype=np.float32))
    assert Knapsack().select(candidates, 10) == [0]


def test_knapsack_takes_what_is_free() -> None:
    candidates = given_candidates([0.9, 0.5, 0.1], [10, 0, 0], np.eye(3, dtype=np.float32))
    assert sorted(Knapsack().select(candidates, 10)) == [0, 1, 2]
    assert Knapsack().select(candidates, 9) == [1, 2]


@given(drawn(), st.integers(0, 120), st.sampled_from([0.0, 0.6, 1.0]))
@settings(max_examples=200)
def test_knapsack_reaches_its_guarantee(candidates: Candidates, budget: int, redundancy: float) -> None:
    telling = Coverage.of(candidates, redundancy)
    count = len(candidates.tokens)
    best = max(
        telling.value(chosen)
        for size in range(count + 1)
        for chosen in combinations(range(count), size)
        if candidates.tokens[list(chosen)].sum() <= budget
    )
    value = telling.value(Knapsack(redundancy).select(candidates, budget))
    assert value >= 0.405 * best - 1e-5  # and so ½ (1 − 1/e) = 0.316 of it


@given(drawn(), st.integers(1, 10))
def test_without_a_budget_the_first_few_are_as_good_as_greed_gets(candidates: Candidates, few: int) -> None:
    # Nemhauser, Wolsey and Fisher 1978: the first k are worth 1 - 1/e of the best k.
    telling = Coverage.of(candidates)
    count = len(candidates.tokens)
    order = Knapsack().select(candidates, None)
    assert sorted(order) == list(range(count))
    best = max(telling.value(chosen) for chosen in combinations(range(count), min(few, count)))
    assert telling.value(order[:few]) >= (1 - 1 / math.e) * best - 1e-5


@given(drawn())
def test_lazy_choices_are_those_of_plain_greed(candidates: Candidates) -> None:
    telling = Coverage.of(candidates)
    chosen: list[int] = []
    while len(chosen) < len(candidates.tokens):
        gains = {
            each: round(telling.value([*chosen, each]) - telling.value(chosen), 6)
            for each in range(len(candidates.tokens))
            if each not in chosen
        }
        chosen.append(min(gains, key=lambda each: (-gains[each], each)))
    assert Knapsack().select(candidates, None) == chosen


# --------------------------------------------------------------------------- as parameters


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Top(k=0), "top: k is 0"),
        (lambda: MMR(k=0), "mmr: k is 0"),
        (lambda: MMR(diversity=1.1), "diversity is 1.1"),
        (lambda: MMR(diversity=float("nan")), "diversity is nan"),
        (lambda: Knapsack(redundancy=-0.1), "redundancy is -0.1"),
    ],
)
def test_refuses_parameters_that_mean_nothing(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(UsageError, match=words):
        make()


def test_are_made_from_what_a_study_says() -> None:
    registry = Registry({SELECTORS: {"top": Top, "mmr": MMR, "knapsack": Knapsack}})
    assert registry.create(SELECTORS, "top") == Top()
    assert registry.create(SELECTORS, "mmr(diversity=0.5, k=8)") == MMR(0.5, 8)
    assert isinstance(registry.create(SELECTORS, "knapsack(redundancy=0.5)"), Selector)
