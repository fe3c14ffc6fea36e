"""The race: a query goes down the beam and over the collapsed tree, and the surer answer is taken.

How sure a path is follows from retrieval scores only (`assay.kinds.hierarchy.confidence`), so that the same
query always takes the same path, and nobody who knows what is right is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.core.records import Hit, Step
from assay.kinds.hierarchy.signs import Observer

RACE = "race"


class Sure(Protocol):
    """What says how sure a path is, by signs of the query and of what the path found."""

    def of(self, path: str, signs: Mapping[str, float]) -> float: ...


@dataclass(frozen=True)
class Race:
    """Which of several paths to take. Threads may share it."""

    observer: Observer
    confidence: Sure

    def taken(self, query: str, found: Mapping[str, Sequence[Hit]]) -> tuple[str, list[Step]]:
        """The path that is surest, the first of those that are equally sure, and the steps that say so."""
        sure = {
            path: self.confidence.of(path, self.observer.signs(query, hits)) for path, hits in found.items()
        }
        best = max(sure, key=lambda path: sure[path])
        steps = [
            Step(RACE, 0, path, scores={"confidence": round(value, 4)}, selected=path == best)
            for path, value in sure.items()
        ]
        return best, steps
