"""Asking a search API: what goes out, what comes back, at what pace, over how many connections."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.endpoint import RequestRefusal
from assay.core.errors import DataError, Retryable, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Item, Passage, Query, Response
from assay.core.registry import SYSTEMS, Registry, identity
from assay.systems.http import Http, HttpIndex
from assay.systems.http_request import RateLimiter
from stand_ins.search_server import Reply, SearchServer, found

CORPUS = Corpus([Passage("d1", "text of d1"), Passage("d2", "text of d2")])
QUERY = Query("q1", "what is this?", "en")
URL = "http://search.example/?q={query}"


@contextmanager
def built(server: SearchServer, kit: Kit | None = None, **how: Any) -> Iterator[HttpIndex]:
    index = Http(**{"url": server.url, "params": {"q": "{query}"}, **how}).build(CORPUS, 0, kit or Kit())
    try:
        yield index
    finally:
        index.close()


def asked(server: SearchServer, query: Query = QUERY, **how: Any) -> Response:
    with built(server, **how) as index:
        return index.session().answer(query, [])


# ----------------------------------------------------------------------------------------- asking


def test_by_get() -> None:
    with SearchServer() as server:
        how = {"q": "{query}", "lang": "{language}", "k": "{k}"}
        response = asked(server, params=how, headers={"X-Api-Key": "secret-1"}, k=2)
    assert [(hit.doc_id, hit.score, hit.text) for hit in response.hits] == [
        ("d1", 0.9, "text of d1"),
        ("d2", 0.8, "text of d2"),
    ]
    assert response.route == "search"
    assert server.params == [{"q": "what is this?", "lang": "en", "k": "2"}]
    (request,) = server.requests
    assert request.payload is None
    assert request.headers["x-api-key"] == "secret-1"
    assert request.headers["user-agent"] == "retrieval-assay"


def test_by_post() -> None:
    with SearchServer() as server:
        response = asked(
            server, params={}, body={"query": "{query}", "filter": {"lang": "{language}"}, "top": "{k}"}
        )
    (request,) = server.requests
    assert request.payload == {"query": "what is this?", "filter": {"lang": "en"}, "top": 10}
    assert request.headers["content-type"] == "application/json"
    assert len(response.hits) == 2


def test_headers_of_the_study_come_before_ours() -> None:
    with SearchServer() as server:
        asked(server, headers={"user-agent": "portal"}, url=server.url.replace("//", "//anna:pass%21@"))
    (request,) = server.requests
    assert request.headers["user-agent"] == "portal"
    assert request.headers["authorization"] == "Basic YW5uYTpwYXNzIQ=="  # anna:pass!


@pytest.mark.parametrize("packed", ["gzip", "chunked", "both"])
def test_an_answer_may_be_packed_or_come_in_pieces(packed: str) -> None:
    body = json.dumps(found(*(f"d{n}" for n in range(10))).body).encode()
    headers = {} if packed == "gzip" else {"Transfer-Encoding": "chunked"}
    if packed != "chunked":
        body, headers = gzip.compress(body), {**headers, "Content-Encoding": "gzip"}
    reply = Reply(body, 200, headers)
    with SearchServer(reply) as server:
        assert len(asked(server).hits) == 10


def test_an_empty_list_is_an_answer() -> None:
    with SearchServer(Reply({"results": []})) as server:
        response = asked(server)
    assert (response.hits, response.route, response.error) == ([], "no_results", None)


def test_what_is_observed_is_the_request_and_the_reading() -> None:
    with SearchServer(delay=0.05) as server:
        seconds = asked(server).observed.seconds
    assert seconds["http"] >= 0.05
    assert seconds["total"] == pytest.approx(seconds["http"] + seconds["read"])


def test_a_proxy_is_asked_for_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    with SearchServer() as server:
        monkeypatch.setenv("http_proxy", server.origin)
        monkeypatch.setenv("no_proxy", "")
        asked(server, url="http://search.invalid/find")
    assert [request.path.partition("?")[0] for request in server.requests] == ["http://search.invalid/find"]


# -------------------------------------------------------------------------------- connections, pace


def test_threads_share_few_connections_that_stay_open() -> None:
    with SearchServer() as server, built(server) as index, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda n: index.answer(Query(f"q{n}", str(n)), []), range(80)))
    assert all(len(answer.hits) == 2 for answer in answers)
    assert server.calls == 80
    assert server.connections <= 4


def test_a_connection_that_the_service_closed_is_opened_anew() -> None:
    with (
        SearchServer(Reply(found("d1").body, 200, {"Connection": "close"})) as server,
        built(server) as index,
    ):
        for _ in range(3):
            assert index.answer(QUERY, []).hits
    assert server.connections == 3


def test_a_rate_is_kept_by_all_threads_together() -> None:
    with SearchServer() as server, built(server, rate=100) as index, ThreadPoolExecutor(8) as pool:
        started = time.monotonic()
        list(pool.map(lambda n: index.answer(Query(f"q{n}", str(n)), []), range(31)))
    # the n-th after the first has its turn n × 10 ms later
    assert all(each >= started + n * 0.01 for n, each in enumerate(sorted(server.times)))


def test_waiting_for_a_turn_is_not_the_service_s_time() -> None:
    with SearchServer() as server, built(server) as index:
        index.pace.hold(0.3)
        started = time.monotonic()
        seconds = index.answer(QUERY, []).observed.seconds
        assert seconds["total"] <= time.monotonic() - started - 0.25


def test_everybody_waits_as_long_as_the_service_asks() -> None:
    busy = Reply({"error": "slow down"}, 429, {"Retry-After": "0.3"})
    with SearchServer(busy, found("d1")) as server, built(server) as index:
        with pytest.raises(Retryable, match=r"429 Too Many Requests: .*slow down"):
            index.answer(QUERY, [])
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: index.answer(QUERY, []), range(3)))
    assert min(server.times[1:]) - server.times[0] >= 0.3


def test_a_date_to_come_back_at_is_read_by_the_clock_of_the_kit() -> None:
    noon = 1_767_268_800.0  # 1 January 2026, 12:00:00 GMT
    busy = Reply({}, 503, {"Retry-After": "Thu, 01 Jan 2026 12:00:01 GMT"})
    with SearchServer(busy, found("d1")) as server, built(server, Kit(clock=lambda: noon + 0.8)) as index:
        with pytest.raises(Retryable):
            index.answer(QUERY, [])
        index.answer(QUERY, [])
    assert server.times[1] - server.times[0] >= 0.19  # 1 − 0.8; by the real time it has long passed


def test_whoever_waits_when_it_is_closed_is_sent_away() -> None:
    pace, ends = RateLimiter(None), []

    def wait() -> None:
        with pytest.raises(SystemFailure, match="closed"):
            pace.wait()
        ends.append(time.monotonic())

    pace.hold(30)
    thread = threading.Thread(target=wait)
    thread.start()
    pace.end()
    thread.join(5)
    assert ends


# ----------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("429", "429 Too Many Requests"),
        ("500", "500 Internal Server Error: .*something broke"),
        ("rubbish", "The answer begins .*Sign in"),
        ("truncated", "breaks off: .*56 bytes read, 57 more"),  # of 113 in all
        ("closed", "breaks off: Connection aborted"),
        ("hang", "no whole answer within 0.2 s"),
        ("drip", "no whole answer within 0.2 s"),
        (Reply({}, 408), "408 Request Timeout"),
        (Reply({}, 503), "503 Service Unavailable"),
    ],
)
def test_what_may_pass_is_retryable_and_is_tried_once(fault: Any, said: str) -> None:
    with SearchServer(fault) as server:
        with pytest.raises(Retryable, match=said):
            asked(server, timeout=0.2)
        assert server.calls == 1


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (400, {}, "400 Bad Request: .*no such field.*Change the request"),
        (401, {}, "Check the credentials"),
        (404, {}, "Check url and method"),
        (
            301,
            {"Location": "/v2/search?key=abcd"},
            r"moved to http://127.0.0.1:\d+/v2/search: use that address",
        ),
        (307, {"Location": "https://u:pw@other.example/s?a=b"}, "moved to https://other.example/s: use"),
        (302, {"Location": "ftp:///"}, "moved to an address that is none"),
        (304, {}, "Change the request as it says"),
    ],
)
def test_what_would_be_refused_again_is_refused(status: int, headers: dict[str, str], said: str) -> None:
    body = b"" if status == 304 else {"detail": "no such field"}
    with SearchServer(Reply(body, status, headers)) as server:
        with pytest.raises(RequestRefusal, match=said):
            asked(server)
        assert server.calls == 1


def test_after_an_answer_that_was_given_up_on_the_next_is_its_own() -> None:
    with SearchServer("hang", "truncated", found("d1")) as server, built(server, timeout=0.2) as index:
        for _ in range(2):
            with pytest.raises(Retryable):
                index.answer(QUERY, [])
        assert [hit.doc_id for hit in index.answer(QUERY, []).hits] == ["d1"]


def test_nobody_there_is_told_with_the_address() -> None:
    with SearchServer() as server:
        url = server.url
    with pytest.raises(Retryable, match=f"{url} cannot be reached: .*refused"):
        Http(f"{url}?q={{query}}").build(CORPUS, 0, Kit()).answer(QUERY, [])


def test_an_answer_beyond_all_measure_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.systems.http_request.LARGEST", 1 << 20)
    with (
        SearchServer(Reply(b"x" * (1 << 21))) as server,
        pytest.raises(SystemFailure, match="more than 1 MiB"),
    ):
        asked(server)


def test_no_message_holds_who_asks() -> None:
    secrets = ["sk-header-9", "sk-param-9", "sk-body-9", "sk-url-9"]
    echo = {"detail": " ".join(secrets)}
    how: dict[str, Any] = {
        "headers": {"Authorization": "Bearer sk-header-9"},
        "params": {"api_key": "sk-param-9", "q": "{query}"},
        "body": {"token": "sk-body-9"},
    }
    steps = [
        Reply(echo, 500),
        Reply(echo, 400),
        Reply(" ".join(secrets).encode()),
        Reply(dict.fromkeys(secrets, 1)),
    ]
    with SearchServer(*steps) as server, built(server, url=f"{server.url}?key=sk-url-9", **how) as index:
        for _ in steps:
            with pytest.raises((Retryable, SystemFailure)) as told:
                index.answer(QUERY, [])
            assert not any(secret in str(told.value) for secret in secrets)
            assert "…" in str(told.value)


# ------------------------------------------------------------------------------ what a study may say


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"url": "search.example/{query}"}, "url: 'search.example/x' is not the address"),
        ({"k": 0}, "k is 0. It must be"),
        ({"rate": 0}, "rate is 0"),
        ({"timeout": -1}, "timeout is -1"),
        ({"threads": 0}, "threads is 0"),
        ({"method": "GET", "body": {"q": 1}}, "a GET request has none"),
        ({"url": "http://127.0.0.1:{port}/{query}"}, "there is no start"),
        ({"url": "http://127.0.0.1:{port}/{query}", "start": "server"}, "told its {port}"),
        ({"url": "http://127.0.0.1:{prot}/{query}"}, r"url: {prot} is not filled in\. Did you mean {port}"),
        ({"start": "server {Port}"}, "start: {Port} is not filled in. Did you mean {port}"),
        ({"ready": "/{p}"}, "ready: {p} is not filled in. Did you mean {port}"),
        ({"start": "server 'unclosed"}, "start: .* cannot be split"),
        ({"start": " "}, "start: there is no command"),
        ({"ready": "health"}, "ready is 'health'"),
        ({"params": {"a": {"b": 1}}}, "params: a is a dict"),
    ],
)
def test_what_makes_no_sense_is_told_when_the_system_is_made(how: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Http(**{"url": URL, **how})


def test_a_study_may_write_all_of_it() -> None:
    given = {
        "use": "http",
        "url": "http://search.example/{language}",
        "params": {"q": "{query}", "k": 10},
        "route": {"practice_bridge": "practice_bridge"},
        "flags": {"safety": "safety.shown"},
        "files": ["server.py"],
        "rate": "50",
    }
    system = Registry().create(SYSTEMS, given)
    assert (system.rate, system.files, system.threads) == (50.0, ("server.py",), 8)
    assert Registry().create(SYSTEMS, f"http(url='{URL}')").url == URL


def test_patience_is_no_part_of_an_identity_but_what_decides_is() -> None:
    how = {"timeout": 1.0, "rate": 1.0, "threads": 2, "patience": 1.0, "ready": "/health"}
    assert identity(Http(URL, **how)) == identity(Http(URL))  # type: ignore[arg-type]
    others = [{"k": 5}, {"revision": "b"}, {"start": "a"}, {"params": {"a": 1}}, {"headers": {"A": "b"}}]
    kinds = {identity(Http(URL, **each)) for each in others}  # type: ignore[arg-type]
    assert len(kinds | {identity(Http(URL))}) == 6


def test_files_decide_by_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "server.py").write_text("one")
    (tmp_path / "lib/a.py").write_text("a")
    kit = Kit(root=tmp_path)
    system = Http(URL, files=("server.py", "lib", "**/*.py"))
    seen = [system.identity(kit)]
    for change in ("server.py", "lib/a.py"):
        (tmp_path / change).write_text("other")
        seen.append(system.identity(kit))
    (tmp_path / "lib/a.py").rename(tmp_path / "lib/b.py")
    seen.append(system.identity(kit))
    assert len({json.dumps(each) for each in seen}) == 4
    assert seen[1]["lib"] == seen[0]["lib"] != seen[2]["lib"] != seen[3]["lib"]
    assert Http(URL, files="server.py").identity(kit).keys() == {"server.py"}


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"files: there is no 'gone\.py'"):
        Http(URL, files=("gone.py",)).identity(Kit(root=tmp_path))


def test_items_without_a_language_are_a_problem_where_it_is_sent() -> None:
    items = [Item("q1", "a", "en"), Item("q2", "b"), Item("q3", "c")]
    dataset = Dataset("tiny", CORPUS, items, places={"q2": Place("golden-set-en.json", 12)})

    def make(text: str) -> Http:
        return Http(URL, params={"l": text})

    (problem,) = make("{language}").problems(dataset, Kit())
    assert str(problem).startswith("golden-set-en.json:12: 2 items, such as 'q2', have no language")
    assert make("en").problems(dataset, Kit()) == []


def test_a_program_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    dataset, kit = Dataset("tiny", CORPUS, []), Kit(root=tmp_path)
    (problem,) = Http(URL, start="no-such-program --port 1").problems(dataset, kit)
    assert "no program 'no-such-program'" in str(problem)
    (tmp_path / "serve.sh").write_text("")
    for command in ("python server.py", "./serve.sh"):
        assert Http(URL, start=command).problems(dataset, kit) == []
