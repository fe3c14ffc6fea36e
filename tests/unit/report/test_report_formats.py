"""JSON, JUnit, Parquet, Markdown and the terminal."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import polars as pl
import pytest
from rich.console import Console

from assay.core.registry import RENDERERS, Registry
from assay.core.results import BaselineChanges, ItemChange, MeasureInfo, Results
from assay.report.formats import JsonReport, JunitReport, ParquetReport
from assay.report.github import GitHubComment
from assay.report.html import HtmlReport
from assay.report.markdown import MarkdownReport, code, escaped
from assay.report.text import render_text
from assay.report.wording import LOWER_BOUND
from fake_results import build_results

RENDERED = [HtmlReport(), JsonReport(), JunitReport(), MarkdownReport(), ParquetReport()]


@pytest.mark.parametrize("renderer", RENDERED, ids=lambda one: type(one).__name__)
def test_a_renderer_is_found_by_name_and_is_a_pure_function(renderer: Any, bare: Results) -> None:
    name = type(renderer).__name__.removesuffix("Report").removesuffix("Comment").lower()
    assert Registry().create(RENDERERS, name) == renderer
    assert renderer.suffix.startswith(".")
    assert renderer.render(bare) == renderer.render(bare)


# -------------------------------------------------------------------------------------- json


def strict(text: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_matches_its_schema(results: Results, bare: Results) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="validating needs jsonschema")
    schema = json.loads((files("assay") / "report/templates/results.schema.json").read_text())
    checker = jsonschema.Draft202012Validator(schema)
    checker.check_schema(schema)
    for one in (results, bare):
        checker.validate(strict(JsonReport().render(one)))
    broken = strict(JsonReport().render(results))
    broken["verdicts"][0]["verdict"] = "maybe"
    assert not checker.is_valid(broken)


def test_json_has_no_nan(results: Results) -> None:
    holed = results.scores.with_columns(value=pl.lit(float("nan")))
    loaded = strict(JsonReport().render(dataclasses.replace(results, scores=holed)))
    assert {row["value"] for row in loaded["scores"]} == {None}
    assert loaded["schema"] == "assay/results/2"


# ------------------------------------------------------------------------------------- junit


def test_junit_has_a_suite_a_gate_and_a_case_a_clause(results: Results) -> None:
    root = ET.fromstring(JunitReport().render(results))  # noqa: S314 (our own)
    totals = [root.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert totals == ["8", "3", "1", "1"]  # five clauses and three verdicts, one of each
    outcomes = {
        case.get("name"): next((child.tag for child in case if child.tag != "system-out"), "passed")
        for case in root.iter("testcase")
        if case.get("name") != "verdict"
    }
    assert sorted(case.get("type", "") for tag in ("failure", "error") for case in root.iter(tag))[:2] == [
        "fails",
        "inconclusive",
    ]
    assert outcomes == {
        "nDCG@10(hybrid) >= nDCG@10(bm25) + 0.02": "passed",
        "R@10(hybrid) >= 0.55": "passed",
        "Seconds(hybrid) > 2 * Seconds(bm25)": "failure",  # a kill that holds
        "nDCG@10(dense) >= nDCG@10(bm25) + 0.01 where language=de|ja": "skipped",
        "Success@3(dense) >= 0.60": "failure",
    }
    skipped = next(root.iter("skipped")).get("message", "")
    assert skipped.startswith("inconclusive: the interval includes a loss; with 220 more items")


def test_junit_stays_xml_whatever_the_text() -> None:
    root = ET.fromstring(JunitReport().render(build_results(n=12, plant="<&\"'\x00\x0b\ufffe]]>é")))  # noqa: S314
    assert root.get("name") == "support search<&\"']]>é"


# ----------------------------------------------------------------------------------- parquet


def test_parquet_holds_every_score(results: Results) -> None:
    back = pl.read_parquet(io.BytesIO(ParquetReport().render(results)))
    assert back.height == 500 * 3 * 5
    assert back.equals(results.scores)


def test_parquet_keeps_factors_and_drops_nan(results: Results) -> None:
    scores = results.scores.head(2).with_columns(
        factors=pl.lit('{"stage":"50k"}'), value=pl.Series([float("nan"), 0.5])
    )
    back = pl.read_parquet(io.BytesIO(ParquetReport().render(dataclasses.replace(results, scores=scores))))
    assert back["factors"].to_list() == ['{"stage":"50k"}'] * 2
    assert back["value"].to_list() == [None, 0.5]


# ---------------------------------------------------------------------------------- markdown


def test_markdown_answers_first(results: Results) -> None:
    text = MarkdownReport().render(results).decode()
    assert text.startswith("# support search: No-go\n\nSeconds(hybrid) is 0.0684")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sections == [
        "quality: Go",
        "latency: No-go",
        "dense only: Inconclusive",
        "Systems",
        "Slices",
        "What changed",
        "Controls",
        "Trust",
    ]
    assert "| Abstain | bm25 | n/a | 0 | 500 not applicable |" in text


def test_markdown_lists_the_worst_twenty_of_each_arm(results: Results) -> None:
    text = MarkdownReport().render(results).decode()
    blocks = text.split("**dense against bm25 on nDCG@10**")[1].split("**hybrid against")
    assert [len(re.findall(r"^\| q\d+", block, re.MULTILINE)) for block in blocks] == [20, 20]


def cells(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row)) - 1


def test_markdown_tables_keep_their_shape_whatever_the_text() -> None:
    text = (
        MarkdownReport()
        .render(build_results(n=40, plant=" | `x` ``y`` \n # <b> \\| [a](javascript:b)"))
        .decode()
    )
    for block in text.split("\n\n"):
        rows = block.splitlines()
        if rows[0].startswith("| "):
            assert {cells(row) for row in rows} == {cells(rows[0])}
    assert not re.search(r"(?<!\\)<b>", re.sub(r"(`+).*?\1", "", text))
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]\(", re.sub(r"(`+).*?\1", "", text))


def test_markdown_escapes_by_hand() -> None:
    assert escaped("a|b `c` *d*\n#e") == r"a\|b \`c\` \*d\* \#e"
    assert code("a = b|c") == r"`a = b\|c`"
    assert code("a `b` c|d") == r"a \`b\` c\|d"
    assert code(r"a\|b") == r"a\\\|b"
    assert code("") == ""


# ---------------------------------------------------------------------------------- terminal


def printed(results: Results, **console: Any) -> str:
    stream = io.StringIO()
    render_text(results, Console(file=stream, **console))
    return stream.getvalue()


def test_the_last_line_is_the_verdict_and_the_path(results: Results) -> None:
    lines = printed(results).splitlines()
    assert lines[-1] == "No-go  report: runs/latest/report.html"
    assert lines[-2].startswith("Seconds(hybrid) is 0.0684")


def test_tables_fit_a_hundred_columns_and_are_plain(results: Results) -> None:
    text = printed(results)
    table = [line for line in text.splitlines() if not line.startswith(("Seconds(", "warning"))]
    assert max(len(line) for line in table) <= 100
    assert "\x1b" not in text
    assert not re.search("[─━│┃┏╭]", text)


def test_colour_obeys_no_color(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31mNo-go" in printed(results, force_terminal=True, width=100)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[\d;]*3\dm", printed(results, force_terminal=True, width=100))


def test_every_figure_has_its_interval_and_n(results: Results) -> None:
    text = printed(results)
    assert re.search(r"bm25 +0\.498 \[0\.475, 0\.521\] n 500", text)
    assert re.search(r"dense +0\.531 \[0\.509, 0\.554\] n 494/500", text)
    assert re.search(r"Success@3 +Abstain *\nbm25 .* n/a *\n", text)


def test_many_measures_of_few_systems_are_rows(results: Results) -> None:
    two = [one for one in results.estimates if one.system != "dense"]
    text = printed(dataclasses.replace(results, estimates=two))
    assert re.search(r"measure +bm25 +hybrid *\n", text)
    assert re.search(r"nDCG@10 +0\.498 \[0\.475, 0\.521\] n 500 .* 0\.554 \[0\.532, 0\.576\] n 500", text)
    assert re.search(r"Abstain +n/a +n/a", text)
    assert not re.search(r"^system ", text, re.MULTILINE)


def test_few_measures_stand_side_by_side(results: Results) -> None:
    text = printed(dataclasses.replace(results, measures=results.measures[:2]))
    assert re.search(r"system +nDCG@10 +R@10", text)  # one table of three rows


def test_comparisons_refused_for_one_reason_are_one_line(results: Results) -> None:
    text = printed(results)
    assert text.count("not compared, dense, hybrid - bm25 (it applies to no item of bm25): Abstain") == 1
    why = "dense: 20 items not judged (q1, q2 and 18 more)"
    refused = [
        msgspec.structs.replace(results.comparisons[0], measure=m, difference=None, refused=why)
        for m in ("nDCG@10", "R@10")
    ]
    alone = printed(dataclasses.replace(results, comparisons=refused))
    assert "not compared, dense - bm25 (dense: 20 items not judged): nDCG@10, R@10\n" in alone
    assert "Differences" not in alone


def test_a_single_pair_stands_in_the_title(results: Results) -> None:
    pair = [one for one in results.comparisons if one.a == "hybrid"]
    text = printed(dataclasses.replace(results, comparisons=pair))
    assert "Differences: hybrid - bm25 " in text
    assert re.search(r"^measure +difference \[95 %\]", text, re.MULTILINE)
    several = printed(results)
    assert "Differences from bm25 " in several
    assert re.search(r"^measure +system +difference", several, re.MULTILINE)
    assert "- bm25" not in several.split("Differences from bm25")[1].split("not compared")[0]
    both = msgspec.structs.replace(pair[0], a="hybrid", b="dense")
    mixed = printed(dataclasses.replace(results, comparisons=[*pair, both]))
    assert re.search(r"^measure +pair +difference", mixed, re.MULTILINE)


def test_no_name_is_broken_over_lines(results: Results) -> None:
    long, system = "nDCG(label='review|relevance',view='document')@10", "activation_spreading_dynamic"
    first, second, *rest = results.comparisons
    renamed = dataclasses.replace(
        results,
        measures=[measure_named(results, long), *results.measures[1:]],
        comparisons=[
            msgspec.structs.replace(first, measure=long, a=system),
            msgspec.structs.replace(second, measure=long),
            *rest,
        ],
    )
    block = printed(renamed).split("Differences from bm25")[1].split("not compared")[0]
    lines = [line.rstrip() for line in block.splitlines()]
    assert max(map(len, lines)) <= 100
    assert long in lines  # on a line of its own, above the head of its figures
    assert any(line.startswith(f"  {system}  ") for line in lines)
    assert any(re.fullmatch(r"R@10 +difference \[95 %\] .*", line) for line in lines)
    cut = msgspec.structs.replace(first, measure=long, a="x" * 60)
    block = printed(dataclasses.replace(renamed, comparisons=[cut, *renamed.comparisons])).split("Differ")[1]
    assert re.search(r"^  x+…  ", block, re.MULTILINE)
    assert max(map(len, block.split("not compared")[0].splitlines())) <= 100


def test_only_what_gates_read_is_compared_on_the_terminal(results: Results) -> None:
    gate = msgspec.structs.replace(results.verdicts[0], reads=["R@10", "Abstain"])
    gated = dataclasses.replace(results, verdicts=[gate])
    block = printed(gated).split("Differences from bm25")[1]
    assert "R@10" in block.split("not compared")[0]
    assert not re.search(r"^(nDCG@10|Success@3|Seconds) ", block, re.MULTILINE)
    # nDCG@10, Success@3 and Seconds of five
    rest = "differences in 3 more measures that no gate reads: in the report, and with assay run --verbose"
    assert rest in block
    stream = io.StringIO()
    render_text(gated, Console(file=stream, width=100), every_item=True)
    assert re.search(r"^nDCG@10 +dense ", stream.getvalue(), re.MULTILINE)
    assert "no gate reads" not in stream.getvalue()
    alone = dataclasses.replace(gated, arms=["bm25"], comparisons=[])
    assert re.search(r"^language +R@10 *$", printed(alone), re.MULTILINE)
    assert "slices of 2 more measures that no gate reads: " in printed(alone)  # nDCG@10 and Success@3


def test_a_system_without_a_trace_is_why_a_measure_does_not_apply(results: Results) -> None:
    """Two of three systems tell their way; a measure of it applies to 500 items of these, to 400 of dense."""
    estimates = [
        msgspec.structs.replace(one, n_scored=400, n_expected=400)
        if (one.system, one.measure) == ("dense", "R@10") and not one.where
        else one
        for one in results.estimates
    ]
    refused = [
        msgspec.structs.replace(one, refused="different items: only one has R@10 for q1 and 99 more")
        for one in results.comparisons
        if (one.a, one.measure) == ("dense", "R@10")
    ]
    traced = ["bm25", "hybrid"]
    changed = dataclasses.replace(results, traced=traced, estimates=estimates, comparisons=refused)
    why = "dense gives no trace, so R@10 does not apply to 100 items"
    text = printed(changed)
    assert f"not compared: {why}\n" in text
    assert re.search(r"^dense .* n 400/500\b", text, re.MULTILINE)
    assert f"refused: {why}" in HtmlReport().render(changed).decode()
    page = MarkdownReport().render(changed).decode()
    assert f"refused: {why}" in page
    assert re.search(r"^\| R@10 \| dense \| [^|]* \| 400/500 \|", page, re.MULTILINE)
    assert "no trace" not in printed(dataclasses.replace(changed, traced=[]))


def test_a_clause_breaks_at_its_words(results: Results) -> None:
    where = "where language=en, category=direct|conceptual|emotional|metaphorical|technique_boundary|odd"
    gate = results.verdicts[0]
    long = msgspec.structs.replace(gate.clauses[0], text=f"nDCG@10(hybrid) >= nDCG@10(bm25) + 0.02 {where}")
    text = printed(dataclasses.replace(results, verdicts=[msgspec.structs.replace(gate, clauses=[long])]))
    rows = text.split("detectable\n")[-1].split("\n\n")[0].splitlines()
    cut = rows[0].index("passes")
    lines = [line[2:cut].rstrip() for line in rows if line[2:cut].strip()]
    assert " ".join(lines).replace("| ", "|") == long.text
    assert all(line[-1] in "|," or line.endswith(("where", "0.02", ">=", "+")) for line in lines[:-1]), lines


def test_lower_bounds_have_a_sign_and_one_explanation(results: Results) -> None:
    measures = [msgspec.structs.replace(each, lower_bound=each.name == "R@10") for each in results.measures]
    marked = dataclasses.replace(results, measures=measures)
    text = printed(marked)
    assert "≥" not in printed(results)
    assert text.count(LOWER_BOUND) == 1
    assert text.count("≥ 0.") == 3  # three systems
    assert re.search(r"bm25 +0\.498 \[0\.475, 0\.521\] n 500.*? ≥ 0\.593 \[", text)
    page = MarkdownReport().render(marked).decode()
    assert page.count(LOWER_BOUND) == 1
    assert "| R@10 | bm25 | ≥ 0.593 [" in page
    assert "| nDCG@10 | bm25 | 0.498 [" in page
    assert "| language=en | ≥ " in page.split("### R@10")[1].split("###")[0]


def test_items_without_ranking_measures_are_counted_by_what_decides_them(results: Results) -> None:
    def told(*expects: str | None) -> list[str]:
        items = [
            msgspec.structs.replace(item, expects=each)
            for item, each in zip(results.items, expects, strict=False)
        ]
        text = printed(dataclasses.replace(results, items=items))
        return [line for line in text.splitlines() if "ranking measures" in line]

    assert told(None, None) == []
    assert told(None, "nothing") == [
        "1 item of 2: nothing is the right answer: ranking measures do not apply"
    ]
    assert told("nothing", "route", None, "route", "intent") == [
        "4 items of 5 are judged without ranking measures: 2 by route, 1 by getting nothing, 1 by intent"
    ]


def turns(n: int, arm: str = "hybrid") -> list[ItemChange]:
    return [ItemChange(f"q{at}", f"what about {at}? " * 20, arm, "R@10", 1.0, 0.0) for at in range(n)]


def test_what_changed_since_a_baseline_is_a_table_of_ten(results: Results) -> None:
    gone = [f"old-{n}" for n in range(12)]
    since = BaselineChanges("main", None, "go", [], turns(12), [], ["new-1"], gone, [], [])
    lines = printed(dataclasses.replace(results, against=since)).splitlines()
    at = lines.index("worse since main: 12 items")
    assert re.fullmatch(r"  item  measure  before  after  query *", lines[at + 1])
    assert re.fullmatch(r"  q0    R@10       1\.00      0  what about 0\? what.*… *", lines[at + 2])
    assert [line.split()[0] for line in lines[at + 2 : at + 12]] == [f"q{n}" for n in range(10)]
    assert max(map(len, lines[at : at + 12])) <= 100
    assert lines[at + 12 : at + 16] == [
        "  and 2 more",
        "better since main: nothing",
        "newer than main, not compared: 1 item (new-1)",
        f"removed since main: 12 items ({', '.join(gone[:10])} and 2 more)",
    ]


def test_of_several_systems_the_changes_name_theirs(results: Results) -> None:
    since = BaselineChanges("main", None, "go", [], [*turns(1), *turns(1, "dense")], [], [], [], [], [])
    text = printed(dataclasses.replace(results, against=since))
    assert "worse since main: 1 item\n" in text
    assert re.search(r"  q0    R@10     dense     1\.00      0  what about", text)


def measure_named(results: Results, name: str) -> MeasureInfo:
    return msgspec.structs.replace(results.measures[0], name=name)


def test_a_clause_that_stands_twice_is_shown_once(results: Results) -> None:
    gate = results.verdicts[0]
    twice = msgspec.structs.replace(gate, clauses=[*gate.clauses, *gate.clauses])
    text = printed(dataclasses.replace(results, verdicts=[twice], verdict="go"))
    assert text.count("  R@10(hybrid) >= 0.55") == 1
    assert "2 clauses pass: " in text


def test_gates_that_inform_come_last_and_say_so(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = results.verdicts
    informing = dataclasses.replace(
        results, verdicts=[msgspec.structs.replace(first, deciding=False), *rest], verdict="no-go"
    )
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = printed(informing, force_terminal=True, width=100)
    assert text.index("latency: ") < text.index("dense only: ") < text.index("quality: Go, informs")
    assert "\x1b[1;32m" not in text  # its go is not green
    page = HtmlReport().render(informing).decode()
    assert page.index("Inconclusive</span>") < page.index("Go, informs</span>")
    assert page.count('<section class="gate informs">') == 1
    assert '<section class="gate go">' not in page
    assert "## quality: Go, informs" in MarkdownReport().render(informing).decode()


def test_a_gate_that_informs_fails_and_stops_nothing(results: Results) -> None:
    _, killed, failed = results.verdicts  # a kill that holds; a go clause that fails
    gates = [msgspec.structs.replace(gate, verdict="no-go", deciding=False) for gate in (killed, failed)]
    told = dataclasses.replace(results, verdicts=[results.verdicts[0], *gates], verdict="go")
    for text in (printed(told), MarkdownReport().render(told).decode()):
        assert "latency: No-go, informs" in text
        assert "dense only: Failed, informs" in text
    assert "Failed, informs</span>" in HtmlReport().render(told).decode()
    assert "`dense only` Failed" in GitHubComment().render(told).decode()
    assert [gate["verdict"] for gate in strict(JsonReport().render(told))["verdicts"]] == [
        "go",
        "no-go",
        "no-go",
    ]


def test_every_format_says_what_a_gate_is_for(results: Results) -> None:
    about = "The new system may replace the old one."
    first, *rest = results.verdicts
    told = dataclasses.replace(results, verdicts=[msgspec.structs.replace(first, about=about), *rest])
    assert printed(told).split("quality: Go\n")[1].startswith(f"  {about}\n")
    assert f"## quality: Go\n\n{about}\n" in MarkdownReport().render(told).decode()
    for renderer in (HtmlReport(), GitHubComment(), JunitReport()):
        assert about in renderer.render(told).decode()
        assert about not in renderer.render(results).decode()
    assert strict(JsonReport().render(told))["verdicts"][0]["about"] == about


# ------------------------------------------------------------------------------------ review


def test_the_recommendation_and_the_outlook_stand_in_the_last_lines(half_reviewed: Results) -> None:
    assert printed(half_reviewed).splitlines()[-3:] == [
        "Recommendation: review first",
        "The verdict can still be go or no-go: 1 passage to judge.",
        "No-go  report: runs/latest/report.html",
    ]


def test_the_terminal_shows_rates_differences_and_bounds(half_reviewed: Results) -> None:
    text = printed(half_reviewed)
    assert (
        "Partial: 1 of 2 items judged for every system (bm25 1, dense 2, hybrid 2), 4 results deep." in text
    )
    assert re.search(r"SemanticLift@4 +bm25 +0 \[0, 1\.00\] +1 +0 to 0\.125", text)
    assert re.search(r"\n +dense - bm25 +\+0\.750 \[-1\.00, \+1\.00\] +1 *\n", text)


def test_markdown_opens_with_the_recommendation(half_reviewed: Results) -> None:
    text = MarkdownReport().render(half_reviewed).decode()
    assert text.startswith(
        "# support search: No-go\n\n**Recommendation: review first**\n\n"
        "The verdict can still be go or no-go: 1 passage to judge.\n\n"
    )
    assert "| SemanticLift@4 | dense | 0.750 [0, 1.00] | 1 | 0.750 to 0.750 |" in text
    # bm25: two keyword matches in both items, two wrong in the first and one in the second, one open
    assert "| bm25 | 4 | 0 | 3 | 1 | 8 |" in text
    assert "**so far, dense finds 6 of 8 results that keywords miss, hybrid 2, bm25 0**" in text
    assert "| p adjusted | Wilcoxon p |" in text
    assert "| 1.000 | 0.500 | 1 / 0 / 0 | 1 |" in text


def test_slices_with_items_to_review_are_lower_bounds(half_reviewed: Results) -> None:
    where = half_reviewed.items[0].tags["language"][0]
    text = MarkdownReport().render(half_reviewed).decode()
    tables = {block.splitlines()[0]: block for block in re.split(r"^### ", text, flags=re.MULTILINE)[1:]}
    row = next(line for line in tables["Success@3"].splitlines() if line.startswith(f"| language={where} "))
    assert row.count("≥ ") == 3
    assert "≥: a lower bound" in tables["Success@3"]
    assert "≥" not in tables["nDCG@10"]  # more relevant passages also raise what there is to find
    assert "≥" not in tables["R@10"]


def test_names_are_not_markup_and_cannot_steer_the_terminal(results: Results) -> None:
    text = printed(dataclasses.replace(results, report="[bold]x\x1b[2J\x07[/bold]"))
    assert text.splitlines()[-1] == "No-go  report: [bold]x[2J[/bold]"


def test_a_study_without_gates_says_what_to_do(bare: Results) -> None:
    lines = printed(dataclasses.replace(bare, report="r.html")).splitlines()
    assert lines[-2:] == [
        "No gate is declared, so there is no verdict.",
        "No verdict  report: r.html",
    ]
    assert "verdict" not in printed(bare)  # run files have neither gates nor a page


# -------------------------------------------------------------------------------------- docs


def field_names(schema: dict[str, Any]) -> set[str]:
    """Every property a schema names, at any depth."""
    names = set(schema.get("properties", {}))
    for part in (*schema.get("properties", {}).values(), schema.get("items")):
        names |= field_names(part) if part else set()
    return names


def test_every_field_of_the_schemas_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs/results-schema.md").read_text()
    for name in ("report/templates/results.schema.json", "kinds/answers/report/scoring.schema.json"):
        schema = json.loads((files("assay") / name).read_text())
        assert {field for field in field_names(schema) if f"`{field}`" not in page} == set()
