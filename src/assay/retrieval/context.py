"""From ranked passages to what a reader is shown under each token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from assay.core.parts import Candidates, Floats, Model, Selector, Tokens
from assay.core.records import Budget, Context, Passage, Piece, Span

_MOST_SENTENCES = 500  # to choose from: selectors compare each with each
_ASIDE = 0.3  # what a sentence without the name counts in a passage that came for its name
Grain = Literal["passage", "sentence"]


def by_rank(count: int) -> Floats:
    """How relevant the passages of a ranking are, best first, as nDCG takes it: 1 / log2(1 + rank)."""
    relevance: Floats = 1 / np.log2(np.arange(2, count + 2))
    return relevance


@dataclass(frozen=True)
class Arrival:
    """How a passage came to be shown: how relevant it is and, where a link led to it, the name it is for.

    A sentence with that name counts `floor` at least, as a share of the relevance: what a link leads to
    often says nothing that the query says.
    """

    relevance: float
    name: str = ""
    floor: float = 0.0


@dataclass(frozen=True)
class Showing:
    """How a context is filled: what is chosen, of whole passages or of sentences, counted by what.

    A passage of rank r is as relevant as nDCG takes that rank to be, 1 / log2(1 + r): scores of one ranking
    say nothing in another. A sentence is as relevant as its passage, times its cosine with the query. That
    cosine, and what is alike, is told by a small static model: it looks at hundreds of sentences a query.

    Passages that did not come by rank alone bring an `Arrival` each, which says how relevant they are.
    """

    select: Selector
    grain: Grain
    tokens: Tokens
    model: Model

    def contexts(
        self,
        query: str,
        ranked: Sequence[Passage],
        budgets: Sequence[Budget],
        arrivals: Sequence[Arrival] = (),
    ) -> list[Context]:
        """One context a budget, none larger than it; `arrivals` has one a passage, or none at all."""
        pieces, relevance = self._pieces(query, ranked, arrivals)
        counts = np.array(self.tokens.counts([piece.text for piece in pieces]), dtype=np.int64)
        # each piece is counted with the line break that parts it from the next
        candidates = Candidates(relevance, counts + 1, lambda: self._vectors(pieces))
        return [self._context(pieces, candidates, budget) for budget in budgets]

    def warm(self) -> None:
        """A tokenizer's or model's first call is slow: the first query should not pay for it."""
        self.contexts("first", [Passage("", "The first call.")], [2])

    def _context(self, pieces: Sequence[Piece], candidates: Candidates, budget: Budget) -> Context:
        room = None if budget is None else budget + 1
        shown = [pieces[index] for index in self.select.select(candidates, room)]
        context = self._counted(budget, shown)
        while budget is not None and context.tokens > budget:  # pieces can weigh more together than apart
            context = self._counted(budget, context.pieces[:-1])
        if budget is not None and not context.pieces and pieces:
            return self._cut(pieces[int(np.argmax(candidates.relevance))], budget)
        return context

    def _counted(self, budget: Budget, pieces: list[Piece]) -> Context:
        context = Context(budget, pieces, 0, self.tokens.name)
        return msgspec.structs.replace(context, tokens=self.tokens.counts([context.text])[0])

    def _cut(self, piece: Piece, budget: int) -> Context:
        """The beginning of a piece that is too long as a whole: better than nothing, and said so."""
        spans = self.tokens.spans(piece.text)[:budget]
        while spans:
            end = spans[-1].end
            whole = piece.span is not None and piece.span.end - piece.span.start == len(piece.text)
            span = Span(piece.span.start, piece.span.start + end) if piece.span and whole else piece.span
            context = self._counted(budget, [Piece(piece.doc_id, piece.text[:end], span)])
            if context.tokens <= budget:
                return msgspec.structs.replace(context, reason="cut to fit")
            spans.pop()
        return Context(budget, [], 0, self.tokens.name, reason="nothing fits")

    def _pieces(
        self, query: str, ranked: Sequence[Passage], arrivals: Sequence[Arrival]
    ) -> tuple[list[Piece], Floats]:
        relevance = np.array([each.relevance for each in arrivals]) if arrivals else by_rank(len(ranked))
        if self.grain == "passage":
            return [_piece(passage, None) for passage in ranked], relevance
        from assay.retrieval.sentences import sentence_spans

        cut = [(rank, span) for rank, passage in enumerate(ranked) for span in sentence_spans(passage.text)]
        pieces = [_piece(ranked[rank], span) for rank, span in cut]
        if not pieces:
            return [], np.empty(0)
        vectors = self.model.embed([query], "query").vectors[0]
        match = np.clip(self._vectors(pieces) @ vectors, 0.0, 1.0).astype(np.float64)
        ranks = [rank for rank, _ in cut]
        if arrivals:
            match = _focused(match, pieces, [arrivals[rank] for rank in ranks])
        product = match * relevance[ranks]
        order = np.argsort(-product, kind="stable")[:_MOST_SENTENCES]
        return [pieces[index] for index in order], product[order]

    def _vectors(self, pieces: Sequence[Piece]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return self.model.embed([piece.text for piece in pieces], "passage").vectors


def _focused(match: Floats, pieces: Sequence[Piece], came: Sequence[Arrival]) -> Floats:
    """How well sentences match, those of a passage that came for a name by whether they have it."""
    found = match.copy()
    if not any(arrival.name for arrival in came):
        return found
    from assay.retrieval.entities import holds  # only links lead to names

    for index, (piece, arrival) in enumerate(zip(pieces, came, strict=True)):
        if arrival.name and holds(piece.text, arrival.name):
            found[index] = arrival.floor + (1 - arrival.floor) * match[index]
        elif arrival.name:
            found[index] = _ASIDE * match[index]
    return found


def _piece(passage: Passage, inside: Span | None) -> Piece:
    """A passage or a stretch of it, with its place in the document the passage was cut from.

    The text of a passage from markup is not that of its span, so a stretch of it takes the passage's place.
    """
    place = passage.span or Span(0, len(passage.text))
    if inside is None:
        return Piece(passage.doc_id, passage.text, place)
    text = passage.text[inside.start : inside.end]
    if place.end - place.start != len(passage.text):
        return Piece(passage.doc_id, text, place)
    return Piece(passage.doc_id, text, Span(place.start + inside.start, place.start + inside.end))
