"""What the clauses of the grammar decide: bands, levels, tests of each item, weights, numeric tags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.gates.expansion import ClauseGroup, expand_clause, share_levels
from assay.gates.grammar import parse_clause
from assay.stats.intervals import bonett_price, clopper_pearson, proportion_interval, wilson
from assay.stats.rows import Rows
from score_rows import decided, items_of, rows_of

RANDOM = np.random.default_rng(20)
OLD = RANDOM.choice([1, 1 / 2, 1 / 3, 0], size=400)
NEAR = np.clip(OLD + RANDOM.normal(0, 0.02, 400), 0, 1)


def pair(new: Any, old: Any, **tags: Any) -> Rows:
    return rows_of({("new", "M"): new, ("old", "M"): old}, items_of(len(new), **tags) if tags else None)


# ---------------------------------------------------------------------------------------- bands


def test_two_systems_are_equivalent_where_the_interval_lies_in_the_band() -> None:
    found = decided("M(new) within 0.02 of M(old)", pair(NEAR, OLD))
    difference = NEAR.mean() - OLD.mean()
    assert found.holds is True
    assert found.value == pytest.approx(difference)
    assert -0.02 < found.low < difference < found.high < 0.02
    assert (found.left, found.right) == (pytest.approx(NEAR.mean()), pytest.approx(OLD.mean()))
    assert found.reason == ""


def test_a_band_that_the_interval_leaves_is_open_and_one_it_lies_outside_fails() -> None:
    noisy = np.clip(OLD + RANDOM.normal(0, 0.3, 400), 0, 1)
    few = decided("M(new) within 0.02 of M(old)", pair(noisy[:40], OLD[:40]))
    assert (few.holds, few.reason) == (None, "the interval leaves the band")
    worse = decided("M(new) within 0.02 of M(old)", pair(NEAR * 0.8, OLD))
    assert (worse.holds, worse.reason) == (False, "the difference lies below the band")
    better = decided("M(old) within 0.02 of M(new)", pair(NEAR * 0.8, OLD))
    assert (better.holds, better.reason) == (False, "the difference lies above the band")


def test_one_system_against_a_number_is_decided_on_the_interval_too() -> None:
    mean = float(OLD.mean())
    rows = pair(OLD, OLD)
    assert decided(f"M(new) within 0.2 of {mean}", rows).holds is True
    assert decided(f"M(new) within 0.01 of {mean}", rows).holds is None  # ± 0.04 at 400 items
    assert decided(f"M(new) within 0.01 of {mean} on estimate", rows).holds is True


def test_a_band_is_two_clauses_that_must_both_hold() -> None:
    tree = expand_clause(parse_clause("M(new) within 0.02 of M(old) at 99%"), lambda _: [], lambda _: {})
    assert isinstance(tree, ClauseGroup)
    assert [str(part) for part in tree.parts] == [
        "M(new) <= M(old) + 0.02 at 99%",
        "M(new) >= M(old) - 0.02 at 99%",
    ]
    assert tree.need == 2


def test_a_band_for_each_slice() -> None:
    halves = ["a"] * 200 + ["b"] * 200
    new = np.where(np.arange(400) < 200, NEAR, NEAR * 0.8)
    found = decided("M(new) within 0.02 of M(old) for each tag", pair(new, OLD, tag=halves))
    assert found.holds is False
    assert found.reason.startswith("1 of 2 pass: a passes")


def test_items_that_failed_are_counted_at_both_ends_of_a_band() -> None:
    new: list[Any] = [*NEAR[:-40], *["failed"] * 40]
    found = decided("M(new) within 0.02 of M(old)", pair(new, OLD), max_failed=1.0)
    assert found.holds is None
    assert "40 items failed" in found.reason


# --------------------------------------------------------------------------------------- levels


def test_a_level_widens_the_interval_of_its_clause() -> None:
    rows = pair(np.clip(OLD + RANDOM.normal(0.01, 0.1, 400), 0, 1), OLD)
    plain, surer = (decided(f"M(new) >= M(old){at}", rows, resamples=10_000) for at in ("", " at 99%"))
    assert surer.low < plain.low
    assert surer.high > plain.high
    # the ends of a normal interval lie 2.576 / 1.960 = 1.314 times as far out
    ratio = (surer.high - surer.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(1.314, abs=0.08)


def test_a_level_is_one_of_an_interval_whatever_the_gate_says() -> None:
    rows = rows_of({("new", "B"): [1.0] * 82 + [0.0] * 18})
    assert decided("B(new) >= 80%", rows).holds is True
    found = decided("B(new) >= 80% at 99%", rows, on="estimate")
    ends = wilson(82, 100, 0.99)
    assert (found.holds, found.low) == (None, pytest.approx(ends.low - 0.8))


def test_a_level_keeps_its_share_of_what_several_clauses_may_get_wrong() -> None:
    surer, plain = parse_clause("M(a) > M(c) at 99%"), parse_clause("M(b) > M(c)")
    moved = {surer: RANDOM.normal(size=2_000), plain: RANDOM.normal(size=2_000)}
    levels = share_levels(ClauseGroup(1, (surer, plain)), moved, lambda _: (0.95, 0.95))
    # two that move apart share nearly alike: 5 % becomes about 2.5 %, and 1 % about 0.5 %
    assert 1 - levels[plain].holds == pytest.approx(0.025, abs=0.002)
    assert 1 - levels[surer].holds == pytest.approx((1 - levels[plain].holds) / 5)
    assert (levels[plain].fails, levels[surer].fails) == (0.95, pytest.approx(0.99))


# ------------------------------------------------------------------------------ tests of each item


def test_the_share_of_items_below_a_value() -> None:
    rows = rows_of({("a", "M"): [0.05] * 6 + [0.1] * 4 + [0.5] * 90})
    found = decided("share(M(a) < 0.1) <= 10%", rows)
    ends = clopper_pearson(6, 100)  # 0.1 itself is not below 0.1
    assert (found.holds, found.left) == (True, 0.06)
    assert (found.low, found.high) == (pytest.approx(ends.low - 0.1), pytest.approx(ends.high - 0.1))
    assert decided("share(M(a) < 0.1) <= 10% on interval", rows).holds is None
    assert decided("share(M(a) <= 0.1) <= 9%", rows).holds is False


def test_a_count_is_a_number_of_items() -> None:
    rows = rows_of({("a", "M"): [0.0] * 3 + [0.5] * 57})
    found = decided("count(M(a) = 0) <= 3", rows)
    ends = proportion_interval(3, 60)
    assert (found.holds, found.left) == (True, 3)
    assert (found.low, found.high) == (pytest.approx(60 * ends.low - 3), pytest.approx(60 * ends.high - 3))
    assert decided("count(M(a) != 0) >= 58", rows).holds is False


def test_none_seen_is_not_none_at_all() -> None:
    rows = rows_of({("a", "M"): [0.5] * 30})
    found = decided("count(M(a) = 0) <= 0", rows)
    assert (found.holds, found.low) == (True, 0.0)
    assert found.high == pytest.approx(30 * (1 - 0.025 ** (1 / 30)))  # 30 · (1 - 0.025^(1/30)) = 3.5 items
    assert decided("count(M(a) = 0) <= 0 on interval", rows).holds is None


def test_losses_wins_and_their_count() -> None:
    new, old = [0.2] * 5 + [0.5] * 85 + [0.9] * 10, [0.5] * 100
    rows = pair(new, old)
    lost = decided("losses(M(new), M(old)) <= 10%", rows)
    assert (lost.left, lost.high) == (0.05, pytest.approx(clopper_pearson(5, 100).high - 0.1))
    assert decided("wins(M(new), M(old)) >= 5%", rows).left == 0.10
    number = decided("count(M(new) < M(old)) <= 5", rows, on="estimate")
    assert (number.holds, number.left) == (True, 5)
    assert decided("count(M(new) < M(old) - 0.4) <= 0", rows, on="estimate").holds is True
    both = decided("wins(M(new), M(old)) >= losses(M(new), M(old))", rows)
    assert both.value == pytest.approx(0.05)


def test_the_difference_of_two_shares_is_that_of_paired_proportions() -> None:
    new, old = [0.0] * 4 + [0.5] * 56, [0.0] * 2 + [0.5] * 48 + [0.0] * 10
    found = decided("share(M(new) < 0.1) <= share(M(old) < 0.1)", pair(new, old))
    ends = bonett_price(2, 10, 60)  # two are bad only in new, ten only in old
    assert (found.low, found.high) == (pytest.approx(ends.low), pytest.approx(ends.high))


def test_a_share_over_clusters_needs_enough_of_both_sorts() -> None:
    sites = [f"s{index // 4}" for index in range(80)]
    few = rows_of({("a", "M"): [0.0] * 8 + [1.0] * 72}, items_of(80, site=sites), "site")  # in two sites
    assert decided("share(M(a) = 0) <= 20% on interval", few).low is None
    many = rows_of({("a", "M"): [0.0, 1.0, 1.0, 1.0] * 20}, items_of(80, site=sites), "site")
    assert decided("share(M(a) = 0) <= 30%", many).left == 0.25


# ------------------------------------------------------------------- weights, tags and every slice


def test_items_count_as_often_as_they_are_asked() -> None:
    rows = rows_of({("a", "M"): [1.0] * 50 + [0.5] * 50}, items_of(100, freq=["3"] * 50 + ["1"] * 50))
    found = decided("weighted(M(a), by=freq) >= 0.8", rows)
    assert found.left == pytest.approx((50 * 3 * 1.0 + 50 * 0.5) / (50 * 3 + 50))  # 0.875
    assert 0.8 + found.low < 0.875 < 0.8 + found.high


def test_weights_that_leave_few_items_leave_no_interval() -> None:
    freq = ["1000"] + ["1"] * 99
    rows = rows_of({("a", "M"): list(np.linspace(0, 1, 100))}, items_of(100, freq=freq))
    found = decided("weighted(M(a), by=freq) >= 0.5 on interval", rows)
    # (1000 + 99)² / (1000² + 99) = 1.2
    assert found.holds is None
    assert found.reason == "by freq the items weigh as much as 1 of one weight, and an interval takes 30"


def test_an_item_without_a_weight_leaves_the_clause_open() -> None:
    rows = rows_of({("a", "M"): [1.0] * 40}, items_of(40, freq=["2"] * 38 + ["often", ""]))
    assert decided("weighted(M(a), by=freq) >= 0.5", rows).reason == "2 items without a number for freq"


def test_a_tag_is_compared_as_a_number() -> None:
    rows = rows_of({("a", "B"): [1.0] * 20 + [0.0] * 20}, items_of(40, freq=["10"] * 20 + ["9", "2"] * 10))
    assert decided("B(a) >= 90% where freq > 9", rows).left == 1.0
    assert decided("B(a) >= 90% where freq >= 9", rows).left == pytest.approx(20 / 30)
    assert decided("B(a)[freq < 5] <= 10%", rows).n == 10


def test_a_cut_off_that_for_fills_in_is_filled_in_inside_a_test_too() -> None:
    rows = rows_of({("a", "E@L1"): [0.0] * 30, ("a", "E@L2"): [0.5] * 30})
    found = decided("share(E@level(a) > 0.1) <= 5% for each level=L1|L2", rows)
    assert (found.holds, found.reason) == (False, "1 of 2 pass: L1 passes (-0.05), L2 fails (+0.95)")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("min(M(a) by tag) >= 0.4", "M(a) >= 0.4 for each tag=*"),
        ("max(M(a) by tag) <= 0.4", "M(a) <= 0.4 for each tag=*"),
        ("min(M(a) by tag) <= 0.4", "M(a) <= 0.4 for 1 of tag=*"),
        ("max(M(a) by tag) >= 0.4", "M(a) >= 0.4 for 1 of tag=*"),
        ("0.4 <= min(M(a) by tag)", "0.4 <= M(a) for each tag=*"),
        ("0.4 > min(M(a) by tag)", "0.4 > M(a) for 1 of tag=*"),
        ("M(a) >= 0.4 for each tag", "M(a) >= 0.4 for each tag=*"),
        ("mean(M(a))[tag=x] >= 0.4", "M(a)[tag=x] >= 0.4"),
    ],
)
def test_spellings_that_mean_the_same(text: str, same: str) -> None:
    assert parse_clause(text) == parse_clause(same)


def test_the_worst_slice_decides() -> None:
    rows = rows_of(
        {("a", "B"): [1.0] * 30 + [1.0] * 15 + [0.0] * 15}, items_of(60, tag=["x"] * 30 + ["y"] * 30)
    )
    assert decided("min(B(a) by tag) >= 60%", rows).holds is False
    assert decided("max(B(a) by tag) >= 60%", rows).left == 1.0


def test_units_are_seconds() -> None:
    assert parse_clause("T(a) <= 300ms").right == parse_clause("T(a) <= 0.3s").right
    assert str(parse_clause("T(a) <= 2 min")) == "T(a) <= 120s"
    rows = rows_of({("a", "T"): [0.25] * 30})
    assert decided("median(T(a)) <= 300ms", rows).holds is True
    assert decided("median(T(a)) <= 200ms", rows).holds is False


def test_percentiles_of_any_rank() -> None:
    values = [float(value) for value in range(101)]
    rows = rows_of({("a", "T"): values})
    assert [decided(f"p{rank}(T(a)) >= 0", rows).left for rank in (10, 50, 90)] == [10, 50, 90]
    assert decided("median(T(a)) >= 0", rows).left == 50
    assert decided("p2.5(T(a)) >= 0", rows).left == pytest.approx(2.5)


def test_p95_of_sixty_items_says_what_it_lacks() -> None:
    slow = rows_of({("a", "T"): [0.1] * 60, ("b", "T"): list(np.linspace(0.1, 0.2, 60))})
    one = decided("p95(T(a)) <= 0.3", slow)
    lacks = "60 items do not reach the upper end of the interval of p95: that takes 72 items"
    assert (one.holds, one.reason) == (True, f"decided on the estimate: {lacks}")
    two = decided("p95(T(a)) <= 2 * p95(T(b))", slow)
    assert two.holds is None
    assert two.reason == "60 items do not reach the upper end of the interval of p95: that takes 160 items"
    assert two.advice is None  # the reason says it: eight rows must lie beyond it, 8 / 0.05 = 160


def test_a_ratio_of_medians_is_decided_on_its_interval() -> None:
    base = RANDOM.lognormal(0, 1, 200)
    rows = rows_of({("a", "T"): base * 1.5, ("b", "T"): base * RANDOM.lognormal(0, 0.2, 200)})
    assert decided("median(T(a)) <= 2 * median(T(b))", rows).holds is True
    assert decided("median(T(a)) / median(T(b)) <= 1.2", rows).holds is False
