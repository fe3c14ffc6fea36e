"""The contract of every control, and of what an oracle's answers hold beside hits, found by entry points."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from plugins import each

from assay.controls.trial import ControlNotApplicable, Roles, Trial
from assay.core.block import Block
from assay.core.records import Arm, Step
from assay.core.registry import CONTROLS, ORACLES
from assay.measures.parse import parse_measure
from assay.measures.score import score_blocks
from assay.stats.rows import Rows


@pytest.fixture(scope="module")
def rows(block: Block) -> Rows:
    return Rows(score_blocks([parse_measure("R@5")], blocks_of(block)), block.items)


def blocks_of(block: Block) -> list[Block]:
    """The same answers by two systems."""
    return [dataclasses.replace(block, arm=Arm(name)) for name in ("old", "new")]


@pytest.mark.parametrize("plugin", each(CONTROLS), indirect=True)
class TestControls:
    def test_it_says_what_it_expects_and_how_often_it_is_drawn(self, plugin: Any) -> None:
        assert plugin.expected in {"refused", "passes", "either"}
        assert plugin.draws == 1 or plugin.draws >= 200
        assert callable(plugin.mutants)

    def test_it_is_made_the_same_way_twice_or_says_why_it_is_not(
        self, plugin: Any, block: Block, rows: Rows
    ) -> None:
        first, second = (_mutants(plugin, block, rows) for _ in range(2))
        if isinstance(first, str):
            assert first
            assert not first.endswith(".")
            assert first == second
            return
        assert not isinstance(second, str)
        assert first
        assert first.keys() == second.keys()
        for name in first:
            one, other = (each[name](np.random.default_rng(5)) for each in (first, second))
            assert one.columns.keys() == other.columns.keys()
            for key, column in one.columns.items():
                assert column.values.shape == (len(rows),)
                np.testing.assert_array_equal(column.values, other.columns[key].values)


def _mutants(control: Any, block: Block, rows: Rows) -> dict[str, Any] | str:
    """What a control makes, or why it makes nothing."""
    blocks = blocks_of(block)
    measures = [parse_measure("R@5")]
    roles = Roles({"new": "old"}, ("old",))
    trial = Trial(roles, measures, blocks, rows, score_blocks(measures, blocks), every=measures)
    try:
        return dict(control.mutants(trial))
    except ControlNotApplicable as why:
        return str(why)


@pytest.mark.parametrize("plugin", each(ORACLES), indirect=True)
class TestOracles:
    def test_every_answer_gets_steps_or_stays_as_it_is(self, plugin: Any, block: Block) -> None:
        documents = [list(item.gold.get("relevant", {})) for item in block.items]
        first, second = (list(plugin.steps(block, documents)) for _ in range(2))
        assert first == second
        assert len(first) == len(block.items)
        for steps in first:
            assert steps is None or all(isinstance(step, Step) for step in steps)

    def test_no_items_have_no_steps(self, plugin: Any, block: Block) -> None:
        none = dataclasses.replace(block, items=[], answers=block.answers.head(0))
        assert list(plugin.steps(none, [])) == []
