"""A BERT encoder as an ONNX graph, made from its safetensors without torch.

The network is that of Devlin et al. (2019), laid out as the transformers library saves a BertModel: token,
position and segment embeddings, then layers of attention and a feed-forward part, each added to its input and
normalised. Inputs are `input_ids` and `attention_mask` (batch × sequence, both free); the output is
`last_hidden_state`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.core.errors import DataError, PluginError, Problem

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

_OPSET = 23  # the first with Attention
_IR = 11  # that of its time, which ONNX Runtime 1.23 and later read


class Config(msgspec.Struct, frozen=True):
    """What a config.json says about the network."""

    hidden_size: int
    num_attention_heads: int
    num_hidden_layers: int
    model_type: str = "bert"
    hidden_act: str = "gelu"
    position_embedding_type: str = "absolute"
    layer_norm_eps: float = 1e-12


def bert_onnx(config: Path, weights: Path) -> bytes:
    """The serialised graph of the encoder that the two files describe."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(weights)
    except SafetensorError as error:
        fix = "Fetch the file again."
        raise DataError(Problem(f"not a safetensors file ({error})", str(weights), fix=fix)) from error
    # a model saved with a head keeps its encoder under a name of its own
    tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    try:
        graph: bytes = _Encoder(_read(config), tensors).graph().SerializeToString()
    except KeyError as error:
        what, fix = f"there is no tensor {error} in it", "Use the weights of a BertModel."
        raise DataError(Problem(what, str(weights), fix=fix)) from error
    return graph


def _read(path: Path) -> Config:
    try:
        config = msgspec.json.decode(path.read_bytes(), type=Config)
    except msgspec.DecodeError as error:
        raise DataError(Problem(str(error), str(path), fix="Use the config.json of a BertModel.")) from error
    built = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    fix = "Export the model to model.onnx, which is run as it is."
    problems = [
        Problem(f"is {got!r}; only {only!r} is built here", str(path), field=name, fix=fix)
        for name, only in built.items()
        if (got := getattr(config, name)) != only
    ]
    if problems:
        raise DataError(problems)
    return config


class _Encoder:
    """Collects the nodes and tensors of one encoder. Each method adds some and names what they give."""

    def __init__(self, config: Config, tensors: Mapping[str, NDArray[Any]]) -> None:
        try:
            import onnx
        except ImportError as error:
            raise PluginError(
                "Turning safetensors into a graph takes the package onnx, which is not installed. "
                "Install it: pip install 'retrieval-assay[minilm]'"
            ) from error
        self._onnx = onnx
        self._config = config
        self._tensors = tensors
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def graph(self) -> ModelProto:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        hidden = self._embeddings()
        seen = self._seen()
        for number in range(self._config.num_hidden_layers):
            hidden = self._layer(f"encoder.layer.{number}", hidden, seen)
        self._nodes.append(helper.make_node("Identity", [hidden], ["last_hidden_state"]))
        axes = ["batch", "sequence"]
        inputs = [
            helper.make_tensor_value_info(name, kinds.INT64, axes) for name in ("input_ids", "attention_mask")
        ]
        shape = [*axes, self._config.hidden_size]
        output = helper.make_tensor_value_info("last_hidden_state", kinds.FLOAT, shape)
        made = helper.make_graph(self._nodes, "bert", inputs, [output], self._constants)
        opset = helper.make_opsetid("", _OPSET)
        model: ModelProto = helper.make_model(made, opset_imports=[opset], ir_version=_IR)
        return model

    def _embeddings(self) -> str:
        # Every text is one segment, the first, so that its vector can be added to all positions beforehand.
        segment = self._float("embeddings.token_type_embeddings.weight")[0]
        places = self._float("embeddings.position_embeddings.weight") + segment
        length = self._node("Shape", "input_ids", start=1, end=2)
        positions = self._node(
            "Slice", self._constant("positions", places), self._constant("first", np.array([0])), length
        )
        words = self._constant("words", self._float("embeddings.word_embeddings.weight"))
        tokens = self._node("Gather", words, "input_ids")
        return self._normed("embeddings.LayerNorm", self._node("Add", tokens, positions))

    def _seen(self) -> str:
        """Who may look at whom: everybody at every token that is no padding."""
        tokens = self._node("Cast", "attention_mask", to=self._onnx.TensorProto.BOOL)
        tokens = self._node("Unsqueeze", tokens, self._constant("middle", np.array([1, 2])))
        batch = self._node("Shape", "input_ids", start=0, end=1)
        length = self._node("Shape", "input_ids", start=1, end=2)
        one = self._constant("one", np.array([1]))
        return self._node("Expand", tokens, self._node("Concat", batch, one, length, length, axis=0))

    def _layer(self, name: str, hidden: str, seen: str) -> str:
        heads = self._config.num_attention_heads
        looks = [self._dense(f"{name}.attention.self.{part}", hidden) for part in ("query", "key", "value")]
        mixed = self._node("Attention", *looks, seen, q_num_heads=heads, kv_num_heads=heads)
        mixed = self._dense(f"{name}.attention.output.dense", mixed)
        hidden = self._normed(f"{name}.attention.output.LayerNorm", self._node("Add", mixed, hidden))
        wide = self._node("Gelu", self._dense(f"{name}.intermediate.dense", hidden))
        narrow = self._dense(f"{name}.output.dense", wide)
        return self._normed(f"{name}.output.LayerNorm", self._node("Add", narrow, hidden))

    def _dense(self, name: str, given: str) -> str:
        # torch keeps a weight as outputs × inputs
        weight = self._constant(f"{name}.weight", self._float(f"{name}.weight").T)
        bias = self._constant(f"{name}.bias", self._float(f"{name}.bias"))
        return self._node("Add", self._node("MatMul", given, weight), bias)

    def _normed(self, name: str, given: str) -> str:
        scale = self._constant(f"{name}.weight", self._float(f"{name}.weight"))
        shift = self._constant(f"{name}.bias", self._float(f"{name}.bias"))
        return self._node("LayerNormalization", given, scale, shift, epsilon=self._config.layer_norm_eps)

    def _float(self, name: str) -> NDArray[np.float32]:
        return self._tensors[name].astype(np.float32, copy=False)

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operator}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], name, **attributes))
        return name
