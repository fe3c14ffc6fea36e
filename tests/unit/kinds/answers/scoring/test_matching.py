"""Two raters' claims, matched by the text they mark."""

from __future__ import annotations

import pytest

from assay.kinds.answers.scoring.agreement import claim_overlap, match_claims, matched_claims, overlap
from assay.kinds.answers.scoring.marks import Claim


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
