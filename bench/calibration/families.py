"""Families of scores whose true means are known, so that a verdict on them can be called right or wrong.

A family is made-up data: the scores of one baseline and of any number of candidates on n items. Its author
decides what the scores look like (skewed, tied, rare, slow) and declares the one fact that a simulation
needs: the true mean. To write one, implement `ScoreFamily`. The rest of this folder does not have to be read.
Families of people who have not seen the statistical methods are in `foreign.py` and `foreign_later.py`, which
the methods met before they were final, and in `held_out.py`, which they did not: each has a tuple FAMILIES,
and cells are made for all. `check_family` tries what a family declares on 200,000 items.

    @dataclass(frozen=True)
    class Coin:
        name: str = "coin"
        measure: str = SUCCESS
        mean: float = 0.5

        def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
            baseline = random.random(n) < 0.5
            candidates = [random.random(n) < 0.5 + gain for gain in gains]
            return PairedScores(baseline.astype(float), np.array(candidates, dtype=float))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
NDCG, SUCCESS, SECONDS = "nDCG@10", "Success@10", "Seconds"
LOWER_IS_BETTER = frozenset({SECONDS})
LIMIT = 20  # seconds, which hardly any request of a mean of 1 takes


@dataclass(frozen=True)
class PairedScores:
    """Scores of a baseline and of candidates on the same items, in the order in which items are collected.

    `clusters` numbers the cluster of each item if items depend on each other; None if they do not. A family
    with several seeds has one more axis before the items.
    """

    baseline: Floats  # (n) or (seeds × n)
    candidates: Floats  # (candidates × n) or (candidates × seeds × n)
    clusters: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        return int(self.baseline.shape[-1])


class ScoreFamily(Protocol):
    """What a family has. All members are required.

    name      two or three words; one family has it
    measure   NDCG (any score from 0 to 1, more is better), SUCCESS (0 or 1) or SECONDS (0 or more, unbounded,
              less is better)
    mean      the true mean of the baseline: the expectation, not that of one draw
    draw      a fresh study: `random` is the only source of chance, so that the same generator gives the same
              scores. There is one candidate per entry of `gains`. The true mean of a candidate is better
              than `mean` by exactly its gain: `mean + gain`, for SECONDS `mean - gain`. A gain of 0 is a
              twin: equal in truth, usually not in every score. Gains lie between -mean/2 and (1 - mean)/2,
              for SECONDS between -mean and mean/2; `jumped`, `raised` and `scaled` plant any of them.

    Any item may be as likely as any other to come first, in any slice: a simulation cuts a study into slices
    and looks at the first items before it looks at all. Candidates may depend on the baseline and on each
    other within an item, as systems do; items depend on each other only within `clusters`.
    """

    @property
    def name(self) -> str: ...
    @property
    def measure(self) -> str: ...
    @property
    def mean(self) -> float: ...
    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores: ...


# ------------------------------------------------------------------------------------- planted gains


def jumped(random: np.random.Generator, scores: Floats, mean: float, gain: float) -> Floats:
    """Scores from 0 to 1 of true mean `mean`, some of them moved to 1 (or 0), so that it is `mean + gain`.

    Each is moved with probability gain / (1 - mean): that raises the mean by this share of 1 - mean.
    """
    if gain == 0:
        return scores
    share, end = (gain / (1 - mean), 1.0) if gain > 0 else (-gain / mean, 0.0)
    return np.where(random.random(scores.shape) < share, end, scores)


def raised(scores: Floats, mean: float, gain: float) -> Floats:
    """The same by moving every score a little: by a share of its distance from 1 (or 0)."""
    if gain == 0:
        return scores
    return scores + gain * (1 - scores) / (1 - mean) if gain > 0 else scores * (1 + gain / mean)


def scaled(seconds: Floats, mean: float, gain: float) -> Floats:
    """Times of true mean `mean`, all changed by one factor, so that it is `mean - gain`."""
    return seconds * (mean - gain) / mean


# -------------------------------------------------------------------------------------- the families


@dataclass(frozen=True)
class DiscreteScores:
    """Scores that take a few values; a candidate ties with the baseline on a share of the items."""

    name: str
    values: tuple[float, ...]
    chances: tuple[float, ...]
    tied: float
    measure: str = NDCG

    @property
    def mean(self) -> float:
        return float(np.dot(self.values, self.chances))

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        baseline = random.choice(self.values, n, p=self.chances)
        candidates = []
        for gain in gains:
            own = random.choice(self.values, n, p=self.chances)
            twin = np.where(random.random(n) < self.tied, baseline, own)
            candidates.append(jumped(random, twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class SkewedScores:
    """Beta-distributed scores; a candidate ties with the baseline on three items of ten."""

    name: str = "beta"
    a: float = 0.2
    b: float = 2.0
    measure: str = NDCG

    @property
    def mean(self) -> float:
        return self.a / (self.a + self.b)

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        baseline = random.beta(self.a, self.b, n)
        twins = [np.where(random.random(n) < 0.3, baseline, random.beta(self.a, self.b, n)) for _ in gains]
        planted = [raised(twin, self.mean, gain) for twin, gain in zip(twins, gains, strict=True)]
        return PairedScores(baseline, np.array(planted))


@dataclass(frozen=True)
class Catastrophes:
    """A candidate gains 0.1 on 30 % of the items and loses 0.9 on one of thirty: 0.03 - 0.03 = 0.

    Three quarters of the items have a score of 0.9 in the baseline, which may rise to 1 or fall to 0. On the
    others all systems tie.
    """

    name: str = "catastrophes"
    measure: str = NDCG
    mean: float = 0.75 * 0.9 + 0.25 * 0.5

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        movable = random.random(n) < 0.75
        baseline = np.where(movable, 0.9, random.random(n))
        candidates = []
        for gain in gains:
            luck = random.random(n)  # of 0.75 of the items: 0.4 is 30 % of all, 4/90 is one of thirty
            moved = np.where(luck < 0.4, 1.0, np.where(luck > 1 - 4 / 90, 0.0, 0.9))
            candidates.append(jumped(random, np.where(movable, moved, baseline), self.mean, gain))
        return PairedScores(baseline, np.array(candidates))


@dataclass(frozen=True)
class LognormalSeconds:
    """Times whose logarithm is normal; half of its variance is the item's, half the system's."""

    name: str = "lognormal"
    sigma: float = 1.5
    measure: str = SECONDS
    median: float = 1.0

    @property
    def mean(self) -> float:
        return float(np.exp(self.sigma**2 / 2))

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        item, own = random.normal(size=n), random.normal(size=(1 + len(gains), n))
        seconds = np.exp(self.sigma * np.sqrt(0.5) * (item + own))
        planted = [scaled(each, self.mean, gain) for each, gain in zip(seconds[1:], gains, strict=True)]
        return PairedScores(seconds[0], np.array(planted))


@dataclass(frozen=True)
class SlowRequests:
    """Times of which 97 % are about 0.2 seconds and 3 % about 10, as with a timeout."""

    name: str = "mixture"
    measure: str = SECONDS
    mean: float = 0.97 * 0.2 + 0.03 * 10
    median: float = 0.05 * float(special.gammaincinv(4, 0.5 / 0.97))  # no slow request lies below it

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        shape = (1 + len(gains), n)
        quick, slow = random.gamma(4, 0.05, shape), random.uniform(8, 12, shape)
        seconds = np.where(random.random(shape) < 0.03, slow, quick)
        planted = [scaled(each, self.mean, gain) for each, gain in zip(seconds[1:], gains, strict=True)]
        return PairedScores(seconds[0], np.array(planted))


@dataclass(frozen=True)
class ClusteredScores:
    """Items in clusters of five: a cluster has its own level, and its own opinion of every candidate."""

    name: str = "clusters"
    size: int = 5
    measure: str = NDCG
    mean: float = 0.5

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        clusters = np.arange(n) // self.size
        number = int(clusters[-1]) + 1
        baseline = (random.uniform(0.35, 0.65, number))[clusters] + random.uniform(-0.15, 0.15, n)
        candidates = []
        for gain in gains:
            opinion = random.uniform(-0.12, 0.12, number)[clusters]
            twin = baseline + opinion + random.uniform(-0.08, 0.08, n)
            candidates.append(raised(twin, self.mean, gain))
        return PairedScores(baseline, np.array(candidates), clusters)


@dataclass(frozen=True)
class SeededScores:
    """Three seeds per system; each seed moves the system as a whole by a normal deviation of sd `between`."""

    name: str
    between: float
    seeds: int = 3
    measure: str = NDCG
    mean: float = 0.5

    def draw(self, random: np.random.Generator, n: int, gains: Sequence[float]) -> PairedScores:
        item = random.uniform(0.3, 0.7, n)  # far enough from 0 and 1 that nothing has to be cut off
        shape = (1 + len(gains), self.seeds, n)
        own = random.uniform(-0.1, 0.1, (1 + len(gains), 1, n)) + random.uniform(-0.05, 0.05, shape)
        scores = item + own + self.between * random.normal(size=(1 + len(gains), self.seeds, 1))
        planted = [raised(each, self.mean, gain) for each, gain in zip(scores[1:], gains, strict=True)]
        return PairedScores(scores[0], np.array(planted))


RANKED = tuple(1 / np.log2(rank + 1) for rank in (1, 2, 3, 5, 10))
FAMILIES: tuple[ScoreFamily, ...] = (
    DiscreteScores("zero-inflated", (*RANKED, 0.0), (0.2, 0.1, 0.07, 0.05, 0.03, 0.55), tied=0.5),
    DiscreteScores("ceiling", (*RANKED[:3], 0.0), (0.92, 0.04, 0.02, 0.02), tied=0.3),
    DiscreteScores("ties", (*RANKED, 0.0), (0.4, 0.15, 0.1, 0.1, 0.05, 0.2), tied=0.9),
    SkewedScores(),
    DiscreteScores("binary", (1.0, 0.0), (0.7, 0.3), tied=0.5, measure=SUCCESS),
    Catastrophes(),
    LognormalSeconds(),
    SlowRequests(),
    ClusteredScores(),
)
SEEDED = (SeededScores("seeds alike", 0.0), SeededScores("seeds vary", 0.02))
# a system that answers the same whenever it is asked: only what a new version loses differs
DETERMINISTIC = DiscreteScores("deterministic", (1.0, 0.0), (0.7, 0.3), tied=1.0, measure=SUCCESS)


def margin_of(family: ScoreFamily) -> float:
    """What a gate asks for beyond no loss: 0.02, or 5 % of the mean of times."""
    return 0.05 * family.mean if family.measure in LOWER_IS_BETTER else 0.02


def median_of(family: ScoreFamily) -> float | None:
    """The true median of times whose candidates differ by a factor only; None of anything else."""
    return getattr(family, "median", None)


def measure_of(family: ScoreFamily) -> str:
    """The measure of a family's clauses. Times of which only the means are known need a limit."""
    if family.measure in LOWER_IS_BETTER and median_of(family) is None:
        return f"{family.measure}(limit={LIMIT})"
    return family.measure


