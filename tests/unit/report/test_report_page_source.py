"""The page's data, pictures and source, without a browser."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.results import ItemView, Results
from assay.report.charts import Axis, axis_over, margin, scale, shape, style_of, whisker
from assay.report.html import MOST, HtmlReport
from assay.report.items import item_data, score_grid, script_safe, snippet
from assay.report.wording import LOWER_BOUND
from fake_results import build_results


@given(st.text(max_size=60) | st.sampled_from(["</script>", "<!--", "]]>", "\u2028", "&lt;"]))
def test_data_cannot_leave_its_script_element(text: str) -> None:
    safe = script_safe({"text": text})
    assert not set("<>&\u2028\u2029") & set(safe)
    assert json.loads(safe) == {"text": text}


def test_a_snippet_is_cut_around_what_was_expected() -> None:
    text = " ".join(f"w{number}" for number in range(200))  # w0 … w199: far longer than 60 characters
    cut, mark = snippet(text, 60, ["w120 w121"])
    assert cut[slice(*mark)] == "w120 w121"
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(cut) <= 62
    assert snippet("short text", 60, ["text"]) == ("short text", [6, 10])
    assert snippet("short text", 60, ["short text"]) == ("short text", [])  # the whole: nothing to point at
    assert snippet("short text", 0, ["text"]) == ("", [])


@given(st.text(max_size=300), st.text(min_size=1, max_size=40).filter(str.strip), st.integers(1, 80))
def test_a_mark_points_at_the_needle(text: str, needle: str, limit: int) -> None:
    needle = " ".join(needle.split())
    cut, mark = snippet(f"{text} {needle} {text}", limit, [needle])
    if mark:
        assert cut[slice(*mark)] == needle[:limit]
        assert len(cut) <= limit + 2


def test_every_text_is_stored_once(results: Results) -> None:
    data, limit = item_data(results, score_grid(results), MOST)
    loaded = json.loads(data)
    assert limit == 240
    assert len({tuple(pair) for pair in loaded["pool"]}) == len(loaded["pool"])
    assert len(loaded["items"]) == 500
    hit = loaded["items"][0][5][0][0]
    view = results.items[0].returned["bm25"][0]
    assert loaded["pool"][hit[0]][0] == view.doc_id
    assert hit[1:3] == [view.score, view.grade]


def test_snippets_shrink_where_texts_would_outgrow_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    results = build_results(n=40)
    whole, _ = item_data(results, {}, MOST)
    smaller, limit = item_data(results, {}, len(whole) - 1)
    assert limit == 200
    assert len(smaller) < len(whole)
    assert item_data(results, {}, 0)[1] == 0
    # The item table has the room that everything else leaves, however much that is.
    page = HtmlReport().render(results)
    assert b"Texts are cut at 240 characters" in page
    monkeypatch.setattr("assay.report.html.MOST", len(page) - 1)
    cut = HtmlReport().render(results)
    assert b"Texts are cut at 240 characters" not in cut
    assert len(cut) < len(page)


def test_the_same_hits_are_stored_once_and_a_score_is_a_bare_number() -> None:
    made = build_results(n=12)
    first, *rest = made.items
    both = {
        "bm25": first.returned["bm25"],
        "dense": first.returned["dense"],
        "hybrid": first.returned["bm25"],
    }
    items = [msgspec.structs.replace(first, returned=both, enough=(1, 2)), *rest]
    results = dataclasses.replace(made, items=items)
    item = json.loads(item_data(results, score_grid(results), MOST)[0])["items"][0]
    assert item[5][2] == 0  # as bm25
    assert len(item[5][1]) == 10
    assert item[7][0][0] == results.scores.filter(item="q0000", system="bm25", measure="nDCG@10")["value"][0]
    assert item[7][0][3] == [None, item[7][1][3][1]]  # Abstain does not apply
    assert item[9] == "any 1 of 2"


def test_no_two_of_many_systems_look_alike(results: Results) -> None:
    many = dataclasses.replace(results, systems=[f"s{n}" for n in range(32)], baseline=None)
    styles = [style_of(many, name) for name in many.systems]
    assert len(set(styles)) == 32
    assert [styles[7], styles[8], styles[16]] == ["s7", "s0 m1", "s0 m2"]
    drawn = [str(whisker(Axis(0, 1), (0.5, 0.4, 0.6), style, "x")) for style in styles]
    assert "<circle" in drawn[0]
    assert len({each.replace(style, "") for each, style in zip(drawn[::8], styles[::8], strict=True)}) == 4


def test_a_system_keeps_its_colour_in_all_its_arms(results: Results) -> None:
    assert [style_of(results, name) for name in ("bm25", "dense", "hybrid[stage=50k]")] == [
        "s0 base",
        "s1",
        "s2",
    ]


def test_an_axis_covers_its_values_and_ticks_are_round() -> None:
    axis = axis_over([0.5, 0.475, None, 0.576])
    assert axis is not None
    assert axis.low < 0.475
    assert axis.high > 0.576
    assert axis.ticks == [0.5, 0.55]  # 0.469 … 0.582: a quarter is 0.028, the next round step 0.05
    assert axis_over([None, float("nan")]) is None
    assert Axis(0, 1).at(0.5) == 50  # 4 + 0.5 · 92
    assert (Axis(0, 1).at(-3), Axis(0, 1).at(3)) == (4, 96)  # outside stands at the edge


@given(
    st.lists(
        st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-6), min_size=1, max_size=6
    )
)
def test_ticks_are_few_and_inside(values: list[float]) -> None:
    axis = axis_over(values)
    assert axis is not None
    assert 1 <= len(axis.ticks) <= 5
    slack = (axis.high - axis.low) * 1e-6
    assert all(axis.low - slack <= tick <= axis.high + slack for tick in axis.ticks)


def test_figures_of_ticks_never_touch() -> None:
    # 3 signs on -0.02 … 0.62: 0.2 / 0.64 · 92 % of 110 pixels = 31.6 apart, (3 + 0.6) · 6.5 = 23.4 wide.
    assert re.findall(r">([\d.-]+)<", scale(Axis(-0.02, 0.62))) == ["0", "0.2", "0.4", "0.6"]
    # 5 signs on 0.0338 … 0.0406: 0.002 / 0.0068 · 101.2 = 29.8 apart, 36.4 wide: every second.
    assert Axis(0.0338, 0.0406).ticks == [0.034, 0.036, 0.038, 0.04]
    assert re.findall(r">([\d.-]+)<", scale(Axis(0.0338, 0.0406))) == ["0.034", "0.038"]
    # -0.05, 0, 0.05, 0.1 on -0.06 … 0.11: 29.8 apart, 36.4 wide; of every second, those with zero.
    assert re.findall(r">([\d.-]+)<", scale(Axis(-0.06, 0.11))) == ["0", "0.1"]


def test_pictures_escape_their_titles() -> None:
    drawn = whisker(Axis(0, 1), (0.5, 0.4, 0.6), "s0", '"><script>x</script>')
    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn
    assert "0.500 [0.400, 0.600]" in drawn
    assert "<text" in scale(Axis(0, 1))


def test_the_shaded_side_is_the_one_that_may_ship() -> None:
    # Margin 0.1 [-0.1, 0.3]: the axis runs -0.124 … 0.324, zero stands at 4 + 92 · 0.124 / 0.448 = 29.46 %.
    assert 'class="zone" x="29.46%" width="70.54%"' in margin((0.1, -0.1, 0.3), True, "go")
    assert 'class="zone" x="0.00%" width="29.46%"' in margin((0.1, -0.1, 0.3), False, "no-go")


def test_verdicts_differ_by_shape() -> None:
    drawings = {
        re.sub('class="shape [^"]*"', "", shape(outcome)) for outcome in ("go", "no-go", "inconclusive", None)
    }
    assert len(drawings) == 4


def test_the_policy_admits_only_our_own_style_and_script(results: Results) -> None:
    page = HtmlReport().render(results).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    rules = policy[1].replace("&#39;", "'")
    assert rules.startswith("default-src 'none'")
    assert "unsafe" not in rules
    for tag in ("style", "script"):
        source = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert source is not None
        digest = base64.b64encode(hashlib.sha256(source[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules


def test_the_page_names_nothing_outside_itself(results: Results) -> None:
    page = HtmlReport().render(results).decode()
    assert not re.search(r"""(?:src|href|action)\s*=\s*["'](?!#)|@import|url\(|https?://""", page)
    assert len(page.encode()) < 2_000_000


