"""Attacks on the desk: nothing gets through, nothing is changed, and none is answered with a fault."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import resource
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from assay.desk.connections import DeskConnection, room
from assay.desk.guard import LARGEST, BodyLimit
from desk_client import Desk, draft, is_trouble, mark_path, raw


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def anna(desk: Desk) -> TestClient:
    return desk.rater()


def untouched(desk: Desk) -> bool:
    """Whether no mark of anybody came to be, in memory or on disk."""
    desk.start()
    return all(desk.work.state(each).steps[0].done == 0 for each in desk.work.raters)


# ---------------------------------------------------------------------------------- reading what is not


OUTWARD = [
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "/static/..%2fapp.py",
    "/static/..%5capp.py",
    "/static/%2e%2e%2f%2e%2e%2frecords.py",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "/static/desk.js%00.html",
    "/static/desk.js/",
    "/static/",
    "/static/.",
    "/static/..",
    "/static/DESK.JS",
    "/../../../../etc/passwd",
    "/%c0%ae%c0%ae/etc/passwd",
    "//evil.example/",
]


def test_no_path_leads_out_of_the_page(port: int) -> None:
    for path in OUTWARD:
        answer = _plain(port, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 404"), path
        assert b"make_app" not in answer
        assert b"root:" not in answer


ODD_IDS = [
    "%2e%2e",
    "%2e%2e%2fregister",
    "%00",
    "r-1%0d%0aX-Bad:1",
    "%ff%fe",
    "'%20OR%201=1",
    "a" * 5000,
    "🚀",
]


def test_no_id_is_more_than_an_id(desk: Desk, anna: TestClient) -> None:
    parts = (("GET", ""), ("PUT", "/mark"), ("POST", "/undo"), ("GET", "/suggestion"))
    for task_id, (method, path) in product(ODD_IDS, parts):
        answer = anna.request(method, f"/api/steps/accuracy/tasks/{task_id}{path}", json=_body(path))
        assert is_trouble(answer, answer.status_code), task_id
        assert answer.status_code in {404, 405}
        assert "x-bad" not in answer.headers
    assert untouched(desk)


def _body(path: str) -> dict[str, Any]:
    return {"mark_id": "undo-0001", "base": "mark-0001"} if path == "/undo" else draft()


def test_script_in_a_passage_stays_text_in_json(desk: Desk, anna: TestClient) -> None:
    task_id = desk.work.ids[1]
    answer = anna.get(f"/api/steps/accuracy/tasks/{task_id}")
    assert "<script>" in answer.json()["blocks"][1]["text"]
    assert answer.headers["content-type"] == "application/json"  # no browser renders it, whatever it holds
    assert answer.headers["x-content-type-options"] == "nosniff"
    note = "</script><img src=x onerror=alert(1)>"
    saved = anna.put(mark_path(task_id), json=draft(choice="1", note=note))
    assert (saved.json()["mark"]["note"], saved.headers["content-type"]) == (note, "application/json")
    assert note not in anna.get("/").text


def test_another_raters_marks_are_not_to_be_had(desk: Desk, anna: TestClient) -> None:
    ben, task_id = desk.rater("ben"), desk.work.ids[0]
    anna.put(mark_path(task_id), json=draft(choice="1", note="anna's own"))
    for path in ("/api/work", "/api/steps/accuracy", f"/api/steps/accuracy/tasks/{task_id}", "/api/register"):
        assert "anna" not in ben.get(path).text
        assert "mark-0001" not in ben.get(path).text
    undo = {"mark_id": "undo-0001", "base": "mark-0001"}
    refused = ben.post(f"/api/steps/accuracy/tasks/{task_id}/undo", json=undo)
    assert is_trouble(refused, 409)
    assert refused.json()["current"] is None
    assert anna.get(f"/api/steps/accuracy/tasks/{task_id}").json()["mark"]["note"] == "anna's own"


# ------------------------------------------------------------------------------------ being somebody else


def test_a_forged_rater_is_nobody(desk: Desk, anna: TestClient) -> None:
    cookie = anna.cookies[desk.access.cookie]
    body, _, signature = cookie.partition(".")
    said = json.loads(base64.urlsafe_b64decode(body + "=="))
    forged = base64.urlsafe_b64encode(json.dumps(["ben", *said[1:]]).encode()).decode().rstrip("=")
    for wrong in (
        f"{forged}.{signature}",
        f"{body}.",
        "ben",
        f"{cookie}; {desk.access.cookie}=ben",
        "\xff.\xff",
    ):
        client = desk.client(headers={"cookie": f"{desk.access.cookie}={wrong}".encode("latin-1")})
        assert is_trouble(client.get("/api/work"), 401)
    for name in ("rater", "x-rater", "x-forwarded-user"):
        assert (
            anna.get("/api/session", headers={name: "ben"}, params={"rater": "ben"}).json()["rater"] == "anna"
        )


def test_a_replayed_token_opens_nothing_also_after_a_restart(desk: Desk) -> None:
    token = desk.access.link("anna")
    assert desk.client().post("/api/session", json={"token": token}).status_code == 200
    assert is_trouble(desk.client().post("/api/session", json={"token": token}), 401)
    desk.start()
    refused = desk.client().post("/api/session", json={"token": token})
    assert is_trouble(refused, 401)
    assert "set-cookie" not in refused.headers


def test_a_token_raced_for_opens_one_session(desk: Desk) -> None:
    token, codes = desk.access.link("anna"), list[int]()

    def try_it() -> None:
        codes.append(desk.client().post("/api/session", json={"token": token}).status_code)

    crew = [threading.Thread(target=try_it) for _ in range(4)]
    for each in crew:
        each.start()
    for each in crew:
        each.join()
    assert sorted(codes) == [200, 401, 401, 401]


def test_an_expired_and_another_studys_cookie_are_refused(
    desk: Desk, anna: TestClient, tmp_path: Path
) -> None:
    other = Desk(tmp_path / "other")
    foreign = other.rater().cookies[other.access.cookie]
    for name in (desk.access.cookie, other.access.cookie):
        client = desk.client(cookies={name: foreign})
        assert is_trouble(client.get("/api/work"), 401)
    desk.clock.now += 31 * 24 * 3600
    assert is_trouble(anna.get("/api/work"), 401)


def test_a_copied_cookie_ends_with_its_session(desk: Desk, anna: TestClient) -> None:
    copied = desk.client(cookies=dict(anna.cookies))
    assert copied.get("/api/work").status_code == 200
    anna.delete("/api/session")
    assert is_trouble(copied.get("/api/work"), 401)


def test_guessing_is_stopped_whatever_headers_say_of_the_address(desk: Desk) -> None:
    client = desk.client()
    for number in range(5):
        forwarded = {"x-forwarded-for": f"10.0.0.{number}", "forwarded": f"for=10.0.0.{number}"}
        assert is_trouble(client.post("/api/session", json={"token": f"{number}"}, headers=forwarded), 401)
    token = desk.access.link("anna")
    stopped = client.post("/api/session", json={"token": token}, headers={"x-forwarded-for": "10.0.0.9"})
    assert is_trouble(stopped, 429)
    assert stopped.headers["retry-after"] == "60"
    desk.clock.now += 60
    assert client.post("/api/session", json={"token": token}).status_code == 200


def test_a_folder_removed_under_the_desk_shuts_nobody_out_and_opens_nothing(desk: Desk) -> None:
    used, copied = desk.access.link("anna"), desk.rater("anna")
    desk.client().post("/api/session", json={"token": used})
    shutil.rmtree(desk.folder / "desk/doors")
    assert desk.client().post("/api/session", json={"token": desk.access.link("ben")}).status_code == 200
    assert copied.delete("/api/session").status_code == 204
    desk.start()
    assert is_trouble(desk.client().post("/api/session", json={"token": used}), 401)
    assert is_trouble(desk.client(cookies=dict(copied.cookies)).get("/api/work"), 401)


# ---------------------------------------------------------------------------------- in somebody's browser


FOREIGN: list[dict[str, Any]] = [
    {"x-csrf": ""},
    {"x-csrf": "wrong"},
    {"x-csrf": b"\xff\xfe"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "http://127.0.0.1:8501.evil.example"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},  # a page on another port of this machine, which gets the cookie
]


def test_no_foreign_page_changes_anything(desk: Desk, anna: TestClient) -> None:
    task_id = desk.work.ids[0]
    for headers in FOREIGN:
        assert is_trouble(anna.put(mark_path(task_id), json=draft(), headers=headers), 403), headers
        assert is_trouble(anna.request("DELETE", "/api/session", headers=headers), 403)
        if "x-csrf" not in headers:
            token = {"token": desk.access.link("ben")}
            assert is_trouble(anna.post("/api/session", json=token, headers=headers), 403)  # nor logs in
            assert is_trouble(anna.get("/api/work", headers=headers), 403)
    assert anna.get("/api/session").json()["rater"] == "anna"
    assert untouched(desk)


def test_another_sessions_proof_is_no_proof(desk: Desk, anna: TestClient) -> None:
    ben = desk.rater("ben")
    headers = {"x-csrf": ben.headers["x-csrf"]}
    assert is_trouble(anna.put(mark_path(desk.work.ids[0]), json=draft(), headers=headers), 403)


def test_a_page_left_open_shows_nothing_of_who_logged_in_after(desk: Desk, anna: TestClient) -> None:
    """One browser, two people: it has ben's cookie now, and anna's page still brings anna's proof."""
    anna.cookies = desk.rater("ben").cookies
    for path in ("/api/work", "/api/steps/accuracy", f"/api/steps/accuracy/tasks/{desk.work.ids[0]}"):
        assert is_trouble(anna.get(path), 403), path
    assert is_trouble(anna.put(mark_path(desk.work.ids[0]), json=draft()), 403)
    assert anna.get("/api/session").json()["rater"] == "ben"  # so that the page can tell
    assert untouched(desk)


