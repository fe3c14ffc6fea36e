"""The contract of every measure and every statistic found by entry points, ours and those of others."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from plugins import each, each_measure

from assay.core.block import Block
from assay.core.registry import STATISTICS
from assay.measures.parse import parse_measure

Floats = NDArray[np.float64]


@pytest.mark.parametrize("plugin", each_measure(), indirect=True)
class TestMeasures:
    def test_its_name_parses_back(self, plugin: Any) -> None:
        assert parse_measure(plugin.name) == plugin

    def test_it_declares_itself(self, plugin: Any) -> None:
        assert plugin.better in {"higher", "lower"}
        assert plugin.at in {"rank", "tokens", "level", ""}
        assert plugin.high is None or plugin.low < plugin.high
        assert isinstance(plugin.needs, frozenset)
        assert isinstance(plugin.binary, bool)
        if plugin.absent is not None:
            assert plugin.low <= plugin.absent <= (math.inf if plugin.high is None else plugin.high)

    def test_values_lie_in_its_range(self, plugin: Any, block: Block) -> None:
        applies, values = plugin.applies(block), plugin.values(block)
        assert applies.shape == values.shape == (len(block.items),)
        assert applies.dtype == bool
        inside = values[applies & ~np.isnan(values)]
        assert (inside >= plugin.low).all()
        assert plugin.high is None or (inside <= plugin.high).all()
        if plugin.binary:
            assert set(inside) <= {0.0, 1.0}

    def test_no_items_have_no_values(self, plugin: Any, block: Block) -> None:
        none = dataclasses.replace(block, items=[], answers=block.answers.head(0))
        none = dataclasses.replace(none, beside=none)
        assert plugin.values(none).shape == plugin.applies(none).shape == (0,)


# ---------------------------------------------------------------------------------- statistics

ANY_NUMBER = 3  # of columns, for a statistic that does not say how many it takes


def columns_of(statistic: Any, rows: int) -> list[Floats]:
    """As many columns as it takes: raters if it reads judgments, tests if it counts them."""
    count = 2 if statistic.reads == "judgments" else getattr(statistic, "takes", ANY_NUMBER)
    count += hasattr(statistic, "tag")
    levels = 2 if getattr(statistic, "tests", False) else 3
    rng = np.random.default_rng(3)
    return [rng.integers(0, levels, rows).astype(float) for _ in range(count)]


def value_of(statistic: Any, weights: Floats) -> Floats:
    found: Floats = statistic.values(columns_of(statistic, weights.shape[1]), weights)
    return found


@pytest.mark.parametrize("plugin", each(STATISTICS), indirect=True)
class TestStatistics:
    def test_one_value_a_resample(self, plugin: Any) -> None:
        assert value_of(plugin, np.ones((5, 40))).shape == (5,)

    def test_equal_weights_are_no_weights(self, plugin: Any) -> None:
        plain, doubled = (value_of(plugin, np.full((1, 40), weight)) for weight in (1.0, 2.0))
        if plugin.reads == "scores" and not hasattr(plugin, "share"):
            assert doubled == pytest.approx(plain)
        every = value_of(plugin, np.ones((4, 40)))
        assert every == pytest.approx(np.repeat(plain, 4))

    def test_a_row_without_weight_is_not_there(self, plugin: Any) -> None:
        weights = np.ones((2, 40))
        weights[1, :5] = 0
        columns = columns_of(plugin, 40)
        whole, part = plugin.values(columns, weights)
        (alone,) = plugin.values([column[5:] for column in columns], np.ones((1, 35)))
        assert not np.isnan(whole)
        if not hasattr(plugin, "total") and not _of_a_sum(plugin):
            assert part == pytest.approx(alone)
        else:  # in a resample it is what as many rows as there are would have
            assert part / 40 == pytest.approx(alone / 35)

    def test_it_reads_scores_or_judgments(self, plugin: Any) -> None:
        assert plugin.reads in {"scores", "judgments"}

    def test_it_stays_in_the_range_that_it_declares(self, plugin: Any) -> None:
        rng = np.random.default_rng(4)
        found = value_of(plugin, rng.multinomial(40, np.full(40, 1 / 40), 50).astype(float))
        low, high = getattr(plugin, "low", None), getattr(plugin, "high", None)
        known = found[~np.isnan(found)]
        assert len(known)
        assert low is None or (known >= low).all()
        assert high is None or (known <= high).all()

    def test_successes_and_trials_are_its_value(self, plugin: Any) -> None:
        if not hasattr(plugin, "trials"):
            return
        columns = [(column > 0).astype(float) for column in columns_of(plugin, 40)]
        successes, trials = plugin.trials(columns)
        assert plugin.values(columns, np.ones((1, 40))) == pytest.approx([successes / trials])


def _of_a_sum(statistic: Any) -> bool:
    """Whether twice the rows have twice the value."""
    columns = columns_of(statistic, 40)
    once, twice = (
        statistic.values([np.tile(column, times) for column in columns], np.ones((1, 40 * times)))
        for times in (1, 2)
    )
    return bool(once[0] and twice[0] == pytest.approx(2 * once[0]))
