"""Commands that entry points add: one that works, one that breaks, one whose name is taken."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from assay.cli.main import PLUGGED, LazyGroup, root_parts


def call(point: EntryPoint, *words: str) -> int:
    """The exit code of the command line with one entry point added."""
    with pytest.raises(SystemExit) as stop:
        LazyGroup(root_parts([point]), name="assay")(list(words))
    return int(stop.value.code or 0)


@pytest.mark.parametrize(("name", "words"), [("platform", ["platform"]), ("review.who", ["review", "who"])])
def test_a_function_becomes_a_command(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    point = EntryPoint(name, "platform:system", PLUGGED)
    assert call(point, *words) == 0
    assert call(point, *words[:-1], "--help") == 0
    assert f"  {words[-1]} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (EntryPoint("broken", "no_such_module:command", PLUGGED), "does not load: ModuleNotFoundError"),
        (EntryPoint("run", "platform:system", PLUGGED), "there is one of that name"),
        (EntryPoint("data", "platform:system", PLUGGED), "there is one of that name"),
        (EntryPoint("data.get", "platform:system", PLUGGED), "there is one of that name"),
        (EntryPoint("nothing.get", "platform:system", PLUGGED), "there is no group 'nothing'"),
    ],
)
def test_one_that_cannot_be_added_leaves_the_others(
    point: EntryPoint, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(point, "--help") == 0
    shown = capsys.readouterr()
    assert said in shown.err
    assert "  broken" not in shown.out
    assert all(f"  {name} " in shown.out for name in ("run", "data", "review"))


def test_one_that_breaks_is_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(EntryPoint("broken", "no_such_module:command", PLUGGED), "broken") == 2
    assert "No such command" in capsys.readouterr().err
