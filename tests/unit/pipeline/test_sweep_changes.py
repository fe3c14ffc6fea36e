"""How changes to a system read: the words, the page, the terminal, the table."""

from __future__ import annotations

import dataclasses
import io
import re
from typing import Any

import msgspec
import pytest
from rich.console import Console

from assay.core.records import Comparison, Estimate
from assay.core.results import MeasureInfo
from assay.core.sweep_results import Setting, Sweep
from assay.report import sweep_wording as changed
from assay.report.sweep import render_page, render_sweep, sweep_frame
from assay.stats.families import shown_direction

HIGHER, LOWER = MeasureInfo("A@400", "higher", 0, 1), MeasureInfo("A@400", "lower", 0, 1)
CHANGES = {
    "no <links>": {"links": "null"},
    "deeper": {"depth": "200", "fuse.k": "40"},
    "beam only": {"path": "beam"},
    "less shown": {"show": "5"},
    "unfinished": {"path": "collapsed"},
}


def apart(
    name: str, value: float | None, low: float = 0, high: float = 0, p: float = 1.0, *, upward: bool = True
) -> Comparison:
    about: Any = (name, "race", {}, "A@400", {})
    if value is None:
        return Comparison(*about, *(None,) * 6, 0, 0, 0, 0, refused="3 items not run yet")
    mde, shown = (0.05, "") if p >= 0.05 else (None, shown_direction(low, high, upward=upward))
    return Comparison(*about, value, low, high, p, p, 0.1, 3, 35, 12, 50, mde=mde, shown=shown)


FOUND = {
    "no <links>": apart("no <links>", -0.12, -0.2, -0.04, 0.01),
    "deeper": apart("deeper", 0.06, 0.02, 0.1, 0.02),
    "beam only": apart("beam only", -0.02, -0.05, 0.01),
    "less shown": apart("less shown", -0.04, -0.07, -0.01, 0.09),
    "unfinished": apart("unfinished", None),
}


def sweep(found: dict[str, Comparison] | None = None, measure: MeasureInfo = HIGHER) -> Sweep:
    found = FOUND if found is None else found
    settings = [
        Setting(
            name,
            CHANGES.get(name, {}),
            name == "race",
            [Estimate(name, {}, "A@400", {}, 0.5, 0.4, 0.6, 50, 50)],
            found.get(name),
            [],
            seconds=0.012,
        )
        for name in ("race", *found)
    ]
    changes = {name: CHANGES[name] for name in found}
    about: Any = (
        "demo",
        "race",
        {},
        [measure],
        None,
        {"feasible": ["yes"]},
        50,
        settings,
        [],
        [],
        ["one <failed>"],
    )
    return Sweep(*about, report="sweep/sweep.html", changes=changes)


def test_what_loses_gains_and_is_not_shown_to_matter() -> None:
    found = sweep()
    assert changed.change_title(found) == "2 of 5 changes matter"
    assert changed.change_answer(found) == (
        "Against race as it is, corrected over 5 changes: "
        "no <links> (-0.120) loses; deeper (+0.0600) gains. "
        "Only before correction an interval leaves 0 out: less shown (-0.0400). "
        "Not shown to matter: beam only; a difference of 0.0500 would have been found, four times in five. "
        "Not compared: unfinished."
    )
    assert [changed.change_words(each) for each in found.settings] == [
        "as it is",
        "loses",
        "gains",
        "not shown to matter; could detect 0.0500",
        "not shown to matter: the interval leaves 0 out, but not after correction",
        "not compared",
    ]


def test_where_lower_is_better_less_is_a_gain() -> None:
    assert "no <links> (-0.120) gains" not in changed.change_answer(sweep())
    worse = apart("deeper", 0.06, 0.02, 0.1, 0.02, upward=False)
    better = apart("no <links>", -0.12, -0.2, -0.04, 0.01, upward=False)
    lower = changed.change_answer(sweep({"deeper": worse, "no <links>": better}, LOWER))
    assert "deeper (+0.0600) loses; no <links> (-0.120) gains." in lower


