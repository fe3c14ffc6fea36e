"""The parts of retrieval systems, and the protocols of these parts.

A part is a plugin: a frozen dataclass whose fields are its parameters. A study gives a part as the value of a
system's parameter: `dense(model=minilm, store=hnsw(m=32))`. A field that accepts a part names the group of
the part: `model: Annotated[Embedder, EMBEDDERS] = Static()`. A part itself is small. Its method `load`,
`open` or `build` makes what is large, such as weights and connections.

A part may also be a `VersionedPlugin` and an `IdentifiedPlugin` of `core/optional.py`.
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
    """Positions in a corpus, the best first, with their scores.

    Positions with equal scores are in corpus order.
    """

    positions: Ints
    scores: Floats


NOTHING = Ranking(np.empty(0, np.int64), np.empty(0, np.float64))


# ----------------------------------------------------------------------------------- tokens, chunks


class Tokens(Protocol):
    """A loaded tokenizer. Threads may share it."""

    @property
    def name(self) -> str: ...

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Returns the number of tokens of each text, without special tokens."""
        ...

    def spans(self, text: str) -> list[Span]:
        """Returns the span of characters of each token, in order and without gaps.

        If several tokens share a character, one of them has the character, and the others may be empty.
        """
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """Counts tokens: `o200k_base`, `tokenizer_json(path=…)`."""

    def load(self, kit: Kit) -> Tokens: ...


@runtime_checkable
class Chunker(Protocol):
    """Cuts documents into passages.

    Each passage names its document (`source`) and its `span` there, and has the title and metadata of the
    document. Its doc_id is `SOURCE#START-END`, so the same passage has the same id in every chunking.
    """

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]: ...


# ----------------------------------------------------------------------------------------- vectors


class EmbeddingResult(NamedTuple):
    """The vectors of some texts, with the tokens that they took and the cost.

    There is one row of length 1 per text, or a row of zeros for a text without a token.
    """

    vectors: Vectors
    tokens: int = 0
    cost: float = 0.0


class Model(Protocol):
    """A loaded embedding model. Threads may share it.

    `identity` changes if the vectors may change. `batch` is the number of texts for one call, so that vectors
    can be stored after each call. A model that waits for a service may be a `ThreadedPlugin`. `embed` may
    raise Retryable.
    """

    @property
    def identity(self) -> str: ...
    @property
    def batch(self) -> int: ...

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult: ...


