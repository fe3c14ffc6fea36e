"""A corpus that is searched by words and by vectors, and a tree over it with what routers read of each node.

If a tree loses nothing, it ranks as a flat system does. Both fuse the first `depth` passages by words with
the first `depth` passages by vectors. They differ only because tantivy rounds lengths. A tree only decides
which passages are ranked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array

from assay.core.dataset import Corpus
from assay.core.parts import NOTHING, Embedder, Floats, Fusion, Ints, Links, Ranking, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.records import Edge, Node, Structure
from assay.kinds.hierarchy.systems.tree import ROOT, Summary, Tree, node_id
from assay.retrieval.lexical import Analysis, QueryTerms, TermWeights, largest_child_weights
from assay.retrieval.links import passage_node
from assay.retrieval.vectors.exact import ExactStore, VectorComparison
from assay.systems.answering import Meter
from assay.systems.retrievers import (
    CombinedScorer,
    PassageScorer,
    VectorRetriever,
    VectorScores,
    WeightedScorer,
    WordScores,
    load_term_weights,
)


@dataclass(frozen=True)
class EncodedQuery:
    """A query: its text, its vector, and the words of its text that the corpus has."""

    text: str
    vector: Vectors
    terms: QueryTerms


@dataclass(frozen=True)
class CorpusIndex:
    """A corpus that can be searched by words and by vectors. Threads may share it."""

    corpus: Corpus
    meanings: VectorRetriever
    words: TermWeights
    fuse: Fusion
    depth: int

    @classmethod
    def of(cls, corpus: Corpus, model: Embedder, fuse: Fusion, depth: int, kit: Kit) -> CorpusIndex:
        meanings = VectorRetriever.build(corpus, model, ExactStore(), depth, kit)
        return cls(corpus, meanings, load_term_weights(corpus, Analysis(), kit), fuse, depth)

    @property
    def index(self) -> VectorComparison:
        """The vectors of the passages, ready to be compared with the vector of a query."""
        found = self.meanings.index
        if not isinstance(found, VectorComparison):
            raise TypeError("vectors of a tree are compared one by one")
        return found

    @property
    def vectors(self) -> Vectors:
        return self.index.vectors

    def ask(self, text: str, meter: Meter) -> EncodedQuery:
        """Returns the query with its vector and its terms."""
        embedded, cost = self.meanings.embedding.query(text)
        meter.lap("embed", took=embedded.seconds, tokens=embedded.tokens, cost=cost)
        return EncodedQuery(text, embedded.vector, self.words.terms(text))

    def lexical(self, query: EncodedQuery, positions: Ints) -> Floats:
        """Returns the BM25 scores of some passages."""
        return self.words.scores_at(query.terms, positions)

    def dense(self, query: EncodedQuery, positions: Ints) -> Floats:
        """Returns the cosines of some passages, rounded as in a vector index, so that ties are the same."""
        if not len(positions):
            return np.empty(0)  # an empty corpus has vectors of no length
        exact = np.vecdot(self.vectors[positions].astype(np.float64), query.vector.astype(np.float64))
        rounded: Floats = exact.astype(np.float32).astype(np.float64)
        return rounded

    def ranked(self, query: EncodedQuery, positions: Ints) -> Ranking:
        """Ranks some passages as a flat system does: by words and by vectors, fused.

        `positions` must be in rising order.
        """
        scores = self.lexical(query, positions)
        best = np.argsort(-scores, kind="stable")[: self.depth]
        best = best[scores[best] > 0]
        by_words = Ranking(positions[best], scores[best])
        return self.fuse.fuse([by_words, self._nearest(query, positions)])

    def _nearest(self, query: EncodedQuery, positions: Ints) -> Ranking:
        if not len(positions) or not query.vector.any():
            return NOTHING
        among = None if len(positions) == len(self.corpus) else positions
        (found,) = self.index.nearest(query.vector[np.newaxis], self.depth, among)
        return found

    @cached_property
    def rescoring(self) -> CombinedScorer:
        """The scorer for single passages that the search did not find. Flat systems have the same scorer."""
        weights = getattr(self.fuse, "weights", ()) or (0.5, 0.5)
        ways: list[PassageScorer] = [WordScores(self.words), VectorScores(self.meanings, self.corpus)]
        return CombinedScorer(
            [WeightedScorer(share / sum(weights), way) for share, way in zip(weights, ways, strict=True)]
        )

    def close(self) -> None:
        self.meanings.close()


@dataclass(frozen=True)
class Blend:
    """A score for a passage that does not depend on other passages: `words` × BM25 + `dense` × cosine."""

    words: float
    dense: float

    def scores(self, corpus_index: CorpusIndex, query: EncodedQuery, positions: Ints) -> Floats:
        found = np.zeros(len(positions))
        if self.words:
            found += self.words * corpus_index.lexical(query, positions)
        if self.dense:
            found += self.dense * corpus_index.dense(query, positions)
        return found


def top_ranking(positions: Ints, scores: Floats, k: int) -> Ranking:
    """Returns the `k` best of some passages. Ties are in corpus order."""
    order = np.lexsort((positions, -scores))[:k]
    return Ranking(positions[order], scores[order])


_PAIRS = 100_000  # of node and passage that are compared at once


@dataclass(frozen=True)
class IndexedTree:
    """A tree over a corpus, with the summaries of its nodes by level from 1 on. Threads may share it."""

    corpus_index: CorpusIndex
    tree: Tree
    summaries: list[list[Summary]]

    @cached_property
    def means(self) -> tuple[Floats, ...]:
        """The mean vector of the passages below each node, by level from 1 on."""
        vectors = np.asarray(self.corpus_index.vectors)
        found = []
        for members in self.tree.passages[1:]:
            counts = np.maximum(np.diff(members.indptr), 1)[:, np.newaxis]
            found.append(np.asarray(members @ vectors, np.float64) / counts)
        return tuple(found)

    @cached_property
    def centroids(self) -> tuple[Vectors, ...]:
        """The direction of the mean vector of each node."""
        return tuple(normalize_rows(each) for each in self.means)

    @cached_property
    def radii(self) -> tuple[Floats, ...]:
        """The distance from each node's mean to the farthest passage below it."""
        return tuple(
            self._farthest(members, means)
            for members, means in zip(self.tree.passages[1:], self.means, strict=True)
        )

    def _farthest(self, members: csr_array, means: Floats) -> Floats:
        node = np.repeat(np.arange(members.shape[0]), np.diff(members.indptr))
        found = np.zeros(members.shape[0])
        for start in range(0, len(node), _PAIRS):
            part = slice(start, start + _PAIRS)
            apart = self.corpus_index.vectors[members.indices[part]] - means[node[part]]
            np.maximum.at(found, node[part], np.sqrt(np.vecdot(apart, apart)))
        return found

    @cached_property
    def words(self) -> tuple[csc_array, ...]:
        """The largest weight of each term in any passage below each node, by level from 1 on."""
        found = [largest_child_weights(self.tree.below[-1].matrix, self.corpus_index.words.by_term)]
        for below in reversed(self.tree.below[1:-1]):
            found.append(largest_child_weights(below.matrix, found[-1]))
        return tuple(reversed(found))

    @cached_property
    def summary_vectors(self) -> tuple[Vectors, ...]:
        """The vector of each node's summary."""
        embedding = self.corpus_index.meanings.embedding
        return tuple(embedding.passages([each.text for each in level]) for level in self.summaries)

    @cached_property
    def summary_words(self) -> tuple[TermWeights, ...]:
        """BM25 over the summaries of each level."""
        return tuple(TermWeights.build(each.text for each in level) for level in self.summaries)

    def landmarks(self, count: int) -> tuple[Landmarks, ...]:
        """Returns several vectors per node: its centroid, and the passages that lie farthest apart.

        Each further vector is the passage that is farthest from all vectors chosen before.
        """
        return tuple(
            Landmarks.of(np.asarray(self.corpus_index.vectors), members, centroids, count)
            for members, centroids in zip(self.tree.passages[1:], self.centroids, strict=True)
        )

    def structure(self, links: Links | None) -> Structure:
        """Returns the tree as it is published, with its cross-links."""
        passages = self.corpus_index.corpus.passages
        nodes = [Node(ROOT, 0, "root")]
        edges: list[Edge] = []
        for level, below in enumerate(self.tree.below):
            last = level == self.tree.depth
            for node in range(len(below)):
                own = node_id(level, node)
                if level:
                    about = self.summaries[level - 1][node]
                    nodes.append(
                        Node(own, level, "branch", about=about.text or None, entities=about.key_entities)
                    )
                edges += [
                    Edge(own, passage_node(passages[each].doc_id) if last else node_id(level + 1, each))
                    for each in below.of(node).tolist()
                ]
        nodes += [Node(passage_node(each.doc_id), role="passage", doc_id=each.doc_id) for each in passages]
        if links is not None:
            nodes += links.nodes()
            edges += links.edges()
        return Structure(nodes, edges)


