"""Accuracy 3 and what caps it, a claim or a gap: when it comes up, and what alone settles it."""

from __future__ import annotations

import pytest

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.marks import BookEntry, Mark
from assay.kinds.answers.scoring.passes import contradiction
from assay.kinds.answers.scoring.progress import MarkIndex, remaining_work
from scoring_packs import claim, mark, pack_of


def queue_of(pack: BlindPack, lines: list[BookEntry]) -> dict[str, str]:
    ledger = MarkIndex(pack, lines)
    return dict(ledger.queue(ledger.passes["anna"][0]))


def claims(response_id: str, *categories: str) -> Mark:
    made = [claim(category, what=f"claim {at}") for at, category in enumerate(categories)]
    return mark(response_id, "hallucination", None, claims=made)


@pytest.mark.parametrize(
    ("grade", "categories", "capped"),
    [
        (3, ["H-FAB"], True),
        (3, ["H-EXT"], True),
        (3, ["H-TMP", "H-SRC"], True),
        (3, ["H-SRC"], False),
        (3, [], False),
        (2, ["H-FAB"], False),
        (None, ["H-FAB"], False),
    ],
)
def test_only_the_best_grade_and_claims_that_cap_exclude_each_other(
    grade: int | None, categories: list[str], capped: bool
) -> None:
    found = contradiction(mark("R-01", grade=grade), claims("R-01", *categories))
    assert (found is not None) == capped


def test_it_comes_up_once_the_second_pass_is_through() -> None:
    pack = pack_of(2)
    lines: list[BookEntry] = [mark("R-01"), mark("R-02"), claims("R-01", "H-FAB")]
    assert queue_of(pack, lines) == {}  # R-02 has no mark in the second pass yet
    lines.append(claims("R-02", "H-SRC"))
    assert list(queue_of(pack, lines)) == ["R-01"]
    assert "1 H-FAB" in queue_of(pack, lines)["R-01"]
    assert "anna: Factual accuracy: 1 to look at again" in remaining_work(MarkIndex(pack, lines), now=0)


def test_a_lower_grade_settles_it_and_a_higher_one_opens_it_again() -> None:
    pack = pack_of(1)
    lines: list[BookEntry] = [mark("R-01"), claims("R-01", "H-FAB")]
    assert queue_of(pack, lines)
    lines.append(mark("R-01"))  # saying 3 once more settles nothing
    assert queue_of(pack, lines)
    lines.append(mark("R-01", grade=2, note="a daily job is made up"))
    assert queue_of(pack, lines) == {}
    lines.append(mark("R-01"))
    assert queue_of(pack, lines)


def test_taking_the_claim_back_settles_it_and_nothing_is_rewritten() -> None:
    pack = pack_of(1)
    first = mark("R-01")
    lines: list[BookEntry] = [first, claims("R-01", "H-FAB"), claims("R-01", "H-SRC")]
    assert queue_of(pack, lines) == {}
    ledger = MarkIndex(pack, lines)
    assert ledger.mark(first.key) is first


def test_each_round_is_reconciled_on_its_own() -> None:
    pack = pack_of(1, drawn_again=["R-01"])
    first: list[BookEntry] = [mark("R-01", grade=2), claims("R-01", "H-FAB")]
    again: list[BookEntry] = [
        mark("R-01", round="again"),
        mark("R-01", "hallucination", None, claims=[claim()], round="again"),
    ]
    ledger = MarkIndex(pack, [*first, *again])
    passes = {of.name: of for of in ledger.passes["anna"]}
    assert ledger.count_queued(passes["accuracy"]) == 0
    assert ledger.count_queued(passes["accuracy:again"]) == 1


# ---------------------------------------------------------------------------- a part that is left out


def gap(response_id: str, grade: int = 0) -> Mark:
    return mark(response_id, "completeness", grade)


@pytest.mark.parametrize(("grade", "complete", "capped"), [(3, 0, True), (3, 1, False), (2, 0, False)])
def test_the_best_grade_leaves_nothing_out(grade: int, complete: int, capped: bool) -> None:
    assert (contradiction(mark("R-01", grade=grade), gap("R-01", complete)) is not None) == capped


def test_a_gap_comes_up_once_the_third_pass_is_through() -> None:
    pack = pack_of(2)
    lines: list[BookEntry] = [mark("R-01"), mark("R-02"), claims("R-01"), claims("R-02"), gap("R-01")]
    assert queue_of(pack, lines) == {}
    lines.append(gap("R-02", 1))
    assert list(queue_of(pack, lines)) == ["R-01"]
    assert "called it incomplete" in queue_of(pack, lines)["R-01"]
    assert "anna: Factual accuracy: 1 to look at again" in remaining_work(MarkIndex(pack, lines), now=0)
    assert queue_of(pack, [*lines, mark("R-01", grade=2, note="a part is missing")]) == {}
    assert queue_of(pack, [*lines, gap("R-01", 1)]) == {}


def test_a_claim_and_a_gap_are_told_together() -> None:
    why = queue_of(pack_of(1), [mark("R-01"), claims("R-01", "H-FAB"), gap("R-01")])["R-01"]
    assert "1 H-FAB" in why
    assert "called it incomplete" in why
