"""Whose checks are asked about a study: those of the packages that it uses a plugin of, and of its kind."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from assay.core.errors import DataError, PluginError, Problem
from assay.core.registry import CHECKS, INSIGHTS, Registry, package_of
from assay.pipeline.plugins import plugins_for, used_classes
from assay.pipeline.validate import study_warnings, validate_study
from assay.study.study import Study, open_study
from small_study import STUDY, write_study


@dataclass(frozen=True)
class Doubt:
    """Warns of everything that it is asked about."""

    def of(self, study: Study) -> tuple[list[Problem], list[str]]:
        return [], [f"{type(self).__name__} doubts {study.name}"]


@dataclass(frozen=True)
class Refusal:
    """Finds a problem with every study."""

    def of(self, study: Study) -> tuple[list[Problem], list[str]]:
        return [study.lines.problem(["measures"], "it is no good", "Find another.")], []


@dataclass(frozen=True)
class Breakage:
    """Breaks."""

    def of(self, study: Study) -> tuple[list[Problem], list[str]]:
        raise ZeroDivisionError(study.name)


def lying_in(module: str, check: type = Doubt) -> type:
    """The check, as if it had been written in a module."""
    return type(check.__name__, (check,), {"__module__": module})


def opened(folder: Path, registry: Registry, text: str = STUDY) -> Study:
    return open_study(write_study(folder, text), registry=registry)


def asked(study: Study) -> list[str]:
    return [type(each).__module__ for each in plugins_for(study, CHECKS)]


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("assay.kinds.memory.systems.modes", "assay.kinds.memory"),
        ("assay.kinds.memory", "assay.kinds.memory"),
        ("assay.systems.flat", "assay"),
        ("assay_worlds.sources.mail", "assay_worlds"),
        ("theirs.deep.inside", "theirs"),
        ("alone", "alone"),
    ],
)
def test_a_kind_is_a_package_of_its_own(module: str, package: str) -> None:
    assert package_of(module) == package


def test_a_check_is_asked_where_its_package_is_used(tmp_path: Path) -> None:
    modules = ["assay.cautious", "theirs.checks", "assay.kinds.memory.checks", "assay.kinds.search.checks"]
    registry = Registry({CHECKS: {f"c{place}": lying_in(each) for place, each in enumerate(modules)}})
    plain = STUDY.replace("kind: search", "kind: mine")
    assert asked(opened(tmp_path / "plain", registry, plain)) == ["assay.cautious"]
    assert asked(opened(tmp_path / "search", registry)) == ["assay.cautious", "assay.kinds.search.checks"]
    walked = plain.replace("RR@5]", "RR@5, PathHit]")
    assert asked(opened(tmp_path / "measure", registry, walked)) == [
        "assay.cautious",
        "assay.kinds.memory.checks",
    ]


def test_what_gates_and_figures_read_and_the_parts_of_systems_are_used(tmp_path: Path) -> None:
    gate = STUDY.replace(">= RR@5(old)", ">= median(Success@3(old))").replace("bm25", "dense")
    text = gate + 'figures: {alike: "spearman(P@3(lexical), R@3(old))"}\n'
    found = {each.__name__ for each in used_classes(opened(tmp_path, Registry(), text))}
    assert found >= {"Folder", "Dense", "Static", "Exact", "Replay", "Ids", "NDCG", "RR"}
    assert found >= {"P50", "Success", "Spearman", "P", "R"}


def test_a_check_warns_refuses_and_breaks(tmp_path: Path) -> None:
    warns = Registry({CHECKS: {"doubt": lying_in("assay.doubt")}})
    folder = write_study(tmp_path)
    assert f"Doubt doubts {folder.name}" in validate_study(folder, warns).warnings
    study = open_study(folder, registry=warns)
    datasets = {arm.name: study.dataset(arm) for arm in study.arms}
    assert f"Doubt doubts {folder.name}" in study_warnings(study, datasets, study.measures)
    with pytest.raises(DataError, match=r"study.yaml:7: measures: it is no good. Find another."):
        validate_study(folder, Registry({CHECKS: {"refusal": lying_in("assay.refusal", Refusal)}}))
    with pytest.raises(PluginError, match="the check Breakage broke: ZeroDivisionError"):
        validate_study(folder, Registry({CHECKS: {"breakage": lying_in("assay.breakage", Breakage)}}))


def test_search_adds_nothing_by_the_name_of_its_kind() -> None:
    """`assay demo` is of this kind, and a search study needs no module of it."""
    modules = [point.module for group in (CHECKS, INSIGHTS) for point in entry_points(group=group)]
    assert "assay.kinds.search" not in {package_of(module) for module in modules}
