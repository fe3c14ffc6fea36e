"""Three searches of a tree: a beam down its levels, all nodes at once, and best-first by bounds."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import numpy as np

from assay.core.parts import Floats, Ints, Ranking, Scorer, Vectors
from assay.core.records import Step
from assay.kinds.hierarchy.systems.corpus_tree import Blend, EncodedQuery, TreeIndexData, top_ranking
from assay.kinds.hierarchy.systems.routers import FIRST, NodeScorer, Router, WordRouter
from assay.kinds.hierarchy.systems.tree import ChildLists, node_id
from assay.retrieval.lexical import TermWeights
from assay.retrieval.vectors.exact import InMemoryIndex
from assay.systems.answering import Meter
from assay.systems.retrievers import indexed_text, min_max_scaled

CUT, EXPAND, BEAM = "cut", "expand", "beam"  # why a candidate was not kept
_DIGITS = 4  # of a score in a trace: they are read, and there are many


@dataclass(frozen=True)
class BeamNodes:
    """The nodes of a level that are kept, with the score of the best way to each."""

    nodes: Ints
    scores: Floats


@dataclass
class DescentLog:
    """One query's way down: the steps, and how many nodes of each level were scored."""

    steps: list[Step] = field(default_factory=list)
    scored: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Beam:
    """Beam search by a router. Threads may share it."""

    planted: TreeIndexData
    router: Router
    scorer: NodeScorer
    second: Scorer | None

    def leaves(self, asked: EncodedQuery, walk: DescentLog, meter: Meter) -> Ints:
        """The leaves that are kept, rising."""
        if not len(self.planted.ground.corpus):
            walk.scored += [0] * self.planted.tree.depth
            return np.empty(0, np.int64)
        kept = BeamNodes(np.zeros(1, np.int64), np.ones(1))
        for level in range(1, self.planted.tree.depth + 1):
            kept = self._down(asked, level, kept, walk, meter)
        return np.sort(kept.nodes)

    def _down(
        self, asked: EncodedQuery, level: int, above: BeamNodes, walk: DescentLog, meter: Meter
    ) -> BeamNodes:
        step = _Candidates.of(self.planted.tree.below[level - 1], above)
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
        walk.steps += _trace_steps(level, step, stages, ways, found.nodes)
        return found

    def _looked_at(
        self, second: Scorer, asked: EncodedQuery, level: int, step: _Candidates, meter: Meter
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

    def _chosen(self, level: int, step: _Candidates, ways: Floats) -> BeamNodes:
        """The best of the candidates that are left, each by the best way to it."""
        best = np.full(len(step.nodes), -np.inf)
        np.maximum.at(best, step.child[step.open], ways[step.open])
        order = np.argsort(-best, kind="stable")
        order = order[best[order] > -np.inf]
        width = self.router.width(level)
        if self.router.diversity and len(order) > width:
            centroids = self.planted.centroids[level - 1][step.nodes]
            alike = (centroids @ centroids.T).astype(np.float64)
            order = _diverse_order(order, best, alike, self.router.diversity, width)
        taken = order[:width]
        return BeamNodes(step.nodes[taken], best[taken])


class _Candidates:
    """All ways from kept nodes to their children: a pair of parent and child each."""

    def __init__(self, parents: Ints, parent: Ints, nodes: Ints, child: Ints, above: Floats) -> None:
        self.parents, self.parent = parents, parent
        self.nodes, self.child, self.above = nodes, child, above
        self.open = np.ones(len(child), bool)
        self.stop: list[str | None] = [None] * len(child)
        self.place = np.zeros(len(nodes), np.int64)

    @classmethod
    def of(cls, children: ChildLists, above: BeamNodes) -> _Candidates:
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


def _trace_steps(
    level: int, step: _Candidates, stages: Mapping[str, Floats], ways: Floats, kept: Ints
) -> Iterator[Step]:
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


def _diverse_order(order: Ints, scores: Floats, alike: Floats, diversity: float, width: int) -> Ints:
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


@dataclass(frozen=True)
class Collapsed:
    """All nodes and passages in one ranking. `brings` is how many passages a summary stands for."""

    planted: TreeIndexData
    brings: int = 3

    def __post_init__(self) -> None:
        _ = self.index, self.words  # worked out now: the first query should not pay for it

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Level and number of each node, in the order of the pool; passages come before them."""
        return [
            (level, node)
            for level in range(1, self.planted.tree.depth + 1)
            for node in range(self.planted.tree.size(level))
        ]

    @cached_property
    def words(self) -> TermWeights:
        """BM25 over the whole pool: a word's rarity is the same for summaries and for passages."""
        passages = [indexed_text(each) for each in self.planted.ground.corpus.passages]
        return TermWeights.build([*passages, *(self._summary(*place) for place in self.places)])

    @cached_property
    def index(self) -> InMemoryIndex:
        own: Vectors = np.asarray(self.planted.ground.vectors)
        return InMemoryIndex(np.concatenate([own, *self.planted.summary_vectors]))

    def _summary(self, level: int, node: int) -> str:
        return self.planted.summaries[level - 1][node].text

    def ranked(self, asked: EncodedQuery) -> Ranking:
        """Passages, best first, each by itself or by a summary above it."""
        ground = self.planted.ground
        scores = self.words.scores(self.words.terms(asked.text))
        best = np.argsort(-scores, kind="stable")[: ground.depth]
        best = best[scores[best] > 0]
        (near,) = self.index.search(asked.vector[np.newaxis], ground.depth)
        pool = ground.fuse.fuse([Ranking(best, scores[best]), near])
        return self._passages(asked, pool)

    def _passages(self, asked: EncodedQuery, pool: Ranking) -> Ranking:
        count = len(self.planted.ground.corpus)
        found: dict[int, float] = {}
        for position, score in zip(pool.positions.tolist(), pool.scores.tolist(), strict=True):
            if position < count:
                found.setdefault(position, score)
                continue
            for each in self._best_below(asked, *self.places[position - count]):
                found.setdefault(each, score)
        return Ranking(np.array(list(found), np.int64), np.array(list(found.values()), np.float64))

    def _best_below(self, asked: EncodedQuery, level: int, node: int) -> list[int]:
        members: Ints = self.planted.tree.members(level, node)
        best: list[int] = self.planted.ground.ranked(asked, members).positions[: self.brings].tolist()
        return best


_SLACK = 1e-6  # vectors are float32: what two sums differ by may be rounding


@dataclass(frozen=True)
class BestFirst:
    """Best-first search for the `k` best by a blend of words and vectors. Threads may share it."""

    planted: TreeIndexData
    blend: Blend
    k: int
    most: int | None = None  # leaves that are opened; None: as many as it takes

    def __post_init__(self) -> None:
        if self.blend.words:
            _ = self._by_words  # worked out now: the first query should not pay for it
        if self.blend.dense:
            _ = self.planted.radii

    @cached_property
    def _by_words(self) -> NodeScorer:
        return WordRouter().load(self.planted)

    def ranked(self, asked: EncodedQuery, walk: DescentLog) -> tuple[Ranking, int]:
        """The k best passages, and how many were scored."""
        tree, turn = self.planted.tree, count()
        walk.scored[:] = [0] * tree.depth
        heap: list[tuple[float, int, int, int]] = [(-np.inf, next(turn), 0, 0)]
        best = Ranking(np.empty(0, np.int64), np.empty(0))
        seen = np.zeros(len(self.planted.ground.corpus), bool)
        queued = [np.zeros(tree.size(level), bool) for level in range(tree.depth + 1)]
        opened = 0
        while heap:
            bound, _, level, node = heapq.heappop(heap)
            if self._settled(best, -bound) or (self.most is not None and opened >= self.most):
                break
            below = tree.below[level].of(node)
            if level == tree.depth:
                opened += 1
                best = self._with(best, asked, below[~seen[below]])
                seen[below] = True
                continue
            below = below[~queued[level + 1][below]]
            queued[level + 1][below] = True
            walk.scored[level] += len(below)
            for child, most in zip(
                below.tolist(), self._bounds(asked, level + 1, below).tolist(), strict=True
            ):
                heapq.heappush(heap, (-most, next(turn), level + 1, child))
        return best, int(seen.sum())

    def _settled(self, best: Ranking, bound: float) -> bool:
        """Whether nothing under a bound can come among the best: one that ties could, by its place."""
        return len(best.scores) >= self.k and bound < float(best.scores[-1]) - _SLACK

    def _with(self, best: Ranking, asked: EncodedQuery, positions: Ints) -> Ranking:
        scores = self.blend.scores(self.planted.ground, asked, positions)
        together = np.concatenate([best.positions, positions]), np.concatenate([best.scores, scores])
        return top_ranking(*together, self.k)

    def _bounds(self, asked: EncodedQuery, level: int, nodes: Ints) -> Floats:
        found = np.zeros(len(nodes))
        if self.blend.words:
            found += self.blend.words * self._by_words.scores(asked, level, nodes)[FIRST]
        if self.blend.dense:
            query = asked.vector.astype(np.float64)
            centre = self.planted.means[level - 1][nodes] @ query
            found += self.blend.dense * (
                centre + np.linalg.norm(query) * self.planted.radii[level - 1][nodes]
            )
        return found
