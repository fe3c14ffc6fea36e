"""The comment on a pull request: the answer first, nothing in it calls anybody, and it always fits."""

from __future__ import annotations

import dataclasses
import re
from html import unescape
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from markdown_it import MarkdownIt

from assay.core.dataset import Dataset, Place
from assay.core.records import ClauseResult, Comparison, Verdict
from assay.core.results import BaselineChanges, ExpectedTarget, ItemChange, ItemView, RankedResult, Results
from assay.core.yaml_lines import Lines
from assay.report.github import (
    JOINER,
    CommentPart,
    GitHubComment,
    expected_text,
    fitted,
    literal,
    marker,
    prose,
    returned_text,
)
from assay.report.github_actions import Annotation, annotation_commands
from fake_results import build_results, planted

LIMIT = 65_536
NOON = 1_773_570_600.0  # 15 March 2026, 10:30 UTC
OURS = {
    *("h2", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"),
    *("details", "summary", "code", "sub", "ul", "li"),
}


def compared(measure: str, arm: str, difference: float, where: dict[str, str] | None = None) -> Comparison:
    figures = (difference, difference - 0.02, difference + 0.02, 0.01, 0.02, None, 1, 7, 2, 10)
    return Comparison("new", "old", {}, measure, where or {}, *figures, family=arm)


def against(results: Results, worse: int = 2, better: int = 1) -> BaselineChanges:
    """Items from the first on got worse, those after them better, all by the system hybrid."""
    chosen = [
        ItemChange(
            item.item_id, item.text, "hybrid", "nDCG@10", *((0.9, 0.1) if place < worse else (0.25, 1.0))
        )
        for place, item in enumerate(islice(cycle(results.items), worse + better))
    ]
    first = results.items[0].tags["category"][0]
    return BaselineChanges(
        "main", NOON, "go",
        [compared("nDCG@10", "hybrid", -0.05), compared("nDCG@10", "hybrid", -0.1, {"category": first})],
        chosen[:worse], chosen[worse:], ["q900", "q901"], [], ["q902"], [],
    )  # fmt: skip


def held(results: Results, **how: int) -> Results:
    return dataclasses.replace(results, against=against(results, **how), created=NOON)


def rendered(results: Results) -> str:
    return GitHubComment().render(results).decode()


def page(text: str) -> str:
    """The comment as HTML, before GitHub looks for names and numbers in it."""
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))


# ------------------------------------------------------------------------------------- what it says


def test_the_verdict_comes_first_under_a_mark_that_nobody_sees(results: Results) -> None:
    lines = rendered(held(results)).splitlines()
    assert lines[:2] == ["<!-- assay: support search -->", "## No-go: `support search`"]
    assert lines[3].startswith("**Seconds(hybrid) is 0.0684")
    assert lines[5] == (
        "Since `main` (2026-03-15 10:30 UTC, Go): 2 items worse, 1 better. Not compared: 2 new, 1 changed."
    )
    assert lines[-1].startswith(
        "<sub>systems: `bm25`, `dense`, `hybrid`; baseline: `main` 2026-03-15 10:30 UTC; "
        "answers: 2026-03-15 10:30 UTC; assay: `0.1.0`"
    )


def test_every_mean_has_its_interval_n_and_change(results: Results) -> None:
    text = rendered(held(results))
    assert "| measure | system | mean [95 %] | n | since `main` |" in text
    assert "| `nDCG@10` | `bm25` | 0.498 [0.475, 0.521] | 500 (5 missing) |  |" in text  # not compared
    change = "-0.0500 [-0.0700, -0.0300]; 2 worse, 1 better"
    assert f"| `nDCG@10` | `hybrid` | 0.554 [0.532, 0.576] | 500 | {change} |" in text


