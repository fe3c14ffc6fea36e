"""Simulated benchmarks with known lifts, and reviewers with known error rates."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.records import Item
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.review.order import LiftDifference, decisive_order
from assay.review.pool import Candidate, Pool
from assay.stats.subsets import subset_mean_intervals

Key = tuple[str, str]
Marks = Mapping[Key, str]
Order = Callable[[Pool], Sequence[Candidate]]

ITEMS, DEPTH = 20, 10
COUNTED = ITEMS * DEPTH * 2  # judgments, were every arm's every hit judged for itself
ERRORS = (0.05, 0.10)  # of the two reviewers, who take alternate items


@dataclass(frozen=True)
class Benchmark:
    """A pool with nothing judged by people yet, and what they would say of each open passage."""

    pool: Pool
    says: Marks

    @property
    def distinct(self) -> int:
        """How many passages a person would have to judge."""
        return len(self.says)


def benchmark(seed: int, overlap: float, filled: float = 0.0) -> Benchmark:
    """Two arms whose true lifts differ by up to 0.3 either way; `filled` is the share marked by rule.

    Passages that both arms return are as often right as the two lifts' mean, or as the weaker one allows; the
    rest of an arm's lift lies in what it alone returns, as far as there is room.
    """
    random = np.random.default_rng(seed)
    free = 1 - filled
    weaker, gap = random.uniform(0.05, 0.4 * free) / free, random.uniform(0, 0.3) / free
    both = min(weaker + gap / 2, weaker / overlap)
    rates = [min((lift - overlap * both) / (1 - overlap), 1.0) for lift in (weaker, weaker + gap)]
    arms = ("left", "right") if random.random() < 0.5 else ("right", "left")
    kinds = {frozenset({arms[0]}): rates[0], frozenset({arms[1]}): rates[1], frozenset(arms): both}
    candidates, says = [], {}
    for number in range(ITEMS):
        shared = int(random.binomial(DEPTH, overlap))
        for by, rate in kinds.items():
            for _ in range(shared if len(by) == 2 else DEPTH - shared):
                key = f"q{number:02}", f"d{random.integers(10**12):012}"
                by_rule = random.random() < filled
                candidates.append(Candidate(*key, by, KEYWORD_MATCH if by_rule else None))
                right = (random.random() < rate) != (random.random() < ERRORS[number % 2])
                if not by_rule:
                    says[key] = SEMANTIC_MATCH if right else FALSE_POSITIVE
    return Benchmark(pool_of(candidates), says)


def pool_of(candidates: Iterable[Candidate], items: int = ITEMS) -> Pool:
    """A pool of these candidates, in the order that pools have."""
    ordered = sorted(candidates, key=lambda each: each.key)
    returned = Counter((each.item_id, arm) for each in ordered for arm in each.arms)
    names = [f"q{number:02}" for number in range(items)]
    return Pool(DEPTH, ("left", "right"), [Item(name, name) for name in names], ordered, returned)


def marked(pool: Pool, marks: Marks) -> Pool:
    """The pool after a person gave these marks."""
    candidates = [
        dataclasses.replace(each, mark=marks[each.key], by_person=True) if each.key in marks else each
        for each in pool.candidates
    ]
    return dataclasses.replace(pool, candidates=candidates)


@dataclass(frozen=True)
class Review:
    """How a review went until it was settled."""

    judged: int
    pool: Pool  # as it was at that moment


def reviewed(bench: Benchmark, order: Order, batch: int) -> Review:
    """Judge in an order that is asked for anew after every batch, and stop at the mark that settles it."""
    pool, judged = bench.pool, 0
    if is_settled(pool):
        return Review(judged, pool)
    while True:
        keys = [each.key for each in order(pool)[:batch]]
        after = marked(pool, {key: bench.says[key] for key in keys})
        if is_settled(after):
            return _settling(bench, pool, keys, judged)
        pool, judged = after, judged + len(keys)


def _settling(bench: Benchmark, pool: Pool, keys: Sequence[Key], judged: int) -> Review:
    """The first mark of the batch that settles it, by halving: what is settled stays settled."""
    least, most = 1, len(keys)
    while least < most:
        half = (least + most) // 2
        if is_settled(marked(pool, {key: bench.says[key] for key in keys[:half]})):
            most = half
        else:
            least = half + 1
    return Review(judged + least, marked(pool, {key: bench.says[key] for key in keys[:least]}))


def row_range(pool: Pool, a: str, b: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest difference of lifts a - b that each item can still have."""
    low, high = LiftDifference(pool, a, b).ends
    return low, high


def decision(rows: ArrayLike, threshold: float = 0.0) -> str:
    """Which arm wins, from the differences a - b less the threshold: a, b or neither."""
    (interval,) = subset_mean_intervals(np.asarray(rows, dtype=float) - threshold)
    return "a" if interval.low > 0 else "b" if interval.high < 0 else "neither"


def settled(pool: Pool, a: str, b: str, threshold: float = 0.0) -> bool:
    """Whether no completion of the open marks changes the decision between two arms."""
    low, high = row_range(pool, a, b)
    return decision(low, threshold) == decision(high, threshold)


def is_settled(pool: Pool) -> bool:
    return settled(pool, "left", "right")


def decision_first(pool: Pool) -> Sequence[Candidate]:
    return decisive_order(pool, [("left", "right")])


def item_by_item(pool: Pool) -> Sequence[Candidate]:
    return pool.open


def at_random(pool: Pool) -> Sequence[Candidate]:
    places = np.random.default_rng(len(pool.open)).permutation(len(pool.open))
    return [pool.open[place] for place in places]
