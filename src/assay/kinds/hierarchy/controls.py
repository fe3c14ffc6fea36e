"""Two extremes of routing: an oracle that keeps only right branches, and a control that keeps every node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from assay.controls.trial import ControlNotApplicable, Draw, Trial, replace_responses
from assay.core.block import Block
from assay.core.records import Step, Structure
from assay.kinds.hierarchy.measures.tree import (
    PASSAGES,
    ROUTE,
    VISITED,
    PublishedTree,
    RoutedItem,
    routed_items,
)

FIRST_ADDRESS = "assay.controls.descents"


@dataclass(frozen=True)
class RightBranchOracle:
    """An oracle that keeps only the right branches, at every level, of the tree that a system published."""

    def steps(self, block: Block, documents: Sequence[Sequence[str]]) -> Iterator[list[Step]]:
        return (_right_steps(case) if case is not None else [] for case in routed_items(block))


def _right_steps(case: RoutedItem) -> list[Step]:
    """Returns steps that keep only the right branches at every level, and visit only the evidence."""
    tree = case.tree
    kept = [
        Step(ROUTE, level, node_id, parent, {"score": 1.0})
        for level in range(1, tree.depth + 1)
        for node_id in sorted(case.correct(level))
        for parent in tree.parents.get(node_id, [""])[:1]
    ]
    seen = {"nodes": float(len(case.doc_ids)), "of": float(max(len(tree.passages), 1))}
    return [*kept, Step(VISITED, 0, PASSAGES, scores=seen)] if kept else []


@dataclass(frozen=True)
class FullBeam:
    """The candidate's answers with every node of a tree kept, and 99.9 % of its passages visited."""

    first_address: ClassVar[str] = "assay.controls.descents:KeepsEverything"

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = 1
    visits: float = 0.999

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(frozenset({"trace"}))
        if not any(block.structure or block.structures for block in trial.own):
            raise ControlNotApplicable("no candidate publishes a tree that a clause reads")
        if not any(_has_routing(block) for block in trial.own):
            raise ControlNotApplicable("no candidate tells a way down a tree")
        return {"": trial.drawn(f"keeps {self.visits}", lambda block, _: self._kept(block))}

    def _kept(self, block: Block) -> Block:
        traces: dict[int, list[Step]] = {}
        made = []
        for item, response in zip(block.items, block.responses, strict=True):
            structure = block.structure_of(item)
            if response is None or structure is None or not response.trace:
                made.append(response)
                continue
            if id(structure) not in traces:
                traces[id(structure)] = self._whole(structure)
            made.append(msgspec.structs.replace(response, trace=traces[id(structure)]))
        return replace_responses(block, made)

    def _whole(self, structure: Structure) -> list[Step]:
        tree = PublishedTree(structure)
        kept = [
            Step(ROUTE, level, node_id, parent, {"score": 1.0})
            for node_id, level in tree.level.items()
            if level > 0 and node_id not in tree.passage_nodes
            for parent in tree.parents.get(node_id, ())
        ]
        there = float(len(tree.passages))
        looked = [
            *((f"L{level}", float(count)) for level, count in sorted(tree.sizes.items()) if level > 0),
            (PASSAGES, there),
        ]
        told = [Step(VISITED, 0, name, scores={"nodes": self.visits * of, "of": of}) for name, of in looked]
        return [*kept, *told]


def _has_routing(block: Block) -> bool:
    return any(step.kind == ROUTE for each in block.responses if each is not None for step in each.trace)
