"""Ids and orders of blinded responses: unpredictable, and refused if they give a condition away."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import pairwise

import msgspec
import pytest
from blind_pack import made
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.kinds.answers.blinding.ids import (
    APART,
    OURS,
    blind_order,
    can_separate,
    count_neighbours,
    draw_share,
    refuse_telling_ids,
    response_ids,
    telling_ids,
    telling_words,
)
from assay.kinds.answers.blinding.pack import BlindedResponse, BlindPack

KEY = bytes(range(32))
ALL = [(f"q{n}", arm, 0) for n in range(500) for arm in ("A[model=m]", "B[model=m]")]


def test_ids_are_short_unique_and_stable() -> None:
    ids = response_ids(KEY, ALL)
    assert len(set(ids)) == len(ALL)
    assert all(OURS.fullmatch(each) for each in ids)
    shuffled = random.Random(1).sample(ALL, len(ALL))
    again = dict(zip(shuffled, response_ids(KEY, shuffled), strict=True))
    assert [again[each] for each in ALL] == ids


def test_another_key_gives_other_ids() -> None:
    assert not set(response_ids(KEY, ALL)) & set(response_ids(bytes(32), ALL))


def test_an_id_with_a_word_of_the_study_is_passed_over() -> None:
    first = response_ids(KEY, ALL)[0]
    word = first[2:6]  # four signs of it, as if the study had a system of that name
    assert word not in response_ids(KEY, ALL, [word])[0]


def test_a_condition_that_is_called_as_ids_begin() -> None:
    """Every id begins with R: that tells nothing, and no id without it would ever come."""
    ids = response_ids(KEY, ALL[:10], ["R"])
    assert ids == response_ids(KEY, ALL[:10])
    refuse_telling_ids(ids, ["R"])
    assert telling_ids(["x-R-1"], ["R"]) == ["1 id holds 'r': x-R-1"]


def test_the_same_response_twice_is_refused() -> None:
    with pytest.raises(DataError, match="'q1' of 'A' with seed 0 is there twice"):
        response_ids(KEY, [("q1", "A", 0), ("q1", "A", 0)])


def test_words_of_arms() -> None:
    assert telling_words(["A[model=small-8b,stage=1]", "B"]) == [
        "1",
        "A",
        "A[model=small-8b,stage=1]",
        "B",
        "small-8b",
    ]


@pytest.mark.parametrize(
    ("response_id", "word"),
    [
        ("R001-A-Q03", "a"),
        ("B_17", "b"),
        ("R001A", "a"),
        ("r.html.7", "html"),
        ("small-8b-0001", "small8b"),
        ("X-SMALL8B-2", "small8b"),
        ("grounded17", "grounded"),
    ],
)
def test_ids_that_hold_a_word_are_refused_by_name(response_id: str, word: str) -> None:
    words = ["A", "B", "small-8b", "grounded"]
    with pytest.raises(DataError, match=rf"{word!r}: {re.escape(response_id)}"):
        refuse_telling_ids(["R-7KA2B9XM", response_id], words)


def test_what_looks_like_a_word_in_our_own_ids_is_chance() -> None:
    refuse_telling_ids(["R-7KA2B9XM", "R-A0000000", "R-0000000B"], ["A", "B"])


def test_a_sign_that_goes_with_the_condition_is_found() -> None:
    ids = [f"X{'13579'[n % 5] if n % 2 else '02468'[n % 5]}{n:04d}Z" for n in range(60)]
    conditions = ["A" if n % 2 else "B" for n in range(60)]
    found = telling_ids(ids, [], conditions)
    assert "the character at place 2 of an id goes with its condition" in found


def test_numbers_given_out_by_condition_are_found() -> None:
    # R1 … R100: as numbers they part the conditions, as text (R1, R10, R100, R11 …) they do not
    ids = [f"R{n}" for n in range(1, 101)]
    assert "sorted by id, the conditions are separated" in telling_ids(ids, [], ["A"] * 50 + ["B"] * 50)
    assert telling_ids(ids, [], random.Random(0).sample(["A", "B"] * 50, 100)) == []


def test_two_of_a_kind_prove_nothing() -> None:
    # 4 ids part two conditions by chance once in 3 times: 2 / (4 over 2)
    assert telling_ids(["K1", "K2", "K3", "K4"], [], ["A", "A", "B", "B"]) == []


def test_made_ids_tell_nothing() -> None:
    one = made()
    refuse_telling_ids(list(one.conditions), one.words, list(one.conditions.values()))


def test_an_id_twice_is_reported() -> None:
    assert telling_ids(["K1", "K1"], []) == ["1 ids are there more than once"]


def pack_of(counts: list[int], order_key: str = "k") -> BlindPack:
    """A pack whose questions have so many responses each."""
    responses = [
        BlindedResponse(f"R-{q:03d}{n:05d}", f"q{q}", "", "s")
        for q, of in enumerate(counts)
        for n in range(of)
    ]
    return msgspec.structs.replace(made(questions=1).pack, responses=responses, order_key=order_key)


def ids_of(pack: BlindPack) -> list[str]:
    return [each.response_id for each in pack.responses]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.text(max_size=5))
def test_an_order_is_a_permutation_with_as_few_neighbours_as_can_be(counts: list[int], rater: str) -> None:
    pack = pack_of(counts)
    found = blind_order(pack, rater, "accuracy", ids_of(pack))
    assert sorted(found) == sorted(ids_of(pack))
    # m responses to one question and r others: m - 1 gaps, at most r of them filled
    most, n = max(counts), sum(counts)
    assert count_neighbours(pack, found) == max(0, most - 1 - (n - most))
    assert can_separate(pack, found) == (count_neighbours(pack, found) == 0)


def test_answers_to_one_question_are_far_apart() -> None:
    one = made(questions=100)
    found = blind_order(one.pack, "anna", "accuracy", ids_of(one.pack))
    question = {each.response_id: each.question_id for each in one.pack.responses}
    places: dict[str, list[int]] = {}
    for at, each in enumerate(found):
        places.setdefault(question[each], []).append(at)
    assert min(b - a for some in places.values() for a, b in pairwise(some)) >= APART


def test_one_question_alone_is_said_plainly() -> None:
    pack = pack_of([4])
    found = blind_order(pack, "anna", "accuracy", ids_of(pack))
    assert (count_neighbours(pack, found), can_separate(pack, found)) == (3, False)


def test_raters_passes_and_keys_have_orders_of_their_own() -> None:
    pack, other = pack_of([2] * 20), pack_of([2] * 20, "another")
    ids = ids_of(pack)
    orders = {
        tuple(blind_order(pack, rater, step, ids))
        for rater in ("anna", "ben")
        for step in ("accuracy", "citation")
    }
    assert len(orders | {tuple(blind_order(other, "anna", "accuracy", ids))}) == 5
    assert blind_order(pack, "anna", "accuracy", ids) == blind_order(pack, "anna", "accuracy", ids[::-1])


def test_every_place_is_as_likely_for_every_response() -> None:
    """6 questions with 2 responses each, 600 raters: 50 a place are expected."""
    pack = pack_of([2] * 6)
    ids = ids_of(pack)
    seen: Counter[tuple[str, int]] = Counter()
    first: Counter[bool] = Counter()
    for number in range(600):
        found = blind_order(pack, f"rater {number}", "accuracy", ids)
        seen.update((each, at) for at, each in enumerate(found))
        first[found.index(ids[0]) < found.index(ids[1])] += 1
    # Chi-squared with 11 * 11 = 121 degrees of freedom: 99.9 % lie below 174
    chi = sum((seen[each, at] - 50) ** 2 / 50 for each in ids for at in range(12))
    assert chi < 174
    # 300 ± 3.3 deviations of sqrt(600 / 4) = 12.2
    assert 260 < first[True] < 340


# ---------------------------------------------------------------------------------------- draws


@given(st.integers(7, 500), st.floats(0.10, 0.15))
def test_ten_to_fifteen_percent_stay_that(n: int, share: float) -> None:
    drawn = len(draw_share("k", [str(each) for each in range(n)], share))
    # of 11 to 13, 16 to 19 …: no whole number may lie in the range
    possible = [count for count in range(1, n) if 0.10 <= count / n <= 0.15]
    assert drawn in possible or not possible
    assert abs(drawn - share * n) < 1 or drawn in {possible[0], possible[-1]}


@pytest.mark.parametrize(
    ("n", "share", "drawn"), [(10, 0.15, 1), (20, 0.15, 3), (2288, 0.15, 343), (2288, 0.05, 114), (5, 0.1, 1)]
)
def test_how_many_are_drawn(n: int, share: float, drawn: int) -> None:
    # 0.15 * 10 = 1.5, of which 2 would be 20 %; 0.15 * 2288 = 343.2; 0.05 * 2288 = 114.4
    assert len(draw_share("k", [str(each) for each in range(n)], share)) == drawn


def test_nothing_of_nothing_is_drawn() -> None:
    assert (draw_share("k", [], 0.15), draw_share("k", ["a"], 0.0)) == ([], [])


def test_a_draw_is_stable_grows_and_is_not_the_other_one() -> None:
    ids = ids_of(pack_of([4] * 50))
    drawn = draw_share("k", ids, 0.10)
    assert drawn == draw_share("k", ids[::-1], 0.10)
    assert set(drawn) < set(draw_share("k", ids, 0.15))
    assert drawn != draw_share("k", ids, 0.10, "again")
    assert drawn != draw_share("other", ids, 0.10)


def test_a_draw_takes_every_response_as_often() -> None:
    # 2 of 20 under 1,000 keys: 100 times each, ± 3.5 deviations of sqrt(1000 * 0.1 * 0.9) = 9.5
    ids = [f"R{n}" for n in range(20)]
    seen = Counter(each for key in range(1000) for each in draw_share(str(key), ids, 0.10))
    assert all(67 <= seen[each] <= 133 for each in ids)
