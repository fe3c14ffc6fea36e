"""Embeddings from a service that speaks OpenAI's protocol: theirs, vLLM, Ollama, TEI, and many more."""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import msgspec
import numpy as np

from assay.endpoint import Client, Endpoint, Refused, Usage, counted
from assay.errors import Retryable, SystemFailure, UsageError
from assay.plugins import aside
from assay.protocols import Kit
from assay.retrieval.parts import Embedded, Role, Vectors
from assay.retrieval.unit import unit

# How services word it that a text, or a batch, is more than they take. A word too many here costs a few
# refused requests; one too few, the run.
_TOO_MUCH = re.compile(r"\b(max|limit|at most|less than|exceed|too (many|long|large|big))", re.IGNORECASE)


@dataclass(frozen=True)
class OpenAI:
    """An embedding model behind an HTTP endpoint.

    `key` is best written `${OPENAI_API_KEY}`; a server of one's own may need none. `price` is that of a
    million tokens. `threads` batches are in flight at once.
    """

    model: str
    url: str = "https://api.openai.com/v1"
    key: str | None = field(default=None, repr=False)
    dimensions: int | None = None  # None: as many as the model has
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = aside(64)  # texts a request
    threads: int = aside(4)
    price: float = aside(0.0)
    timeout: float = aside(30.0)
    retries: int = aside(5)
    backoff: float = aside(0.5)
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
        """Who embeds, and what is put before a text. A service that changes a model silently is not seen."""
        decides = [self.model, self.dimensions, self.query_prefix, self.passage_prefix]
        return f"openai {self.version} {self.endpoint.address} {msgspec.json.encode(decides).decode()}"


class _Row(msgspec.Struct):
    embedding: list[float] | str  # numbers, or their bytes in base64
    index: int | None = None  # None: rows stand in the order of the texts


class _Answer(msgspec.Struct):
    data: list[_Row]
    usage: Usage | None = None


class _OtherDimension(ValueError):
    """Vectors of another length than asked for, or than came before."""


class OpenAIModel:
    """The service, ready to be asked. Threads may share it."""

    def __init__(self, part: OpenAI, client: Client, identity: str) -> None:
        self.identity = identity
        self.batch = part.batch * part.threads
        self._part, self._client = part, client
        self._dimensions = part.dimensions
        self._turn = threading.Lock()  # over who says first how many dimensions there are

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        """A row a text, in order. Blank texts, which many services refuse, are not sent."""
        part = self._part
        prefix = part.query_prefix if role == "query" else part.passage_prefix
        rows = [row for row, text in enumerate(texts) if text.strip()]
        sent = [prefix + texts[row] for row in rows]
        if texts and not sent and self._dimensions is None:
            sent = ["dimensions"]  # somebody has to say how long the zeros are
        starts = range(0, len(sent), part.batch)
        made = self._in_flight([sent[start : start + part.batch] for start in starts])
        vectors = np.zeros((len(texts), self._dimensions or 0), dtype=np.float32)
        vectors[rows] = unit(made.vectors[: len(rows)])
        return Embedded(vectors, made.tokens, part.endpoint.cost(made.tokens))

    def _in_flight(self, batches: Sequence[list[str]]) -> Embedded:
        if len(batches) < 2:
            return self._joined([self._request(batch) for batch in batches])
        with ThreadPoolExecutor(min(self._part.threads, len(batches))) as pool:
            return self._joined(list(pool.map(self._request, batches)))

    def _request(self, texts: list[str]) -> Embedded:
        """The vectors of one batch, in two requests where the service finds one too large."""
        part = self._part
        payload: dict[str, object] = {"model": part.model, "input": texts, "encoding_format": "float"}
        if part.dimensions is not None:
            payload["dimensions"] = part.dimensions
        try:
            return self._client.post("/embeddings", payload, partial(self._read, len(texts)))
        except Refused as refusal:
            if not _too_much(refusal):
                raise
            if len(texts) == 1:
                what = f"{part.model} does not take a text of {len(texts[0]):,} characters. {refusal}"
                raise SystemFailure(f"{what} If it is too long, cut it into smaller ones.") from refusal
        except Retryable as error:
            if isinstance(error.__cause__, _OtherDimension):
                fix = "Another model answers. Check what is served there, and whether it takes `dimensions`"
                raise SystemFailure(f"{self._client.endpoint.address}: {error.__cause__}. {fix}.") from error
            raise
        half = len(texts) // 2
        return self._joined([self._request(texts[:half]), self._request(texts[half:])])

    def _read(self, count: int, answer: Any) -> Embedded:
        """What the service says, if it is a vector for each text; a ValueError otherwise."""
        found = msgspec.convert(answer, _Answer)
        numbered = {
            place if row.index is None else row.index: row.embedding for place, row in enumerate(found.data)
        }
        if len(found.data) != count or numbered.keys() != set(range(count)):
            raise ValueError(f"{len(found.data)} vectors for {count} texts, numbered {sorted(numbered)[:9]}")
        rows = [_numbers(numbered[index]) for index in range(count)]
        if 0 in (lengths := {len(row) for row in rows}) or len(lengths) > 1:
            raise ValueError("an empty vector, or vectors of different lengths")
        vectors = np.stack(rows)
        if not np.isfinite(vectors).all():
            raise ValueError("a vector holds NaN or infinity")
        self._agree(vectors.shape[1])
        return Embedded(vectors, counted(found.usage))

    def _agree(self, dimensions: int) -> None:
        with self._turn:
            self._dimensions = self._dimensions or dimensions
            if dimensions != self._dimensions:
                raise _OtherDimension(f"vectors of {dimensions} dimensions, not of {self._dimensions}")

    def _joined(self, parts: Sequence[Embedded]) -> Embedded:
        none = np.empty((0, self._dimensions or 0), dtype=np.float32)
        vectors = np.vstack([none, *(part.vectors for part in parts)])
        return Embedded(vectors, sum(part.tokens for part in parts))


def _numbers(embedding: list[float] | str) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return np.array(embedding, dtype=np.float32)


def _too_much(refusal: Refused) -> bool:
    return refusal.status == 413 or (refusal.status in {400, 422} and bool(_TOO_MUCH.search(refusal.said)))
