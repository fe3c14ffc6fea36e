"""The HTTP client: what is tried again, what is not, and what nobody gets to read."""

from __future__ import annotations

import base64
import gc
import ssl
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.endpoint import Client, Endpoint, RequestRefusal, ask_in_parts, is_passing, pause_before
from assay.core.errors import AssayError, Retryable, UsageError
from stand_ins.openai_server import KINDS, Faults, Kind, Reply, Request, StandIn

KEY = "sk-very-secret/0123456789"
NOON = 1_767_268_800.0  # 1 January 2026, 12:00:00 GMT


class Scripted(StandIn):
    """Gives one reply after the other, and the last for ever."""

    def __init__(self, replies: Sequence[Reply] = (), **how: Any) -> None:
        super().__init__(**how)
        self.replies = list(replies) or [Reply({"ok": True})]

    def __enter__(self) -> Scripted:
        super().__enter__()
        return self

    def reply(self, request: Request, fault: Kind | None) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class Sleeper:
    """Waits for nothing, and remembers how long it should have."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)


def opened(server: StandIn, sleep: Callable[[float], None] | None = None, **how: Any) -> Client:
    return Endpoint(server.url, **how).open(sleep=sleep or Sleeper(), clock=lambda: NOON)


def as_it_is(answer: Any) -> Any:
    return answer


# ------------------------------------------------------------------------------------------ asking


def test_an_answer_is_what_is_read_of_it() -> None:
    with Scripted([Reply({"numbers": [1, 2, 3]})]) as server:
        assert opened(server).post("/sum", {"text": "ü"}, lambda answer: sum(answer["numbers"])) == 6
        (request,) = server.requests
        assert (request.path, request.payload) == ("/v1/sum", {"text": "ü"})
        assert "authorization" not in request.headers


def test_the_key_is_sent_as_a_bearer_token_and_other_headers_as_given() -> None:
    with Scripted() as server:
        opened(server, key=f"{KEY}\n", headers={"X-Team": "7"}).post("/a", {}, as_it_is)
        (request,) = server.requests
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["x-team"] == "7"


def test_a_query_of_the_address_follows_the_path() -> None:
    with Scripted() as server:
        Endpoint(f"{server.url}/?api-version=3").open().post("/a", {}, as_it_is)
        assert server.requests[0].path == "/v1/a?api-version=3"


def test_half_a_surrogate_pair_does_not_stop_a_request() -> None:
    with Scripted() as server:
        opened(server).post("/a", ["\ud83d"], as_it_is)
        assert server.requests[0].payload == ["?"]


def test_threads_share_connections_that_stay_open() -> None:
    with Scripted(delay=0.005) as server:
        client = opened(server)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda number: client.post("/a", number, as_it_is), range(80)))
        assert answers == [{"ok": True}] * 80
        assert sorted(request.payload for request in server.requests) == list(range(80))
        assert 1 < server.at_once <= server.connections <= 8


def test_one_after_another_takes_one_connection() -> None:
    with Scripted() as server:
        client = opened(server)
        for _ in range(20):
            client.post("/a", {}, as_it_is)
        assert (server.calls, server.connections) == (20, 1)


def test_an_unused_client_closes_its_connections() -> None:
    with Scripted() as server:
        client = opened(server)
        client.post("/a", {}, as_it_is)
        closing = client.close
        assert closing.alive
        del client
        gc.collect()  # an open socket would warn here, and a warning fails a test
        assert not closing.alive


def test_a_proxy_is_not_asked_for_what_is_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with Scripted() as server:
        assert opened(server, retries=0).post("/a", {}, as_it_is) == {"ok": True}
    with pytest.raises(Retryable, match="refused"):
        Endpoint("http://search.invalid", retries=0).open().post("/a", {}, as_it_is)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.53", True),
        ("http://[::1]:80/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://10.0.0.1", False),
        ("http://localhost.example.org", False),
    ],
)
def test_addresses_of_this_machine_are_recognised(url: str, local: bool) -> None:
    assert Endpoint(url).loopback is local


@pytest.mark.parametrize("url", ["https://localhost", "HTTPS://localhost"])
def test_certificates_are_checked_over_https(url: str) -> None:
    pool = Endpoint(url).open()._http._transport._pool  # type: ignore[attr-defined]
    assert pool._ssl_context.verify_mode == ssl.CERT_REQUIRED
    assert pool._ssl_context.check_hostname


# ---------------------------------------------------------------------------------- trying again

AT_ANY_CALL: list[Kind] = [kind for kind in KINDS if kind not in {"count", "dimension", "nan"}]


@pytest.mark.slow
@pytest.mark.parametrize("kind", AT_ANY_CALL)
def test_one_call_in_ten_that_fails_is_made_again(kind: Kind) -> None:
    with Scripted(faults=Faults(kind, every=10)) as server:
        client = opened(server, timeout=0.5 if kind in {"hang", "drip"} else 30)
        assert [client.post("/a", {}, as_it_is) for _ in range(19)] == [{"ok": True}] * 19
        assert (server.calls, server.failed) == (21, 2)  # calls 10 and 20


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("429", "429 Too Many Requests: slow down"),
        ("500", "500 Internal Server Error: something broke"),
        ("rubbish", "not JSON, which begins '<html><body>Sign in"),
        ("truncated", "without sending complete message body"),
        ("closed", "Server disconnected"),
        ("hang", "no whole answer within 0.1 s"),
        ("drip", "no whole answer within 0.1 s"),
    ],
)
def test_when_every_call_fails_the_error_says_how_often_and_why(kind: Kind, cause: str) -> None:
    with Scripted(faults=Faults(kind, every=1)) as server:
        sleeper = Sleeper()
        with pytest.raises(Retryable) as raised:
            opened(server, sleeper, timeout=0.1, retries=2).post("/a", {}, as_it_is)
        assert str(raised.value).startswith(f"{server.url}/a gave nothing of use in 3 attempts. The last: ")
        assert cause in str(raised.value)
        assert str(raised.value).endswith(". See whether the service is up, and run again.")
        assert (server.calls, len(sleeper.pauses)) == (3, 2)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_temporary_status_is_tried_again(status: int) -> None:
    with Scripted([Reply({}, status), Reply({}, status), Reply({"ok": True})]) as server:
        assert opened(server).post("/a", {}, as_it_is) == {"ok": True}
        assert server.calls == 3


@pytest.mark.parametrize("status", [200, 304, 400, 401, 403, 404, 413, 422])
def test_a_refusal_is_not_temporary(status: int) -> None:
    assert not is_passing(status)


def test_an_answer_that_is_nested_too_deeply_is_not_json() -> None:
    deep = b"[" * 100_000
    with Scripted([Reply(deep), Reply({"ok": True})]) as server:
        assert opened(server).post("/a", {}, as_it_is) == {"ok": True}
    with Scripted([Reply(deep, 400)]) as server, pytest.raises(RequestRefusal) as raised:
        opened(server).post("/a", {}, as_it_is)
    assert raised.value.said == deep.decode()


def test_a_refused_connection_is_tried_again_and_reported() -> None:
    with Scripted() as server:
        url = server.url
    with pytest.raises(Retryable, match=r"in 1 attempt\. The last: .*refused"):
        Endpoint(url, retries=0).open().post("/a", {}, as_it_is)


def test_an_answer_that_is_not_what_was_asked_for_is_tried_again() -> None:
    def read(answer: Any) -> int:
        if answer["number"] < 3:
            raise ValueError("the number is too small")
        return int(answer["number"])

    with Scripted([Reply({"number": number}) for number in (1, 2, 3)]) as server:
        assert opened(server).post("/a", {}, read) == 3
        assert server.calls == 3
    with Scripted([Reply({"number": 1})]) as server:
        with pytest.raises(Retryable, match=r"The last: the number is too small\. See") as raised:
            opened(server, retries=1).post("/a", {}, read)
        assert isinstance(raised.value.__cause__, ValueError)


# ------------------------------------------------------------------------------------- waiting


def test_pauses_double_and_vary_at_random() -> None:
    with Scripted([Reply({}, 500)]) as server:
        sleeper = Sleeper()
        with pytest.raises(Retryable):
            opened(server, sleeper, retries=9, backoff=0.5).post("/a", {}, as_it_is)
    # 0.5 · 2^n, times something between 0.5 and 1.5; the last one, 0.5 · 2^8 = 128, is capped from 64 up
    for number, pause in enumerate(sleeper.pauses):
        assert min(0.25 * 2**number, 60) <= pause <= min(0.75 * 2**number, 60)
    assert len(sleeper.pauses) == 9
    assert sleeper.pauses[-1] == 60.0
    assert len({pause / 2**number for number, pause in enumerate(sleeper.pauses)}) == 9


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.25", 0.25),
        ("Thu, 01 Jan 2026 12:00:20 GMT", 20.0),  # 20 s after noon
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),  # long past
        ("3600", 60.0),  # nobody waits an hour
        ("inf", 60.0),
        ("-5", 0.0),
        ("nan", 0.0),
        ("soon", 0.0),
        ("", 0.0),
    ],
)
def test_a_pause_is_as_long_as_the_service_asks_for(header: str, seconds: float) -> None:
    with Scripted([Reply({}, 429, {"Retry-After": header}), Reply({"ok": True})]) as server:
        sleeper = Sleeper()
        opened(server, sleeper, backoff=0.0).post("/a", {}, as_it_is)
        assert sleeper.pauses == [seconds]


def test_a_service_that_asks_for_less_than_the_usual_pause_gets_the_usual_one() -> None:
    with Scripted([Reply({}, 429, {"Retry-After": "0.01"}), Reply({"ok": True})]) as server:
        sleeper = Sleeper()
        opened(server, sleeper, backoff=10.0).post("/a", {}, as_it_is)
        assert 5.0 <= sleeper.pauses[0] <= 15.0


def test_the_pause_grows_from_the_second_attempt_on() -> None:
    for attempt, usual in [(2, 1.0), (3, 2.0), (5, 8.0)]:  # 1 · 2^(attempt - 2)
        assert 0.5 * usual <= pause_before(attempt, 1.0) <= 1.5 * usual
    assert pause_before(2, 1.0, "20") == 20.0
    assert pause_before(2, 0.0, "Thu, 01 Jan 2026 12:00:20 GMT", lambda: NOON) == 20.0
    assert pause_before(10_000, 1.0) == 60.0


# --------------------------------------------------------------------------------- being refused

REFUSALS = {
    400: "Change the request as it says.",
    401: "Check the key.",
    403: "Check the key.",
    404: "Check the URL and the name of the model.",
    413: "Change the request as it says.",
    422: "Change the request as it says.",
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_fails_at_once_and_says_what_to_do(status: int) -> None:
    with Scripted([Reply({"error": {"message": "No, because."}}, status)]) as server:
        with pytest.raises(RequestRefusal) as raised:
            opened(server, key=KEY).post("/a", {}, as_it_is)
        assert server.calls == 1
        assert f"{server.url}/a answers {status} " in str(raised.value)
        assert str(raised.value).endswith(f": No, because. {REFUSALS[status]}")
        assert (raised.value.status, raised.value.said) == (status, "No, because.")


def test_a_missing_key_is_named_in_the_error() -> None:
    with (
        Scripted([Reply(b"", 401)]) as server,
        pytest.raises(RequestRefusal, match=r"answers 401 Unauthorized\. Give it a key: key="),
    ):
        opened(server).post("/a", {}, as_it_is)


def test_a_redirect_to_nowhere_is_a_refusal_like_any_other() -> None:
    with (
        Scripted([Reply(b"", 304)]) as server,
        pytest.raises(RequestRefusal, match="answers 304 Not Modified"),
    ):
        opened(server).post("/a", {}, as_it_is)


def test_an_answer_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.core.endpoint.LARGEST", 1 << 20)
    much = Reply(b'"' + b"x" * (2 << 20) + b'"')
    with Scripted([much]) as server, pytest.raises(Retryable, match="an answer of more than 1 MiB"):
        opened(server, retries=0).post("/a", {}, as_it_is)


def test_a_service_that_has_moved_says_where_to() -> None:
    moved = Reply(b"", 308, {"Location": "https://ann:pass@new.example/v2/a?token=7"})
    with Scripted([moved]) as server, pytest.raises(RequestRefusal) as raised:
        opened(server).post("/a", {}, as_it_is)
    assert str(raised.value).endswith("It has moved to https://new.example/v2/a: use that address.")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "A"}}, "A"),  # OpenAI
        ({"error": "B"}, "B"),  # Ollama
        ({"message": "C"}, "C"),  # Cohere
        ({"detail": "D"}, "D"),  # FastAPI
        ({"detail": [{"msg": "E"}]}, '{"detail": [{"msg": "E"}]}'),
        (b"<h1>\n  Bad\tday </h1>", "<h1> Bad day </h1>"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_the_message_of_a_service_is_found_in_its_usual_places(body: Any, said: str) -> None:
    with Scripted([Reply(body, 400)]) as server, pytest.raises(RequestRefusal) as raised:
        opened(server).post("/a", {}, as_it_is)
    assert raised.value.said == said


def test_a_long_message_is_cut_in_what_is_shown() -> None:
    with Scripted([Reply({"error": "x" * 5000}, 400)]) as server, pytest.raises(RequestRefusal) as raised:
        opened(server).post("/a", {}, as_it_is)
    assert str(raised.value).count("x") == 200
    assert len(raised.value.said) == 5000


def refusing(status: int, said: str) -> Callable[[list[str]], list[str]]:
    """Takes one text at a time, and refuses more in these words."""

    def ask(texts: list[str]) -> list[str]:
        if len(texts) > 1:
            raise RequestRefusal(f"answers {status}: {said}.", status, said)
        return texts

    return ask


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (413, ""),
        (422, "batch size 64 > maximum allowed batch size 32"),
        (400, "This model's maximum context length is 8192 tokens, however you requested 10738 tokens"),
        (400, "Requested 309209 tokens, max 300000 tokens per request"),
        (400, "total number of texts must be at most 96 - received 100"),
        (400, "the input length exceeds the context length"),
        (400, "Too many tokens in batch."),
        (400, "Request too large."),
        (422, "Input validation error: `inputs` must have less than 512 tokens. Given: 600"),
    ],
)
def test_a_request_that_is_too_large_is_asked_in_parts(status: int, said: str) -> None:
    assert ask_in_parts(["a", "b", "c"], refusing(status, said)) == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "Invalid value for 'dimensions' = 4096. Must be less than or equal to 1536."),
        (400, "dimensions exceeds the maximum size of the output vector"),
        (400, "Your monthly spending limit is reached"),
        (400, "input cannot be an empty string"),
        (404, "max tokens"),
    ],
)
def test_a_refusal_of_another_kind_is_not_asked_in_parts(status: int, said: str) -> None:
    with pytest.raises(RequestRefusal):
        ask_in_parts(["a", "b"], refusing(status, said))


# --------------------------------------------------------------------------------------- secrets


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_no_message_contains_a_secret_that_the_service_repeats(status: int) -> None:
    hidden = [KEY, quote(KEY, safe=""), "an-organisation", "p%40ss-word", "p@ss-word"]
    with Scripted([Reply("Nobody knows {}, {}, {}, {} or {}.".format(*hidden).encode(), status)]) as server:
        url = server.url.replace("http://", "http://ann:p%40ss-word@")
        endpoint = Endpoint(url, KEY, retries=1, headers={"X-Org": "an-organisation"})
        with pytest.raises(AssayError, match="Nobody knows …, …, …, … or …") as raised:
            endpoint.open(sleep=Sleeper()).post("/a", {}, as_it_is)
    seen = "".join(traceback.format_exception(raised.value)) + repr(endpoint)
    assert not [secret for secret in hidden if secret in seen]


@pytest.mark.parametrize(
    ("url", "hidden"),
    [
        ("http://{}/v1?api_key=SECRET123", ["SECRET123"]),
        (
            "http://{}/v1?version=3&X-Amz-Signature=SEC%2BRET&accessToken=S+T",
            ["SEC%2BRET", "SEC+RET", "S+T", "S T"],
        ),
        ("http://TOK%40EN@{}/v1", ["TOK%40EN", "TOK@EN", base64.b64encode(b"TOK@EN:").decode()]),
        ("http://ann:p%40ss@{}/v1", ["p%40ss", "p@ss", base64.b64encode(b"ann:p@ss").decode()]),
    ],
)
def test_no_message_contains_a_secret_of_the_address(url: str, hidden: list[str]) -> None:
    echo = " and ".join(hidden)
    with Scripted([Reply({"error": f"Nobody knows {echo}."}, 403)]) as server:
        endpoint = Endpoint(url.format(server.url.split("/")[2]))
        with pytest.raises(RequestRefusal, match="Nobody knows …") as raised:
            endpoint.open().post("/a", {}, as_it_is)
    seen = "".join(traceback.format_exception(raised.value)) + repr(endpoint) + endpoint.identity
    assert not [secret for secret in hidden if secret in seen]


def test_an_address_without_secrets_stays_in_a_message() -> None:
    endpoint = Endpoint("http://localhost/v1?deployment=small&max_tokens=512&tokenizer=own")
    assert endpoint.conceal("small 512\n own") == "small 512 own"


@given(st.text("abc/+= ", min_size=1, max_size=12).map(str.strip).filter(bool), st.integers(0, 220))
@settings(max_examples=40)
def test_a_key_is_hidden_everywhere_in_a_message(key: str, before: int) -> None:
    shown = Endpoint("http://localhost", key).open()._shown("-" * before + key + "-" * 9)
    assert key not in shown
    assert len(shown) <= 200


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError, match="The key holds a line break or a letter beyond ASCII") as raised:
        Endpoint("http://localhost", key)
    assert key not in str(raised.value)


# -------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://host",
        "http://",
        "http://[::1",
        "http://host:x",
        "https:/host/v1",
        "http://a host",
    ],
)
def test_a_text_that_is_not_an_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"is not the address of a service\. Write http\(s\)://HOST"):
        Endpoint(url)


def test_an_address_that_is_refused_shows_no_password() -> None:
    with pytest.raises(UsageError, match="'host:x/v1' is not the address") as raised:
        Endpoint("https://ann:pass-word@host:x/v1?token=secret")
    assert "pass-word" not in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"retries": -1}, "retries is -1"),
        ({"backoff": -0.5}, r"backoff is -0\.5"),
        ({"price": -1}, "price is -1"),
        ({"price": float("inf")}, "price is inf"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(Endpoint("http://localhost"), **wrong)


def test_an_address_is_shown_without_credentials_and_query() -> None:
    endpoint = Endpoint("https://ann:pw@host:8443/accounts/@cf/v1/?key=7#top")
    assert endpoint.address == "https://host:8443/accounts/@cf/v1"
    assert endpoint.target("/a") == "https://ann:pw@host:8443/accounts/@cf/v1/a?key=7"


def test_services_at_one_address_differ_by_their_query_without_secrets() -> None:
    def identity(query: str) -> str:
        return Endpoint(f"https://ann:pw@host/v1/{query}").identity

    assert identity("?deployment=small") == "https://host/v1?deployment=small"
    assert identity("?key=7&deployment=small&&sig=8#top") == identity("?deployment=small")
    assert identity("") == identity("?") == identity("?api-key=7") == "https://host/v1"


def test_an_address_that_is_yet_to_be_filled_in_can_be_named_but_not_asked() -> None:
    endpoint = Endpoint("${EMBED_SECRET_URL}")
    assert endpoint.identity == "${EMBED_SECRET_URL}"
    with pytest.raises(UsageError, match="is not the address of a service"):
        endpoint.open()


def test_tokens_cost_their_share_of_the_price_of_a_million() -> None:
    assert Endpoint("http://localhost", price=0.02).cost(1500) == pytest.approx(0.00003)  # 1500 · 0.02 / 10⁶


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"total_tokens": 7}, 7),
        ({"total_tokens": 12.0}, 12),
        ({"total_tokens": 0}, 0),
        ({"total_tokens": -3}, None),
        ({"total_tokens": "many"}, None),
        ({"total_tokens": None}, None),
        ({}, None),
        (None, None),
        ("none", None),
    ],
)
def test_tokens_that_nobody_counted_are_estimated_where_they_have_a_price(
    usage: object, tokens: int | None
) -> None:
    free, sold = Endpoint("http://localhost"), Endpoint("http://localhost", price=0.02)
    texts = ["four letters", "me"]  # 12 / 4, and at least 1
    assert free.counted(usage, texts) == (tokens or 0)
    assert sold.counted(usage, texts) == (4 if tokens is None else tokens)
