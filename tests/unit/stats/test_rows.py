"""Rows: one an item and its factors, whatever the systems, seeds and tags."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.block import STATUSES
from assay.core.dataset import Condition
from assay.core.records import Item
from assay.stats.rows import STATUS, Rows, status_counts
from score_rows import Key, frame_of, items_of, rows_of

GRAVEST_FIRST = ["pending", "failed", "unjudged", "scored", "missing", "not_applicable"]
NAMES = ["scored", "missing", "failed", "unjudged", "pending", "not_applicable"]


def where(name: str, *values: str, equal: bool = True) -> list[Condition]:
    return [Condition(name, equal, values)]


def chosen(rows: Rows, *conditions: Condition) -> list[str]:
    return [rows.item_of(int(row)).item_id for row in np.flatnonzero(rows.mask(conditions))]


# --------------------------------------------------------------------------------------- factors


def test_a_system_without_the_factor_is_matched_to_each_of_its_values() -> None:
    rows = rows_of(
        {
            ("race", "M", "stage=10k"): [0.1, 0.2],
            ("race", "M", "stage=50k"): [0.3, 0.4],
            ("flat", "M"): [0.5, 0.6],
        }
    )
    assert rows.combinations == [{"stage": "10k"}, {"stage": "50k"}]
    assert rows.column("race", "M").values.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert rows.column("flat", "M").values.tolist() == [0.5, 0.6, 0.5, 0.6]
    assert rows.mask(where("stage", "50k")).tolist() == [False, False, True, True]
    # an item is drawn once, with its rows of both stages
    assert rows.clusters.tolist() == [0, 1, 0, 1]


def test_a_combination_without_an_arm_does_not_apply() -> None:
    rows = rows_of({("a", "M", "stage=10k"): [0.1], ("b", "M", "stage=50k"): [0.2]})
    assert rows.column("a", "M").expected.tolist() == [True, False]
    assert np.isnan(rows.column("a", "M").values[1])
    assert not rows.column("a", "unheard of").expected.any()


def test_two_factors_cross() -> None:
    rows = rows_of(
        {("a", "M", f"stage={stage}"): [0.1] for stage in ("10k", "50k")}
        | {("b", "M", f"model={model}"): [0.2] for model in ("m1", "m2")}
    )
    assert len(rows) == 4
    assert rows.column("a", "M").expected.all()
    assert rows.column("b", "M").expected.all()


# ----------------------------------------------------------------------------------------- seeds


def test_seeds_are_averaged_inside_the_row() -> None:
    rows = rows_of({("a", "M", 0): [0.2, 0.8], ("a", "M", 7): [0.6, "missing=0"]})
    # (0.2 + 0.6) / 2, and (0.8 + 0) / 2: absence counts with the value declared for it
    assert rows.column("a", "M").values == pytest.approx([0.4, 0.4])
    assert rows.column("a", "M").counted.all()


@pytest.mark.parametrize(("one", "other"), list(itertools.product(NAMES, NAMES)))
def test_the_gravest_status_of_the_seeds_wins(one: str, other: str) -> None:
    given: dict[str, float | str] = {"scored": 0.5, "missing": "missing=0"}
    rows = rows_of({("a", "M", 0): [given.get(one, one)], ("a", "M", 1): [given.get(other, other)]})
    column = rows.column("a", "M")
    gravest = min(one, other, key=GRAVEST_FIRST.index)
    assert NAMES[column.status[0]] == gravest
    assert column.counted[0] == (gravest in {"scored", "missing"})
    assert np.isnan(column.values[0]) == (gravest not in {"scored", "missing"})


# -------------------------------------------------------------------------------------- clusters


def test_clusters_by_sequence_tag_and_language() -> None:
    items = items_of(
        5,
        sequence=["s1", "s1", "", "s2", ""],
        site=["x", "y", "x", "", ""],
        language=["en", "en", "de", "de", "en"],
    )
    scores = {("a", "M"): [0.0] * 5}
    assert rows_of(scores, items, "sequence").clusters.tolist() == [0, 0, 1, 2, 3]
    # items without the tag depend on no other: each is a cluster of its own
    assert rows_of(scores, items, "site").clusters.tolist() == [0, 1, 0, 2, 3]
    assert rows_of(scores, items, "language").clusters.tolist() == [0, 0, 1, 1, 0]
    assert rows_of(scores, items).clusters.tolist() == [0, 1, 2, 3, 4]


def test_a_tag_value_that_looks_like_an_item_id_is_no_item() -> None:
    items = items_of(2, site=["i1", ""])
    assert rows_of({("a", "M"): [0.0, 0.0]}, items, "site").clusters.tolist() == [0, 1]


# ---------------------------------------------------------------------------------------- slices


def test_slices_on_tags_with_several_values() -> None:
    rows = rows_of(
        {("a", "M"): [0.0] * 4}, items_of(4, kind=["x|y", "y", "z", ""], language=["en", "de", "en", ""])
    )
    assert chosen(rows, *where("kind", "y")) == ["i0", "i1"]
    assert chosen(rows, *where("kind", "x", "z")) == ["i0", "i2"]
    assert chosen(rows, *where("kind", "*")) == ["i0", "i1", "i2"]
    assert chosen(rows, *where("kind", "y", equal=False)) == ["i2", "i3"]
    assert chosen(rows, *where("kind", "*", equal=False)) == ["i3"]
    assert chosen(rows, *where("language", "en"), *where("kind", "y")) == ["i0"]
    assert chosen(rows, *where("unheard", "of")) == []
    assert rows.known_values("kind") == ["x", "y", "z"]
    assert rows.known_values("language") == ["en", "de"]


def test_a_mask_that_a_caller_changes_is_its_own() -> None:
    rows = rows_of({("a", "M"): [0.0] * 2}, items_of(2, kind=["x", "y"]))
    rows.mask(where("kind", "x"))[:] = False
    assert chosen(rows, *where("kind", "x")) == ["i0"]


def test_items_are_named_once_and_few() -> None:
    rows = rows_of({("a", "M", f"stage={stage}"): [0.0] * 5 for stage in ("10k", "50k")})
    assert rows.name_items(np.ones(10, dtype=bool)) == "i0, i1, i2 and 2 more"
    assert rows.name_items(np.arange(10) % 5 == 4) == "i4"


# --------------------------------------------------------------------------------------- columns


def test_failed_rows_count_where_they_are_told_to() -> None:
    column = rows_of({("a", "M"): [0.5, "failed", "pending"]}).column("a", "M")
    assert column.counted.tolist() == [True, False, False]
    assert column.imputed(1.0).values[:2].tolist() == [0.5, 1.0]
    assert column.imputed(1.0).counted.tolist() == [True, True, False]
    assert column.counted.tolist() == [True, False, False]  # the column itself is unchanged


def test_missing_without_a_declared_value_does_not_count() -> None:
    column = rows_of({("a", "T"): [0.5, "missing"]}).column("a", "T")
    assert column.counted.tolist() == [True, False]
    assert column.expected.tolist() == [True, True]


def test_statuses_are_counted_within_a_slice() -> None:
    column = rows_of({("a", "M"): [0.5, "failed", "missing=0", "failed"]}).column("a", "M")
    assert status_counts(column, np.array([True, True, True, False])) == {"missing": 1, "failed": 1}


@given(st.permutations(range(12)))
def test_the_order_of_the_score_table_does_not_matter(order: list[int]) -> None:
    scores: dict[Key, list[float | str]] = {
        ("a", "M", 0): [0.1, "failed", 0.3],
        ("a", "M", 1): [0.2, 0.5, "missing=0"],
        ("b", "M"): [0.7, 0.8, 0.9],
    }
    items = items_of(3)
    frame = frame_of(scores, items)
    shuffled = frame[[index for index in order if index < len(frame)]]
    for system in ("a", "b"):
        one, other = (Rows(table, items).column(system, "M") for table in (frame, shuffled))
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.status, other.status)


def item(item_id: str, present: str) -> Item:
    return Item(item_id, "q", tags={"present": [present]})


def test_a_slice_takes_each_stage_s_own_tags() -> None:
    small, large = [item("a", "yes"), item("b", "no")], [item("a", "yes"), item("b", "yes")]
    rows = [
        (name, "s", f'{{"stage":"{stage}"}}', f"s[stage={stage}]", 0, "A", 1.0, "scored")
        for stage in ("10k", "50k")
        for name in ("a", "b")
    ]
    columns = ["item", "system", "factors", "arm", "seed", "measure", "value", "status"]
    scores = pl.DataFrame(rows, schema=columns, orient="row").with_columns(pl.col("status").cast(STATUS))
    assert len(STATUSES) == 6
    for variants in (
        {"s[stage=10k]": small, "s[stage=50k]": large},
        {"s[stage=50k]": large, "s[stage=10k]": small},
    ):
        found = Rows(scores, large, None, variants)
        assert found.mask([Condition("present", True, ("yes",))]).tolist() == [True, False, True, True]
        assert found.item_of(1).tags == {"present": ["no"]}
        assert found.known_values("present") == ["yes", "no"]
