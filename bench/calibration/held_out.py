"""Six families of scores by an author who has not seen the statistical methods that are judged on them."""

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
from scipy import special


@dataclass(frozen=True)
class PrecisionGrid:
    """Precision at 5, in steps of 0.2, with one chance of a relevant result per query from Beta(1.6, 2.4).

    A candidate varies less between queries: its chance is half the query's and half 0.4. Both chances have
    the mean 1.6 / 4 = 0.4, so both precisions have it.
    """

    name: str = "precision grid"
    measure: str = NDCG
    mean: float = 0.4

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        chance = random.beta(1.6, 2.4, n)
        baseline = random.binomial(5, chance) / 5
        candidates = []
        for gain in gains:
            twin = random.binomial(5, 0.5 * chance + 0.5 * self.mean) / 5
            candidates.append(jumped(random, twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class AnswerOverlap:
    """F1 of answer words: wrong (0), exact (1) or in part right, then Beta(3, 2) with mean 0.6.

    The baseline is terse: 30 % wrong, 25 % exact, 45 % in part: 0.25 + 0.45 · 0.6 = 0.52. A candidate is
    wordy: 20 % wrong, 10 % exact, 70 % in part: 0.1 + 0.7 · 0.6 = 0.52; a difficulty of the question that
    all systems share is 60 % of what decides.
    """

    name: str = "answer overlap"
    measure: str = NDCG
    mean: float = 0.25 + 0.45 * 0.6

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        ease = random.normal(size=n)
        baseline = self._scores(random, ease, wrong=0.3, exact=0.25)
        candidates = []
        for gain in gains:
            twin = self._scores(random, ease, wrong=0.2, exact=0.1)
            candidates.append(jumped(random, twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates))

    @staticmethod
    def _scores(random: np.random.Generator, ease: Floats, wrong: float, exact: float) -> Floats:
        quality = np.sqrt(0.6) * ease + np.sqrt(0.4) * random.normal(size=ease.size)  # standard normal
        partial = np.where(quality < special.ndtri(wrong), 0.0, random.beta(3, 2, ease.size))
        return np.where(quality > special.ndtri(1 - exact), 1.0, partial)


@dataclass(frozen=True)
class EntityLinks:
    """Four queries of ten name an entity: their score is what one linker for all systems leaves of it.

    The linker leaves Beta(2, 2), mean 0.5, of a baseline that has a mean of 0.7 before that: 0.4 · 0.5 · 0.7
    + 0.6 · 0.7 = 0.56. A candidate has 0.85 on entities and 0.65, the middle of the baseline's 0.7 and an
    own 0.6, on the rest: 0.4 · 0.5 · 0.85 + 0.6 · 0.65 = 0.56.
    """

    name: str = "entity links"
    measure: str = NDCG
    mean: float = 0.4 * 0.5 * 0.7 + 0.6 * 0.7

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        named, left = random.random(n) < 0.4, random.beta(2, 2, n)
        usual = random.beta(7, 3, n)
        baseline = np.where(named, left, 1.0) * usual
        candidates = []
        for gain in gains:
            linked, fused = left * random.beta(8.5, 1.5, n), 0.5 * usual + 0.5 * random.beta(6, 4, n)
            candidates.append(raised(np.where(named, linked, fused), self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class UserTastes:
    """Users ask 4, 1, 3 or 2 questions in turn: 20 users per 50 questions, with one level per user.

    A score is the clarity of the question, Beta(8, 2), times a Beta whose mean is the level, Beta(6, 4):
    0.8 · 0.6 = 0.48. For a candidate the level is 0.7 of that plus 0.3 of a taste, Beta(3, 2), which also has
    the mean 0.6, and its scores scatter less around it.
    """

    name: str = "user tastes"
    measure: str = NDCG
    mean: float = 0.8 * 0.6

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        clusters = np.repeat(np.arange(4 * (n // 10 + 1)), np.tile((4, 1, 3, 2), n // 10 + 1))[:n]
        users = int(clusters[-1]) + 1
        clarity, level = random.beta(8, 2, n), random.beta(6, 4, users)
        usual = level[clusters]
        baseline = clarity * random.beta(8 * usual, 8 * (1 - usual))
        candidates = []
        for gain in gains:
            own = (0.7 * level + 0.3 * random.beta(3, 2, users))[clusters]
            twin = clarity * random.beta(12 * own, 12 * (1 - own))
            candidates.append(raised(twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates), clusters)


@dataclass(frozen=True)
class SmallRevision:
    """Success of a revised prompt that answers four of five questions as before, right or wrong.

    The baseline succeeds on 0.6. A candidate loses one of six successes, 0.6 / 6 = 0.1 of all, and wins one
    of four failures, 0.4 / 4 = 0.1 of all.
    """

    name: str = "small revision"
    measure: str = SUCCESS
    mean: float = 0.6

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        success = random.random(n) < self.mean
        candidates = []
        for gain in gains:
            changed = random.random(n) < np.where(success, 1 / 6, 1 / 4)
            candidates.append(jumped(random, (success ^ changed).astype(float), self.mean, gain))
        return PairedScores(success.astype(float), np.array(candidates))


@dataclass(frozen=True)
class FixedOverhead:
    """Seconds of a constant overhead plus work, of which half is the query's and half the system's.

    The baseline has 0.4 plus work of Gamma(4) · 0.15: 0.4 + 0.6 = 1. A candidate waits longer for the network
    and works faster: 0.6 plus Gamma(4) · 0.1: 0.6 + 0.4 = 1.
    """

    name: str = "fixed overhead"
    measure: str = SECONDS
    mean: float = 0.4 + 4 * 0.15

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        query = random.gamma(2, size=n)
        baseline = 0.4 + 0.15 * (query + random.gamma(2, size=n))
        twins = [0.6 + 0.1 * (query + random.gamma(2, size=n)) for _ in gains]
        planted = [scaled(twin, self.mean, gain) for twin, gain in zip(twins, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


FAMILIES: tuple[ScoreFamily, ...] = (
    PrecisionGrid(),
    AnswerOverlap(),
    EntityLinks(),
    UserTastes(),
    SmallRevision(),
    FixedOverhead(),
)
