"""Files of embedding models: their places, settings and hash; and BERT weights as an ONNX graph."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.core.dataset import digest
from assay.core.errors import DataError, PluginError, Problem, SystemFailure, UsageError

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto
    from tokenizers import Encoding


_EXPORTS = ("model.onnx", "onnx/model.onnx")
_USUAL_LENGTH = 512
_ENDLESS = 1e6  # tokens; a tokenizer without a configured length says 1e30


class _Settings(msgspec.Struct, frozen=True):
    """Settings that config.json, tokenizer_config.json and sentence_bert_config.json may hold."""

    max_seq_length: int | None = None
    max_position_embeddings: int | None = None
    model_max_length: float | None = None
    pad_token_id: int | None = None


@dataclass(frozen=True)
class ModelFiles:
    """The files of one model: a graph that is run as it is, or weights from which a graph is built."""

    folder: Path  # the folder with tokenizer.json
    network: Path | None  # None: built from model.safetensors and config.json

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer.json"

    @property
    def config(self) -> Path:
        return self.folder / "config.json"

    @property
    def weights(self) -> Path:
        return self.folder / "model.safetensors"

    @property
    def hash(self) -> str:
        """The hash of all files that decide the vectors. Large weights may be in files beside the graph."""
        if self.network is None:
            return content_hash([self.weights, self.config, self.tokenizer])
        beside = sorted(self.network.parent.glob(f"{self.network.name}*"))
        return content_hash([*beside, self.tokenizer])

    def pad(self) -> int:
        """Returns the token that pads a batch."""
        return self._settings("config.json").pad_token_id or 0

    def longest(self, wanted: int | None) -> int:
        """Returns the largest number of tokens of a text that the model gets.

        This is the wanted number, or if none is wanted, the number in the model's settings.
        """
        positions = self._settings("config.json").max_position_embeddings
        if wanted is not None:
            if positions is not None and wanted > positions:
                where = f"the model in {self.folder} has {positions} positions"
                raise UsageError(f"max_tokens is {wanted}, but {where}. Ask for no more than that.")
            return wanted
        if (trained := self._settings("sentence_bert_config.json").max_seq_length) is not None:
            return trained
        tokenizer = self._settings("tokenizer_config.json").model_max_length
        known = [int(each) for each in (positions, tokenizer) if each is not None and each < _ENDLESS]
        return min(known, default=_USUAL_LENGTH)

    def _settings(self, name: str) -> _Settings:
        path = self.folder / name
        if not path.is_file():
            return _Settings()
        try:
            return msgspec.json.decode(path.read_bytes(), type=_Settings)
        except msgspec.DecodeError as error:
            raise DataError(Problem(str(error), str(path), fix="Fetch the file again.")) from error


def find_files(path: Path) -> ModelFiles:
    """Finds the files of a model in a folder, or of a single export.

    The file tokenizer.json of a single export must be beside it or in the folder above it.
    """
    if path.is_file():
        places = [path.parent, path.parent.parent]
        network: Path | None = path
    elif path.is_dir():
        places = [path]
        network = next((path / name for name in _EXPORTS if (path / name).is_file()), None)
    else:
        raise SystemFailure(f"There is no model at {path}. Name its folder, relative to the study.")
    folder = next((place for place in places if (place / "tokenizer.json").is_file()), places[0])
    found = ModelFiles(folder, network)
    needed = [found.tokenizer, *([found.weights, found.config] if network is None else [])]
    if missing := [file.name for file in needed if not file.is_file()]:
        what = f"there is no {' and no '.join(missing)}"
        fix = (
            "A model is model.onnx and tokenizer.json, or model.safetensors, config.json and tokenizer.json."
        )
        raise DataError(Problem(what, str(folder), fix=fix))
    return found


def content_hash(files: Iterable[Path]) -> str:
    """Returns one hash of the content of all files. Their names do not count."""
    stats = [(file, file.stat()) for file in files]
    return digest(_file_hash(file, stat.st_size, stat.st_mtime_ns) for file, stat in stats)


@lru_cache(maxsize=256)
def _file_hash(path: Path, *_stamp: int) -> bytes:
    """Returns the hash of a file.

    A file is read once per process while its size and time stay the same, because weights are large and often
    used.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).digest()


