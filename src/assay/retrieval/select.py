"""What a reader is shown: which of the candidates, in which order, within a budget of tokens.

Every selector fills the budget: it goes on until nothing that is left fits, passing over what is too large.
Equal ones go by rank. They are shown in the order of choosing.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.errors import UsageError
from assay.core.parts import Candidates, Floats, Ints

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

    The value of a choice is the relevance it tells (see `Telling`): relevances added up, less what the
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
        by_gain = _greedy(telling, sizes, [1.0] * len(sizes), budget)
        if len(by_gain) == len(sizes):
            return by_gain
        by_token = _greedy(telling, sizes, [max(size, 1e-9) for size in sizes], budget)
        more = telling.value(by_token) - telling.value(by_gain)
        return by_token if round(more, _DIGITS) > 0 else by_gain

    def _telling(self, candidates: Candidates) -> Telling:
        if self not in candidates.memo:
            candidates.memo[self] = Telling.of(candidates, self.redundancy)
        found: Telling = candidates.memo[self]
        return found


@dataclass(frozen=True)
class Telling:
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
    def of(cls, candidates: Candidates, redundancy: float = 1.0) -> Telling:
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


def _greedy(telling: Telling, sizes: list[int], prices: list[float], budget: int | None) -> list[int]:
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