def test_what_a_plain_form_can_send_is_not_read(desk: Desk, anna: TestClient) -> None:
    body = json.dumps(draft()).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert is_trouble(raw(anna, mark_path(desk.work.ids[0]), body, kind), 400)
    assert untouched(desk)


def test_a_name_that_was_rebound_is_not_served(anna: TestClient) -> None:
    hosts = ["evil.example", "evil.example:8501", "127.0.0.1.evil.example", "", "a b", "127.0.0.1@x"]
    for host, path in product(hosts, ("/", "/static/desk.js", "/api/work")):
        assert is_trouble(anna.get(path, headers={"host": host}), 403), host


# ------------------------------------------------------------------------------------------- odd requests


def test_a_body_that_is_too_large_is_not_read(desk: Desk, anna: TestClient) -> None:
    path, big = mark_path(desk.work.ids[0]), b" " * (LARGEST + 1)
    assert is_trouble(raw(anna, path, big), 413)

    def chunks() -> Iterator[bytes]:
        for _ in range(LARGEST // 1024 + 1):
            yield b" " * 1024

    assert is_trouble(raw(anna, path, chunks()), 413)  # type: ignore[arg-type]
    lies = {"content-type": "application/json", "content-length": "99999999999999999999999"}
    assert is_trouble(anna.put(path, content=b"{}", headers=lies), 413)
    fits = json.dumps(draft(note="x" * 10_000)).encode().ljust(LARGEST)
    assert raw(anna, path, fits).status_code == 200


ODD = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"mark_id": "mark-0001", "choice": "3", "note": "\\ud800"}',
    b'{"mark_id": "mark-0001", "choice": "3", "note": "\xed\xa0\x80"}',
    b'{"mark_id": "mark-0001", "choice": "3", "\\ud800": 1}',
    b'{"mark_id": "mark-0001", "choice": 3}',
    b'{"mark_id": "mark-0001", "choice": NaN}',
    b'{"mark_id": ' + b"9" * 5_000 + b"}",
    b'{"mark_id": "mark\\u0000-0001", "choice": "3"}',
    b'{"mark_id": "short", "choice": "3"}',
    b'{"mark_id": "mark-0001\\n", "choice": "3"}',
    b'{"mark_id": "mark-0001", "choice": "3", "note": "' + b"x" * 10_001 + b'"}',
    b'{"mark_id": "mark-0001", "choice": "3", "flags": ["' + b'","'.join([b"f"] * 11) + b'"]}',
    b'{"mark_id": "mark-0001", "spans": [{"category": "F", "start": -1, "end": 1, "claim": "", "note": ""}]}',
]


