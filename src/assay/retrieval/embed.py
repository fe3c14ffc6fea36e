"""Text to vectors, with a static model that comes inside a package and needs no network.

The model is WordLlama's (MIT): one learned vector a token, a text is the mean of its tokens' vectors.
Its files are read without importing the package, whose own loader wants the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.datasets.dataset import digest
from assay.errors import PluginError, UsageError, did_you_mean
from assay.retrieval.vectors import unit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TEXTS_AT_ONCE = 1024  # an encoding weighs some hundred times its text, so they are not all held at once


class Embedder(Protocol):
    """A model that turns texts into vectors. `identity` changes whenever its vectors may."""

    @property
    def identity(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class StaticEmbedder:
    """The mean of one vector a token. Immutable, so any number of threads may embed."""

    def __init__(self, identity: str, table: NDArray[np.float32], tokenizer: Tokenizer) -> None:
        self.identity = identity
        self._table = table
        self._tokenizer = tokenizer

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, of length 1; zeros for a text without a token."""
        vectors = np.empty((len(texts), self._table.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            batch = texts[start : start + _TEXTS_AT_ONCE]
            vectors[start : start + len(batch)] = self._sums(batch)
        return unit(vectors)  # a sum and a mean point the same way, so nothing is divided by a length twice

    def _sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Token vectors added up text by text: a sparse matrix of ones, times the table."""
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ids = [np.array(encoding.ids, dtype=np.int32) for encoding in encoded]
        ends = np.cumsum([0, *map(len, ids)])
        tokens = np.concatenate(ids)
        ones = np.ones(len(tokens), dtype=np.float32)
        sums: NDArray[np.float32] = (
            csr_array((ones, tokens, ends), (len(ids), len(self._table))) @ self._table
        )
        return sums


@cache
def load_embedder(model: str) -> Embedder:
    """The model of that name, read once a process: a study may build thousands of small indexes with it."""
    if model not in _LOADERS:
        raise UsageError(f"There is no embedding model {model!r}. {did_you_mean(model, _LOADERS)}")
    return _LOADERS[model]()


def _load_static() -> StaticEmbedder:
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    weights, config = _packaged(_WEIGHTS).read_bytes(), _packaged(_TOKENIZER).read_bytes()
    tokenizer = Tokenizer.from_buffer(config)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (table,) = load(weights).values()
    return StaticEmbedder(digest([weights, config]), table.astype(np.float32), tokenizer)


def _packaged(name: str) -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise PluginError(
            f"The static model comes with the package {_PACKAGE}, which is not installed. Install it."
        )
    path = Path(spec.origin).parent / name
    if not path.is_file():
        raise PluginError(
            f"The installed {_PACKAGE} has no {name}. Install version 0.4, which brings it along."
        )
    return path


_LOADERS = {"static": _load_static}
