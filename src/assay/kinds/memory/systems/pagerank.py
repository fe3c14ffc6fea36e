"""Personalised PageRank: where a walk that keeps returning to its seeds spends its time.

Haveliwala, "Topic-sensitive PageRank", WWW 2002; as a memory's retrieval step, Gutiérrez et al., "HippoRAG:
neurobiologically inspired long-term memory for large language models", NeurIPS 2024.
"""

from __future__ import annotations

import numpy as np

from assay.kinds.memory.systems.graph import Bools, Floats, MemoryGraph

_MOST = 1_000  # rounds; at a damping of 0.5 some twenty are enough


def personalised(
    graph: MemoryGraph, standing: Bools, seeds: Floats, damping: float, tolerance: float = 1e-6
) -> Floats:
    """The share of time at each node; `seeds` are the weights of where a walk begins again.

    A walk that is stuck begins again too. Ends where a round changes the shares by less than `tolerance` in
    all.
    """
    steps, stuck = graph.transitions(standing)
    home = seeds / seeds.sum()
    here: Floats = home.copy()
    for _ in range(_MOST):
        lost = float(here[stuck].sum())
        then: Floats = damping * (steps @ here + lost * home) + (1 - damping) * home
        if float(np.abs(then - here).sum()) < tolerance:
            return then
        here = then
    return here
