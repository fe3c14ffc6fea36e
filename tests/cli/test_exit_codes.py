"""Every exit code, by its own process: 0, 10, 11, 2, 3, 4, 5, 12 and 141. A crash alone leaves with 1."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from small_study import STUDY, assay, edited, real_assay, write_study

SYSTEM_THAT_BREAKS = """
import sys
from dataclasses import dataclass
from assay.core import registry as plugins
from assay.cli.main import main

@dataclass(frozen=True)
class Breaks:
    def build(self, corpus, seed, kit):
        raise RuntimeError("no such server")

found = plugins.Registry.load
plugins.Registry.load = lambda self, group, name: Breaks if name == "dense" else found(self, group, name)
main()
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_study(tmp_path_factory.mktemp("codes") / "small")
    done = real_assay("run", folder)
    assert done.code == 0, done.err  # go
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("margin", "code", "word"), [("+ 0.9", 10, "No-go"), ("+ 0.6", 11, "Inconclusive")])
def test_no_go_and_inconclusive(ran: Path, margin: str, code: int, word: str) -> None:
    (ran / "study.yaml").write_text(edited("+ 0.2", margin))
    done = real_assay("gate", ran, "--accept-changes")
    assert done.code == code
    assert done.out.rstrip().endswith(word)
    assert done.err == ""


def test_usage_is_2() -> None:
    assert real_assay("run").code == 2


@pytest.mark.slow
def test_bad_data_is_3(tmp_path: Path) -> None:
    done = real_assay("validate", tmp_path)
    assert done.code == 3
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_a_system_that_cannot_be_opened_is_4(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", edited("lexical: bm25", "lexical: dense"))
    done = subprocess.run(
        [sys.executable, "-c", SYSTEM_THAT_BREAKS, "run", folder],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 4
    assert "lexical could not be opened: RuntimeError: no such server" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_unknown_plugin_is_5() -> None:
    done = real_assay("score", "any.run", "--qrels", "any.qrels", "-m", "nDGC@10")
    assert done.code == 5
    assert "Did you mean 'nDCG'?" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ["report", "--json"],
        pytest.param(["report", "--format", "markdown", "-o", "-"], marks=pytest.mark.slow),
        pytest.param(["gate"], marks=pytest.mark.slow),
        pytest.param(["status"], marks=pytest.mark.slow),
    ],
)
def test_a_reader_that_goes_away_is_141_and_no_verdict(ran: Path, args: list[str]) -> None:
    command = [sys.executable, "-c", "from assay.cli.main import main; main()", *args, str(ran)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141, said
    assert said == b""


@pytest.mark.parametrize("gates", ["", 'gates: {ship: {go: ["RR@5(old) >= 0.2"], deciding: false}}\n'])
def test_a_verdict_that_is_required_and_cannot_be_is_a_usage_error(tmp_path: Path, gates: str) -> None:
    folder = write_study(tmp_path, STUDY.partition("gates:")[0] + gates)
    done = assay("run", folder, "--require-verdict")
    assert (done.code, done.out, (folder / "run").exists()) == (2, "", False)  # before anything is asked
    assert "study.yaml: no gate decides, and --require-verdict asks for a verdict. Add `gates:`" in done.err
    assert assay("run", folder).code == 0
    assert assay("gate", folder, "--require-verdict").code == 2
    (folder / "plan.yaml").write_text("steps: [{study: study.yaml}]\n")
    assert [assay("run", folder, *required).code for required in ([], ["--require-verdict"])] == [0, 2]


def test_a_verdict_that_is_required_is_given(tmp_path: Path) -> None:
    folder = write_study(tmp_path)
    assert [assay(command, folder, "--require-verdict").code for command in ("run", "gate")] == [0, 0]


@pytest.mark.slow
def test_answers_older_than_the_gate_are_12(ran: Path) -> None:
    (ran / "study.yaml").write_text(edited("+ 0.2", "+ 0.1"))
    done = real_assay("gate", ran)
    assert (done.code, done.out.rstrip().endswith("Go")) == (12, True)
