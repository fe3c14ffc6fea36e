"""The mean of a measure from a few labels by people and many by a judge, without the judge's bias.

This is the power-tuned prediction-powered mean (PPI++; Angelopoulos, Duchi and Zrnic, 2023). People and judge
both labelled n rows. Only the judge labelled N more rows. The mean is

    people's mean + λ · (judge's mean on the N rows - judge's mean on the n rows),    0 ≤ λ ≤ 1

With λ = 0 this is people's mean, with λ = 1 the plain prediction-powered mean. λ is chosen for the least
variance, so it is 0 if the judge only guesses. The estimate is unbiased for any judge, except for the cost of
estimating λ (under 0.01 at n = 50), because people's labels measure the judge's error. The n rows must be a
random sample.

The published interval is normal. At n = 50 and values near 0.9 it covers in as little as 87 % of studies.
Three changes correct this (tests/unit/stats/test_prediction_powered.py repeats the simulation):

- The ends solve Wilson's equation, with the variance of the estimate in place of a proportion's variance.
  Without a judge this is Wilson's interval. It never leaves the range.
- λ is estimated, so the residual variance has n - 2 degrees of freedom. The quantile is Student's t with
  fewer degrees of freedom, between n - 2 and Satterthwaite's number, which depends on the kurtosis. With
  Satterthwaite's number, intervals cover too often if the judge is right in 95 % of rows. With n - 2, they
  cover too rarely if the judge errs to one side.
- A judge that was never wrong on a few rows may still be wrong. If most rows agree, one error in each
  direction is added, with a weight that matters at n = 10 and not at n = 50.

If the judge does not reduce the variance, λ is 0 and only people's labels count. If people's labels are all
the same, they have no variance to estimate λ from. Then λ is 1 if the judge's labels on these rows are the
same too, and 0 otherwise.
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

ERROR_WEIGHT = 10.0  # divided by n², the weight of the two errors that are added
FREEDOM_SHARE = 0.4  # how far the degrees of freedom go towards Satterthwaite's, on a log scale


@dataclass(frozen=True)
class PredictionPoweredMean:
    """A mean with its interval, the numbers of rows behind the mean, and λ."""

    value: float
    low: float
    high: float
    weight: float  # λ; 0: people's labels only
    people: int
    judge: int  # rows that only the judge labelled
    known: int = 0  # rows whose value no judge had to decide

    @property
    def method(self) -> str:
        """Says in a few words how the mean was computed."""
        if self.weight == 0:
            return f"people only ({self.people} items)"
        return f"prediction-powered ({self.people} items by people, {self.judge} by the judge only)"


def prediction_powered_mean(
    people: ArrayLike,
    judge: ArrayLike,
    others: ArrayLike,
    *,
    bounds: Bounds = (0.0, 1.0),
    weight: float | None = None,
    level: float = LEVEL,
) -> PredictionPoweredMean:
    """Returns the mean from values of people and judge on the same rows, and of the judge on `others`.

    `bounds` is the measure's range. `weight` fixes λ; by default λ is estimated.
    """
    ours, theirs = finite_pair(people, judge)
    rest = finite_column(others)
    if len(ours) < 3 or not len(rest):
        raise UsageError(
            f"Three rows labelled by people and one only by the judge are needed, not {len(ours)} and "
            f"{len(rest)}. Give the plain mean."
        )
    y, f, u = (_scaled(column, bounds) for column in (ours, theirs, rest))
    if np.ptp(y) <= TIE:  # there is no variance to estimate λ from
        return _all_alike(ours, theirs, rest, _plain_interval(ours, bounds, level))
    if weight is None:
        tuned, reach = _tuned(y, f, u, level)
    else:
        tuned, reach = weight, _quantile(y, level) ** 2 * _variance(y, f, u, weight, estimated=False)[0]
    value = min(max(float(y.mean() + tuned * (u.mean() - f.mean())), 0.0), 1.0)
    low, high = _wilson_ends(value, reach / float(y.mean() * (1 - y.mean())))
    value, low, high = (_back(each, bounds) for each in (value, low, high))
    return PredictionPoweredMean(value, low, high, tuned, len(y), len(rest))


def _all_alike(people: Floats, judge: Floats, others: Floats, people_only: Interval) -> PredictionPoweredMean:
    """Returns the result if people's labels are all the same.

    If the judge agreed with all of them, the mean is the judge's mean on the other rows. The interval is at
    least as wide as the interval of people's labels.
    """
    agreed = bool(np.all(np.abs(people - judge) <= TIE))
    value = float(others.mean() if agreed else people.mean())
    low, high = min(people_only.low, value), max(people_only.high, value)
    return PredictionPoweredMean(value, low, high, float(agreed), len(people), len(others))


def _tuned(y: Floats, f: Floats, u: Floats, level: float) -> tuple[float, float]:
    """Returns the best λ, and the squared quantile times the variance.

    λ is 0 if the judge does not reduce the variance.
    """
    weight, people_only = optimal_weight(y, f, u), float(y.var()) / len(y)
    usual = _quantile(y, level)
    variance, freedom = _variance(y, f, u, weight, estimated=True)
    if variance >= people_only:
        return 0.0, usual**2 * people_only
    quantile = max(float(special.stdtrit(freedom, (1 + level) / 2)), usual)
    return weight, min(quantile**2 * variance, usual**2 * people_only)


def _quantile(y: Floats, level: float) -> float:
    """Returns the normal quantile if all values are 0 or 1, and otherwise Student's t quantile.

    Wilson's equation knows the variance of zeros and ones, so nothing is estimated.
    """
    tail = (1 + level) / 2
    return float(special.ndtri(tail) if np.isin(y, (0.0, 1.0)).all() else special.stdtrit(len(y) - 1, tail))


def optimal_weight(people: Floats, judge: Floats, others: Floats) -> float:
    """Returns the λ of least variance: Cov(people, judge) / ((1 + n/N) Var(judge)), limited to 0 to 1."""
    spread = float(np.concatenate([judge, others]).var())
    if spread <= TIE:
        return 0.0
    shared = float(np.mean((people - people.mean()) * (judge - judge.mean())))
    return min(max(shared / (spread * (1 + len(judge) / len(others))), 0.0), 1.0)


def _variance(
    people: Floats, judge: Floats, others: Floats, weight: float, *, estimated: bool
) -> tuple[float, float]:
    """Returns the variance of the estimate, scaled as p(1 - p)/n of a proportion, and degrees of freedom.

    `estimated` says that λ was estimated, which costs a degree of freedom.
    """
    n = len(people)
    rows, counts = people - weight * judge, np.ones(n)
    if estimated and np.sum(np.abs(people - judge) <= TIE) > n / 2:
        rows = np.append(rows, (1.0, -weight))  # one error in each direction
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
    """Returns the ends of Wilson's interval. For a plain proportion `reach` is z²/n."""
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
    """Returns the mean after adding rows whose value no judge had to decide.

    People look only at rows that the judge labelled, so the known rows are not in their sample. They are a
    stratum of their own. For each end of the interval, the distances of both strata from their means are
    squared and added (Zou and Donner, 2008), with the variance of the share of the strata.
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
    """Returns the interval of a plain mean, the same as in tables."""
    scaled = _scaled(values, bounds)
    binary = bool(np.isin(scaled, (0.0, 1.0)).all())
    found = mean_interval(scaled, binary=binary, bounds=(0.0, 1.0), level=level)
    return Interval(_back(found.low, bounds), _back(found.high, bounds), found.method)
