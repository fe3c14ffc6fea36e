"""Embeddings by a static model that comes inside a package and needs no network.

The model is WordLlama's (MIT). It has a learned vector for each token. The vector of a text is the mean of
the vectors of its tokens. The model's files are read without importing the package, because the package's
loader needs the network.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.core.dataset import digest
from assay.core.errors import PluginError
from assay.core.parts import EmbeddingResult, Ints, Role, Vectors, normalize_rows
from assay.core.protocols import Kit

if TYPE_CHECKING:
    from tokenizers import Tokenizer


T = TypeVar("T", bound=NDArray[np.generic] | NDArray[Any])


class RecentArrays(Generic[T]):
    """A cache of arrays by text, limited to a number of bytes. It keeps the most recently used arrays.

    Threads may share it.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._arrays: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def get(self, texts: Iterable[str]) -> dict[str, T]:
        """Returns the arrays of those texts that are in the cache."""
        with self._lock:
            found = {text: self._arrays[text] for text in texts if text in self._arrays}
            for text in found:
                self._arrays.move_to_end(text)
            return found

    def put(self, arrays: Mapping[str, T]) -> None:
        """Adds arrays, and drops the least recently used arrays if there is no room."""
        with self._lock:
            for text, array in arrays.items():
                if text not in self._arrays:  # another thread may have added it
                    self._arrays[text] = array
                    self._used += array.nbytes + len(text)
            while self._used > self._size:
                text, array = self._arrays.popitem(last=False)
                self._used -= array.nbytes + len(text)


_CACHE_BYTES = 1 << 26  # some 65,000 sentences
_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


@dataclass(frozen=True)
class StaticEmbedder:
    """The static model of the package wordllama: 256 dimensions, and thousands of texts per second."""

    first_address: ClassVar[str] = "assay.retrieval.embed.static:Static"
    version: ClassVar[str] = "1"

    def load(self, kit: Kit) -> StaticModel:
        return _load()

    def identity(self, kit: Kit) -> str:
        """Returns the hash of weights and tokenizer."""
        return _identity()


class StaticModel:
    """A model that embeds a text as the mean of the vectors of its tokens.

    Threads may share it, because only its cache changes.
    """

    batch = 1024  # encodings take some hundred times the memory of their texts

    def __init__(self, identity: str, table: Vectors, tokenizer: Tokenizer) -> None:
        self.identity = identity
        self._table = table
        self._tokenizer = tokenizer
        self._recent = RecentArrays[Vectors](_CACHE_BYTES)

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        """Embeds texts, one row per text. Queries and passages are treated the same.

        A call with few texts usually has sentences that many queries compare, so their vectors are cached. A
        corpus to index comes in full batches, which are not cached.
        """
        if not texts or len(texts) >= self.batch:
            vectors, counts = self._made(texts)
            return EmbeddingResult(vectors, int(counts.sum()))
        known = self._recent.get(texts)
        if new := list(dict.fromkeys(text for text in texts if text not in known)):
            made = dict(zip(new, self._rows(new), strict=True))
            self._recent.put(made)
            known |= made
        rows = np.stack([known[text] for text in texts])
        return EmbeddingResult(np.ascontiguousarray(rows[:, :-1]), int(rows[:, -1].sum()))

    def _rows(self, texts: Sequence[str]) -> list[Vectors]:
        """Returns the vector of each text, with its number of tokens appended."""
        vectors, counts = self._made(texts)
        return [np.append(*each).astype(np.float32) for each in zip(vectors, counts, strict=True)]

    def _made(self, texts: Sequence[str]) -> tuple[Vectors, Ints]:
        vectors = np.empty((len(texts), self._table.shape[1]), dtype=np.float32)
        counts = np.empty(len(texts), np.int64)
        for start in range(0, len(texts), self.batch):
            part = slice(start, start + self.batch)
            tokens, ends = self._tokens(texts[part])
            counts[part] = np.diff(ends)
            # adds up the vectors of each text: a sparse matrix of ones times the table
            ones = np.ones(len(tokens), dtype=np.float32)
            shape = (len(ends) - 1, len(self._table))
            vectors[part] = csr_array((ones, tokens, ends), shape) @ self._table
        # a sum has the direction of the mean, so nothing is divided by its length
        return normalize_rows(vectors), counts

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Returns, for each text, the vectors of its tokens. The context of a token does not matter."""
        tokens, ends = self._tokens(texts)
        return np.split(normalize_rows(self._table[tokens]), ends[1:-1]) if texts else []

    def _tokens(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Returns the tokens of all texts in one array, and the bounds of each text in it."""
        # tokenizing takes nine tenths of the time; the library uses all cores for a batch
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ids = [np.array(encoding.ids, dtype=np.int64) for encoding in encoded]
        return np.concatenate([np.empty(0, np.int64), *ids]), np.cumsum([0, *map(len, ids)])


@cache
def _load() -> StaticModel:
    """Loads the model once per process, because a study may build thousands of small indexes with it."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_packaged_file(_TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (table,) = load_file(_packaged_file(_WEIGHTS)).values()
    return StaticModel(_identity(), table.astype(np.float32), tokenizer)


@cache
def _identity() -> str:
    return digest(_packaged_file(name).read_bytes() for name in (_WEIGHTS, _TOKENIZER))


def _packaged_file(name: str) -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise PluginError(
            f"The static model comes with the package {_PACKAGE}, which is not installed. "
            f"Install it: pip install {_PACKAGE}"
        )
    path = Path(spec.origin).parent / name
    if not path.is_file():
        raise PluginError(f"The installed {_PACKAGE} has no {name}. Install version 0.4, which includes it.")
    return path
