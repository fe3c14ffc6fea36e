"""What the oracle keeps of a tree: the branches that lead to the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.core.block import Block
from assay.core.records import Step
from assay.kinds.hierarchy.measures.tree import PASSAGES, ROUTE, VISITED, Case, cases


@dataclass(frozen=True)
class RightBranches:
    """Only the right branches, at every level, of the tree that a system published."""

    def steps(self, block: Block, documents: Sequence[Sequence[str]]) -> Iterator[list[Step]]:
        return (_descent(case) if case is not None else [] for case in cases(block))


def _descent(case: Case) -> list[Step]:
    """Only the right branches kept at every level, and only their passages visited."""
    tree = case.tree
    kept = [
        Step(ROUTE, level, node_id, parent, {"score": 1.0})
        for level in range(1, tree.depth + 1)
        for node_id in sorted(case.correct(level))
        for parent in tree.parents.get(node_id, [""])[:1]
    ]
    seen = {"nodes": float(len(case.doc_ids)), "of": float(max(len(tree.passages), 1))}
    return [*kept, Step(VISITED, 0, PASSAGES, scores=seen)] if kept else []
