"""Cross-links: whether one leads to evidence that lies in another branch, and whether it was of use.

What removing them costs needs no measure of its own: it is the difference of A between two systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.records import Budget, Response
from assay.kinds.hierarchy.measures.budget import CONTEXTS, Budgeted
from assay.kinds.hierarchy.measures.tree import LINK, Case, Descent
from assay.kinds.hierarchy.measures.tree_routing import SCORE, Routing

FIRST_ADDRESS = "assay.measures.cross_links"


@dataclass(frozen=True)
class CrossReach(Routing):
    """Cross-branch reach: 1 where evidence outside the primary branch is one cross-link from where one was.

    The primary branch is the selected child of the root with the best score, the first of equals. Evidence
    lies outside where no path to its passage goes through that child. It is reached where a link leads to the
    passage, or to a node above it, from a selected node or from a passage directly below one; a name that
    both ends share is no hop of its own. What the beam came to by itself does not count for that: without
    links this is 0. Range 0 or 1, higher is better. Applies to answers that were routed.
    """

    family: ClassVar[str] = "CrossReach"
    blank: ClassVar[frozenset[str]] = frozenset()  # an answer without a trace was not routed
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = True

    def of(self, case: Case, descent: Descent) -> float:
        chosen = [step for step in descent.candidates(1) if step.selected]
        if not chosen:
            return 0.0
        primary = max(chosen, key=lambda step: step.scores.get(SCORE, -inf)).target
        above = (case.tree.above(doc_id) for doc_id in case.doc_ids)
        return float(any(primary not in nodes and _linked(nodes, case, descent) for nodes in above))


def _linked(nodes: frozenset[str], case: Case, descent: Descent) -> bool:
    """Whether a link leads to one of the nodes from where an answer was; the root is above everything."""
    tree, been = case.tree, descent.visited
    sources = {source for node in nodes - tree.roots for source in tree.linked_from(node)}
    read = sources & tree.passage_nodes
    return bool(sources & been) or any(not been.isdisjoint(tree.parents.get(each, ())) for each in read)


@dataclass(frozen=True)
class LinkUse(Budgeted):
    """Link use within tokens: 1 where the context shows a piece of a passage that came in by a link, else 0.

    The trace tells which passages did. Range 0 or 1; a response with contexts, but none for this budget, has
    no value. Higher is better.
    """

    family: ClassVar[str] = "LinkUse"
    binary: ClassVar[bool] = True
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
