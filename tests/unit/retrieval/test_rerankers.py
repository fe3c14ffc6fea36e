"""Late interaction: the mean over the query's tokens of the best cosine in the passage."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.parts import Embedder, EmbeddingResult, Model, Reranker, Role, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS, RERANKERS, Registry
from assay.retrieval.embed.static import RecentArrays, StaticEmbedder
from assay.retrieval.rerankers import EndpointScorer, Halves, LateInteraction, MaxSim, RerankEndpoint
from stand_ins.openai_server import KINDS, Faults, Kind, OpenAIStandIn

ANGLES = {"east": 0, "north": 90, "west": 180, "northeast": 45, "south": 270, "steep": 60}


class Compass:
    """A model of words in the plane: a vector a word. It remembers what it was asked."""

    identity = "compass"
    batch = 8

    def __init__(self) -> None:
        self.asked: list[tuple[Role, list[str]]] = []

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        return EmbeddingResult(
            normalize_rows([matrix.sum(axis=0) for matrix in self.embed_tokens(texts, role)])
        )

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        self.asked.append((role, list(texts)))
        turned = [np.radians([ANGLES[word] for word in text.split()]) for text in texts]
        return [np.column_stack([np.cos(each), np.sin(each)]).astype(np.float32) for each in turned]


class OneVector:
    """A model that gives a vector a text and says nothing of tokens."""

    identity = "one"
    batch = 8

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        return EmbeddingResult(np.ones((len(texts), 1), np.float32))


@dataclass(frozen=True)
class Fake:
    """A part that gives a model made beforehand."""

    version: ClassVar[str] = "1"
    model: Model = field(default_factory=Compass)

    def load(self, kit: Kit) -> Model:
        return self.model

    def identity(self, kit: Kit) -> str:
        return self.model.identity


def scores(query: str, *texts: str) -> list[float]:
    return LateInteraction(Compass()).scores(query, texts).scores.tolist()


def test_each_query_token_counts_with_the_token_most_like_it() -> None:
    found = scores("east north", "east", "northeast", "north west", "steep east")
    # east:        east with east 1, north with east 0                   (1 + 0) / 2
    # northeast:   both at 45°: cos 45° = 0.7071                         (0.7071 + 0.7071) / 2
    # north west:  east with north 0 (with west -1), north with north 1  (0 + 1) / 2
    # steep east:  east with east 1, north with steep cos 30° = 0.8660   (1 + 0.8660) / 2
    assert found == pytest.approx([0.5, 0.7071, 0.5, 0.9330], abs=5e-4)


def test_a_longer_query_scores_no_higher_by_its_length() -> None:
    assert scores("east", "steep") == scores("east east east", "steep")


def test_what_points_the_other_way_counts_nothing() -> None:
    # east with west: -1, which counts 0; north with west: 0
    assert scores("east north", "west") == pytest.approx([0.0], abs=1e-4)
    assert scores("east", "west") == [0.0]


def test_a_query_or_a_text_without_a_token_scores_nought() -> None:
    assert scores("", "east", "") == [0.0, 0.0]
    assert scores("east", "", "east", "", "north east", "") == pytest.approx([0, 1, 0, 1, 0])
    assert scores("east", "", "") == [0.0, 0.0]
    assert scores("east") == []


def test_a_text_runs_through_the_model_once() -> None:
    model = Compass()
    scorer = LateInteraction(model)
    first = scorer.scores("east", ["north", "steep east", "north"])
    again = scorer.scores("north", ["north", "west", "steep east"])
    assert model.asked == [
        ("query", ["east"]),
        ("passage", ["north", "steep east"]),
        ("query", ["north"]),
        ("passage", ["west"]),
    ]
    # the query's token and three of the passages; the query's and one more
    assert (first.tokens, again.tokens) == (4, 2)


def test_keeps_what_was_used_last() -> None:
    def matrix(rows: int) -> np.ndarray:
        return np.zeros((rows, 4), np.float16)  # 8 bytes a row

    kept = RecentArrays[Halves](size=51)  # three matrices of two rows, and a letter each
    kept.put({"a": matrix(2), "b": matrix(2), "c": matrix(2)})
    assert list(kept.get(["a", "b", "c"])) == ["a", "b", "c"]
    kept.get(["a"])
    kept.put({"d": matrix(1)})  # b was used longest ago
    assert list(kept.get(["a", "b", "c", "d"])) == ["a", "c", "d"]
    kept.put({"d": matrix(1)})  # again the same takes no more room
    assert list(kept.get(["a", "c", "d"])) == ["a", "c", "d"]
    kept.put({"e": matrix(7)})  # larger than all the room
    assert kept.get(["a", "c", "d", "e"]) == {}
    kept.put({"f": matrix(6)})
    assert list(kept.get(["f"])) == ["f"]


def test_scores_the_same_with_little_room_and_among_threads() -> None:
    words = list(ANGLES)
    texts = [f"{one} {other}" for one in words for other in words]
    expected = LateInteraction(Compass()).scores("steep north", texts).scores.tolist()
    small = LateInteraction(Compass(), kept_bytes=100)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: small.scores("steep north", texts), range(50)):
            assert found.scores.tolist() == expected


class Table:
    """A model whose texts are names of matrices."""

    def __init__(self, matrices: dict[str, Vectors]) -> None:
        self.matrices = matrices

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        return [self.matrices[text] for text in texts]


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 12), st.lists(st.integers(0, 9), max_size=150),
    st.sampled_from([1, 3, 64]),
)  # fmt: skip
@settings(max_examples=50)
def test_is_its_definition_and_the_same_in_every_batch(
    seed: int, asked: int, lengths: list[int], dims: int
) -> None:
    generator = np.random.default_rng(seed)
    matrices = {f"{n}": normalize_rows(generator.normal(size=(rows, dims))) for n, rows in enumerate(lengths)}
    query = normalize_rows(generator.normal(size=(asked, dims)))
    texts = list(matrices)
    found = LateInteraction(Table({"query": query} | matrices)).scores("query", texts).scores
    for text, score in zip(texts, found.tolist(), strict=True):
        cosines = [[max(0.0, float(np.dot(q, t))) for t in matrices[text]] for q in query]
        best = [max(row, default=0.0) for row in cosines]
        assert score == pytest.approx(sum(best) / len(best), abs=1e-3)  # float16
        alone = LateInteraction(Table({"query": query} | matrices)).scores("query", [text]).scores
        assert alone.tolist() == [score]


def test_float16_costs_less_than_a_ten_thousandth_on_real_vectors() -> None:
    pytest.importorskip("wordllama", reason="the static model comes with it")
    model = StaticEmbedder().load(Kit())
    texts = ["Aspirin lowers the risk of a second heart attack.", "Zinc shortens colds.", "The dog barks."]
    found = LateInteraction(model).scores("does aspirin protect the heart?", texts).scores
    (query,) = model.embed_tokens(["does aspirin protect the heart?"], "query")
    exact = [(query @ matrix.T).max(axis=1).mean() for matrix in model.embed_tokens(texts, "passage")]
    assert found == pytest.approx(exact, abs=1e-4)
    assert found.argmax() == 0


# --------------------------------------------------------------------------- as a part


def test_uses_the_model_of_the_system_it_serves_or_its_own() -> None:
    theirs, own = Compass(), Compass()
    MaxSim().load(Fake(theirs), Kit()).scores("east", ["east"])
    MaxSim(Fake(own)).load(Fake(theirs), Kit()).scores("east", ["north"])
    assert ("passage", ["east"]) in theirs.asked
    assert ("passage", ["north"]) in own.asked
    assert ("passage", ["north"]) not in theirs.asked


def test_is_known_by_its_own_model() -> None:
    assert MaxSim(Fake()).identity(Kit()) == "compass"
    assert MaxSim().identity(Kit()) == ""


def test_says_what_to_write_where_a_model_has_no_token_vectors() -> None:
    with pytest.raises(UsageError, match=r"Fake gives one vector .* Write maxsim\(model=static\)"):
        MaxSim().load(Fake(OneVector()), Kit())


def test_is_made_from_what_a_study_says() -> None:
    registry = Registry({RERANKERS: {"maxsim": MaxSim}, EMBEDDERS: {"static": StaticEmbedder}})
    assert registry.create(RERANKERS, "maxsim") == MaxSim()
    made = registry.create(RERANKERS, "maxsim(model=static)")
    assert made == MaxSim(StaticEmbedder())
    assert isinstance(made, Reranker)
    assert isinstance(made.model, Embedder)


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
