"""`kill -9` in the middle of a sweep: it resumes, and finds what an undisturbed one finds."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from assay.core.sweep_results import Sweep
from assay.pipeline.sweep import run_sweep
from probe import asked
from probing import items, opened, write_plugin, write_study

THREADS = 3


def study(folder: Path, values: int, number: int) -> Path:
    """A grid of values³ settings; two of its parameters change nothing but the key."""
    grid = {
        "top": list(range(1, values + 1)),
        "pause": [0.004 + 0.0001 * place for place in range(values)],
        "cost": [0.001 * place for place in range(values)],
    }
    given = [
        {**item, "tags": {"topic": ["odd", "even"][place % 2]}} for place, item in enumerate(items(number))
    ]
    return write_study(folder, given, by=["topic"], run={"threads": THREADS}, sweep={"grid": grid})


ASK_ONLY = """
import sys
from assay.study.study import open_study
from assay.pipeline.sweep import SweepRun
SweepRun.of(open_study(sys.argv[1]), {}).ask()
"""


def kill_after(folder: Path, env: dict[str, str], questions: int, pause: float) -> None:
    """Starts the sweep, and kills it once so many questions were asked."""
    command = [sys.executable, "-c", ASK_ONLY, str(folder)]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE)
    while process.poll() is None and len(asked(folder)) < questions:
        time.sleep(0.005)
    time.sleep(pause)
    assert process.poll() is None, f"it ended before it could be killed: {process.communicate()[1].decode()}"
    process.kill()
    process.communicate()


def same(found: Sweep) -> tuple[object, ...]:
    """What two sweeps of the same study have in common: neither times, nor what an answer cost twice."""
    settings = [msgspec.structs.replace(each, seconds=None, cost=None) for each in found.settings]
    return settings, found.parameters, found.folds, found.warnings, found.reference.name


@pytest.mark.slow
@pytest.mark.parametrize(("values", "number", "kills"), [(2, 4, 1), (3, 8, 3)])
def test_a_killed_sweep_ends_as_an_undisturbed_one(
    tmp_path: Path, values: int, number: int, kills: int
) -> None:
    folder, env = study(tmp_path / "killed", values, number), write_plugin(tmp_path / "plugin")
    chance, total = random.Random(kills), number * values**3
    for turn in range(1, kills + 1):
        kill_after(folder, env, total * turn // (kills + 1), chance.uniform(0, 0.02))
    found = run_sweep(opened(folder))
    untouched = study(tmp_path / "untouched", values, number)
    assert same(found) == same(run_sweep(opened(untouched)))
    assert len(found.settings) == values**3
    assert len(asked(untouched)) == total
    # asked twice is only what was in a thread's hand at a kill
    assert 0 <= len(asked(folder)) - total <= kills * THREADS
    before = len(asked(folder))
    assert same(run_sweep(opened(folder))) == same(found)
    assert len(asked(folder)) == before
