"""How well each node matches a query, from 0 to 1: by words, by vectors, or by the mean of the two.

By words: a text's BM25 score beside that of a text of usual length which has each of the query's content
words once (those that the corpus knows), so that scores of different queries mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csc_array

from assay.core.dataset import Corpus
from assay.core.parts import Embedder, Vectors
from assay.core.protocols import Kit
from assay.kinds.memory.systems.graph import Floats
from assay.retrieval.embedding import Embedding
from assay.retrieval.words import stems_of
from assay.systems.answering import Meter
from assay.systems.retrievers import indexed_text

_K1, _B = 1.2, 0.75


class Relevance(Protocol):
    """Scores every node for a query. Threads may share it."""

    def of(self, query: str, meter: Meter) -> Floats: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class WordRelevance:
    """BM25, 1 for a text of usual length that has every word once."""

    terms: dict[str, int]
    saturated: csc_array  # node by term: how far a term's count in a node, given its length, is saturated
    idf: Floats

    @classmethod
    def build(cls, texts: Sequence[str]) -> WordRelevance:
        stems = stems_of(texts)
        terms: dict[str, int] = {}
        columns = [terms.setdefault(stem, len(terms)) for words in stems for stem in words]
        rows = np.repeat(np.arange(len(stems)), [len(words) for words in stems])
        shape = (len(stems), max(len(terms), 1))
        counts = csc_array((np.ones(len(columns)), (rows, np.array(columns, dtype=np.int64))), shape=shape)
        counts.sum_duplicates()
        having = np.diff(counts.indptr)
        idf = np.log(1 + (len(stems) - having + 0.5) / (having + 0.5))
        lengths = np.array([len(words) for words in stems], dtype=np.float64)
        norm = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()) if len(lengths) else 0.0, 1.0))
        counts.data = counts.data * (_K1 + 1) / (counts.data + norm[counts.indices])
        return cls(terms, counts, idf)

    def of(self, query: str, meter: Meter) -> Floats:
        (words,) = stems_of([query])
        known = [self.terms[word] for word in dict.fromkeys(words) if word in self.terms]
        found = np.zeros(self.saturated.shape[0])
        for term in known:
            begin, end = self.saturated.indptr[term], self.saturated.indptr[term + 1]
            found[self.saturated.indices[begin:end]] += self.saturated.data[begin:end] * self.idf[term]
        meter.lap("search")
        return found / float(self.idf[known].sum()) if known else found

    def close(self) -> None:
        """Nothing is held that the last reference does not let go."""


@dataclass(frozen=True)
class VectorRelevance:
    """The cosine between query and node, where it is positive."""

    embedding: Embedding
    vectors: Vectors

    @classmethod
    def build(cls, texts: Sequence[str], model: Embedder, kit: Kit) -> VectorRelevance:
        embedding = Embedding(model, kit)
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


@dataclass(frozen=True)
class Texts:
    """The texts of a corpus, and the ways to match them."""

    corpus: Corpus
    model: Embedder
    kit: Kit

    @cached_property
    def texts(self) -> list[str]:
        return [indexed_text(passage) for passage in self.corpus.passages]

    def by_words(self) -> WordRelevance:
        return WordRelevance.build(self.texts)

    def by_vectors(self) -> VectorRelevance:
        return VectorRelevance.build(self.texts, self.model, self.kit)

    def by_both(self) -> MixedRelevance:
        return MixedRelevance(self.by_words(), self.by_vectors())
