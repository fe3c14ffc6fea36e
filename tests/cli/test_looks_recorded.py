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


GROWN = (12, 16, 21, 28)


def replayed(folder: Path, ranks: list[int]) -> None:
    """Run files of as many queries as there are ranks: new has the right passage there, old at rank 2."""
    items = [
        {"item_id": f"q{place}", "text": "a query", "gold": {"relevant": {f"d{place}": 1}}}
        for place in range(len(ranks))
    ]
    (folder / "data").mkdir(parents=True, exist_ok=True)
    write_lines(folder / "data/items.jsonl", items)
    write_lines(
        folder / "data/passages.jsonl",
        [{"doc_id": f"d{place}", "text": f"text {place}"} for place in range(60)],
    )
    for name, places in (("new", ranks), ("old", [2] * len(ranks))):
        hits = [
            f"q{item} Q0 {f'd{item}' if rank == place else f'd{59 - rank}'} {rank} {10 - rank} x"
            for item, place in enumerate(places)
            for rank in (1, 2, 3)
        ]
        (folder / f"{name}.run").write_text("\n".join(hits) + "\n")
    (folder / "study.yaml").write_text(
        "data: data\nsystems: {new: replay(path=new.run), old: replay(path=old.run)}\nbaseline: old\n"
        "measures: [RR@3]\ncompare: {resamples: 200}\n"
        'gates: {ship: {go: ["RR@3(new) >= RR@3(old)"], min_items: 2}}\n'
    )


def test_a_run_file_that_grows_with_the_items_is_looked_at_again(tmp_path: Path) -> None:
    ranks = [(1, 2, 3)[place % 3] for place in range(max(GROWN))]
    looks = []
    for size in GROWN:
        replayed(tmp_path, ranks[:size])
        looks.append(verdict(tmp_path)["look"])
    assert looks == [1, 2, 3, 4]


def test_a_run_file_of_another_version_starts_over(tmp_path: Path) -> None:
    replayed(tmp_path, [(1, 2, 3)[place % 3] for place in range(12)])
    assert verdict(tmp_path)["look"] == 1
    replayed(tmp_path, [(2, 3, 1)[place % 3] for place in range(16)])
    assert verdict(tmp_path)["look"] == 1
