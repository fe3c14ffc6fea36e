"""Embeddings from a service with OpenAI's protocol: OpenAI, vLLM, Ollama, TEI, and many others."""

from __future__ import annotations

import base64
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import msgspec
import numpy as np

from assay.core.endpoint import Client, Endpoint, ask_in_parts
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.parts import EmbeddingResult, Floats, Role, Vectors, normalize_rows, row_lengths
from assay.core.protocols import Kit
from assay.core.registry import outside_identity


@dataclass(frozen=True)
class OpenAI:
    """An embedding model behind an HTTP endpoint.

    Write `key` as `${OPENAI_API_KEY}` if possible; a server of your own may need no key. `price` is the price
    of a million tokens. If the service does not count tokens, four characters count as one token. `threads`
    is the largest number of batches at the same time.
    """

    model: str
    url: str = "https://api.openai.com/v1"
    key: str | None = field(default=None, repr=False)
    dimensions: int | None = None  # None: as many as the model has
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = outside_identity(64)  # texts per request
    threads: int = outside_identity(4)
    price: float = outside_identity(0.0)
    timeout: float = outside_identity(30.0)
    retries: int = outside_identity(5)
    backoff: float = outside_identity(0.5)
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        for name in ("batch", "threads", "dimensions"):
            if (count := getattr(self, name)) is not None and count < 1:
                raise UsageError(f"{name} is {count}. It must be at least 1.")
        _ = self.endpoint  # checks address, key, price and patience

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.url, self.key, self.timeout, self.retries, self.backoff, self.price)

    def load(self, kit: Kit) -> OpenAIModel:
        return OpenAIModel(self, self.endpoint.open(clock=kit.clock), self.identity(kit))

    def identity(self, kit: Kit) -> str:
        """Returns the identity of the service, the model and the prefixes.

        If a service silently changes its model, the identity stays the same.
        """
        settings = [self.model, self.dimensions, self.query_prefix, self.passage_prefix]
        return f"openai {self.version} {self.endpoint.identity} {msgspec.json.encode(settings).decode()}"


class _EmbeddingRow(msgspec.Struct):
    embedding: list[float] | str  # numbers, or their bytes in base64
    index: int | None = None  # None: rows are in the order of the texts


class _EmbeddingReply(msgspec.Struct):
    data: list[_EmbeddingRow]
    usage: Any = None


class _DimensionChanged(ValueError):
    """The error of vectors that have another length than wanted, or than earlier vectors."""


class OpenAIModel:
    """An open connection to an embedding service. Threads may share it."""

    def __init__(self, part: OpenAI, client: Client, identity: str) -> None:
        self.identity = identity
        self.batch, self.threads = part.batch, part.threads
        self._part, self._client = part, client
        self._dimensions = part.dimensions
        self._turn = threading.Lock()  # guards `_dimensions`

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        """Embeds texts, one row per text, in order. Blank texts are not sent: many services refuse them."""
        part = self._part
        prefix = part.query_prefix if role == "query" else part.passage_prefix
        rows = [row for row, text in enumerate(texts) if text.strip()]
        sent = [prefix + texts[row] for row in rows]
        if texts and not sent and self._dimensions is None:
            sent = ["dimensions"]  # a request is needed to know the length of the vectors of zeros
        batches = (sent[start : start + part.batch] for start in range(0, len(sent), part.batch))
        made = [each for batch in batches for each in ask_in_parts(batch, self._request)]
        vectors = np.zeros((len(texts), self._dimensions or 0), dtype=np.float32)
        if rows:
            vectors[rows] = np.vstack([each.vectors for each in made])
        tokens = sum(each.tokens for each in made)
        return EmbeddingResult(vectors, tokens, part.endpoint.cost(tokens))

    def _request(self, texts: list[str]) -> EmbeddingResult:
        part = self._part
        payload: dict[str, object] = {"model": part.model, "input": texts, "encoding_format": "float"}
        if part.dimensions is not None:
            payload["dimensions"] = part.dimensions
        try:
            return self._client.post("/embeddings", payload, partial(self._read, texts))
        except Retryable as error:
            if isinstance(error.__cause__, _DimensionChanged):
                fix = "Another model answers. Check what is served there, and whether it takes `dimensions`"
                raise SystemFailure(f"{self._client.endpoint.address}: {error.__cause__}. {fix}.") from error
            raise

    def _read(self, texts: Sequence[str], answer: Any) -> EmbeddingResult:
        """Parses an answer with a vector for each text. Raises a ValueError for any other answer."""
        found, count = msgspec.convert(answer, _EmbeddingReply), len(texts)
        numbered = {
            place if row.index is None else row.index: row.embedding for place, row in enumerate(found.data)
        }
        if len(found.data) != count or numbered.keys() != set(range(count)):
            raise ValueError(f"{len(found.data)} vectors for {count} texts, numbered {sorted(numbered)[:9]}")
        rows = [_decode(numbered[index]) for index in range(count)]
        if 0 in (sizes := {len(row) for row in rows}) or len(sizes) > 1:
            raise ValueError("an empty vector, or vectors of different lengths")
        vectors = np.stack(rows)
        long = row_lengths(vectors)
        if not np.isfinite(long).all():
            raise ValueError("a vector holds NaN or infinity")
        if not long.all():  # zeros mean a text without a token, but no blank text was sent
            raise ValueError("a vector of zeros")
        self._check_dimensions(vectors.shape[1])
        return EmbeddingResult(normalize_rows(vectors), self._client.endpoint.counted(found.usage, texts))

    def _check_dimensions(self, dimensions: int) -> None:
        with self._turn:
            self._dimensions = self._dimensions or dimensions
            if dimensions != self._dimensions:
                raise _DimensionChanged(f"vectors of {dimensions} dimensions, not of {self._dimensions}")


def _decode(embedding: list[float] | str) -> Vectors | Floats:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return np.array(embedding, dtype=np.float64)
