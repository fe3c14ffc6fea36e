"""Routers score the children of a node, and decide how many of the children a search follows.

A router sees some of what lies below a node: the node's summary, its centroid, several of its vectors, or the
largest weight that each word has in any passage below it. Scores are compared only within one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import Floats, Ints, Reranker
from assay.core.registry import RERANKERS
from assay.kinds.hierarchy.systems.corpus_tree import EncodedQuery, IndexedTree
from assay.retrieval.lexical import sparse_column

ROUTERS = "assay.routers"  # the group of plugins

FIRST_ADDRESS = "assay.systems.hierarchy.routers"

FIRST = "first"  # the stage that decides, unless there is a reranker


class NodeScorer(Protocol):
    """A router that was loaded for one tree. Threads may share it."""

    def scores(self, query: EncodedQuery, level: int, nodes: Ints) -> Mapping[str, Floats]:
        """Returns the scores of some nodes of a level, by stage. The scores of the stage FIRST decide."""
        ...


@runtime_checkable
class Router(Protocol):
    """Decides how a search goes down a tree: `both(beam=[6, 20, 50])`, `cascade`.

    `BeamRouter` has the members.
    """

    @property
    def expand(self) -> int | None: ...
    @property
    def cut(self) -> int | None: ...
    @property
    def rerank(self) -> Reranker | None: ...
    @property
    def ema(self) -> float: ...
    @property
    def diversity(self) -> float: ...

    def width(self, level: int) -> int:
        """Returns how many nodes of a level are kept."""
        ...

    def load(self, indexed: IndexedTree) -> NodeScorer: ...


@dataclass(frozen=True, kw_only=True)
class BeamRouter:
    """The parameters of every router: how many nodes the search follows.

    `beam` is the number of nodes that are kept at each level. Its last number also holds for all levels
    below. `cut` is the largest number of children of one node that remain after the first scores. `rerank`
    reranks only these children. `expand` is the largest number of children of one node that remain after
    that. A child's score is `ema` parts of its parent's score and 1 - `ema` parts of its own score. Own
    scores are scaled to 0 to 1 among the candidates of the step. With `diversity`, nodes are kept by maximal
    marginal relevance.
    """

    beam: tuple[int, ...] = (5, 20, 50)
    expand: int | None = None
    cut: int | None = None
    rerank: Annotated[Reranker | None, RERANKERS] = None
    ema: float = 0.0
    diversity: float = 0.0
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        counts = {"beam": min(self.beam, default=0), "expand": self.expand, "cut": self.cut}
        for name, count in counts.items():
            if count is not None and count < 1:
                raise UsageError(f"{name} must be at least 1, not {count}.")
        for name in ("ema", "diversity"):
            if not 0.0 <= (share := getattr(self, name)) < 1.0:
                raise UsageError(f"{name} is {share}. It goes from 0, none, to below 1.")

    def width(self, level: int) -> int:
        """Returns how many nodes of a level are kept."""
        return self.beam[min(level, len(self.beam)) - 1]


@dataclass(frozen=True)
class SummaryRouter(BeamRouter):
    """Scores a node by the cosine between the query and the node's summary."""

    first_address: ClassVar[str] = "assay.systems.hierarchy.routers:SummaryCosine"

    def load(self, indexed: IndexedTree) -> NodeScorer:
        return _SummaryScorer(indexed)


@dataclass(frozen=True)
class CascadeRouter(BeamRouter):
    """Scores a node by the words and the cosine of its summary.

    By default, `cut` keeps three children of each node, and `expand` keeps two of these three.
    """

    first_address: ClassVar[str] = "assay.systems.hierarchy.routers:Cascade"

    beam: tuple[int, ...] = (2, 4, 8)
    expand: int | None = 2
    cut: int | None = 3
    ema: float = 0.3
    diversity: float = 0.1

    def load(self, indexed: IndexedTree) -> NodeScorer:
        return _CascadeScorer(indexed)


@dataclass(frozen=True)
class CentroidRouter(BeamRouter):
    """Scores a node by the cosine between the query and the mean of the passages below the node.

    With `vectors` above 1, each node has several vectors, and the nearest of them counts.
    """

    first_address: ClassVar[str] = "assay.systems.hierarchy.routers:Centroids"

    vectors: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_vectors("centroids", self.vectors)

    def load(self, indexed: IndexedTree) -> NodeScorer:
        return _CentroidScorer(indexed, self.vectors)