@runtime_checkable
class TokenModel(Protocol):
    """A model that can also give one vector per token."""

    def embed_tokens(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Returns one matrix per text, with one row of length 1 per token."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """An embedding model as a study names it: `static`, `minilm`, `openai(model=…)`.

    `identity` returns the identity of the loaded model, if possible without loading it.
    """

    def load(self, kit: Kit) -> Model: ...
    def identity(self, kit: Kit) -> str: ...


class VectorIndex(Protocol):
    """An index of vectors that is searched by cosine. A vector is named by its position.

    Threads may share the index.
    """

    def __len__(self) -> int: ...

    def search(self, queries: ArrayLike, k: int, where: Where | None = None) -> list[Ranking]:
        """Returns the k nearest vectors for each row of `queries`; no vectors for a row of zeros.

        With `where`, only vectors are searched whose metadata has, under every key of `where`, its value or
        one of its values.
        """
        ...

    def close(self) -> None: ...


@runtime_checkable
class VectorStore(Protocol):
    """Stores vectors and searches them: `exact`, `hnsw`, `qdrant(url=…)`, `postgres(url=…)`.

    What is stored under a name never changes. If a parameter of a store changes how indexes are built, the
    store itself must distinguish these indexes.
    """

    def open(self, name: str, kit: Kit) -> VectorIndex | None:
        """Returns the complete index of that name; None if there is none or if it is incomplete."""
        ...

    def build(
        self, name: str, vectors: Vectors, kit: Kit, metadata: Sequence[Mapping[str, object]] = ()
    ) -> VectorIndex:
        """Stores vectors of length 1 under a name, and returns their index.

        It stores all vectors or none, even if a build is killed.
        """
        ...


# ------------------------------------------------------------------------ fusion, reranking, selection


@runtime_checkable
class Fusion(Protocol):
    """Merges several rankings into one: `rrf(k=60)`, `weighted(weights=[0.3, 0.7], norm=minmax)`."""

    def fuse(self, rankings: Sequence[Ranking]) -> Ranking: ...


class RerankResult(NamedTuple):
    """One score per text, where higher is better, with the tokens that were used and the cost."""

    scores: Floats
    tokens: int = 0
    cost: float = 0.0


class Scorer(Protocol):
    """A loaded reranker. Threads may share it. `scores` may raise Retryable."""

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult: ...


@runtime_checkable
class Reranker(Protocol):
    """Scores a query and a passage together: `maxsim`, `cross_encoder(model=…)`, `rerank_endpoint(url=…)`.

    `embedder` is the embedding model of the system. A reranker can use it too.
    """

    def load(self, embedder: Embedder, kit: Kit) -> Scorer: ...


@dataclass(frozen=True)
class Candidates:
    """The passages from which a context can be made, the best first.

    Each has a relevance from 0 to 1, and a size in tokens.
    """

    relevance: Floats
    tokens: Ints
    embed: Callable[[], Vectors]  # one row of length 1 per candidate, if a selector needs them
    # what a selector computes once for all budgets, since the candidates are the same
    memo: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def similarity(self) -> Floats:
        """The similarity of each pair of candidates, from 0 to 1: the cosine, or 0 if it is negative."""
        vectors = self.embed().astype(np.float64)
        alike: Floats = np.clip(vectors @ vectors.T, 0.0, 1.0)
        np.fill_diagonal(alike, 1.0)
        return alike


@runtime_checkable
class Selector(Protocol):
    """Selects the candidates that a reader sees: `top`, `mmr(diversity=0.3)`, `knapsack`."""

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Returns the positions of the selected candidates, in the order in which a reader sees them.

        Their tokens together fit the budget.
        """
        ...


# ---------------------------------------------------------------------------------- cross-links

LEADS = "names"  # the edges from a name to a passage about it
ScoresOf = Callable[[Ints], Floats]  # the system's own scores of passages, by position


class LinkedPassage(NamedTuple):
    """A passage that was found over a link.

    It has the passage where the link begins, the name that links both, and the number of links to it (`hop`).
    """

    position: int
    source: int
    name: str
    hop: int
    weight: float  # from 0 to 1, lower for longer ways
    score: float  # its relevance from 0 to 1: the weight times its own score relative to the best


class Links(Protocol):
    """The links of one corpus. Threads may share them."""

    @property
    def floor(self) -> float:
        """The least score of a sentence with the name of the link, as a share of the score of its passage."""
        ...

    def follow(self, query: str, first: Ranking, scores_of: ScoresOf) -> list[LinkedPassage]:
        """Returns the passages to which the first passages of a ranking link, the best first.

        Each passage occurs once.
        """
        ...

    def nodes(self) -> Iterator[Node]:
        """Yields a node for each name that links passages, as an index publishes it."""
        ...

    def edges(self) -> Iterator[Edge]:
        """Yields the edges between passages and names.

        An edge leads from a passage to each name in it ("mentions"), or from a name to a passage about it
        ("names").
        """
        ...


@runtime_checkable
class LinkBuilder(Protocol):
    """Makes the links of a corpus: `names(hops=1)`."""

    def build(self, corpus: Corpus, kit: Kit) -> Links: ...


def row_lengths(matrix: ArrayLike) -> NDArray[np.float64]:
    """Returns the length of each row.

    It computes in float64, since squares of very small or very large numbers do not fit float32.
    """
    rows = np.asarray(matrix)
    squared: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return np.sqrt(squared)


def normalize_rows(matrix: ArrayLike) -> NDArray[np.float32]:
    """Scales the rows to length 1, in float32. A row of zeros stays zero."""
    rows = np.asarray(matrix)
    long = row_lengths(rows)
    if not np.isfinite(long).all():
        row = int(np.flatnonzero(~np.isfinite(long))[0])
        fix = "Check the model that made it."
        raise DataError(Problem("a vector holds NaN or infinity", f"row {row}", fix=fix))
    scaled = np.zeros(rows.shape, dtype=np.float32)
    np.divide(rows, long[:, None], out=scaled, where=long[:, None] > 0)
    return scaled
