"""Embeddings from an endpoint, asked of a stand-in that answers, refuses and fails as services do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import PluginError, Retryable, SystemFailure, UsageError
from assay.core.parts import Embedder, Vectors
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS, Registry
from assay.retrieval.embed.openai import OpenAI, OpenAIModel
from stand_ins.openai_server import KINDS, Faults, Kind, OpenAIStandIn, Reply, Request, vector

TEXTS = [f"passage number {number} of many" for number in range(100)]  # five words each


def loaded(server: OpenAIStandIn, **params: Any) -> OpenAIModel:
    return OpenAI("stand-in", server.url, **{"backoff": 0.0, "batch": 10, "threads": 1, **params}).load(Kit())


def expected(texts: list[str], dimensions: int = 32) -> Vectors:
    rows = np.stack([vector(text, dimensions) for text in texts])
    scaled: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def test_each_text_gets_its_vector_in_order_and_of_length_one() -> None:
    with OpenAIStandIn() as server:  # it answers in another order than it was asked
        made = loaded(server).embed(TEXTS, "passage")
        assert made.vectors.dtype == np.float32
        assert made.vectors == pytest.approx(expected(TEXTS), abs=1e-6)
        assert server.texts == TEXTS
        assert [len(request.payload["input"]) for request in server.requests] == [10] * 10
        assert server.requests[0].payload.keys() == {"model", "input", "encoding_format"}
        assert server.connections == 1


def test_vectors_in_base64_are_the_same_vectors() -> None:
    with OpenAIStandIn() as numbers, OpenAIStandIn(packed=True) as packed:
        plain, other = (loaded(server).embed(TEXTS, "passage") for server in (numbers, packed))
        assert np.array_equal(plain.vectors, other.vectors)


def test_tokens_are_counted_by_the_service_and_cost_their_price() -> None:
    with OpenAIStandIn() as server:
        made = loaded(server, price=0.13).embed(TEXTS, "passage")
        assert made.tokens == 500
        assert made.cost == pytest.approx(0.000065)  # 500 tokens · 0.13 / 1,000,000
        assert loaded(server).embed(TEXTS, "passage").cost == 0.0


def test_tokens_that_the_service_does_not_count_are_not_free() -> None:
    with OpenAIStandIn() as server:
        answer = {"data": [{"embedding": [1.0]}], "usage": None}
        assert loaded(server)._read(["passage: cats"], answer).tokens == 0
        assert loaded(server, price=1.0)._read(["passage: cats"], answer).tokens == 3  # 13 characters // 4


def test_dimensions_are_asked_for() -> None:
    with OpenAIStandIn() as server:
        assert loaded(server, dimensions=8).embed(TEXTS, "query").vectors.shape == (100, 8)
        assert server.requests[0].payload["dimensions"] == 8


def test_queries_and_passages_have_prefixes_of_their_own() -> None:
    with OpenAIStandIn() as server:
        model = loaded(server, query_prefix="query: ", passage_prefix="passage: ")
        model.embed(["what"], "query")
        model.embed(["that"], "passage")
        assert server.texts == ["query: what", "passage: that"]


def test_it_says_how_many_batches_may_be_in_flight_and_sends_its_own_one_after_another() -> None:
    with OpenAIStandIn(delay=0.01) as server:
        model = loaded(server, threads=4)
        assert (model.batch, model.threads) == (10, 4)
        model.embed(TEXTS, "passage")
        assert (server.calls, server.at_once) == (10, 1)


def test_threads_share_a_model() -> None:
    with OpenAIStandIn(delay=0.01) as server:
        model = loaded(server)
        batches = [TEXTS[start : start + 10] for start in range(0, 100, 10)]
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda batch: model.embed(batch, "passage"), batches))
        assert np.vstack([each.vectors for each in made]) == pytest.approx(expected(TEXTS), abs=1e-6)
        assert 1 < server.at_once <= server.connections <= 4


# ------------------------------------------------------------------------------------------- blank texts


def test_a_blank_text_gets_zeros_and_is_not_sent() -> None:
    with OpenAIStandIn() as server:  # which refuses a batch with such a text in it
        made = loaded(server, passage_prefix="passage: ").embed(["", "one", " \n\t", "two"], "passage")
        assert not made.vectors[[0, 2]].any()
        assert made.vectors[[1, 3]] == pytest.approx(expected(["passage: one", "passage: two"]), abs=1e-6)
        assert server.texts == ["passage: one", "passage: two"]


def test_zeros_have_as_many_dimensions_as_the_model() -> None:
    with OpenAIStandIn() as server:
        model = loaded(server)
        assert model.embed(["", " "], "query").vectors.shape == (2, 32)
        assert server.calls == 1  # somebody had to say that it is 32
        assert model.embed([""], "query").vectors.shape == (1, 32)
        assert loaded(server, dimensions=8).embed([""], "query").vectors.shape == (1, 8)
        assert server.calls == 1


def test_no_texts_are_no_vectors() -> None:
    with OpenAIStandIn() as server:
        model = loaded(server)
        assert len(model.embed([], "passage").vectors) == 0
        model.embed(["one"], "passage")
        assert model.embed([], "passage").vectors.shape == (0, 32)
        assert server.calls == 1


@given(st.lists(st.sampled_from(["", " ", "a", "b c", "d e f"]), max_size=12), st.integers(1, 5))
@settings(max_examples=25)
def test_blank_texts_anywhere_move_no_other(texts: list[str], batch: int) -> None:
    with OpenAIStandIn(dimensions=4, token_limit=4) as server:
        made = loaded(server, batch=batch, dimensions=4).embed(texts, "passage")
    zeros = np.zeros(4)
    rows = [expected([text], 4)[0] if text.strip() else zeros for text in texts]
    assert made.vectors == pytest.approx(np.reshape(rows, (len(texts), 4)), abs=1e-6)
    assert made.tokens == sum(len(text.split()) for text in texts)


# ---------------------------------------------------------------------------------------------- too large


def test_a_batch_of_too_many_texts_is_halved() -> None:
    with OpenAIStandIn(batch_limit=3) as server:
        made = loaded(server).embed(TEXTS[:10], "passage")
        assert made.vectors == pytest.approx(expected(TEXTS[:10]), abs=1e-6)
        # 10 is refused; of its halves of 5, each is refused and becomes 2 + 3
        assert [len(request.payload["input"]) for request in server.requests] == [10, 5, 2, 3, 5, 2, 3]
        assert made.tokens == 50


def test_a_batch_of_too_many_tokens_is_halved() -> None:
    with OpenAIStandIn(token_limit=10) as server:
        made = loaded(server, batch=4).embed(["a a a a a a", "b", "c c", "d"], "passage")
        assert made.vectors == pytest.approx(expected(["a", "b", "c", "d"]), abs=1e-6)
        # 10 words would pass, and do: 6 + 1 + 2 + 1
        assert server.calls == 1
        loaded(server, batch=4).embed(["a a a a a a", "b b b b b", "c c", "d"], "passage")
        # 14 are refused, and 6 + 5; alone each passes, and 2 + 1 together
        assert [len(request.payload["input"]) for request in server.requests[1:]] == [4, 2, 1, 1, 2]


def test_a_text_that_is_too_long_by_itself_is_told_plainly() -> None:
    with OpenAIStandIn(token_limit=10) as server:
        with pytest.raises(SystemFailure) as raised:
            loaded(server).embed(["short", "long " * 400], "passage")
        message = str(raised.value)
        assert message.startswith("A text of 2,000 characters is refused.")
        assert "answers 400 Bad Request: Requested 400 tokens, max 10 tokens per request." in message
        assert message.endswith("If it is too long, cut it into smaller ones.")
        assert server.texts == ["short"]


def test_dimensions_that_are_refused_cost_one_call() -> None:
    class Short(OpenAIStandIn):
        def reply(self, request: Request, fault: Kind | None) -> Reply:
            said = "Invalid value for 'dimensions'. Must be less than or equal to 1536."
            return Reply({"error": {"message": said}}, 400)

    with Short() as server:
        with pytest.raises(SystemFailure, match="answers 400 Bad Request: Invalid value for 'dimensions'"):
            loaded(server, dimensions=4096).embed(TEXTS[:10], "passage")
        assert server.calls == 1


def test_a_refusal_for_another_reason_is_not_halved() -> None:
    with OpenAIStandIn(key="right") as server:
        with pytest.raises(SystemFailure, match="answers 401 Unauthorized"):
            loaded(server).embed(TEXTS[:10], "passage")
        assert server.calls == 1


# ------------------------------------------------------------------------------------------------- faults


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_one_call_in_ten_that_fails_changes_nothing(kind: Kind) -> None:
    patience = 0.5 if kind in {"hang", "drip"} else 30.0
    with OpenAIStandIn(Faults(kind, every=10)) as server:
        made = loaded(server, batch=5, timeout=patience).embed(TEXTS, "passage")
        assert made.vectors == pytest.approx(expected(TEXTS), abs=1e-6)
        assert made.tokens == 500
        assert server.texts == TEXTS
        assert (server.calls, server.failed) == (22, 2)  # 20 batches; calls 10 and 20 failed


def test_faults_of_every_kind_by_chance_change_nothing() -> None:
    kinds = [kind for kind in KINDS if kind not in {"hang", "drip"}]
    with OpenAIStandIn(Faults(kinds, share=0.3, seed=4), packed=True) as server:
        made = loaded(server, batch=2, retries=30, dimensions=32).embed(TEXTS, "passage")
        assert made.vectors == pytest.approx(expected(TEXTS), abs=1e-6)
        assert server.failed > 5
        assert server.texts == TEXTS


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("500", "500 Internal Server Error: something broke"),
        ("count", "9 vectors for 10 texts"),
        ("nan", "a vector holds NaN or infinity"),
    ],
)
def test_when_every_call_fails_it_says_why_and_may_be_tried_again(kind: Kind, cause: str) -> None:
    with OpenAIStandIn(Faults(kind, every=1), packed=True) as server:
        with pytest.raises(Retryable, match=f"nothing of use in 3 attempts. The last: {cause}"):
            loaded(server, retries=2).embed(TEXTS[:10], "passage")
        assert server.calls == 3


def test_vectors_of_another_length_than_before_mean_another_model() -> None:
    with OpenAIStandIn() as server:
        model = loaded(server, retries=1)
        model.embed(["one"], "passage")
        server.dimensions = 16
        with pytest.raises(SystemFailure, match=r"vectors of 16 dimensions, not of 32\. Another model"):
            model.embed(["two"], "passage")
        assert server.calls == 3


def test_a_service_that_does_not_heed_dimensions_is_told_of() -> None:
    with OpenAIStandIn(Faults("dimension", every=1)) as server:
        model = loaded(server, dimensions=8, retries=0)
        with pytest.raises(SystemFailure, match=r"vectors of 9 dimensions, not of 8\..* takes `dimensions`"):
            model.embed(["one"], "passage")


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (
            [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}],
            "2 vectors for 2 texts",
        ),
        (
            [{"index": 0, "embedding": [1.0]}, {"index": 2, "embedding": [1.0]}],
            "2 vectors for 2 texts",
        ),
        ([{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}], "of different lengths"),
        ([{"index": 0, "embedding": []}, {"index": 1, "embedding": []}], "an empty vector"),
        ([{"index": 0, "embedding": ["a"]}, {"index": 1, "embedding": [1.0]}], "Expected `float`"),
        ([{"index": 0, "embedding": "A"}, {"index": 1, "embedding": "AAAA"}], "base64"),
        ([{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}], "buffer size"),
        ([{"index": 0, "embedding": [0.0]}, {"index": 1, "embedding": [1.0]}], "a vector of zeros"),
        ([{"index": 0, "embedding": [1e-200]}, {"index": 1, "embedding": [1.0]}], "a vector of zeros"),
        ([{"index": 0, "embedding": [1e200]}, {"index": 1, "embedding": [1.0]}], "NaN or infinity"),
        ([{"index": 0, "embedding": "AAAAAA=="}, {"index": 1, "embedding": [1.0]}], "a vector of zeros"),
        ([{"index": 0}, {"index": 1}], "missing required field `embedding`"),
        ("none", "Expected `array`"),
    ],
)
def test_an_answer_that_is_not_a_vector_a_text_is_not_taken(data: Any, cause: str) -> None:
    with OpenAIStandIn() as server, pytest.raises(ValueError, match=cause):
        loaded(server)._read(["one", "two"], {"data": data})


def test_vectors_without_numbers_stand_in_the_order_of_the_texts() -> None:
    with OpenAIStandIn() as server:
        answer = {"data": [{"embedding": [1.0, 0.0]}, {"embedding": [0.0, 2.0]}], "usage": None}
        made = loaded(server)._read(["one", "two"], answer)
        assert (made.vectors.tolist(), made.tokens) == ([[1.0, 0.0], [0.0, 1.0]], 0)


def test_small_and_large_numbers_keep_their_direction() -> None:
    with OpenAIStandIn() as server:  # their squares leave float32, which ends at 1e-45 and 3e38
        answer = {"data": [{"embedding": [3e-30, 4e-30]}, {"embedding": [3e30, 4e30]}]}
        made = loaded(server)._read(["one", "two"], answer)
        assert made.vectors == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8]]), abs=1e-7)


# ------------------------------------------------------------------------------------------- keys and names


def test_the_key_is_sent_and_never_shown() -> None:
    with OpenAIStandIn(key="sk-right") as server:
        assert len(loaded(server, key="sk-right").embed(["one"], "query").vectors) == 1
        part = OpenAI("stand-in", server.url, key="sk-wrong-0123")
        with pytest.raises(SystemFailure, match=r"Incorrect API key provided: …\. Check the key\.") as raised:
            part.load(Kit()).embed(["one"], "query")
        assert "sk-wrong" not in f"{raised.value} {part!r} {part.identity(Kit())}"


def test_whatever_may_change_a_vector_changes_the_identity_and_nothing_else_does() -> None:
    part = OpenAI("small", "https://ann:pw@host:8443/v1/?version=1&key=7")
    assert part.identity(Kit()) == 'openai 1 https://host:8443/v1?version=1 ["small",null,"",""]'
    changed = [
        OpenAI("large", part.url),
        OpenAI("small", "https://host/v1"),
        OpenAI("small", "https://host:8443/v1/?version=2"),
        OpenAI("small", part.url, dimensions=8),
        OpenAI("small", part.url, query_prefix="q"),
        OpenAI("small", part.url, passage_prefix="q"),
    ]
    assert len({each.identity(Kit()) for each in [part, *changed]}) == 7
    alike = OpenAI("small", part.url, key="k", batch=1, threads=1, price=1, timeout=1, retries=1, backoff=1)
    assert alike.identity(Kit()) == part.identity(Kit()) == part.load(Kit()).identity


def test_its_identity_is_told_before_a_secret_address_is_filled_in() -> None:
    assert "${EMBED_SECRET_URL}" in OpenAI("small", "${EMBED_SECRET_URL}").identity(Kit())


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"batch": 0}, "batch is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"dimensions": 0}, "dimensions is 0"),
        ({"price": -1}, "price is -1"),
        ({"timeout": 0}, "timeout is 0"),
        ({"url": "localhost"}, "'localhost' is not the address of a service"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        OpenAI("small", **params)


def test_a_study_names_it_with_its_parameters() -> None:
    registry = Registry({EMBEDDERS: {"openai": OpenAI}})
    part = registry.create(EMBEDDERS, "openai(model=small, url=http://localhost:1/v1, key=k, dimensions=8)")
    assert part == OpenAI("small", "http://localhost:1/v1", "k", 8)
    assert isinstance(part, Embedder)
    with pytest.raises(PluginError, match="needs more parameters"):
        registry.create(EMBEDDERS, "openai")
