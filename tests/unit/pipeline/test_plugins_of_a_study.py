"""Plugins: what a study can name, and whose checks, insights and controls concern it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from assay.core.errors import DataError, PluginError, Problem, UsageError
from assay.core.registry import CHECKS, EMBEDDERS, INSIGHTS, SYSTEMS, Registry, package_of
from assay.pipeline.plugins import PluginParameter, list_plugins, plugins_for, used_classes
from assay.pipeline.validate import study_warnings, validate_study
from assay.retrieval.embed.static import StaticEmbedder
from assay.study.study import Study, open_study
from small_study import STUDY, write_study


@dataclass(frozen=True)
class Sample:
    """Looks things up
    in a drawer.

    Drawers are opened one at a time.
    """

    drawer: str
    order: Literal["up", "down"] = "up"
    most: int | None = None
    weights: tuple[float, ...] = (1.0, 2.0)
    model: Annotated[Any, EMBEDDERS] = StaticEmbedder()


def test_a_plugin_is_told_from_its_class() -> None:
    (found,) = list_plugins(Registry({SYSTEMS: {"drawer": Sample}}), "drawer")
    assert (found.group, found.name, found.provider) == ("systems", "drawer", "")
    assert found.about == "Looks things up in a drawer."
    assert found.description == "Looks things up in a drawer.\n\nDrawers are opened one at a time."
    assert found.parameters == (
        PluginParameter("drawer", "str", None),
        PluginParameter("order", "up | down", "up"),
        PluginParameter("most", "int", "none"),
        PluginParameter("weights", "list of float", "1.0, 2.0"),
        PluginParameter("model", "one of embedders", "static"),
    )


def test_every_plugin_that_is_installed_loads_and_says_what_it_does() -> None:
    registry = Registry()
    found = list_plugins(registry)
    assert [each.name for each in found] == [
        name for group in registry.groups for name in registry.names(group)
    ]
    assert [each.name for each in found if each.problem or not each.about] == []
    assert all(each.takes and "typing" not in each.takes for one in found for each in one.parameters)


def test_a_name_in_several_groups_is_told_of_each_or_of_one() -> None:
    assert [each.group for each in list_plugins(Registry(), "rules")] == ["judges", "packs"]
    assert [each.group for each in list_plugins(Registry(), "packs.rules")] == ["packs"]
    assert {each.group for each in list_plugins(Registry(), "stores")} == {"stores"}


def test_a_name_that_nothing_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"called 'ndgc'\. Did you mean 'nDCG'"):
        list_plugins(Registry(), "ndgc")


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
    assert found >= {"Folder", "Dense", "StaticEmbedder", "ExactStore", "Replay", "Ids", "NDCG", "RR"}
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
