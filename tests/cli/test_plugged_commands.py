"""Commands that entry points add: one that works, one that breaks, one whose name is taken."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from assay.cli import main

GROUP = "assay.commands"


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """The command line as it is, in a copy that a test may add to."""
    copy = typer.Typer(rich_markup_mode=None)
    copy.registered_commands = list(main.app.registered_commands)
    copy.registered_groups = list(main.app.registered_groups)
    monkeypatch.setattr(main, "app", copy)
    return copy


def test_a_function_becomes_a_command(app: typer.Typer) -> None:
    main.add_plugged(EntryPoint("platform_name", "platform:system", GROUP))
    assert CliRunner().invoke(app, ["platform_name"]).exit_code == 0
    assert "platform_name" in CliRunner().invoke(app, ["--help"]).output


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (EntryPoint("broken", "no_such_module:command", GROUP), "does not load: ModuleNotFoundError"),
        (EntryPoint("run", "platform:system", GROUP), "there is one of that name"),
        (EntryPoint("golden", "platform:system", GROUP), "there is one of that name"),
    ],
)
def test_one_that_cannot_be_added_leaves_the_others(
    app: typer.Typer, capsys: pytest.CaptureFixture[str], point: EntryPoint, said: str
) -> None:
    before = len(app.registered_commands)
    main.add_plugged(point)
    assert said in capsys.readouterr().err
    assert len(app.registered_commands) == before
    assert CliRunner().invoke(app, ["--help"]).exit_code == 0
