"""assay plugins: names, groups, one plugin, and JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import typer
from typer.testing import CliRunner, Result

from assay.cli import start
from assay.cli.main import with_errors
from assay.core.registry import Registry


def run(*args: str) -> Result:
    app = typer.Typer()
    app.command()(with_errors(start.plugins))
    return CliRunner().invoke(app, list(args))


def test_all_are_listed_by_group() -> None:
    done = run()
    assert done.exit_code == 0
    assert "stores      exact, hnsw, postgres, qdrant" in done.stdout
    assert "assay plugins nDCG" in done.stderr


def test_names_are_listed_without_loading_what_they_name() -> None:
    code = "import sys; from assay.cli.main import app; app(['plugins'], standalone_mode=False); "
    heavy = "print({'duckdb', 'httpx', 'numpy', 'polars', 'scipy', 'jinja2'} & sys.modules.keys() or 'none')"
    done = subprocess.run([sys.executable, "-c", code + heavy], capture_output=True, text=True, check=True)
    listed, loaded = done.stdout.splitlines()[:-1], done.stdout.splitlines()[-1]
    assert loaded == "none"
    assert "systems" in done.stdout
    assert len(listed) > len(Registry().groups)


def test_a_group_says_what_each_does() -> None:
    lines = run("fusions").stdout.splitlines()
    assert lines[1].split()[:4] == ["rrf", "Reciprocal", "rank", "fusion"]


def test_a_plugin_shows_its_parameters_and_a_measure_its_cut_off() -> None:
    shown = run("nDCG").stdout
    assert "measures.nDCG (retrieval-assay" in shown
    assert "Järvelin and Kekäläinen" in shown
    assert [line.split() for line in shown.splitlines() if line.startswith("@")] == [
        ["@", "(cutoff)", "int", "none"]
    ]
    assert "has to be given" in run("replay").stdout
    assert "It takes no parameter." in run("Abstain").stdout


def test_json_has_what_the_tables_show() -> None:
    content = json.loads(run("rrf", "--json").stdout)
    assert content["schema"] == "assay/plugins/1"
    (found,) = content["plugins"]
    assert found["parameters"] == [{"name": "k", "takes": "int", "default": "60"}]


def test_an_unknown_name_is_a_usage_error() -> None:
    done = run("hybird")
    assert done.exit_code == 2
    assert "Did you mean 'hybrid'" in done.stderr