def test_slices_show_the_measures_that_apply(results: Results) -> None:
    text = rendered(held(results))
    block = text.split("| category | measure |")[1].split("\n\n")[0]
    assert "Abstain" not in block  # it applies to no item
    first = results.items[0].tags["category"][0]
    rows = block[block.index(f"| `{first}` | `nDCG@10` |") :].splitlines()
    # the change of a slice has its own interval; slices that were not compared tell how many items changed
    assert rows[2].startswith("|  | `nDCG@10` | `hybrid` | ")
    assert "; " in rows[2]
    assert "-0.100 [-0.120, -0.0800]; " in rows[2]
    others = [item.tags["category"][0] for item in results.items[:3]]
    assert rows[2].endswith(f"; {others[:2].count(first)} worse, {int(others[2] == first)} better |")
    assert "<details><summary>By <code>language</code></summary>" in text  # only the first tag is open


def test_a_slice_that_the_baseline_lacks_is_not_called_unchanged(results: Results) -> None:
    last = results.items[-1].tags["category"][0]
    new = [item.item_id for item in results.items if last in item.tags["category"]]
    known = held(results)
    text = rendered(dataclasses.replace(known, against=msgspec.structs.replace(known.against, added=new)))
    rows = text.split(f"| `{last}` | `nDCG@10` |")[1].splitlines()
    assert rows[2].endswith(" | not compared |")


def test_what_got_worse_stands_beside_what_was_expected(results: Results) -> None:
    text = rendered(held(results))
    item = results.items[0]
    row = next(line for line in text.splitlines() if line.startswith(f"| `{item.item_id}` "))
    assert row.startswith(f"| `{item.item_id}` | {prose(item.text, 120)} | `nDCG@10` | `hybrid` | ")
    assert prose(expected_text(item), 120) in row
    assert prose(returned_text(item, "hybrid"), 120) in row
    assert row.endswith(" | 0.900 → 0.100 |")
    assert text.count("<details><summary>Worse than <code>main</code>: 2</summary>") == 1
    assert text.count("<details><summary>Better than <code>main</code>: 1</summary>") == 1


def test_failures_lower_bounds_and_warnings(results: Results) -> None:
    measures = [msgspec.structs.replace(results.measures[0], lower_bound=True), *results.measures[1:]]
    text = rendered(dataclasses.replace(results, measures=measures))
    assert "| `nDCG@10` | `bm25` | ≥ 0.498 [0.475, 0.521] | 500 (5 missing) |" in text
    assert "| `R@10` | `bm25` | 0." in text
    failed = [item for item in results.items if item.faults]
    assert f"<details><summary>Failed: {len(failed)}</summary>" in text
    assert f"| `{failed[0].item_id}` |" in text
    assert "\n- Warning: dense failed on 6 of 500 items; " in text
    assert "baseline: none" in text


def test_without_gates_slices_items_and_baseline(bare: Results) -> None:
    text = rendered(bare)
    assert "## No verdict: `support search`" in text
    assert "details" not in text


def test_gates_that_inform_are_folded(results: Results) -> None:
    first, *rest = results.verdicts
    text = rendered(
        dataclasses.replace(results, verdicts=[msgspec.structs.replace(first, deciding=False), *rest])
    )
    open_part, folded = text.split("<details><summary>Gates that inform</summary>")
    assert "`quality` Go" not in open_part
    assert "`quality` Go" in folded
    assert "| `latency` No-go | `Seconds(hybrid) > 2 * Seconds(bm25)` | kill condition met |" in open_part


def view(**fields: Any) -> ItemView:
    return ItemView("q", "a query", {}, [], {}, **fields)


def test_what_was_expected_and_what_came_in_words() -> None:
    hit = RankedResult("d1", 1.0, 0.0, "a text")
    asked = msgspec.structs.replace(
        view(), expected=[ExpectedTarget("b 3", 2.0, "words")], returned={"s": [hit]}
    )
    assert (expected_text(asked), returned_text(asked, "s")) == ("b 3: words", "d1: a text")
    assert returned_text(asked, "other") == "nothing"
    routed = msgspec.structs.replace(asked, expects="route", route="bridge", routes={"s": "search"})
    assert (expected_text(routed), returned_text(routed, "s")) == (
        "the route bridge",
        "route search; d1: a text",
    )
    broken = msgspec.structs.replace(asked, faults={"s": "HTTP 500: down"})
    assert returned_text(broken, "s") == "failed: HTTP 500: down"


