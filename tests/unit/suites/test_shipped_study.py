"""The study that comes with the program: its detectors are of its systems, its plan and steps open."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.plan import open_plan
from assay.protocols import Kit
from assay.study import open_study

STUDY = Path(__file__).parents[3] / "src" / "assay" / "studies" / "hierarchy"


@pytest.mark.slow
def test_every_detector_was_fitted_on_its_system_and_the_first_stage(tmp_path: Path) -> None:
    study = open_study(STUDY, kit=Kit(cache=tmp_path))
    first = [arm for arm in study.arms if arm.factors == {"stage": "10k"}]
    assert len(first) == 6
    for arm in first:
        told = getattr(study.system(arm), "warnings", None)
        assert told is not None
        assert told(study.dataset(arm), study.kit) == []


@pytest.mark.slow
def test_the_plan_and_all_its_steps_open() -> None:
    plan = open_plan(STUDY / "plan.yaml")
    assert [step.name for step in plan.steps] == ["slice", "grain", "curves at 10k", "curves at 50k"]


def test_five_systems_choose_under_the_same_budgets_by_the_same_tokenizer() -> None:
    study = open_study(STUDY)
    assert study.budgets == [200, 400, 800, 1200, None]
    assert list(study.file.systems) == ["bm25", "dense", "hybrid", "hybrid_rerank", "flat_strong", "passages"]
    assert {arm.system: len(study.seeds_of(arm)) for arm in study.arms} == dict.fromkeys(
        study.file.systems, 1
    )
