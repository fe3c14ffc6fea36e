"""What is asked again after a change, and what is not: the response key decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from assay.core.errors import DataError
from assay.pipeline.runner import run_study
from assay.store.keys import AnswerBasis, plan_tasks
from probe import Probe
from probing import forget_asked, items, opened, sequence, times_asked, write_lines, write_study

ITEMS = [*items(3), *sequence("talk", 3)]
EVERY = {"q0", "q1", "q2", "talk0", "talk1", "talk2"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study that has been run once, its record of questions wiped."""
    (tmp_path / "weights").write_text("first")
    write_study(tmp_path, ITEMS, systems={"probe": "probe(model=weights)"})
    assert run_study(opened(tmp_path)).answered == 6
    forget_asked(tmp_path)
    return tmp_path


def edit_study(folder: Path, **fields: Any) -> None:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **fields}))


def edit_items(folder: Path, edit: Callable[[list[dict[str, Any]]], object]) -> None:
    changed = json.loads(json.dumps(ITEMS))
    edit(changed)
    write_lines(folder / "data/items.jsonl", changed)


def edit_passage(folder: Path) -> None:
    path = folder / "data/passages.jsonl"
    path.write_text(path.read_text().replace("passage 7", "passage seven"))


def asked_again(folder: Path, probe: type = Probe) -> set[str]:
    run_study(opened(folder, probe))
    return set(times_asked(folder))


@pytest.mark.parametrize(
    "change",
    [
        edit_passage,
        lambda folder: edit_study(folder, systems={"probe": "probe(model=weights, top=2)"}),
        lambda folder: (folder / "weights").write_text("second"),
        lambda folder: edit_study(folder, seeds=[7]),
        lambda folder: edit_study(folder, budgets=[200]),
    ],
    ids=["corpus text", "parameter", "model behind identity()", "seed", "budgets"],
)
def test_what_decides_an_answer_asks_everything_again(folder: Path, change: Callable[[Path], object]) -> None:
    change(folder)
    assert asked_again(folder) == EVERY


def test_a_new_version_of_the_system_asks_everything_again(folder: Path) -> None:
    newer = type("Probe", (Probe,), {"version": "2", "__module__": "probe", "__qualname__": "Probe"})
    assert asked_again(folder, newer) == EVERY


def test_a_version_is_all_that_tells_two_classes_apart(folder: Path) -> None:
    class Same(Probe):
        version: ClassVar[str] = "1"

    Same.__module__, Same.__qualname__ = Probe.__module__, Probe.__qualname__
    assert asked_again(folder, Same) == set()


def set_gold(given: list[dict[str, Any]]) -> None:
    given[0]["gold"] = {"relevant": {"d5": 2}}


def set_tags(given: list[dict[str, Any]]) -> None:
    for item in given:
        item["tags"] = {"kind": "new"}


@pytest.mark.parametrize("change", [set_gold, set_tags], ids=["gold", "tags"])
def test_what_only_judges_an_answer_asks_nothing(
    folder: Path, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    edit_items(folder, change)
    assert asked_again(folder) == set()


@pytest.mark.parametrize(
    "fields",
    [
        {"measures": ["R@3"]},
        {"gates": {"ship": {"go": ["nDCG@3(probe) >= 0.1"]}}},
        {"judges": ["ids"]},
        {"by": ["kind"]},
        {"run": {"threads": 5, "timeout": 9, "retries": 0}},
    ],
    ids=["measures", "gates", "judges", "slices", "how it is run"],
)
def test_later_stages_and_settings_ask_nothing(folder: Path, fields: dict[str, Any]) -> None:
    edit_study(folder, **fields)
    assert asked_again(folder) == set()


def test_a_new_query_costs_one_query(folder: Path) -> None:
    edit_items(folder, lambda given: given.insert(0, {"item_id": "new", "text": "a new one"}))
    assert asked_again(folder) == {"new"}


def test_a_changed_text_costs_that_query(folder: Path) -> None:
    edit_items(folder, lambda given: given[1].update(text="put differently"))
    assert asked_again(folder) == {"q1"}


def test_a_removed_query_costs_nothing(folder: Path) -> None:
    edit_items(folder, lambda given: given.pop(0))
    assert asked_again(folder) == set()


def test_a_changed_turn_asks_its_sequence_again_and_keys_all_later_turns_anew(folder: Path) -> None:
    def keys() -> list[str]:
        study = opened(folder)
        dataset = study.dataset(study.arms[0])
        return list(plan_tasks(AnswerBasis.of(study, study.arms[0], dataset), 0, dataset)[3].keys)

    before = keys()
    edit_items(folder, lambda given: given[4].update(text="another second turn"))
    after = keys()
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, False]
    # The first turn's answer is kept, but the session needs the turn to have happened.
    assert asked_again(folder) == {"talk0", "talk1", "talk2"}


def test_going_back_to_an_earlier_parameter_reuses_its_answers(folder: Path) -> None:
    edit_study(folder, systems={"probe": "probe(model=weights, top=2)"})
    assert asked_again(folder) == EVERY
    forget_asked(folder)
    edit_study(folder, systems={"probe": "probe(model=weights)"})
    assert asked_again(folder) == set()


def test_a_scope_is_part_of_the_key_and_the_rest_of_the_corpus_is_not(tmp_path: Path) -> None:
    write_study(tmp_path, [*items(1, scope=["d1", "d2"]), {"item_id": "wide", "text": "everywhere"}])
    run_study(opened(tmp_path))
    forget_asked(tmp_path)
    edit_passage(tmp_path)  # d7, outside the scope
    assert asked_again(tmp_path) == {"wide"}


def test_a_document_behind_the_passages_is_part_of_the_key(tmp_path: Path) -> None:
    write_study(tmp_path, [*items(1), *items(1, item_id="narrow", scope=["d1"])])
    documents = [{"doc_id": f"d{index}", "text": f"passage {index}"} for index in range(8)]
    write_lines(tmp_path / "data/documents.jsonl", documents)
    run_study(opened(tmp_path))
    forget_asked(tmp_path)
    documents[7]["title"] = "a new title"  # outside the narrow item's scope
    write_lines(tmp_path / "data/documents.jsonl", documents)
    assert asked_again(tmp_path) == {"q0"}


def test_a_sequence_over_two_scopes_is_refused(tmp_path: Path) -> None:
    talk = sequence("talk", 2)
    talk[1]["scope"] = ["d1"]
    study = opened(write_study(tmp_path, talk))
    with pytest.raises(DataError, match="'talk' have different scopes"):
        run_study(study)


def test_an_index_has_a_key_of_its_own(folder: Path) -> None:
    def key() -> str:
        study = opened(folder)
        return AnswerBasis.of(study, study.arms[0], study.dataset(study.arms[0])).index_key(0)

    first = key()
    edit_study(folder, budgets=[200])  # asks anew, of the same index
    assert key() == first
    edit_passage(folder)
    assert key() != first
