"""Rerankers: late interaction token by token, cross-encoders, and services that rerank over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.core.endpoint import Client, Endpoint, ask_in_parts
from assay.core.errors import SystemFailure, UsageError
from assay.core.parts import Embedder, Floats, RerankResult, TokenModel
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS, outside_identity
from assay.retrieval.embed.sentence_transformer import Device, local_or_hub, open_checkpoint, weights_identity
from assay.retrieval.embed.static import RecentArrays

if TYPE_CHECKING:
    import sentence_transformers


Halves = NDArray[np.float16]

_KEPT_BYTES = 2**30  # some 14,000 passages of 100 tokens and 384 dimensions
_TEXTS_AT_ONCE = 64  # bounds the product: 64 texts × 256 tokens × 384 dimensions in float64 are 50 MB


@dataclass(frozen=True)
class MaxSim:
    """Late interaction: compares each token of the query with the most similar token of the passage.

    For each token of the query, the largest cosine with a token of the passage is computed. The score of the
    passage is the mean of these cosines (Khattab and Zaharia, ColBERT, SIGIR 2020). ColBERT uses the sum. The
    mean ranks the same, and is comparable between queries of different lengths. A negative largest cosine
    counts as 0. Scores go from 0 to 1. The score is 0 if the query or the passage has no token.

    `model` is any embedding model with token vectors. If it is None, the model of the system is used.
    """

    first_address: ClassVar[str] = "assay.retrieval.rerank.maxsim:MaxSim"
    version: ClassVar[str] = "1"

    model: Annotated[Embedder, EMBEDDERS] | None = None

    def identity(self, kit: Kit) -> str:
        """Returns the identity of the reranker's own model, or nothing if it uses the system's model.

        The identity of the system contains the identity of the system's model.
        """
        return "" if self.model is None else self.model.identity(kit)

    def load(self, embedder: Embedder, kit: Kit) -> LateInteraction:
        """Loads the reranker with its own model if it has one, otherwise with `embedder`."""
        chosen = embedder if self.model is None else self.model
        model = chosen.load(kit)
        if not isinstance(model, TokenModel):
            raise UsageError(
                f"maxsim compares token by token, but the model {type(chosen).__name__} gives one vector "
                "for a whole text. Write maxsim(model=static), or name another model that has token vectors."
            )
        return LateInteraction(model)


class LateInteraction:
    """MaxSim on a loaded model. Threads may share it.

    The most recently used token vectors of passages are cached. So a passage that many queries find runs
    through the model once.

    Token vectors are stored in float16. This changes a component by at most 1 in 2,048, and so a score by
    less than 0.001. In measurements the change was less than 0.0001. In return, float16 halves the memory and
    makes scores exact: a product of two float16 numbers up to 1 is a multiple of 2⁻⁴⁸, and float64 adds such
    numbers without rounding. So a pair gets the same score in any order and any batch.
    """

    def __init__(self, model: TokenModel, kept_bytes: int = _KEPT_BYTES) -> None:
        self._model = model
        self._kept = RecentArrays[Halves](kept_bytes)

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult:
        """Scores each text. `tokens` counts what the model read: the query, and passages that were not
        cached."""
        asked = self._model.embed_tokens([query], "query")[0].astype(np.float16)
        distinct = list(dict.fromkeys(texts))
        found = self._kept.get(distinct)
        missing = [text for text in distinct if text not in found]
        if missing:
            made = [matrix.astype(np.float16) for matrix in self._model.embed_tokens(missing, "passage")]
            new = dict(zip(missing, made, strict=True))
            self._kept.put(new)
            found |= new
        read = len(asked) + sum(len(found[text]) for text in missing)
        scores = np.zeros(len(texts))
        full = [slot for slot, text in enumerate(texts) if len(found[text])] if len(asked) else []
        for start in range(0, len(full), _TEXTS_AT_ONCE):
            slots = full[start : start + _TEXTS_AT_ONCE]
            scores[slots] = _maxsim(asked, [found[texts[slot]] for slot in slots])
        return RerankResult(scores, read)


def _maxsim(query: Halves, texts: Sequence[Halves]) -> Floats:
    """Returns the scores of texts by one matrix product. Each text must have a token."""
    rows = np.concatenate(texts, dtype=np.float64)
    starts = np.cumsum([0, *map(len, texts[:-1])])
    nearest = np.maximum.reduceat(rows @ query.astype(np.float64).T, starts, axis=0)
    means: Floats = np.clip(nearest, 0.0, 1.0).mean(axis=1)
    return means


_LEAST_TOKENS = 5  # three special tokens, and one of each text


@dataclass(frozen=True)
class CrossEncoder:
    """A cross-encoder: a local folder, or its name on the Hugging Face hub (Nogueira and Cho, 2019).

    Scores are the output of the model after the activation that its settings name. With some models they go
    from 0 to 1; with others they have no bounds.
    """

    model: str
    device: Device | None = None  # None: the library chooses the fastest
    max_tokens: int | None = None  # of query and passage together; None: as the model's settings say
    batch: int = outside_identity(32)
    first_address: ClassVar[str] = "assay.retrieval.rerank.cross_encoder:CrossEncoder"
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise UsageError(f"cross_encoder: batch is {self.batch}. It must be at least 1.")
        if self.max_tokens is not None and self.max_tokens < _LEAST_TOKENS:
            wanted = f"max_tokens is {self.max_tokens}. It must be at least {_LEAST_TOKENS}"
            raise UsageError(f"cross_encoder: {wanted}: three are special.")

    def identity(self, kit: Kit) -> str:
        """Returns the identity of the weights. The device does not count: devices differ only by rounding."""
        return weights_identity(local_or_hub(self.model, kit))

    def load(self, embedder: Embedder, kit: Kit) -> PairScorer:
        """Loads the model; the embedder is not used."""
        return _load(self, local_or_hub(self.model, kit), self.identity(kit))


class PairScorer:
    """A loaded cross-encoder.

    Threads wait for each other, because the library changes its tokenizer while it works.
    """

    def __init__(self, part: CrossEncoder, model: sentence_transformers.CrossEncoder) -> None:
        self._part, self._model = part, model
        self._turn = Lock()

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult:
        """Scores each text. `tokens` counts the tokens that the model read.

        The model reads the query again with each different text.
        """
        distinct = list(dict.fromkeys(texts))  # equal texts in different batches could differ by rounding
        if not distinct:
            return RerankResult(np.empty(0))
        pairs = [(query, text) for text in distinct]
        with self._turn:
            found = self._model.predict(pairs, batch_size=self._part.batch, show_progress_bar=False)
            tokens = self._tokens(query, distinct)
        if not np.isfinite(found).all():
            what = f"The cross-encoder {self._part.model!r} gave a score that is not a number"
            raise SystemFailure(f"{what}, for the query {query!r}. Check its weights, or use another.")
        by_text = dict(zip(distinct, found.tolist(), strict=True))
        return RerankResult(np.array([by_text[text] for text in texts], dtype=np.float64), tokens)

    def _tokens(self, query: str, texts: Sequence[str]) -> int:
        cut = self._model.max_seq_length
        encoded = self._model.tokenizer(
            [query] * len(texts), list(texts), truncation=cut is not None, max_length=cut
        )
        return sum(map(len, encoded["input_ids"]))


@lru_cache(maxsize=2)
def _load(part: CrossEncoder, where: str, identity: str) -> PairScorer:  # noqa: ARG001
    """Loads a model once per process and identity. A study may build thousands of small indexes with it."""
    model = open_checkpoint(
        "CrossEncoder",
        where,
        part.max_tokens,
        probe=lambda model: model.predict([("whole", "whole")], show_progress_bar=False),
        device=part.device,
    )
    if model.num_labels != 1:
        what = f"{part.model!r} gives {model.num_labels} scores per pair"
        raise UsageError(f"cross_encoder: {what}. Name a model that gives one, for relevance.")
    return PairScorer(part, model)


@dataclass(frozen=True)
class RerankEndpoint:
    """A reranking model behind an HTTP endpoint.

    `form` is the name of the field with the texts in a request: `documents` (Cohere, Jina, Voyage, vLLM,
    Infinity) or `texts` (TEI). `price` is the price of a million tokens. If the service does not count
    tokens, four characters count as one token.
    """

    url: str
    model: str | None = None  # None: the service has only one model
    key: str | None = field(default=None, repr=False)
    form: Literal["documents", "texts"] = "documents"
    price: float = outside_identity(0.0)
    timeout: float = outside_identity(30.0)
    retries: int = outside_identity(5)
    backoff: float = outside_identity(0.5)
    first_address: ClassVar[str] = "assay.retrieval.rerank.endpoint:RerankEndpoint"
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
        """Returns the identity of the service and the model.

        If a service silently changes its model, the identity stays the same.
        """
        return f"rerank {self.version} {self.endpoint.identity} {self.model}"


class _RerankedText(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None  # the name of `relevance_score` in TEI


class _RerankReply(msgspec.Struct):
    results: list[_RerankedText] = []
    data: list[_RerankedText] = []  # the name of `results` in Voyage
    usage: Any = None


class EndpointScorer:
    """An open connection to a reranking service. Threads may share it."""

    def __init__(self, part: RerankEndpoint, client: Client) -> None:
        self._part, self._client = part, client

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult:
        """Scores all texts with one request, or with several if the service refuses it as too large.

        Many services refuse blank texts. Blank texts are not sent, and get the lowest score of the other
        texts. If the query is blank, all scores are 0.
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
        # no `top_n` (Voyage: `top_k`): services score all texts unless asked for fewer
        payload: dict[str, object] = {"query": query, self._part.form: texts}
        if self._part.model is not None:
            payload["model"] = self._part.model
        return self._client.post("/rerank", payload, partial(self._read, query, texts))

    def _read(self, query: str, texts: Sequence[str], answer: Any) -> RerankResult:
        """Parses an answer that scores every text once. Raises a ValueError for any other answer."""
        found, count = msgspec.convert(answer, _RerankReply | list[_RerankedText]), len(texts)
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
