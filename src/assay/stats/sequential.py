"""Bounds that stay right although the same question is asked again with more evidence.

A bound that is wrong in 2.5 % of studies is wrong more often if a study is looked at, extended and looked at
again until it says what was hoped for. What may be wrong in all looks together is therefore spent along the
way (Lan and DeMets, 1983): the first look, or the one at a planned size, has the plain bound; what is left
goes to later looks, less and less of it; before a planned size next to nothing is spent (O'Brien and Fleming,
1979). Spending goes by size, on a grid whose steps grow by 30 %, because whoever chooses the next size by how
the last look came out would otherwise gain from it. A second look on the same step uses up the next one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from assay.stats.resample import random_generator

Floats = NDArray[np.float64]
GROWTH = 1.3
LATER = 0.4  # so that both ends of all intervals of ten looks hold in 93 % of studies and more
DRAWS = 2**18


def step_of(size: int, first: int) -> int:
    """The last step of the grid that a size has reached; 0 is the first or planned size."""
    return math.floor(math.log(size / first) / math.log(GROWTH) + 1e-9)


def size_of(step: int, first: int) -> int:
    """The least size on a step of the grid."""
    return math.ceil(first * GROWTH**step - 1e-9)


def spent_error(step: int, tail: float) -> float:
    """What may have gone wrong on one side by a step of the grid: `tail` at step 0, in the end 1.4 of it."""
    if step < 0:
        return float(2 * special.ndtr(special.ndtri(tail / 2) / math.sqrt(GROWTH**step)))
    return float(tail * (1 + LATER * (1 - math.sqrt(GROWTH**-step))))


def last_look_tail(steps: Sequence[int], overlap: Floats, tail: float) -> float:
    """The one-sided error at which the last of several looks is taken.

    `steps` are those that the looks use up, rising; `overlap` is the correlation of their estimates, which is
    how many items two looks share, divided by the root of the product of their sizes.
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
