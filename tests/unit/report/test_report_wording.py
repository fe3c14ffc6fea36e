"""How figures, clauses and verdicts read."""

from __future__ import annotations

import dataclasses
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.records import Advice, ClauseResult, Comparison, Estimate, Verdict
from assay.core.results import MeasureInfo, Results
from assay.gates.verdict import describe_advice
from assay.report import verdicts
from assay.report import wording as say
from assay.report.html import about, answer


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5123, "0.512"),
        (0.04321, "0.0432"),
        (0.9996, "1.00"),  # rounds up to the next magnitude: three digits, not four
        (0.09996, "0.100"),
        (1.0, "1.00"),
        (12.34, "12.3"),
        (99.96, "100"),
        (1234.4, "1234"),
        (0, "0"),
        (-0.25, "-0.250"),
        (0.00001234, "1.23e-05"),
        (None, "n/a"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
    ],
)
def test_three_significant_digits(value: float | None, text: str) -> None:
    assert say.number(value) == text


@given(st.floats(1e-3, 1e6) | st.floats(-1e6, -1e-3))
def test_a_shown_number_is_near_the_number(value: float) -> None:
    # Three significant digits are off by at most half of the third digit: 0.5 %.
    assert float(say.number(value)) == pytest.approx(value, rel=0.005)


def test_a_mean_has_its_interval() -> None:
    assert say.with_interval(0.5123, 0.43, 0.5904) == "0.512 [0.430, 0.590]"
    assert say.with_interval(0.02, -0.01, 0.05, signed=True) == "+0.0200 [-0.0100, +0.0500]"
    assert say.with_interval(0.5, None, None) == "0.500 [no interval]"
    assert say.with_interval(None, None, None) == "n/a"


def test_sample_names_both_numbers_where_they_differ() -> None:
    whole = Estimate("a", {}, "R@10", {}, 0.5, 0.4, 0.6, 500, 500)
    assert say.sample_size(whole) == "500"
    assert say.sample_size(msgspec.structs.replace(whole, n_scored=480)) == "480/500"
    assert say.sample_size(whole, 500) == "500"
    assert say.sample_size(whole, 620) == "500/620"  # of another system in the same table


def test_p_values_never_read_as_zero() -> None:
    assert [say.p_value(p) for p in (0.0, 0.0004, 0.0123, 1.0, None)] == [
        "<0.001",
        "<0.001",
        "0.012",
        "1.000",
        "n/a",
    ]


def clause(text: str, holds: bool | None, **fields: object) -> ClauseResult:
    return ClauseResult(text, holds, -0.11, -0.18, -0.04, 180, **fields)  # type: ignore[arg-type]


def test_a_clause_says_what_is_and_what_was_needed() -> None:
    failed = clause("A@400(race) >= A@400(flat) + 0.08 where feasible=yes", False, left=0.41, right=0.52)
    assert verdicts.clause_sentence(failed) == (
        "A@400(race) is 0.410; it needs at least A@400(flat) + 0.08 = 0.520 where feasible=yes; "
        "margin -0.110 [-0.180, -0.040], n = 180"
    )


def test_a_threshold_that_is_a_number_is_not_repeated() -> None:
    text = verdicts.clause_sentence(clause("R@10(a) >= 55%", False, left=0.44, right=0.55))
    assert text.startswith("R@10(a) is 0.440; it needs at least 55%; margin")


def test_a_sign_inside_a_call_is_not_the_comparison() -> None:
    share = clause("share(R@10(a) < 0.1) <= 10% where x=y at 99%", False, left=0.2, right=0.1)
    assert verdicts.clause_operator(share) == "<="
    assert verdicts.clause_sentence(share).startswith(
        "share(R@10(a) < 0.1) is 0.200; it needs at most 10% where x=y at 99%; margin"
    )
    band = clause("R@10(a) within 0.02 of R@10(b)", None, left=0.2, right=0.1)
    assert verdicts.clause_sentence(band).startswith("R@10(a) within 0.02 of R@10(b): margin")


@pytest.mark.parametrize("role", ["first", "go"])
def test_a_clause_that_passes_supports_a_go(role: str) -> None:
    assert verdicts.supports_go(clause("x > 0", True, role=role)) is True
    assert verdicts.supports_go(clause("x > 0", False, role=role)) is False


def test_a_kill_condition_that_is_met_does_not_support_a_go() -> None:
    assert verdicts.supports_go(clause("x > 0", True, role="kill")) is False
    assert verdicts.supports_go(clause("x > 0", False, role="kill")) is True
    assert verdicts.supports_go(clause("x > 0", None, role="kill")) is None
    assert verdicts.clause_state(clause("x > 0", True, role="kill")) == "kill condition met"


def test_an_undecided_clause_says_what_would_settle_it() -> None:
    open_one = clause("x(a) > 0", None, reason="too few items.", advice=Advice(220, "", 0.83, 0.06))
    advised = "with 220 more items, 83% to settle it if the effect is what it looks like, 6% if there is none"
    assert verdicts.clause_reason(open_one) == f"too few items; {advised}"
    sentence = verdicts.verdict_sentence(Verdict("g", "inconclusive", [open_one]))
    assert sentence.endswith(f"(too few items; {advised})")


