"""What a reader is shown of ranked passages, within a budget of tokens.

Selectors choose among candidates. Each fills the budget: it goes on until nothing that is left fits, and
passes over what is too large. Equal candidates go by rank. They are shown in the order of choosing.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec
import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import Candidates, Floats, Ints, Model, Selector, Tokens
from assay.core.records import Budget, Context, Passage, Piece, Span

FIRST_ADDRESS = "assay.retrieval.select"


_MOST_SENTENCES = 500  # to choose from: selectors compare each with each
_ASIDE = 0.3  # what a sentence without the name counts in a passage that came for its name
Grain = Literal["passage", "sentence"]


def rank_relevance(count: int) -> Floats:
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
class ContextBuilder:
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
        relevance = (
            np.array([each.relevance for each in arrivals]) if arrivals else rank_relevance(len(ranked))
        )
        if self.grain == "passage":
            return [_make_piece(passage, None) for passage in ranked], relevance
        from assay.retrieval.tokens import sentence_spans

        cut = [(rank, span) for rank, passage in enumerate(ranked) for span in sentence_spans(passage.text)]
        pieces = [_make_piece(ranked[rank], span) for rank, span in cut]
        if not pieces:
            return [], np.empty(0)
        vectors = self.model.embed([query], "query").vectors[0]
        match = np.clip(self._vectors(pieces) @ vectors, 0.0, 1.0).astype(np.float64)
        ranks = [rank for rank, _ in cut]
        if arrivals:
            match = _prefer_named_sentences(match, pieces, [arrivals[rank] for rank in ranks])
        product = match * relevance[ranks]
        order = np.argsort(-product, kind="stable")[:_MOST_SENTENCES]
        return [pieces[index] for index in order], product[order]

    def _vectors(self, pieces: Sequence[Piece]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        return self.model.embed([piece.text for piece in pieces], "passage").vectors


def _prefer_named_sentences(match: Floats, pieces: Sequence[Piece], came: Sequence[Arrival]) -> Floats:
    """How well sentences match, those of a passage that came for a name by whether they have it."""
    found = match.copy()
    if not any(arrival.name for arrival in came):
        return found
    from assay.retrieval.entities import contains_name  # only links lead to names

    for index, (piece, arrival) in enumerate(zip(pieces, came, strict=True)):
        if arrival.name and contains_name(piece.text, arrival.name):
            found[index] = arrival.floor + (1 - arrival.floor) * match[index]
        elif arrival.name:
            found[index] = _ASIDE * match[index]
    return found


def _make_piece(passage: Passage, inside: Span | None) -> Piece:
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


_DIGITS = 6  # vectors are float32: what differs by less is rounding, and ties


@dataclass(frozen=True)
class Top:
    """The candidates in order of relevance, as many as fit the budget, `k` at most.

    One that does not fit is passed over; smaller ones after it may still fit.
    """

    version: ClassVar[str] = "1"

    k: int | None = None

    def __post_init__(self) -> None:
        _check_k("top", self.k)

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Positions of the chosen, most relevant first."""
        left = math.inf if budget is None else budget
        chosen = []
        for position, size in enumerate(candidates.tokens.tolist()):
            if size <= left:
                chosen.append(position)
                left -= size
        return chosen[: self.k]


@dataclass(frozen=True)
class MMR:
    """Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    Chooses, again and again, the candidate with the largest (1 − diversity) · relevance − diversity · its
    largest similarity to one that is chosen already, among those that still fit; `k` at most. A diversity
    of 0 is `top`.
    """

    version: ClassVar[str] = "1"

    diversity: float = 0.3
    k: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.diversity <= 1.0:
            raise UsageError(f"mmr: diversity is {self.diversity}. It goes from 0, none, to 1.")
        _check_k("mmr", self.k)

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Positions of the chosen, in the order of choosing."""
        tokens = candidates.tokens
        left = math.inf if budget is None else budget
        fits = tokens <= left
        nearest = np.zeros(len(tokens))
        chosen: list[int] = []
        while fits.any() and (self.k is None or len(chosen) < self.k):
            worth = (1.0 - self.diversity) * candidates.relevance - self.diversity * nearest
            best = int(np.where(fits, worth.round(_DIGITS), -np.inf).argmax())
            chosen.append(best)
            left -= int(tokens[best])
            fits[best] = False
            fits &= tokens <= left
            if self.diversity and fits.any():
                nearest = np.maximum(nearest, candidates.similarity[best])
        return chosen


@dataclass(frozen=True)
class Knapsack:
    """As much relevance as a budget holds, what several passages tell counted once.

    The value of a choice is the relevance it tells (see `Coverage`): relevances added up, less what the
    passages share. `redundancy` says how far likeness is sharing: at 1 two passages of cosine 0.9 share
    nine tenths, at 0.5 less than half; at 0 nothing is shared and values are plain sums.

    It takes the better of two greedy choices: by gain a token, and by gain alone, which begins with the best
    single one. Its value is at least ½ (1 − 1/e), 0.316, of the best that any choice within the budget
    reaches (Leskovec et al., KDD 2007), and even 0.405 (Tang et al., SIGMETRICS 2021). Without a budget, and
    wherever both come to the same value, it is the choice by gain alone.
    """

    version: ClassVar[str] = "1"

    redundancy: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.redundancy <= 1.0:
            raise UsageError(f"knapsack: redundancy is {self.redundancy}. It goes from 0, none, to 1.")

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Positions of the chosen, in the order of choosing; what adds nothing comes last."""
        if not (candidates.tokens <= (math.inf if budget is None else budget)).any():
            return []
        telling = self._telling(candidates)
        sizes = candidates.tokens.tolist()
        by_gain = _choose_greedily(telling, sizes, [1.0] * len(sizes), budget)
        if len(by_gain) == len(sizes):
            return by_gain
        by_token = _choose_greedily(telling, sizes, [max(size, 1e-9) for size in sizes], budget)
        more = telling.value(by_token) - telling.value(by_gain)
        return by_token if round(more, _DIGITS) > 0 else by_gain

    def _telling(self, candidates: Candidates) -> Coverage:
        if self not in candidates.memo:
            candidates.memo[self] = Coverage.of(candidates, self.redundancy)
        found: Coverage = candidates.memo[self]
        return found


