"""Ids of blinded responses: unpredictable, unique, and refused where they tell."""

from __future__ import annotations

import random
import re

import pytest
from blind_pack import made

from assay.core.errors import DataError
from assay.kinds.answers.blinding.ids import (
    OURS,
    refuse_telling_ids,
    response_ids,
    telling_ids,
    telling_words,
)

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


def test_an_id_twice_is_told() -> None:
    assert telling_ids(["K1", "K1"], []) == ["1 ids are there more than once"]
