"""Servers that are started for an index: ready before it is asked, gone when it is closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import SystemFailure
from assay.core.protocols import Kit
from assay.core.records import Passage, Query
from assay.systems.http import Http, HttpIndex
from stand_ins.search_server import WAITING, Reply, SearchServer

CORPUS = Corpus([Passage("d1", "one")])
URL = "http://127.0.0.1:{port}/search?q={query}"


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    (tmp_path / "server.py").write_text(WAITING)
    return Kit(root=tmp_path)


def system(more: str = "", **how: Any) -> Http:
    return Http(**{"url": URL, "start": f"python server.py --port {{port}} {more}", "patience": 10.0, **how})


@contextmanager
def built(kit: Kit, more: str = "", **how: Any) -> Iterator[HttpIndex]:
    index = system(more, **how).build(CORPUS, 0, kit)
    try:
        yield index
    finally:
        index.close()


def started(kit: Kit) -> list[int]:
    """The processes that the server said it is."""
    path = kit.root / "pids"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "State:\tZ" not in status  # one that only waits to be counted has ended


def left(kit: Kit, within: float = 0.0) -> list[int]:
    """Those of them that are still there."""
    until = time.monotonic() + within
    while any(map(alive, started(kit))) and time.monotonic() < until:
        time.sleep(0.02)
    return [pid for pid in started(kit) if alive(pid)]


pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks processes up in /proc")


def test_it_runs_in_the_folder_of_the_study_and_ends_with_the_index(kit: Kit) -> None:
    with built(kit) as index:
        (hit,) = index.answer(Query("q", "a"), []).hits
        assert hit.doc_id == "d1"
        assert all(map(alive, started(kit)))
    assert not left(kit)


def test_each_index_has_a_server_of_its_own(kit: Kit) -> None:
    with built(kit) as one, built(kit) as other:
        assert one.form.url != other.form.url
        assert len(started(kit)) == 2
    assert not left(kit)


def test_what_the_server_started_ends_too(kit: Kit) -> None:
    with built(kit, "--child"):
        assert len(started(kit)) == 2
    assert not left(kit)


def test_one_that_does_not_end_when_asked_is_ended(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Path(sys.modules["assay.systems.server_keeper"].__file__ or "")
    hasty = kit.root / "keeper.py"
    hasty.write_text(script.read_text().replace("PATIENCE = 5.0", "PATIENCE = 0.2"))
    monkeypatch.setattr("assay.systems.server_keeper.__file__", str(hasty))
    with built(kit, "--deaf"):
        since = time.monotonic()
    assert not left(kit)
    assert time.monotonic() - since >= 0.2


def test_a_server_that_is_slow_to_start_is_waited_for(kit: Kit) -> None:
    with built(kit, "--delay 0.4") as index:
        assert index.answer(Query("q", "a"), []).hits


@pytest.mark.parametrize("ready", ["/health", "http://127.0.0.1:{port}/health"])
def test_ready_is_a_place_that_answers_well(kit: Kit, ready: str) -> None:
    with built(kit, ready=ready) as index:
        assert index.answer(Query("q", "a"), []).hits


def test_a_server_that_never_gets_ready_is_a_failure(kit: Kit) -> None:
    with SearchServer(Reply({}, 503)) as other, pytest.raises(SystemFailure) as told:
        system(ready=f"{other.origin}/health?token=abc", patience=0.3).build(CORPUS, 0, kit)
    assert f"not ready after 0.3 s: {other.origin}/health answers 503. Raise patience" in str(told.value)
    assert not left(kit)


def test_a_service_that_nobody_starts_can_be_waited_for_too(kit: Kit) -> None:
    with SearchServer(Reply({}, 503), Reply({}, 503), Reply({})) as other:
        asked = Http(f"{other.url}?q={{query}}", ready="/health", headers={"X-Key": "secret-1"})
        asked.build(CORPUS, 0, kit).close()
    assert other.calls == 3
    assert other.requests[0].headers["x-key"] == "secret-1"


def test_a_server_that_does_not_come_up_is_a_failure(kit: Kit) -> None:
    with pytest.raises(SystemFailure, match=r"not ready after 0\.3 s: nobody answers at http://127"):
        system("--delay 30", patience=0.3).build(CORPUS, 0, kit)
    assert not left(kit)


def test_a_server_that_ends_at_once_is_told_at_once(kit: Kit) -> None:
    since = time.monotonic()
    with pytest.raises(
        SystemFailure, match=r"has ended, with code 1\.(.|\n)*The end of its output: (.|\n)*no index at all"
    ):
        system("--refuse").build(CORPUS, 0, kit)
    assert time.monotonic() - since < 5
    assert not left(kit)


def test_a_command_that_is_none_is_a_failure(kit: Kit) -> None:
    with pytest.raises(SystemFailure, match=r"cannot be started.*no-such-program: No such file"):
        system(start="no-such-program {port}").build(CORPUS, 0, kit)


def test_a_server_that_dies_is_no_failure_to_try_again(kit: Kit) -> None:
    with built(kit, "--die") as index:
        for _ in range(2):
            with pytest.raises(SystemFailure, match=r"has ended, with code 3\.(.|\n)*out of memory"):
                index.answer(Query("q", "a"), [])
    assert not left(kit)


def test_an_address_that_somebody_has_already_is_refused(kit: Kit) -> None:
    with SearchServer() as other, pytest.raises(SystemFailure, match="Another program listens at"):
        system(url=f"{other.url}?q={{query}}", start="python server.py --port 1").build(CORPUS, 0, kit)
    assert not started(kit)


def test_an_interrupted_build_leaves_nothing(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        while not started(kit):
            time.sleep(0.02)
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.systems.http.await_ready", interrupt)
    with pytest.raises(KeyboardInterrupt):
        system().build(CORPUS, 0, kit)
    assert not left(kit)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_is_killed_leaves_no_server(kit: Kit, end: signal.Signals) -> None:
    code = f"""
import time
from pathlib import Path
from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.systems.http import Http
system = Http({URL!r}, start="python server.py --port {{port}} --child")
index = system.build(Corpus(()), 0, Kit(root=Path(".")))
print("built", flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=kit.root, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"built\n"
        assert all(map(alive, started(kit)))
        os.kill(program.pid, end)
    assert len(started(kit)) == 2
    assert not left(kit, within=5)
