"""What a study of this size can find, and what it costs to look again with more evidence.

If a study is looked at, extended and looked at again until it says what was hoped for, a bound that is wrong
in 2.5 % of studies is wrong more often. So what may be wrong in all looks together is spent along the way
(Lan and DeMets, 1983). The first look, or the one at a planned size, has the plain bound; later looks share
what is left, less and less of it. Before a planned size next to nothing is spent (O'Brien and Fleming, 1979).
Spending goes by size, on a grid whose steps grow by 30 %, because otherwise it would pay to choose the next
size by the result of the last look. A second look at the same step uses the next step.
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
    """The smallest true difference that is found with this power, given the width of its interval."""
    reach = special.ndtri((1 + level) / 2)
    return float((reach + special.ndtri(power)) / reach * (high - low) / 2)


def chance_to_decide(
    margin: float, truth: float, slack: float, error: float, n: int, more: int, reach: float
) -> float:
    """The chance that `more` rows decide an undecided clause, given the n rows there are.

    `margin` is the estimate; more is nearer to passing. `truth` is the mean that new rows are drawn from,
    `error` the standard error now, `reach` the later distance of the bound in standard errors. The clause
    will pass if the estimate passes and its bound is above -`slack`, and fail if its bound is below zero.
    """
    share = n / (n + more)
    later = error * math.sqrt(share)
    centre, spread = share * margin + (1 - share) * truth, later * math.sqrt(1 - share)
    holds_from, fails_to = max(0.0, reach * later - slack), -reach * later
    return float(special.ndtr((centre - holds_from) / spread) + special.ndtr((fails_to - centre) / spread))


Floats = NDArray[np.float64]
GROWTH = 1.3
LATER = 0.4  # so that both ends of all intervals of ten looks hold in 93 % of studies and more
DRAWS = 2**18


def step_of(size: int, first: int) -> int:
    """The last step of the grid that a size has reached; 0 is the first or planned size."""
    return math.floor(math.log(size / first) / math.log(GROWTH) + 1e-9)


def size_of(step: int, first: int) -> int:
    """The least size of a step of the grid."""
    return math.ceil(first * GROWTH**step - 1e-9)


def spent_error(step: int, tail: float) -> float:
    """The one-sided error spent up to a step of the grid: `tail` at step 0, in the end 1.4 times that."""
    if step < 0:
        return float(2 * special.ndtr(special.ndtri(tail / 2) / math.sqrt(GROWTH**step)))
    return float(tail * (1 + LATER * (1 - math.sqrt(GROWTH**-step))))


def last_look_tail(steps: Sequence[int], overlap: Floats, tail: float) -> float:
    """The one-sided error of the last of several looks.

    `steps` are the steps that the looks use, rising. `overlap` is the correlation of their estimates: the
    number of items that two looks share, divided by the root of the product of their sizes.
    """
    return _tail(tuple(steps), tuple(map(tuple, overlap.tolist())), tail)


@lru_cache(maxsize=256)
def _tail(steps: tuple[int, ...], overlap: tuple[tuple[float, ...], ...], tail: float) -> float:
    used = np.array([spent_error(step, tail) for step in steps])
    if len(used) == 1:
        return float(used[0])
    values, vectors = np.linalg.eigh(np.array(overlap))  # looks at the same items leave it singular
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scores = random_generator(0).standard_normal((DRAWS, len(used))) @ root.T
    undecided = np.ones(DRAWS, dtype=bool)
    bar = 0.0
    for look, share in enumerate(np.diff(used, prepend=0.0)):
        rest, crossing = scores[undecided, look], max(1, round(share * DRAWS))
        bar = float(np.partition(rest, -crossing)[-crossing]) if crossing < len(rest) else -np.inf
        undecided &= scores[:, look] < bar
    return min(float(special.ndtr(-bar)), tail)  # nearly the same items must not be easier than the first
