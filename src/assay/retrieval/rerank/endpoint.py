"""Reranking by a service that is asked as Jina's, Cohere's and Voyage's are, or as Hugging Face's TEI is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

import msgspec
import numpy as np

from assay.core.endpoint import Client, Endpoint, ask_in_parts
from assay.core.errors import UsageError
from assay.core.parts import Embedder, RerankResult
from assay.core.protocols import Kit
from assay.core.registry import outside_identity


@dataclass(frozen=True)
class RerankEndpoint:
    """A reranking model behind an HTTP endpoint.

    `form` is what the texts are called in a request: `documents` (Cohere, Jina, Voyage, vLLM, Infinity) or
    `texts` (TEI). `price` is that of a million tokens; those that the service does not count are taken to
    have four characters each.
    """

    url: str
    model: str | None = None  # None: the only one that is served there
    key: str | None = field(default=None, repr=False)
    form: Literal["documents", "texts"] = "documents"
    price: float = outside_identity(0.0)
    timeout: float = outside_identity(30.0)
    retries: int = outside_identity(5)
    backoff: float = outside_identity(0.5)
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
        return f"rerank {self.version} {self.endpoint.identity} {self.model}"


class _Result(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None  # TEI's name for it


class _Answer(msgspec.Struct):
    results: list[_Result] = []
    data: list[_Result] = []  # Voyage's name for them
    usage: Any = None


class EndpointScorer:
    """The service, ready to be asked. Threads may share it."""

    def __init__(self, part: RerankEndpoint, client: Client) -> None:
        self._part, self._client = part, client

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult:
        """A score a text, all from one request unless the service finds that too large.

        Many services refuse blank texts. They are not sent, and score as the worst of the others; all score
        0 for a blank query.
        """
        sent = [row for row, text in enumerate(texts) if text.strip()] if query.strip() else []
        if not sent:
            return RerankResult(np.zeros(len(texts)))
        found = ask_in_parts([texts[row] for row in sent], partial(self._request, query))
        given = np.concatenate([each.scores for each in found])
        scores = np.full(len(texts), given.min())
        scores[sent] = given
        tokens = sum(each.tokens for each in found)
        return RerankResult(scores, tokens, self._part.endpoint.cost(tokens))

    def _request(self, query: str, texts: list[str]) -> RerankResult:
        # No `top_n`, which Voyage calls `top_k`: services score all unless they are asked for fewer.
        payload: dict[str, object] = {"query": query, self._part.form: texts}
        if self._part.model is not None:
            payload["model"] = self._part.model
        return self._client.post("/rerank", payload, partial(self._read, query, texts))

    def _read(self, query: str, texts: Sequence[str], answer: Any) -> RerankResult:
        """What the service says, if it scores every text once; a ValueError otherwise."""
        found, count = msgspec.convert(answer, _Answer | list[_Result]), len(texts)
        results, usage = (
            (found, None) if isinstance(found, list) else (found.results or found.data, found.usage)
        )
        given = {
            each.index: each.relevance_score if each.relevance_score is not None else each.score
            for each in results
        }
        if len(results) != count or given.keys() != set(range(count)):
            raise ValueError(f"{len(results)} scores for {count} texts, numbered {sorted(given)[:9]}")
        scores = np.array([given[index] for index in range(count)], dtype=np.float64)  # None becomes NaN
        if not np.isfinite(scores).all():
            raise ValueError("a text without a score, or with one that is not finite")
        # the query is read with every text
        return RerankResult(scores, self._client.endpoint.counted(usage, [query + text for text in texts]))
