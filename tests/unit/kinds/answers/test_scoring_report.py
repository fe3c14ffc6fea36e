"""How a blinded scoring reads: findings, agreement, tokens, and what to do next."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from importlib.resources import files

import msgspec
import pytest
from rich.console import Console

from assay.kinds.answers import wording
from assay.kinds.answers.results import Correlation, RaterAgreement, ScoringResults, SiteTokens, TokenChange
from assay.report.formats import JsonReport
from assay.report.html import HtmlReport
from assay.report.markdown import MarkdownReport
from assay.report.text import render_text
from scored_study import blinded_of, outcome, planted_scoring, scored_results, scoring_of, section

UNCLEAR = "A change in tokens does not clearly go with a change in accuracy"
changed = msgspec.structs.replace


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", " ", html, flags=re.DOTALL)).split())


def terminal(scoring: ScoringResults) -> str:
    said = io.StringIO()
    render_text(scored_results(scoring), Console(file=said, width=100))
    return said.getvalue()


# --------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("metric", "shift", "sentence"),
    [
        ("accuracy", 0.3, "B answers more accurately than A"),
        ("accuracy", -0.3, "B answers less accurately than A"),
        ("accuracy", 0.01, "Accuracy: B does not clearly differ from A"),
        ("hallucinations", -0.3, "B makes up less than A"),
        ("tokens", -900.0, "B needs fewer tokens than A"),
        ("tokens", 900.0, "B needs more tokens than A"),
        ("completeness", 0.3, "B answers completely more often than A"),
        ("citation", -0.3, "B cites less faithfully than A"),
        ("tone", 0.3, "tone is higher for B than for A"),
    ],
)
def test_a_test_says_what_it_found(metric: str, shift: float, sentence: str) -> None:
    assert wording.finding(outcome(metric, "primary", {}, shift, 400), "A", "B") == sentence


def test_a_difference_is_clear_only_where_its_family_says_so() -> None:
    one = outcome("accuracy", "primary", {}, 0.3, 400)
    assert "more accurately" in wording.finding(one, "A", "B")
    informs = changed(one, p_adjusted=0.06)  # a p-value informs, the family's interval decides
    assert wording.finding(informs, "A", "B") == wording.finding(one, "A", "B")
    assert "does not clearly differ" in wording.finding(changed(one, shown=""), "A", "B")


def test_tokens_are_reported_in_percent_of_a_too() -> None:
    one = changed(outcome("tokens", "primary", {}, -900.0, 400), mean_a=3600.0, difference=-900.0)
    assert wording.difference(one).endswith("], -25.0 %")
    assert wording.short_effect(one).endswith(", -25.0 %")
    assert wording.percent(changed(one, mean_a=0.0)) == ""
    assert "%" not in wording.difference(outcome("accuracy", "primary", {}, 0.3, 400))


def test_tests_stand_by_family_in_one_order() -> None:
    shuffled = changed(scoring_of(), tests=scoring_of().tests[::-1])
    assert list(wording.families(shuffled)) == [
        *("Primary metrics", "Secondary metrics", "By complexity of the question"),
        *("By size of the model", "Site by site"),
    ]
    between = outcome("accuracy", "interaction", {"between": "complexity"}, 0.0, 9)
    assert wording.test_name(between) == "Accuracy: between complexity"


def test_effects_and_notes() -> None:
    delta = outcome("accuracy", "primary", {}, 0.12, 572)
    odds = outcome("completeness", "secondary", {}, 0.05, 572, left_out=3)
    assert wording.effect(delta) == "+0.0600 [-0.0200, +0.140]"
    assert wording.effect(odds) == "1.40 [0.900, 2.10]"  # odds have no sign
    assert wording.short_effect(odds) == "odds ratio 1.40"
    assert wording.short_effect(delta) == "delta +0.0600, small"
    assert wording.test_note(odds) == "3 left out: no value on one side; could detect 0.117"  # 2 · 1.4 / √572


@pytest.mark.parametrize(
    ("values", "title"),
    [
        ((0.7, 0.61), "Raters agree enough on every metric"),
        ((0.7, 0.59), "Raters do not agree enough on completeness"),
        ((0.5, 0.59), "Raters do not agree enough on accuracy and completeness"),
        ((0.7, None), "How far raters agree is not known yet for completeness"),
    ],
)
def test_the_title_of_agreement_is_its_answer(values: tuple[float | None, ...], title: str) -> None:
    names = ("accuracy", "completeness")
    found = [
        RaterAgreement(name, "kappa", ("a", "b"), 20, value, threshold=0.6)
        for name, value in zip(names, values, strict=True)
    ]
    assert wording.agreement_answer([*found, RaterAgreement("counts", "rho", ("a", "b"), 20, 0.1)]) == title


def test_agreement_at_its_threshold_holds() -> None:
    one = RaterAgreement("accuracy", "kappa", ("a", "b"), 20, 0.6, threshold=0.6)
    assert wording.agreement_state(one) == "passes: needs 0.6"
    assert wording.agreement_state(changed(one, value=0.599)) == "fails: needs 0.6"
    assert wording.agreement_state(changed(one, threshold=None)) == "informs"
    assert wording.agreement_state(changed(one, value=None)) == "no value"


def site(name: str, change: float) -> SiteTokens:
    return SiteTokens(name, "llama3", 1, 100, 100 + change, 100, 100 + change, change, change)


def test_the_title_of_sites_counts_those_that_save() -> None:
    sites = [site("a", -40), site("b", 10), site("c", -20), site("d", -5)]
    # the middle two of -40 -20 -5 10 are -20 and -5
    assert (
        wording.sites_answer(sites, "B") == "B needs fewer tokens on 3 of 4 sites; on the median site -12.5 %"
    )
    assert wording.sites_answer([], "B").startswith("Which side needs fewer tokens is not known")


@pytest.mark.parametrize(
    ("value", "low", "high", "title"),
    [
        (0.3, 0.1, 0.5, "Fewer tokens go with worse answers: Spearman's rho +0.300 [+0.100, +0.500], n 9"),
        (
            -0.3,
            -0.5,
            -0.1,
            "Fewer tokens go with better answers: Spearman's rho -0.300 [-0.500, -0.100], n 9",
        ),
        (0.1, -0.1, 0.3, f"{UNCLEAR}: Spearman's rho +0.100 [-0.100, +0.300], n 9"),
        (None, None, None, "Do fewer tokens go with worse answers?"),
    ],
)
def test_rho_is_in_the_title(value: float | None, low: float | None, high: float | None, title: str) -> None:
    assert wording.correlation_answer([Correlation("Spearman's rho of both", value, low, high, 9)]) == title


def test_models_that_disagree_are_reported() -> None:
    found = changed(scoring_of(), by_model={"m": 0.2, "l": -0.1})
    assert (
        wording.same_way(found)
        == "Accuracy by model, B minus A: m +0.200, l -0.100. They point different ways."
    )
    assert "the same way" in wording.same_way(scoring_of())
    assert wording.same_way(changed(found, by_model={"m": 0.2})) == ""


# -------------------------------------------------------------------------------------- states


def test_every_state_says_what_to_do_next() -> None:
    full = scoring_of()
    half = blinded_of(full)
    assert wording.state_lines(full) == []
    assert wording.state_lines(half)[-1] == "Go on scoring with: assay review serve STUDY"
    assert "400 of 2460 marks" in wording.state_lines(half)[0]  # 400 of 1144 + 1144 + 172
    done = changed(half, progress={"anna": {"accuracy": (4, 4)}})
    assert wording.state_lines(done)[-1].endswith("assay review unblind STUDY")
    unmade = ScoringResults("open", "A", "B", "anna", [], 0, {})
    assert wording.state_lines(unmade) == [
        "No responses are blinded yet. Do it with: assay review blind STUDY"
    ]
    for one in (half, unmade):
        assert "Every test" not in section(one)


def test_while_blinded_no_condition_is_named_with_a_figure() -> None:
    said = text_of(section(blinded_of(scoring_of())))
    assert "assay review serve STUDY" in said
    assert "B − A" not in said
    assert "minus A" not in said


def test_a_forced_unblinding_is_in_plain_sight_everywhere() -> None:
    forced = scoring_of("forced")
    assert text_of(section(forced)).startswith(
        "What did blinded scoring find? The responses were unblinded by force"
    )
    assert "were unblinded by force" in MarkdownReport().render(scored_results(forced)).decode()
    assert "were unblinded by force" in terminal(forced)
    assert "by force" not in terminal(scoring_of())


# ---------------------------------------------------------------------------------------- page


def test_the_section_shows_everything() -> None:
    said = text_of(section())
    for part in (
        "Raters do not agree enough on completeness",
        "B answers more accurately than A",
        "Every test, by family",
        "n 572 A dot is a question and model",
        "of 37 sites",
        "are H-FAB, made up",
        "Unmatched: 7 only by anna, 4 only by ben.",
        "How often were marks as suggested?",
        "llms.txt 12×, file ending 31×",
        "2026-03-09 17:20 unblinded by kim: every pass complete",
        "Failed and never scored: A 2, B 3.",
    ):
        assert part in said


def test_points_are_counted_as_they_are_drawn() -> None:
    changes = [("q1", "m", -5.0, 1.0), ("q2", "m", -5.0, 0.0), ("q3", "l", 0.0, -2.0)]
    page = section(changed(scoring_of(), points=[TokenChange(*each) for each in changes]))
    rows = re.findall(r"<th scope=\"row\">(Better|The same|Worse)</th>(.*?)</tr>", page, flags=re.DOTALL)
    assert [(word, re.findall(r">(\d+)<", cells)) for word, cells in rows] == [
        ("Better", ["1", "0", "0"]),  # fewer, as many, more tokens
        ("The same", ["1", "0", "0"]),
        ("Worse", ["0", "1", "0"]),
    ]
    picture = page[page.index('<svg class="plot scatter"') :].partition("</figure>")[0]
    assert picture.count("<title>") == 3
    assert "q3, l: tokens 0, accuracy -2.00" in picture


def test_models_differ_by_shape_and_colour_and_take_none_of_the_systems() -> None:
    page = section()
    assert re.findall(r'<span class="name (s[^"]*)">(small-8b|large-70b)</span>', page) == [
        ("s2", "small-8b"),
        ("s3 m1", "large-70b"),
    ]


def test_of_very_many_points_some_are_drawn_and_that_is_said() -> None:
    many = [TokenChange(f"q{at}", "m", float(at), 0.0) for at in range(4000)]
    page = section(changed(scoring_of(), points=many))
    assert "1334 of 4000 are drawn" in page  # every third


def test_both_conditions_are_counted_on_one_scale() -> None:
    page = section(changed(scoring_of(), categories={"A": {"H-FAB": 40}, "B": {"H-FAB": 10}}))
    table = page[page.index('aria-label="Hallucinations by category"') :].partition("</table>")[0]
    widths = re.findall(r'<rect class="part[^"]*" x="0.00%" width="([\d.]+)%"', table)
    assert widths[:2] == ["100.00", "25.00"]


def test_nothing_that_others_wrote_is_markup() -> None:
    page = section(planted_scoring("<b onclick='x'>&"))
    assert "<b onclick" not in page
    assert "&lt;b onclick=" in page


def test_a_scoring_of_nothing_can_be_shown() -> None:
    empty = ScoringResults("unblinded", "A", "B", "anna", [], 2, {"anna": {"accuracy": (2, 2)}})
    said = text_of(section(empty))
    assert "Every pass is complete" in said
    assert "Every test" not in said


def test_the_page_has_the_section_and_leads_to_it() -> None:
    page = HtmlReport().render(scored_results()).decode()
    assert page.index('id="systems"') < page.index('<section id="scoring"') < page.index('id="slices"')
    assert '<a href="#scoring">Scoring</a>' in page
    forced = HtmlReport().render(scored_results(scoring_of("forced"))).decode()
    assert forced.index("unblinded by force") < forced.index("</header>")
    without = HtmlReport().render(dataclasses.replace(scored_results(), sections=[])).decode()
    assert "#scoring" not in without


# -------------------------------------------------------------------------- terminal, Markdown


def test_the_terminal_shows_agreement_and_the_tests_that_count() -> None:
    said = terminal(scoring_of())
    assert (
        "agreement: accuracy, kappa, linear weights: 0.780 [0.710, 0.840], n 172, passes: needs 0.6" in said
    )
    assert "agreement: completeness, kappa: 0.520 [0.340, 0.680], n 172, fails: needs 0.6" in said
    assert re.search(r"Accuracy +\+0\.120 \[\+0\.0615, \+0\.179\] +0\.001", said)
    assert "single-fact" not in said
    table = said[
        said.index("metric  ", said.index("What did blinded scoring find?")) : said.index("effect: Go")
    ]
    assert max(map(len, table.splitlines())) <= 100
    assert table.count("metric") == 1  # one table: nothing had to be torn apart


def test_markdown_shows_the_same() -> None:
    made = MarkdownReport().render(scored_results()).decode()
    assert "## What did blinded scoring find?" in made
    assert "- agreement: completeness, kappa: 0.520 \\[0.340, 0.680\\], n 172, fails: needs 0.6" in made
    assert "| Citation fidelity | +0.0300 \\[-0.0721, +0.132\\] | 0.340 |" in made
    assert (
        "## What did blinded scoring find?"
        not in MarkdownReport().render(dataclasses.replace(scored_results(), sections=[])).decode()
    )


@pytest.mark.parametrize("state", ["open", "blinded", "unblinded", "forced"])
def test_json_keeps_the_published_schemas(state: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="validating needs jsonschema")
    results, data = (
        json.loads((files("assay") / name).read_text())
        for name in ("report/templates/results.schema.json", "kinds/answers/report/scoring.schema.json")
    )
    found = blinded_of(scoring_of()) if state == "blinded" else scoring_of(state)
    loaded = json.loads(JsonReport().render(scored_results(found)))
    jsonschema.Draft202012Validator(results).validate(loaded)
    jsonschema.Draft202012Validator(data).validate(loaded["sections"][0]["data"])
    assert set(loaded["sections"][0]["data"]) <= set(data["properties"])
