"""A BERT of two layers and eight dimensions, with weights of its own, and what it has to answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy.special import erf, softmax
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from assay.core.protocols import Kit
from assay.retrieval.embed.onnx import Onnx, OnnxModel

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", ":", "cat", "dog", "fish", "sleeps", "on", "a", "sofa"]
SIZES = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 2, "max_position_embeddings": 16}
CONFIG = {"model_type": "bert", "hidden_act": "gelu", "pad_token_id": 0, "layer_norm_eps": 1e-12, **SIZES}


def make_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token=WORDS[1]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=10)
    tokenizer.enable_truncation(6)
    return tokenizer


def make_weights(seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Random weights, under the names that transformers gives them."""
    generator = np.random.default_rng(seed)
    hidden, wide = SIZES["hidden_size"], 20
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), hidden),
        "embeddings.position_embeddings.weight": (SIZES["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(SIZES["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        narrow = [f"attention.self.{part}" for part in ("query", "key", "value")] + ["attention.output.dense"]
        for name in narrow:
            shapes |= {f"{layer}.{name}.weight": (hidden, hidden), f"{layer}.{name}.bias": (hidden,)}
        shapes |= {f"{layer}.intermediate.dense.weight": (wide, hidden)}
        shapes |= {f"{layer}.intermediate.dense.bias": (wide,)}
        shapes |= {f"{layer}.output.dense.weight": (hidden, wide), f"{layer}.output.dense.bias": (hidden,)}
    for name in norms:
        shapes |= {f"{name}.weight": (hidden,), f"{name}.bias": (hidden,)}
    weights = {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    for name in norms:
        weights[f"{name}.weight"] += 2  # so that no direction drowns what the tokens say to each other
    return weights


def write_model(place: Path) -> Path:
    """The tiny model in a folder of its own, saved as transformers saves one."""
    place.mkdir(parents=True)
    save_file(make_weights(), place / "model.safetensors")
    (place / "config.json").write_text(json.dumps(CONFIG))
    make_tokenizer().save(str(place / "tokenizer.json"))
    return place


def load(folder: Path, **params: Any) -> OnnxModel:
    return Onnx(folder.name, **params).load(Kit(root=folder.parent))


def hidden_states(weights: dict[str, NDArray[np.float32]], ids: list[int]) -> NDArray[np.float64]:
    """The encoder written out for one text without padding: what the graph has to say."""
    tensors = {name: tensor.astype(np.float64) for name, tensor in weights.items()}

    def dense(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def normed(name: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + CONFIG["layer_norm_eps"])
        return centred / spread * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    tokens = tensors["embeddings.word_embeddings.weight"][ids]
    places = tensors["embeddings.position_embeddings.weight"][: len(ids)]
    rows = normed(
        "embeddings.LayerNorm", tokens + places + tensors["embeddings.token_type_embeddings.weight"][0]
    )
    for number in range(SIZES["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        parts = [dense(f"{layer}.attention.self.{part}", rows) for part in ("query", "key", "value")]
        heads = zip(*(np.split(part, SIZES["num_attention_heads"], axis=1) for part in parts), strict=True)
        mixed = np.hstack([softmax(q @ k.T / np.sqrt(q.shape[1]), axis=1) @ v for q, k, v in heads])
        rows = normed(
            f"{layer}.attention.output.LayerNorm", dense(f"{layer}.attention.output.dense", mixed) + rows
        )
        wide = dense(f"{layer}.intermediate.dense", rows)
        gelu = wide * 0.5 * (1 + erf(wide / np.sqrt(2)))
        rows = normed(f"{layer}.output.LayerNorm", dense(f"{layer}.output.dense", gelu) + rows)
    return rows


def at_length_one(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)
