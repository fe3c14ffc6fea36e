"""The study that comes with the program: its detectors are of its systems, its plan and steps open."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.protocols import Kit
from assay.pipeline.plan import open_plan
from assay.study.study import open_study

STUDY = Path(__file__).parents[4] / "src/assay/kinds/hierarchy/template"


FLAT = ["bm25", "dense", "hybrid", "flat_strong", "flat_knapsack", "passages", "flat_linked"]
TREES = ["beam", "collapsed", "race", "race_unlinked"]


@pytest.mark.slow
def test_what_was_fitted_was_fitted_on_its_system_and_the_first_stage(tmp_path: Path) -> None:
    study = open_study(STUDY, kit=Kit(cache=tmp_path))
    first = [arm for arm in study.arms if arm.factors == {"stage": "10k"}]
    assert [arm.system for arm in first] == [*FLAT, *TREES]
    for arm in first:
        system = study.system(arm)
        if hasattr(system, "warnings"):
            assert system.warnings(study.dataset(arm), study.kit) == []


@pytest.mark.slow
def test_the_plan_goes_from_a_slice_to_every_hypothesis() -> None:
    plan = open_plan(STUDY / "plan.yaml")
    assert [(step.name, list(step.gates)) for step in plan.steps] == [
        ("routing error", ["epsilon"]),
        ("token efficiency", ["H1a", "abstention"]),
        ("beam, collapsed, race", ["H1b"]),
        ("cross-links", ["H1c", "tree", "links"]),
    ]
    assert all(step.selection.where == {"stage": ["10k"]} for step in plan.steps)


def test_systems_choose_under_the_same_budgets_and_only_trees_are_asked_with_five_seeds() -> None:
    study = open_study(STUDY)
    assert study.budgets == [200, 400, 800, 1200, None]
    assert list(study.file.systems) == [*FLAT, *TREES]
    seeds = {arm.system: len(study.seeds_of(arm)) for arm in study.arms}
    assert seeds == {**dict.fromkeys(FLAT, 1), **dict.fromkeys(TREES, 5)}


def test_trees_and_flat_systems_rank_and_show_alike() -> None:
    """What differs between race and flat_strong is the tree and the links, and nothing else."""
    study = open_study(STUDY)
    made = {arm.system: study.system(arm) for arm in study.arms}
    flat, race = made["flat_strong"].of, made["race"].of  # type: ignore[attr-defined]
    for field in (
        "model",
        "fuse",
        "rerank",
        "rerank_depth",
        "trust",
        "select",
        "grain",
        "tokenizer",
        "k",
        "show",
    ):
        assert getattr(flat, field) == getattr(race, field), field
    assert race.links == made["flat_linked"].links  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["slice.yaml", "routers.yaml"])
def test_the_other_studies_open(name: str) -> None:
    assert open_study(STUDY / name).arms


def test_thresholds_are_those_of_the_design() -> None:
    gates = open_study(STUDY).file.gates
    told = {name: str(gate.go) + str(gate.kill) for name, gate in gates.items()}
    assert [each in told["H1a"] for each in ("+ 0.08", "- 0.02", "<= 400", "+ 0.03")] == [True] * 4
    assert [each in told["H1b"] for each in ("+ 0.03", "for 2 of tag", "50k|200k", "+ 0.01")] == [True] * 4
    assert [each in told["H1c"] for each in ("0.02", "0.03", ">= 0.6", "< 0.3", "+ 0.10", "+ 0.03")] == [
        True
    ] * 6
    assert [each in told["abstention"] for each in ("0.80", "0.70", "0.65", "0.50")] == [True] * 4
