"""The desk's HTTP API as its page uses it, and as a server that people start and end."""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.core.errors import DataError, UsageError
from assay.desk.serving import _listening, _swept, serve
from assay.store.disk import hold_lock_for
from desk_client import Desk, draft, is_trouble, mark_path
from small_work import SmallWork

SMALL = Path(__file__).parents[2] / "small_work.py"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# ------------------------------------------------------------------------------------------ sessions


def test_a_link_becomes_a_session_and_the_session_ends(desk: Desk) -> None:
    client = desk.client()
    assert is_trouble(client.get("/api/session"), 401)
    entered = client.post("/api/session", json={"token": desk.access.link("anna")})
    assert entered.json() == {
        "rater": "anna",
        "csrf": client.get("/api/session").json()["csrf"],
        "title": "A small study",
    }
    cookie = entered.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/", f"Max-Age={30 * 24 * 3600}"):
        assert part in cookie
    client.headers["x-csrf"] = entered.json()["csrf"]
    assert client.delete("/api/session").status_code == 204
    assert is_trouble(client.get("/api/work"), 401)


def test_a_password_opens_a_session(tmp_path: Path) -> None:
    desk = Desk(tmp_path, password="correct horse")  # noqa: S106
    client = desk.client()
    wrong = {"rater": "anna", "password": "wrong"}
    assert is_trouble(client.post("/api/session", json=wrong), 401)
    entered = client.post("/api/session", json={"rater": "anna", "password": "correct horse"})
    assert entered.json()["rater"] == "anna"
    assert client.get("/api/work").status_code == 200


# ----------------------------------------------------------------------------------------------- work


def test_behind_tls_the_cookie_stays_behind_it(desk: Desk) -> None:
    for scheme, secure in (("http", False), ("https", True)):
        entry, origin = {"token": desk.access.link("anna")}, {"origin": f"{scheme}://127.0.0.1:8501"}
        cookie = desk.client().post("/api/session", json=entry, headers=origin).headers["set-cookie"]
        assert ("; Secure" in cookie) is secure, scheme


def test_a_rater_goes_from_the_overview_to_a_saved_mark_and_back(desk: Desk) -> None:
    anna = desk.rater()
    assert anna.get("/api/work").json()["current"] == "accuracy"
    tasks = [each["task_id"] for each in anna.get("/api/steps/accuracy").json()["tasks"]]
    task = anna.get(f"/api/steps/accuracy/tasks/{tasks[0]}").json()
    assert (task["number"], task["total"], task["mark"]) == (1, 20, None)
    saved = anna.put(mark_path(tasks[0]), json=draft(note="fine 🚀\u0000")).json()
    assert (saved["mark"]["note"], saved["step"]["done"], saved["next"]) == ("fine 🚀\u0000", 1, tasks[1])
    undone = anna.post(
        f"/api/steps/accuracy/tasks/{tasks[0]}/undo", json={"mark_id": "undo-0001", "base": "mark-0001"}
    )
    assert (undone.json()["mark"], undone.json()["step"]["done"]) == (None, 0)
    history = anna.get(f"/api/steps/accuracy/tasks/{tasks[0]}").json()["history"]
    assert [each["withdrawn"] for each in history] == [False, True]


def test_spans_are_counted_in_code_points(desk: Desk) -> None:
    anna, task_id = desk.rater(), desk.work.ids[2]
    text = desk.work.text(task_id)
    start = text.index("𝟛")
    assert text[:start].count("🚀") == 1  # two units of UTF-16 before it, one code point
    claim = {"category": "H-FAB", "start": start, "end": start + 9, "claim": "three", "note": "two"}
    body = {"mark_id": "mark-0001", "spans": [claim]}
    answer = anna.put(mark_path(task_id, "hallucination"), json=body)
    assert answer.json()["mark"]["spans"] == [claim]
    assert text[start : start + 9] == "𝟛 regions"


def test_precedents_are_kept_and_suggestions_asked_for(desk: Desk) -> None:
    anna = desk.rater()
    case = {"mark_id": "case-0001", "step": "accuracy", "situation": "s", "decision": "d", "rationale": "r"}
    assert anna.post("/api/register", json=case).json()["case_id"] == "EC-11"
    assert [each["case_id"] for each in anna.get("/api/register").json()] == ["EC-01", "EC-11"]
    waiting = anna.get("/api/steps/completeness")
    assert is_trouble(waiting, 409)
    assert "accuracy comes first" in waiting.json()["what"]
    for number, task_id in enumerate(desk.work.ids):
        anna.put(mark_path(task_id), json=draft(number))
    path = f"/api/steps/completeness/tasks/{desk.work.ids[0]}/suggestion"
    assert anna.get(path).json()["value"] == "1"


def test_what_is_refused_says_why(desk: Desk) -> None:
    anna, task_id = desk.rater(), desk.work.ids[0]
    broken = anna.put(mark_path(task_id), json={"mark_id": "mark-0001", "choice": "2"})
    assert is_trouble(broken, 422)
    assert broken.json()["problems"] == ["A note is needed for this grade."]
    anna.put(mark_path(task_id), json=draft())
    stale = anna.put(mark_path(task_id), json=draft(2))
    assert is_trouble(stale, 409)
    assert stale.json()["current"]["mark_id"] == "mark-0001"
    assert is_trouble(anna.get("/api/steps/nothing"), 404)
    assert is_trouble(anna.get("/nothing"), 404)
    assert is_trouble(anna.patch("/api/work"), 405)


