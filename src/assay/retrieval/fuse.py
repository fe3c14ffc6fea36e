"""Rankings, and how several become one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranking(NamedTuple):
    """Positions in a corpus, best first, with their scores. Equal scores stand in corpus order."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


def reciprocal_rank_fusion(rankings: Sequence[Ranking], k: int = 60) -> Ranking:
    """One ranking of everything that any of several rankings holds.

    A position scores the sum of 1 / (k + rank) over the rankings that hold it, ranks counted from 1
    (Cormack, Clarke and Büttcher, SIGIR 2009). Scores of the rankings play no part, only their order.
    """
    if not rankings:
        return Ranking(np.empty(0, np.int64), np.empty(0, np.float64))
    shares = [1.0 / (k + np.arange(1, len(ranking.positions) + 1)) for ranking in rankings]
    positions, slot = np.unique(np.concatenate([r.positions for r in rankings]), return_inverse=True)
    scores = np.zeros(len(positions))
    np.add.at(scores, slot, np.concatenate(shares))
    order = np.argsort(-scores, kind="stable")
    return Ranking(positions[order], scores[order])
