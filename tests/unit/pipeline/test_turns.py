"""Items set the order: all arms are asked an item before any is asked the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import SystemFailure
from assay.pipeline.runner import run_study
from probe import asked
from probing import behave, items, opened, write_study

SYSTEMS = {"a": "probe(top=1)", "b": "probe(top=2)"}


def turns(folder: Path) -> list[tuple[str, int]]:
    return [(line["item"], line["top"]) for line in asked(folder)]


def test_arms_take_turns_and_change_who_is_first(tmp_path: Path) -> None:
    write_study(tmp_path, items(4), systems=SYSTEMS, run={"order": "item"})
    outcome = run_study(opened(tmp_path))
    assert outcome.answered == 8
    assert turns(tmp_path) == [
        *(("q0", 1), ("q0", 2)),
        *(("q1", 2), ("q1", 1)),
        *(("q2", 1), ("q2", 2)),
        *(("q3", 2), ("q3", 1)),
    ]


def test_by_default_one_arm_follows_the_other(tmp_path: Path) -> None:
    write_study(tmp_path, items(3), systems=SYSTEMS)
    run_study(opened(tmp_path))
    assert [top for _, top in turns(tmp_path)] == [1, 1, 1, 2, 2, 2]


def test_arms_of_other_factors_and_seeds_do_not_wait_for_each_other(tmp_path: Path) -> None:
    write_study(tmp_path, items(2), systems={"a": "probe", "b": "probe"}, seeds=2, run={"order": "item"})
    run_study(opened(tmp_path))
    order = [(line["seed"], line["item"]) for line in asked(tmp_path)]
    assert order == [(seed, item) for seed in (0, 1) for item in ("q0", "q0", "q1", "q1")]


def test_what_was_answered_is_not_asked_again_and_the_rest_still_in_turns(tmp_path: Path) -> None:
    write_study(tmp_path, items(3), systems=SYSTEMS, run={"order": "item", "retries": 0})
    behave(tmp_path, q1="value error")
    run_study(opened(tmp_path))
    behave(tmp_path)
    before = len(asked(tmp_path))
    assert run_study(opened(tmp_path)).answered == 2
    assert [item for item, _ in turns(tmp_path)[before:]] == ["q1", "q1"]


def test_an_arm_that_cannot_be_built_leaves_the_others_to_answer(tmp_path: Path) -> None:
    systems = {"a": "probe(unbuildable=true)", "b": "probe(top=2)"}
    write_study(tmp_path, items(3), systems=systems, run={"order": "item"})
    with pytest.raises(SystemFailure, match="a could not be opened"):
        run_study(opened(tmp_path))
    assert [item for item, top in turns(tmp_path) if top == 2] == ["q0", "q1", "q2"]


def test_a_spending_cap_is_shared_by_those_who_take_turns(tmp_path: Path) -> None:
    systems = {"a": "probe(cost=1)", "b": "probe(cost=1, top=2)"}
    write_study(tmp_path, items(10), systems=systems, run={"order": "item", "max_cost": 6, "threads": 1})
    outcome = run_study(opened(tmp_path))
    assert outcome.cost == 6  # three items of each
