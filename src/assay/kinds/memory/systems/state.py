"""What a session remembers: nodes that were walked are reinforced, the others fade."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.kinds.memory.systems.graph import Floats, Ints


@dataclass(frozen=True)
class LearningRule:
    """How a memory changes with each query it answers."""

    step: float = 0.02  # that each use adds to a node's weight
    most: float = 0.15  # that use can add
    recovery: float = 0.02  # of freshness, with each use
    fading: float = 0.05  # of freshness, with each query that passes a node by
    floor: float = 0.5  # of freshness


class MemoryState:
    """Use and freshness of each node, from the beginning of a session."""

    def __init__(self, size: int, rule: LearningRule) -> None:
        self.rule = rule
        self.used = np.zeros(size)
        self.fresh = np.ones(size)

    def learn(self, walked: Ints) -> None:
        """Notes the nodes that one answer walked."""
        faded = np.maximum(self.fresh * (1 - self.rule.fading), self.rule.floor)
        faded[walked] = np.minimum(self.fresh[walked] + self.rule.recovery, 1.0)
        self.fresh = faded
        self.used[walked] += 1

    def weight(self, weight: Floats) -> Floats:
        """How much nodes matter now."""
        bonus = np.minimum(self.used * self.rule.step, self.rule.most)
        return np.clip((weight + bonus) * self.fresh, 0.0, 1.0)

    def readiness(self) -> Floats:
        """How readily nodes take energy now: 1 for one that is fresh and was never used."""
        bonus: Floats = np.minimum(self.used * self.rule.step, self.rule.most)
        return self.fresh + bonus
