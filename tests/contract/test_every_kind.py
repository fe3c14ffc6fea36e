"""The contract of every kind of study, its checks and its commands, found by entry points."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from plugins import each

from assay.cli.main import COMMANDS, GROUPS, PLUGGED, root_parts
from assay.core.errors import Problem
from assay.core.registry import CHECKS, KINDS, Registry, kind_packages, template_of
from assay.pipeline.evaluation import Evaluation
from assay.study.study import open_study

ONE_SCREEN = 40  # lines
POINTS = {point.name: point for point in entry_points(group=PLUGGED)}


@pytest.mark.parametrize("kind", kind_packages())
class TestKinds:
    def test_it_is_a_package(self, kind: str) -> None:
        assert hasattr(import_module(kind_packages()[kind]), "__path__")

    def test_a_study_can_start_from_its_template(self, kind: str) -> None:
        template = Path(str(template_of(kind)))
        assert (template / "study.yaml").is_file()
        study = open_study(template / "study.yaml")
        assert study.arms
        assert study.measures
        assert yaml.safe_load((template / "study.yaml").read_text())["kind"] == kind

    def test_its_readme_names_what_there_is(self, kind: str) -> None:
        folder = Path(str(template_of(kind))).parent
        text = (folder / "README.md").read_text(encoding="utf-8")
        assert len(text.splitlines()) <= ONE_SCREEN
        rows = re.findall(r"(?m)^\| (`.+?) \|", text)
        named = {each.rstrip("/").split("/")[0] for row in rows for each in re.findall(r"`([^`]+)`", row)}
        there = {each.name for each in folder.iterdir() if each.name[:2] not in {"__", "RE"}}
        assert named == there
        assert set(re.findall(r"`(assay\.\w+)`", text)) <= {*Registry().groups, PLUGGED, KINDS}


@pytest.mark.parametrize("plugin", each(CHECKS), indirect=True)
def test_a_check_gives_problems_and_warnings(plugin: Any, evaluations: dict[str, Evaluation]) -> None:
    for evaluation in evaluations.values():
        problems, warnings = plugin.of(evaluation.study)
        assert all(isinstance(problem, Problem) for problem in problems)
        assert all(isinstance(warning, str) and warning for warning in warnings)
        assert plugin.of(evaluation.study) == (problems, warnings)


@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
def test_a_command_loads_and_has_help(point: EntryPoint, capsys: pytest.CaptureFixture[str]) -> None:
    parts = root_parts([point])
    group, _, name = point.name.rpartition(".")
    assert group in {"", *GROUPS}
    assert group or (name in parts and name not in {*COMMANDS, *GROUPS})
    command = parts[group or name]()
    command = command.commands[name] if group and hasattr(command, "commands") else command
    assert command is not None, capsys.readouterr()
    named = {point.name: command, **dict(getattr(command, "commands", {}))}
    for each_name, one in named.items():
        assert (one.help or "").strip(), each_name
