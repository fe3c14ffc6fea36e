"""Ctrl-C at any stage of a run: no traceback, the exit code of shells, what is kept and how to go on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from small_study import STUDY, assay, edited, real_assay, write_study

# A system whose index, and a judge whose verdict, takes half a minute; each says when it has begun.
SLOW_PLUGINS = """
import sys, time
from dataclasses import dataclass
from assay.core import registry as plugins
from assay.cli.main import main
from assay.core.records import Question

def wait():
    print("begun", file=sys.stderr, flush=True)
    time.sleep(30)

@dataclass(frozen=True)
class SlowSystem:
    def build(self, corpus, seed, kit):
        wait()

@dataclass(frozen=True)
class SlowJudge:
    names = ("slow",)
    closed_labels = frozenset()
    version = "1"

    def questions(self, dataset, blocks):
        return [Question("q0", "relevance", "d0", "alpha")]

    def ask(self, question, kit):
        wait()

found = plugins.Registry.load
slow = {"dense": SlowSystem, "llm": SlowJudge}
plugins.Registry.load = lambda self, group, name: slow.get(name) or found(self, group, name)
main()
"""


def interrupted(folder: Path) -> tuple[int, str]:
    """The exit code and the talk of a run that is interrupted once something slow has begun."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_PLUGINS, "run", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    while "begun" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    said += process.communicate(timeout=20)[1]
    return process.returncode, said


@pytest.mark.slow
def test_an_interrupt_while_an_index_is_built(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", edited("lexical: bm25", "lexical: bm25\n  slow: dense"))
    code, said = interrupted(folder)
    assert code == 130
    assert "Traceback" not in said
    assert said.endswith(
        f"small: interrupted. 12 of 36 answers are stored. To go on from there: assay run {folder}\n"
    )
    assert "24 answered, 12 reused" in real_assay("run", folder).err


@pytest.mark.slow
def test_an_interrupt_while_a_judge_is_asked(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", STUDY + "judges: [ids, llm]\n")
    code, said = interrupted(folder)
    assert code == 130
    assert "Traceback" not in said
    kept = "24 of 24 answers are stored, and so is what judges found"
    assert said.endswith(f"small: interrupted. {kept}. To go on from there: assay run {folder}\n")


def test_any_command_that_is_interrupted_says_so(tmp_path: Path) -> None:
    with mock.patch("assay.study.study.open_study", side_effect=KeyboardInterrupt):
        done = assay("status", write_study(tmp_path / "small"))
    assert (done.code, done.out) == (130, "")
    assert done.err == "Interrupted. What was stored is kept: run the command again to go on.\n"
