"""How well each node matches a query, from 0 to 1: by words, by vectors, or by the mean of both.

By words, the BM25 score of a text is divided by the score of a text of average length that has each content
word of the query once. Only words that occur in the corpus count. The scores of different queries can
therefore be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array

from assay.core.parts import Embedder, Vectors
from assay.core.protocols import Kit
from assay.kinds.memory.systems.graph import Floats
from assay.retrieval.embedding import EmbeddingCache
from assay.retrieval.words import content_stems
from assay.systems.answering import Meter

_K1, _B = 1.2, 0.75


class Relevance(Protocol):
    """A way to score every node for a query. Several threads may share an object."""

    def of(self, query: str, meter: Meter) -> Floats: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class WordRelevance:
    """The BM25 scores of nodes. A text of average length that has every word of the query once scores 1."""

    terms: dict[str, int]
    saturated: csc_array  # rows: nodes, columns: terms; BM25's saturated count of each term
    idf: Floats

    @classmethod
    def build(cls, texts: Sequence[str]) -> WordRelevance:
        stems = content_stems(texts)
        terms: dict[str, int] = {}
        columns = [terms.setdefault(stem, len(terms)) for words in stems for stem in words]
        lengths = np.array([len(words) for words in stems], dtype=np.int64)
        rows = np.repeat(np.arange(len(stems)), lengths)
        shape = (len(stems), max(len(terms), 1))
        counts = csc_array((np.ones(len(columns)), (rows, np.array(columns, dtype=np.int64))), shape=shape)
        counts.sum_duplicates()
        having = np.diff(counts.indptr)
        idf = np.log(1 + (len(stems) - having + 0.5) / (having + 0.5))
        mean = max(float(lengths.mean()) if len(lengths) else 0.0, 1.0)
        norm = _K1 * (1 - _B + _B * lengths / mean)
        counts.data = counts.data * (_K1 + 1) / (counts.data + norm[counts.indices])
        return cls(terms, counts, idf)

    def of(self, query: str, meter: Meter) -> Floats:
        (words,) = content_stems([query])
        known = [self.terms[word] for word in dict.fromkeys(words) if word in self.terms]
        found = np.zeros(self.saturated.shape[0])
        for term in known:
            begin, end = self.saturated.indptr[term], self.saturated.indptr[term + 1]
            found[self.saturated.indices[begin:end]] += self.saturated.data[begin:end] * self.idf[term]
        meter.lap("search")
        return found / float(self.idf[known].sum()) if known else found

    def close(self) -> None:
        """Does nothing, because there is nothing to close."""


@dataclass(frozen=True)
class VectorRelevance:
    """The cosine between the vectors of query and node; 0 if the cosine is negative."""

    embedding: EmbeddingCache
    vectors: Vectors

    @classmethod
    def build(cls, texts: Sequence[str], model: Embedder, kit: Kit) -> VectorRelevance:
        embedding = EmbeddingCache(model, kit)
        return cls(embedding, embedding.passages(texts))

    def of(self, query: str, meter: Meter) -> Floats:
        if not len(self.vectors):
            return np.zeros(0)
        embedded, cost = self.embedding.query(query)
        meter.lap("embed", took=embedded.seconds, tokens=embedded.tokens, cost=cost)
        cosines: Floats = np.clip(self.vectors @ embedded.vector, 0.0, 1.0).astype(np.float64)
        meter.lap("search")
        return cosines

    def close(self) -> None:
        self.embedding.close()


@dataclass(frozen=True)
class MixedRelevance:
    """The mean of the word score, which is at most 1 here, and the vector score."""

    words: WordRelevance
    vectors: VectorRelevance

    def of(self, query: str, meter: Meter) -> Floats:
        words = np.minimum(self.words.of(query, meter), 1.0)
        mean: Floats = (words + self.vectors.of(query, meter)) / 2
        return mean

    def close(self) -> None:
        self.vectors.close()
