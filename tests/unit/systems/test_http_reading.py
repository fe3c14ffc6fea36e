"""Answers: names, scores and order of hits, routes, flags, and what is not as it was declared."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.dataset import Corpus, digest
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.records import Passage, Response
from assay.systems.http import Http
from assay.systems.http_reading import descending_scores
from assay.systems.http_request import RequestTemplate, service_endpoint

URL = "http://search.example/{query}"
KNOWN = {"d1": "one fine day", "d2": "two\n days", "7": "seven", "a": "of a", "b": "of b", "c": "of c"}
CORPUS = Corpus([Passage(doc_id, text) for doc_id, text in KNOWN.items()])


def read(answer: Any, corpus: Corpus = CORPUS, **how: Any) -> Response:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    system = Http(URL, **how)
    return system._reading(corpus, service_endpoint(RequestTemplate(system.url, {}, None, 1), {})).response(
        body
    )


def mark(text: str) -> str:
    return digest([text.encode()])[:12]


# ------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("result", "name"),
    [
        ({"id": "d1", "text": "one fine day"}, "d1"),
        ({"id": "d2", "text": " two days "}, "d2"),  # white space apart
        ({"id": 7, "text": "seven"}, "7"),
        ({"id": "d1", "text": "another day"}, f"d1~{mark('another day')}"),  # indexed anew
        ({"id": "x", "text": "one fine day"}, f"x~{mark('one fine day')}"),
        ({"text": "one fine day"}, f"~{mark('one fine day')}"),
        ({"id": "", "text": "a"}, f"~{mark('a')}"),
        ({"id": "d1"}, "d1"),
        ({"id": "d1", "text": None}, "d1"),
    ],
)
def test_a_hit_has_our_name_only_where_it_has_our_text(result: dict[str, Any], name: str) -> None:
    (hit,) = read({"results": [result]}).hits
    assert (hit.doc_id, hit.text) == (name, result.get("text"))


def test_results_without_ids_that_read_the_same_keep_their_places() -> None:
    hits = read({"results": [{"text": "om"}, {"text": "a"}, {"text": "om"}]}).hits
    assert [hit.doc_id for hit in hits] == [f"~{mark('om')}", f"~{mark('a')}", f"~{mark('om')}~2"]


def test_an_id_that_comes_twice_is_a_failure() -> None:
    with pytest.raises(SystemFailure, match="Results 1 and 3 are the same: d1"):
        read({"results": [{"id": "d1"}, {"id": "d2"}, {"id": "d1"}]})


def test_places_are_expressions() -> None:
    answer = {"data": {"docs": [{"meta": {"key": "a", "sim": 0.5}, "parts": ["x", "y"]}]}}
    where: dict[str, Any] = {
        "results": "data.docs",
        "id": "meta.key",
        "score": "meta.sim",
        "text": "join(' ', parts)",
    }
    (hit,) = read(answer, **where).hits
    assert (hit.doc_id, hit.score, hit.text) == (f"a~{mark('x y')}", 0.5, "x y")


def test_a_part_of_the_results_can_be_taken() -> None:
    answer = {"results": [{"id": "c"}, {"id": "a"}, {"id": "b"}]}
    assert [hit.doc_id for hit in read(answer, results="results[1:]").hits] == ["a", "b"]


def test_results_may_be_plain_texts() -> None:
    hits = read({"results": ["x", "y"]}, id=None, text="@", score=None).hits
    assert [(hit.text, hit.score) for hit in hits] == [("x", 1.0), ("y", 0.5)]


def test_no_more_than_k_results_are_taken() -> None:
    results = [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.4}, {"id": "c", "score": 0.9}]
    hits = read({"results": results}, k=2).hits
    assert [hit.score for hit in hits] == [0.5, 0.4]  # the third is not looked at


# ------------------------------------------------------------------------------------------ scores


def test_scores_that_fall_stay_as_they_are() -> None:
    assert descending_scores([0.9, 0.5, 0.1]) == [0.9, 0.5, 0.1]


def test_equal_scores_differ_by_the_smallest_step() -> None:
    below = math.nextafter(0.5, 0)
    assert descending_scores([0.5, 0.5, 0.5, 0.1]) == [0.5, below, math.nextafter(below, 0), 0.1]


def test_an_order_against_the_scores_stands_and_the_first_has_the_best_score() -> None:
    # from the end: 0.3, max(0.8, 0.3) = 0.8, max(0.2, 0.8) = 0.8, max(0.4, 0.8) = 0.8; then steps
    first, second, third, last = descending_scores([0.4, 0.2, 0.8, 0.3])
    assert (first, last) == (0.8, 0.3)
    assert 0.8 > second > third > 0.8 - 1e-15


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_whatever_the_scores_order_and_best_are_kept(scores: list[float]) -> None:
    found = descending_scores(scores)
    assert found[0] == max(scores)
    assert all(above > below for above, below in pairwise(found))
    # none is higher than the best from its place on
    assert all(each <= max(scores[place:]) for place, each in enumerate(found))


def test_without_scores_the_rank_stands_for_them() -> None:
    hits = read({"results": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}).hits
    assert [hit.score for hit in hits] == [1.0, 1 / 2, 1 / 3]


def test_scores_that_are_not_to_be_read_are_not() -> None:
    hits = read({"results": [{"id": "a", "score": "far"}, {"id": "b"}]}, score=None).hits
    assert [hit.score for hit in hits] == [1.0, 0.5]


def test_a_score_that_only_some_have_is_a_failure() -> None:
    with pytest.raises(SystemFailure, match="Result 2 has no score, and others have"):
        read({"results": [{"id": "a", "score": 1}, {"id": "b"}]})


# ------------------------------------------------------------------------- places that are not there

ELSEWHERE = {"results": [{"_id": "x1", "_score": 0.7, "doc": {"body": "of peace"}}]}
PLACES: dict[str, Any] = {"id": "_id", "score": "_score", "text": "doc.body"}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"text": "doc.content"}, "no text at 'doc.content'; it has _id, _score, doc. Correct text: in the"),
        ({"text": "text"}, "no text at 'text'; it has _id, _score, doc. Correct text: .* write text: null"),
        ({"id": "id"}, "no id at 'id'; it has _id, _score, doc. Correct id: in the study, or write id: null"),
        ({"score": "scoer"}, "no score at 'scoer'; it has _id, _score, doc. .* or write score: null"),
        ({"score": "score"}, "no score at 'score'"),
    ],
)
def test_a_place_that_a_study_names_has_to_be_there(how: dict[str, str], said: str) -> None:
    (hit,) = read(ELSEWHERE, **PLACES).hits
    assert (hit.doc_id, hit.score, hit.text) == (f"x1~{mark('of peace')}", 0.7, "of peace")
    with pytest.raises(SystemFailure, match=f"Result 1 has {said}"):
        read(ELSEWHERE, **{**PLACES, **how})


def test_the_usual_text_has_to_be_there_too_but_for_passages_of_ours() -> None:
    with pytest.raises(SystemFailure, match="Result 2 has no text at 'text'; it has content, id"):
        read({"results": [{"id": "d1"}, {"id": "x", "content": "of peace"}]})
    with pytest.raises(SystemFailure, match="Result 1 has no text at 'text'; it has id"):
        read({"results": [{"id": "d1"}]}, corpus=Corpus(()))


def test_the_usual_id_and_score_may_be_absent() -> None:
    (hit,) = read(ELSEWHERE, text="doc.body").hits
    assert (hit.doc_id, hit.score) == (f"~{mark('of peace')}", 1.0)


def test_what_is_not_to_be_read_need_not_be_there() -> None:
    (hit,) = read(ELSEWHERE, **{**PLACES, "text": None}).hits
    assert (hit.doc_id, hit.text) == ("x1", None)
    (hit,) = read(ELSEWHERE, **{**PLACES, "id": None, "score": None}).hits
    assert (hit.doc_id, hit.score) == (f"~{mark('of peace')}", 1.0)


def test_an_expression_may_say_what_stands_for_what_is_absent() -> None:
    (hit,) = read(ELSEWHERE, **{**PLACES, "text": "doc.content || ''", "score": "scoer || `0`"}).hits
    assert (hit.doc_id, hit.text, hit.score) == (f"x1~{mark('')}", "", 0.0)


def test_an_empty_list_lacks_nothing() -> None:
    assert read({"results": []}, id="_id", text="doc.body", score="_score").hits == []


# ------------------------------------------------------------------------------------------ routes


@pytest.mark.parametrize(
    ("answer", "route"),
    [
        ({"results": [{"id": "a"}]}, "search"),
        ({"results": []}, "no_results"),
        ({"results": [{"id": "a"}], "bridge": True}, "practice_bridge"),
        ({"results": [], "bridge": True, "help": "x"}, "practice_bridge"),  # the first that is true
        ({"results": [], "bridge": False, "help": "x"}, "crisis"),
        ({"results": [], "bridge": 0, "help": ""}, "no_results"),
    ],
)
def test_a_route_is_the_first_that_is_true(answer: Any, route: str) -> None:
    assert read(answer, route={"practice_bridge": "bridge", "crisis": "help"}).route == route


@pytest.mark.parametrize(
    ("given", "route"), [("practice_bridge", "practice_bridge"), (None, "search"), ("", "search")]
)
def test_a_route_may_be_named_by_the_answer(given: Any, route: str) -> None:
    assert read({"results": [{"id": "a"}], "to": {"route": given}}, route="to.route").route == route


def test_a_route_that_is_no_name_is_a_failure() -> None:
    with pytest.raises(SystemFailure, match="route: at 'bridge' there is true, not a route's name"):
        read({"results": [], "bridge": True}, route="bridge")


def test_flags_are_true_false_or_text() -> None:
    answer = {"results": [], "a": True, "b": False, "c": "calm", "d": {"url": "x"}, "e": 1, "f": None}
    flags = read(answer, flags={name: name for name in "abcdefg"}).flags
    assert flags == {"a": True, "b": False, "c": "calm", "d": True, "e": True, "f": False, "g": False}


# ---------------------------------------------------------------------------------- wrong answers


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "no results at 'results': the answer has nothing in it"),
        ({"error": 1, "code": 2}, "the answer has code, error. Correct results"),
        ([], "the answer is a list"),
        ({"results": {"a": 1}}, "At 'results' there is an object, not a list"),
        (
            {"results": [{"id": "a"}, {"id": ["b"]}]},
            "Result 2 has a list at 'id', not text or a whole number",
        ),
        ({"results": [{"id": True}]}, "Result 1 has true at 'id'"),
        ({"results": [{"id": "a", "text": 5}]}, "Result 1 has 5 at 'text', not text"),
        ({"results": [{"id": "a", "score": "0.5"}]}, "Result 1 has '0.5' at 'score', not a number"),
        ({"results": [{"id": "a", "score": True}]}, "Result 1 has true at 'score'"),
        ({"results": [{"id": "a", "score": 10**400}]}, "Result 1 has 1000"),
        ({"results": [{}]}, "Result 1 has no id and no text"),
        ({"results": ["a"]}, "Result 1 has no id and no text"),
    ],
)
def test_what_is_not_as_declared_is_a_failure_that_says_where(answer: Any, said: str) -> None:
    with pytest.raises(SystemFailure, match=said):
        read(answer)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'{"results": [', b'{"results": NaN}', b"\xff\xfe", b"[" * 100_000]
)
def test_what_is_not_json_may_pass(body: bytes) -> None:
    with pytest.raises(Retryable, match="The answer begins"):
        read(body)


def test_a_byte_order_mark_does_no_harm() -> None:
    assert read(b'\xef\xbb\xbf{"results": []}').hits == []


def test_absent_results_can_be_declared_to_be_none() -> None:
    response = read({"bridge": True}, results="results || `[]`", route={"practice_bridge": "bridge"})
    assert (response.hits, response.route) == ([], "practice_bridge")


def test_an_expression_that_cannot_be_applied_is_a_failure_with_its_field() -> None:
    with pytest.raises(SystemFailure, match=r"^text: .*join.* cannot be applied .* has number there"):
        read({"results": [{"id": "a", "text": 5}]}, text="join('', text)")


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"results": "a["}, "results"),
        ({"id": ""}, "id"),
        ({"text": "no_such(text)"}, "text"),
        ({"route": {"bridge": "a b"}}, "route.bridge"),
        ({"flags": {"calm": "]"}}, "flags.calm"),
    ],
)
def test_a_wrong_expression_is_told_when_the_system_is_made(how: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError, match=rf"^{field}: .* is not a JMESPath expression"):
        Http(URL, **how)
