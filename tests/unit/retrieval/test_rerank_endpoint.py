"""Reranking by an endpoint, asked of a stand-in in both forms there are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest

from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.parts import Reranker
from assay.core.protocols import Kit
from assay.core.registry import RERANKERS, Registry
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.rerankers import EndpointScorer, RerankEndpoint
from stand_ins.openai_server import KINDS, Faults, Kind, OpenAIStandIn

QUERY = "red green blue"
TEXTS = ["a green door", "nothing", "red and blue and green", "a red door of blue"]
SCORES = [1 / 3, 0.0, 1.0, 2 / 3]  # the share of the query's words that each text has

Form = Literal["documents", "texts"]
FORMS: list[Form] = ["documents", "texts"]


def loaded(server: OpenAIStandIn, **params: Any) -> EndpointScorer:
    return RerankEndpoint(server.url, **{"backoff": 0.0, **params}).load(StaticEmbedder(), Kit())


@pytest.mark.parametrize("form", FORMS)
def test_each_text_gets_its_score_though_the_best_come_first(form: Form) -> None:
    with OpenAIStandIn() as server:
        found = loaded(server, form=form).scores(QUERY, TEXTS)
        assert found.scores.tolist() == pytest.approx(SCORES)
        assert server.pairs == [(QUERY, text) for text in TEXTS]


def test_the_request_has_the_form_that_the_service_reads() -> None:
    with OpenAIStandIn() as server:
        loaded(server, model="small").scores(QUERY, TEXTS)
        loaded(server, form="texts").scores(QUERY, TEXTS)
        jina, tei = (request.payload for request in server.requests)
        assert jina == {"model": "small", "query": QUERY, "documents": TEXTS}
        assert tei == {"query": QUERY, "texts": TEXTS}


def test_tokens_are_counted_where_the_service_does_and_cost_their_price() -> None:
    with OpenAIStandIn() as server:
        # the query's 3 words with each of 4 texts, and the texts' 3 + 1 + 5 + 5
        found = loaded(server, price=2.0).scores(QUERY, TEXTS)
        assert found.tokens == 26
        assert found.cost == pytest.approx(0.000052)
        assert loaded(server, form="texts").scores(QUERY, TEXTS).tokens == 0
        # four characters a token, the query's 14 with each text: 26 // 4, 21 // 4, 36 // 4, 32 // 4
        estimated = loaded(server, price=2.0, form="texts").scores(QUERY, TEXTS)
        assert estimated.tokens == 6 + 5 + 9 + 8
        assert estimated.cost == pytest.approx(0.000056)


def test_scores_under_the_name_that_voyage_gives_them_are_found() -> None:
    with OpenAIStandIn(rerank_field="data") as server:
        found = loaded(server, model="rerank").scores(QUERY, TEXTS)
        assert found.scores.tolist() == pytest.approx(SCORES)
        assert found.tokens == 26


@pytest.mark.parametrize("form", FORMS)
def test_more_texts_than_a_service_takes_are_scored_in_parts(form: Form) -> None:
    with OpenAIStandIn(batch_limit=1) as server:
        found = loaded(server, form=form).scores(QUERY, [*TEXTS, " "])
        assert found.scores.tolist() == pytest.approx([*SCORES, 0.0])
        assert server.calls == 7  # 4 and twice 2 are refused; 4 times 1 passes
        assert found.tokens == (26 if form == "documents" else 0)


def test_a_blank_text_is_not_sent_and_is_no_better_than_any_other() -> None:
    with OpenAIStandIn() as server:  # which refuses blank texts
        found = loaded(server).scores(QUERY, ["", "red", " \n", "red green"])
        assert found.scores.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3])
        assert [text for _, text in server.pairs] == ["red", "red green"]


@pytest.mark.parametrize(("query", "texts"), [(" ", TEXTS), (QUERY, ["", " "]), (QUERY, [])])
def test_nothing_to_compare_is_not_asked(query: str, texts: list[str]) -> None:
    with OpenAIStandIn() as server:
        found = loaded(server).scores(query, texts)
        assert found.scores.tolist() == [0.0] * len(texts)
        assert (found.tokens, server.calls) == (0, 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"hang", "drip", "dimension"}])
def test_one_call_in_ten_that_fails_changes_nothing(kind: Kind, form: Form) -> None:
    with OpenAIStandIn(Faults(kind, every=10)) as server:
        scorer = loaded(server, form=form)
        for _ in range(10):
            assert scorer.scores(QUERY, TEXTS).scores.tolist() == pytest.approx(SCORES)
        assert (server.calls, server.failed) == (11, 1)


@pytest.mark.parametrize("form", FORMS)
def test_a_text_without_a_score_may_be_tried_again_later(form: Form) -> None:
    with OpenAIStandIn(Faults("count", every=1)) as server:
        with pytest.raises(Retryable, match=r"in 3 attempts\. The last: 3 scores for 4 texts"):
            loaded(server, form=form, retries=2).scores(QUERY, TEXTS)
        assert server.calls == 3


def test_threads_share_it() -> None:
    with OpenAIStandIn(delay=0.01) as server:
        scorer = loaded(server)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda text: scorer.scores(QUERY, [text]), TEXTS * 5))
        assert [each.scores[0] for each in found] == pytest.approx(SCORES * 5)
        assert 1 < server.at_once <= server.connections <= 4


def test_the_key_is_sent_and_never_shown() -> None:
    with OpenAIStandIn(key="sk-right") as server:
        assert len(loaded(server, key="sk-right").scores(QUERY, TEXTS).scores) == 4
        part = RerankEndpoint(server.url, key="sk-wrong-0123")
        with pytest.raises(SystemFailure, match="Check the key") as raised:
            part.load(StaticEmbedder(), Kit()).scores(QUERY, TEXTS)
        assert "sk-wrong" not in f"{raised.value} {part!r} {part.identity(Kit())}"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"url": "localhost"}, "is not the address of a service"),
        ({"price": -1.0}, "price is -1"),
        ({"retries": -1}, "retries is -1"),
        ({"form": "pairs"}, "form is 'pairs'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RerankEndpoint(**{"url": "http://localhost", **params})


def test_a_study_names_it_with_its_parameters() -> None:
    registry = Registry({RERANKERS: {"rerank_endpoint": RerankEndpoint}})
    part = registry.create(RERANKERS, "rerank_endpoint(url=http://localhost:1/v1, model=small)")
    assert part == RerankEndpoint("http://localhost:1/v1", "small")
    assert isinstance(part, Reranker)
    assert part.identity(Kit()) == "rerank 1 http://localhost:1/v1 small"
