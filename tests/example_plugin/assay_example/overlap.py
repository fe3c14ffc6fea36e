"""A search that counts shared words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Query, Response


@dataclass(frozen=True)
class OverlapIndex:
    """Passages as sets of words. It has no state, so it is its own session."""

    words: dict[str, frozenset[str]]
    k: int

    def session(self) -> OverlapIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        asked = frozenset(query.text.lower().split())
        scored = [(len(asked & words), doc_id) for doc_id, words in self.words.items() if asked & words]
        best = sorted(scored, key=lambda pair: (-pair[0], pair[1]))[: self.k]
        return Response(hits=[Hit(doc_id, float(score)) for score, doc_id in best])


@dataclass(frozen=True)
class Overlap:
    """Passages by the number of words they share with the query; `broken` makes it fail to open."""

    k: int = 10
    broken: bool = False

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> OverlapIndex:
        if self.broken:
            raise RuntimeError("the index is broken, as it was told to be")
        words = {passage.doc_id: frozenset(passage.text.lower().split()) for passage in corpus.passages}
        return OverlapIndex(words, self.k)
