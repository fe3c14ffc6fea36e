"""Three searches of a tree: a beam down its levels, the collapsed tree, and best-first by bounds.

The beam keeps the best nodes of each level, and writes a step into the trace for every candidate. The
collapsed tree puts summaries and passages into one pool and searches them together, as RAPTOR does. Only
passages are shown. So a summary that is found is replaced, at its place, by the passages below it that fit
the query best.

Best-first search finds everything that a flat search finds. The bound of a node is the highest score that any
passage below it can have. The bound by vectors is that of the ball around the passages: q · x ≤ q · c + |q| r
for every x within r of c. The bound by words is the sum, over the words of the query, of the largest weight
below the node. Nodes are opened in the order of falling bounds. The search ends when no bound reaches the
score of the k-th best passage found. If the search is cut off earlier, it may lose passages, as a beam may.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from assay.core.parts import Floats, Ints, Ranking, Scorer, Vectors
from assay.core.records import Step
from assay.kinds.hierarchy.systems.corpus_tree import Blend, EncodedQuery, IndexedTree, top_ranking
from assay.kinds.hierarchy.systems.routers import FIRST, NodeScorer, Router, WordRouter
from assay.kinds.hierarchy.systems.tree import ChildLists, node_id
from assay.retrieval.lexical import TermWeights
from assay.retrieval.vectors.exact import InMemoryIndex
from assay.systems.answering import Meter
from assay.systems.retrievers import indexed_text, min_max_scaled

CUT, EXPAND, BEAM = "cut", "expand", "beam"  # why a candidate was not kept
_DIGITS = 4  # of a score in a trace: people read them, and there are many
_SLACK = 1e-6  # vectors are float32, so smaller differences of sums may be rounding


class PathResult(NamedTuple):
    """The result of one search: the passages, the steps of the way, and how much was scored."""

    ranking: Ranking
    steps: list[Step]
    nodes: Sequence[int]  # how many nodes were scored, by level from 1 on
    passages: int  # how many passages were scored


class BeamNodes(NamedTuple):
    """The nodes of a level that are kept, with the score of the best way to each node."""

    nodes: Ints
    scores: Floats


class BeamDescent(NamedTuple):
    """The way down for one query: the leaves that are kept, the steps, and the scored nodes per level."""

    leaves: Ints
    steps: list[Step]
    scored: list[int]


@dataclass(frozen=True)
class Beam:
    """Searches with a beam whose nodes a router chooses. Threads may share it."""

    indexed: IndexedTree
    router: Router
    scorer: NodeScorer
    second: Scorer | None

    def descend(self, query: EncodedQuery, meter: Meter) -> BeamDescent:
        """Goes from the root to the leaves, and returns the way."""
        depth = self.indexed.tree.depth
        if not len(self.indexed.corpus_index.corpus):
            return BeamDescent(np.empty(0, np.int64), [], [0] * depth)
        kept, log = BeamNodes(np.zeros(1, np.int64), np.ones(1)), BeamDescent(np.empty(0, np.int64), [], [])
        for level in range(1, depth + 1):
            kept = self._down(query, level, kept, log, meter)
        return log._replace(leaves=np.sort(kept.nodes))

    def _down(
        self, query: EncodedQuery, level: int, above: BeamNodes, log: BeamDescent, meter: Meter
    ) -> BeamNodes:
        step = _Candidates.of(self.indexed.tree.below[level - 1], above)
        stages = dict(self.scorer.scores(query, level, step.nodes))
        step.rank(stages[FIRST])
        log.scored.append(len(step.nodes))
        own = min_max_scaled(stages[FIRST])
        if self.router.cut is not None:
            step.keep_of_each_parent(stages[FIRST], self.router.cut, CUT)
        if self.second is not None:
            own, stages["rerank"] = self._reranked(self.second, query, level, step, meter)
        ways = self.router.ema * step.above + (1 - self.router.ema) * own[step.child]
        if self.router.expand is not None:
            step.keep_of_each_parent(ways, self.router.expand, EXPAND, by_pair=True)
        found = self._select(level, step, ways)
        log.steps.extend(_trace_steps(level, step, stages, ways, found.nodes))
        return found

    def _reranked(
        self, second: Scorer, query: EncodedQuery, level: int, step: _Candidates, meter: Meter
    ) -> tuple[Floats, Floats]:
        """Returns the reranker's scores of the candidates that are open: scaled to 0 to 1, and unscaled."""
        open_nodes = np.unique(step.child[step.open])
        texts = [self.indexed.summaries[level - 1][node].text for node in step.nodes[open_nodes].tolist()]
        found = second.scores(query.text, texts)
        meter.lap("route", tokens=found.tokens, cost=found.cost)
        given = np.full(len(step.nodes), np.nan)
        given[open_nodes] = found.scores
        own = np.zeros(len(step.nodes))
        own[open_nodes] = min_max_scaled(found.scores)
        return own, given

    def _select(self, level: int, step: _Candidates, ways: Floats) -> BeamNodes:
        """Returns the best of the candidates that are still open, each with the score of its best way."""
        best = np.full(len(step.nodes), -np.inf)
        np.maximum.at(best, step.child[step.open], ways[step.open])
        order = np.argsort(-best, kind="stable")
        order = order[best[order] > -np.inf]
        width = self.router.width(level)
        if self.router.diversity and len(order) > width:
            centroids = self.indexed.centroids[level - 1][step.nodes]
            alike = (centroids @ centroids.T).astype(np.float64)
            order = _diverse_order(order, best, alike, self.router.diversity, width)
        taken = order[:width]
        return BeamNodes(step.nodes[taken], best[taken])


