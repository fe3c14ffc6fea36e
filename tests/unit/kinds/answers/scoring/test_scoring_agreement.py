"""Agreement of two raters: claims matched by their text, statistics by hand, and where they are undefined."""

from __future__ import annotations

from typing import Any

import pytest

from assay.kinds.answers.results import RaterAgreement
from assay.kinds.answers.scoring.agreement import (
    KAPPA,
    LINEAR,
    QUADRATIC,
    RHO,
    RaterMarks,
    RaterPair,
    claim_overlap,
    marks_of_rater,
    match_claims,
    matched_claims,
    overlap,
    rater_label,
)
from assay.kinds.answers.scoring.marks import AGAIN, Claim, Mark
from assay.stats.resample import Draws


def claim(start: int, end: int, category: str = "H-FAB") -> Claim:
    return Claim(category, start, end, "what it says", "why not")


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((0, 10), (0, 10), 1.0),
        ((0, 10), (5, 15), 5 / 15),
        ((0, 100), (40, 52), 12 / 100),
        ((0, 10), (10, 20), 0.0),
        ((0, 10), (30, 40), 0.0),
        ((5, 5), (5, 5), 0.0),  # nothing is marked
        ((3, 3), (0, 10), 0.0),
    ],
)
def test_overlap_by_hand(one: tuple[int, int], other: tuple[int, int], share: float) -> None:
    assert overlap(claim(*one), claim(*other)) == pytest.approx(share)
    assert overlap(claim(*other), claim(*one)) == pytest.approx(share)


def test_the_largest_overlap_in_all_counts() -> None:
    # greedy would give 0-20 the best partner, 2-20 (0.9), and leave 18-40 with 0-4, which it does not touch;
    # together 0-20 with 0-4 (0.2) and 18-40 with 2-20 (2/38 = 0.05, too little) are worse than 0.9 alone
    assert match_claims([claim(0, 20), claim(18, 40)], [claim(0, 4), claim(2, 20)]) == [(0, 1)]
    # 0-10 overlaps both 0-10 (1.0) and 4-14 (6/14); 4-14 of the first is 1.0 with 4-14: crossing loses
    assert match_claims([claim(4, 14), claim(0, 10)], [claim(0, 10), claim(4, 14)]) == [(0, 1), (1, 0)]
    # 0-12 prefers 0-10 (10/12), but 0-6 has only that one (6/10), and 0-12 still has 6-14 (6/14):
    # 0.6 + 0.43 beats 0.83
    assert match_claims([claim(0, 12), claim(0, 6)], [claim(0, 10), claim(6, 14)]) == [(0, 1), (1, 0)]


def test_what_hardly_touches_is_two_claims() -> None:
    assert match_claims([claim(0, 50)], [claim(49, 99)]) == []
    assert match_claims([claim(0, 50)], [claim(46, 50)]) == []  # 4 of 50
    assert match_claims([claim(0, 50)], [claim(45, 50)]) == [(0, 0)]  # 5 of 50: a tenth
    assert match_claims([claim(0, 50)], [claim(46, 50)], least=0.05) == [(0, 0)]
    assert match_claims([], [claim(0, 5)]) == match_claims([claim(0, 5)], []) == []


def test_categories_do_not_choose_the_match() -> None:
    # both raters mark one sentence twice; the order of the text decides, though the other way would agree
    first = {"r": [claim(0, 9, "H-FAB"), claim(0, 9, "H-SRC")]}
    second = {"r": [claim(0, 9, "H-SRC"), claim(0, 9, "H-FAB")]}
    found = [(match.first.category, match.second.category) for match in matched_claims(first, second)]
    assert found == [("H-FAB", "H-SRC"), ("H-SRC", "H-FAB")]


