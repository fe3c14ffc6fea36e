"""Measures of routing down a tree: whether each level keeps the way to the evidence, and what this costs.

L1 is the choice among the root's children. A node of a level is correct if it lies on any path, over all
parents, to a passage of the item's evidence. Measures of routing apply to items whose evidence lies at least
partly in the tree, at levels that the tree has. An answer without any trace is missing. An answer has no
value if its trace has no routing step, for example because the system looks at all nodes at once. Two
measures are about cross-links, and one is about the share of the nodes that were scored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb, inf
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.errors import AssayError, UsageError
from assay.core.protocols import Reference
from assay.core.records import Budget, Response, Step
from assay.kinds.hierarchy.measures.budget import CONTEXTS, BudgetMeasure, budget_declaration
from assay.kinds.hierarchy.measures.tree import (
    LINK,
    PASSAGES,
    VISITED,
    Descent,
    PublishedTree,
    RoutedItem,
    level_number,
    routed_items,
)
from assay.measures.declaration import Declaration, DeclaredMeasure

if TYPE_CHECKING:
    from assay.core.dataset import Dataset
    from assay.study.study import Study

FIRST_ADDRESS = "assay.measures.tree_routing"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
TRACE = frozenset({"trace"})
FIRST, RERANK, SCORE = "first", "rerank", "score"  # stages of a candidate's scores
_OURS = "assay.kinds.hierarchy.systems"  # the package of the trees whose scores have these names
CUT = "cut"  # why a candidate was not selected: it was not among the first, so it was not reranked


routing_declaration = partial(Declaration, needs=TRACE | {"structure"}, blank=TRACE)


@dataclass(frozen=True)
class RoutingMeasure(DeclaredMeasure, ABC):
    """A measure of the routing steps of an answer."""

    def applies(self, block: Block) -> Bools:
        return np.array([case is not None and self.reaches(case) for case in routed_items(block)], dtype=bool)

    def values(self, block: Block) -> Floats:
        return np.array([self._value(case) for case in routed_items(block)], dtype=float)

    def _value(self, case: RoutedItem | None) -> float:
        if case is None or case.descent is None or not self.reaches(case):
            return np.nan
        return self.of(case, case.descent)

    def reaches(self, case: RoutedItem) -> bool:
        """Whether the tree of an item has the level that is measured. True for a measure without a level."""
        return True

    @abstractmethod
    def of(self, case: RoutedItem, descent: Descent) -> float:
        """Returns the value of one answer, or NaN if there is nothing to measure."""


level_declaration = partial(routing_declaration, at="level")


@dataclass(frozen=True)
class LevelMeasure(RoutingMeasure):
    """A measure of the routing steps at one level."""

    cutoff: str = "L1"

    def __post_init__(self) -> None:
        level_number(self.cutoff, self.family)

    @property
    def level(self) -> int:
        return level_number(self.cutoff, self.family)

    def reaches(self, case: RoutedItem) -> bool:
        return self.level <= case.tree.depth

    def references_in(self, blocks: Sequence[Block]) -> Iterator[Reference]:
        trees = [each for block in blocks for each in (block.structure, *block.structures.values()) if each]
        deepest = max((PublishedTree(tree).depth for tree in trees), default=0)
        yield Reference("level", self.cutoff, {f"L{level}" for level in range(1, deepest + 1)})


@dataclass(frozen=True)
class RoutingError(LevelMeasure):
    """Routing error at a level: 1 where the way to the evidence was lost at this level or above, else 0.

    With gold="any", the way is lost if no selected child in the whole beam lies on a path to any of the
    evidence. With gold="all", the way is lost if some unit of the evidence has no selected child on a path to
    the unit. If several places say the same unit, a path to one of them is enough. The error is marginal: the
    mean is over all items, so an item that was lost above is also lost here. Range 0 or 1, lower is better.
    The error among the items that are not yet lost is 1 - (1 - eps@L2) / (1 - eps@L1), computed from the
    means.

    Sun, Lim and Ng, "Blocking reduction strategies in hierarchical text classification", IEEE TKDE 16(10),
    2004, describe what an error above keeps from the levels below.
    """

    first_address: ClassVar[str] = "assay.measures.tree_routing:Eps"

    declares: ClassVar[Declaration] = level_declaration("eps", better="lower", absent=1.0, binary=True)
    gold: Literal["any", "all"] = "any"

    def of(self, case: RoutedItem, descent: Descent) -> float:
        ways, kept = case.ways(self.level), descent.selected(self.level)
        if not ways:
            return np.nan
        lost = [way.isdisjoint(kept) for way in ways]
        return float(all(lost) if self.gold == "any" else any(lost))


@dataclass(frozen=True)
class ChanceRoutingError(LevelMeasure):
    """Routing error by chance at a level: the error of a random choice of as many nodes as were kept.

    It is C(n - c, b) / C(n, b) for a level with n nodes, of which c are correct and b were kept. Read `eps`
    beside this value: a router that keeps 6 of 8 nodes loses little, even if it chooses at random. Range 0 to
    1.
    """

    first_address: ClassVar[str] = "assay.measures.tree_routing:EpsChance"

    declares: ClassVar[Declaration] = level_declaration("eps_chance", better="lower", absent=1.0)

    def of(self, case: RoutedItem, descent: Descent) -> float:
        nodes, right = case.tree.sizes[self.level], len(case.correct(self.level))
        kept = len(descent.selected(self.level))
        return comb(nodes - right, kept) / comb(nodes, kept) if right else np.nan


@dataclass(frozen=True)
class StrictRoutingError(LevelMeasure):
    """Strict routing error at a level: 1 where any expanded node kept no child on a path to the evidence.

    Every expanded node counts, even a node that has no such child. A beam wider than one follows wrong nodes
    on purpose, so below L1 the value is near 1 with any router. At L1 the value equals `eps`, because only
    the root is expanded. The value is also 1 if no node was expanded. Range 0 or 1, lower is better.
    """

    first_address: ClassVar[str] = "assay.measures.tree_routing:EpsStrict"

    declares: ClassVar[Declaration] = level_declaration("eps_strict", better="lower", absent=1.0, binary=True)

    def of(self, case: RoutedItem, descent: Descent) -> float:
        if not case.ways(self.level):
            return np.nan
        correct = case.correct(self.level)
        parents = descent.by_parent(self.level).values()
        kept = [any(step.selected and step.target in correct for step in steps) for steps in parents]
        return float(not kept or not all(kept))


@dataclass(frozen=True)
class ChildRecall(LevelMeasure):
    """Child recall at a level: of the correct children of the expanded nodes, the share that was reranked.

    With `m`, it is the share among the first `m` children of each node by the score before any rerank.
    Children with equal scores keep the order of the tree. Without `m`, it is the share that remains after the
    system's own cut. A child of several expanded nodes counts once, and it was reranked if it was reranked
    for any of these nodes. The measure does not apply if no expanded node has a correct child. Range 0 to 1.
    No reranker can bring back the children that are lost here.
    """

    declares: ClassVar[Declaration] = level_declaration("ChildRecall")
    m: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m is not None and self.m < 1:
            raise UsageError(f"{self.family}: m is {self.m}, and must be at least 1.")

    def of(self, case: RoutedItem, descent: Descent) -> float:
        correct, tree = case.correct(self.level), case.tree
        there, reranked = set[str](), set[str]()
        for parent, steps in descent.by_parent(self.level).items():
            there.update(tree.children.get(parent, ()) if parent is not None else ())
            there.update(step.target for step in steps)
            reranked.update(self._first(steps, tree.order))
        there &= correct
        return len(there & reranked) / len(there) if there else np.nan

    def _first(self, steps: Sequence[Step], order: dict[str, int]) -> list[str]:
        """Returns the children of one node that a reranker was shown, or the first `m` children."""
        if self.m is None:
            return [step.target for step in steps if step.stop != CUT]
        ranked = sorted(steps, key=lambda step: (-_first_score(step), order.get(step.target, len(order))))
        return [step.target for step in ranked[: self.m]]


def _first_score(step: Step) -> float:
    return step.scores.get(FIRST, step.scores.get(SCORE, -inf))


@dataclass(frozen=True)
class RoutingSurvival(RoutingMeasure):
    """Routing survival: the product over the levels of the share of correct continuations that was kept.

    The correct continuations of a level are the correct children of the correct nodes kept so far. At L1 they
    are the correct children of the root. The share of a level is the number of selected continuations,
    divided by the number of all continuations. The value is 0 as soon as none was selected. Range 0 to 1. If
    evidence lies in several branches, two answers that both kept a way can still have different values.
    """

    first_address: ClassVar[str] = "assay.measures.tree_routing:Survival"

    declares: ClassVar[Declaration] = routing_declaration("Survival")

    def of(self, case: RoutedItem, descent: Descent) -> float:
        tree, kept, survival = case.tree, set(case.tree.roots), 1.0
        if not any(kept & tree.above(doc_id) for doc_id in case.doc_ids):
            return 0.0  # no path leads to the evidence
        for level in range(1, tree.depth + 1):
            below = {node for node in case.correct(level) if not kept.isdisjoint(tree.parents.get(node, ()))}
            left = below & descent.selected(level)
            survival *= len(left) / len(below) if below else 1.0
            kept |= left
        return survival


@dataclass(frozen=True)
class RoutingMargin(LevelMeasure):
    """Routing margin at a level: the best score of a correct candidate minus the best of an incorrect one.

    `stage` names the score. By default it is the reranker's score if a candidate of the level has one, else
    the score by which the system selected. Candidates without this score do not count. The margin is
    unbounded and in the units of the score, so compare it only between queries of one system. Higher is
    better. Below 0, an incorrect branch had the best score. The measure does not apply if either of the two
    scores is missing.
    """

    first_address: ClassVar[str] = "assay.measures.tree_routing:Margin"

    declares: ClassVar[Declaration] = level_declaration("Margin", low=-inf, high=None, absent=None)
    stage: str = ""

    def references(self, study: Study, datasets: Mapping[str, Dataset]) -> Iterator[Reference]:
        if self.stage and _has_only_our_trees(study):
            yield Reference("score", self.stage, {FIRST, RERANK, SCORE})

    def references_in(self, blocks: Sequence[Block]) -> Iterator[Reference]:
        if self.stage:
            steps = (step for block in blocks for each in block.answered for step in each.trace)
            yield Reference("score", self.stage, {name for step in steps for name in step.scores})
        yield from super().references_in(blocks)

    def of(self, case: RoutedItem, descent: Descent) -> float:
        candidates, correct = descent.candidates(self.level), case.correct(self.level)
        stage = self.stage or (RERANK if any(RERANK in step.scores for step in candidates) else SCORE)
        best: dict[bool, float] = {}
        for step in candidates:
            if stage in step.scores:
                right = step.target in correct
                best[right] = max(best.get(right, -inf), step.scores[stage])
        return best[True] - best[False] if len(best) == 2 else np.nan


def _has_only_our_trees(study: Study) -> bool:
    """Whether every system that gives a trace is a tree of this package.

    The names of the scores of these trees are known before a run.
    """
    try:
        routed = [arm for arm in study.arms if "trace" in (study.gives(arm) or {"trace"})]
        return all(type(study.system(arm)).__module__.startswith(_OURS) for arm in routed)
    except AssayError:  # a system that is not asked now may lack its files or secrets
        return False


@dataclass(frozen=True)
class CrossBranchReach(RoutingMeasure):
    """Cross-branch reach: 1 if a cross-link leads from a visited node to evidence outside the primary branch.

    The primary branch is the selected child of the root with the best score. If several have the best score,
    it is the first of them. Evidence lies outside the branch if no path to its passage goes through this
    child.

    The evidence is reached if a link leads to its passage, or to a node above the passage. The link must
    start at a selected node, or at a passage directly below a selected node. A link over a name that both
    ends share is one hop. Evidence that the beam reached without a link does not count, so without links the
    value is 0. Range 0 or 1, higher is better. The measure applies to answers that were routed.
    """

    first_address: ClassVar[str] = "assay.measures.cross_links:CrossReach"

    # an answer without a trace was not routed
    declares: ClassVar[Declaration] = routing_declaration(
        "CrossReach", absent=None, binary=True, blank=frozenset()
    )

    def of(self, case: RoutedItem, descent: Descent) -> float:
        chosen = [step for step in descent.candidates(1) if step.selected]
        if not chosen:
            return 0.0
        primary = max(chosen, key=lambda step: step.scores.get(SCORE, -inf)).target
        above = (case.tree.above(doc_id) for doc_id in case.doc_ids)
        return float(any(primary not in nodes and _is_linked(nodes, case, descent) for nodes in above))


def _is_linked(nodes: frozenset[str], case: RoutedItem, descent: Descent) -> bool:
    """Whether a link leads from a visited node to one of `nodes`. Links to the root are ignored."""
    tree, been = case.tree, descent.visited
    sources = {source for node in nodes - tree.roots for source in tree.linked_from(node)}
    read = sources & tree.passage_nodes
    return bool(sources & been) or any(not been.isdisjoint(tree.parents.get(each, ())) for each in read)


@dataclass(frozen=True)
class LinkUse(BudgetMeasure):
    """Link use within tokens: 1 where the context shows a piece of a passage that came by a link, else 0.

    The trace says which passages came by a link. Range 0 or 1, higher is better. A response that has
    contexts, but none for this budget, has no value.
    """

    first_address: ClassVar[str] = "assay.measures.cross_links:LinkUse"

    declares: ClassVar[Declaration] = budget_declaration("LinkUse", binary=True)
    cutoff: Budget = 400

    @property
    def needs(self) -> frozenset[str]:
        return CONTEXTS | {"trace"}

    def values(self, block: Block) -> NDArray[np.float64]:
        return np.array([self._used(response) for response in block.responses], dtype=float)

    def _used(self, response: Response | None) -> float:
        contexts = response.contexts if response is not None else ()
        context = next((each for each in contexts if each.budget == self.cutoff), None)
        if response is None or context is None:
            return np.nan
        linked = {step.target for step in response.trace if step.kind == LINK and step.selected}
        return float(any(piece.doc_id in linked for piece in context.pieces))


@dataclass(frozen=True)
class VisitedShare(DeclaredMeasure):
    """Visited: the share of the corpus's passages that was scored; at a level, the share of its nodes.

    The share is the number of scored nodes divided by the number of all nodes, as the trace reports them. If
    several parts of an answer scored nodes of one level, their counts are added, and the share is at most 1.
    Range 0 to 1, lower is better: of two systems that find the same, the one that scores fewer nodes is
    cheaper. An answer whose trace does not report the counts stays out of the mean.
    """

    first_address: ClassVar[str] = "assay.measures.visited:Visited"

    declares: ClassVar[Declaration] = Declaration(
        "Visited", needs=frozenset({"trace"}), at="level", better="lower", absent=None, blank=frozenset()
    )
    cutoff: str | None = None

    def __post_init__(self) -> None:
        if self.cutoff is not None:
            level_number(self.cutoff, self.family)

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