def test_what_cannot_be_read_is_said_to_be_so(desk: Desk, anna: TestClient) -> None:
    for body in ODD:
        assert is_trouble(raw(anna, mark_path(desk.work.ids[0]), body), 400), body[:80]
    assert untouched(desk)


def test_nothing_is_assigned_that_the_form_does_not_have(desk: Desk, anna: TestClient) -> None:
    for name, value in (
        ("rater", "ben"),
        ("time", 0),
        ("withdrawn", True),
        ("__proto__", {}),
        ("round", "x"),
    ):
        refused = anna.put(mark_path(desk.work.ids[0]), json=draft(**{name: value}))
        assert is_trouble(refused, 400)
        assert name in refused.json()["problems"][0]
    assert untouched(desk)


def test_spans_beyond_the_text_however_far_are_refused(desk: Desk, anna: TestClient) -> None:
    path = mark_path(desk.work.ids[0], "hallucination")
    for start, end in ((5, 5), (9, 3), (0, 10**6), (0, 10**30), (10**300, 10**300 + 1)):
        claim = {"category": "H-FAB", "start": start, "end": end, "claim": "c", "note": "n"}
        assert is_trouble(anna.put(path, json={"mark_id": "mark-0001", "spans": [claim]}), 422)


def test_a_replayed_mark_is_saved_once_and_a_stale_one_not_at_all(desk: Desk, anna: TestClient) -> None:
    first, second = desk.work.ids[:2]
    one, again = (anna.put(mark_path(first), json=draft()).json() for _ in range(2))
    assert one == again
    anna.put(mark_path(first), json=draft(2, base="mark-0001", choice="0", note="wrong"))
    replayed = anna.put(mark_path(first), json=draft())  # answered, and changes nothing
    assert replayed.status_code == 200
    assert is_trouble(anna.put(mark_path(first), json=draft(3, base="mark-0001")), 409)
    assert is_trouble(anna.put(mark_path(second), json=draft()), 409)  # a used number for another task
    history = anna.get(f"/api/steps/accuracy/tasks/{first}").json()["history"]
    assert [each["choice"] for each in history] == ["3", "0"]


