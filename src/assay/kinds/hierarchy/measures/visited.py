"""What an answer cost: how much of a tree, or of a corpus, was scored for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.records import Response
from assay.kinds.hierarchy.measures.tree import PASSAGES, VISITED, level_number
from assay.measures.parse import measure_name

FIRST_ADDRESS = "assay.measures.visited"


@dataclass(frozen=True)
class Visited:
    """Visited: the share of the corpus's passages that was scored; at a level, that of its nodes.

    Nodes scored / nodes there are, as the trace tells it. Where several parts of an answer looked at one
    level, their counts add up, to all of it at most. Range 0 to 1, lower is better: of two systems that find
    the same the one that looked at less was cheaper. An answer that does not tell stays out of the mean.
    """

    family: ClassVar[str] = "Visited"
    needs: ClassVar[frozenset[str]] = frozenset({"trace"})
    blank: ClassVar[frozenset[str]] = frozenset()
    at: ClassVar[str] = "level"
    better: ClassVar[str] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = False
    cutoff: str | None = None

    def __post_init__(self) -> None:
        if self.cutoff is not None:
            level_number(self.cutoff, self.family)

    @property
    def name(self) -> str:
        return measure_name(self)

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        return np.array([self._share(response) for response in block.responses], dtype=float)

    def _share(self, response: Response | None) -> float:
        wanted = self.cutoff or PASSAGES
        trace = response.trace if response is not None else ()
        told = [step.scores for step in trace if step.kind == VISITED and step.target == wanted]
        there = max((scores.get("of", 0.0) for scores in told), default=0.0)
        return min(sum(scores.get("nodes", 0.0) for scores in told) / there, 1.0) if there > 0 else np.nan
