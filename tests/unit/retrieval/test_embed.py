"""The static embedding model."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from assay.errors import UsageError
from assay.retrieval.embed import StaticEmbedder, load_embedder

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def test_a_text_is_the_direction_of_the_mean_of_its_tokens() -> None:
    tokenizer = Tokenizer(models.WordLevel({"cat": 0, "dog": 1, "fish": 2}))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    embedder = StaticEmbedder("toy", np.array([[1, 0], [0, 1], [5, 5]], dtype=np.float32), tokenizer)
    # cat cat cat dog: mean (0.75, 0.25), length √0.625 = 0.790569, so (0.948683, 0.316228)
    vectors = embedder.embed(["cat cat cat dog", "", "dog"])
    assert vectors == pytest.approx(np.array([[0.948683, 0.316228], [0, 0], [0, 1]]), abs=1e-6)
    assert vectors.dtype == np.float32


def test_agrees_with_the_package_it_comes_from() -> None:
    from safetensors.numpy import load
    from wordllama.inference import WordLlamaInference

    from assay.retrieval.embed import _TOKENIZER, _WEIGHTS, _packaged

    (table,) = load(_packaged(_WEIGHTS).read_bytes()).values()
    theirs = WordLlamaInference(table, Tokenizer.from_file(str(_packaged(_TOKENIZER))))
    texts = ["a cat", "The dogs bark loudly at night, <pad> they say.", "Zürich 2024 — naïve 弘", "x" * 5000]
    assert load_embedder("static").embed(texts) == pytest.approx(theirs.embed(texts, norm=True), abs=1e-6)


def test_near_in_meaning_is_near_in_angle() -> None:
    cat, kitten, tax = load_embedder("static").embed(
        ["a cat on a sofa", "kittens sleeping", "income tax return form"]
    )
    assert cat @ kitten > cat @ tax


@given(st.lists(words, max_size=6))
@settings(max_examples=50, deadline=None)
def test_a_batch_gives_what_its_texts_give_alone(texts: list[str]) -> None:
    embedder = load_embedder("static")
    together = embedder.embed(texts)
    assert together.shape == (len(texts), 256)
    for vector, text in zip(together, texts, strict=True):
        assert vector.tolist() == embedder.embed([text])[0].tolist()
        assert np.linalg.norm(vector) == pytest.approx(1.0 if text else 0.0, abs=1e-6)


def test_more_texts_than_one_batch_keep_their_rows() -> None:
    texts = [f"number {n}" for n in range(2500)]
    vectors = load_embedder("static").embed(texts)
    assert (
        vectors[[0, 1023, 1024, 2499]].tolist()
        == load_embedder("static").embed([texts[n] for n in (0, 1023, 1024, 2499)]).tolist()
    )


def test_the_identity_is_a_hash_that_stays() -> None:
    code = (
        "import sys; from assay.retrieval.embed import load_embedder; "
        "print(load_embedder('static').identity, 'wordllama' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    printed = done.stdout.split()
    assert printed == [load_embedder("static").identity, "False"]
    assert len(load_embedder("static").identity) == 32


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'static'"):
        load_embedder("statik")
