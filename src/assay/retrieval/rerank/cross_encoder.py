"""Reranking with a model that reads query and passage together, by the sentence-transformers library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.core.errors import SystemFailure, UsageError
from assay.core.parts import Embedder, RerankResult
from assay.core.protocols import Kit
from assay.core.registry import outside_identity
from assay.retrieval.embed.checkpoint import Device, local_or_hub, open_checkpoint, weights_identity

if TYPE_CHECKING:
    import sentence_transformers

_LEAST_TOKENS = 5  # three are special, and both texts need one


@dataclass(frozen=True)
class CrossEncoder:
    """A cross-encoder: a local folder, or its name on the Hugging Face hub (Nogueira and Cho, 2019).

    Scores are what the model gives, through the activation that its own settings name; some go from 0 to 1,
    others are unbounded.
    """

    model: str
    device: Device | None = None  # None: the library takes the fastest there is
    max_tokens: int | None = None  # of query and passage together; None: what the model's settings say
    batch: int = outside_identity(32)
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise UsageError(f"cross_encoder: batch is {self.batch}. It must be at least 1.")
        if self.max_tokens is not None and self.max_tokens < _LEAST_TOKENS:
            wanted = f"max_tokens is {self.max_tokens}. It must be at least {_LEAST_TOKENS}"
            raise UsageError(f"cross_encoder: {wanted}: three are special.")

    def identity(self, kit: Kit) -> str:
        """The weights. Not the device: devices differ by rounding."""
        return weights_identity(local_or_hub(self.model, kit))

    def load(self, embedder: Embedder, kit: Kit) -> PairScorer:
        """The model in memory; it needs no embedder."""
        return _load(self, local_or_hub(self.model, kit), self.identity(kit))


class PairScorer:
    """A loaded cross-encoder. Threads take turns: the library changes its tokenizer while it works."""

    def __init__(self, part: CrossEncoder, model: sentence_transformers.CrossEncoder) -> None:
        self._part, self._model = part, model
        self._turn = Lock()

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult:
        """A score a text; `tokens` are those read, the query's counted with every text."""
        distinct = list(dict.fromkeys(texts))  # in one batch or another equal texts could differ by rounding
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
    """The model, read once a process and identity: a study may build thousands of small indexes with it."""
    model = open_checkpoint(
        "CrossEncoder",
        where,
        part.max_tokens,
        probe=lambda model: model.predict([("whole", "whole")], show_progress_bar=False),
        device=part.device,
    )
    if model.num_labels != 1:
        what = f"{part.model!r} gives {model.num_labels} scores a pair"
        raise UsageError(f"cross_encoder: {what}. Name a model that gives one, for relevance.")
    return PairScorer(part, model)