def test_sections_stand_in_order_and_empty_ones_say_what_to_do(results: Results, bare: Results) -> None:
    order = ["verdict", "systems", "slices", "changes", "items", "controls", "trust"]
    for one in (results, bare):
        page = HtmlReport().render(one).decode()
        wanted = order if one.verdicts else [each for each in order if each != "controls"]
        assert re.findall(r'<(?:section|header)[^>]* id="(\w+)"', page) == wanted
    assert page.count('class="empty"') == 3
    assert "No verdict" in page


def test_one_system_has_no_columns_for_comparisons(results: Results) -> None:
    def heads(page: str) -> list[str]:
        row = re.search(r'<table class="systems.*?<tr>(.*?)</tr>', page, re.DOTALL)
        assert row is not None
        return re.findall(r">([^<>]*\S)</(?:th|abbr)>", re.sub("<svg.*?</svg>", "", row[1]))

    pair = ["Difference [95 %]", "p adj.", "Wilcoxon p", "Win / tie / loss"]
    assert heads(HtmlReport().render(results).decode()) == ["System", "Mean [95 %]", "n", *pair, "Note"]
    alone = dataclasses.replace(
        results,
        systems=["dense"],
        arms=["dense"],
        baseline=None,
        estimates=[one for one in results.estimates if one.system == "dense"],
        comparisons=[],
    )
    page = HtmlReport().render(alone).decode()
    assert heads(page) == ["System", "Mean [95 %]", "n", "Note"]
    assert '<table class="systems uncompared">' in page
    assert "Difference" not in page.split('id="slices"')[0].split('id="systems"')[1]


def test_lower_bounds_are_marked_and_explained_once(results: Results) -> None:
    assert "≥" not in HtmlReport().render(results).decode()
    page = HtmlReport().render(bounded(results, "nDCG@10")).decode()
    assert page.count(LOWER_BOUND) == 1
    assert '[95 %]">≥ 0.498 [0.475, 0.521]</td>' in page
    assert page.count(">≥ ") == 3 + 3 * len({tag for item in results.items for tag in slices(item)})


def bounded(results: Results, name: str) -> Results:
    measures = [msgspec.structs.replace(each, lower_bound=each.name == name) for each in results.measures]
    return dataclasses.replace(results, measures=measures)


def slices(item: ItemView) -> list[tuple[str, str]]:
    return [(tag, value) for tag, values in item.tags.items() for value in values]


def test_small_slices_are_faded(results: Results) -> None:
    page = HtmlReport().render(results).decode()
    rare = re.search(r'<th scope="row">edge case</th>(.*?)</tr>', page, re.DOTALL)
    assert rare is not None
    assert rare[1].count('class="few"') == 3
    assert rare[1].count("n 5<") == 3