@dataclass(frozen=True)
class WordRouter(BeamRouter):
    """Scores a node by the query's words, each by its largest weight in any passage below the node.

    The score is the sum over the words. No passage below the node has a higher BM25 score. So a node whose
    passages lack a rare word of the query scores low.
    """

    first_address: ClassVar[str] = "assay.systems.hierarchy.routers:Words"

    def load(self, indexed: IndexedTree) -> NodeScorer:
        return _WordScorer(indexed)


@dataclass(frozen=True)
class HybridRouter(BeamRouter):
    """Scores a node by the vectors and the words below it.

    Each of the two scores is counted in standard deviations from the mean of the candidates.
    """

    first_address: ClassVar[str] = "assay.systems.hierarchy.routers:Both"

    vectors: int = 1
    share: float = 0.5  # the weight of the words

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_vectors("both", self.vectors)
        if not 0.0 <= self.share <= 1.0:
            raise UsageError(f"both: share is {self.share}. It is the share of the words, from 0 to 1.")

    def load(self, indexed: IndexedTree) -> NodeScorer:
        return _HybridScorer(_CentroidScorer(indexed, self.vectors), _WordScorer(indexed), self.share)


def _check_vectors(router: str, vectors: int) -> None:
    if vectors < 1:
        raise UsageError(f"{router}: vectors is {vectors}. It must be at least 1.")


# ----------------------------------------------------------------------------------------- scorers


def standard_scores(scores: Floats) -> Floats:
    """Returns each score's distance from the mean in standard deviations, or 0 if all scores are equal."""
    around = scores - scores.mean()
    spread = np.sqrt(np.mean(around * around))
    return around / spread if spread > 0 else np.zeros(len(scores))


class _SummaryScorer:
    def __init__(self, indexed: IndexedTree) -> None:
        self._vectors = indexed.summary_vectors

    def scores(self, query: EncodedQuery, level: int, nodes: Ints) -> Mapping[str, Floats]:
        near = np.vecdot(self._vectors[level - 1][nodes], query.vector).astype(np.float64)
        return {FIRST: near}


class _CascadeScorer:
    def __init__(self, indexed: IndexedTree) -> None:
        self._near = _SummaryScorer(indexed)
        self._words = indexed.summary_words

    def scores(self, query: EncodedQuery, level: int, nodes: Ints) -> Mapping[str, Floats]:
        dense = self._near.scores(query, level, nodes)[FIRST]
        weights = self._words[level - 1]
        words = weights.scores(weights.terms(query.text))[nodes]
        return {FIRST: standard_scores(words) + standard_scores(dense), "words": words, "dense": dense}


class _CentroidScorer:
    def __init__(self, indexed: IndexedTree, count: int) -> None:
        self._centroids = indexed.centroids
        self._landmarks = indexed.landmarks(count) if count > 1 else None

    def scores(self, query: EncodedQuery, level: int, nodes: Ints) -> Mapping[str, Floats]:
        if self._landmarks is not None:
            return {FIRST: self._landmarks[level - 1].nearest(query.vector, nodes)}
        return {FIRST: np.vecdot(self._centroids[level - 1][nodes], query.vector).astype(np.float64)}


class _WordScorer:
    def __init__(self, indexed: IndexedTree) -> None:
        self._largest = indexed.words

    def scores(self, query: EncodedQuery, level: int, nodes: Ints) -> Mapping[str, Floats]:
        largest = self._largest[level - 1]
        found = np.zeros(largest.shape[0])
        for term, times in zip(query.terms.numbers.tolist(), query.terms.times.tolist(), strict=True):
            column = sparse_column(largest, term)
            found[column.indices] += times * column.data
        return {FIRST: found[nodes]}


class _HybridScorer:
    def __init__(self, vectors: NodeScorer, words: NodeScorer, share: float) -> None:
        self._vectors, self._words, self._share = vectors, words, share

    def scores(self, query: EncodedQuery, level: int, nodes: Ints) -> Mapping[str, Floats]:
        dense, words = (each.scores(query, level, nodes)[FIRST] for each in (self._vectors, self._words))
        first = self._share * standard_scores(words) + (1 - self._share) * standard_scores(dense)
        return {FIRST: first, "words": words, "dense": dense}
