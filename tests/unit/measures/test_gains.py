"""The gain matrix: order, ties, labels, and rows that stand for items."""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.core.gains import gain_matrix

NAN = float("nan")


def hits(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(
        list(rows), schema={"item": pl.String, "doc": pl.String, "score": pl.Float64}, orient="row"
    )


def labels(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(
        list(rows), schema={"item": pl.String, "doc": pl.String, "grade": pl.Float64}, orient="row"
    )


def test_rows_follow_the_items_and_strangers_are_left_out() -> None:
    ranking = hits(("q2", "a", 2.0), ("q2", "b", 1.0), ("other", "a", 9.0), ("q1", "c", 1.0))
    known = labels(("q1", "c", 3), ("q2", "b", 1), ("q2", "z", 2), ("other", "a", 5))
    gains = gain_matrix(ranking, known, ["q1", "q2", "q3"])
    np.testing.assert_array_equal(gains.grades, [[3, NAN], [NAN, 1], [NAN, NAN]])
    np.testing.assert_array_equal(gains.returned, [1, 2, 0])
    np.testing.assert_array_equal(gains.ideal, [[3, 0], [2, 1], [0, 0]])
    np.testing.assert_array_equal(gains.labelled, [True, True, False])


def test_ties_break_by_document_id_descending_byte_by_byte() -> None:
    # "é" is 0xC3A9 in UTF-8 and so stands above every ASCII letter; "Z" (0x5A) stands below "a" (0x61)
    ranking = hits(("q", "a", 1.0), ("q", "é", 1.0), ("q", "Z", 1.0))
    gains = gain_matrix(ranking, labels(("q", "é", 3), ("q", "a", 2), ("q", "Z", 1)), ["q"])
    np.testing.assert_array_equal(gains.grades, [[3, 2, 1]])


def test_scores_that_differ_beyond_single_precision_are_a_tie() -> None:
    # 1 + 1e-8 rounds to 1 in float32, whose step at 1 is 1.2e-7; 1 + 1e-6 does not
    known = labels(("q", "a", 1), ("q", "b", 0))
    tied = gain_matrix(hits(("q", "a", 1 + 1e-8), ("q", "b", 1.0)), known, ["q"])
    apart = gain_matrix(hits(("q", "a", 1 + 1e-6), ("q", "b", 1.0)), known, ["q"])
    np.testing.assert_array_equal(tied.grades, [[0, 1]])
    np.testing.assert_array_equal(apart.grades, [[1, 0]])


def test_an_item_in_two_stretches_is_ranked_as_one() -> None:
    ranking = hits(("q1", "a", 1.0), ("q2", "b", 5.0), ("q1", "c", 2.0))
    gains = gain_matrix(ranking, labels(("q1", "a", 1), ("q2", "b", 1), ("q1", "c", 2)), ["q1", "q2"])
    np.testing.assert_array_equal(gains.grades, [[2, 1], [1, NAN]])
    np.testing.assert_array_equal(gains.ideal, [[2, 1], [1, 0]])


def test_a_negative_label_is_no_label() -> None:
    gains = gain_matrix(hits(("q", "a", 1.0)), labels(("q", "a", -1)), ["q"])
    assert np.isnan(gains.grades).all()
    assert not gains.labelled[0]
    assert gains.ideal.shape == (1, 0)


def test_grades_may_be_integers_and_everything_may_be_empty() -> None:
    whole = labels(("q", "a", 2)).with_columns(pl.col("grade").cast(pl.Int64))
    np.testing.assert_array_equal(gain_matrix(hits(("q", "a", 1.0)), whole, ["q"]).grades, [[2]])
    nothing = gain_matrix(hits(), labels(), ["q"])
    assert nothing.grades.shape == (1, 0)
    assert nothing.returned.tolist() == [0]
    assert len(gain_matrix(hits(), labels(), [])) == 0
