"""Builds contexts: the text of ranked passages that fits into a budget of tokens.

Selectors choose among the candidates of a context. A selector goes on until no remaining candidate fits the
budget, and passes over a candidate that is too large. If candidates are equally good, the one with the better
rank is chosen. A context shows its candidates in the order in which they were chosen.
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


_MOST_SENTENCES = 500  # candidates at most: selectors compare every pair
_ASIDE = 0.3  # weight of a sentence without the name, in a passage that a link led to
Grain = Literal["passage", "sentence"]


def rank_relevance(count: int) -> Floats:
    """Returns the relevance of each rank of a ranking, discounted as in nDCG: 1 / log2(1 + rank)."""
    relevance: Floats = 1 / np.log2(np.arange(2, count + 2))
    return relevance


@dataclass(frozen=True)
class Arrival:
    """The relevance of a passage and, if a link led to the passage, the name of that link.

    Linked passages often share no word with the query. So a sentence with the name gets at least the share
    `floor` of the relevance.
    """

    relevance: float
    name: str = ""
    floor: float = 0.0


@dataclass(frozen=True)
class ContextBuilder:
    """Fills contexts with whole passages or with sentences, within budgets that a tokenizer counts.

    The passage at rank r has the relevance 1 / log2(1 + r), as in nDCG, because scores of different rankings
    are not comparable. A sentence has the relevance of its passage times its cosine with the query. A small
    static model gives this cosine and the similarity of candidates, because a query can have hundreds of
    sentences.

    If links led to passages, each passage has an `Arrival`, which gives its relevance.
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
        """Builds a context for each budget. No context is larger than its budget.

        `arrivals` has one entry for each passage, or is empty.
        """
        pieces, relevance = self._pieces(query, ranked, arrivals)
        counts = np.array(self.tokens.counts([piece.text for piece in pieces]), dtype=np.int64)
        # each piece is counted with the line break after it
        candidates = Candidates(relevance, counts + 1, lambda: self._vectors(pieces))
        return [self._context(pieces, candidates, budget) for budget in budgets]

    def warm(self) -> None:
        """Calls tokenizer and model once. The first call is slow, and should not count for a query."""
        self.contexts("first", [Passage("", "The first call.")], [2])

    def _context(self, pieces: Sequence[Piece], candidates: Candidates, budget: Budget) -> Context:
        room = None if budget is None else budget + 1
        shown = [pieces[index] for index in self.select.select(candidates, room)]
        context = self._counted(budget, shown)
        while budget is not None and context.tokens > budget:  # joined pieces can have more tokens
            context = self._counted(budget, context.pieces[:-1])
        if budget is not None and not context.pieces and pieces:
            return self._cut(pieces[int(np.argmax(candidates.relevance))], budget)
        return context

    def _counted(self, budget: Budget, pieces: list[Piece]) -> Context:
        context = Context(budget, pieces, 0, self.tokens.name)
        return msgspec.structs.replace(context, tokens=self.tokens.counts([context.text])[0])

    def _cut(self, piece: Piece, budget: int) -> Context:
        """Returns a context with the beginning of a piece that is too long as a whole.

        The context says that the piece was cut.
        """
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
    """Returns the matches of sentences after the links were considered.

    In a passage that a link led to, sentences with the name of the link count more, and other sentences count
    less.
    """
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
    """Makes a piece of a passage or of a stretch of it, with its place in the source document.

    The text of a passage from markup differs from the text of its span. So a stretch of such a passage gets
    the place of the whole passage.
    """
    place = passage.span or Span(0, len(passage.text))
    if inside is None:
        return Piece(passage.doc_id, passage.text, place)
    text = passage.text[inside.start : inside.end]
    if place.end - place.start != len(passage.text):
        return Piece(passage.doc_id, text, place)
    return Piece(passage.doc_id, text, Span(place.start + inside.start, place.start + inside.end))


_DIGITS = 6  # vectors are float32: smaller differences are rounding, and count as ties