def test_only_responses_that_both_scored_count() -> None:
    first = {"r1": [claim(0, 10), claim(20, 30, "H-SRC")], "r2": [], "r3": [claim(0, 9)]}
    second = {"r1": [claim(21, 30, "H-EXT"), claim(2, 10), claim(50, 60)], "r2": [claim(0, 4)]}
    found = claim_overlap(("anna", "ben"), first, second)
    # r1: two in common, one of ben's alone; r2: one of ben's alone; ben has not scored r3
    assert (found.both, found.only_first, found.only_second) == (2, 0, 2)
    assert found.categories["H-FAB"] == {"H-EXT": 0, "H-FAB": 1, "H-SRC": 0}
    assert found.categories["H-SRC"] == {"H-EXT": 1, "H-FAB": 0, "H-SRC": 0}
    assert sum(sum(row.values()) for row in found.categories.values()) == 2


def claims(*spans: tuple[int, int, str]) -> list[Claim]:
    return [Claim(category, start, end, "claim", "note") for start, end, category in spans]


def figures(
    first: RaterMarks, second: RaterMarks, questions: dict[str, str]
) -> dict[tuple[str, str], RaterAgreement]:
    found = RaterPair(first, second, questions, Draws(200)).agreement()
    return {(each.metric, each.statistic): each for each in found}


QUESTIONS = {f"r{at}": f"q{at % 5}" for at in range(10)}
ANNA = RaterMarks(
    "anna",
    accuracy=dict(zip(QUESTIONS, [0, 0, 0, 3, 3, 3, 3, 3, 0, 3], strict=True)),
    claims={
        "r0": claims((0, 10, "H-FAB")),
        "r1": [],
        "r2": claims((0, 9, "H-SRC"), (20, 30, "H-FAB")),
        "r9": [],
    },
    completeness={"r0": 1, "r1": 1, "r2": 1, "r3": 0, "r4": 0},
    citation={"r0": 2, "r1": None, "r2": 1, "r3": 0, "r4": None},
)
BEN = RaterMarks(
    "ben",
    accuracy=dict(zip(QUESTIONS, [0, 0, 3, 3, 3, 3, 3, 3, 0, 3], strict=True)) | {"r99": 1},
    claims={
        "r0": claims((1, 10, "H-FAB")),
        "r1": [],
        "r2": claims((0, 9, "H-EXT"), (22, 30, "H-FAB"), (50, 60, "H-TMP")),
    },
    completeness={"r0": 1, "r1": 1, "r2": 0, "r3": 0, "r4": 0},
    citation={"r0": 2, "r1": None, "r2": 2, "r3": None, "r4": None},
)


def test_weighted_kappa_by_hand() -> None:
    found = figures(ANNA, BEN, QUESTIONS)[("accuracy", LINEAR)]
    # anna: four 0, six 3; ben: three 0, seven 3; they differ once, by 3 steps: observed 3/10;
    # by chance 3 · (0.4 · 0.7 + 0.6 · 0.3) = 1.38; r99 is ben's alone
    assert found.value == pytest.approx(1 - 0.3 / 1.38)
    assert (found.n, found.equal, found.raters) == (10, 0.9, ("anna", "ben"))
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high
    assert found.threshold == 0.6
    assert found.holds is True
    assert figures(ANNA, BEN, QUESTIONS)[("accuracy", QUADRATIC)].threshold is None


def test_a_grade_that_nobody_gave_lies_between_its_neighbours() -> None:
    grades = {"r0": 0, "r1": 1, "r2": 3, "r3": 3}
    other = {"r0": 1, "r1": 1, "r2": 3, "r3": 0}
    found = figures(RaterMarks("a", grades), RaterMarks("b", other), QUESTIONS)[("accuracy", LINEAR)]
    # steps on 0 to 3: (1 + 0 + 0 + 3) / 4 = 1; by chance, from 0, 1, 3, 3 to 1, 1, 3, 0: rows of distances
    # 1+1+3+0 = 5, 0+0+2+1 = 3, 2+2+0+3 = 7 twice: 22/16. Without grade 2, 3 would lie one step from 1.
    assert found.value == pytest.approx(1 - 1 / (22 / 16))


