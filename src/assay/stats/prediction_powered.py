"""Means from a few labels by people and many by a judge: the judge's bias is measured, and taken out.

The power-tuned prediction-powered mean (PPI++; Angelopoulos, Duchi and Zrnic, 2023) of n rows that both
labelled and N that only the judge did:

    people's mean + λ · (judge's mean on the N - judge's mean on the n),    0 ≤ λ ≤ 1

λ = 0 is people's mean, λ = 1 the plain prediction-powered one. Taken is the λ of least variance, which is 0
where the judge guesses. Whatever the judge is worth, the estimate is right on average but for what estimating
λ costs (under 0.01 at n = 50), because people's labels say how far the judge is off. The n rows must be drawn
at random.

The published interval is normal. At n = 50 it covers in as little as 87 % of studies near 0.9. Three things,
settled by simulation (tests/unit/stats/test_prediction_powered.py repeats it), mend that:

- The ends solve Wilson's equation with the variance of the estimate in the place of a proportion's. Without
  a judge this is Wilson's interval; it never leaves the range.
- λ is estimated: the residual variance has n - 2 degrees of freedom, and the quantile is Student's t with
  fewer, on the way from these to what its kurtosis leaves (Satterthwaite): with all of the way a judge that
  is right in 95 % is covered too often, with none of it one that errs to one side only too rarely.
- A judge that was never wrong on few rows may still err: where most rows agree, one error each way is added,
  with a weight that is felt at n = 10 and not at n = 50.

Where the judge takes nothing off the variance, λ is 0: the result is that of people's labels alone. Where
people's labels are all the same there is no variance to go by: then λ is 1 if the judge's are too.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from assay.core.errors import UsageError
from assay.stats.columns import TIE, finite_column, finite_pair
from assay.stats.intervals import LEVEL, Interval, mean_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.core.protocols import Floats

    Bounds = tuple[float, float]

POWERED, ALONE = "prediction-powered", "people alone"
ERROR_WEIGHT = 10.0  # of the errors that are added, over n²
FREEDOM_SHARE = 0.4  # how far the degrees of freedom go towards Satterthwaite's, on a log scale


@dataclass(frozen=True)
class PredictionPoweredMean:
    """A mean with its interval, what it was made of, and how far the judge was trusted."""

    value: float
    low: float
    high: float
    weight: float  # λ: 0 is people's labels alone
    people: int
    judge: int  # rows that only the judge labelled
    known: int = 0  # rows on which nothing was left to a judge

    @property
    def method(self) -> str:
        """How it was found, in a few words."""
        if self.weight == 0:
            return f"{ALONE} ({self.people} items)"
        return f"{POWERED} ({self.people} items by people, {self.judge} by the judge alone)"


def prediction_powered_mean(
    people: ArrayLike,
    judge: ArrayLike,
    others: ArrayLike,
    *,
    bounds: Bounds = (0.0, 1.0),
    weight: float | None = None,
    level: float = LEVEL,
) -> PredictionPoweredMean:
    """The mean of a measure from people's and the judge's values on the same rows and the judge's on others.

    `bounds` is the measure's range. `weight` fixes λ; by default the data do.
    """
    ours, theirs = finite_pair(people, judge)
    rest = finite_column(others)
    if len(ours) < 3 or not len(rest):
        raise UsageError(
            f"Three rows labelled by people and one by the judge alone are needed, not {len(ours)} and "
            f"{len(rest)}. Give the plain mean."
        )
    y, f, u = (_scaled(column, bounds) for column in (ours, theirs, rest))
    if np.ptp(y) <= TIE:  # nothing to learn a variance or a λ from
        return _all_alike(ours, theirs, rest, _plain_interval(ours, bounds, level))
    tuned, reach = _tuned(y, f, u, level) if weight is None else _fixed(y, f, u, level, weight)
    value = min(max(float(y.mean() + tuned * (u.mean() - f.mean())), 0.0), 1.0)
    low, high = _wilson_ends(value, reach / float(y.mean() * (1 - y.mean())))
    value, low, high = (_back(each, bounds) for each in (value, low, high))
    return PredictionPoweredMean(value, low, high, tuned, len(y), len(rest))


def _all_alike(people: Floats, judge: Floats, others: Floats, alone: Interval) -> PredictionPoweredMean:
    """The result where people's labels are all the same.

    A judge that agreed with every one of them is believed on the others; how far it may be is still what
    people's labels alone leave open.
    """
    agreed = bool(np.all(np.abs(people - judge) <= TIE))
    value = float(others.mean() if agreed else people.mean())
    low, high = min(alone.low, value), max(alone.high, value)
    return PredictionPoweredMean(value, low, high, float(agreed), len(people), len(others))


def _tuned(y: Floats, f: Floats, u: Floats, level: float) -> tuple[float, float]:
    """λ, and the squared quantile times the variance; both people's own where the judge gains nothing."""
    weight, alone = optimal_weight(y, f, u), float(y.var()) / len(y)
    usual = _quantile(y, level)
    variance, freedom = _variance(y, f, u, weight, estimated=True)
    if variance >= alone:
        return 0.0, usual**2 * alone
    quantile = max(float(special.stdtrit(freedom, (1 + level) / 2)), usual)
    return weight, min(quantile**2 * variance, usual**2 * alone)


