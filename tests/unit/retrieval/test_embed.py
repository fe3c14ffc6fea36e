"""The static embedding model."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from assay.core.errors import DataError, PluginError
from assay.core.parts import Embedder, TokenModel, normalize_rows
from assay.core.protocols import Kit
from assay.retrieval.embed import static
from assay.retrieval.embed.static import StaticEmbedder, StaticModel

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return StaticEmbedder().load(Kit())


def toy() -> StaticModel:
    tokenizer = Tokenizer(models.WordLevel({"cat": 0, "dog": 1, "fish": 2}))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return StaticModel("toy", np.array([[1, 0], [0, 1], [3, 4]], dtype=np.float32), tokenizer)


def test_a_text_is_the_direction_of_the_mean_of_its_tokens() -> None:
    # cat cat cat dog: mean (0.75, 0.25), length √0.625 = 0.790569, so (0.948683, 0.316228)
    vectors, tokens, cost = toy().embed(["cat cat cat dog", "", "dog"], "passage")
    assert vectors == pytest.approx(np.array([[0.948683, 0.316228], [0, 0], [0, 1]]), abs=1e-6)
    assert vectors.dtype == np.float32
    assert (tokens, cost) == (5, 0.0)


def test_a_token_is_its_row_of_the_table_at_length_one() -> None:
    fish, empty, pair = toy().embed_tokens(["fish", "", "dog fish"], "query")
    assert fish == pytest.approx(np.array([[0.6, 0.8]]))  # (3, 4) / 5
    assert empty.shape == (0, 2)
    assert pair == pytest.approx(np.array([[0, 1], [0.6, 0.8]]))
    assert toy().embed_tokens([], "query") == []
    assert [len(each) for each in toy().embed_tokens([""], "query")] == [0]


def test_is_what_a_part_has_to_be(model: StaticModel) -> None:
    assert isinstance(StaticEmbedder(), Embedder)
    assert isinstance(model, TokenModel)
    assert model.batch == 1024
    assert StaticEmbedder().load(Kit()) is model, "read once a process"


def test_agrees_with_the_package_it_comes_from(model: StaticModel) -> None:
    from safetensors.numpy import load
    from wordllama.inference import WordLlamaInference

    weights, tokenizer = static._packaged_file(static._WEIGHTS), static._packaged_file(static._TOKENIZER)
    (table,) = load(weights.read_bytes()).values()
    theirs = WordLlamaInference(table, Tokenizer.from_file(str(tokenizer)))
    texts = ["a cat", "The dogs bark loudly at night, <pad> they say.", "Zürich 2024 — naïve 弘", "x" * 5000]
    assert model.embed(texts, "query").vectors == pytest.approx(theirs.embed(texts, norm=True), abs=1e-6)


def test_near_in_meaning_is_near_in_angle(model: StaticModel) -> None:
    texts = ["a cat on a sofa", "kittens sleeping", "income tax return form"]
    cat, kitten, tax = model.embed(texts, "passage").vectors
    assert cat @ kitten > cat @ tax


@given(st.lists(words, max_size=6))
@settings(max_examples=50)
def test_a_batch_gives_what_its_texts_give_alone(texts: list[str]) -> None:
    model = StaticEmbedder().load(Kit())
    together, tokens, _ = model.embed(texts, "passage")
    alone = [model.embed([text], "query") for text in texts]
    assert together.shape == (len(texts), 256)
    assert together.tolist() == [vector.tolist() for each in alone for vector in each.vectors]
    assert tokens == sum(each.tokens for each in alone)
    for vector, text in zip(together, texts, strict=True):
        assert np.linalg.norm(vector) == pytest.approx(1.0 if text else 0.0, abs=1e-6)


@given(words)
@settings(max_examples=30)
def test_there_is_a_row_of_length_one_for_each_token(text: str) -> None:
    model = StaticEmbedder().load(Kit())
    (rows,) = model.embed_tokens([text], "passage")
    assert len(rows) == model.embed([text], "passage").tokens
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-6)


def test_more_texts_than_one_batch_keep_their_rows(model: StaticModel) -> None:
    texts = [f"number {n}" for n in range(2500)]
    some = [0, 1023, 1024, 2499]
    vectors = model.embed(texts, "passage").vectors[some]
    assert vectors.tolist() == model.embed([texts[n] for n in some], "passage").vectors.tolist()


def test_the_identity_is_a_hash_that_stays_and_is_told_without_loading() -> None:
    code = (
        "import sys; from assay.core.protocols import Kit; "
        "from assay.retrieval.embed.static import StaticEmbedder; "
        "print(StaticEmbedder().identity(Kit()), {'wordllama', 'tokenizers'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    identity, modules = done.stdout.split(maxsplit=1)
    assert identity == StaticEmbedder().identity(Kit()) == StaticEmbedder().load(Kit()).identity
    assert modules.strip() == "set()"
    assert len(identity) == 32


def test_a_package_that_is_not_there_or_has_no_weights_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "find_spec", lambda _: None)
    with pytest.raises(PluginError, match="pip install wordllama"):
        static._packaged_file("weights")
    monkeypatch.undo()
    with pytest.raises(PluginError, match=r"wordllama has no nothing\.bin"):
        static._packaged_file("nothing.bin")


def test_rows_get_length_one_and_zeros_stay() -> None:
    assert normalize_rows([[3, 4], [0, 0]]) == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))
    odd = np.array([[3e-30, 4e-30], [3e30, 4e30]], dtype=np.float32)  # whose squares leave float32
    assert normalize_rows(odd) == pytest.approx(np.array([[0.6, 0.8]] * 2))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_row_that_is_not_finite_is_named(wrong: float) -> None:
    with pytest.raises(DataError, match="row 1: a vector holds NaN or infinity"):
        normalize_rows([[1.0, 2.0], [wrong, 0.0]])
