"""Budget curves: which measures make one, who reaches parity, and how every report shows it."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re
from importlib.resources import files

import msgspec
import pytest
from rich.console import Console

from assay.core.records import Verdict
from assay.core.results import Figure, Results
from assay.kinds.hierarchy.report.curves import CurvePanel, curves_of, panels_of
from assay.report.formats import JsonReport
from assay.report.html import HtmlReport
from assay.report.markdown import MarkdownReport
from assay.report.text import render_text
from assay.report.wording import figure_value
from budget_results import CURVE, CURVES, PARITY, Answerable, Area, budget_results, with_curves
from score_rows import Made


@pytest.fixture(scope="module")
def measured() -> Results:
    return budget_results(n=100)


def panel(results: Results) -> CurvePanel:
    (only,) = panels_of(results, CURVES[0])
    return only


def with_means(results: Results, means: dict[str, list[float]]) -> Results:
    """The same results with other means, by system in the order of budgets; intervals and figures gone."""
    names = CURVES[0].measures
    estimates = [
        msgspec.structs.replace(one, value=means[one.system][names.index(one.measure)], low=None, high=None)
        if one.measure in names
        else one
        for one in results.estimates
        if one.system in means
    ]
    return with_curves(dataclasses.replace(results, estimates=estimates, figures=[]))


def test_three_budgets_make_a_curve() -> None:
    (curve,) = curves_of([CURVE[4], CURVE[1], CURVE[0], Area(1200), Made(5)])
    assert (curve.name, curve.budgets, curve.measures) == ("A", [200, 400, None], ["A@200", "A@400", "A@inf"])
    assert curve.areas == ["AUC@1200"]
    assert curve.about == "Whether the context shows all that an answer needs."
    assert curves_of(CURVE[:2]) == []
    assert curves_of([Made(budget) for budget in (200, 400, 800)]) == []  # no tokens


def test_parity_is_read_off_the_means_where_no_figure_has_it(measured: Results) -> None:
    # the baseline ends at 0.70: 0.68 is enough
    means = {
        "bm25": [0.1, 0.2, 0.3, 0.679, 0.7],
        "hybrid": [0.3, 0.5, 0.68, 0.7, 0.7],
        "flat_strong": [0.4, 0.6, 0.67, 0.69, 0.70],
    }
    found = panel(with_means(measured, means))
    assert [line.reached for line in found.lines] == [">1200", "800", "1200"]
    assert (
        found.answer
        == "hybrid needs the fewest tokens, 800, to come within 0.02 of flat_strong's unbounded A"
    )
    level = panel(with_means(measured, {**means, "hybrid": means["flat_strong"]}))
    assert level.answer.startswith("hybrid and flat_strong need the fewest tokens, 1200,")
    never = panel(with_means(measured, {"flat_strong": [0.1, 0.2, 0.3, 0.4, 0.7]}))
    assert never.answer == (
        "no system comes within 0.02 of flat_strong's unbounded A with 1200 tokens or fewer"
    )


def test_a_figure_of_the_study_comes_before_the_means(measured: Results) -> None:
    figures = {one.arm: one for one in measured.figures}
    assert {one.unit for one in measured.figures} == {"tokens"}
    for line in panel(measured).lines:
        assert line.parity is figures[line.arm.name]
        assert line.reached == figure_value(figures[line.arm.name])


def test_a_curve_is_drawn_on_the_slice_of_its_figure() -> None:
    sliced = budget_results(n=60, figures={"parity": f"{PARITY} where feasible=yes"})
    found = panel(sliced)
    assert (found.where, found.lines[0].sample) == ("feasible=yes", "30")
    elsewhere = budget_results(n=60, figures={"parity": f"{PARITY} where feasible!=no"})
    assert panel(elsewhere).where == ""  # no means are known there
    assert panel(elsewhere).lines[0].reached == ">1200"


def test_without_a_baseline_a_system_is_compared_with_itself() -> None:
    alone = panel(budget_results(n=100, systems=["flat_strong"], figures={}))
    # 0.47, 0.64, 0.73, 0.755 (76 of 100), 0.77: within 0.02 of 0.77 is 0.75
    assert alone.answer == "flat_strong needs 1200 tokens to come within 0.02 of its own unbounded A"
    assert alone.target is None


def test_every_stage_has_its_panel() -> None:
    staged = budget_results(n=60, stages=("10k", "50k"))
    found = panels_of(staged, CURVES[0])
    assert [each.place for each in found] == ["stage=10k", "stage=50k"]
    assert [line.label for line in found[0].lines] == list(dict.fromkeys(staged.systems))
    assert found[1].lines[0].arm.name == "bm25[stage=50k]"
    page = HtmlReport().render(staged).decode()
    assert page.count('<figure class="chart lines-chart">') == 2
    assert "stage=50k: " in page


def test_a_curve_without_figures_is_no_error(measured: Results) -> None:
    nothing = dataclasses.replace(measured, estimates=[], comparisons=[], figures=[])
    assert panels_of(nothing, CURVES[0]) == []
    assert with_curves(nothing).sections == []
    blank = [msgspec.structs.replace(one, value=None, low=None, high=None) for one in measured.estimates]
    empty = with_curves(dataclasses.replace(measured, estimates=blank, figures=[]))
    assert panel(empty).answer == "A by token budget"
    assert b"polyline" not in HtmlReport().render(empty)


# ------------------------------------------------------------------------------------------ shown


def printed(results: Results) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    render_text(results, console)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_the_terminal_has_a_column_a_budget(measured: Results) -> None:
    text = printed(measured)
    assert max(map(len, text.splitlines())) <= 100
    assert re.search(r"^system +200 +400 +800$", text, re.MULTILINE)
    assert re.search(r"^flat_strong +0\.470 \[0\.\d+, 0\.\d+\] +0\.640 \[", text, re.MULTILINE)
    assert "Systems: mean" not in text  # everything stands in the curve's table
    assert re.search(r"^bm25 +>1200 \[>1200, >1200\] n 100$", text, re.MULTILINE)


def test_markdown_has_a_column_a_budget(measured: Results) -> None:
    text = MarkdownReport().render(measured).decode()
    assert "| system | 200 | 400 | 800 | 1200 | ∞ | AUC@1200 | parity, tokens | n |" in text
    assert "| figure | bm25 | dense | hybrid | hybrid\\_rerank | flat\\_strong |" in text
    assert "| A@200 | bm25 |" not in text


def test_the_page_folds_what_the_curve_shows(measured: Results) -> None:
    page = HtmlReport().render(measured).decode()
    assert page.count('<polyline class="course"') == page.count('<polygon class="band"') == 5
    assert page.count('<circle class="ring"') == sum(
        one.value is not None and math.isfinite(one.value) for one in measured.figures
    )
    folded = page.split('<details class="panel folded">')[1].split("</details>")[0]
    assert folded.count("<h3>A@") == 5
    assert "<h3>AUC@1200" not in folded
    assert '<th scope="col" class="figure">Parity, tokens</th>' in page
    read = dataclasses.replace(measured, verdicts=[Verdict("ship", "go", [], reads=["A@400"])])
    folded = (
        HtmlReport().render(read).decode().split('<details class="panel folded">')[1].split("</details>")[0]
    )
    assert re.findall(r"<h3>(A@\w+)", folded) == ["A@200", "A@800", "A@1200", "A@inf"]


def test_figures_fit_the_schema_and_infinity_is_null(measured: Results) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="validating needs jsonschema")
    schema = json.loads((files("assay") / "report/templates/results.schema.json").read_text())
    written = json.loads(JsonReport().render(measured))
    jsonschema.Draft202012Validator(schema).validate(written)
    first = written["figures"][0]
    assert (first["system"], first["value"], first["reason"]) == ("bm25", None, "above 1200")


def test_what_failed_or_is_missing_is_noted(measured: Results) -> None:
    gone = Figure("f", "dense", {}, "A@400({system})", reason="dense was not run")
    told = dataclasses.replace(measured, figures=[*measured.figures, gone])
    assert "f of dense: dense was not run" in printed(told)
    assert "f of dense: dense was not run" in MarkdownReport().render(told).decode()
    assert "dense was not run</span>" in HtmlReport().render(told).decode()


def test_names_are_escaped(measured: Results) -> None:
    figure = Figure("<b>&", None, {}, "max(A@400(<i>))", 0.5, 0.4, 0.6, 9)
    page = HtmlReport().render(dataclasses.replace(measured, figures=[figure])).decode()
    assert "&lt;b&gt;&amp;" in page
    assert "<i>)" not in page


def test_measures_under_budgets_have_names_that_parse() -> None:
    assert [measure.name for measure in CURVE] == ["A@200", "A@400", "A@800", "A@1200", "A@inf"]
    assert Answerable(400).at == "tokens"
