"""Margins: the same figures as tables show, and the joint bootstrap for every other expression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.gates.evaluator import Evaluator
from assay.gates.grammar import parse_clause
from assay.gates.intervals import linear_form
from assay.gates.margin import Margin, clause_margins
from assay.gates.syntax import Arithmetic, Call
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.intervals import bonett_price, wilson
from assay.stats.resample import bootstrap_weights
from assay.stats.rows import Rows
from score_rows import REGISTRY, B, M, items_of, rows_of

RESAMPLES = 2_000
RANDOM = np.random.default_rng(8)
A_SCORES, B_SCORES, C_SCORES = RANDOM.choice([1, 1 / 2, 1 / 3, 0], size=(3, 50))
GRADED = rows_of({("a", "M"): A_SCORES, ("b", "M"): B_SCORES, ("c", "M"): C_SCORES})


def margin(text: str, rows: Rows = GRADED, level: float = 0.95) -> Margin:
    clause = parse_clause(text)
    evaluator = Evaluator(rows, REGISTRY, resamples=RESAMPLES, level=level)
    return clause_margins(clause, evaluator.operands(clause), evaluator, [{}])[0]


def drawn_means(*columns: Any) -> list[Any]:
    weights = np.concatenate(list(bootstrap_weights(len(columns[0]), RESAMPLES, 0)))
    return [weights @ column / len(column) for column in columns]


# ------------------------------------------------------------------------------ as tables show it


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_difference_has_the_interval_of_the_table(level: float) -> None:
    how = ComparisonSettings("b", resamples=RESAMPLES, level=level)
    table = {one.a: one for one in summarise(GRADED, [M], how)[1]}["a"]
    found = margin("M(a) >= M(b)", level=level).whole
    assert (found.value, found.low, found.high) == pytest.approx((table.difference, table.low, table.high))
    shifted = margin("M(a) - 0.02 >= M(b) + 1%", level=level).whole
    assert shifted.low == pytest.approx(found.low - 0.03)
    assert shifted.high == pytest.approx(found.high - 0.03)


def test_a_mean_has_the_interval_of_the_table() -> None:
    table: Any = summarise(GRADED, [M], ComparisonSettings("b", resamples=RESAMPLES))[0][0]
    for text, sign in (("M(a) >= 0.4", 1), ("0.4 >= M(a)", -1)):
        found = margin(text).whole
        ends = sorted((sign * (table.low - 0.4), sign * (table.high - 0.4)))
        assert [found.low, found.high] == pytest.approx(ends)


def test_proportions_have_their_closed_forms() -> None:
    new, old = [1.0] * 30 + [0.0] * 20, [1.0] * 20 + [0.0] * 25 + [1.0] * 5
    rows = rows_of({("new", "B"): new, ("old", "B"): old})
    one = margin("B(new) >= 50%", rows).whole
    assert (one.low, one.high) == pytest.approx((wilson(30, 50).low - 0.5, wilson(30, 50).high - 0.5))
    turned = margin("50% >= B(new)", rows).whole
    assert (turned.low, turned.high) == pytest.approx((-one.high, -one.low))
    two = margin("B(new) >= B(old) + 0.1", rows).whole
    exact = bonett_price(10, 5, 50)  # rows 20 to 29 are gained, the last five lost
    assert (two.low, two.high) == pytest.approx((exact.low - 0.1, exact.high - 0.1))
    table = summarise(rows, [B], ComparisonSettings("old", resamples=RESAMPLES))[1][0]
    assert (two.low + 0.1, two.high + 0.1) == pytest.approx((table.low, table.high))


def test_clustered_proportions_are_bootstrapped() -> None:
    ones = [1.0] * 20 + [0.0] * 20
    alone = rows_of({("a", "B"): ones})
    together = rows_of(
        {("a", "B"): ones}, items_of(40, site=[f"s{index // 4}" for index in range(40)]), "site"
    )
    narrow, wide = (margin("B(a) >= 0.5", rows) for rows in (alone, together))
    assert (narrow.n, wide.n) == (40, 10)
    assert wide.whole.high - wide.whole.low > 1.5 * (narrow.whole.high - narrow.whole.low)


def test_an_expression_that_cancels_is_certain() -> None:
    found = margin("M(a) + 0.01 >= M(a)").whole
    assert (found.value, found.low, found.high) == pytest.approx((0.01, 0.01, 0.01))


# -------------------------------------------------------------------------------- joint bootstrap


def test_the_maximum_is_taken_inside_each_resample() -> None:
    found = margin("M(a) >= max(M(b), M(c))").whole
    a, b, c = drawn_means(A_SCORES, B_SCORES, C_SCORES)
    inside = np.quantile(a - np.maximum(b, c), [0.025, 0.975])
    outside = np.quantile(a - (b if B_SCORES.mean() > C_SCORES.mean() else c), [0.025, 0.975])
    # a little wider than the plain percentiles, and on the side that the maximum moves it to
    assert found.value == pytest.approx(A_SCORES.mean() - max(B_SCORES.mean(), C_SCORES.mean()))
    assert found.low == pytest.approx(inside[0], abs=0.012)
    assert found.high == pytest.approx(inside[1], abs=0.012)
    assert inside[1] < outside[1] - 0.005


def test_a_ratio_is_resampled_as_a_ratio() -> None:
    found = margin("M(a) / M(b) <= 1.2")
    a, b = drawn_means(A_SCORES, B_SCORES)
    low, high = np.quantile(a / b, [0.025, 0.975])
    assert found.whole.value == pytest.approx(A_SCORES.mean() / B_SCORES.mean() - 1.2)
    assert (found.left, found.right) == pytest.approx((A_SCORES.mean() / B_SCORES.mean(), 1.2))
    assert found.whole.low == pytest.approx(low - 1.2, abs=0.03)
    assert found.whole.high == pytest.approx(high - 1.2, abs=0.05)


def test_slices_of_one_clause_are_drawn_together() -> None:
    items = items_of(50, language=["en" if index % 2 else "de" for index in range(50)])
    rows = rows_of({("a", "M"): A_SCORES}, items)
    found = margin("M(a)[language=en] >= M(a)[language=de]", rows)
    english, german = A_SCORES[1::2], A_SCORES[::2]
    assert found.n == 50
    assert found.whole.value == pytest.approx(english.mean() - german.mean())
    # two independent groups: half the width is about 1.96 standard errors of a difference of two means
    error = np.sqrt(english.var(ddof=1) / 25 + german.var(ddof=1) / 25)
    assert (found.whole.high - found.whole.low) / 2 == pytest.approx(1.96 * error, rel=0.1)


# ---------------------------------------------------------------------------------- no difference


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("M(a) >= M(b) + 0.02", -0.02),
        ("M(a) >= M(b) - 0.02", 0.02),
        ("M(a) >= M(b)", 0.0),
        ("M(a) / M(b) >= 1.15", -0.15),
        ("M(a) / M(b) <= 1.2", -0.2),
        ("M(a) >= max(M(b), M(c)) + 0.03", -0.03),
        ("(M(a) - M(b)) / M(b) >= 5%", -0.05),
        ("p50(M(a)) <= p50(M(b)) + 0.1", -0.1),
    ],
)
def test_the_gain_is_what_lies_above_systems_that_are_alike(text: str, alike: float) -> None:
    found = margin(text)
    assert found.gain.value == pytest.approx(found.whole.value - alike)
    assert found.gain.low == pytest.approx(found.whole.low - alike)
    assert found.gain.high == pytest.approx(found.whole.high - alike)


def test_the_gain_of_a_relative_demand_is_the_plain_difference() -> None:
    # with both at L = (a + b) / 2 the margin is -0.15 L, so the gain is a - 1.15 b + 0.15 L = 1.075 (a - b):
    # above zero where a is above b, whatever the level
    relative, plain = margin("M(a) >= 1.15 * M(b)"), margin("M(a) >= M(b)")
    assert relative.gain.value == pytest.approx(1.075 * plain.whole.value)
    assert relative.gain.low == pytest.approx(1.075 * plain.whole.low)
    assert relative.gain.high == pytest.approx(1.075 * plain.whole.high)


@pytest.mark.parametrize(
    "text", ["max(M(a), M(b)) >= 0.5", "M(a) + M(b) >= 1", "spearman(M(a), M(b)) >= 0.2"]
)
def test_against_a_number_there_is_no_gain_to_speak_of(text: str) -> None:
    found = margin(text)
    assert found.gain == found.whole


def test_measures_are_levelled_each_by_its_own() -> None:
    rows = rows_of(
        {
            ("new", "M"): A_SCORES,
            ("old", "M"): B_SCORES,
            ("new", "T"): A_SCORES + 2,
            ("old", "T"): C_SCORES + 3,
        }
    )
    found = margin("M(new) - 0.1 * T(new) >= M(old) - 0.1 * T(old) + 0.05", rows)
    assert found.gain.value == pytest.approx(found.whole.value + 0.05)


def test_linear_forms() -> None:
    clause = parse_clause("M(a) - (M(b) - 0.5) >= -M(a) + 0.2")
    weights, constant = linear_form(Arithmetic("-", clause.left, clause.right)) or ({}, 0.0)
    assert {str(call): weight for call, weight in weights.items()} == {"M(a)": 2.0, "M(b)": -1.0}
    assert constant == pytest.approx(0.3)
    assert linear_form(parse_clause("max(M(a), M(b)) >= 0").left) is None
    assert linear_form(parse_clause("M(a) * 2 >= 0").left) is None
    assert linear_form(Call("M")) == ({Call("M"): 1.0}, 0.0)