def test_a_refusing_disk_is_reported_and_nothing_is_called_saved(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> Any:
        raise DataError("marks: cannot be written: No space left on device")

    monkeypatch.setattr(desk.work, "save", full)
    answer = desk.rater().put(mark_path(desk.work.ids[0]), json=draft())
    assert is_trouble(answer, 503)
    assert "No space left" in answer.json()["problems"][0]


def test_a_fault_of_the_desk_is_reported_without_internals(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("secret insides")

    anna = desk.rater()
    monkeypatch.setattr(desk.work, "state", fails)
    client = desk.client(raise_server_exceptions=False, cookies=dict(anna.cookies))
    answer = client.get("/api/work")
    assert is_trouble(answer, 500)
    assert "insides" not in answer.text
    assert "content-security-policy" in answer.headers


# ------------------------------------------------------------------------------------------- the page


def test_the_page_and_its_parts_are_open_and_guarded(desk: Desk) -> None:
    client = desk.client()
    assert client.get("/").headers["content-type"] == "text/html; charset=utf-8"
    script = client.get("/static/desk.js")
    assert (script.status_code, script.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    for answer in (client.get("/"), script, client.get("/api/work"), client.get("/nothing")):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert client.get("/api/work").headers["cache-control"] == "no-store"


def test_the_description_is_for_raters_and_names_every_route(desk: Desk) -> None:
    assert is_trouble(desk.client().get("/api/openapi.json"), 401)
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert is_trouble(desk.client().get(path), 404)
    found = desk.rater().get("/api/openapi.json").json()
    operations = {f"{method.upper()} {path}" for path, each in found["paths"].items() for method in each}
    task = "/api/steps/{step}/tasks/{task_id}"
    assert operations == {
        *("POST /api/session", "GET /api/session", "DELETE /api/session", "GET /api/work"),
        *("GET /api/steps/{step}", f"GET {task}", f"PUT {task}/mark", f"POST {task}/undo"),
        *(f"GET {task}/suggestion", "GET /api/register", "POST /api/register", "GET /api/openapi.json"),
    }
    assert "HTTPValidationError" not in str(found)
    for operation in operations:
        method, _, path = operation.partition(" ")
        whole = path.format(step="accuracy", task_id=desk.work.ids[0])
        # an entry that brings nothing is well formed, and opens nothing
        assert is_trouble(desk.client().request(method, whole, json={}), 401), operation


# ----------------------------------------------------------------------------------------- the server


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    command = [sys.executable, str(SMALL), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        said = "".join(child.stdout.readline() for _ in range(3))
        yield child, dict(re.findall(r"^  (\S+): (\S+)$", said, re.MULTILINE))
        child.kill()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.slow
def test_a_server_greets_works_and_ends_in_order(
    served: tuple[subprocess.Popen[str], dict[str, str]], how: signal.Signals
) -> None:
    child, links = served
    assert set(links) == {"anna", "ben"}
    address, _, token = links["anna"].partition("/#")
    with httpx.Client(base_url=address, trust_env=False) as client:
        entered = client.post("/api/session", json={"token": token})
        headers = {"x-csrf": entered.json()["csrf"]}
        task_id = client.get("/api/steps/accuracy").json()["tasks"][0]["task_id"]
        assert client.put(mark_path(task_id), json=draft(), headers=headers).status_code == 200
        os.kill(child.pid, how)
        out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err) == (0, "", "")


def test_no_sweep_goes_over_what_was_loaded_before() -> None:
    assert gc.get_freeze_count() == 0
    with _swept():
        assert gc.get_freeze_count() > 1000
    assert gc.get_freeze_count() == 0


def test_elsewhere_needs_a_password_of_some_length(tmp_path: Path) -> None:
    said: list[str] = []
    for how, why in (
        ({"host": "192.168.0.7"}, "needs a password"),
        ({"password": "short"}, "has 5 characters: use 8 or more"),
        ({"password": "x" * 201}, "at most 200"),  # longer ones cannot be sent
        ({"raters": ["mallory"]}, "'mallory' is not a rater"),
    ):
        with pytest.raises(UsageError, match=why):
            serve(SmallWork(), state=tmp_path, opened=said.append, **how)  # type: ignore[arg-type]
    assert said == []


def test_a_port_that_is_taken_and_a_second_desk_are_refused(tmp_path: Path) -> None:

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="cannot be used"):
        serve(SmallWork(), state=tmp_path, port=taken.getsockname()[1], opened=print)
    work = SmallWork()
    release = hold_lock_for(work, tmp_path, "serving")
    with pytest.raises(UsageError, match="Another"):
        serve(SmallWork(), state=tmp_path, opened=print)
    release()


def test_answers_are_sent_without_waiting_for_receipts() -> None:
    """Else each takes 40 ms: head and body leave apart, and the second waits until the first is confirmed."""
    with _listening("127.0.0.1", None) as listener, socket.create_connection(listener.getsockname()):
        there, _ = listener.accept()
        with there:
            assert there.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