@pytest.mark.parametrize(
    ("kept", "title", "answer"),
    [
        (["beam only"], "No change is shown to matter", "over 1 change: none loses or gains. Not shown"),
        (
            ["unfinished"],
            "Nothing can be compared yet",
            "No change is compared with race (not compared: 3 items",
        ),
        (["no <links>"], "1 of 1 change matters", "no <links> (-0.120) loses."),
    ],
)
def test_the_title_says_what_it_comes_to(kept: list[str], title: str, answer: str) -> None:
    found = sweep({name: FOUND[name] for name in kept})
    assert changed.change_title(found) == title
    assert answer in changed.change_answer(found)
    assert title in render_page(found).decode()


def test_several_that_lose_are_named_together() -> None:
    two = {"no <links>": FOUND["no <links>"], "beam only": apart("beam only", -0.3, -0.4, -0.2, 0.001)}
    assert "no <links> (-0.120) and beam only (-0.300) lose." in changed.change_answer(sweep(two))


def test_the_page_draws_differences_around_zero_in_the_order_written() -> None:
    page = render_page(sweep()).decode()
    table = page[page.index('<table class="systems changed">') : page.index("</table>")]
    names = re.findall(r'<span class="name [^"]*">([^<]*)</span>', table)
    assert names == ["race", "no &lt;links&gt;", "deeper", "beam only", "less shown", "unfinished"]
    dots = [float(each) for each in re.findall(r'class="dot" cx="([\d.]+)%"', table)]
    # from -0.2 to 0.1, and 6 % of 0.3 at each end: -0.218 to 0.118 over 92 % of the width, from 4 % on
    shares = [(value + 0.218) / 0.336 for value in (0, -0.12, 0.06, -0.02, -0.04)]
    assert dots == pytest.approx([4 + 92 * share for share in shares], abs=0.01)
    zero = re.findall(r'class="zero" x1="([\d.]+)%"', table)
    assert [float(each) for each in zero] == [dots[0]] * 5  # the one that is not compared has no picture
    assert "depth=200, fuse.k=40" in table
    assert "3 / 35 / 12" in table
    assert "<links>" not in page
    assert "<failed>" not in page
    assert "#halves" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)


def test_the_terminal_ends_with_the_answer() -> None:
    out = io.StringIO()
    render_sweep(sweep(), Console(file=out, width=100, highlight=False))
    lines = out.getvalue().splitlines()
    assert lines[0] == "race: 5 changes, one at a time; 50 items where feasible=yes; measured by A@400"
    assert re.match(r"1  race +0\.500 \[0\.400, 0\.600\] +as it is *$", lines[3])
    assert re.match(r"2  no <links> .* -0\.120 \[-0\.200, -0\.0400\] +0\.010 +3/35/12$", lines[4])
    assert lines[-1] == "2 of 5 changes matter  report: sweep/sweep.html"
    assert lines[-2].startswith("Against race as it is")


def test_the_table_and_json_have_every_change() -> None:
    table = sweep_frame(sweep())
    assert table.columns[:4] == ["change", "sets", "reference", "A@400"]
    assert table["sets"].to_list()[:3] == ["", "links=null", "depth=200, fuse.k=40"]
    assert table["losses"].to_list() == [None, 12, 12, 12, 12, 0]
    found = sweep().as_json()
    assert (found["reference"], found["grid"], found["changes"]) == ("race", {}, CHANGES)
    assert [each["name"] for each in found["settings"]] == ["race", *CHANGES]
    msgspec.json.encode(found)


def test_a_page_without_any_figure_can_still_be_drawn() -> None:
    found = sweep({"unfinished": FOUND["unfinished"]})
    empty = [
        msgspec.structs.replace(
            each, estimates=[Estimate(each.name, {}, "A@400", {}, None, None, None, 0, 50)]
        )
        for each in found.settings
    ]
    page = render_page(dataclasses.replace(found, settings=empty, broken="it could not be opened")).decode()
    assert "it could not be opened" in page
