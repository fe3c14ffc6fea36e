"""The parts that retrieval systems are made of, and what each has to look like.

A part is a plugin like any other: a frozen dataclass whose fields are its parameters, named in a study as
the value of a system's parameter, such as `dense(model=minilm, store=hnsw(m=32))`. A field that takes a part
says so with its group: `model: Annotated[Embedder, EMBEDDERS] = Static()`. A part is light; what is heavy
(weights, connections) is in what its `load`, `open` or `build` gives.

Optional attributes of every part, as of a system: `version`, and `identity(kit)`, what else decides what it
does (hashes of models and files).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import DataError, Problem
from assay.core.records import Document, Edge, Node, Passage, Span

if TYPE_CHECKING:
    from assay.core.dataset import Corpus
    from assay.core.protocols import Kit


Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]
Role = Literal["query", "passage"]
Where = Mapping[str, str | int | bool | Sequence[str | int | bool]]


class Ranking(NamedTuple):
    """Positions in a corpus, best first, with their scores. Equal scores stand in corpus order."""

    positions: Ints
    scores: Floats


NOTHING = Ranking(np.empty(0, np.int64), np.empty(0, np.float64))


# ----------------------------------------------------------------------------------- tokens, chunks


class Tokens(Protocol):
    """A loaded tokenizer. Threads may share it."""

    @property
    def name(self) -> str: ...

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, special tokens not counted."""
        ...

    def spans(self, text: str) -> list[Span]:
        """The characters of each token, in order and without a gap; tokens that share a character give it
        to one of them, and the others may be empty."""
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """What counts tokens: `o200k_base`, `tokenizer_json(path=…)`."""

    def load(self, kit: Kit) -> Tokens: ...


@runtime_checkable
class Chunker(Protocol):
    """What cuts documents into passages.

    Each passage names its document (`source`), its `span` there, and keeps title and metadata. Its doc_id is
    `SOURCE#START-END`, so that it says the same in every chunking that cuts it so.
    """

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]: ...


# ----------------------------------------------------------------------------------------- vectors


class EmbeddingResult(NamedTuple):
    """Vectors of length 1, a row a text (zeros for a text without a token), and what making them took."""

    vectors: Vectors
    tokens: int = 0
    cost: float = 0.0


class Model(Protocol):
    """A loaded embedding model. Threads may share it.

    `identity` changes whenever its vectors may. `batch` is how many texts one call should be given, so that
    those who keep vectors can write them down as they come; a model that waits for somebody else may have
    `threads`, how many calls may be in flight. `embed` may raise Retryable.
    """

    @property
    def identity(self) -> str: ...
    @property
    def batch(self) -> int: ...

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult: ...