class _Candidates:
    """All ways from the kept nodes to their children, with one pair of parent and child per way."""

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
        """Stores the rank of each node among the candidates. The best node is first."""
        self.place[np.argsort(-first, kind="stable")] = np.arange(len(first))

    def keep_of_each_parent(self, scores: Floats, most: int, why: str, *, by_pair: bool = False) -> None:
        """Closes all ways from each parent except the best `most` ways."""
        worth = scores if by_pair else scores[self.child]
        for number in range(len(self.parents)):
            ways = np.flatnonzero((self.parent == number) & self.open)
            for lost in ways[np.argsort(-worth[ways], kind="stable")[most:]].tolist():
                self.open[lost] = False
                self.stop[lost] = why


def _trace_steps(
    level: int, step: _Candidates, stages: Mapping[str, Floats], ways: Floats, kept: Ints
) -> Iterator[Step]:
    """Yields one step of the trace per way. The best way of each parent comes first."""
    # There are hundreds per query, so everything is rounded and turned into plain numbers at once.
    given = {name: np.round(each, _DIGITS).tolist() for name, each in stages.items()}
    scores, opened = np.round(ways, _DIGITS).tolist(), step.open.tolist()
    targets = [node_id(level, node) for node in step.nodes.tolist()]
    sources = [node_id(level - 1, node) for node in step.parents.tolist()]
    chosen, children, parents = np.isin(step.nodes, kept).tolist(), step.child.tolist(), step.parent.tolist()
    for way in np.lexsort((step.place[step.child], step.parent)).tolist():
        child = children[way]
        by_stage = {name: values[child] for name, values in given.items() if not math.isnan(values[child])}
        by_stage["score"] = scores[way]
        selected = opened[way] and chosen[child]
        stop = None if selected else step.stop[way] or BEAM
        yield Step("route", level, targets[child], sources[parents[way]], by_stage, selected, stop=stop)