def test_nothing_of_a_request_gets_into_headers(desk: Desk, anna: TestClient) -> None:
    evil = "x\r\nSet-Cookie: stolen=1"
    answers = [
        desk.client().post("/api/session", json={"token": evil}),
        desk.client().post("/api/session", json={"rater": evil, "password": evil}),
        anna.get("/api/steps/x%0d%0aSet-Cookie:%20stolen=1"),
        anna.put(mark_path(desk.work.ids[0]), json={"mark_id": evil}),
    ]
    for answer in answers:
        assert answer.status_code in {400, 401, 404}
        assert "set-cookie" not in answer.headers
        assert "\r" not in str(answer.headers)


METHODS = ["TRACE", "CONNECT", "OPTIONS", "HEAD", "PATCH", "PROPFIND", "GARBAGE"]


def test_other_methods_do_nothing(desk: Desk, anna: TestClient) -> None:
    paths = ("/api/work", mark_path(desk.work.ids[0]), "/api/session")
    for method, path in product(METHODS, paths):
        assert anna.request(method, path).status_code == 405, method
    assert untouched(desk)


# --------------------------------------------------------------------------------------- on a real socket


class Hasty(DeskConnection):
    """Gives up sooner."""

    patience = 0.3


class Narrow(DeskConnection):
    """Holds few."""

    most = 10


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with _served(tmp_path_factory.mktemp("served"), Hasty) as found:
        yield found


