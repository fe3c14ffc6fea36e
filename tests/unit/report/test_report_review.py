"""How a review reads: what people found, how far they are, what each result turned out to be."""

from __future__ import annotations

import dataclasses
import json
import re

import msgspec
import pytest

from assay.core.results import RankedResult, Results, ReviewSummary
from assay.report import tables as reviewed
from assay.report.charts import stacked
from assay.report.html import MOST, HtmlReport
from assay.report.items import item_data


def summary(results: Results) -> ReviewSummary:
    assert results.review is not None
    return results.review


def test_marks_are_counted_over_all_items_that_want_a_review(half_reviewed: Results) -> None:
    marks = {one.arm: one for one in reviewed.marks_by_arm(half_reviewed, summary(half_reviewed))}
    # four results of two items: of bm25 one is open, of the others none
    assert marks["bm25"].counts == {"keyword": 4, "semantic": 0, "false positive": 3, "open": 1}
    assert marks["dense"].counts == {"keyword": 0, "semantic": 6, "false positive": 2, "open": 0}
    assert marks["hybrid"].share("semantic") == 2 / 8


def marks(arm: str, *counts: int) -> reviewed.MarkCounts:
    return reviewed.MarkCounts(arm, dict(zip(reviewed.ABOUT, counts, strict=True)))


@pytest.mark.parametrize(
    ("found", "title"),
    [
        (
            [marks("a", 80, 8, 12, 0), marks("b", 70, 12, 18, 0)],
            "b finds 12 of 100 results that keywords miss, a 8",
        ),
        ([marks("a", 1, 1, 0, 2)], "so far, a finds 1 of 4 results that keywords miss"),
        (
            [marks("a", 0, 1, 1, 0), marks("b", 0, 1, 9, 0)],
            "a finds 1 of 2 results that keywords miss, b 1 of 10",
        ),
        ([marks("a", 3, 0, 0, 7)], "What keywords miss is not known yet"),
        ([marks("a", 3, 0, 0, 0)], "Keywords recognise every result"),
    ],
)
def test_the_title_is_the_answer(found: list[reviewed.MarkCounts], title: str) -> None:
    assert reviewed.lift_answer(found) == title


def test_a_result_is_open_only_as_deep_as_people_look(half_reviewed: Results) -> None:
    review = summary(half_reviewed)  # four deep
    hit = RankedResult("d", 1.0, None)
    assert reviewed.mark_word(review, hit, 3, wanted=True) == "open"
    assert reviewed.mark_word(review, hit, 4, wanted=True) is None
    assert reviewed.mark_word(review, hit, 0, wanted=False) is None
    assert reviewed.mark_word(None, hit, 0, wanted=True) is None
    judged = msgspec.structs.replace(hit, mark="FALSE_POSITIVE")
    assert reviewed.mark_word(review, judged, 0, wanted=True) == "false positive"


def test_a_review_says_in_words_whether_it_is_partial(half_reviewed: Results) -> None:
    review = summary(half_reviewed)
    assert reviewed.progress(review).startswith("Partial: 1 of 2 items judged for every system")
    assert "over the 1 item judged" in reviewed.basis(review)
    whole = msgspec.structs.replace(review, complete=["q0000", "q0001"], open=0)
    assert reviewed.progress(whole).startswith("Complete: 2 of 2 items")
    none = msgspec.structs.replace(review, complete=[], estimates=[], comparisons=[])
    assert "there is none yet" in reviewed.basis(none)
    started = dataclasses.replace(half_reviewed, review=none)
    rate = reviewed.review_rates(started, none)["SemanticLift@4"][0]
    assert (rate.mean, rate.n, rate.bounds) == ("n/a", "0", "0 to 0.125")


def test_a_bar_has_a_part_for_each_share_end_to_end() -> None:
    bar = stacked([("keyword", 0.25, "a: 1"), ("semantic", 0.0, "none"), ("open", 0.75, "<b>")], "s1")
    assert re.findall(r'class="part (\w+)" x="([\d.]+)%" width="([\d.]+)%"', bar) == [
        ("keyword", "0.00", "25.00"),
        ("open", "25.00", "75.00"),
    ]
    assert "<b>" not in bar


def test_hits_carry_their_mark_and_reasons_are_stored_once(half_reviewed: Results) -> None:
    data = json.loads(item_data(half_reviewed, {}, MOST)[0])
    assert data["reasons"] == ["signals: roster"]
    second = data["items"][1][5]  # hits by system; bm25's fourth is open, and the fifth beyond the depth
    assert [hit[4:6] for hit in second[0][:4]] == [
        ["keyword", 0],
        ["keyword", 0],
        ["false positive", 0],
        ["open"],
    ]
    assert all(len(hit) <= 4 for hit in second[0][4:])
    assert all(len(hit) <= 4 for hits in data["items"][2][5] for hit in hits)


def test_the_page_has_a_review_only_where_there_is_one(half_reviewed: Results, results: Results) -> None:
    page = HtmlReport().render(half_reviewed).decode()
    order = ["verdict", "review", "systems", "slices", "changes", "items", "controls", "trust"]
    assert re.findall(r'<(?:section|header)[^>]* id="(\w+)"', page) == order
    assert "Recommendation: review first</h1>" in page
    assert "<b>No-go.</b> The verdict can still be go or no-go: 1 passage to judge.</p>" in page
    assert "<h3>So far, dense finds 6 of 8 results that keywords miss, hybrid 2, bm25 0</h3>" in page
    assert "<b>≥ " in page
    plain = HtmlReport().render(results).decode()
    assert "#review" not in plain
    assert "≥" not in plain
