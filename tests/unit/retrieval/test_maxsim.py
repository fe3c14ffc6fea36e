"""Late interaction: the mean over the query's tokens of the best cosine in the passage."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.parts import Embedder, EmbeddingResult, Model, Reranker, Role, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS, RERANKERS, Registry
from assay.retrieval.embed.static import RecentArrays, StaticEmbedder
from assay.retrieval.rerankers import Halves, LateInteraction, MaxSim

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
