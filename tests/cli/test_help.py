"""What the command line says about itself, and what it costs to ask."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.main import app
from assay.core.registry import RENDERERS, Registry
from assay.pipeline.work_orders import ENGINES
from small_study import assay

ROOT = Path(__file__).parents[2]


def leaves(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every command that does something, by the words that call it."""
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
    else:
        for name, child in children.items():
            yield from leaves(child, (*path, name))


COMMANDS = dict(leaves(app))


def test_the_commands_are_these() -> None:
    wanted = {"demo", "init", "validate", "run", "score", "compare", "gate", "report", "status", "import"}
    wanted |= {"review export", "review import", "review status", "review agreement"}
    wanted |= {"baseline tag", "baseline list", "baseline diff", "dashboard", "graph"}
    wanted |= {"sweep"} | {f"golden {step}" for step in ("check", "freeze", "resolve", "candidates", "add")}
    wanted |= {f"data {step}" for step in ("list", "get", "verify")}
    wanted |= {f"annotate {step}" for step in ("inventory", "freeze", "sheets", "agreement", "export")}
    assert wanted <= {" ".join(path) for path in COMMANDS}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_documents_every_option(path: tuple[str, ...]) -> None:
    done = assay(*path, "--help")
    assert (done.code, done.err) == (0, "")
    assert getattr(COMMANDS[path], "help", None)
    for param in COMMANDS[path].params:  # type: ignore[attr-defined]
        assert param.help, f"{' '.join(path)}: {param.name} says nothing about itself"
        if param.param_type_name == "option":
            assert param.opts[-1] in done.out


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_takes_json(path: tuple[str, ...]) -> None:
    assert "--json" in assay(*path, "--help").out


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_refuses_an_unknown_option(path: tuple[str, ...]) -> None:
    done = assay(*path, "--no-such-option")
    assert (done.code, done.out) == (2, "")
    assert "--no-such-option" in done.err
    assert "--help" in done.err


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_is_in_the_guide(path: tuple[str, ...]) -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(page.read_text() for page in pages if page.is_file())
    assert f"assay {' '.join(path)}" in text


def test_the_formats_and_engines_are_named_in_the_help() -> None:
    for name in Registry().names(RENDERERS):
        if Registry().provider(RENDERERS, name).startswith("retrieval-assay"):
            assert name in assay("report", "--help").out
    for name in ENGINES:
        assert name in assay("run", "--help").out


def test_no_arguments_show_the_commands() -> None:
    done = assay()
    assert done.code == 2
    assert all(path[0] in done.out + done.err for path in COMMANDS)


def test_version() -> None:
    import assay as package

    assert assay("--version").out == f"assay {package.__version__}\n"


def test_a_mistyped_command_is_suggested() -> None:
    done = assay("validat")
    assert done.code == 2
    assert "validate" in done.err


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from assay.cli.main import app; sys.argv = ['assay', '--help']\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "sys.stderr.write(' '.join({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert "Usage: assay" in done.stdout
    heavy = {"numpy", "polars", "pandas", "scipy", "pydantic", "tantivy", "jinja2", "tokenizers"}
    assert not heavy & set(done.stderr.split())
