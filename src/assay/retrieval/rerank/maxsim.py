"""Reranking token by token, with the vectors that an embedding model gives each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import UsageError
from assay.core.parts import Embedder, Floats, RerankResult, TokenModel
from assay.core.protocols import Kit
from assay.core.registry import EMBEDDERS
from assay.retrieval.embed.static import RecentArrays

Halves = NDArray[np.float16]

_KEPT_BYTES = 2**30  # some 14,000 passages of 100 tokens and 384 dimensions
_TEXTS_AT_ONCE = 64  # bounds the product: 64 texts × 256 tokens × 384 dimensions in float64 are 50 MB


@dataclass(frozen=True)
class MaxSim:
    """Late interaction: each token of the query looks for the token of the passage that is most like it.

    A passage scores the mean over the query's tokens of the largest cosine with a token of the passage
    (Khattab and Zaharia, ColBERT, SIGIR 2020). They take the sum; the mean ranks the same, and compares
    between queries of different length. A query token to which no token of the passage is alike at all, so
    that its largest cosine is negative, counts 0. Scores go from 0 to 1; a query or a passage without a
    token scores 0.

    `model` is any embedding model that tells its tokens apart; None: the one of the system it serves.
    """

    version: ClassVar[str] = "1"

    model: Annotated[Embedder, EMBEDDERS] | None = None

    def identity(self, kit: Kit) -> str:
        """Its own model's; that of the system it serves is part of that system's."""
        return "" if self.model is None else self.model.identity(kit)

    def load(self, embedder: Embedder, kit: Kit) -> LateInteraction:
        """The reranker on its own model, or on `embedder`."""
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

    Token vectors of passages are kept, those used last, so that a passage found by many queries runs
    through the model once. They are kept in float16. That moves a component by at most 1 in 2,048 of itself,
    and so a score by less than 0.001; measured, by less than 0.0001. In return it halves the memory and makes
    scores exact: a product of two float16 up to 1 is a multiple of 2⁻⁴⁸, and float64 adds such numbers
    without rounding. In whatever order they are added, in whatever batch, a pair scores the same.
    """

    def __init__(self, model: TokenModel, kept_bytes: int = _KEPT_BYTES) -> None:
        self._model = model
        self._kept = RecentArrays[Halves](kept_bytes)

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult:
        """A score a text. `tokens` are those the model read for it: the query's and new passages'."""
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
    """One matrix product for all texts, none of them empty, and the maximum over the rows of each."""
    rows = np.concatenate(texts, dtype=np.float64)
    starts = np.cumsum([0, *map(len, texts[:-1])])
    nearest = np.maximum.reduceat(rows @ query.astype(np.float64).T, starts, axis=0)
    means: Floats = np.clip(nearest, 0.0, 1.0).mean(axis=1)
    return means
