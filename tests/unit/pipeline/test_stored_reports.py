"""Report and status read what was run, whatever the study has become since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.core.dataset import Dataset
from assay.core.errors import DataError, MissingVariable, UsageError
from assay.core.protocols import Kit
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study, study_status
from assay.pipeline.validate import check_study
from assay.study.study import Study
from probe import Probe
from probing import forget_asked, items, opened, sequence, times_asked, write_lines, write_study

CHANGED = "the study has changed since this run"


@dataclass(frozen=True)
class Locked(Probe):
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)


SECRETIVE = {"probe": {"use": "probe", "token": "${SEARCH_TOKEN}"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "weights").write_text("first")
    write_study(tmp_path, items(4), systems={"probe": "probe(model=weights)"})
    run_study(opened(tmp_path))
    forget_asked(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Doubtful(Probe):
    token: str = ""

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        return [f"{dataset.items[0].item_id} asks for the role 'exeption'"]


def test_what_a_system_doubts_is_told_before_a_run_and_in_its_report(tmp_path: Path) -> None:
    two = {name: {"use": "probe", "token": "${SEARCH_TOKEN}"} for name in ("one", "other")}
    write_study(tmp_path, items(2), systems=two)
    study = opened(tmp_path, Doubtful, {"SEARCH_TOKEN": "x"})
    doubt = "q0 asks for the role 'exeption'"
    assert check_study(study, study.arms).warnings.count(doubt) == 1  # though both have it
    run_study(study)
    assert doubt in Evaluation(study).results.trust.warnings
    bare = opened(tmp_path, Doubtful, {})  # where systems cannot be had, the rest is told all the same
    assert doubt not in Evaluation(bare).results.trust.warnings


def edit_study(folder: Path, **fields: Any) -> None:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **fields}))


def edit_passage(folder: Path) -> None:
    path = folder / "data/passages.jsonl"
    path.write_text(path.read_text().replace("passage 7", "passage seven"))


def warned(study: Study) -> list[str]:
    return [text for text in Evaluation(study).results.trust.warnings if text.startswith(CHANGED)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda folder: edit_study(folder, systems={"probe": "probe(model=weights, top=2)"}), "system"),
        (lambda folder: (folder / "weights").write_text("second"), "system"),
        (lambda folder: edit_study(folder, budgets=[200]), "budgets"),
        (edit_passage, "corpus"),
    ],
    ids=["parameter", "model", "budgets", "corpus"],
)
def test_a_changed_study_still_reports_what_was_run_and_says_so(
    folder: Path, change: Callable[[Path], object], what: str
) -> None:
    before = Evaluation(opened(folder)).scores
    assert warned(opened(folder)) == []
    change(folder)
    assert Evaluation(opened(folder)).scores.equals(before)
    assert warned(opened(folder)) == [f"{CHANGED}: probe ({what}); run again"]
    assert study_status(opened(folder)).arms[0].answered == 4
    assert times_asked(folder) == {}  # nobody was asked
    run_study(opened(folder))
    assert warned(opened(folder)) == []


def test_a_new_version_still_reports_what_was_run(folder: Path) -> None:
    newer = type("Probe", (Probe,), {"version": "2", "__module__": "probe", "__qualname__": "Probe"})
    assert warned(opened(folder, newer)) == [f"{CHANGED}: probe (system); run again"]


def test_a_model_that_is_gone_does_not_keep_a_report_from_being_made(folder: Path) -> None:
    (folder / "weights").unlink()
    assert warned(opened(folder)) == []  # it cannot be told
    assert study_status(opened(folder)).arms[0].answered == 4


def test_only_the_changed_arms_are_named(tmp_path: Path) -> None:
    write_study(tmp_path, items(2), systems={"a": "probe", "b": "probe(top=2)"})
    run_study(opened(tmp_path))
    edit_study(tmp_path, systems={"a": "probe", "b": "probe(top=1)"}, measures=["R@3"])
    assert warned(opened(tmp_path)) == [f"{CHANGED}: b (system), measures; run again"]


def test_items_added_or_changed_since_the_run_are_pending(tmp_path: Path) -> None:
    given = [*items(3), *sequence("talk", 3)]
    run_study(opened(write_study(tmp_path, given)))
    given[1]["text"] = "put differently"
    given[4]["text"] = "another second turn"  # what followed was said after other words
    write_lines(tmp_path / "data/items.jsonl", [{"item_id": "new", "text": "a new one"}, *given])
    asked = Evaluation(opened(tmp_path)).blocks[0]
    pending = [
        item for item, failed in zip(asked.item_ids, asked.answers["failed"], strict=True) if failed is None
    ]
    assert pending == ["new", "q1", "talk1", "talk2"]
    status = study_status(opened(tmp_path)).arms[0]
    assert (status.answered, status.pending) == (3, 4)


def test_a_scope_of_a_newer_item_is_pending_and_no_change(tmp_path: Path) -> None:
    run_study(opened(write_study(tmp_path, items(1, scope=["d1", "d2"]))))
    more = {"item_id": "new", "text": "new", "scope": ["d3"]}
    write_lines(tmp_path / "data/items.jsonl", [*items(1, scope=["d2", "d1"]), more])  # a scope has no order
    study = opened(tmp_path)
    assert Evaluation(study).blocks[0].answers["failed"].to_list() == [False, None]
    assert warned(study) == []


def test_an_unset_secret_is_needed_to_run_and_not_to_report(tmp_path: Path) -> None:
    write_study(tmp_path, items(2), systems=SECRETIVE)
    run_study(opened(tmp_path, Locked, {"SEARCH_TOKEN": "t-1"}))
    bare = opened(tmp_path, Locked, {})
    assert Evaluation(bare).results.scores.height == 4  # two items, two measures
    assert warned(bare) == []
    assert study_status(bare).arms[0].answered == 2
    with pytest.raises(MissingVariable, match="SEARCH_TOKEN is not set"):
        run_study(bare)
    with pytest.raises(DataError, match=r"systems\.probe: The environment variable SEARCH_TOKEN is not set"):
        check_study(bare, bare.arms)


def test_unset_data_is_a_problem_of_the_study(tmp_path: Path) -> None:
    write_study(tmp_path, items(1), data="${WHERE}")
    with pytest.raises(DataError, match=r"data: The environment variable WHERE is not set"):
        opened(tmp_path, env={})


def test_nothing_is_reported_before_anything_was_run(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(2)))
    assert study_status(study).arms[0].pending == 2
    with pytest.raises(UsageError, match="Nothing was run yet"):
        _ = Evaluation(study).results


def test_an_identity_is_worked_out_once_an_arm(tmp_path: Path) -> None:
    calls: list[str] = []

    class Counted(Probe):
        def identity(self, kit: object) -> str:
            calls.append("identity")
            return ""

    study = opened(write_study(tmp_path, items(2), seeds=5), Counted)
    run_study(study)
    _ = Evaluation(study).results
    assert calls == ["identity"]