def test_every_other_figure_by_hand() -> None:
    found = figures(ANNA, BEN, QUESTIONS)
    complete = found["completeness", KAPPA]
    # 4 of 5 alike; by chance 3/5 · 2/5 + 2/5 · 3/5 = 12/25
    assert complete.value == pytest.approx((20 - 12) / (25 - 12))
    assert complete.threshold == 0.6
    applies = found["citation applies", KAPPA]
    # anna: r0, r2, r3 apply; ben: r0, r2; 4 of 5 alike, the same margins
    assert applies.value == pytest.approx(8 / 13)
    assert applies.threshold is None
    # r0 and r2 apply for both: 2 and 2, 1 and 2; by chance anna 1, 2 against ben 2, 2: 2/4 of a step
    assert found["citation", LINEAR].n == 2
    assert found["citation", LINEAR].value == pytest.approx(1 - 0.5 / 0.5)
    counts = found["hallucinations", RHO]
    # 1, 0, 2 against 1, 0, 3: the same order; r9 is anna's alone
    assert (counts.n, counts.value) == (3, pytest.approx(1.0))
    assert counts.equal == pytest.approx(2 / 3)
    kinds = found["hallucination categories", KAPPA]
    # matched: FAB FAB, SRC EXT, FAB FAB: 2/3 alike, by chance 2/3 · 2/3 = 4/9; (6 - 4) / (9 - 4)
    assert (kinds.n, kinds.value) == (3, pytest.approx(2 / 5))


def test_what_they_marked_in_common() -> None:
    found = RaterPair(ANNA, BEN, QUESTIONS).claim_overlap()
    assert (found.raters, found.both, found.only_first, found.only_second) == (("anna", "ben"), 3, 0, 1)


def test_undefined_is_said() -> None:
    alike = {"r0": 3.0, "r1": 3.0}
    found = figures(
        RaterMarks("a", alike, {"r0": [], "r1": []}), RaterMarks("b", alike, {"r0": [], "r1": []}), QUESTIONS
    )
    assert found["accuracy", LINEAR].value is None
    assert found["accuracy", LINEAR].holds is None
    assert "only one grade" in found["accuracy", LINEAR].note
    assert "same count" in found["hallucinations", RHO].note
    assert found["completeness", KAPPA] == RaterAgreement(
        "completeness", KAPPA, ("a", "b"), 0, threshold=0.6, note="nothing that both scored"
    )


def test_raters_who_never_differ_have_no_interval() -> None:
    grades = {f"r{at}": float(at % 4) for at in range(10)}
    found = figures(RaterMarks("a", grades), RaterMarks("b", grades), QUESTIONS)[("accuracy", LINEAR)]
    assert (found.value, found.low, found.note) == (1.0, None, "no interval: they never differ")


def test_nothing_is_asked_of_a_rater_who_scores_again() -> None:
    again = RaterMarks(rater_label("anna", AGAIN), BEN.accuracy)
    assert again.rater == "anna (again)"
    assert figures(ANNA, again, QUESTIONS)[("accuracy", LINEAR)].threshold is None


def mark(name: str, response_id: str, step: str, **more: Any) -> Mark:
    return Mark(f"{name}-{response_id}-{step}-{len(str(more))}", name, response_id, step, **more)


def test_marks_that_stand_are_what_a_rater_gave() -> None:
    marks = [
        mark("anna", "r1", "accuracy", grade=1),
        mark("anna", "r1", "accuracy", grade=3, note="looked again"),
        mark("anna", "r1", "accuracy", grade=0, round=AGAIN),
        mark("anna", "r2", "accuracy", grade=2),
        mark("anna", "r2", "accuracy", withdrawn=True),
        mark("anna", "r1", "hallucination", claims=claims((0, 4, "H-FAB"))),
        mark("anna", "r1", "completeness", grade=1),
        mark("anna", "r1", "citation"),
        mark("ben", "r1", "accuracy", grade=0),
    ]
    assert marks_of_rater(marks, "anna") == RaterMarks(
        "anna", {"r1": 3.0}, {"r1": claims((0, 4, "H-FAB"))}, {"r1": 1.0}, {"r1": None}
    )
    assert marks_of_rater(marks, "anna", AGAIN) == RaterMarks("anna (again)", {"r1": 0.0})
