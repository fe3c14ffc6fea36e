"""Deciding a study again on more items: the run folder remembers, and a baseline carries it elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from small_study import assay, write_lines, write_study

STUDY = """\
kind: search
data: data
systems:
  lexical: bm25
  other: hybrid
baseline: other
measures: [RR@5]
compare: {resamples: 200}
gates:
  ship: {go: ["RR@5(lexical) >= RR@5(other) + 0.2"], min_items: 2}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_study(tmp_path / "study", STUDY)


def keep_items(folder: Path, number: int, items: list[Any]) -> None:
    write_lines(folder / "data/items.jsonl", items[:number])


def items_in(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "data/items.jsonl").read_text().splitlines()]


def verdict(folder: Path) -> Any:
    assay("run", folder)
    (found,) = assay("gate", folder, "--json").json["verdicts"]
    return found


def test_a_study_that_grows_is_looked_at_again_and_reading_is_no_look(folder: Path) -> None:
    items = items_in(folder)
    keep_items(folder, 6, items)
    first = verdict(folder)
    assert (first["look"], first["level"]) == (1, 0.95)
    assert verdict(folder)["look"] == 1
    keep_items(folder, 12, items)
    second = verdict(folder)
    assert second["look"] == 2
    assert second["level"] > 0.95
    assert verdict(folder)["level"] == second["level"]
    assert len(list((folder / "run/looks").glob("*.jsonl"))) == 2


def test_a_baseline_carries_the_looks_to_a_fresh_checkout(folder: Path) -> None:
    items = items_in(folder)
    keep_items(folder, 6, items)
    verdict(folder)
    assert assay("baseline", "tag", folder, "march").code == 0
    shutil.rmtree(folder / "run")
    keep_items(folder, 12, items)
    assert verdict(folder)["look"] == 2
    shutil.rmtree(folder / "run")
    shutil.rmtree(folder / "baselines")
    assert verdict(folder)["look"] == 1  # nothing remembers


def test_a_new_version_of_a_system_starts_over(folder: Path) -> None:
    items = items_in(folder)
    keep_items(folder, 6, items)
    verdict(folder)
    keep_items(folder, 12, items)
    study = folder / "study.yaml"
    study.write_text(study.read_text().replace("lexical: bm25", "lexical: dense"))
    assert verdict(folder)["look"] == 1


def test_a_damaged_look_is_left_out_and_not_fatal(folder: Path) -> None:
    verdict(folder)
    (kept,) = (folder / "run/looks").glob("*.jsonl")
    kept.write_bytes(kept.read_bytes()[:-20])
    assert assay("gate", folder).code in {0, 10, 11}
