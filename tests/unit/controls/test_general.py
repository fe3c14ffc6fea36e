"""Every general control on blocks made by hand: twelve items, the right document first of five."""

from __future__ import annotations

import numpy as np
import pytest
from made_trial import block, items, ranked, replace, trial, value_of

from assay.controls.general import Everything, Failing, Jitter, LostSlice, Noise, Shuffle, Silence, Swap, Twin
from assay.controls.oracle import Oracle
from assay.controls.trial import ControlNotApplicable, Trial
from assay.core.block import FAILED, MISSING
from assay.core.records import Context, Judgment, Piece, Response
from assay.kinds.answers.controls import GuessingRaters
from walked_block import hits

COUNT = 12


def compared(measure: str = "RR@5", **more: object) -> Trial:
    """new has the right document first, old has it second."""
    of = items(COUNT)
    blocks = [block("old", of, ranked(COUNT, 2)), block("new", of, ranked(COUNT, 1))]
    return trial(blocks, [measure], {"new": "old"}, **more)  # type: ignore[arg-type]


def mean(control: object, found: Trial, key: tuple[str, str] = ("new", "RR@5"), mutant: str = "") -> float:
    draw = control.mutants(found)[mutant]  # type: ignore[attr-defined]
    return value_of(found, draw(np.random.default_rng(0)).columns, key)


def test_a_twin_has_the_scores_of_what_the_candidate_is_compared_with() -> None:
    assert value_of(compared(), {}, ("new", "RR@5")) == 1.0
    assert mean(Twin(), compared()) == 0.5  # old's: every right document second


def test_a_swap_keeps_what_both_have_together() -> None:
    found = compared()
    drawn = Swap().mutants(found)[""](np.random.default_rng(1)).columns
    new, old = (value_of(found, drawn, (name, "RR@5")) for name in ("new", "old"))
    assert new + old == pytest.approx(1.5)  # 1 and ½ on every item, whoever has which
    assert 0.5 < new < 1.0


def test_noise_answers_other_questions() -> None:
    # an answer to question n holds d(n) first and d(n+1) to d(n+4): right for another one at rank 2 at best
    found = compared()
    draws = [Noise().mutants(found)[""](np.random.default_rng(seed)).columns for seed in range(20)]
    assert np.mean([value_of(found, each, ("new", "RR@5")) for each in draws]) < 0.25
    assert all(value_of(found, each, ("new", "RR@5")) <= 0.5 for each in draws)


def test_a_shuffle_keeps_the_hits_and_loses_the_order() -> None:
    found = compared()
    # the mean of 1/rank over five ranks: (1 + 1/2 + 1/3 + 1/4 + 1/5) / 5 = 0.4567
    draws = [mean(Shuffle(), found) for _ in range(1)]
    many = [Shuffle().mutants(found)[""](np.random.default_rng(seed)).columns for seed in range(100)]
    average = np.mean([value_of(found, each, ("new", "RR@5")) for each in many])
    assert average == pytest.approx(0.4567, abs=0.08)
    assert mean(Shuffle(), compared("R@5"), ("new", "R@5")) == 1.0  # which does not see order
    assert draws[0] < 1.0


def test_one_that_returns_everything_has_recall_and_no_order() -> None:
    assert mean(Everything(), compared("R"), ("new", "R")) == 1.0
    assert mean(Everything(), compared("R@5"), ("new", "R@5")) < 0.9


def test_one_that_shows_everything_is_over_budget() -> None:
    of = items(COUNT, evidence=[{"doc_id": "d0", "source": "d0", "start": 0, "end": 4, "text": "fact"}])
    told = [
        Response(
            hits("d0"),
            [
                Context(4, [Piece("d0", "fact")], 1, "llama3"),
                Context(None, [Piece("d0", "fact"), Piece("d1", "more than fits")], 9, "llama3"),
            ],
        )
        for _ in of
    ]
    found = trial([block("new", of, told)], ["A@4", "A"], {"new": None})
    assert value_of(found, {}, ("new", "A@4")) == 1.0
    assert mean(Everything(), found, ("new", "A@4")) == 0.0
    assert mean(Everything(), found, ("new", "A@inf")) == 1.0


