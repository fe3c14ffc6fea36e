"""How a sweep reads: the words, the page, the table."""

from __future__ import annotations

import io
import re
from typing import Any

import msgspec
import pytest
from rich.console import Console

from assay.core.records import Comparison, Estimate
from assay.core.results import MeasureInfo
from assay.core.sweep_results import Effect, Fold, Parameter, Setting, Sweep
from assay.report import sweep_wording as swept
from assay.report.sweep import render_page, render_sweep, sweep_frame
from assay.report.wording import LOWER_BOUND
from assay.stats.families import shown_direction

GRID = {"fuse.k": ["40", "60"], "chunk": ["tokens(size=200)", "tokens(size=300)"]}
NAMES = [f"fuse.k={k}, {chunk}" for k in GRID["fuse.k"] for chunk in GRID["chunk"]]
REFERENCE = NAMES[0]


def mean(name: str, value: float | None, n: int = 40, of: int = 40, **where: str) -> Estimate:
    counts = {"failed": of - n} if of > n else {}
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return Estimate(name, {}, "RR@10", where, value, low, high, n, of, counts=counts)


def apart(name: str, value: float | None, width: float, p: float, refused: str | None = None) -> Comparison:
    ends = (None, None) if value is None else (value - width, value + width)
    figures = (value, *ends, p, p, 0.1, 20, 10, 10, 40) if value is not None else (*[None] * 6, 0, 0, 0, 0)
    shown = shown_direction(*ends, upward=True) if ends[0] is not None and p < 0.05 else ""
    return Comparison(name, REFERENCE, {}, "RR@10", {}, *figures, refused=refused, shown=shown)  # type: ignore[arg-type]


