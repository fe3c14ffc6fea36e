"""What stands out among shuffles of the labels, and what does not."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from blind_pack import made

from assay.kinds.answers.leaks.statistics import (
    SHUFFLES,
    LabelPermutations,
    condition_of,
    features_of,
    guess_conditions,
    guess_from_form,
)

QUESTIONS = [f"q{n // 2}" for n in range(60)]
CONDITIONS = ["A", "B"] * 30


def test_condition_of_an_arm() -> None:
    assert (condition_of("A[model=m]"), condition_of("B")) == ("A", "B")


def test_shuffles_keep_every_question_as_it_was() -> None:
    table = LabelPermutations.of(QUESTIONS, CONDITIONS).tables[0]
    assert table.shape == (SHUFFLES + 1, 60)
    assert table[0].tolist() == [1.0, 0.0] * 30
    assert (table[:, ::2] + table[:, 1::2] == 1).all()  # one A per question
    # 30 questions, 1,023 permutations: half the firsts are A, ± 4 deviations of sqrt(30690 / 4) = 88
    assert abs(table[1:, ::2].sum() - 15345) < 350


def test_if_no_question_has_both_all_are_shuffled() -> None:
    table = LabelPermutations.of([f"q{n}" for n in range(20)], ["A"] * 10 + ["B"] * 10).tables[0]
    assert (table.sum(axis=1) == 10).all()
    assert len({tuple(row) for row in table[1:100].tolist()}) > 90


def test_three_conditions_have_a_table_each() -> None:
    assert len(LabelPermutations.of(["q"] * 3, ["A", "B", "C"]).tables) == 3


def test_a_column_that_goes_with_the_condition_stands_out() -> None:
    permutations = LabelPermutations.of(QUESTIONS, CONDITIONS)
    rng = np.random.default_rng(3)
    noise, telling = rng.normal(size=60), np.array([2.0, 0.0] * 30) + rng.normal(size=60)
    question = np.repeat(rng.normal(size=30), 2)  # the same for both: it cannot tell
    figures = {
        name: permutations.with_values(each)
        for name, each in (("noise", noise), ("telling", telling), ("question", question))
    }
    assert permutations.alarms(figures) == ["telling"]
    assert permutations.alarms({}) == []


def test_sequences_that_group_or_alternate_stand_out() -> None:
    permutations = LabelPermutations.of(QUESTIONS, CONDITIONS)
    a, b = list(range(0, 60, 2)), list(range(1, 60, 2))
    shuffled = np.random.default_rng(0).permutation(60).tolist()
    turn = [each for pair in zip(a, b[5:] + b[:5], strict=True) for each in pair]
    figures = {
        "a first": permutations.in_sequence([*a, *b]),
        "in turn": permutations.in_sequence(turn),
        "shuffled": permutations.in_sequence(shuffled),
        "few": permutations.in_sequence([*a[:3], *b[:3]]),
    }
    assert permutations.alarms(figures) == ["a first", "in turn"]


def test_a_classifier_learns_what_there_is() -> None:
    permutations = LabelPermutations.of(QUESTIONS, CONDITIONS)
    rng = np.random.default_rng(0)
    nothing = guess_conditions(permutations, rng.normal(size=(60, 12)))
    assert not nothing.beats_chance
    features = rng.normal(size=(60, 12))
    features[::2, 3] += 2.0
    something = guess_conditions(permutations, features)
    # two normal variables two deviations apart: the larger is right in Φ(2 / √2) = 0.92 of pairs
    assert something.auc == pytest.approx(0.92, abs=0.08)
    assert something.p == 1 / (SHUFFLES + 1)
    assert guess_conditions(permutations, features) == something


def test_chance_is_called_chance_as_often_as_it_should_be() -> None:
    """p-values of 100 features that tell nothing: a tenth below 0.1, ± 4 deviations of 3 = 10 ± 12."""
    permutations = LabelPermutations.of(QUESTIONS, CONDITIONS)
    rng = np.random.default_rng(1)
    low = sum(guess_conditions(permutations, rng.normal(size=(60, 4))).p <= 0.1 for _ in range(100))
    assert low <= 22


def test_few_responses_can_never_stand_out() -> None:
    # 3 questions have 2³ = 8 permutations: the truth comes up in an eighth of them
    permutations = LabelPermutations.of([f"q{n // 2}" for n in range(6)], ["A", "B"] * 3)
    assert permutations.alarms({"sorted": permutations.in_sequence([0, 2, 4, 1, 3, 5])}) == []


def test_features_of_ids() -> None:
    rows = features_of(["R-0B", "R-1"], [{"R-0B": 4, "R-1": 7}])
    assert rows.shape == (2, 4 + 4 + 32 + 1 + 1)
    # values: R is 24, "-" none, 0 is 0, B is 11; the other is filled up with blanks
    assert rows[:, :4].tolist() == [[24, -1, 0, 11], [24, -1, 1, -1]]
    assert rows[:, -2:].tolist() == [[4, 0], [7, 1]]


def test_the_form_of_responses_is_measured() -> None:
    one = made(questions=40)
    assert not guess_from_form(one.pack, one.sealed).beats_chance
    listed = [
        msgspec.structs.replace(each, text=f"- {each.text}\n- more")
        if one.conditions[each.response_id] == "B"
        else each
        for each in one.pack.responses
    ]
    telling = guess_from_form(msgspec.structs.replace(one.pack, responses=listed), one.sealed)
    assert telling.beats_chance
    assert telling.auc > 0.95
