"""The compare stage: what is estimated, compared, refused, and corrected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.core.records import Comparison, Estimate
from assay.core.registry import Registry
from assay.measures.parse import parse_measure
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.intervals import bonett_price, wilson
from assay.stats.resample import Draws, bootstrap_weights
from score_rows import B, E, M, Made, T, items_of, rows_of

RANDOM = np.random.default_rng(5)
GOOD = RANDOM.choice([1, 1 / 2, 1 / 3, 0], p=[0.5, 0.2, 0.1, 0.2], size=60)
POOR = np.where(np.cumsum(GOOD == 1) <= 6, 0.0, GOOD) * (GOOD == 1) + GOOD * (GOOD < 1)  # loses six


def summary(
    columns: Any, measures: Any, items: Any = None, cluster: str | None = None, **how: Any
) -> tuple[list[Estimate], list[Comparison]]:
    rows = rows_of(columns, items, cluster)
    return summarise(
        rows, measures, ComparisonSettings(**{"baseline": rows.systems[0], "resamples": 1_000, **how})
    )


def comparison(columns: Any, measure: Any, **how: Any) -> Any:
    """The first comparison; Any, as its figures are None only where it was refused."""
    return summary(columns, [measure], **how)[1][0]


# ------------------------------------------------------------------------------------- estimates


def test_an_estimate_says_how_many_of_how_many() -> None:
    column = [0.5, 1.0, "missing=0", "failed", "unjudged", "pending", "not_applicable"]
    (estimate,), _ = summary({("a", "M"): column}, [M])
    # (0.5 + 1 + 0) / 3: failed, unjudged and pending rows are expected, and have no value
    assert estimate.value == pytest.approx(0.5)
    assert (estimate.n_scored, estimate.n_expected) == (3, 6)
    assert estimate.counts == {"missing": 1, "failed": 1, "unjudged": 1, "pending": 1, "not_applicable": 1}


@pytest.mark.parametrize("status", ["not_applicable", "failed", "pending"])
def test_nothing_to_average_is_no_value_never_zero(status: str) -> None:
    (a, _), (one,) = summary({("a", "M"): [status] * 3, ("b", "M"): [status] * 3}, [M])
    assert (a.value, a.low, a.high, a.n_scored, a.method) == (None, None, None, 0, "")
    assert one.difference is None
    assert one.refused


def test_a_proportion_has_its_closed_form() -> None:
    (estimate,), _ = summary({("a", "B"): [1.0] * 30 + [0.0] * 20}, [B])
    expected = wilson(30, 50)
    assert (estimate.low, estimate.high, estimate.method) == (expected.low, expected.high, "wilson")


def test_a_mean_of_seconds_has_an_interval_only_with_a_limit() -> None:
    plain, limited = (parse_measure(name, Registry()) for name in ("Seconds", "Seconds(limit=4)"))
    times = [0.1, 0.2, 0.2, 0.3, 9.0] * 6
    (mean,), _ = summary({("a", "Seconds"): times}, [plain])
    assert (mean.value, mean.low, mean.high) == (pytest.approx(1.96), None, None)
    (mean,), _ = summary({("a", limited.name): np.minimum(times, 4.0)}, [limited])
    assert mean.low is not None
    assert mean.high is not None
    assert 0.1 < mean.low < 0.96 < mean.high < 4


# ----------------------------------------------------------------------------------- comparisons


def test_a_graded_comparison_by_hand() -> None:
    one = comparison({("old", "M"): [0.5, 0.5, 0.2, 0.4], ("new", "M"): [0.75, 0.5, 0.7, 0.3]}, M)
    # differences .25, 0, .5, -.1: mean .65 / 4; |sum| of the 8 sign vectors: .85 .65 .35 .15 twice over,
    # half of all 8 reach .65
    assert (one.a, one.b, one.n) == ("new", "old", 4)
    assert one.difference == pytest.approx(0.1625)
    assert one.p == pytest.approx(4 / 8)
    assert (one.wins, one.ties, one.losses) == (2, 1, 1)
    assert one.effect == pytest.approx(0.1625 / np.std([0.25, 0, 0.5, -0.1], ddof=1))
    assert (one.effect_name, one.test) == ("Cohen's d", "sign-flip permutation")


def test_a_binary_comparison_by_hand() -> None:
    old, new = [1.0] * 10 + [0.0] * 10, [1.0] * 9 + [0.0] + [1.0] * 6 + [0.0] * 4
    one = comparison({("old", "B"): old, ("new", "B"): new}, B)
    # 6 gained, 1 lost of 20: McNemar's exact p is 2 (C(7,0) + C(7,1)) / 2^7 = 16 / 128
    assert one.p == pytest.approx(0.125)
    assert one.difference == pytest.approx(5 / 20)
    assert one.effect == pytest.approx(5 / 20)
    expected = bonett_price(6, 1, 20)
    assert (one.low, one.high) == (expected.low, expected.high)
    assert (one.effect_name, one.test) == ("Cliff's delta", "McNemar")


def test_wins_follow_what_is_better() -> None:
    columns = {("old", "E"): [0.5, 0.5, 0.5], ("new", "E"): [0.1, 0.2, 0.9]}
    one = comparison(columns, E)
    assert (one.wins, one.ties, one.losses) == (2, 0, 1)
    assert one.difference == pytest.approx(-0.1)  # a less b, whichever way is better


def test_binary_scores_averaged_over_seeds_are_graded() -> None:
    columns = {
        ("old", "B", 0): [0.0, 1.0, 1.0],
        ("new", "B", 0): [1.0, 1.0, 1.0],
        ("new", "B", 1): [0.0, 1.0, 1.0],
    }
    one = comparison(columns, B)
    assert one.test == "sign-flip permutation"
    assert one.difference == pytest.approx(0.5 / 3)


def test_a_system_against_itself_shows_nothing() -> None:
    for measure in (M, B, T):
        column = (GOOD > 0.4).astype(float) if measure is B else GOOD
        one = comparison({("old", measure.name): column, ("new", measure.name): column}, measure)
        assert (one.difference, one.p, one.wins, one.losses, one.ties) == (0.0, 1.0, 0, 0, 60)
        # an unbounded measure that shows no spread allows no interval
        assert (one.low is None) if measure is T else (one.low <= 0 <= one.high)


def test_which_pairs_are_compared() -> None:
    columns = {(system, "M"): [0.1, 0.5] for system in "abc"}
    pairs = [(one.a, one.b) for one in summary(columns, [M], baseline="b")[1]]
    assert pairs == [("a", "b"), ("c", "b")]
    pairs = [(one.a, one.b) for one in summary(columns, [M], against="all")[1]]
    assert pairs == [("b", "a"), ("c", "a"), ("c", "b")]


# --------------------------------------------------------------------------------------- refusal


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ([0.1, "not_applicable", 0.3, 0.4], "different items: only one of the two has M for i1"),
        ([0.1, "missing", 0.3, 0.4], "different items: only one of the two has M for i1"),
        ([0.1, "pending", "pending", 0.4], "new: 2 items not run yet (i1, i2)"),
        (["unjudged"] * 4, "new: 4 items not judged (i0, i1, i2 and 1 more)"),
    ],
)
def test_rows_that_cannot_be_paired_are_named(new: list[Any], says: str) -> None:
    one = comparison({("old", "M"): [0.1, 0.2, 0.3, 0.4], ("new", "M"): new}, M)
    assert one.refused == says
    assert (one.difference, one.low, one.high, one.p, one.p_adjusted, one.mde) == (None,) * 6


def test_failures_of_an_unbounded_measure_are_refused() -> None:
    one = comparison({("old", "T"): [0.1, 0.2], ("new", "T"): [0.1, "failed"]}, T)
    assert one.refused == "new: 1 items failed, and T has no upper end (i1)"


# -------------------------------------------------------------------------------------- failures


def test_failed_rows_widen_the_interval_and_raise_p() -> None:
    old, new = np.round(GOOD * 0.6, 3), np.round(GOOD * 0.6 + 0.1, 3)
    whole = comparison({("old", "M"): old, ("new", "M"): new}, M)
    broken: list[Any] = ["failed" if index in {3, 17} else value for index, value in enumerate(new)]
    part = comparison({("old", "M"): old, ("new", "M"): broken}, M)
    assert part.n == 58
    assert part.low < whole.low
    assert part.high > whole.high
    assert part.p >= whole.p
    # the hull of both ways to count, each worked out as if nothing had failed
    ends = [
        comparison({("old", "M"): old, ("new", "M"): [end if isinstance(x, str) else x for x in broken]}, M)
        for end in (0.0, 1.0)
    ]
    assert part.low == pytest.approx(min(one.low for one in ends), abs=1e-12)
    assert part.high == pytest.approx(max(one.high for one in ends), abs=1e-12)
    assert part.p == max(one.p for one in ends)


def test_failures_on_both_sides_are_combined() -> None:
    old: list[Any] = [*GOOD[:-1], "failed"]
    new: list[Any] = ["failed", *GOOD[1:]]
    part = comparison({("old", "M"): old, ("new", "M"): new}, M)
    ways = [
        comparison({("old", "M"): [*GOOD[:-1], x], ("new", "M"): [y, *GOOD[1:]]}, M)
        for x in (0, 1)
        for y in (0, 1)
    ]
    assert part.low == pytest.approx(min(one.low for one in ways), abs=1e-12)
    assert part.high == pytest.approx(max(one.high for one in ways), abs=1e-12)
    assert part.p == max(one.p for one in ways)


# ----------------------------------------------------------------------------- families, slices


def test_families_are_a_measure_overall_and_a_measure_by_slice() -> None:
    columns = {
        (system, measure): RANDOM.random(40) for system in ("base", "x", "y") for measure in ("M@1", "M@2")
    }
    items = items_of(40, language=["en", "de"] * 20)
    _, found = summary(columns, [Made(1), Made(2)], items, by=["language"])
    families = {one.family: [other for other in found if other.family == one.family] for one in found}
    assert {name: len(members) for name, members in families.items()} == {
        "M@1": 2,
        "M@2": 2,
        "M@1 by slice": 4,
        "M@2 by slice": 4,
    }
    for members in families.values():
        p = sorted(one.p for one in members if one.p is not None)
        # Holm: the smallest p times the number of tests
        smallest = min(one.p_adjusted for one in members if one.p_adjusted is not None)
        assert smallest == pytest.approx(min(1.0, p[0] * len(p)))
    _, plain = summary(columns, [Made(1), Made(2)], items, by=["language"], correction="none")
    assert all(one.p == one.p_adjusted for one in plain)


def test_what_could_be_detected_stands_beside_what_was_not_found() -> None:
    shifted = {("old", "M"): GOOD * 0.5, ("new", "M"): GOOD * 0.5 + 0.3 + 0.01 * RANDOM.random(60)}
    assert comparison(shifted, M).mde is None
    twins = comparison({("old", "M"): GOOD, ("new", "M"): np.roll(GOOD, 1)}, M)
    # half the width is 1.96 standard errors; 80 % power needs 1.96 + 0.8416 of them
    assert twins.mde == pytest.approx((twins.high - twins.low) / 2 * (1.959964 + 0.841621) / 1.959964)


def test_a_difference_that_the_family_takes_back_shows_its_detectable_effect() -> None:
    columns = {("base", "M"): GOOD, ("x", "M"): POOR} | {
        (f"t{i}", "M"): np.roll(GOOD, i + 1) for i in range(9)
    }
    found = {one.a: one for one in summary(columns, [M], resamples=2_000)[1]}
    one: Any = found["x"]
    assert one.p == pytest.approx(2 / 2**6)  # six losses, no win
    assert one.p_adjusted >= 0.05
    assert one.mde is not None


def test_slices_take_the_rows_of_their_tag() -> None:
    items = items_of(4, kind=["x|y", "x", "y", ""])
    estimates, _ = summary({("a", "M"): [0.1, 0.3, 0.6, 1.0]}, [M], items, by=["kind"])
    means: dict[Any, Any] = {tuple(one.where.items()): (one.value, one.n_scored) for one in estimates}
    assert means[()] == (pytest.approx(0.5), 4)
    assert means[("kind", "x"),] == (pytest.approx(0.2), 2)
    assert means[("kind", "y"),] == (pytest.approx(0.35), 2)


def test_each_combination_of_factors_has_its_own_table() -> None:
    columns = {
        ("flat", "M"): [0.5, 0.5, 0.5],
        ("race", "M", "stage=10k"): [0.6, 0.7, 0.8],
        ("race", "M", "stage=50k"): [0.4, 0.3, 0.2],
    }
    estimates, found = summary(columns, [M])
    differences: dict[str, Any] = {one.factors["stage"]: (one.a, one.b, one.difference) for one in found}
    assert differences == {
        "10k": ("race", "flat", pytest.approx(0.2)),
        "50k": ("race", "flat", pytest.approx(-0.2)),
    }
    # an arm without the factor is one arm, estimated once
    assert [(each.system, each.factors) for each in estimates] == [
        ("flat", {}),
        ("race", {"stage": "10k"}),
        ("race", {"stage": "50k"}),
    ]


def test_rows_that_depend_on_each_other_widen_the_interval() -> None:
    # 12 sites of 5 items; within a site the difference is the same
    shift = np.repeat(np.random.default_rng(2).normal(0, 0.2, 12), 5)
    columns = {("old", "M"): np.full(60, 0.5), ("new", "M"): np.clip(0.5 + shift, 0, 1)}
    items = items_of(60, site=[f"s{index // 5}" for index in range(60)])
    alone, together = (comparison(columns, M, items=items, cluster=cluster) for cluster in (None, "site"))
    assert alone.difference == together.difference
    assert together.high - together.low > 1.8 * (alone.high - alone.low)  # root of 5 in the limit
    assert together.p > alone.p


# --------------------------------------------------------------------------------- reproducible


def test_the_same_bits_whatever_the_order_of_the_systems() -> None:
    random = np.random.default_rng(3)
    columns: dict[Any, Any] = {(f"s{index}", "M"): random.random(47) for index in range(7)}
    columns |= {(f"s{index}", "T"): random.exponential(size=47) for index in range(7)}
    columns["s3", "M"] = [*columns["s3", "M"][:-1], "failed"]
    backwards = dict(reversed(columns.items()))
    tables = [
        summary(each, [M, T], baseline="s0", correction=correction)
        for correction in ("holm", "benjamini-hochberg")
        for each in (columns, columns, backwards)
    ]
    for first, again, other in (tables[:3], tables[3:]):
        assert first == again
        assert sorted(map(repr, first[0])) == sorted(map(repr, other[0]))
        assert sorted(map(repr, first[1])) == sorted(map(repr, other[1]))


@pytest.mark.parametrize("room", [0, 2**26])
def test_weights_are_the_same_whether_kept_or_drawn_again(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Draws, "KEPT_CELLS", room)
    draws = Draws(300, seed=4)
    for n in (7, 40, 7):
        expected = np.concatenate(list(bootstrap_weights(n, 300, 4)))
        np.testing.assert_array_equal(np.concatenate(list(draws.weights(n))), expected)
    assert bool(draws._kept) == bool(room)
