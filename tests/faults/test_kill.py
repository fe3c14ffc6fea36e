"""`kill -9` at random moments: the run resumes, the scores are those of an undisturbed run, bit for bit."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay.pipeline.runner import run_study
from assay.store.journal import read_entries
from assay.store.run_store import Store
from probe import asked
from probing import finished, hits_of, items, opened, run_only, scores_of, sequence, write_plugin, write_study

THREADS = 3
LONGEST = 3  # items of a sequence
PAUSE = 0.02


def study(folder: Path, number: int) -> Path:
    """Two systems, two seeds, `number` items and two sequences."""
    given = [
        *items(number // 2),
        *sequence("a", LONGEST),
        *items(number)[number // 2 :],
        *sequence("b", LONGEST),
    ]
    systems = {"wide": f"probe(pause={PAUSE})", "narrow": f"probe(pause={PAUSE}, top=2)"}
    return write_study(folder, given, seeds=2, systems=systems, run={"threads": THREADS})


def kill_and_resume(folder: Path, env: dict[str, str], kills: int, engine: str) -> None:
    """Starts the run `kills` times and kills it once it is asking, then lets it end."""
    chance = random.Random(kills)
    for _ in range(kills):
        before = len(asked(folder))
        process = subprocess.Popen(run_only(folder, engine), env=env, stdout=subprocess.DEVNULL)
        while process.poll() is None and len(asked(folder)) == before:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.15))
        process.kill()
        process.wait()
    time.sleep(0.2 if engine == "processes" else 0)  # workers notice that their parent is gone
    done = finished(run_only(folder, engine), env)
    assert done.returncode == 0, done.stderr


def assert_undisturbed(tmp_path: Path, folder: Path, number: int, kills: int, at_work: int = 1) -> None:
    untouched = study(tmp_path / "untouched", number)
    run_study(opened(untouched))
    assert hits_of(folder).equals(hits_of(untouched))
    assert scores_of(folder).equals(scores_of(untouched))
    assert (hits_of(folder)["failed"]).sum() == 0
    again = len(asked(folder)) - len(asked(untouched))
    # In flight at a kill: the unit in each thread's hand, which is recorded before the next is taken.
    assert 0 <= again <= kills * at_work * THREADS * LONGEST


@pytest.mark.parametrize(
    ("engine", "kills", "number"),
    [
        ("local", 6, 50),
        ("processes", 3, 30),
    ],
)
@pytest.mark.slow
def test_a_killed_run_ends_as_an_undisturbed_one(
    tmp_path: Path, engine: str, kills: int, number: int
) -> None:
    folder, env = study(tmp_path / "killed", number), write_plugin(tmp_path / "plugin")
    kill_and_resume(folder, env, kills, engine)
    assert_undisturbed(tmp_path, folder, number, kills, at_work=2 if engine == "processes" else 1)


SEAL_FOR_EVER = """
import sys
from pathlib import Path
from assay.core.records import Hit, Response
from assay.store.journal import Answer, AnswersEntry
from assay.store.run_store import Store

store = Store(Path(sys.argv[1]))
done = store.outcomes()
number = 0
while True:
    with store.locked():
        while f"k{number}" in done:
            number += 1
        keys = [f"k{each}" for each in range(number + 5)]
        with store.writer() as writer:
            for key in keys[number:]:
                answer = Answer(key, key, Response(hits=[Hit(key, 1.0)]))
                writer.append(AnswersEntry("arm", 0, [answer]), now=True)
                print(key, flush=True)
        store.seal({("arm", 0): keys})
        number += 5
"""


def _sealing(root: Path, kills: int) -> list[str]:
    """Keys that were on disk before each kill of a process that does nothing but write and seal."""
    chance = random.Random(0)
    told: list[str] = []
    for _ in range(kills):
        process = subprocess.Popen(
            [sys.executable, "-c", SEAL_FOR_EVER, str(root)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        told.append(process.stdout.readline().strip())
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        told += process.communicate()[0].split()
    return told


@pytest.mark.slow
def test_kills_while_sealing_lose_nothing_and_keep_nothing_twice(tmp_path: Path) -> None:
    store = Store(tmp_path / "run")
    told = _sealing(store.root, kills=15)
    rows: dict[str, Any] = dict(store.answers().select("key", "docs").iter_rows())
    assert set(told) <= set(rows)
    assert len(told) == len(set(told)), "a key that was on disk was asked for again"
    assert all(docs == [key] for key, docs in rows.items())
    store.seal({("arm", 0): sorted(rows)})
    assert len(list(store.sealed.iterdir())) == 1
    assert list(read_entries(store.journal)) == []  # a kill may leave a segment that it had just opened