def test_silence_has_nothing() -> None:
    found = compared()
    made = Silence().mutants(found)[""](np.random.default_rng(0)).columns["new", "RR@5"]
    assert (made.status == MISSING).all()
    assert mean(Silence(), found) == 0.0


def test_failing_fails_on_a_tenth_of_the_items_rounded_up() -> None:
    made = Failing().mutants(compared())[""](np.random.default_rng(0)).columns["new", "RR@5"]
    assert (made.status == FAILED).sum() == 2  # of 12


def test_a_lost_slice_is_lost_as_a_whole_and_nothing_else() -> None:
    found = compared(by=["topic"])
    assert set(LostSlice().mutants(found)) == {"topic=odd", "topic=even"}
    made = LostSlice().mutants(found)["topic=odd"](np.random.default_rng(0)).columns["new", "RR@5"]
    assert made.values.tolist() == [1.0, 0.0] * 6


def test_jitter_is_what_the_candidate_is_compared_with_moved_by_a_tenth() -> None:
    # scores 5 4 3 2 1 off by a tenth at most: 5·0.9 > 4·1.1 by 0.1, so that the order stays as it is
    assert mean(Jitter(), compared()) == 0.5
    # off by up to nine tenths, the right document leaves rank 2
    assert mean(Jitter(share=0.9), compared()) != 0.5


def test_the_oracle_has_the_labels_in_the_best_order() -> None:
    of = items(COUNT)
    found = trial([block("new", of, ranked(COUNT, 3))], ["RR@5", "R@5"], {"new": None})
    assert value_of(found, {}, ("new", "RR@5")) == pytest.approx(1 / 3)
    assert mean(Oracle(), found) == 1.0
    assert mean(Oracle(), found, ("new", "R@5")) == 1.0


def test_the_oracle_cannot_have_more_than_there_is() -> None:
    # three of four relevant documents fit a cut-off of three
    of = [replace_gold(each, {f"x{n}": 1.0 for n in range(4)}) for each in items(COUNT)]
    found = trial([block("new", of, ranked(COUNT, 3))], ["R@3"], {"new": None})
    assert mean(Oracle(), found, ("new", "R@3")) == 0.75


def replace_gold(item: object, relevant: dict[str, float]) -> object:
    import msgspec

    return msgspec.structs.replace(item, gold={"relevant": relevant})  # type: ignore[type-var]


def test_raters_that_guess_keep_how_often_they_give_each_mark() -> None:
    marks = [Judgment(f"q{n}", "accuracy", float(n % 3), judge) for judge in ("a", "b") for n in range(COUNT)]
    found = replace(compared(), judgments=marks, labels=["accuracy"])
    drawn = GuessingRaters().mutants(found)[""](np.random.default_rng(0)).judgments
    assert drawn is not None
    assert [mark.item_id for mark in drawn] == [mark.item_id for mark in marks]
    assert sorted(mark.grade for mark in drawn) == sorted(mark.grade for mark in marks)
    assert drawn != marks


@pytest.mark.parametrize(
    ("control", "reason"),
    [
        (Twin(), "compares with no other system"),
        (Swap(), "compares with no other system"),
        (Jitter(), "compares with no other system"),
        (LostSlice(), "not sliced by any tag"),
        (GuessingRaters(), "no clause reads the agreement of raters"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_control_that_cannot_be_made_says_why(control: object, reason: str) -> None:
    of = items(COUNT)
    alone = trial([block("new", of, ranked(COUNT, 1))], ["RR@5"], {"new": None})
    with pytest.raises(ControlNotApplicable, match=reason):
        control.mutants(alone)  # type: ignore[attr-defined]


def test_the_same_seed_draws_the_same() -> None:
    found, again = compared(), compared()
    for control in (Noise(), Shuffle(), Swap(), Jitter(share=0.9)):
        assert mean(control, found) == mean(control, again)