@dataclass(frozen=True)
class Landmarks:
    """Several vectors per node, in rows. The vectors of node n are `rows[starts[n]:starts[n + 1]]`."""

    starts: Ints
    rows: Vectors

    @classmethod
    def of(cls, vectors: Vectors, members: csr_array, centroids: Vectors, count: int) -> Landmarks:
        parts = [
            _farthest_first(centroids[node], vectors[members.indices[start:end]], count)
            for node, (start, end) in enumerate(zip(members.indptr[:-1], members.indptr[1:], strict=True))
        ]
        return cls(np.cumsum([0, *map(len, parts)]), np.concatenate([centroids[:0], *parts]))

    def nearest(self, vector: Vectors, nodes: Ints) -> Floats:
        """Returns the cosine of a vector with the nearest landmark of each node."""
        rows = np.concatenate([np.arange(self.starts[node], self.starts[node + 1]) for node in nodes])
        sizes = self.starts[nodes + 1] - self.starts[nodes]
        near = np.vecdot(self.rows[rows], vector).astype(np.float64)
        found: Floats = np.maximum.reduceat(near, np.cumsum(sizes) - sizes)
        return found


def _farthest_first(centroid: Vectors, members: Vectors, count: int) -> Vectors:
    """Returns the centroid and members of a node, at most `count` vectors.

    Each further vector is the member that is farthest from all vectors chosen before.
    """
    chosen = [centroid]
    nearest = members @ centroid
    while len(chosen) < min(count, len(members) + 1):
        far = int(np.argmin(nearest))
        chosen.append(members[far])
        nearest = np.maximum(nearest, members @ members[far])
    return np.array(chosen)
