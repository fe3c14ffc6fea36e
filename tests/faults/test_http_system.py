"""A search API that fails in every way, asked through the runner: what is tried again, stored, and told."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.core.errors import SystemFailure
from assay.core.protocols import Kit
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import Outcome, run_study
from assay.store.run_store import Store
from assay.study.study import open_study
from small_study import WORDS, assay, write_study
from stand_ins.search_server import WAITING, Reply, SearchServer, found

N = len(WORDS)


def study(folder: Path, server: str, run: dict[str, Any] | None = None, **how: Any) -> Path:
    """Twelve items, asked of one service."""
    content = {
        "data": "data",
        "systems": {"api": {"use": "http", "url": server, "params": {"q": "{query}"}, **how}},
        "measures": ["Success@3"],
        "run": {"backoff": 0.01, "retries": 2, **(run or {})},
    }
    return write_study(folder, yaml.safe_dump(content))


def ran(folder: Path, env: dict[str, str] | None = None, **how: Any) -> Outcome:
    return run_study(open_study(folder, kit=Kit(env=env) if env is not None else None), **how)


def scores(folder: Path) -> set[tuple[str, float | None]]:
    """Status and value of every item."""
    found = Evaluation(open_study(folder)).scores
    return {(str(status), value) for status, value in found.select("status", "value").iter_rows()}


def stored(folder: Path) -> str:
    """Whatever the run wrote down."""
    files = [path for path in (folder / "run").rglob("*") if path.is_file()]
    assert files
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


@pytest.mark.parametrize("fault", ["500", "429", "429 wait", "rubbish", "truncated", "closed", "hang"])
def test_what_passes_is_tried_again_and_leaves_no_trace(tmp_path: Path, fault: Any) -> None:
    with SearchServer(fault, found("d1")) as server:
        outcome = ran(study(tmp_path, server.url, timeout=0.5 if fault == "hang" else 30.0))
    assert (outcome.answered, outcome.failed) == (N, 0)
    assert server.calls == N + 1 or fault == "hang"  # where a slow machine may be late once more
    assert "Retryable" not in stored(tmp_path)


@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        ("500", 3 * N),  # the first attempt and two more
        ("closed", 3 * N),
        (Reply({"detail": "no"}, 404), N),
        (Reply({}, 301, {"Location": "/else"}), N),
        (Reply({"error": "index is gone"}), N),  # 200, and no results: never an empty list
        (Reply({"results": [{"id": ["a"]}]}), N),
        (Reply({"results": [{"id": "x", "content": "of d1"}]}), N),  # no text, and no passage of ours
    ],
)
def test_what_does_not_pass_is_a_failure_and_never_a_miss(tmp_path: Path, fault: Any, calls: int) -> None:
    with SearchServer(fault) as server, pytest.raises(SystemFailure, match=f"failed on all {N} items"):
        ran(study(tmp_path, server.url))
    assert server.calls == calls
    assert scores(tmp_path) == {("failed", None)}


def test_a_place_that_is_not_there_is_told_with_what_is(tmp_path: Path) -> None:
    answer = Reply({"results": [{"_id": "x", "_score": 0.9, "doc": {"body": "text of d1"}}]})
    with SearchServer(answer) as server, pytest.raises(SystemFailure) as told:
        ran(study(tmp_path, server.url, id="_id", score="_score", text="doc.content"))
    fix = "Correct text: in the study, or write text: null."
    assert f"Result 1 has no text at 'doc.content'; it has _id, _score, doc. {fix}" in str(told.value)
    assert scores(tmp_path) == {("failed", None)}


def test_a_study_that_would_send_no_query_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with SearchServer() as server:
        done = assay("run", study(tmp_path, server.url, params={"q": "{qurey}"}))
        assert server.calls == 0
    assert done.code == 3
    assert "params: {qurey} is not filled in. Did you mean {query}?" in done.err


def test_an_empty_list_is_a_miss(tmp_path: Path) -> None:
    with SearchServer(Reply({"results": []})) as server:
        assert ran(study(tmp_path, server.url)).failed == 0
    assert scores(tmp_path) == {("missing", 0.0)}


def test_one_item_that_fails_leaves_the_others(tmp_path: Path) -> None:
    with SearchServer(Reply({"results": 0}), found("d1")) as server:
        outcome = ran(study(tmp_path, server.url))
        assert (outcome.answered, outcome.failed) == (N - 1, 1)
        again = ran(tmp_path)
    assert (again.answered, again.reused) == (1, N - 1)


def test_a_wait_that_is_asked_for_outlasts_the_pause_of_the_run(tmp_path: Path) -> None:
    busy = Reply({}, 429, {"Retry-After": "0.5"})
    with SearchServer(busy, found("d1")) as server:
        outcome = ran(study(tmp_path, server.url, run={"threads": 1}))
    assert outcome.answered == N
    assert server.times[1] - server.times[0] >= 0.5  # the run itself would be back within 15 ms


def test_as_many_requests_are_in_flight_as_threads_and_never_more(tmp_path: Path) -> None:
    with SearchServer(delay=0.05) as server:
        ran(study(tmp_path, server.url, threads=3))
    assert server.at_once == 3
    assert server.connections <= 3


def test_threads_of_the_run_come_first(tmp_path: Path) -> None:
    with SearchServer(delay=0.05) as server:
        ran(study(tmp_path, server.url, run={"threads": 2}, threads=8))
    assert server.at_once == 2


def test_another_revision_or_a_changed_file_is_asked_again(tmp_path: Path) -> None:
    with SearchServer() as server:
        study(tmp_path, server.url, revision="${SHA:-}", files=["server.py"])
        (tmp_path / "server.py").write_text("one")
        seen = []
        for text, env in (("one", {}), ("one", {}), ("one", {"SHA": "a"}), ("two", {"SHA": "a"})):
            (tmp_path / "server.py").write_text(text)
            seen.append(ran(tmp_path, env).answered)
        seen.append(ran(tmp_path, {"SHA": "a"}, fresh=True).answered)
    assert seen == [N, 0, N, N, N]


def test_no_file_and_no_message_holds_a_secret(tmp_path: Path) -> None:
    secrets = {"PORTAL_KEY": "sk-portal-123456", "PORTAL_TOKEN": "tok/en+654321"}
    echo = Reply({"detail": "for sk-portal-123456 and tok/en+654321, tok%2Fen%2B654321"}, 400)
    with SearchServer(echo, found("d1")) as server:
        how = {"headers": {"Authorization": "Bearer ${PORTAL_KEY}"}, "body": {"auth": "${PORTAL_TOKEN}"}}
        outcome = ran(study(tmp_path, f"{server.url}?t=${{PORTAL_TOKEN}}", **how), secrets)
        assert (outcome.answered, outcome.failed) == (N - 1, 1)
        assert server.requests[0].headers["authorization"] == "Bearer sk-portal-123456"
        text = stored(tmp_path)
        assert "answers 400" in text
        other = ran(tmp_path, {**secrets, "PORTAL_KEY": "sk-another-98765"})
    assert other.reused == N - 1  # who asks decides nothing
    text += stored(tmp_path)
    assert not any(part in text for part in ("sk-portal", "tok/en", "tok%2Fen", "sk-another"))


def test_a_study_that_starts_its_server_leaves_none(tmp_path: Path) -> None:
    folder = study(
        tmp_path,
        "http://127.0.0.1:{port}/search",
        start="python server.py --port {port} --child",
        ready="/health",
    )
    (folder / "server.py").write_text(WAITING)
    done = assay("run", folder)
    assert done.code == 0, done.err
    assert _gone(folder)
    assert len(Store(folder / "run").outcomes()) == N


def test_a_server_that_does_not_come_up_ends_the_command_with_4(tmp_path: Path) -> None:
    folder = study(
        tmp_path, "http://127.0.0.1:{port}/search", start="python server.py --port {port} --refuse"
    )
    (folder / "server.py").write_text(WAITING)
    done = assay("run", folder)
    assert done.code == 4
    assert "could not be opened" in done.err
    assert "no index at all" in done.err
    assert _gone(folder)


def test_a_server_that_dies_is_told_with_its_last_words(tmp_path: Path) -> None:
    folder = study(tmp_path, "http://127.0.0.1:{port}/search", start="python server.py --port {port} --die")
    (folder / "server.py").write_text(WAITING)
    with pytest.raises(SystemFailure, match=r"has ended, with code 3\.(.|\n)*out of memory"):
        ran(folder)
    assert _gone(folder)


@pytest.mark.slow
def test_an_interrupted_command_leaves_no_server(tmp_path: Path) -> None:
    start = "python server.py --port {port} --child"
    folder = study(tmp_path, "http://127.0.0.1:{port}/search", start=start, rate=2)
    (folder / "server.py").write_text(WAITING)
    code = "from assay.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "run", str(folder)], stderr=subprocess.PIPE
    ) as program:
        until = time.monotonic() + 30
        while not any(b'"answered"' in each.read_bytes() for each in (folder / "run").rglob("*.jsonl")):
            assert time.monotonic() < until
            time.sleep(0.05)  # until one is answered; the others wait for their turn
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=30)
    assert program.returncode != 0
    assert _gone(folder)
    assert 0 < len(Store(folder / "run").outcomes()) < N


def _gone(folder: Path) -> bool:
    """Whether every process that the server said it is has ended."""
    pids = (folder / "pids").read_text().split()
    until = time.monotonic() + 5
    while time.monotonic() < until:
        states = subprocess.run(
            ["ps", "-o", "stat=", "-p", ",".join(pids)], capture_output=True, text=True, check=False
        )
        if all(state.startswith("Z") for state in states.stdout.split()):
            return True
        time.sleep(0.05)
    return False