@contextmanager
def _served(folder: Path, connection: type[DeskConnection]) -> Iterator[int]:
    """A desk on a real socket: no client tidies up what is sent to it."""
    app = Desk(folder).app
    config = uvicorn.Config(app, http=connection, ws="none", lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


def _plain(port: int, request: bytes) -> bytes:
    """What comes back for bytes as they are."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as there:
        there.sendall(request)
        return there.recv(65536)


BROKEN = [
    b"GET / HTTP/1.1\r\n\r\n",  # no host
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",  # TLS
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
]


def test_broken_http_is_refused_as_all_else_is(port: int) -> None:
    for request in BROKEN:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as there:
            there.sendall(request)
            answer = HTTPResponse(there)
            answer.begin()
            assert 400 <= answer.status < 500, request[:60]
            assert answer.headers["x-content-type-options"] == "nosniff", request[:60]
            assert set(json.load(answer)) == {"what", "problems", "current"}, request[:60]


GUARDED, OPEN = b"PUT /api/work HTTP/1.1", b"POST /api/session HTTP/1.1"


@pytest.mark.parametrize(("start", "pause"), [(GUARDED, 0.0), (GUARDED, 0.1), (OPEN, 0.0), (OPEN, 0.1)])
def test_a_body_that_breaks_off_into_nonsense_is_no_fault_of_the_desk(
    port: int, start: bytes, pause: float, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the request was answered, and after: either would leave its trace in the server's log."""
    heard = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(heard, "handlers", [caplog.handler])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as there:
        there.sendall(start + b"\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        time.sleep(pause)
        there.sendall(b"no length\r\n")
        assert _ends(there)
    assert not [each for each in caplog.records if each.exc_info]


def test_half_a_request_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with ExitStack() as held:
        with _served(tmp_path, DeskConnection) as port:
            there = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            there.sendall(OPEN + b"\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
            _plain(port, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")  # by now it has been read
            ending = time.perf_counter()
        assert time.perf_counter() - ending < 5  # its sender has 20 seconds
        assert _ends(there)


def test_a_request_of_two_lengths_is_the_last_of_its_connection(port: int) -> None:
    """A proxy that goes by the other length would let whoever sent it begin somebody else's request."""
    head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    twice = head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=5) as there:
        there.sendall(twice + head + b"\r\n")
        answers = b"".join(iter(lambda: there.recv(65536), b""))
    assert answers.startswith(b"HTTP/1.1 400")
    assert answers.count(b"HTTP/1.1 ") == 1


UNUSED = {
    "nothing": b"",
    "half a head": b"GET /api/work HTTP/1.1\r\nHost: 127.0",
    "a body after the refusal": b"PUT /api/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\n{",
}


def test_a_connection_that_asks_for_nothing_is_cut(port: int) -> None:
    with ExitStack() as held:
        there = {
            what: held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            for what in UNUSED
        }
        for what, each in there.items():
            each.sendall(UNUSED[what])
        for what, each in there.items():
            assert _ends(each), what


def _ends(there: socket.socket) -> bool:
    """Whether the other side hangs up."""
    try:
        return all(iter(lambda: there.recv(65536), b""))
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_newer_connections_are_heard_where_older_ones_only_wait(tmp_path: Path) -> None:
    with _served(tmp_path, Narrow) as port, ExitStack() as held:
        waiting = [
            held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5)) for _ in range(30)
        ]
        assert _plain(port, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").startswith(b"HTTP/1.1 200")
        assert all(_ends(each) for each in waiting[:20])  # 31 came and 10 are held: the oldest 21 went


def test_connections_leave_half_of_the_file_handles(monkeypatch: pytest.MonkeyPatch) -> None:
    for handles, most in ((1024, 400), (256, 128), (resource.RLIM_INFINITY, 400)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=handles: (soft, soft))
        assert room(400) == most, handles


def test_half_a_request_holds_nobody_up(port: int) -> None:
    head = b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with ExitStack() as held:
        slow = [held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(50)]
        for number, each in enumerate(slow):
            each.sendall(head[:40] if number % 2 else head + b"Content-Length: 1000\r\n\r\n{")
        start = time.perf_counter()
        with socket.create_connection(("127.0.0.1", port), timeout=5) as there:
            there.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert there.recv(20).startswith(b"HTTP/1.1 200")
        assert time.perf_counter() - start < 2


def test_a_body_that_never_ends_is_given_up(desk: Desk) -> None:
    sent: list[Any] = []

    async def waits() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": "/", "headers": [], "query_string": b""}
    asyncio.run(BodyLimit(desk.app, patience=0.01)(scope, waits, send))
    assert sent[0]["status"] == 408


def test_a_body_whose_sender_left_is_not_acted_on(desk: Desk) -> None:
    """What came may be a whole draft by itself; its sender never said that it was all."""
    messages = [{"type": "http.request", "body": b"{}", "more_body": True}, {"type": "http.disconnect"}]
    reached: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def app(*given: Any) -> None:
        reached.append(given)

    scope = {"type": "http", "method": "PUT", "path": "/", "headers": [], "query_string": b""}
    asyncio.run(BodyLimit(app)(scope, receive, app))
    assert reached == []
