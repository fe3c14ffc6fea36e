"""Families of scores modelled on what engineers of search, RAG and memory see in scores per query.

True means are equal where gains are 0, but shapes, variances and correlations of systems need not be. A
candidate of gain 0 loses on one item of twenty at least: rarer losses are a matter of their own. The contract
is in `families.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from bench.calibration.families import (
    NDCG,
    SECONDS,
    SUCCESS,
    Floats,
    PairedScores,
    ScoreFamily,
    jumped,
    raised,
    scaled,
)

# ------------------------------------------------------------------------------------ skewed differences


@dataclass(frozen=True)
class FewLargeChanges:
    """A new ranker is slightly worse on 88 % of the queries and much better on 12 %, or the reverse.

    0.88 * 0.048 = 0.12 * 0.352, so that the two cancel out.
    """

    name: str
    reversed: bool
    measure: str = NDCG

    @property
    def mean(self) -> float:
        return 0.7 if self.reversed else 0.3

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        shape = (len(gains), n)
        baseline = random.uniform(0.08, 0.52, n)
        small, large = random.uniform(0.024, 0.072, shape), random.uniform(0.252, 0.452, shape)
        twins = baseline + np.where(random.random(shape) < 0.12, large, -small)
        if self.reversed:
            baseline, twins = 1 - baseline, 1 - twins
        planted = [raised(twin, self.mean, gain) for twin, gain in zip(twins, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


@dataclass(frozen=True)
class GrowingDifferences:
    """Most queries score little, and a candidate changes a score in proportion to it: where the baseline
    finds nothing nobody does, and where it does well systems differ by up to 90 % of the score."""

    name: str = "growing differences"
    measure: str = NDCG
    mean: float = 0.5 / 3  # of half a beta(0.5, 1)

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        baseline = 0.5 * random.beta(0.5, 1.0, n)
        twins = baseline * (1 + random.uniform(-0.9, 0.9, (len(gains), n)))
        planted = [raised(twin, self.mean, gain) for twin, gain in zip(twins, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


@dataclass(frozen=True)
class UnevenNoise:
    """The baseline is steady; the first candidate rewrites queries at random and is all over the place, and
    so is every second one after it, while those between stay close to the baseline."""

    name: str = "uneven noise"
    measure: str = NDCG
    mean: float = 0.5

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        baseline = random.uniform(0.4, 0.6, n)
        candidates = []
        for index, gain in enumerate(gains):
            spread = 0.8 if index % 2 == 0 else 0.1
            twin = baseline + spread * (random.beta(0.5, 0.5, n) - 0.5)
            candidates.append(raised(np.clip(twin, 0, 1), self.mean, gain))  # clips what rounding leaves
        return PairedScores(baseline, np.array(candidates))


# ------------------------------------------------------------------------------------------ coarse scores


@dataclass(frozen=True)
class GridMoves:
    """Scores on a coarse grid; a candidate is the baseline with some items moved from one value to another.

    `moves` are (from, to, share of the items at `from` that move); together they leave the mean as it is.
    """

    name: str
    values: tuple[float, ...]
    chances: tuple[float, ...]
    moves: tuple[tuple[float, float, float], ...]
    measure: str = NDCG

    @property
    def mean(self) -> float:
        return float(np.dot(self.values, self.chances))

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        baseline = random.choice(self.values, n, p=self.chances)
        candidates = []
        for gain in gains:
            twin, luck = baseline.copy(), random.random(n)
            for start, end, share in self.moves:
                twin[(baseline == start) & (luck < share)] = end
            candidates.append(jumped(random, twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class FewRelevant:
    """Recall where a query has one, two or four relevant documents, hard or easy to find as a whole; seven of
    ten documents are found by all systems or by none."""

    name: str = "few relevant"
    measure: str = NDCG
    mean: float = 0.6

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        relevant = random.choice((1, 2, 4), n, p=(0.5, 0.3, 0.2))
        exists = np.arange(4) < relevant[:, None]
        ease = random.beta(3.0, 2.0, n)[:, None]
        alike, common = random.random((n, 4)) < 0.7, random.random((n, 4))

        def found() -> Floats:
            return (np.where(alike, common, random.random((n, 4))) < ease).astype(float)

        def recall(documents: Floats) -> Floats:
            return np.asarray((documents * exists).sum(axis=1) / relevant, dtype=np.float64)

        baseline = recall(found())
        # gains are planted per document, as documents are what a system finds or misses
        candidates = [recall(jumped(random, found(), self.mean, gain)) for gain in gains]
        return PairedScores(baseline, np.array(candidates))


# ----------------------------------------------------------------------------------------- kinds of items


@dataclass(frozen=True)
class Languages:
    """Three languages with different rates of success; a candidate loses 0.1 in the most frequent and wins
    0.15 in both others, which cancels out: 0.6 * 0.1 = 0.4 * 0.15."""

    name: str = "mixed languages"
    measure: str = SUCCESS
    mean: float = 0.6 * 0.8 + 0.25 * 0.5 + 0.15 * 0.15

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        language = random.choice(3, n, p=(0.6, 0.25, 0.15))
        rates = np.array([0.8, 0.5, 0.15])[language]
        changes = np.array([-0.1, 0.15, 0.15])[language]
        alike, common = random.random(n) < 0.6, random.random(n)

        def luck() -> Floats:
            return np.where(alike, common, random.random(n))

        baseline = (luck() < rates).astype(float)
        twins = [(luck() < rates + changes).astype(float) for _ in gains]
        planted = [jumped(random, twin, self.mean, gain) for twin, gain in zip(twins, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


@dataclass(frozen=True)
class HeadTopics:
    """Graded scores of queries on topics that are easy or hard; most topics have one query, a few have ten,
    and these head topics are the ones on which systems differ most. Topics come in mixed order."""

    name: str = "head topics"
    measure: str = NDCG
    mean: float = 0.6 * 0.3 + 0.4 * 0.8

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        sizes = random.choice((1, 2, 4, 10), n, p=(0.55, 0.25, 0.13, 0.07))
        numbers = random.permutation(np.repeat(np.arange(n), sizes)[:n])
        _, clusters = np.unique(numbers, return_inverse=True)
        level = np.where(random.random(n) < 0.6, 0.3, 0.8)[numbers]
        baseline = random.beta(4 * level, 4 * (1 - level))
        room = baseline * (1 - baseline)  # changes of up to this size stay between 0 and 1
        strength = np.where(sizes >= 4, 0.7, 0.3)
        candidates = []
        for gain in gains:
            opinion = (strength * random.uniform(-1, 1, n))[numbers]
            twin = baseline + room * (opinion + random.uniform(-0.25, 0.25, n))
            candidates.append(raised(twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates), clusters.astype(np.int64))


@dataclass(frozen=True)
class AskedTwice:
    """Every question is in the set twice, in other words: a system answers both alike, save for one item of
    ten, on which it is asked anew. A candidate agrees with the baseline on half of the questions at least."""

    name: str = "asked twice"
    measure: str = SUCCESS
    mean: float = 0.7

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        clusters = np.arange(n, dtype=np.int64) // 2
        number = int(clusters[-1]) + 1

        def asked(questions: Floats, gain: float) -> Floats:
            anew = (random.random(n) < self.mean + gain).astype(float)
            return np.where(random.random(n) < 0.1, anew, questions[clusters])

        known = (random.random(number) < self.mean).astype(float)
        baseline, candidates = asked(known, 0.0), []
        for gain in gains:
            own = (random.random(number) < self.mean).astype(float)
            twin = np.where(random.random(number) < 0.5, known, own)
            candidates.append(asked(jumped(random, twin, self.mean, gain), gain))
        return PairedScores(baseline, np.array(candidates), clusters)


# ---------------------------------------------------------------------------------------- kinds of systems


@dataclass(frozen=True)
class SharedIndex:
    """The baseline searches for words; candidates are variants of one index of vectors, so that they agree
    with each other on 85 % of the items and with the baseline only by chance."""

    name: str = "shared index"
    measure: str = NDCG
    mean: float = 0.4

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        baseline = random.beta(0.4, 0.6, n)  # mostly all or nothing; vectors give something in between
        index = random.beta(2.0, 3.0, n)
        candidates = []
        for gain in gains:
            twin = np.where(random.random(n) < 0.85, index, random.beta(2.0, 3.0, n))
            candidates.append(raised(twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class Cache:
    """Times of a system with a cache beside one without: half of its requests take a fifth of the time, the
    other half 1.8 times as long. Long queries are slow for all systems."""

    name: str = "half cached"
    measure: str = SECONDS
    mean: float = 1.0

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        shape = (len(gains), n)
        length = np.exp(0.5 * random.normal(size=n) - 0.125)  # of mean 1
        baseline = length * random.gamma(4, 0.25, n)
        hits, misses = random.gamma(2, 0.1, shape), random.gamma(2, 0.9, shape)
        twins = length * np.where(random.random(shape) < 0.5, hits, misses)
        planted = [scaled(twin, self.mean, gain) for twin, gain in zip(twins, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


# Reciprocal ranks of systems that share 80 % of the results: a candidate finds 12 % of the items that the
# baseline misses, at rank 3, and moves 8 % from rank 1 to rank 2 (0.12 / 3 = 0.08 / 2).
SHARED_RESULTS = GridMoves(
    "shared results", (0.0, 1 / 3, 1 / 2, 1.0), (0.3, 0.1, 0.2, 0.4), ((0.0, 1 / 3, 0.4), (1.0, 1 / 2, 0.2))
)
# Answers that are wrong, half right or right: a candidate solves 10 % that were wrong and hedges on 20 % that
# were right (0.1 * 1 = 0.2 * 0.5).
PARTIAL_CREDIT = GridMoves(
    "partial credit", (0.0, 0.5, 1.0), (0.3, 0.2, 0.5), ((0.0, 1.0, 1 / 3), (1.0, 0.5, 0.4))
)

FAMILIES: tuple[ScoreFamily, ...] = (
    FewLargeChanges("few large gains", reversed=False),
    FewLargeChanges("few large losses", reversed=True),
    GrowingDifferences(),
    UnevenNoise(),
    SHARED_RESULTS,
    PARTIAL_CREDIT,
    FewRelevant(),
    Languages(),
    HeadTopics(),
    AskedTwice(),
    SharedIndex(),
    Cache(),
)