@runtime_checkable
class TokenModel(Protocol):
    """A model that can also say where each token of a text points."""

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """A matrix a text: a row of length 1 a token."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """An embedding model as a study names it: `static`, `minilm`, `openai(model=…)`.

    `identity(kit)` is that of the loaded model, told without loading it where that is possible.
    """

    def load(self, kit: Kit) -> Model: ...
    def identity(self, kit: Kit) -> str: ...


class VectorIndex(Protocol):
    """Vectors by position, searched by cosine. Threads may share it."""

    def __len__(self) -> int: ...

    def search(self, queries: ArrayLike, k: int, where: Where | None = None) -> list[Ranking]:
        """The k nearest for each row of `queries`; none for a row of zeros.

        `where` keeps to vectors whose metadata has the value, or one of the values, under every key.
        """
        ...

    def close(self) -> None: ...


@runtime_checkable
class VectorStore(Protocol):
    """Where vectors are kept and searched: `exact`, `hnsw`, `qdrant(url=…)`, `postgres(url=…)`.

    A name stands for content: what is stored under it never changes. A store that builds differently by its
    parameters tells such indexes apart by itself.
    """

    def open(self, name: str, kit: Kit) -> VectorIndex | None:
        """The whole index of that name; None where there is none, or only a part of one."""
        ...

    def build(
        self, name: str, vectors: Vectors, kit: Kit, metadata: Sequence[Mapping[str, object]] = ()
    ) -> VectorIndex:
        """Stores vectors of length 1 under a name, all or nothing, whatever a killed build left there."""
        ...


# ------------------------------------------------------------------------ fusion, reranking, selection


@runtime_checkable
class Fusion(Protocol):
    """How several rankings become one: `rrf(k=60)`, `weighted(weights=[0.3, 0.7], norm=minmax)`."""

    def fuse(self, rankings: Sequence[Ranking]) -> Ranking: ...


class RerankResult(NamedTuple):
    """A score a text, the higher the better, and what making them took."""

    scores: Floats
    tokens: int = 0
    cost: float = 0.0


class Scorer(Protocol):
    """A loaded reranker. Threads may share it. `scores` may raise Retryable."""

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult: ...


@runtime_checkable
class Reranker(Protocol):
    """What looks at query and passage together: `maxsim`, `cross_encoder(model=…)`, `rerank_endpoint(url=…)`.

    `embedder` is the model of the system that it serves, for those that can use it too.
    """

    def load(self, embedder: Embedder, kit: Kit) -> Scorer: ...


@dataclass(frozen=True)
class Candidates:
    """What a context may be made of, best first: relevance from 0 to 1, and size in tokens."""

    relevance: Floats
    tokens: Ints
    embed: Callable[[], Vectors]  # a row of length 1 a candidate, worked out where a selector asks for it
    # what a selector needs under every budget, worked out once: the candidates are the same for all
    memo: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def similarity(self) -> Floats:
        """How much alike each pair is, from 0 to 1: cosine, negative ones as 0."""
        vectors = self.embed().astype(np.float64)
        alike: Floats = np.clip(vectors @ vectors.T, 0.0, 1.0)
        np.fill_diagonal(alike, 1.0)
        return alike


@runtime_checkable
class Selector(Protocol):
    """What a reader is shown of the candidates: `top`, `mmr(diversity=0.3)`, `knapsack`."""

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Positions of the chosen candidates, in the order they are shown; their tokens fit the budget."""
        ...


# ---------------------------------------------------------------------------------- cross-links

LEADS = "names"  # the edges from a name to a passage about it
ScoresOf = Callable[[Ints], Floats]  # what a system's own scorer gives passages by position


class LinkedPassage(NamedTuple):
    """A passage that a link led to: from which passage, over which name, how far, and what that is worth."""

    position: int
    source: int
    name: str
    hop: int
    weight: float  # what the way there leaves of 1
    score: float  # how relevant it is, from 0 to 1: the weight, times how its own score compares to the best


class Links(Protocol):
    """The links of one corpus. Threads may share them."""

    @property
    def floor(self) -> float:
        """What a sentence with the name of the link counts at least, as a share of the passage's score."""
        ...

    def follow(self, query: str, first: Ranking, scores_of: ScoresOf) -> list[LinkedPassage]:
        """The passages that links lead to from the first of a ranking, best first, each once."""
        ...

    def nodes(self) -> Iterator[Node]:
        """The names that links go over, as an index publishes them."""
        ...

    def edges(self) -> Iterator[Edge]:
        """From each passage to the names in it ("mentions"), and from those to where they lead ("names")."""
        ...


@runtime_checkable
class LinkBuilder(Protocol):
    """How links are made: `names(hops=1)`."""

    def build(self, corpus: Corpus, kit: Kit) -> Links: ...


def row_lengths(matrix: ArrayLike) -> NDArray[np.float64]:
    """The length of each row, in float64: the squares of very small or large numbers leave float32."""
    rows = np.asarray(matrix)
    squared: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return np.sqrt(squared)


def normalize_rows(matrix: ArrayLike) -> NDArray[np.float32]:
    """The rows scaled to length 1, in float32. A row of zeros, which has no direction, stays zero."""
    rows = np.asarray(matrix)
    long = row_lengths(rows)
    if not np.isfinite(long).all():
        row = int(np.flatnonzero(~np.isfinite(long))[0])
        fix = "Check the model that made it."
        raise DataError(Problem("a vector holds NaN or infinity", f"row {row}", fix=fix))
    scaled = np.zeros(rows.shape, dtype=np.float32)
    np.divide(rows, long[:, None], out=scaled, where=long[:, None] > 0)
    return scaled