def _fixed(y: Floats, f: Floats, u: Floats, level: float, weight: float) -> tuple[float, float]:
    """The same for a λ that was not estimated."""
    return weight, _quantile(y, level) ** 2 * _variance(y, f, u, weight, estimated=False)[0]


def _quantile(y: Floats, level: float) -> float:
    """Normal for proportions, whose variance Wilson's equation knows; Student's t for scores."""
    tail = (1 + level) / 2
    return float(special.ndtri(tail) if np.isin(y, (0.0, 1.0)).all() else special.stdtrit(len(y) - 1, tail))


def optimal_weight(people: Floats, judge: Floats, others: Floats) -> float:
    """The λ of least variance: Cov(people, judge) / ((1 + n/N) Var(judge)), within 0 and 1."""
    spread = float(np.concatenate([judge, others]).var())
    if spread <= TIE:
        return 0.0
    shared = float(np.mean((people - people.mean()) * (judge - judge.mean())))
    return min(max(shared / (spread * (1 + len(judge) / len(others))), 0.0), 1.0)


def _variance(
    people: Floats, judge: Floats, others: Floats, weight: float, *, estimated: bool
) -> tuple[float, float]:
    """The variance of the estimate, on the scale on which a proportion's is p(1 - p)/n, and its freedom."""
    n = len(people)
    rows, counts = people - weight * judge, np.ones(n)
    if estimated and np.sum(np.abs(people - judge) <= TIE) > n / 2:
        rows = np.append(rows, (1.0, -weight))  # the judge says nothing where people say all, and the reverse
        counts = np.append(counts, np.full(2, ERROR_WEIGHT / n**2))
    total = float(counts.sum())
    centred = rows - counts @ rows / total
    squares = float(counts @ centred**2)
    spare = total - (2 if estimated else 1)
    variance = squares / (total * spare) + weight**2 * float(others.var()) / len(others)
    tails = float(counts @ centred**4) * total / squares**2 - 1 if squares > TIE else 0.0
    satterthwaite = min(max(2 * n / tails, 1.0), n - 2.0) if tails > TIE else n - 2.0
    return variance * (n - 1) / n, satterthwaite**FREEDOM_SHARE * (n - 2) ** (1 - FREEDOM_SHARE)


def _wilson_ends(value: float, reach: float) -> tuple[float, float]:
    """The ends of Wilson's interval; `reach` is z²/n for a plain proportion."""
    middle, half = value + reach / 2, math.sqrt(reach * value * (1 - value) + reach**2 / 4)
    return (middle - half) / (1 + reach), (middle + half) / (1 + reach)


def _scaled(values: Floats, bounds: Bounds) -> Floats:
    scaled: Floats = (values - bounds[0]) / (bounds[1] - bounds[0])
    if scaled.min() < -TIE or scaled.max() > 1 + TIE:
        raise UsageError(f"A value lies outside the range {bounds[0]:g} to {bounds[1]:g}. Check the measure.")
    return scaled


def _back(value: float, bounds: Bounds) -> float:
    return bounds[0] + value * (bounds[1] - bounds[0])


def add_known_rows(
    found: PredictionPoweredMean, known: ArrayLike, *, bounds: Bounds = (0.0, 1.0), level: float = LEVEL
) -> PredictionPoweredMean:
    """The mean over rows that people and judge share out, and rows whose value nobody had to judge.

    People look only at what the judge judged. So the known rows are no part of their draw, and stand beside
    it as a stratum. The ends are those of both strata, squared and added (Zou and Donner, 2008), with what
    the share of the strata itself varies by.
    """
    rows = finite_column(known)
    if not len(rows):
        return found
    total = found.people + found.judge + len(rows)
    share = 1 - len(rows) / total
    mean, own = float(rows.mean()), _plain_interval(rows, bounds, level)
    value = share * found.value + (1 - share) * mean
    quantile = float(special.ndtri((1 + level) / 2))
    apart = quantile * math.sqrt(share * (1 - share) / total) * (found.value - mean)
    below = math.hypot(share * (found.value - found.low), (1 - share) * (mean - own.low), apart)
    above = math.hypot(share * (found.high - found.value), (1 - share) * (own.high - mean), apart)
    low, high = max(value - below, bounds[0]), min(value + above, bounds[1])
    return dataclasses.replace(found, value=value, low=low, high=high, known=len(rows))


def _plain_interval(values: Floats, bounds: Bounds, level: float) -> Interval:
    """The interval of a plain mean, as tables show it."""
    scaled = _scaled(values, bounds)
    binary = bool(np.isin(scaled, (0.0, 1.0)).all())
    found = mean_interval(scaled, binary=binary, bounds=(0.0, 1.0), level=level)
    return Interval(_back(found.low, bounds), _back(found.high, bounds), found.method)
