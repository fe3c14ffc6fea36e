"""A built tree that answers: along a beam, over the collapsed tree, by bounds, or by a race."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.parts import Ints, Ranking
from assay.core.records import Budget, Query, Response, Step, Structure
from assay.kinds.hierarchy.systems.beam import Beam, Walk
from assay.kinds.hierarchy.systems.bounds import BestFirst
from assay.kinds.hierarchy.systems.collapsed import Collapsed
from assay.kinds.hierarchy.systems.ground import Asked, Ground
from assay.kinds.hierarchy.systems.planted import Planted
from assay.kinds.hierarchy.systems.race import Race
from assay.systems.answering import AnswerBuilder, Meter
from assay.systems.retrievers import RerankStage

VISITED = "visited"


@dataclass(frozen=True)
class Found:
    """What one path found: passages, the steps of its way, and how many nodes and passages it scored."""

    ranking: Ranking
    steps: list[Step]
    nodes: Sequence[int]
    passages: int


@dataclass(frozen=True)
class BeamPath:
    """Down the tree to some leaves, then their passages as a flat system ranks them, with a second look."""

    beam: Beam
    look: RerankStage

    def found(self, asked: Asked, meter: Meter) -> Found:
        walk, planted = Walk(), self.beam.planted
        leaves = self.beam.leaves(asked, walk, meter)
        meter.lap("route")
        among: Ints = planted.tree.below[-1].of_all(leaves)
        first = planted.ground.ranked(asked, among)
        meter.lap("search")
        return Found(self.look.at(asked.text, first, meter), walk.steps, walk.scored, len(among))


@dataclass(frozen=True)
class CollapsedPath:
    """Summaries and passages at once, with the same second look."""

    collapsed: Collapsed
    look: RerankStage

    def found(self, asked: Asked, meter: Meter) -> Found:
        tree = self.collapsed.planted.tree
        first = self.collapsed.ranked(asked)
        meter.lap("search")
        every = [tree.size(level) for level in range(1, tree.depth + 1)]
        passages = len(self.collapsed.planted.ground.corpus)
        return Found(self.look.at(asked.text, first, meter), [], every, passages)


@dataclass(frozen=True)
class BoundsPath:
    """Best-first by bounds: the best passages under one scorer, as they are."""

    search: BestFirst

    def found(self, asked: Asked, meter: Meter) -> Found:
        walk = Walk()
        ranking, scored = self.search.ranked(asked, walk)
        meter.lap("search")
        return Found(ranking, [], walk.scored, scored)


Way = BeamPath | CollapsedPath | BoundsPath


@dataclass(frozen=True)
class TreeIndex:
    """A tree and one or more ways through it. No query changes it, so it is its own session."""

    planted: Planted
    ways: dict[str, Way]
    answering: AnswerBuilder
    race: Race | None = None

    def session(self) -> TreeIndex:
        return self

    def structure(self) -> Structure:
        return self.planted.structure(self.answering.links)

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        meter = Meter()
        asked = self.ground.ask(query.text, meter)
        found = {name: way.found(asked, meter) for name, way in self.ways.items()}
        gathered = {
            name: self.answering.gathered(query.text, each.ranking, meter, self.ground.rescoring.beside)
            for name, each in found.items()
        }
        taken, steps = next(iter(found)), list[Step]()
        if self.race is not None:
            hits = {name: self.answering.hits(each) for name, each in gathered.items()}
            taken, steps = self.race.taken(query.text, hits)
            meter.lap("race")
        response = self.answering.shown(query.text, gathered[taken], budgets, meter)
        routed = [step for each in found.values() for step in each.steps]
        response.trace = [*routed, *steps, *self._visited(list(found.values())), *response.trace]
        response.route = taken
        response.observed = meter.observed()
        return response

    def _visited(self, found: Sequence[Found]) -> list[Step]:
        """How much of each level, and of the corpus, was scored: the most that any path did."""
        tree = self.planted.tree
        most = np.max([each.nodes for each in found], axis=0).tolist()
        levels = [(level, f"L{level}", nodes, tree.size(level)) for level, nodes in enumerate(most, 1)]
        passages = max(each.passages for each in found)
        levels.append((tree.depth + 1, "passages", passages, len(self.ground.corpus)))
        return [
            Step(VISITED, level, name, scores={"nodes": float(nodes), "of": float(of)})
            for level, name, nodes, of in levels
        ]

    @property
    def ground(self) -> Ground:
        return self.planted.ground

    def close(self) -> None:
        self.ground.close()