def _diverse_order(order: Ints, scores: Floats, alike: Floats, diversity: float, width: int) -> Ints:
    """Returns the best by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), in that order."""
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
    """Ranks all nodes and passages together. A summary stands for `brings` passages below it."""

    indexed: IndexedTree
    brings: int = 3

    def __post_init__(self) -> None:
        _ = self.index, self.words  # computed now, so that the first query does not pay for it

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """The level and number of each node, in the order of the pool. Passages come before all nodes."""
        return [
            (level, node)
            for level in range(1, self.indexed.tree.depth + 1)
            for node in range(self.indexed.tree.size(level))
        ]

    @cached_property
    def words(self) -> TermWeights:
        """BM25 over the whole pool, so that a word is equally rare for summaries and for passages."""
        passages = [indexed_text(each) for each in self.indexed.corpus_index.corpus.passages]
        return TermWeights.build([*passages, *(self._summary(*place) for place in self.places)])

    @cached_property
    def index(self) -> InMemoryIndex:
        own: Vectors = np.asarray(self.indexed.corpus_index.vectors)
        return InMemoryIndex(np.concatenate([own, *self.indexed.summary_vectors]))

    def _summary(self, level: int, node: int) -> str:
        return self.indexed.summaries[level - 1][node].text

    def ranked(self, query: EncodedQuery) -> Ranking:
        """Returns passages, the best first. A passage is found by itself or by a summary above it."""
        corpus_index = self.indexed.corpus_index
        scores = self.words.scores(self.words.terms(query.text))
        best = np.argsort(-scores, kind="stable")[: corpus_index.depth]
        best = best[scores[best] > 0]
        (near,) = self.index.search(query.vector[np.newaxis], corpus_index.depth)
        pool = corpus_index.fuse.fuse([Ranking(best, scores[best]), near])
        return self._passages(query, pool)

    def _passages(self, query: EncodedQuery, pool: Ranking) -> Ranking:
        count = len(self.indexed.corpus_index.corpus)
        found: dict[int, float] = {}
        for position, score in zip(pool.positions.tolist(), pool.scores.tolist(), strict=True):
            if position < count:
                found.setdefault(position, score)
                continue
            members = self.indexed.tree.members(*self.places[position - count])
            best = self.indexed.corpus_index.ranked(query, members).positions[: self.brings]
            for each in best.tolist():
                found.setdefault(each, score)
        return Ranking(np.array(list(found), np.int64), np.array(list(found.values()), np.float64))


@dataclass(frozen=True)
class BestFirst:
    """Finds the `k` best passages by a blend of words and vectors, best bound first. Threads may share it."""

    indexed: IndexedTree
    blend: Blend
    k: int
    most: int | None = None  # leaves to open; None: as many as needed

    def __post_init__(self) -> None:
        if self.blend.words:
            _ = self._by_words  # computed now, so that the first query does not pay for it
        if self.blend.dense:
            _ = self.indexed.radii

    @cached_property
    def _by_words(self) -> NodeScorer:
        return WordRouter().load(self.indexed)

    def search(self, query: EncodedQuery) -> PathResult:
        """Returns the `k` best passages."""
        tree, turn = self.indexed.tree, count()
        scored = [0] * tree.depth
        heap: list[tuple[float, int, int, int]] = [(-np.inf, next(turn), 0, 0)]
        best = Ranking(np.empty(0, np.int64), np.empty(0))
        seen = np.zeros(len(self.indexed.corpus_index.corpus), bool)
        queued = [np.zeros(tree.size(level), bool) for level in range(tree.depth + 1)]
        opened = 0
        while heap:
            bound, _, level, node = heapq.heappop(heap)
            if self._settled(best, -bound) or (self.most is not None and opened >= self.most):
                break
            below = tree.below[level].of(node)
            if level == tree.depth:
                opened += 1
                best = self._with(best, query, below[~seen[below]])
                seen[below] = True
                continue
            below = below[~queued[level + 1][below]]
            queued[level + 1][below] = True
            scored[level] += len(below)
            for child, most in zip(
                below.tolist(), self._bounds(query, level + 1, below).tolist(), strict=True
            ):
                heapq.heappush(heap, (-most, next(turn), level + 1, child))
        return PathResult(best, [], scored, int(seen.sum()))

    def _settled(self, best: Ranking, bound: float) -> bool:
        """Whether no passage within a bound can be among the best. A passage with an equal score can."""
        return len(best.scores) >= self.k and bound < float(best.scores[-1]) - _SLACK

    def _with(self, best: Ranking, query: EncodedQuery, positions: Ints) -> Ranking:
        scores = self.blend.scores(self.indexed.corpus_index, query, positions)
        together = np.concatenate([best.positions, positions]), np.concatenate([best.scores, scores])
        return top_ranking(*together, self.k)

    def _bounds(self, query: EncodedQuery, level: int, nodes: Ints) -> Floats:
        found = np.zeros(len(nodes))
        if self.blend.words:
            found += self.blend.words * self._by_words.scores(query, level, nodes)[FIRST]
        if self.blend.dense:
            vector = query.vector.astype(np.float64)
            centre = self.indexed.means[level - 1][nodes] @ vector
            found += self.blend.dense * (
                centre + np.linalg.norm(vector) * self.indexed.radii[level - 1][nodes]
            )
        return found
