"""The order in which raters see responses, and who is drawn for a second look."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import msgspec
import pytest
from blind_pack import made
from hypothesis import given
from hypothesis import strategies as st

from assay.kinds.answers.blinding.ids import APART, blind_order, can_separate, count_neighbours, draw_share
from assay.kinds.answers.blinding.pack import BlindedResponse, BlindPack


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
