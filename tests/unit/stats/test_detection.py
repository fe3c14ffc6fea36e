"""Precision, recall and F1 over two columns: by hand, undefined, over seeds, and in gates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.registry import STATISTICS, Registry
from assay.kinds.hierarchy.statistics import DetectionF1, Precision, Recall
from assay.stats.rows import Rows
from score_rows import decided, items_of, rows_of

#                       true:  1  1  1  0  0  0  0  1
SAID, TRUE = np.array([[1, 1, 0, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 1]], dtype=float)
ONCE = np.ones((1, 8))


def test_by_hand() -> None:
    # said 3 times, 2 of them true; true 4 times
    assert Precision().values([SAID, TRUE], ONCE) == pytest.approx(2 / 3)
    assert Recall().values([SAID, TRUE], ONCE) == pytest.approx(2 / 4)
    assert DetectionF1().values([SAID, TRUE], ONCE) == pytest.approx(2 * 2 / (3 + 4))


def test_weights_are_counts() -> None:
    weights = np.array([[3.0, 0, 1, 2, 0, 0, 0, 0], [0.0, 0, 0, 0, 5, 0, 0, 0], [0.0, 0, 0, 1, 0, 0, 0, 1]])
    # first: true and said 3, said 5, true 4; second: neither said nor true; third: said 1, true 1, never both
    np.testing.assert_allclose(Precision().values([SAID, TRUE], weights), [3 / 5, np.nan, 0])
    np.testing.assert_allclose(Recall().values([SAID, TRUE], weights), [3 / 4, np.nan, 0])
    np.testing.assert_allclose(DetectionF1().values([SAID, TRUE], weights), [6 / 9, np.nan, 0])


def test_never_said_and_never_true() -> None:
    never = np.zeros(8)
    assert np.isnan(Precision().values([never, TRUE], ONCE)).all()
    assert Recall().values([never, TRUE], ONCE) == [0]
    assert DetectionF1().values([never, TRUE], ONCE) == [0]
    assert Precision().values([SAID, never], ONCE) == [0]
    assert np.isnan(Recall().values([SAID, never], ONCE)).all()
    assert DetectionF1().values([SAID, never], ONCE) == [0]
    nothing = np.array([])
    assert np.isnan(DetectionF1().values([nothing, nothing], np.ones((2, 0)))).all()


seeds = st.lists(st.tuples(st.lists(st.booleans(), min_size=5, max_size=5), st.booleans()), min_size=1)


@settings(max_examples=50)
@given(seeds)
def test_a_mean_over_seeds_counts_as_all_answers_together(drawn: list[tuple[list[bool], bool]]) -> None:
    each_seed = np.array([said for said, _ in drawn], dtype=float)
    true = np.array([truth for _, truth in drawn], dtype=float)
    pooled = [each_seed.ravel(), np.repeat(true, 5)]
    for statistic in (Precision(), Recall(), DetectionF1()):
        means = statistic.values([each_seed.mean(axis=1), true], np.ones((1, len(true))))
        together = statistic.values(pooled, np.ones((1, 5 * len(true))))
        assert means == pytest.approx(together, nan_ok=True)


@pytest.mark.parametrize(
    ("spec", "made"), [("precision", Precision()), ("recall", Recall()), ("f1", DetectionF1())]
)
def test_each_is_found_by_name(spec: str, made: object) -> None:
    assert Registry().create(STATISTICS, spec) == made


def test_columns_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match="two columns"):
        DetectionF1().values([SAID], ONCE)
    with pytest.raises(UsageError, match="negative"):
        Recall().values([SAID, -TRUE], ONCE)
    with pytest.raises(UsageError, match="NaN"):
        Precision().values([SAID * np.nan, TRUE], ONCE)


# ------------------------------------------------------------------------------------------ gates

CALLS, IS = "CallsImpossible(kind=aggregation)", "IsImpossible(kind=aggregation)"
NAMES = "CallsImpossible(kind='aggregation')", "IsImpossible(kind='aggregation')"


def rows(said: Sequence[float | str] = np.tile(SAID, 20).tolist()) -> Rows:
    """What flat said, with the truth; tree is always right."""
    true = np.tile(TRUE, 20)
    return rows_of(
        {
            ("flat", NAMES[0]): said,
            ("flat", NAMES[1]): true,
            ("tree", NAMES[0]): true,
            ("tree", NAMES[1]): true,
        }
    )


@pytest.mark.parametrize(
    ("text", "holds", "value"),
    [
        (f"precision({CALLS}(flat), {IS}(flat)) >= 0.6", True, 2 / 3 - 0.6),
        (f"precision({CALLS}(flat), {IS}(flat)) >= 0.8", False, 2 / 3 - 0.8),
        (f"recall({CALLS}(flat), {IS}(flat)) >= 0.5", True, 0.0),
        (f"f1({CALLS}(flat), {IS}(flat)) < 0.5", False, 4 / 7 - 0.5),
    ],
)
def test_a_gate_reads_them(text: str, holds: bool, value: float) -> None:
    result = decided(text, rows())
    assert result.holds is holds
    assert result.value == pytest.approx(value)
    assert result.low <= result.value <= result.high
    assert result.n == 160


def test_a_perfect_record_is_no_certainty() -> None:
    # 24 calls, all right: the exact interval begins at 0.025 ** (1 / 24) = 0.858
    right = rows_of({("flat", name): [1.0] * 24 + [0.0] * 76 for name in NAMES})
    precision = f"precision({CALLS}(flat), {IS}(flat))"
    sure = decided(f"{precision} >= 0.99 on interval", right)
    assert sure.holds is None
    assert (sure.left, sure.low) == (1.0, pytest.approx(0.025 ** (1 / 24) - 0.99, abs=1e-6))
    assert decided(f"{precision} >= 0.8 on interval", right).holds is True
    whole = decided(f"f1({CALLS}(flat), {IS}(flat)) >= 0.99 on interval", right)
    assert (whole.holds, whole.low) == (None, None)  # no resample moves it, and no closed form is known


def test_a_gate_compares_two_systems_by_them() -> None:
    result = decided(f"f1({CALLS}(tree), {IS}(tree)) >= f1({CALLS}(flat), {IS}(flat)) + 0.1", rows())
    assert result.holds is True
    assert (result.left, result.right) == pytest.approx((1, 4 / 7 + 0.1))


def test_a_gate_reads_them_in_a_slice() -> None:
    tags = items_of(160, part=["a", "b"] * 80)
    columns = {("flat", NAMES[0]): np.tile(SAID, 20), ("flat", NAMES[1]): np.tile(TRUE, 20)}
    # the even places: said 1 0 0 0, true 1 1 0 0
    text = f"recall({CALLS}(flat), {IS}(flat)) >= 0.4 where part=a"
    assert decided(text, rows_of(columns, tags)).left == pytest.approx(1 / 2)


def test_a_system_that_never_says_so_has_no_precision_and_the_clause_stays_open() -> None:
    silent = rows([0.0] * 160)
    result = decided(f"precision({CALLS}(flat), {IS}(flat)) >= 0.8", silent)
    assert result.holds is None
    assert "undefined" in result.reason
    assert decided(f"recall({CALLS}(flat), {IS}(flat)) >= 0.7", silent).holds is False


def test_failed_answers_count_at_both_ends() -> None:
    # the first 60 of 160 failed: said and true may have been anything there, and the verdict hangs on them
    said = ["failed"] * 60 + np.tile(SAID, 20)[60:].tolist()
    result = decided(f"precision({CALLS}(flat), {IS}(flat)) >= 0.6", rows(said))
    assert result.holds is None
    assert "60 items failed" in result.reason