def test_a_mark_cannot_end_early_and_differs_by_study() -> None:
    assert marker("a --> <b>") == "<!-- assay: a --%3E %3Cb%3E -->"
    assert marker("one") != marker("two")


# ------------------------------------------------------------------------------- what it never does

HOSTILE = (
    " @octocat @org/team #12 o/r#3 GH-4 a@b.co www.x.co http://x.co/?q=1 :tada: <b>x</b>"
    " <img src=x onerror=y> [a](javascript:b) ![i](u) `c` ``d`` | \\| *e* _f_ ~~g~~ $h$ &amp;"
    " &#64;me <!-- n --> </details>\n\n# i\n- [ ] j"
)


def shown(html: str) -> str:
    """The text of some HTML, without what stands in code, where GitHub looks for nothing."""
    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"<code>.*?</code>|<!--.*?-->", "", html, flags=re.DOTALL)))


def test_no_text_formats_links_or_calls_anybody() -> None:
    html = page(rendered(planted(held(build_results(n=40)), HOSTILE)))
    assert {tag.lower() for tag in re.findall(r"<\s*/?\s*([a-zA-Z][\w-]*)", html)} <= OURS
    for each in (r"@\w", r"#\d", r"gh-\d", r"://", r"www\.", r":\w+:"):
        assert not re.search(each, shown(html), re.IGNORECASE), each
    assert html.count("<!--") == 1
    assert html.count("<details>") == html.count("</details>")


def test_hostile_text_is_still_shown_as_it_is() -> None:
    (cell,) = re.findall(r"<td>(.*?)</td>", page(f"| a |\n| --- |\n| {prose(HOSTILE)} |"))
    assert unescape(cell).replace(JOINER, "") == " ".join(HOSTILE.split())
    (cell,) = re.findall(r"<td>(.*?)</td>", page(f"| a |\n| --- |\n| {literal('x(a|b)@3', 20)} |"))
    assert cell == "<code>x(a|b)@3</code>"


