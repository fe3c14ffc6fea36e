"""Beam search down a tree: level by level the best nodes, with a step for every candidate looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from assay.core.parts import Floats, Ints, Scorer
from assay.core.records import Step
from assay.kinds.hierarchy.systems.ground import Asked
from assay.kinds.hierarchy.systems.planted import Planted
from assay.kinds.hierarchy.systems.routers import FIRST, NodeScorer, Router
from assay.kinds.hierarchy.systems.tree import Below, node_id
from assay.systems.answering import Meter
from assay.systems.retrievers import min_max_scaled

CUT, EXPAND, BEAM = "cut", "expand", "beam"  # why a candidate was not kept
_DIGITS = 4  # of a score in a trace: they are read, and there are many


@dataclass(frozen=True)
class Kept:
    """The nodes of a level that are kept, with the score of the best way to each."""

    nodes: Ints
    scores: Floats


@dataclass
class Walk:
    """One query's way down: the steps, and how many nodes of each level were scored."""

    steps: list[Step] = field(default_factory=list)
    scored: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Beam:
    """Beam search by a router. Threads may share it."""

    planted: Planted
    router: Router
    scorer: NodeScorer
    second: Scorer | None

    def leaves(self, asked: Asked, walk: Walk, meter: Meter) -> Ints:
        """The leaves that are kept, rising."""
        if not len(self.planted.ground.corpus):
            walk.scored += [0] * self.planted.tree.depth
            return np.empty(0, np.int64)
        kept = Kept(np.zeros(1, np.int64), np.ones(1))
        for level in range(1, self.planted.tree.depth + 1):
            kept = self._down(asked, level, kept, walk, meter)
        return np.sort(kept.nodes)

    def _down(self, asked: Asked, level: int, above: Kept, walk: Walk, meter: Meter) -> Kept:
        step = _Step.of(self.planted.tree.below[level - 1], above)
        stages = dict(self.scorer.scores(asked, level, step.nodes))
        step.rank(stages[FIRST])
        walk.scored.append(len(step.nodes))
        own = min_max_scaled(stages[FIRST])
        if self.router.cut is not None:
            step.keep_of_each_parent(stages[FIRST], self.router.cut, CUT)
        if self.second is not None:
            own, stages["rerank"] = self._looked_at(self.second, asked, level, step, meter)
        ways = self.router.ema * step.above + (1 - self.router.ema) * own[step.child]
        if self.router.expand is not None:
            step.keep_of_each_parent(ways, self.router.expand, EXPAND, by_pair=True)
        found = self._chosen(level, step, ways)
        walk.steps += _told(level, step, stages, ways, found.nodes)
        return found

    def _looked_at(
        self, second: Scorer, asked: Asked, level: int, step: _Step, meter: Meter
    ) -> tuple[Floats, Floats]:
        """The second look at the candidates that are left: from 0 to 1, and as it was given."""
        open_nodes = np.unique(step.child[step.open])
        texts = [self.planted.summaries[level - 1][node].text for node in step.nodes[open_nodes].tolist()]
        found = second.scores(asked.text, texts)
        meter.lap("route", tokens=found.tokens, cost=found.cost)
        given = np.full(len(step.nodes), np.nan)
        given[open_nodes] = found.scores
        own = np.zeros(len(step.nodes))
        own[open_nodes] = min_max_scaled(found.scores)
        return own, given

    def _chosen(self, level: int, step: _Step, ways: Floats) -> Kept:
        """The best of the candidates that are left, each by the best way to it."""
        best = np.full(len(step.nodes), -np.inf)
        np.maximum.at(best, step.child[step.open], ways[step.open])
        order = np.argsort(-best, kind="stable")
        order = order[best[order] > -np.inf]
        width = self.router.width(level)
        if self.router.diversity and len(order) > width:
            centroids = self.planted.centroids[level - 1][step.nodes]
            alike = (centroids @ centroids.T).astype(np.float64)
            order = _diverse(order, best, alike, self.router.diversity, width)
        taken = order[:width]
        return Kept(step.nodes[taken], best[taken])


class _Step:
    """All ways from kept nodes to their children: a pair of parent and child each."""

    def __init__(self, parents: Ints, parent: Ints, nodes: Ints, child: Ints, above: Floats) -> None:
        self.parents, self.parent = parents, parent
        self.nodes, self.child, self.above = nodes, child, above
        self.open = np.ones(len(child), bool)
        self.stop: list[str | None] = [None] * len(child)
        self.place = np.zeros(len(nodes), np.int64)

    @classmethod
    def of(cls, children: Below, above: Kept) -> _Step:
        below = [children.of(node) for node in above.nodes.tolist()]
        parent = np.repeat(np.arange(len(below)), [len(each) for each in below])
        nodes, child = np.unique(np.concatenate(below), return_inverse=True)
        return cls(above.nodes, parent, nodes, child, above.scores[parent])

    def rank(self, first: Floats) -> None:
        """The place of each node among the candidates: the best first."""
        self.place[np.argsort(-first, kind="stable")] = np.arange(len(first))

    def keep_of_each_parent(self, scores: Floats, most: int, why: str, *, by_pair: bool = False) -> None:
        """Closes all but the best ways from each parent."""
        worth = scores if by_pair else scores[self.child]
        for number in range(len(self.parents)):
            ways = np.flatnonzero((self.parent == number) & self.open)
            for lost in ways[np.argsort(-worth[ways], kind="stable")[most:]].tolist():
                self.open[lost] = False
                self.stop[lost] = why


def _told(level: int, step: _Step, stages: Mapping[str, Floats], ways: Floats, kept: Ints) -> Iterator[Step]:
    """A step of the trace for each way, the best of each parent first."""
    # There are hundreds a query: everything is rounded and turned into plain numbers at once.
    given = {name: np.round(each, _DIGITS).tolist() for name, each in stages.items()}
    scores, opened = np.round(ways, _DIGITS).tolist(), step.open.tolist()
    targets = [node_id(level, node) for node in step.nodes.tolist()]
    sources = [node_id(level - 1, node) for node in step.parents.tolist()]
    chosen, children, parents = np.isin(step.nodes, kept).tolist(), step.child.tolist(), step.parent.tolist()
    for way in np.lexsort((step.place[step.child], step.parent)).tolist():
        child = children[way]
        told = {name: values[child] for name, values in given.items() if not math.isnan(values[child])}
        told["score"] = scores[way]
        selected = opened[way] and chosen[child]
        stop = None if selected else step.stop[way] or BEAM
        yield Step("route", level, targets[child], sources[parents[way]], told, selected, stop=stop)


def _diverse(order: Ints, scores: Floats, alike: Floats, diversity: float, width: int) -> Ints:
    """The best by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), as they are chosen."""
    left: list[int] = order.tolist()
    chosen: list[int] = []
    nearest = np.zeros(len(scores))
    while left and len(chosen) < width:
        worth = [(1 - diversity) * scores[each] - diversity * nearest[each] for each in left]
        best = left.pop(int(np.argmax(worth)))
        chosen.append(best)
        nearest = np.maximum(nearest, alike[best])
    return np.array(chosen, np.int64)
