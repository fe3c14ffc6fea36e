"""What may go wrong around a run: a second process, Ctrl-C, a dead worker, a disk that refuses."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.pipeline.runner import Selection, run_study, study_status
from assay.store.run_store import SCHEMA, Store
from probe import asked
from probing import (
    assay_run,
    behave,
    finished,
    items,
    opened,
    run_only,
    scores_of,
    sequence,
    times_asked,
    write_plugin,
    write_study,
)

SLOW = {"probe": "probe(pause=0.05)"}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return write_plugin(tmp_path / "plugin")


def started(folder: Path, env: dict[str, str], command: list[str]) -> subprocess.Popen[str]:
    """A run in a process of its own, some answers in."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(asked(folder)) < 6:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


@pytest.mark.slow
def test_a_second_process_is_refused_while_the_first_runs(tmp_path: Path, env: dict[str, str]) -> None:
    folder = write_study(tmp_path / "study", items(60), systems=SLOW)
    first = started(folder, env, run_only(folder))
    with pytest.raises(UsageError, match=rf"Another process \(pid {first.pid}\) is running.*Wait for it"):
        run_study(opened(folder))
    assert UsageError.exit_code == 2
    assert first.poll() is None
    assert first.communicate(timeout=30)[0] == "60\n"
    assert (len(times_asked(folder)), set(times_asked(folder).values())) == (60, {1})


@pytest.mark.slow
def test_a_lock_of_a_dead_process_does_not_block(tmp_path: Path, env: dict[str, str]) -> None:
    folder = write_study(tmp_path / "study", items(30), systems=SLOW)
    first = started(folder, env, run_only(folder))
    first.kill()
    first.communicate()
    assert (folder / "run/lock").read_text() == str(first.pid)
    assert run_study(opened(folder)).pending == 0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "processes"])
def test_ctrl_c_ends_promptly_and_leaves_a_run_to_resume(
    tmp_path: Path, env: dict[str, str], engine: str
) -> None:
    systems = {"a": "probe(pause=0.05)", "b": "probe(pause=0.05, top=2)"}
    folder = write_study(tmp_path / "study", [*items(20), *sequence("talk", 3)], systems=systems)
    process = started(folder, env, assay_run(folder, "--engine", engine))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    stopped = len(asked(folder))
    time.sleep(0.2)
    assert len(asked(folder)) == stopped < 2 * 23  # nobody is left behind asking
    assert run_study(opened(folder)).pending == 0
    # Two arms, each with two threads that had a unit in hand; a sequence has three items.
    assert len(asked(folder)) <= 2 * 23 + 2 * 2 * 3


class Interrupting:
    """A progress that is interrupted as soon as something came back."""

    def begin(self, label: str, total: int, done: int) -> None: ...

    def stage(self, what: str, done: int, total: int) -> None: ...

    def advance(self, items: int, failed: int) -> None:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupt_asks_nothing_more_and_closes_the_index(tmp_path: Path) -> None:
    given = [*items(30), *sequence("talk", 20)]
    folder = write_study(tmp_path, given, systems=SLOW, run={"threads": 2})
    with pytest.raises(KeyboardInterrupt) as raised:
        run_study(opened(folder), progress=Interrupting())
    stopped = len(asked(folder))
    # One came back; each thread may have taken the next meanwhile. Sixteen were handed out.
    assert stopped <= 1 + 2 * 2
    assert (folder / "closed.log").read_text().count("\n") == 1
    assert raised.traceback  # whoever holds the exception holds the run's frames: nothing may hang on them
    time.sleep(0.2)
    assert len(asked(folder)) == stopped
    kept = Store(folder / "run").outcomes()
    assert len(kept) == stopped  # what was in hand was answered, paid for and stored
    assert run_study(opened(folder)).reused == stopped


def test_an_interrupted_sequence_is_neither_stored_nor_failed(tmp_path: Path) -> None:
    folder = write_study(tmp_path, [*items(1), *sequence("talk", 20)], systems=SLOW, run={"threads": 2})
    with pytest.raises(KeyboardInterrupt):
        run_study(opened(folder), progress=Interrupting())
    assert 1 < len(asked(folder)) < 6
    assert set(Store(folder / "run").outcomes().values()) == {True}
    assert run_study(opened(folder)).failed == 0


def test_an_interrupt_does_not_wait_for_a_retry(tmp_path: Path) -> None:
    slow_to_retry = {"threads": 2, "retries": 5, "backoff": 50}
    folder = write_study(tmp_path, items(2), systems=SLOW, run=slow_to_retry)
    behave(folder, q1="retryable")
    with pytest.raises(KeyboardInterrupt):
        run_study(opened(folder), progress=Interrupting())
    assert len(asked(folder)) == 2