def test_tables_keep_their_shape() -> None:
    html = page(rendered(planted(held(build_results(n=40)), HOSTILE)))
    for each in re.findall(r"<table>(.*?)</table>", html, re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", each, re.DOTALL)
        assert len({len(re.findall(r"<t[dh]", row)) for row in rows}) == 1


# --------------------------------------------------------------------------------- how long it may be


def test_two_thousand_regressions_fit() -> None:
    text = rendered(planted(held(build_results(n=40), worse=2000, better=1000), HOSTILE))
    assert len(text) < LIMIT - 500
    assert "Worse than <code>main" in text
    assert ": 2000</summary>" in text
    shown_rows = len(re.findall(r"0\.900 → 0\.100 \|", text))
    assert shown_rows in {5, 10, 20}
    assert f"… and {2000 - shown_rows} more." in text
    html = page(text)
    assert html.count("<details>") == html.count("</details>")


def test_whatever_is_too_long_gives_way_and_is_named() -> None:
    gate = Verdict("ship", "no-go", [clause(f"{'x' * 900} {place} >= 1") for place in range(500)])
    results = held(build_results(n=40))
    slices = [
        msgspec.structs.replace(one, where={f"tag{place % 40} {'y' * 200}": f"{place}{'z' * 300}"})
        for place in range(2000)
        for one in results.estimates[:1]
    ]
    text = rendered(dataclasses.replace(results, verdicts=[gate], estimates=[*results.estimates, *slices]))
    assert len(text) < LIMIT - 500
    assert text.startswith("<!-- assay: support search -->\n## No-go")
    assert "Too long for a comment, and left out: by tag" in text
    assert text.rstrip().endswith("</sub>")


def test_forms_give_way_from_the_end() -> None:
    blocks = [
        CommentPart("head", ["h"]),
        CommentPart("a", ["a" * 70_000, "a" * 60_000]),
        CommentPart("b", ["b" * 5_000]),
        CommentPart("foot", ["f"]),
    ]
    parts = fitted(blocks).split("\n\n")
    assert [len(part) for part in parts[:2]] == [1, 60_000]
    assert parts[2:] == ["Too long for a comment, and left out: b. The full report has it all.", "f"]


# ------------------------------------------------------------------------------------- annotations


def clause(text: str, holds: bool | None = False) -> ClauseResult:
    return ClauseResult(text, holds, -0.1, -0.2, 0.0, 9)


class Places:
    """As much of a study as annotations look at."""

    def __init__(self, where: Path, places: dict[str, Place]) -> None:
        self.lines = Lines(str(where), {("gates",): 5, ("gates", "ship"): 6, ("gates", "watch"): 9})
        self.arms: list[Any] = [msgspec.defstruct("A", [("name", str)])("hybrid")]
        self.places = places

    def dataset(self, arm: Any) -> Dataset:
        return msgspec.defstruct("D", [("places", dict[str, Any])])(self.places)


def commands(results: Results, tmp_path: Path, **how: Any) -> list[str]:
    items = {item.item_id: Place(str(tmp_path / "set,1:en.json"), 12) for item in results.items[:1]}
    study: Any = Places(tmp_path / "study.yaml", items)
    return annotation_commands(results, study, tmp_path, **how)


def test_a_failing_gate_is_an_error_at_its_line(results: Results, tmp_path: Path) -> None:
    gates = [
        Verdict("ship", "no-go", [clause("R@3(s) >= 80%"), clause("P@1(s) >= 10%", True)]),
        Verdict("watch", "no-go", [clause("RR@9(s) >= 99%")], deciding=False),
        Verdict("later", "inconclusive", [], "not reached: ship is no-go"),
    ]
    found = commands(dataclasses.replace(results, verdicts=gates), tmp_path)
    figures = "margin -0.100 [-0.200, 0.000], n = 9"
    assert found == [
        f"::error file=study.yaml,line=6,title=ship%3A no-go::R@3(s) >= 80%25: {figures}",
        f"::warning file=study.yaml,line=9,title=watch%3A no-go%2C informs::RR@9(s) >= 99%25: {figures}",
        "::warning file=study.yaml,line=5,title=later%3A inconclusive::not reached: ship is no-go",
    ]


@pytest.mark.parametrize(("verdict", "kind"), [("no-go", "error"), ("go", "warning")])
def test_a_regression_stands_at_its_item(results: Results, tmp_path: Path, verdict: str, kind: str) -> None:
    gates = [Verdict("against main", verdict, [clause("x", True)])]
    found = commands(dataclasses.replace(held(results, worse=1), verdicts=gates), tmp_path)
    (line,) = [each for each in found if "worse than" in each]
    name = results.items[0].item_id
    assert line.startswith(f"::{kind} file=set%2C1%3Aen.json,line=12,title=worse than main%3A {name}::")
    assert "%0AnDCG@10(hybrid) 0.900 → 0.100%0Aexpected: " in line


def test_ten_of_a_kind_and_a_word_about_the_others(results: Results, tmp_path: Path) -> None:
    gates = [Verdict("against main", "no-go", [clause("x")])]
    full = dataclasses.replace(held(results, worse=40), verdicts=gates)
    found = commands(full, tmp_path, first=[Annotation("warning", "t", "first")])
    assert [each.partition(" ")[0] for each in found] == ["::error"] * 10 + ["::warning"]
    assert found[9] == "::error title=assay::32 more, in the report"  # 1 clause and 40 items, 9 shown
    assert found[10] == "::warning title=t::first"


def test_no_text_begins_a_command_of_its_own(tmp_path: Path, results: Results) -> None:
    text = "50%\r\n::set-output name=x::y\x1b[2J"
    (line,) = commands(
        dataclasses.replace(results, verdicts=[]), tmp_path, first=[Annotation("error", "a:b,c\n::d", text)]
    )
    # the carriage return and the escape are control characters, which go nowhere
    assert line == "::error title=a%3Ab%2Cc%0A%3A%3Ad::50%25%0A::set-output name=x::y[2J"


def test_a_file_outside_the_repository_is_not_named(results: Results, tmp_path: Path) -> None:
    gates = [Verdict("ship", "no-go", [clause("x")])]
    study: Any = Places(tmp_path / "study.yaml", {})
    (line,) = annotation_commands(dataclasses.replace(results, verdicts=gates), study, tmp_path / "deeper")
    assert line.startswith("::error title=ship%3A no-go::")
