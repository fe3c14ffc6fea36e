"""Sizes of an effect, beside its p-value: how often, how far, at what odds.

NaN means undefined (no rows, or no spread to divide by), never "no effect".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from assay.stats.columns import TIE, checked, discordant
from assay.stats.intervals import LEVEL, Interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class WinTieLoss(NamedTuple):
    """On how many rows the first system is better, as good, worse."""

    wins: int
    ties: int
    losses: int


class OddsRatio(NamedTuple):
    """An odds ratio with its interval."""

    value: float
    interval: Interval


def win_tie_loss(differences: ArrayLike, tolerance: float = TIE) -> WinTieLoss:
    """Counts of positive, tied and negative differences; within the tolerance is a tie."""
    column = checked(differences)
    wins, losses = int(np.sum(column > tolerance)), int(np.sum(column < -tolerance))
    return WinTieLoss(wins, len(column) - wins - losses, losses)


def cliffs_delta_paired(differences: ArrayLike, tolerance: float = TIE) -> float:
    """P(a > b) - P(a < b) within rows: (wins - losses) / n, from -1 to 1."""
    wins, ties, losses = win_tie_loss(differences, tolerance)
    n = wins + ties + losses
    return (wins - losses) / n if n else float("nan")


def cliffs_delta_independent(a: ArrayLike, b: ArrayLike) -> float:
    """P(a > b) - P(a < b) over all pairs of one value from each sample (Cliff, 1993), by sorting."""
    left, right = checked(a), np.sort(checked(b))
    if not (left.size and right.size):
        return float("nan")
    below = np.searchsorted(right, left - TIE, side="left")
    above = len(right) - np.searchsorted(right, left + TIE, side="right")
    return float((below - above).sum() / (left.size * right.size))


def cohens_dz(differences: ArrayLike) -> float:
    """Mean difference in standard deviations of the differences (Cohen's d for paired rows)."""
    column = checked(differences)
    if len(column) < 2 or np.ptp(column) <= TIE:
        return float("nan")
    return float(column.mean() / column.std(ddof=1))


def odds_ratio(a: ArrayLike, b: ArrayLike, level: float = LEVEL) -> OddsRatio:
    """The matched-pairs odds ratio of two binary columns: rows only a gets right over rows only b does.

    Half a row is added to both counts (Haldane and Anscombe), so that it is defined without discordant rows;
    its interval is symmetric in the logarithm.
    """
    gains, losses = (count + 0.5 for count in discordant(a, b))
    odds = gains / losses
    factor = float(np.exp(special.ndtri((1 + level) / 2) * np.sqrt(1 / gains + 1 / losses)))
    return OddsRatio(odds, Interval(odds / factor, odds * factor, "log-wald"))
