"""The statistics `lost` and `either`: by hand, over seeds, resampled, and in a gate."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.stats.intervals import proportion_interval
from assay.stats.statistics import BetterOfTwo, MeanLoss
from score_rows import decided, rows_of

FLAT = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]
TREE = [1.0, 0.0, 0.4, 1.0, 0.0, 1.0]  # the third: lost in three of five seeds


def lost(first: list[float], second: list[float], weights: list[list[float]] | None = None) -> list[float]:
    columns = [np.array(first), np.array(second)]
    found = MeanLoss().values(columns, np.array(weights or [[1.0] * len(first)]))
    return [float(each) for each in found]


def test_by_hand() -> None:
    # lost 1 on the second, 3/5 on the third; what the fourth gains makes up for nothing
    assert lost(FLAT, TREE) == pytest.approx([1.6 / 6])
    assert lost(TREE, FLAT) == pytest.approx([1 / 6])
    assert lost(FLAT, FLAT) == [0.0]


def test_resamples() -> None:
    assert lost([1.0, 1.0], [0.0, 1.0], [[2, 0], [0, 2], [1, 3]]) == pytest.approx([1.0, 0.0, 1 / 4])
    assert np.isnan(lost([1.0], [0.0], [[0.0]])).all()


def test_it_takes_two_columns_of_finite_numbers() -> None:
    with pytest.raises(UsageError, match="lost takes two columns, not 1"):
        MeanLoss().values([np.ones(3)], np.ones((1, 3)))
    with pytest.raises(UsageError, match="NaN"):
        lost([np.nan], [1.0])


def test_in_a_gate_it_has_the_interval_of_a_share() -> None:
    flat = [1.0] * 80 + [0.0] * 20
    tree = [0.0] * 4 + [1.0] * 86 + [0.0] * 10  # lost on 4, won on 10
    found = decided("lost(B(flat), B(tree)) <= 0.1", rows_of({("flat", "B"): flat, ("tree", "B"): tree}))
    share = proportion_interval(4, 100)
    assert found.left == pytest.approx(0.04)
    assert (found.low, found.high) == pytest.approx((share.low - 0.1, share.high - 0.1))
    assert found.holds


def test_that_nothing_was_lost_is_not_certain() -> None:
    few = rows_of({("flat", "B"): [1.0] * 10, ("tree", "B"): [1.0] * 10})
    assert decided("lost(B(flat), B(tree)) <= 0.02", few).holds is None
    many = rows_of({("flat", "B"): [1.0] * 400, ("tree", "B"): [1.0] * 400})
    assert decided("lost(B(flat), B(tree)) <= 0.02", many).holds


def test_either_is_the_better_of_two_row_by_row() -> None:
    weights = np.array([[1.0] * 6, [0, 0, 0, 1, 0, 0]])
    found = BetterOfTwo().values([np.array(FLAT), np.array(TREE)], weights)
    assert found.tolist() == pytest.approx([5 / 6, 1.0])  # 1, 1, 1, 1, 0, 1
    with pytest.raises(UsageError, match="either takes two columns"):
        BetterOfTwo().values([np.ones(3)], np.ones((1, 3)))
