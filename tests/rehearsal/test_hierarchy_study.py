"""A tree: its structure, its routing trace level by level, and contexts under several token budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import (
    Budget,
    Context,
    Edge,
    Hit,
    Item,
    Node,
    Passage,
    Piece,
    Query,
    Response,
    Step,
    Structure,
)
from assay.core.registry import DATASETS, MEASURES, SYSTEMS
from assay.pipeline.evaluation import Evaluation
from assay.study.study import Study

BRANCHES = ("north", "south")
SIZES = {"small": 3, "large": 5}


@dataclass(frozen=True)
class Towns:
    """Towns in two branches; the large stage holds all of the small one."""

    stage: str = "small"

    def load(self, kit: Kit) -> Dataset:
        size = SIZES[self.stage]
        passages = [
            Passage(f"{branch}-{index}", f"{branch} town {index} has {index} mills", section=branch)
            for branch in BRANCHES
            for index in range(size)
        ]
        items = [
            Item(
                f"mills-{branch}-{index}",
                f"mills in {branch} town {index}",
                tags={"hops": ["one"], "feasible": ["yes"]},
                gold={"relevant": {f"{branch}-{index}": 1}, "evidence": [f"{branch}-{index}"]},
            )
            for branch in BRANCHES
            for index in range(3)
        ]
        return Dataset(f"towns-{self.stage}", Corpus(passages), items)


@dataclass(frozen=True)
class Tree:
    """Routes to a branch, then to a passage; the seed decides which query it routes wrong."""

    wrong: bool = False
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> TreeIndex:
        return TreeIndex(corpus, seed, self.wrong)


@dataclass(frozen=True)
class TreeIndex:
    corpus: Corpus
    seed: int
    wrong: bool

    def session(self) -> TreeIndex:
        return self

    def structure(self) -> Structure:
        leaves = [Node(each.doc_id, 2, doc_id=each.doc_id) for each in self.corpus.passages]
        branches = [Node(branch, 1) for branch in BRANCHES]
        edges = [Edge("root", branch) for branch in BRANCHES]
        edges += [Edge(each.section or "", each.doc_id) for each in self.corpus.passages]
        return Structure([Node("root", 0), *branches, *leaves], edges)

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        _, _, branch, _, index = query.text.split()
        astray = self.wrong and int(index) == self.seed
        chosen = BRANCHES[1 - BRANCHES.index(branch)] if astray else branch
        trace = [
            Step("route", 1, each, "root", {"cosine": float(each == chosen)}, each == chosen)
            for each in BRANCHES
        ]
        hits = []
        for passage in self.corpus.passages:
            if passage.section == chosen:
                score = float(passage.doc_id.endswith(index)) + 1 / (2 + len(hits))
                hits.append(Hit(passage.doc_id, score))
                trace.append(Step("route", 2, passage.doc_id, chosen, {"cosine": score}, score > 1))
        hits.sort(key=lambda hit: -hit.score)
        return Response(hits=hits, trace=trace, contexts=[self.context(hits, budget) for budget in budgets])

    def context(self, hits: Sequence[Hit], budget: Budget) -> Context:
        pieces, tokens = [], 0
        for hit in hits:
            text = self.corpus.text_of(hit.doc_id) or ""
            if budget is None or tokens + len(text.split()) <= budget:
                pieces.append(Piece(hit.doc_id, text))
                tokens += len(text.split())
        return Context(budget, pieces, tokens, "words")


@dataclass(frozen=True)
class Answerable:
    """1 where the context under a budget holds all evidence."""

    cutoff: int | None = None
    needs: ClassVar[frozenset[str]] = frozenset({"contexts"})
    at: ClassVar[str] = "tokens"
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"A@{self.cutoff or 'inf'}"

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.array(["evidence" in item.gold for item in block.items])

    def values(self, block: Block) -> NDArray[np.float64]:
        found = np.full(len(block.items), np.nan)
        for row, (item, response) in enumerate(zip(block.items, block.responses, strict=True)):
            for context in response.contexts if response else ():
                if context.budget == self.cutoff:
                    held = {piece.doc_id for piece in context.pieces}
                    found[row] = float(held.issuperset(item.gold["evidence"]))
        return found


@dataclass(frozen=True)
class Epsilon:
    """1 where no selected child at a level lies on a path to the evidence."""

    cutoff: str
    needs: ClassVar[frozenset[str]] = frozenset({"trace", "structure"})
    at: ClassVar[str] = "level"
    better: ClassVar[str] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 1.0
    binary: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"eps@{self.cutoff}"

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.array(["evidence" in item.gold for item in block.items])

    def values(self, block: Block) -> NDArray[np.float64]:
        assert block.structure is not None
        parents = {edge.target: edge.source for edge in block.structure.edges}
        level = int(self.cutoff.removeprefix("L"))
        found = []
        for item, response in zip(block.items, block.responses, strict=True):
            right = {doc if level == 2 else parents[doc] for doc in item.gold["evidence"]}
            kept = {
                step.target
                for step in (response.trace if response else ())
                if step.depth == level and step.selected
            }
            found.append(float(right.isdisjoint(kept)))
        return np.array(found)


PLUGINS = {
    DATASETS: {"towns": Towns},
    SYSTEMS: {"tree": Tree},
    MEASURES: {"A": Answerable, "eps": Epsilon},
}
STUDY = """
kind: hierarchy
data: towns
factors: {stage: [small, large]}
seeds: 2
budgets: [6, 12, inf]
systems: {sound: tree, lossy: tree(wrong=true)}
measures: [A@6, A@12, A@inf, eps@L1, eps@L2]
steps: [epsilon, tokens]
gates:
  epsilon:
    kill: {any: ["eps@L1(lossy) > 0.5", "eps@L2(lossy) > 0.5"]}
  tokens:
    on: estimate
    go:
      - A@6(sound) >= A@inf(lossy) - 0.02 where feasible=yes
      - eps@level(sound) <= 0.02 for each level=L1|L2
      - A@6(sound) >= A@6(lossy) + 0.1 for each stage=small|large
      - max(A@6(sound), A@6(lossy)) >= 0.99
"""


def test_a_tree_goes_from_trace_and_budgets_to_a_verdict(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, [], [], PLUGINS)
    found = evaluated(study)
    results = found.results

    # each seed routes two of the six queries astray: a row's mean over the two seeds is 1/2 for four of six
    lossy = {
        (each.factors["stage"], each.measure): each.value
        for each in results.estimates
        if each.system == "lossy"
    }
    assert lossy["small", "eps@L1"] == pytest.approx(1 / 3)
    assert lossy["large", "A@6"] == pytest.approx(2 / 3)
    assert {block.structure is not None for block in found.blocks} == {True}
    assert [verdict.verdict for verdict in results.verdicts] == ["go", "go"]
    assert results.verdicts[1].clauses[1].reason.startswith("2 of 2 pass")


def test_a_kill_stops_the_steps_after_it(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY.replace("eps@L1(lossy) > 0.5", "eps@L1(lossy) > 0.1"), [], [], PLUGINS)
    results = evaluated(study).results
    assert [verdict.verdict for verdict in results.verdicts] == ["no-go", "inconclusive"]
    assert results.verdicts[1].reason == "not reached: epsilon is no-go"


def test_a_budget_that_no_context_is_made_for_is_refused(study_at: Callable[..., Study]) -> None:
    with pytest.raises(DataError, match=r"A@7.*budgets"):
        study_at(STUDY.replace("[A@6,", "[A@7, A@6,"), [], [], PLUGINS)