@pytest.mark.slow
def test_a_worker_process_that_dies_is_said_and_the_rest_is_kept(tmp_path: Path, env: dict[str, str]) -> None:
    folder = write_study(tmp_path / "study", items(40), systems=SLOW)
    behave(folder, q30="die")
    done = finished(run_only(folder, "processes"), env)
    assert "SystemFailure: A worker process was killed or crashed" in done.stderr
    assert "run again to resume" in done.stderr
    behave(folder)
    assert run_study(opened(folder)).pending == 0
    assert max(times_asked(folder).values()) == 2
    assert sum(times_asked(folder).values()) <= 40 + 2 * 2


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_coordinator(tmp_path: Path, env: dict[str, str]) -> None:
    folder = write_study(tmp_path / "study", items(200), systems=SLOW)
    process = started(folder, env, run_only(folder, "processes"))
    process.kill()
    process.communicate(timeout=10)  # returns when the last worker has let go of the pipe
    stopped = len(asked(folder))
    time.sleep(0.2)
    assert len(asked(folder)) == stopped < 200


@pytest.mark.slow
def test_systems_that_cannot_be_opened_or_only_fail_exit_with_4(tmp_path: Path, env: dict[str, str]) -> None:
    systems = {"bad": "probe(unbuildable=true)", "failing": "probe"}
    folder = write_study(tmp_path / "study", items(2), systems=systems)
    behave(folder, q0="value error", q1="exit")
    done = finished(assay_run(folder), env)
    assert done.returncode == 4
    assert "bad could not be opened: FileNotFoundError: no such model" in done.stderr
    assert "failing failed on all 2 items it was asked" in done.stderr


def test_a_store_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(2)))
    run_study(study)
    manifest = tmp_path / "run/manifest.json"
    manifest.write_text(manifest.read_text().replace(SCHEMA, "assay/run/99"))
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    for act in (lambda: run_study(study), lambda: run_study(study, fresh=True), lambda: study_status(study)):
        with pytest.raises(DataError, match="'assay/run/99'"):
            act()
    changed = {path for path, content in before.items() if path.read_bytes() != content}
    assert changed <= {tmp_path / "run/lock"}


def test_a_full_disk_stops_the_run_and_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = opened(write_study(tmp_path, items(30), run={"threads": 2}))
    real = os.write
    room = [2000]

    def filling(file: int, data: bytes) -> int:
        if b'"answered"' not in data:
            return real(file, data)
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        room[0] -= len(data)
        return real(file, data)

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(DataError, match=r"jsonl: cannot be written: No space left on device"):
        run_study(study)
    monkeypatch.undo()
    kept = len(Store(study.run_folder).outcomes())
    assert 0 < kept < 30
    assert run_study(study).reused == kept


def test_a_disk_that_takes_no_accounts_stops_the_run(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(9), systems={"probe": "probe(cost=1)"}))
    (tmp_path / "run").mkdir()
    (tmp_path / "run/spending").touch()  # where a folder should be
    with pytest.raises(DataError, match=r"spending: cannot be written: File exists"):
        run_study(study)
    (tmp_path / "run/spending").unlink()
    assert run_study(study).pending == 0


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(1)))
    (tmp_path / "run").touch()
    with pytest.raises(DataError, match=r"run: cannot be written: File exists"):
        run_study(study)


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(1)))
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(DataError, match=r"run: cannot be written: Permission denied"):
            run_study(study)
    finally:
        tmp_path.chmod(0o700)


def test_a_damaged_journal_asks_again_what_it_lost_and_nothing_else(tmp_path: Path) -> None:
    folder = write_study(tmp_path, [*items(9), {"item_id": "last", "text": "last"}], run={"retries": 0})
    behave(folder, last="value error")  # an arm with a failure stays in the journal
    study = opened(folder)
    run_study(study)
    (segment,) = (folder / "run/journal").iterdir()
    lines = segment.read_bytes().splitlines(keepends=True)
    assert b'"answered"' in lines[3]
    segment.write_bytes(b"".join([*lines[:3], b"\x00\xffgarbage\n", *lines[4:-1], lines[-1][:9]]))
    (segment.parent / "000009.jsonl").touch()
    behave(folder)
    before = len(asked(folder))
    assert run_study(study).answered == len(asked(folder)) - before <= 3
    assert study_status(study).arms[0].answered == 10


def test_scores_do_not_depend_on_how_often_a_run_was_resumed(tmp_path: Path) -> None:
    given = [*items(9), *sequence("talk", 3)]
    at_once, in_parts = write_study(tmp_path / "once", given), write_study(tmp_path / "parts", given)
    run_study(opened(at_once))
    for limit in (1, 4, 10, 12):
        run_study(opened(in_parts), Selection(limit=limit))
    assert scores_of(in_parts).equals(scores_of(at_once))
