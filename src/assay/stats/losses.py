"""Tests whether paired differences show a loss: one-sided sign flips, with one error budget for all columns.

A version that is no worse wins as often as it loses, so every difference could as well have the other sign.
The test counts how often flipped signs give a loss at least as large as the observed loss. Flips that give an
equal loss count half (mid-p), because with few changed items the exact p-value wastes most of its level: four
items lost and none won have an exact p of 1/16 and a mid-p of 1/32. For columns of 0 and 1 this is McNemar's
test, one-sided, with the mid-p.

Several columns (measures, arms) share the flips and one error budget. Each p-value is adjusted by how often
the smallest of all p-values is at most as large (Westfall and Young, 1993, step-down). So columns that move
together, such as R@10 and nDCG@10 of one system, cost little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from assay.stats.columns import TIE, finite_column
from assay.stats.planning import POWER
from assay.stats.resample import random_generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.protocols import Floats

# A mid-p is not exact. At this level false alarms stay under 5 % whatever share of the items, up to three
# in five, changes by chance, for scores of 0 and 1 and for any others (summed exactly in the tests).
LEVEL = 0.048
FLIPS = 10_000
EXACT_ROWS = 13  # up to this number of changed rows, all 2^n sign vectors are used
EXACT_COLUMN = 20  # the same for a single column
SLACK = 1e-9  # relative: sums that differ by less are equal


@dataclass(frozen=True)
class LossTest:
    """The p-value of a loss: how likely a version that is no worse shows a loss of this size or more."""

    p: float
    p_adjusted: float  # over all columns that were tested together
    level: float = LEVEL  # what `p` must not exceed, given the other columns

    @property
    def shown(self) -> bool:
        """Whether the loss is larger than chance explains."""
        return self.p_adjusted <= LEVEL


def loss_tests(gains: Floats, flips: int = FLIPS, seed: int = 0) -> list[LossTest]:
    """Tests each column of (rows × columns) differences for a loss. Larger differences are better.

    Rows must be exchangeable: if rows are in clusters, pass the sums of each cluster. A column without a
    change shows no loss, and takes no share of the error budget.
    """
    table = finite_column(gains)
    changed = np.abs(table) > TIE
    tested = np.flatnonzero(changed.any(axis=0))
    found = [LossTest(1.0, 1.0)] * table.shape[1]
    if len(tested) == 1:
        p = _single(table[changed[:, tested[0]], tested[0]], flips, seed)
        found[tested[0]] = LossTest(p, p)
    elif len(tested):
        moving = table[changed.any(axis=1)][:, tested]
        adjusted, own, level = _together(moving, flips, seed)
        for place, column in enumerate(tested):
            found[column] = LossTest(float(own[place]), float(adjusted[place]), level)
    return found


def _single(column: Floats, flips: int, seed: int) -> float:
    """Returns the mid-p of one column of differences that are not zero."""
    sizes = np.abs(column)
    if np.ptp(sizes) <= SLACK * sizes.max():  # all differences have one size: a binomial test
        lost, n = int((column < 0).sum()), len(column)
        at_least = float(special.bdtrc(lost - 1, n, 0.5)) if lost else 1.0
        return (at_least + float(special.bdtrc(lost, n, 0.5))) / 2  # flips that lose as many items count half
    if len(column) <= EXACT_COLUMN:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        bar, slack = float(column.sum()), SLACK * float(sizes.sum())
        return float(np.mean(sums < bar - slack) + np.mean(np.abs(sums - bar) <= slack) / 2)
    return float(_mid_p(_flipped(column[:, None], flips, seed)[:, 0])[0])


def _together(moving: Floats, flips: int, seed: int) -> tuple[Floats, Floats, float]:
    """Returns the adjusted p-values, the p-values of single columns, and the level that each must reach."""
    flipped = _flipped(moving, flips, seed)
    p_values = np.column_stack([_mid_p(column) for column in flipped.T])  # by flip; the first row is the data
    own = p_values[0]
    order = np.argsort(own, kind="stable")
    smallest, adjusted = np.full(len(p_values), np.inf), np.empty(len(own))
    for column in order[::-1]:
        smallest = np.minimum(smallest, p_values[:, column])
        below, same = smallest < own[column] - SLACK, np.abs(smallest - own[column]) <= SLACK
        adjusted[column] = below.mean() + same.mean() / 2
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted, own, float(min(LEVEL, np.quantile(smallest, LEVEL)))


def _flipped(moving: Floats, flips: int, seed: int) -> Floats:
    """Returns the sums of the columns under common sign vectors, divided by the largest possible sum.

    The first sign vector changes nothing. For few rows these are all sign vectors; for many rows they are
    random.
    """
    rows = len(moving)
    signs: NDArray[np.float64]
    if rows <= EXACT_ROWS:
        bits = np.arange(2**rows)[:, None] >> np.arange(rows) & 1
        signs = (1 - 2 * bits).astype(np.float64)
    else:
        drawn = random_generator(seed).integers(0, 2, size=(flips, rows)) * 2 - 1
        signs = np.vstack([np.ones((1, rows)), drawn]).astype(np.float64)
    sums: Floats = signs @ moving / np.abs(moving).sum(axis=0)
    return sums


def _mid_p(sums: Floats) -> Floats:
    """Returns for every sum the share of smaller sums plus half of the share of equal sums."""
    order = np.argsort(sums, kind="stable")
    groups = np.concatenate([[0], np.cumsum(np.diff(sums[order]) > SLACK)])
    sizes = np.bincount(groups)
    shares = (np.cumsum(sizes) - sizes / 2) / len(sums)
    p = np.empty(len(sums))
    p[order] = shares[groups]
    return p


def detectable_loss(worth: Floats, noise: float, level: float = LEVEL, power: float = POWER) -> float | None:
    """Returns the smallest mean loss that is found with this power, if the lost items lose all they have.

    `worth` is how much each item can lose. `noise` is the mean square of chance differences. A loss that is
    spread over more items is found more easily. None if there are too few items to show any loss.
    """
    n, first, second = len(worth), float(np.mean(worth)), float(np.mean(worth**2))
    enough = math.ceil(-math.log2(level)) - 1  # so many items lost and none won make a mid-p this small
    if (worth > TIE).sum() < max(enough, 1):
        return None
    bar, reach = float(special.ndtri(1 - level)), float(special.ndtri(power))

    def caught(share: float) -> bool:
        loss, square = share * first, share * second + noise
        return loss - bar * math.sqrt(square / n) >= reach * math.sqrt(max(0.0, square - loss**2) / n)

    if not caught(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if caught(middle) else (middle, high)
    return high * first
