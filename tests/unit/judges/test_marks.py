"""Which marks still hold, and what raters said of the same thing."""

from __future__ import annotations

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus
from assay.core.records import Arm, Document, Fault, Item, Judgment, Passage, Response
from assay.judges.labels import (
    BlockTexts,
    current_judgments,
    restrict_to_same_text,
    shared_ratings,
    text_hash,
)
from assay.store.journal import Answer, answer_columns, select_by_key

ITEMS = [Item("q0", "first"), Item("q1", "second")]
CORPUS = Corpus([Passage("d", "a passage")], {"doc": Document("doc", "a document")})


def present(arm: str, seed: int, *answers: Response) -> BlockTexts:
    """An arm's answers to the first items; the rest are pending."""
    stored = answer_columns([Answer(f"k{place}", f"q{place}", each) for place, each in enumerate(answers)])
    return BlockTexts(
        Block(Arm(arm), seed, ITEMS, select_by_key(stored, ["k0", "k1"]), Labels.none()), CORPUS
    )


def mark(
    text: str, target: str | None = None, arm: str | None = None, seed: int | None = None, item: str = "q0"
) -> Judgment:
    return Judgment(item, "accuracy", 1.0, "anna", target=target, arm=arm, seed=seed, seen=text_hash(text))


# ------------------------------------------------------------------------------------------- stale


def test_a_mark_on_a_passage_holds_while_its_text_stays() -> None:
    here = [present("A", 0, Response())]
    for fresh in (mark("a passage", "d"), mark("a document", "doc")):
        assert restrict_to_same_text(fresh, here) == [fresh]
    for stale in (mark("another passage", "d"), mark("a passage", "gone")):
        assert restrict_to_same_text(stale, here) == []


def test_a_mark_on_an_answer_holds_for_the_responses_that_say_the_same() -> None:
    here = [
        present("A", 0, Response(answer="yes")),
        present("A", 1, Response(answer="no")),
        present("A", 2, Response(answer="yes")),
        present("B", 0, Response(answer="no")),
    ]
    places = [(each.arm, each.seed) for each in restrict_to_same_text(mark("yes", arm="A"), here)]
    assert places == [("A", 0), ("A", 2)]
    whole = mark("no", arm="B")
    assert restrict_to_same_text(whole, here) == [whole]
    assert restrict_to_same_text(mark("perhaps", arm="A"), here) == []
    assert restrict_to_same_text(mark("yes", arm="A", seed=1), here) == []


def test_nothing_is_stale_where_there_is_nothing_to_compare() -> None:
    unseen = Judgment("q0", "accuracy", 1.0, "anna")
    pending = mark("yes", item="q1")  # q1 was not asked yet
    failed = mark("yes")
    elsewhere = mark("yes", arm="C")  # an arm that was not run
    here = [present("A", 0, Response(error=Fault("Timeout", "late")))]
    for each in (unseen, pending, failed, elsewhere):
        assert restrict_to_same_text(each, here) == [each]


# ---------------------------------------------------------------------------------------- standing


def test_only_its_own_judge_can_withdraw_a_mark() -> None:
    first = Judgment("q0", "accuracy", 1.0, "anna", judgment_id="m1")
    again = Judgment("q0", "accuracy", 2.0, "anna", judgment_id="m2", replaces="m1")
    other = Judgment("q0", "accuracy", 0.0, "mallory", judgment_id="m3", replaces="m2")
    assert current_judgments([first, again, other]) == [again, other]


# ------------------------------------------------------------------------------------------ raters


def rated(judge: str, grade: float, item: str = "q0", **place: str | int) -> Judgment:
    return Judgment(item, "accuracy", grade, judge, **place)  # type: ignore[arg-type]


def test_raters_are_compared_on_what_both_judged() -> None:
    said = [rated("anna", 1), rated("ben", 2), rated("chief", 3), rated("anna", 1, "q1")]
    assert shared_ratings(said, ["anna", "ben"]) == {("q0", None, None, (None, None)): {"anna": 1, "ben": 2}}


def test_a_mark_for_every_seed_meets_one_for_a_single_seed() -> None:
    said = [
        rated("anna", 1, arm="A"),
        rated("llm", 0, arm="A", seed=0),
        rated("llm", 1, arm="A", seed=1),
        rated("llm", 2, arm="B", seed=0),
    ]
    assert shared_ratings(said, ["anna", "llm"]) == {
        ("q0", None, None, ("A", 0)): {"anna": 1, "llm": 0},
        ("q0", None, None, ("A", 1)): {"anna": 1, "llm": 1},
    }


def test_a_raters_most_specific_mark_is_the_one_compared() -> None:
    said = [rated("anna", 1, arm="A", seed=0), rated("anna", 3), rated("ben", 1, arm="A")]
    assert shared_ratings(said, ["anna", "ben"]) == {("q0", None, None, ("A", 0)): {"anna": 1, "ben": 1}}