def setting(place: int, value: float, difference: Comparison | None) -> Setting:
    name = NAMES[place]
    factors = {"fuse.k": GRID["fuse.k"][place // 2], "chunk": GRID["chunk"][place % 2]}
    slices = [mean(name, value, 30, 30, category="direct"), mean(name, 0.25, 4, 4, category="<dark>")]
    further = msgspec.structs.replace(mean(name, 0.75), measure="Success@3")
    return Setting(name, factors, not place, [mean(name, value), further], difference, slices, seconds=0.012)


def sweep(gain: float = 0.1, width: float = 0.05, p: float = 0.004, checked: float = 0.08) -> Sweep:
    best = apart(NAMES[3], gain, width, p)
    effects = [
        Effect("40", 2, True, mean("40", 0.4), None),
        Effect("60", 2, False, mean("60", 0.5), apart("60", 0.1, 0.05, 0.01)),
    ]
    return Sweep(
        study="demo",
        system="both",
        grid=GRID,
        measures=[
            MeasureInfo("RR@10", "higher", 0, 1, about="One over the rank."),
            MeasureInfo("Success@3", "higher", 0, 1),
        ],
        by="category",
        where={"language": ["en"]},
        items=40,
        settings=[
            setting(3, 0.5, best),
            setting(1, 0.4, apart(NAMES[1], 0.0, 0.1, 1.0)),
            setting(0, 0.4, None),
            setting(2, 0.3, apart(NAMES[2], None, 0, 0, "2 items not run yet")),
        ],
        parameters=[Parameter("fuse.k", effects)],
        folds=[
            Fold("A", "B", NAMES[3], apart(NAMES[3], 0.12, 0.07, 0.01), apart(NAMES[3], checked, 0.06, 0.03)),
            Fold("B", "A", REFERENCE, None, None),
        ],
        warnings=["three <items> failed"],
        report="sweep/sweep.html",
    )


def test_a_winner_that_holds_twice_is_a_better_setting() -> None:
    found = sweep()
    assert swept.outcome(found) == swept.BETTER
    assert swept.answer(found) == (
        "fuse.k=60, tokens(size=300) has the best RR@10 (0.500 [0.400, 0.600], n 40): "
        "+0.100 [+0.0500, +0.150] against fuse.k=40, tokens(size=200), "
        "which holds, corrected over 3 comparisons (p 0.004)."
    )
    assert swept.holding(found).endswith("corrected over the whole grid: 1 better for sure.")


@pytest.mark.parametrize(
    "found",
    [sweep(checked=0.01), sweep(p=0.2), sweep(gain=0.01)],
    ids=["not on the other half", "not corrected over the grid", "not in the interval"],
)
def test_a_winner_that_holds_once_is_no_clear_winner(found: Sweep) -> None:
    assert swept.outcome(found) == swept.OPEN


def test_the_sentence_of_a_half() -> None:
    first, second = (swept.fold_sentence(fold) for fold in sweep(checked=0.01).folds)
    assert first == (
        "fuse.k=60, tokens(size=300) is best on half A (+0.120); "
        "on half B it is +0.0100 [-0.0500, +0.0700]: not confirmed."
    )
    assert second == "On half B nothing beats fuse.k=40, tokens(size=200), the reference: nothing to confirm."
    assert swept.fold_sentence(sweep().folds[0]).endswith("[+0.0200, +0.140]: confirmed.")
    assert swept.optimism(sweep()) == (
        "On the items it was chosen on, the best setting differs from the reference by +0.120; "
        "on the others by +0.0800."
    )


def test_where_lower_is_better_less_is_an_improvement() -> None:
    less, more = (apart("x", value, 0.05, 0.01) for value in (-0.1, 0.1))
    assert not swept.is_better(less)
    assert swept.is_better(more)
    turned = msgspec.structs.replace(less, shown=shown_direction(-0.15, -0.05, upward=False))
    assert swept.is_better(turned)


def test_the_reference_may_be_the_best_and_nothing_may_be() -> None:
    found = sweep()
    settings = sorted(found.settings, key=lambda each: not each.reference)
    stays = Sweep(**{**fields(found), "settings": settings})
    assert swept.outcome(stays) == swept.STAYS
    assert "the reference, has the best RR@10" in swept.answer(stays)
    unranked = [msgspec.structs.replace(each, ranked=False) for each in found.settings]
    nothing = Sweep(**{**fields(found), "settings": unranked})
    assert swept.outcome(nothing) == swept.NONE
    assert swept.answer(nothing).startswith("RR@10 ranks no setting")


def fields(found: Sweep) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


def test_a_parameter_has_an_answer() -> None:
    parameter = sweep().parameters[0]
    assert swept.parameter_answer(parameter) == "60 better than 40"
    unclear = Parameter("fuse.k", [parameter.effects[0], Effect("60", 2, False, mean("60", 0.5), None)])
    assert swept.parameter_answer(unclear) == "no value clearly differs from 40"


# ----------------------------------------------------------------------------------------- page


def test_the_page_has_everything_and_loads_nothing() -> None:
    page = render_page(sweep()).decode()
    text = re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", "", page, flags=re.DOTALL))
    for words in (
        "A better setting",
        "Half A: fuse.k=60",
        "not compared: 2 items not run yet",
        "60 better than 40",
    ):
        assert words in text
    assert "&lt;dark&gt;" in page
    assert "<dark>" not in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "default-src &#39;none&#39;" in page


def test_small_cells_are_faded_and_say_how_small() -> None:
    page = render_page(sweep()).decode()
    assert len(re.findall(r'class="figure few"[^>]*><b>0.250</b> <span class="n">n 4</span>', page)) == 4
    shades = re.findall(r'class="figure (h\d)"[^>]*><b>(0\.\d+)</b>', page)
    # of 30 items each: 0.5 the best, 0.3 the worst of the four
    assert {value: shade for shade, value in shades} == {"0.500": "h6", "0.400": "h3", "0.300": "h0"}


def test_the_page_of_settings_that_are_not_ranked_can_still_be_drawn() -> None:
    found = sweep()
    empty = [
        msgspec.structs.replace(
            each, ranked=False, estimates=[mean(each.name, None, 0)], slices=[], difference=None
        )
        for each in found.settings
    ]
    given = {
        **fields(found),
        "settings": empty,
        "parameters": [],
        "by": None,
        "broken": "x[k=1] could not be opened",
    }
    given["folds"] = [Fold("A", "B", None, None, None), Fold("B", "A", None, None, None)]
    bare = Sweep(**given)
    page = render_page(bare).decode()
    assert "Nothing can be ranked yet" in page
    assert "could not be opened" in page


# --------------------------------------------------------------------------------- text, table


def printed(found: Sweep) -> str:
    out = io.StringIO()
    render_sweep(found, Console(file=out, width=100, highlight=False))
    return out.getvalue()


def test_the_terminal_ends_with_the_answer() -> None:
    lines = printed(sweep()).splitlines()
    assert lines[0] == "both: 4 settings of fuse.k, chunk; 40 items where language=en; ranked by RR@10"
    assert lines[-1] == "A better setting  report: sweep/sweep.html"
    assert "has the best RR@10" in lines[-2]
    assert all(len(line) <= 100 for line in lines[: lines.index("warning: three <items> failed")])


def test_the_terminal_numbers_settings_and_marks_small_cells() -> None:
    text = printed(sweep())
    assert re.search(r"^1  fuse.k=60, tokens\(size=300\) .*0\.500 \[0\.400, 0\.600\]", text, re.MULTILINE)
    assert "\n4: not compared: 2 items not run yet\n" in text
    assert re.search(r"^ *1 +0\.500 n 30 +0\.250\* n 4$", text, re.MULTILINE)


def test_the_terminal_and_the_page_say_what_is_a_lower_bound() -> None:
    found = sweep()
    assert "≥" not in printed(found) + render_page(found).decode()
    measures = [msgspec.structs.replace(each, lower_bound=True) for each in found.measures]
    bounded = Sweep(**{**fields(found), "measures": measures})
    text, page = printed(bounded), render_page(bounded).decode()
    assert text.count(LOWER_BOUND) == page.count(LOWER_BOUND) == 1
    assert re.search(r"^1  fuse.k=60, tokens\(size=300\) .*≥ 0\.500 \[0\.400, 0\.600\]", text, re.MULTILINE)
    assert re.search(r"^1 +≥ 0\.750 +0\.0120$", text, re.MULTILINE)  # Success@3, p50
    assert re.search(r"^ *1 +≥ 0\.500 n 30 +≥ 0\.250\* n 4$", text, re.MULTILINE)
    assert '[95 %]">≥ 0.500 [0.400, 0.600]</td>' in page


def test_values_to_which_the_measure_applies_nowhere_are_left_out() -> None:
    found = sweep()
    settings = [
        msgspec.structs.replace(
            each, slices=[*each.slices, mean(each.name, None, 0, 0, category="adversarial")]
        )
        for each in found.settings
    ]
    wider = Sweep(**{**fields(found), "settings": settings})
    assert printed(wider) == printed(found)
    assert render_page(wider) == render_page(found)
    one = msgspec.structs.replace(settings[1], slices=found.settings[1].slices[:1] * 3)
    assert len(swept.applying(Sweep(**{**fields(found), "settings": [settings[0], one]}))) == 3


def test_the_table_has_a_row_a_setting() -> None:
    table = sweep_frame(sweep())
    assert table.columns[:4] == ["fuse.k", "chunk", "reference", "RR@10"]
    assert table["RR@10"].to_list() == [0.5, 0.4, 0.4, 0.3]
    assert table["difference"].to_list() == [0.1, 0.0, None, None]
    assert table["holds"].to_list() == [True, False, None, False]
    assert table["seconds p50"].to_list() == [0.012] * 4


def test_json_is_versioned() -> None:
    found = sweep().as_json()
    assert (found["schema"], found["measure"], found["reference"]) == ("assay/sweep/1", "RR@10", REFERENCE)
    assert [each["name"] for each in found["settings"]] == [NAMES[3], NAMES[1], NAMES[0], NAMES[2]]
    msgspec.json.encode(found)
