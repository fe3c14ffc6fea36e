"""The contract of every judge found by entry points, ours and those of others."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import pytest
from plugins import each

from assay.core.block import Block
from assay.core.dataset import Dataset
from assay.core.protocols import (
    FreeJudge,
    Judge,
    Kit,
    NearMiss,
    NearMissJudge,
    PayingJudge,
    PersonJudge,
    WithholdingJudge,
)
from assay.core.records import Finding, Judgment
from assay.core.registry import JUDGES


@pytest.mark.parametrize("plugin", each(JUDGES), indirect=True)
class TestJudges:
    def test_it_says_who_it_is_and_what_it_decides_wholly(self, plugin: Any, kit: Kit) -> None:
        assert isinstance(plugin, Judge)
        assert plugin.names
        assert all(isinstance(name, str) and name for name in plugin.names)
        assert all(isinstance(label, str) for label in plugin.closed_labels)
        if isinstance(plugin, PersonJudge):
            assert set(plugin.raters) <= set(plugin.names)
        if isinstance(plugin, WithholdingJudge):
            assert isinstance(plugin.withholds(kit), bool)

    def test_its_judgments_are_worked_out_asked_for_or_given_by_people(self, plugin: Any) -> None:
        assert not (isinstance(plugin, FreeJudge) and isinstance(plugin, PayingJudge))
        people = isinstance(plugin, PersonJudge) or hasattr(plugin, "everybody")
        assert people or isinstance(plugin, FreeJudge | PayingJudge)

    def test_its_judgments_are_about_items_there_are(
        self, plugin: Any, dataset: Dataset, block: Block, kit: Kit
    ) -> None:
        found = plugin.judge(dataset, [block], kit) if isinstance(plugin, FreeJudge) else []
        items = {item.item_id for item in dataset.items}
        assert all(isinstance(each, Judgment) and each.item_id in items for each in found)
        assert all(math.isfinite(each.grade) for each in found)
        assert {each.judge for each in found} <= set(plugin.names)

    def test_it_judges_the_same_twice(self, plugin: Any, dataset: Dataset, block: Block, kit: Kit) -> None:
        if isinstance(plugin, FreeJudge):
            assert plugin.judge(dataset, [block], kit) == plugin.judge(dataset, [block], kit)

    def test_what_it_asks_is_about_items_there_are_and_gets_one_answer(
        self, plugin: Any, dataset: Dataset, block: Block, kit: Kit
    ) -> None:
        if not isinstance(plugin, PayingJudge):
            return
        judge = plugin.within(kit) if hasattr(plugin, "within") else plugin
        questions = list(judge.questions(dataset, [block]))
        assert questions == list(judge.questions(dataset, [block]))
        assert {each.item_id for each in questions} <= {item.item_id for item in dataset.items}
        for question in islice(questions, 2):
            first, second = judge.ask(question, kit), judge.ask(question, kit)
            assert isinstance(first, Finding)
            assert math.isfinite(first.grade)
            assert (first.grade, first.category) == (second.grade, second.category)

    def test_near_misses_are_described(self, plugin: Any, dataset: Dataset, block: Block, kit: Kit) -> None:
        if isinstance(plugin, NearMissJudge):
            judged = plugin.judge(dataset, [block], kit) if isinstance(plugin, FreeJudge) else []
            near = list(plugin.near_misses(dataset, [block], judged))
            assert all(isinstance(each, NearMiss) for each in near)
            assert all(isinstance(line, str) and line for line in plugin.describe(near))
