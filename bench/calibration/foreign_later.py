"""Eight families written by an author who knew the contract in `families.py` and none of the methods judged.

Each tells what an engineer of search, RAG or memory sees when two systems are compared. A twin has the true
mean of the baseline, but another shape, another variance or another dependence. All means are in closed form.
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


def _partly_shared(random: np.random.Generator, luck: Floats, share: float) -> Floats:
    """Uniform numbers of which a share is that of the item and the rest are the system's own."""
    return np.where(random.random(len(luck)) < share, luck, random.random(len(luck)))


@dataclass(frozen=True)
class RankTail:
    """Reciprocal ranks: the baseline lists everything, the candidate shows two results and then stops.

    The baseline finds the answer at rank r with chance 1 / (r (r + 1)), so that the mean of 1 / r is
    pi² / 6 - 1. The candidate scores 1/2 with chance 0.15, 1 with chance pi² / 6 - 1 - 0.15 / 2, else 0.
    """

    name: str = "rank tail"
    measure: str = NDCG
    mean: float = np.pi**2 / 6 - 1

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        luck = random.random(n)
        baseline = 1 / np.floor(1 / (1 - luck))
        first = self.mean - 0.15 / 2
        candidates = []
        for gain in gains:
            own = _partly_shared(random, luck, 0.5)
            twin = np.where(own < first, 1.0, np.where(own < first + 0.15, 0.5, 0.0))
            candidates.append(jumped(random, twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class LongQueries:
    """A candidate that reorders the results of long queries only, which are 30 % and have low scores.

    A long query scores 0.4 on average. The candidate closes half of the distance to 1 on 40 % of the long
    queries and halves the score of the other 60 %: 0.4 · 0.5 · 0.6 - 0.6 · 0.5 · 0.4 = 0.
    """

    name: str = "long queries"
    measure: str = NDCG
    mean: float = 0.3 * 0.4 + 0.7 * 0.8

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        long = random.random(n) < 0.3
        baseline = np.where(long, random.beta(2, 3, n), random.beta(4, 1, n))
        better, worse = (1 + baseline) / 2, baseline / 2
        candidates = []
        for gain in gains:
            reordered = np.where(random.random(n) < 0.4, better, worse)
            candidates.append(jumped(random, np.where(long, reordered, baseline), self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class JudgeStars:
    """A judge gives one to five stars: the baseline is cautious, the candidate very good or very bad.

    Stars count as 0, 1/4, 1/2, 3/4 and 1, and both lists of chances have the mean 0.6375. A question is
    equally hard for both systems in 60 % of the cases.
    """

    name: str = "judge stars"
    measure: str = NDCG
    mean: float = 0.6375
    cautious: tuple[float, ...] = (0.05, 0.1, 0.25, 0.45, 0.15)  # 0.025 + 0.125 + 0.3375 + 0.15
    bold: tuple[float, ...] = (0.2, 0.1, 0.05, 0.25, 0.4)  # 0.025 + 0.025 + 0.1875 + 0.4

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        luck = random.random(n)
        baseline = np.searchsorted(np.cumsum(self.cautious[:-1]), luck, side="right") / 4
        bounds = np.cumsum(self.bold[:-1])
        candidates = []
        for gain in gains:
            twin = np.searchsorted(bounds, _partly_shared(random, luck, 0.6), side="right") / 4
            candidates.append(jumped(random, twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class OppositeStrengths:
    """Search by words against search by meaning: what is easy for one system is hard for the other.

    With u uniform, the baseline scores the root of u: mean 2/3. With w = 1 - u on 80 % of the items and
    another uniform w on the others, the candidate scores 0 up to w = 1/6, 1 from w = 1/2, and rises in a
    straight line in between: 1/3 · 1/2 + 1/2 = 2/3.
    """

    name: str = "opposite strengths"
    measure: str = NDCG
    mean: float = 2 / 3

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        words = random.random(n)
        candidates = []
        for gain in gains:
            meaning = _partly_shared(random, 1 - words, 0.8)
            twin = np.interp(meaning, (1 / 6, 1 / 2), (0.0, 1.0))
            candidates.append(raised(twin, self.mean, gain))
        return PairedScores(np.sqrt(words), np.array(candidates))


@dataclass(frozen=True)
class ParaphraseGroups:
    """Groups of 1 to 20 wordings of one question: a system mostly answers all of them or none.

    A wording has the result of its group with chance 0.85 in the baseline and 0.5 in the less steady
    candidate; otherwise it has its own. Each such result is right with chance 0.6, whatever the size of the
    group, so that both means are 0.6.
    """

    name: str = "paraphrase groups"
    measure: str = SUCCESS
    mean: float = 0.6

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        sizes = np.minimum(1 / (1 - random.random(n)), 20).astype(np.int64)  # s with chance 1 / (s (s + 1))
        clusters = np.repeat(np.arange(n), sizes)[:n]
        groups = random.random(int(clusters[-1]) + 1)
        baseline = _partly_shared(random, groups[clusters], 0.85) < self.mean
        candidates = []
        for gain in gains:
            own = _partly_shared(random, groups, 0.5)  # half of the groups are equally hard for both
            twin = _partly_shared(random, own[clusters], 0.5) < self.mean
            candidates.append(jumped(random, twin.astype(float), self.mean, gain))
        return PairedScores(baseline.astype(float), np.array(candidates), clusters)


@dataclass(frozen=True)
class MemorySessions:
    """Sessions of six turns: the baseline gets worse from turn to turn, a candidate with memory gets better.

    The slopes are +0.1 to -0.1 and -0.1 to +0.1, which is 0 on average, as every turn is as likely as any
    other. The memory helps by 0.06 in three of four sessions and confuses by 0.18 in the fourth: 0 again.
    """

    name: str = "memory sessions"
    turns: int = 6
    measure: str = NDCG
    mean: float = 0.5

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        turn = np.arange(n) + random.integers(self.turns)  # the log begins at any turn of a session
        clusters = turn // self.turns
        number = int(clusters[-1]) + 1
        slope = 0.1 - 0.2 * (turn % self.turns) / (self.turns - 1)
        level = random.uniform(0.35, 0.65, number)
        baseline = level[clusters] + slope + random.uniform(-0.15, 0.15, n)
        candidates = []
        for gain in gains:
            memory = np.where(random.random(number) < 0.75, 0.06, -0.18)
            twin = (level + memory)[clusters] - slope + random.uniform(-0.05, 0.05, n)
            candidates.append(raised(twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates), clusters)


@dataclass(frozen=True)
class RetriedCalls:
    """The baseline repeats one of four calls after a pause; the candidate is slower, but never repeats.

    An attempt of the baseline takes 0.8 seconds on average and the pause 0.4: 0.8 + (0.4 + 0.8) / 4 = 1.1,
    as long as the candidate takes. The size of the request, of mean 1, multiplies every attempt of both.
    """

    name: str = "retried calls"
    measure: str = SECONDS
    mean: float = 0.8 + (0.4 + 0.8) / 4

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        size = random.gamma(6, 1 / 6, n)
        attempt, second = size * random.gamma(4, 0.8 / 4, (2, n))
        baseline = attempt + np.where(random.random(n) < 0.25, 0.4 + second, 0.0)
        steady = size * random.gamma(16, self.mean / 16, (len(gains), n))
        planted = [scaled(each, self.mean, gain) for each, gain in zip(steady, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


@dataclass(frozen=True)
class LongAnswers:
    """The candidate starts later and writes twice as fast: it loses on short answers and wins on long ones.

    With 50 tokens on average, exponentially distributed, the baseline needs 0.3 + 0.014 · 50 = 1 second and
    the candidate 0.65 + 0.007 · 50 = 1. Each time is multiplied by its own noise of mean 1.
    """

    name: str = "long answers"
    measure: str = SECONDS
    mean: float = 1.0

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        tokens = random.exponential(50, n)
        noise = random.gamma(25, 1 / 25, (1 + len(gains), n))
        baseline = (0.3 + 0.014 * tokens) * noise[0]
        twins = (0.65 + 0.007 * tokens) * noise[1:]
        planted = [scaled(twin, self.mean, gain) for twin, gain in zip(twins, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


FAMILIES: tuple[ScoreFamily, ...] = (
    RankTail(),
    LongQueries(),
    JudgeStars(),
    OppositeStrengths(),
    ParaphraseGroups(),
    MemorySessions(),
    RetriedCalls(),
    LongAnswers(),
)