def test_advice_names_the_slice_and_what_to_do_where_no_number_helps() -> None:
    assert describe_advice(Advice(1, "category=direct", 0.8, 0.05)).startswith(
        "with 1 more item of category=direct, 80% to settle it"
    )
    assert describe_advice(Advice(None, instead="decide by cost")) == (
        "more items are unlikely to settle it: decide by cost"
    )


def test_the_headline_is_about_the_deciding_clause(results: Results, bare: Results) -> None:
    assert verdicts.headline(results).startswith("Seconds(hybrid) is 0.0684; more than 2 * Seconds(bm25)")
    assert "No gate is declared" in verdicts.headline(bare)


def comparison(shown: str, mde: float | None = None, family: str = "R@10") -> Comparison:
    figures = (0.1, 0.02, 0.2, 0.08, 0.08, None, 3, 2, 1, 6)
    return Comparison("a", "b", {}, "R@10", {}, *figures, mde=mde, shown=shown, family=family)


def test_a_difference_is_shown_where_its_family_says_so() -> None:
    assert say.is_shown(comparison("better"))
    assert say.is_shown(comparison("worse"))
    assert not say.is_shown(comparison(""))  # though its own interval leaves zero out
    assert say.comparison_note(comparison("", 0.05)) == "could detect 0.0500"
    assert say.comparison_note(comparison("worse")) == "worse"
    assert say.comparison_note(comparison("better", family="gate ship")) == "better; decided by gate ship"


def test_a_title_answers_in_the_direction_of_the_measure(results: Results) -> None:
    titles = {measure.name: answer(results, measure) for measure in results.measures}
    assert titles["nDCG@10"] == "dense and hybrid are better than bm25"
    assert titles["Success@3"] == "dense does not clearly differ from bm25; hybrid is better than bm25"
    assert titles["Seconds"] == "dense and hybrid are worse than bm25"  # slower, though the number is larger
    assert titles["Abstain"] == "applies to no item"


def test_measures_carry_their_unit() -> None:
    assert say.measure_title(MeasureInfo("Seconds", "lower", 0, None, "s")) == "Seconds (s)"
    assert say.measure_title(MeasureInfo("R@10", "higher", 0, 1)) == "R@10"


def test_a_measure_says_what_its_parameters_make_of_it() -> None:
    success = MeasureInfo("Success(rel=2)@3", "higher", 0, 1, about="1 where one stands within the cut-off.")
    assert about(success) == (
        "1 where one stands within the cut-off. Here the cut-off is 3; relevant is grade 2 or better. "
        "Higher is better."
    )
    routed = MeasureInfo("Routed(above=0.3)", "higher", 0, 1, about="1 where the route is right.")
    assert "Here only a score above 0.3 counts as a find." in about(routed)
    budget = MeasureInfo("A(part=x)@400", "lower", 0, 1, about="What fits a budget.")
    assert about(budget) == "What fits a budget. Here part is x. Lower is better."  # 400 is no cut-off


def test_lower_bounds_have_a_sign() -> None:
    plain = MeasureInfo("RR@10", "higher", 0, 1)
    assert (
        say.lower_bound_sign(plain),
        say.lower_bound_sign(msgspec.structs.replace(plain, lower_bound=True)),
    ) == ("", "≥ ")


def test_some_of_many_names() -> None:
    assert say.first_names(["a", "b", "c"], 3) == "a, b, c"
    assert say.first_names(["a", "b", "c"], 1) == "a and 2 more"


@given(st.text(max_size=300), st.integers(2, 120))
def test_shortened_text_fits(text: str, limit: int) -> None:
    assert len(say.shorten(text, limit)) <= limit


@given(st.text(st.characters(), max_size=80))
def test_printable_keeps_everything_but_controls(text: str) -> None:
    kept = say.printable(text)
    assert not any(ord(sign) < 32 and sign not in "\t\n" for sign in kept)
    assert say.printable(kept) == kept
    assert say.printable("a\x1b[31mb\x00\ud800") == "a[31mb"


@pytest.mark.parametrize(
    ("measure", "rises"),
    [
        ("RR@20", True),
        ("Success@1", True),
        ("P(rel=2)@5", True),
        ("RR(view='document')@20", True),
        ("RR", True),
        ("RR(label='review|relevance')@20", False),  # it reads what people marked
        ("R@10", False),  # what there is to find rises too
        ("nDCG@10", False),
        ("Seconds", False),
        ("P(@5", False),  # not a measure
    ],
)
def test_what_people_find_can_only_raise_some_measures(measure: str, rises: bool) -> None:
    assert say.only_rises(measure) is rises


def test_a_slice_is_understated_where_an_item_in_it_wants_review(half_reviewed: Results) -> None:
    assert say.is_understated(half_reviewed, {})
    assert say.is_understated(half_reviewed, {"review": "yes"})
    assert not say.is_understated(half_reviewed, {"review": "no"})


def test_a_clause_is_shown_once_but_a_kill_condition_of_the_same_words_stays() -> None:
    clauses = [clause("x > 0", True), clause("x > 0", True), clause("x > 0", True, role="kill")]
    assert verdicts.unique_clauses(Verdict("g", "go", clauses)) == [clauses[0], clauses[2]]


def test_an_informing_gate_is_no_headline(results: Results) -> None:
    quality, latency, _ = results.verdicts
    informing = msgspec.structs.replace(quality, verdict="no-go", deciding=False)
    mixed = dataclasses.replace(results, verdicts=[informing, latency])
    assert verdicts.headline(mixed).startswith("Seconds(hybrid)")
