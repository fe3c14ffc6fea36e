"""Requests: what is filled in where, what cannot be, and what no message may hold."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import SystemFailure, UsageError
from assay.core.records import Query
from assay.systems.http_request import RequestTemplate, check_headers, check_places, service_endpoint

URL = "http://search.example/api"


def form(
    url: str = URL, *, params: dict[str, Any] | None = None, body: Any = None, k: int = 10
) -> RequestTemplate:
    return RequestTemplate(url, params or {}, body, k)


def sent(body: Any, query: Query) -> Any:
    return json.loads(form(body=body, k=7).call(query).body or b"null")


def checked(
    url: str = URL,
    params: dict[str, Any] | None = None,
    body: Any = None,
    own: dict[str, str] | None = None,
) -> None:
    check_places(url, params or {}, body, own or {})


# ------------------------------------------------------------------------------------------ filling


def test_a_path_is_filled_with_what_a_url_can_hold() -> None:
    call = form(f"{URL}/{{language}}/{{query}}?limit={{k}}").call(Query("q", "a/b? ü&", "en"))
    assert call.target == "/api/en/a%2Fb%3F%20%C3%BC%26?limit=10"
    assert call.body is None


def test_parameters_follow_those_of_the_address() -> None:
    params = {"q": "{query}", "tag": ["a", "b"], "fuzzy": True, "boost": 1.5, "none": None}
    call = form(f"{URL}?v=2", params=params).call(Query("q", "x y"))
    assert call.target == "/api?v=2&q=x+y&tag=a&tag=b&fuzzy=true&boost=1.5"


def test_an_address_without_a_path_asks_for_the_root() -> None:
    assert form("http://search.example", params={"q": "{query}"}).call(Query("q", "a")).target == "/?q=a"


def test_strings_anywhere_in_a_body_are_filled_and_k_alone_is_a_number() -> None:
    body = {
        "q": "in {language}: {query}",
        "page": {"size": "{k}", "note": "k={k}"},
        "in": ["{query}", 1, None],
    }
    assert sent(body, Query("q", 'a "b"\n', "hi")) == {
        "q": 'in hi: a "b"\n',
        "page": {"size": 7, "note": "k=7"},
        "in": ['a "b"\n', 1, None],
    }


def test_other_braces_stay_as_they_are() -> None:
    graphql = "query($q: String!) { search(q: $q) { id text } }"
    assert sent({"query": graphql, "q": "{query}"}, Query("q", "x"))["query"] == graphql


@given(st.text())
def test_any_query_arrives_as_it_is(text: str) -> None:
    query = Query("q", text, "en")
    call = form(params={"q": "{query}"}).call(query)
    assert dict(parse_qsl(urlsplit(call.target).query, keep_blank_values=True)) == {"q": text}
    assert sent({"q": "{query}"}, query) == {"q": text}


def test_places_inside_a_query_are_not_filled() -> None:
    assert sent(["{query}"], Query("q", "{k} {language}", "en")) == ["{k} {language}"]


def test_half_a_character_is_sent_as_a_question_mark() -> None:
    assert sent(["{query}"], Query("q", "a\ud800")) == ["a?"]


# ---------------------------------------------------------------------------------------- languages


@pytest.mark.parametrize(
    "asking",
    [
        form(f"{URL}/{{language}}"),
        form(params={"l": ["{language}"]}),
        form(body={"a": [{"l": "{language}"}]}),
    ],
    ids=["address", "params", "body"],
)
def test_a_request_that_names_the_language_needs_one(asking: RequestTemplate) -> None:
    assert asking.needs_language
    with pytest.raises(SystemFailure, match="has no language"):
        asking.call(Query("q", "a"))


def test_a_request_that_does_not_name_it_needs_none() -> None:
    assert not form(params={"q": "{query}"}).needs_language


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("url", ["search.example/api", "ftp://a/b", "http://", "http://a b/", "http://a:x/"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"url: .* is not the address of a service"):
        form(url)


def test_a_host_is_one_host() -> None:
    with pytest.raises(UsageError, match="only be in the path and after it"):
        form("http://{language}.search.example/")


def test_a_parameter_is_text_or_a_number() -> None:
    with pytest.raises(UsageError, match="params: filter is a dict"):
        _ = form(params={"filter": {"a": 1}}).pairs


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"X-Lang": "{language}"}, "a place to fill in"),
        ({"X-Key": "a\nb"}, "a line break"),
        ({"X-Key": "ü"}, "beyond ASCII"),
        ({"X Key": "a"}, "a line break or"),
    ],
)
def test_headers_hold_what_can_be_sent(headers: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_headers(headers)


@pytest.mark.parametrize(
    "where", [{"url": f"{URL}#{{query}}"}, {"params": {"q": "{words}"}}, {"body": {"{query}": "text"}}, {}]
)
def test_a_request_without_the_query_is_refused(where: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^there is no {query} in url, params or body, so no query is"):
        checked(**where)


@pytest.mark.parametrize(
    "where",
    [
        {"url": f"{URL}/{{query}}"},
        {"params": {"q": ["about {query}"]}},
        {"body": [{"q": {"text": "{query}"}}]},
    ],
)
def test_the_query_may_stand_in_any_part_of_a_request(where: dict[str, Any]) -> None:
    checked(**where)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("qurey", "query"),
        ("Query", "query"),
        ("quer", "query"),
        ("q", "query"),
        ("querry", "query"),
        ("lang", "language"),
        ("langauge", "language"),
        ("K", "k"),
    ],
)
def test_a_place_that_is_misspelt_is_refused_with_what_was_meant(written: str, meant: str) -> None:
    asking = {"q": "{query}", "more": [f"x {{{written}}}"]}
    wheres: dict[str, dict[str, Any]] = {"params": {"params": asking}, "body": {"body": asking}}
    for field, where in wheres.items():
        with pytest.raises(UsageError) as told:
            checked(**where)
        assert str(told.value) == f"{field}: {{{written}}} is not filled in. Did you mean {{{meant}}}?"


def test_the_port_is_filled_in_the_address_and_in_what_a_server_is_told() -> None:
    checked(f"{URL}/{{query}}/{{port}}", own={"start": "serve {port} {query}"})
    checked(params={"q": "{query}"}, body={"graph": "{blog{post}}"})  # no port is filled there
    with pytest.raises(UsageError, match=r"start: {prot} is not filled in\. Did you mean {port}\?"):
        checked(f"{URL}/{{query}}", own={"start": "serve {prot}"})


@pytest.mark.parametrize("word", ["user", "id", "text", "title", "key", "limit", "score", "print"])
def test_other_words_in_braces_are_nobody_s_slip(word: str) -> None:
    checked(body={"q": "{query}", "graph": f"search(q: $q){{{word}}}"})


# ----------------------------------------------------------------------------------------- secrets


def test_what_says_who_asks_is_taken_out_of_texts() -> None:
    asking = form(
        "https://anna:hunter22@search.example/api?api_key=in-the-url",
        params={"access_token": "in-params", "q": "{query}", "k": "{k}"},
        body={"auth": {"secret": "in-body"}, "query": "harmless"},
    )
    hidden = ["anna", "hunter22", "in-the-url", "in-params", "in-body", "tok-1234", "Bearer tok-1234"]
    shown = service_endpoint(
        asking, {"Authorization": "Bearer tok-1234", "Accept": "application/json", "X-V": "2"}
    )
    text = shown.conceal(" | ".join([*hidden, "harmless", "application/json", "2 of 2"]))
    assert not any(secret in text for secret in hidden)
    assert text.endswith("| harmless | application/json | 2 of 2")
    assert shown.address == "https://search.example/api"