@dataclass(frozen=True)
class Top:
    """Chooses candidates in order of relevance, as many as fit the budget, and at most `k`.

    A candidate that does not fit is passed over; smaller candidates after it may still fit.
    """

    version: ClassVar[str] = "1"

    k: int | None = None

    def __post_init__(self) -> None:
        _check_k("top", self.k)

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Returns the positions of the chosen candidates, the most relevant first."""
        left = math.inf if budget is None else budget
        chosen = []
        for position, size in enumerate(candidates.tokens.tolist()):
            if size <= left:
                chosen.append(position)
                left -= size
        return chosen[: self.k]


@dataclass(frozen=True)
class MMR:
    """Chooses by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    Each step chooses, among the candidates that still fit, the candidate with the largest (1 − diversity) ·
    relevance − diversity · (its largest similarity to a chosen candidate). At most `k` are chosen. With a
    diversity of 0 the result is that of `top`.
    """

    version: ClassVar[str] = "1"

    diversity: float = 0.3
    k: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.diversity <= 1.0:
            raise UsageError(f"mmr: diversity is {self.diversity}. It goes from 0, none, to 1.")
        _check_k("mmr", self.k)

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Returns the positions of the chosen candidates, in the order in which they were chosen."""
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
    """Chooses as much relevance as fits the budget, and counts shared content once.

    The value of a choice is the relevance that it covers (see `Coverage`): the sum of the relevances minus
    what the passages share. `redundancy` says how much similar passages share. At 1, two passages with a
    cosine of 0.9 share nine tenths; at 0.5 they share less than half. At 0 nothing is shared, and values are
    plain sums.

    Two greedy choices are made: one by gain per token, and one by gain, which begins with the best single
    candidate. The choice with the larger value is returned. Its value is at least ½ (1 − 1/e) = 0.316 times
    the best value within the budget (Leskovec et al., KDD 2007), and even 0.405 times (Tang et al.,
    SIGMETRICS 2021). Without a budget, or if both values are equal, the choice by gain is returned.
    """

    version: ClassVar[str] = "1"

    redundancy: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.redundancy <= 1.0:
            raise UsageError(f"knapsack: redundancy is {self.redundancy}. It goes from 0, none, to 1.")

    def select(self, candidates: Candidates, budget: int | None) -> list[int]:
        """Returns the positions of the chosen candidates, in the order in which they were chosen.

        Candidates that add nothing come last.
        """
        if not (candidates.tokens <= (math.inf if budget is None else budget)).any():
            return []
        coverage = self._coverage(candidates)
        sizes = candidates.tokens.tolist()
        by_gain = _choose_greedily(coverage, sizes, [1.0] * len(sizes), budget)
        if len(by_gain) == len(sizes):
            return by_gain
        by_token = _choose_greedily(coverage, sizes, [max(size, 1e-9) for size in sizes], budget)
        more = coverage.value(by_token) - coverage.value(by_gain)
        return by_token if round(more, _DIGITS) > 0 else by_gain

    def _coverage(self, candidates: Candidates) -> Coverage:
        if self not in candidates.memo:
            candidates.memo[self] = Coverage.of(candidates, self.redundancy)
        found: Coverage = candidates.memo[self]
        return found


@dataclass(frozen=True)
class Coverage:
    """Computes how much relevance a choice covers: the sum of the best cover of each branch of a tree.

    The candidates are the leaves of a tree, which average linkage builds: more similar candidates are joined
    closer to the leaves. The length of a branch is the difference in similarity between its two ends. The
    similarity is 0 at the root and 1 at a leaf. A branch stands for the content that the passages behind it
    have in common. A passage covers every branch on its way to the root, with its own relevance. So one
    passage has the value of its relevance, and two have r₁ + r₂ − s · min(r₁, r₂), where s is the similarity
    at which the tree joins them. With equal relevances this is phylogenetic diversity (Faith, Biological
    Conservation 1992).

    value(S) = Σ_b max_{i∈S} share(i, b), and each share is 0 or more. A further passage lowers no maximum, so
    the value is monotone. The gain max(a, x) − a falls as a grows: the more is chosen already, the less a
    passage adds. A sum of such terms is submodular (Nemhauser, Wolsey and Fisher 1978).
    """

    branches: Ints  # for each candidate, the branches that it covers, padded with an unused one
    shares: Floats  # for each candidate, how much it covers of each of its branches

    @classmethod
    def of(cls, candidates: Candidates, redundancy: float = 1.0) -> Coverage:
        """Builds the tree, and finds how much each candidate covers of which branches."""
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
        while (way[-1] < beyond).any():  # all leaves climb to the root in step
            way.append(parent[way[-1]])
        branches = np.stack(way, axis=1)
        return cls(branches, length[branches] * relevance)

    def gain(self, covered: Floats, candidate: int) -> float:
        """Returns how much a candidate adds to the cover of all branches."""
        return float(np.maximum(self.shares[candidate] - covered[self.branches[candidate]], 0.0).sum())

    def add(self, covered: Floats, candidate: int) -> None:
        """Adds a candidate to the cover of its branches."""
        branches = self.branches[candidate]
        covered[branches] = np.maximum(covered[branches], self.shares[candidate])

    def nothing_covered(self) -> Floats:
        """Returns the cover of each branch before any choice."""
        return np.zeros(2 * len(self.shares))

    def value(self, chosen: Iterable[int]) -> float:
        """Returns the relevance that a choice covers."""
        covered = self.nothing_covered()
        for candidate in chosen:
            self.add(covered, candidate)
        return float(covered.sum())


def _choose_greedily(
    coverage: Coverage, sizes: list[int], prices: list[float], budget: int | None
) -> list[int]:
    """Chooses again and again, among the candidates that still fit, the one with the largest gain per price.

    The search is lazy (Minoux 1978). Gains only shrink, so an earlier gain is an upper bound. Only the gain
    at the top of the heap is computed again, until a candidate stays at the top.
    """
    left = math.inf if budget is None else budget
    covered = coverage.nothing_covered()
    chosen: list[int] = []
    first = coverage.shares.sum(axis=1).round(_DIGITS).tolist()
    heap = [(-gain / prices[rank], rank, 0) for rank, gain in enumerate(first)]
    heapq.heapify(heap)
    while heap:
        _, rank, known = heap[0]
        if sizes[rank] > left:  # it never fits again
            heapq.heappop(heap)
        elif known < len(chosen):
            gain = round(coverage.gain(covered, rank), _DIGITS)
            heapq.heapreplace(heap, (-gain / prices[rank], rank, len(chosen)))
        else:
            heapq.heappop(heap)
            chosen.append(rank)
            left -= sizes[rank]
            coverage.add(covered, rank)
    return chosen


def _check_k(name: str, k: int | None) -> None:
    if k is not None and k < 1:
        raise UsageError(f"{name}: k is {k}. It has to be 1 or more, or null for as many as fit.")