def snapshot(name: str, files: Sequence[str], ways_out: str) -> Path:
    """Returns the folder with these files of a model in the Hugging Face hub's cache.

    The name of the folder is the model's commit. Files that were fetched before are used again. So a model
    changes when somebody empties the cache, not when its author pushes. `ways_out` ends the message if the
    hub does not give the files.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    # The hub's HTTP library has changed twice; some of its errors, such as a proxy's, come through.
    roots = [kind for kind in HfHubHTTPError.__mro__ if issubclass(kind, Exception)]
    failures: tuple[type[Exception], ...] = (
        OSError,
        *(kind for kind in roots if kind.__name__ == "HTTPError"),
    )
    try:
        return Path(snapshot_download(name, allow_patterns=list(files), local_files_only=True))
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(snapshot_download(name, allow_patterns=list(files)))
    except failures as error:
        said = str(error).strip().partition("\n")[0]
        raise SystemFailure(f"The Hugging Face hub did not give {name!r} ({said}). {ways_out}") from error


def own_token_mask(encoding: Encoding, prefix: int) -> NDArray[np.bool_]:
    """Returns a mask of the tokens that belong to the text itself.

    Special tokens and the tokens of the first `prefix` characters are not part of the text.
    """
    ends = np.array([end for _, end in encoding.offsets], dtype=np.int64)
    own: NDArray[np.bool_] = (ends > prefix) & ~np.array(encoding.special_tokens_mask, dtype=bool)
    return own


_OPSET = 23  # the first version that has Attention
_IR = 11  # the version of the same time; ONNX Runtime 1.23 and later read it


class BertConfig(msgspec.Struct, frozen=True):
    """The description of the network in config.json."""

    hidden_size: int
    num_attention_heads: int
    num_hidden_layers: int
    model_type: str = "bert"
    hidden_act: str = "gelu"
    position_embedding_type: str = "absolute"
    layer_norm_eps: float = 1e-12


def bert_onnx(config: Path, weights: Path) -> bytes:
    """Builds a BERT encoder as a serialised ONNX graph from its safetensors, without torch.

    Devlin et al. (2019) describe the network. The tensors must have the names that the transformers library
    gives them when it saves a BertModel. The network adds up token, position and segment embeddings. Then
    come layers of attention and a feed-forward part; the output of each is added to its input and normalised.
    Inputs are `input_ids` and `attention_mask` (batch × sequence, both free). The output is
    `last_hidden_state`.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(weights)
    except SafetensorError as error:
        fix = "Fetch the file again."
        raise DataError(Problem(f"not a safetensors file ({error})", str(weights), fix=fix)) from error
    # a model saved with a head has a prefix before the names of its encoder
    tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    try:
        graph: bytes = _BertGraph(_read_config(config), tensors).graph().SerializeToString()
    except KeyError as error:
        what, fix = f"there is no tensor {error} in it", "Use the weights of a BertModel."
        raise DataError(Problem(what, str(weights), fix=fix)) from error
    return graph


def _read_config(path: Path) -> BertConfig:
    try:
        config = msgspec.json.decode(path.read_bytes(), type=BertConfig)
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


class _BertGraph:
    """Collects the nodes and tensors of one encoder.

    Most methods add some of them, and return the name of their output.
    """

    def __init__(self, config: BertConfig, tensors: Mapping[str, NDArray[Any]]) -> None:
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
        mask = self._attention_mask()
        for number in range(self._config.num_hidden_layers):
            hidden = self._layer(f"encoder.layer.{number}", hidden, mask)
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
        # Every text is one segment, the first, so its vector is added to all positions here.
        segment = self._float("embeddings.token_type_embeddings.weight")[0]
        places = self._float("embeddings.position_embeddings.weight") + segment
        length = self._node("Shape", "input_ids", start=1, end=2)
        positions = self._node(
            "Slice", self._constant("positions", places), self._constant("first", np.array([0])), length
        )
        words = self._constant("words", self._float("embeddings.word_embeddings.weight"))
        tokens = self._node("Gather", words, "input_ids")
        return self._normed("embeddings.LayerNorm", self._node("Add", tokens, positions))

    def _attention_mask(self) -> str:
        """Adds the attention mask: each token attends to every token that is not padding."""
        tokens = self._node("Cast", "attention_mask", to=self._onnx.TensorProto.BOOL)
        tokens = self._node("Unsqueeze", tokens, self._constant("middle", np.array([1, 2])))
        batch = self._node("Shape", "input_ids", start=0, end=1)
        length = self._node("Shape", "input_ids", start=1, end=2)
        one = self._constant("one", np.array([1]))
        return self._node("Expand", tokens, self._node("Concat", batch, one, length, length, axis=0))

    def _layer(self, name: str, hidden: str, mask: str) -> str:
        heads = self._config.num_attention_heads
        projections = [
            self._dense(f"{name}.attention.self.{part}", hidden) for part in ("query", "key", "value")
        ]
        mixed = self._node("Attention", *projections, mask, q_num_heads=heads, kv_num_heads=heads)
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
