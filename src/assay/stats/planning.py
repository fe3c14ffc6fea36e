"""What a study of a given size can find, and how sure a later look at growing data must be.

If a team repeats a decision on more and more items until the result is as hoped, a bound that is wrong in 2.5
% of studies is wrong more often. So all looks together share one error budget, which is spent step by step
(Lan and DeMets, 1983). The first look, or the look at a planned size, has the plain bound. Later looks share
a further part of the budget, and each gets less. Before a planned size next to nothing is spent (O'Brien and
Fleming, 1979). The spending depends on the size, on a grid whose steps grow by 30 %. Otherwise a team could
gain by choosing the next size after seeing the last result. A second look at the same step uses the next
step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.stats.resample import random_generator

ALPHA, POWER = 0.05, 0.8


def detectable_difference(low: float, high: float, level: float = 1 - ALPHA, power: float = POWER) -> float:
    """Returns the smallest true difference that is found with this power, given the ends of an interval."""
    reach = special.ndtri((1 + level) / 2)
    return float((reach + special.ndtri(power)) / reach * (high - low) / 2)


def chance_to_decide(
    margin: float, truth: float, slack: float, error: float, n: int, more: int, reach: float
) -> float:
    """Returns the chance that `more` rows decide an undecided clause that has n rows now.

    `margin` is the estimate; larger margins are nearer to passing. `truth` is the mean of the new rows,
    `error` the standard error now, and `reach` the distance of the later bound from the estimate, in standard
    errors. The clause will pass if the estimate passes and its bound is above -`slack`. It will fail if its
    bound is below zero.
    """
    share = n / (n + more)
    later = error * math.sqrt(share)
    centre, spread = share * margin + (1 - share) * truth, later * math.sqrt(1 - share)
    holds_from, fails_to = max(0.0, reach * later - slack), -reach * later
    return float(special.ndtr((centre - holds_from) / spread) + special.ndtr((fails_to - centre) / spread))


Floats = NDArray[np.float64]
GROWTH = 1.3
LATER = 0.4  # chosen so that all intervals of ten looks hold at both ends in at least 93 % of studies
DRAWS = 2**18


def step_of(size: int, first: int) -> int:
    """Returns the last step of the grid that a size has reached. Step 0 is the first or planned size."""
    return math.floor(math.log(size / first) / math.log(GROWTH) + 1e-9)


def size_of(step: int, first: int) -> int:
    """Returns the smallest size of a step of the grid."""
    return math.ceil(first * GROWTH**step - 1e-9)


def spent_error(step: int, tail: float) -> float:
    """Returns the one-sided error spent up to a step: `tail` at step 0, in the end 1.4 times `tail`."""
    if step < 0:
        return float(2 * special.ndtr(special.ndtri(tail / 2) / math.sqrt(GROWTH**step)))
    return float(tail * (1 + LATER * (1 - math.sqrt(GROWTH**-step))))


def last_look_tail(steps: Sequence[int], overlap: Floats, tail: float) -> float:
    """Returns the one-sided error of the last of several looks.

    `steps` are the steps that the looks use, in rising order. `overlap` has the correlation of their
    estimates: the number of items that two looks share, divided by the square root of the product of their
    sizes.
    """
    return _tail(tuple(steps), tuple(map(tuple, overlap.tolist())), tail)


@lru_cache(maxsize=256)
def _tail(steps: tuple[int, ...], overlap: tuple[tuple[float, ...], ...], tail: float) -> float:
    used = np.array([spent_error(step, tail) for step in steps])
    if len(used) == 1:
        return float(used[0])
    values, vectors = np.linalg.eigh(np.array(overlap))  # looks at the same items make it singular
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scores = random_generator(0).standard_normal((DRAWS, len(used))) @ root.T
    undecided = np.ones(DRAWS, dtype=bool)
    bar = 0.0
    for look, share in enumerate(np.diff(used, prepend=0.0)):
        rest, crossing = scores[undecided, look], max(1, round(share * DRAWS))
        bar = float(np.partition(rest, -crossing)[-crossing]) if crossing < len(rest) else -np.inf
        undecided &= scores[:, look] < bar
    return min(float(special.ndtr(-bar)), tail)  # not easier than the first look, even at the same items
