"""Reranking by a service that is asked as Jina's and Cohere's are, or as Hugging Face's TEI is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

import msgspec
import numpy as np

from assay.endpoint import Client, Endpoint, Usage, counted
from assay.errors import UsageError
from assay.plugins import aside
from assay.protocols import Kit
from assay.retrieval.parts import Embedder, Scored


@dataclass(frozen=True)
class RerankEndpoint:
    """A reranking model behind an HTTP endpoint.

    `form` is what the texts are called in a request: `documents` (Cohere, Jina, Voyage, vLLM, Infinity) or
    `texts` (TEI). `price` is that of a million tokens, for services that count them.
    """

    url: str
    model: str | None = None  # None: the only one that is served there
    key: str | None = field(default=None, repr=False)
    form: Literal["documents", "texts"] = "documents"
    price: float = aside(0.0)
    timeout: float = aside(30.0)
    retries: int = aside(5)
    backoff: float = aside(0.5)
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.form not in {"documents", "texts"}:
            raise UsageError(f"form is {self.form!r}. It must be documents or texts.")
        _ = self.endpoint  # checks address, key, price and patience

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.url, self.key, self.timeout, self.retries, self.backoff, self.price)

    def load(self, embedder: Embedder, kit: Kit) -> EndpointScorer:
        return EndpointScorer(self, self.endpoint.open(clock=kit.clock))

    def identity(self, kit: Kit) -> str:
        """Who scores. A service that changes a model silently is not seen."""
        return f"rerank {self.version} {self.endpoint.address} {self.model}"


class _Result(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None  # TEI's name for it


class _Answer(msgspec.Struct):
    results: list[_Result]
    usage: Usage | None = None


class EndpointScorer:
    """The service, ready to be asked. Threads may share it."""

    def __init__(self, part: RerankEndpoint, client: Client) -> None:
        self._part, self._client = part, client

    def scores(self, query: str, texts: Sequence[str]) -> Scored:
        """A score a text, all from one request.

        Many services refuse blank texts. They are not sent, and score as the worst of the others; all score
        0 for a blank query.
        """
        sent = [row for row, text in enumerate(texts) if text.strip()] if query.strip() else []
        if not sent:
            return Scored(np.zeros(len(texts)))
        payload: dict[str, object] = {"query": query, self._part.form: [texts[row] for row in sent]}
        if self._part.form == "documents":
            payload["top_n"] = len(sent)
        if self._part.model is not None:
            payload["model"] = self._part.model
        found = self._client.post("/rerank", payload, partial(_read, len(sent)))
        scores = np.full(len(texts), found.scores.min())
        scores[sent] = found.scores
        return Scored(scores, found.tokens, self._part.endpoint.cost(found.tokens))


def _read(count: int, answer: Any) -> Scored:
    """What the service says, if it scores every text once; a ValueError otherwise."""
    found = msgspec.convert(answer, _Answer | list[_Result])
    results = found if isinstance(found, list) else found.results
    usage = None if isinstance(found, list) else found.usage
    given = {
        each.index: each.relevance_score if each.relevance_score is not None else each.score
        for each in results
    }
    if len(results) != count or given.keys() != set(range(count)):
        raise ValueError(f"{len(results)} scores for {count} texts, numbered {sorted(given)[:9]}")
    scores = np.array([given[index] for index in range(count)], dtype=np.float64)  # None becomes NaN
    if not np.isfinite(scores).all():
        raise ValueError("a text without a score, or with one that is not finite")
    return Scored(scores, counted(usage))
