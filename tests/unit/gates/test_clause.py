"""Clauses: when they hold, fail, or stay open, and what they say about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import UsageError
from assay.core.records import Judgment
from assay.stats.rows import Rows
from score_rows import decided, items_of, rows_of

RANDOM = np.random.default_rng(11)
BASE = RANDOM.choice([0.8, 0.5, 0.3, 0.1], size=100)
NOISE = np.where(np.arange(100) % 2, 0.1, -0.1)  # sums to zero


def pair(gain: float, n: int = 100, **more: Any) -> Any:
    """`new` better than `old` by a gain, with a spread of 0.1 around it: standard error 0.1 / root n."""
    return rows_of({("old", "M"): BASE[:n], ("new", "M"): BASE[:n] + gain + NOISE[:n]}, **more)


# -------------------------------------------------------------------------------------- one system


@pytest.mark.parametrize(("op", "holds"), [(">=", True), (">", False), ("<=", True), ("<", False)])
def test_signs_at_exact_equality(op: str, holds: bool) -> None:
    rows = rows_of({("a", "M"): [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]})  # mean 0.2, and 0.1 + 0.1 is not quite 0.2
    assert decided(f"M(a) {op} 20%", rows).holds is holds
    assert decided(f"M(a) {op} 0.1 + 0.1", rows).holds is holds


def test_one_system_is_decided_on_the_estimate() -> None:
    rows = rows_of({("a", "M"): [0.0, 1.0] * 5})
    result = decided("M(a) >= 0.45", rows)
    assert result.holds is True
    assert result.low is not None
    assert result.low < 0 < result.value  # the interval reaches below, and the estimate decides
    assert (result.left, result.right, result.n) == (0.5, 0.45, 10)
    assert decided("M(a) >= 0.55", rows).holds is False
    assert decided("M(a) >= 0.45", rows, on="interval").holds is None
    assert decided("M >= 0.45", rows).holds is True  # the only system need not be named


def test_two_measures_of_one_system_are_one_system() -> None:
    rows = rows_of({("a", "M"): [0.5, 0.6] * 5, ("a", "E"): [0.6, 0.4] * 5})
    assert decided("M(a) >= E(a)", rows).holds is True
    assert decided("E(a) >= M(a)", rows).holds is False


# --------------------------------------------------------------------------------- several systems

# The standard error is 0.1 / 10 = 0.01; 95 % intervals reach about 0.02 to both sides.
RULE = [
    # a demand: the estimate must reach it, and the interval exclude a loss
    (0.030, "M(new) >= M(old) + 0.02", True),
    (0.030, "M(new) >= M(old) + 0.035", None),
    (0.005, "M(new) >= M(old) + 0.002", None),
    (0.005, "M(new) >= M(old) + 0.1", False),
    # no difference at all asked for
    (0.030, "M(new) >= M(old)", True),
    (0.005, "M(new) >= M(old)", None),
    (-0.005, "M(new) >= M(old)", None),
    (-0.030, "M(new) >= M(old)", False),
    # a tolerated loss: the interval must exclude a larger one
    (0.005, "M(new) >= M(old) - 0.02", True),
    (-0.010, "M(new) >= M(old) - 0.02", None),
    (-0.030, "M(new) >= M(old) - 0.02", None),
    (-0.050, "M(new) >= M(old) - 0.02", False),
    # the other way about
    (-0.030, "M(new) <= M(old) - 0.02", True),
    (0.005, "M(new) <= M(old) + 0.02", None),
    (-0.005, "M(new) <= M(old) + 0.02", True),
    (0.050, "M(new) < M(old)", False),
    (0.030, "M(new) - M(old) >= 2%", True),
    (0.030, "M(old) + 0.02 <= M(new)", True),
    (0.030, "-M(old) >= 0.02 - M(new)", True),
]


@pytest.mark.parametrize(("gain", "text", "holds"), RULE)
def test_the_rule_over_two_systems(gain: float, text: str, holds: bool | None) -> None:
    assert decided(text, pair(gain)).holds is holds


@pytest.mark.parametrize(
    ("gain", "on", "holds"),
    [
        (0.025, "estimate", True),
        (0.015, "estimate", False),
        (0.030, "interval", None),  # reaches from 0.01 to 0.05: above no loss, not above 0.02
        (0.050, "interval", True),
        (0.010, "interval", None),
        (-0.010, "interval", False),
    ],
)
def test_on_overrides(gain: float, on: str, holds: bool | None) -> None:
    assert decided("M(new) >= M(old) + 0.02", pair(gain), on=on).holds is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("M(new) / M(old) <= 1.2", True),
        ("M(new) / M(old) <= 0.9", False),
        ("M(new) / M(old) >= 1.05", True),
        ("M(new) >= 1.05 * M(old)", True),
        ("M(new) >= 1.5 * M(old)", False),
        ("M(new) >= 0.95 * M(old)", True),
        ("M(new) >= max(M(old), 0.4)", True),
        ("M(old) >= min(M(old), M(new)) - 0.05", True),
        ("spearman(M(new), M(old)) >= 0.5", True),
        ("spearman(M(new), M(old)) >= 0.99", False),
    ],
)
def test_other_expressions(text: str, holds: bool) -> None:
    assert decided(text, pair(0.05)).holds is holds


def test_percentiles() -> None:
    rows = rows_of({("new", "T"): np.linspace(0.01, 1.0, 100)})
    # numpy: 0.01 + 0.95 * 0.99 of the way
    result = decided("p95(T(new)) <= 0.96", rows)
    assert (result.holds, result.left) == (True, pytest.approx(0.9505))
    assert decided("p95(T(new)) <= 0.95", rows).holds is False


def test_a_system_against_itself() -> None:
    rows = pair(0.05)
    for on in (None, "estimate", "interval"):
        assert decided("M(new) >= M(new)", rows, on=on).holds is True
        assert decided("M(new) > M(new)", rows, on=on).holds is False
        assert decided("M(new) >= M(new) + 0.02", rows, on=on).holds is False


def test_a_copy_is_neither_better_nor_worse() -> None:
    rows = rows_of({("a", "M"): BASE, ("b", "M"): BASE})
    assert decided("M(a) >= M(b)", rows).holds is None  # alike so far; no interval reaches exactly zero
    assert decided("M(a) >= M(b) - 0.1", rows).holds is True
    assert decided("M(a) > M(b) + 0.1", rows).holds is False


def test_an_unbounded_measure_without_any_spread() -> None:
    rows = rows_of({("a", "T"): [2.0] * 8, ("b", "T"): [1.0] * 8})
    assert decided("T(a) / T(b) <= 2.5", rows).holds is True
    assert decided("T(a) / T(b) <= 1.5", rows).holds is False


@pytest.mark.parametrize(
    "clause",
    [
        *("M(a) / M(b) >= 1", "M(a) >= 0.99 * M(b)", "M(a) >= 1.001 * M(b)"),
        *("wins(M(a), M(b)) >= 2 * wins(M(b), M(a))", "T(a) <= T(b)"),
    ],
)
def test_systems_that_hardly_differ_are_not_told_apart(clause: str) -> None:
    # one row of thirty differs: a bootstrap would be sure of what it never saw
    near = [0.5] * 29 + [0.6]
    rows = rows_of({("a", "M"): near, ("b", "M"): [0.5] * 30, ("a", "T"): near, ("b", "T"): [0.5] * 30})
    found = decided(clause, rows)
    assert (found.holds, found.reason) == (None, "too few items tell the systems apart for an interval")


def test_a_percentile_has_the_interval_of_its_order_statistics() -> None:
    # of 100 rows 90 to 99 lie below the true p95 with 95 % chance: binomial(100, 0.95)
    rows = rows_of({("a", "T"): [float(value) for value in range(1, 101)]})
    found = decided("p95(T(a)) <= 200", rows, on="interval")
    assert (found.low, found.high) == (90 - 200, 100 - 200)
    assert found.holds is True
    few = decided(
        "p95(T(a)) <= 200", rows_of({("a", "T"): [float(value) for value in range(1, 31)]}), on="interval"
    )
    assert (few.high, few.holds) == (None, None)  # 30 rows do not reach beyond a p95
    # 0.95^71 = 0.0262 and 0.95^72 = 0.0249: from 72 rows on, all lie below it less often than 2.5 %
    assert few.reason == "30 items do not reach the upper end of the interval of p95: that takes 72 items"
    assert few.advice is None


def test_too_few_rows_for_an_interval_are_open() -> None:
    rows = rows_of({("a", "T"): [2.0], ("b", "T"): [1.0]})
    assert decided("T(a) <= T(b) + 2", rows, min_items=1).holds is None


# ------------------------------------------------------------------------------- evidence and power


def test_detectable_effect_by_hand() -> None:
    result = decided("M(new) >= M(old)", pair(0.005))
    assert result.reason == "the estimate passes, but its interval does not exclude a loss"
    assert result.value == pytest.approx(0.005)
    low, high = result.low or 0.0, result.high or 0.0
    # differences ±0.1 around the gain: deviation 0.1005, error 0.01005, Student's t of 99 rows is 1.984
    assert low == pytest.approx(0.005 - 1.984 * 0.01005, abs=0.002)
    assert result.mde == pytest.approx((high - low) / 2 * (1.95996 + 0.84162) / 1.95996, rel=1e-4)
    failing = decided("M(new) >= M(old) + 0.02", pair(0.015))
    assert failing.reason == "the estimate fails, but its interval does not exclude passing"


def test_the_level_of_the_study_decides_and_is_what_power_is_reckoned_at() -> None:
    at = {level: decided("M(new) >= M(old)", pair(0.018), level=level) for level in (0.8, 0.95)}
    assert (at[0.8].holds, at[0.95].holds) == (True, None)
    narrow = at[0.8]
    z = float(stats.norm.ppf(0.9))
    assert narrow.mde == pytest.approx(
        ((narrow.high or 0) - (narrow.low or 0)) / 2 * (z + 0.84162) / z, rel=1e-4
    )


# ----------------------------------------------------------------------------------------- slices


@pytest.fixture
def languages() -> Any:
    items = items_of(20, language=["en", "de"] * 10, kind=["x|y", "x", "y", "z"] * 5)
    return rows_of({("a", "M"): [0.9, 0.3] * 10, ("b", "M"): [0.5, 0.5] * 10}, items)


def test_where_and_slices_on_a_call(languages: Any) -> None:
    assert decided("M(a) >= 0.8 where language=en", languages).holds is True
    assert decided("M(a) >= 0.8 where language!=en", languages).holds is False
    assert decided("M(a) >= 0.5 where kind=x, language=de", languages).n == 5
    result = decided("M(a)[language=en] - M(a)[language=de] <= 0.1", languages)
    assert (result.holds, result.left) == (False, pytest.approx(0.6))
    assert decided("M(a)[language=en] >= 0.8 where kind=z", languages).reason == "no item applies"


def test_for_each_and_some_of(languages: Any) -> None:
    result = decided("M(a) >= 0.5 for each language=*", languages)
    assert result.holds is False
    assert result.reason == "1 of 2 pass: en passes (+0.4), de fails (-0.2)"
    assert result.value == pytest.approx(-0.2)  # the one that fails is the one shown
    assert decided("M(a) >= 0.5 for 1 of language=en|de", languages).holds is True
    assert decided("M(a) >= 0.5 for 1 of language=*", languages).value == pytest.approx(0.4)
    assert decided("M(a) <= 0.5 for each language=*", languages).value == pytest.approx(0.4)
    assert decided("M(a) >= 0.25 for each language!=en", languages).holds is True
    assert decided("M(a) >= 0.1 for 2 of kind=x|y|z", languages).reason.startswith("3 of 3 pass")


def test_for_with_too_little_to_repeat_it_for_is_open(languages: Any) -> None:
    assert decided("M(a) >= 0.1 for each site=*", languages).holds is None
    result = decided("M(a) >= 0.1 for 3 of language=*", languages)
    assert (result.holds, result.value) == (None, None)
    assert result.reason == "only 2 values of language to repeat it for, and 3 are asked for"


def test_an_open_value_leaves_for_open_unless_the_rest_settles_it() -> None:
    items = items_of(20, language=["en", "de"] * 10)
    rows = rows_of({("a", "E"): [0.1, "pending"] * 10}, items)
    each = decided("E(a) <= 0.5 for each language=*", rows)
    assert (each.holds, each.value) == (None, None)
    assert each.reason == "1 of 2 pass: en passes (-0.4), de undecided (10 items not run yet)"
    assert decided("E(a) <= 0.05 for each language=*", rows).holds is False
    assert decided("E(a) <= 0.5 for 1 of language=*", rows).holds is True
    assert decided("E(a) <= 0.05 for 1 of language=*", rows).holds is None


def test_for_takes_the_place_of_a_cutoff() -> None:
    rows = rows_of({("a", "E@L1"): [0.01] * 6, ("a", "E@L2"): [0.03] * 6, ("a", "M@5"): [1.0] * 6})
    assert decided("E@level(a) <= 0.02 for each level=L1|L2", rows).reason == (
        "1 of 2 pass: L1 passes (-0.01), L2 fails (+0.01)"
    )
    assert decided("M@k(a) >= 1 for each k=5", rows).holds is True


def test_factors() -> None:
    rows = rows_of(
        {
            ("race", "M", "stage=10k"): BASE + 0.05 + NOISE,
            ("race", "M", "stage=50k"): BASE - 0.05 + NOISE,
            ("flat", "M"): BASE,
        }
    )
    assert decided("M(race) >= M(flat) where stage=10k", rows).holds is True
    assert decided("M(race) >= M(flat) for each stage=*", rows).holds is False
    result = decided("M(race)[stage=10k] >= M(race)[stage=50k] + 0.05", rows)
    assert (result.holds, result.value, result.n) == (True, pytest.approx(0.05), 100)
    pooled = decided("M(race) >= M(flat)", rows)
    assert (pooled.value, pooled.n) == (pytest.approx(0.0, abs=1e-12), 100)  # an item is drawn with both rows


# --------------------------------------------------------------------------------------- failures


def tolerant(text: str, rows: Rows, **rules: Any) -> Any:
    """Decided by a gate that lets a system fail on any share of the items."""
    return decided(text, rows, max_failed=1.0, **rules)


def test_failed_items_count_at_both_ends() -> None:
    scores: list[Any] = [0.8] * 9 + ["failed"]
    rows = rows_of({("a", "M"): scores})
    # between 7.2 / 10 and 8.2 / 10
    surely = tolerant("M(a) >= 0.7", rows)
    assert (surely.holds, surely.value) == (True, pytest.approx(0.02))
    assert surely.reason.endswith(
        "1 item failed; counted at either end of the range, it does not change this"
    )
    perhaps = tolerant("M(a) >= 0.75", rows)
    assert perhaps.holds is None
    assert perhaps.reason == "1 item failed, and could turn it: it differs between the ends of the range"
    assert tolerant("M(a) >= 0.85", rows).holds is False
    assert tolerant("M(a) >= 0.75", rows, failures="worst").holds is not True
    worst = tolerant("M(a) >= 0.72", rows, failures="worst")
    assert worst.reason.endswith("1 item failed; counted at the end of the range that is worse for go")
    # what fails on the other side of a comparison is no gift either
    twins = rows_of({("a", "M"): [0.8] * 10, ("b", "M"): [0.8] * 5 + ["failed"] * 5})
    assert tolerant("M(a) >= M(b) + 0.1", twins, failures="worst").holds is not True


def test_the_worst_of_a_measure_that_should_be_low() -> None:
    rows = rows_of({("a", "E"): [0.2] * 9 + ["failed"]})  # (1.8 + 1) / 10
    assert tolerant("E(a) <= 0.25", rows).holds is None
    assert tolerant("E(a) <= 0.25", rows, failures="worst").holds is not True
    assert tolerant("E(a) <= 0.28", rows, failures="worst").holds is True


def test_the_least_favourable_way_is_shown_with_the_hull() -> None:
    ends = [decided("M(a) <= 0.9", rows_of({("a", "M"): [0.2, 0.8] * 10 + [end]})) for end in (0.0, 1.0)]
    result = decided("M(a) <= 0.9", rows_of({("a", "M"): [0.2, 0.8] * 10 + ["failed"]}))
    assert result.value == ends[1].value
    assert (result.low, result.high) == (ends[0].low, ends[1].high)


def test_every_combination_of_failing_columns_counts() -> None:
    new: list[Any] = ["failed", *(BASE[1:] + 0.1 + NOISE[1:])]
    old: list[Any] = [*BASE[:-1], "failed"]
    result = tolerant("M(new) >= M(old) + 0.01", rows_of({("new", "M"): new, ("old", "M"): old}))
    assert result.holds is True
    more = ["failed"] * 15 + new[15:]
    result = tolerant("M(new) >= M(old) + 0.01", rows_of({("new", "M"): more, ("old", "M"): old}))
    assert result.holds is None
    # two measures of one system fail at the same items, and may still lie at different ends
    rows = rows_of({("a", "M"): [0.5] * 9 + ["failed"], ("a", "E"): [0.5] * 9 + ["failed"]})
    assert tolerant("M(a) >= E(a) - 0.05", rows).holds is None
    assert tolerant("M(a) >= E(a) - 0.1", rows).holds is True


@pytest.mark.parametrize("failures", ["impute", "worst"])
def test_failures_without_an_upper_end_leave_it_open(failures: str) -> None:
    rows = rows_of({("a", "T"): [0.2] * 9 + ["failed"]})
    result = tolerant("T(a) <= 0.5", rows, failures=failures)
    assert (result.holds, result.value) == (None, None)
    assert result.reason == "1 failed items, and T has no upper end to count them at"
    assert tolerant("p95(T(a)) <= 0.5", rows, failures=failures).holds is None


# ------------------------------------------------------------------------------------ what is open


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (["pending", *[0.9] * 9], "1 item not run yet"),
        (["unjudged", "unjudged", *[0.9] * 8], "2 items not judged"),
        (["not_applicable"] * 4 + [0.9] * 6, "unpaired: new and old differ on i0, i1, i2 and 1 more"),
        (["missing", *[0.9] * 9], "unpaired: new and old differ on i0"),
    ],
)
def test_rows_that_allow_no_decision(new: list[Any], reason: str) -> None:
    rows = rows_of({("new", "M"): new, ("old", "M"): [0.1] * 10})
    for on in (None, "estimate", "interval"):
        result = decided("M(new) >= M(old) - 0.5", rows, on=on)
        assert (result.holds, result.reason) == (None, reason)
        # a figure of items that do not match is no evidence
        assert (result.value, result.low, result.high, result.left) == (None, None, None, None)


def test_items_of_two_factor_values_must_match_too() -> None:
    rows = rows_of(
        {("a", "M", "stage=10k"): [0.5] * 8, ("a", "M", "stage=50k"): [0.4] * 7 + ["not_applicable"]}
    )
    assert decided("M(a)[stage=10k] >= M(a)[stage=50k]", rows).reason == "unpaired: a differ on i7"


def test_few_or_no_items() -> None:
    rows = rows_of({("a", "M"): [0.9] * 4, ("b", "M"): ["not_applicable"] * 4})
    few = decided("M(a) >= 0.5", rows)
    assert (few.holds, few.value, few.n) == (None, pytest.approx(0.4), 4)
    assert few.reason == "only 4 items; the gate asks for at least 5"
    assert decided("M(a) >= 0.5", rows, min_items=4).holds is True
    none = decided("M(b) >= 0.0", rows)
    assert (none.holds, none.value, none.left, none.n) == (None, None, None, 0)
    assert none.reason == "no item applies"
    assert decided("M(a) >= 0.5 where site=x", rows).reason == "no item applies"


def test_too_few_items_on_one_side_are_too_few() -> None:
    items = items_of(20, language=["en"] * 18 + ["de"] * 2)
    rows = rows_of({("a", "M"): [0.5] * 20}, items)
    result = decided("M(a)[language=en] >= M(a)[language=de] - 0.1", rows)
    assert result.reason == "only 2 items; the gate asks for at least 5"


def test_undefined_values() -> None:
    rows = rows_of({("a", "M"): [0.5] * 6, ("b", "M"): [0.0] * 6})
    assert decided("M(a) / M(b) >= 1", rows).reason == "the value is undefined"
    assert decided("spearman(M(a), M(b)) >= 0", rows).reason == "the value is undefined"
    rare = rows_of({("a", "M"): [0.5] * 6, ("b", "M"): [0.0] * 5 + [1.0]})
    # a third of the resamples miss the one row that is not zero
    assert decided("M(a) / M(b) >= 1", rare).reason == "too few items tell the systems apart for an interval"


def test_a_system_that_was_not_run_leaves_it_open() -> None:
    rows = rows_of({("a", "M"): [0.5] * 6})
    result = decided("M(a) >= M(later)", rows, systems=["a", "later"])
    assert (result.holds, result.reason) == (None, "later was not run")
    with pytest.raises(UsageError, match="column 11: there is no system 'later'"):
        decided("M(a) >= M(later)", rows)


# -------------------------------------------------------------------------------------- agreement


def marks(*raters: list[float | None], label: str = "accuracy") -> list[Judgment]:
    return [
        Judgment(f"i{index}", label, grade, f"rater{rater}")
        for rater, grades in enumerate(raters)
        for index, grade in enumerate(grades)
        if grade is not None
    ]


def test_agreement_of_raters() -> None:
    rows = rows_of({("a", "M"): [0.5] * 10})
    one: list[float | None] = [1, 1, 1, 1, 1, 0, 0, 0, 0, None]
    two: list[float | None] = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
    # nine both judged, eight alike; by chance (5 * 4 + 4 * 5) / 81 = 40/81 are:
    # kappa = (8/9 - 40/81) / (1 - 40/81) = 32/41
    result = decided("kappa(accuracy) >= 0.6", rows, judgments=marks(one, two))
    assert (result.holds, result.left, result.n) == (True, pytest.approx(32 / 41), 9)
    assert decided("kappa(accuracy) >= 0.8", rows, judgments=marks(one, two)).holds is False
    assert decided("kappa(accuracy) >= 0.6", rows, judgments=marks(one)).reason == (
        "no item has two judgments of 'accuracy'"
    )
    three = decided("kappa(accuracy) >= 0.6", rows, judgments=marks(one, two, two))
    assert three.holds is None
    assert "use alpha" in three.reason
    assert decided("alpha(accuracy) >= 0.6", rows, judgments=marks(one, two, two)).holds is True


def test_agreement_within_a_slice() -> None:
    items = items_of(12, language=["en", "de"] * 6)
    rows = rows_of({("a", "M", "stage=10k"): [0.5] * 12, ("a", "M", "stage=50k"): [0.5] * 12}, items)
    one = [float(index // 2 % 2) for index in range(12)]
    two = [grade if index % 2 == 0 else 1 - grade for index, grade in enumerate(one)]  # German: always apart
    judgments = marks(list(one), list(two))
    assert decided("kappa(accuracy) >= 0.9 where language=en", rows, judgments=judgments).left == 1.0
    assert decided("kappa(accuracy)[language=de] >= 0", rows, judgments=judgments).holds is False
    assert decided("kappa(accuracy) >= 0.9 where language=en, stage=50k", rows, judgments=judgments).n == 6