def unit_of(family: ScoreFamily) -> float:
    """By how much what a clause is about is better, for a gain of 1 in the mean."""
    median = median_of(family)
    return 1.0 if median is None else median / family.mean


def most_gain(family: ScoreFamily) -> float:
    """The largest gain that a family has to be able to plant."""
    return family.mean / 2 if family.measure in LOWER_IS_BETTER else (1 - family.mean) / 2


def most_loss(family: ScoreFamily) -> float:
    """The largest loss that a family has to be able to plant, as a negative gain."""
    return -family.mean if family.measure in LOWER_IS_BETTER else -family.mean / 2


# ----------------------------------------------------------------------------------------- the check


def check_family(family: ScoreFamily, studies: int = 400, n: int = 500) -> list[str]:
    """What is wrong with a family: true means that a large draw refutes, wrong shapes, values out of range.

    The means of whole studies are compared, five standard errors apart at most, so that what items of one
    study share (clusters, seeds) is taken into account.
    """
    gains = (0.0, 0.0, margin_of(family), -margin_of(family), most_gain(family), most_loss(family))
    sign = -1 if family.measure in LOWER_IS_BETTER else 1
    means = np.empty((studies, 1 + len(gains)))
    for study in range(studies):
        drawn = family.draw(np.random.default_rng([20, study]), n, gains)
        if problems := list(_wrong_form(family, drawn, n, gains)):
            return problems
        means[study] = [drawn.baseline.mean(), *(each.mean() for each in drawn.candidates)]
    again = family.draw(np.random.default_rng([20, studies - 1]), n, gains)
    found = [] if np.array_equal(again.candidates, drawn.candidates) else ["the same seed gives other scores"]
    if all(np.array_equal(each, drawn.baseline) for each in drawn.candidates[:2]):
        found.append("a twin equals the baseline in every score")
    declared = {"mean of the baseline": (means[:, 0], family.mean)}
    for column, gain in zip(means.T[1:], gains, strict=True):
        named = f"of a candidate with gain {gain:g}"
        declared[f"mean {named}"] = column, family.mean + sign * gain
        declared[f"difference {named}"] = column - means[:, 0], sign * gain  # sharper if systems agree
    for what, (column, true) in declared.items():
        error = column.std(ddof=1) / np.sqrt(studies)
        if abs(column.mean() - true) > 5 * error + 1e-12:
            found.append(f"the {what} is {column.mean():.5g} ± {error:.2g}, declared {true:.5g}")
    return found


def _wrong_form(family: ScoreFamily, drawn: PairedScores, n: int, gains: Sequence[float]) -> Iterator[str]:
    if family.measure not in {NDCG, SUCCESS, SECONDS}:
        yield f"the measure {family.measure!r} is none of {NDCG}, {SUCCESS}, {SECONDS}"
    if drawn.baseline.shape[-1] != n or drawn.candidates.shape != (len(gains), *drawn.baseline.shape):
        yield f"{drawn.candidates.shape} scores of candidates beside {drawn.baseline.shape} of the baseline"
        return
    every = np.concatenate([drawn.baseline[None], drawn.candidates])
    if not np.isfinite(every).all() or every.min() < 0:
        yield "a score is negative or not a number"
    if family.measure != SECONDS and every.max() > 1 + 1e-12:
        yield f"a score is above 1: {every.max():g}"
    if family.measure == SUCCESS and not np.isin(every, (0.0, 1.0)).all():
        yield "a score is neither 0 nor 1"
    if drawn.clusters is not None and len(drawn.clusters) != n:
        yield f"{len(drawn.clusters)} cluster numbers for {n} items"