@dataclass(frozen=True)
class Coverage:
    """How much of the relevance at hand a choice tells: a sum over branches of what is told best of each.

    The candidates are the leaves of a tree, joined by average linkage: the more alike, the further out. A
    branch is as long as the difference in similarity between its ends; from the root, where similarity is 0,
    to a leaf, 1. It stands for what the passages beyond it have in common. A passage tells every branch on
    its way to the root, at its own relevance, so that one alone is worth its relevance, and two are worth
    r₁ + r₂ − s · min(r₁, r₂), where s is the similarity at which the tree joins them. With equal relevances
    this is phylogenetic diversity (Faith, Biological Conservation 1992).

    value(S) = Σ_b max_{i∈S} share(i, b), and each share is 0 or more. So a further passage lowers no maximum:
    the value is monotone. And max(a, x) − a falls as a grows: it lifts a maximum the less the more is chosen
    already, and a sum of such terms is submodular (Nemhauser, Wolsey and Fisher 1978).
    """

    branches: Ints  # a row a candidate: the branches it tells, filled up with one that nobody needs
    shares: Floats  # and how much of each

    @classmethod
    def of(cls, candidates: Candidates, redundancy: float = 1.0) -> Coverage:
        """The branches that each candidate tells, and how much each is worth."""
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import squareform

        count = len(candidates.tokens)
        relevance = candidates.relevance[:, np.newaxis]
        if count == 1 or not redundancy:
            return cls(np.arange(count)[:, np.newaxis], relevance)
        apart = 1.0 - redundancy * candidates.similarity
        joins = linkage(squareform(apart, checks=False), method="average")
        beyond = 2 * count - 1  # above the root: has no length, and is its own parent
        parent = np.full(beyond + 1, beyond)
        parent[joins[:, :2].astype(np.int64)] = np.arange(count, beyond)[:, np.newaxis]
        height = np.concatenate([np.zeros(count), joins[:, 2], [1.0]])
        length = np.maximum(height[parent] - height, 0.0)
        way = [np.arange(count)]
        while (way[-1] < beyond).any():  # all climb to the root together
            way.append(parent[way[-1]])
        branches = np.stack(way, axis=1)
        return cls(branches, length[branches] * relevance)

    def gain(self, told: Floats, candidate: int) -> float:
        """By how much a candidate raises what is told of each branch, all together."""
        return float(np.maximum(self.shares[candidate] - told[self.branches[candidate]], 0.0).sum())

    def tell(self, told: Floats, candidate: int) -> None:
        """Raises what is told of each branch to what a candidate tells."""
        branches = self.branches[candidate]
        told[branches] = np.maximum(told[branches], self.shares[candidate])

    def untold(self) -> Floats:
        """What is told of each branch before anything is."""
        return np.zeros(2 * len(self.shares))

    def value(self, chosen: Iterable[int]) -> float:
        """What a choice tells, in units of relevance."""
        told = self.untold()
        for candidate in chosen:
            self.tell(told, candidate)
        return float(told.sum())


def _choose_greedily(
    telling: Coverage, sizes: list[int], prices: list[float], budget: int | None
) -> list[int]:
    """Chooses what gains most for its price, among those that still fit, until nothing does.

    Lazily (Minoux 1978): gains only shrink, so one worked out earlier is a bound, and only the top of the
    heap is worked out anew, until one stays the top.
    """
    left = math.inf if budget is None else budget
    told = telling.untold()
    chosen: list[int] = []
    alone = telling.shares.sum(axis=1).round(_DIGITS).tolist()
    heap = [(-gain / prices[rank], rank, 0) for rank, gain in enumerate(alone)]
    heapq.heapify(heap)
    while heap:
        _, rank, known = heap[0]
        if sizes[rank] > left:  # it never fits again
            heapq.heappop(heap)
        elif known < len(chosen):
            gain = round(telling.gain(told, rank), _DIGITS)
            heapq.heapreplace(heap, (-gain / prices[rank], rank, len(chosen)))
        else:
            heapq.heappop(heap)
            chosen.append(rank)
            left -= sizes[rank]
            telling.tell(told, rank)
    return chosen


def _check_k(name: str, k: int | None) -> None:
    if k is not None and k < 1:
        raise UsageError(f"{name}: k is {k}. It has to be 1 or more, or null for as many as fit.")
