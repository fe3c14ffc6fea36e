"""How well each node matches a query, from 0 to 1: by words, by vectors, or by the mean of both.

By words, the BM25 score of a text is divided by the score of a text of average length that has each of the
query's content words once. Only words that the corpus has count. So scores of different queries compare.
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
    """Scores every node for a query. Threads may share it."""

    def of(self, query: str, meter: Meter) -> Floats: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class WordRelevance:
    """BM25; 1 for a text of average length that has every word once."""

    terms: dict[str, int]
    saturated: csc_array  # node by term: the saturated count of a term, given the length of the node
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
        """Holds nothing that must be closed."""


@dataclass(frozen=True)
class VectorRelevance:
    """The cosine of query and node; 0 where it is negative."""

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
    """The mean of both."""

    words: WordRelevance
    vectors: VectorRelevance

    def of(self, query: str, meter: Meter) -> Floats:
        words = np.minimum(self.words.of(query, meter), 1.0)
        mean: Floats = (words + self.vectors.of(query, meter)) / 2
        return mean

    def close(self) -> None:
        self.vectors.close()
