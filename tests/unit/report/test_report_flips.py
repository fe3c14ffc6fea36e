"""Item scores and what changed, on numbers small enough to check by hand."""

from __future__ import annotations

import dataclasses

import polars as pl

from assay.core.records import Estimate
from assay.core.results import ItemView, MeasureInfo, Results, TrustSummary
from assay.report.items import changes, counterparts, score_grid

ROWS = [
    # item, arm, seed, value, status
    ("q1", "old", 0, 0.8, "scored"),
    ("q1", "new", 0, 0.4, "scored"),
    ("q1", "new", 1, 0.2, "scored"),  # mean (0.4 + 0.2) / 2 = 0.3: change -0.5
    ("q2", "old", 0, 0.5, "scored"),
    ("q2", "new", 0, 0.0, "missing"),  # asked, nothing came back: counts as 0, change -0.5
    ("q3", "old", 0, 0.1, "scored"),
    ("q3", "new", 0, 0.9, "scored"),  # change +0.8
    ("q4", "old", 0, 0.7, "scored"),
    ("q4", "new", 0, float("nan"), "failed"),  # no score: not compared
    ("q5", "old", 0, 0.6, "scored"),
    ("q5", "new", 0, 0.6, "scored"),  # the same
    ("q6", "old", 0, 0.0, "missing"),
    ("q6", "new", 0, 1.0, "scored"),
    ("q6", "new", 1, None, "failed"),  # one seed broke: the mean of the rest is not passed off as a score
]


def small(better: str = "higher") -> Results:
    scores = pl.DataFrame(ROWS, schema=["item", "arm", "seed", "value", "status"], orient="row").with_columns(
        system=pl.col("arm"), measure=pl.lit("m"), factors=pl.lit("")
    )
    items = [ItemView(f"q{n}", f"question {n}", {}, [], {}) for n in range(1, 7)]
    return Results(
        study="s",
        kind="search",
        systems=["old", "new"],
        arms=["old", "new"],
        baseline="old",
        measures=[MeasureInfo("m", better, 0, 1)],
        by=[],
        scores=scores,
        estimates=[],
        comparisons=[],
        verdicts=[],
        verdict=None,
        trust=TrustSummary({}, [], {}),
        items=items,
    )


def test_seeds_are_averaged_and_the_gravest_status_stays() -> None:
    grid = score_grid(small())
    assert grid["new", "m"]["q1"] == (0.30000000000000004, "scored")
    assert grid["new", "m"]["q4"] == (None, "failed")
    assert grid["new", "m"]["q6"] == (1.0, "failed")


def test_flips_stand_worst_first_and_only_pairs_count() -> None:
    (change,) = changes(small())
    assert [(flip.item.item_id, round(flip.gain, 9)) for flip in change.flips] == [
        ("q1", -0.5),
        ("q2", -0.5),
        ("q3", 0.8),
    ]
    assert (change.worse, change.better, change.same, change.unpaired) == (2, 1, 1, 2)


def test_where_lower_is_better_a_rise_is_worse() -> None:
    (change,) = changes(small("lower"))
    assert [flip.item.item_id for flip in change.flips] == ["q3", "q1", "q2"]
    assert (change.worse, change.better) == (1, 2)


def test_nothing_changes_without_a_baseline() -> None:
    assert changes(dataclasses.replace(small(), baseline=None)) == []


def test_arms_meet_the_baseline_arm_whose_factors_agree() -> None:
    def estimate(system: str, factors: dict[str, str]) -> Estimate:
        return Estimate(system, factors, "m", {}, None, None, None, 0, 0)

    results = dataclasses.replace(
        small(),
        arms=["old[stage=10k]", "old[stage=50k]", "new[model=x,stage=50k]", "new[model=x,stage=90k]"],
        estimates=[
            estimate("old", {"stage": "10k"}),
            estimate("old", {"stage": "50k"}),
            estimate("new", {"stage": "50k", "model": "x"}),
            estimate("new", {"stage": "90k", "model": "x"}),
        ],
    )
    assert counterparts(results) == {"new[model=x,stage=50k]": "old[stage=50k]"}
