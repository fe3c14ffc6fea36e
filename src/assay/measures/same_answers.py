"""Checks whether two arms gave the same answers, so that no measure of answers can differ between them.

Equal scores prove little: with few items two systems may tie by chance. If the answers are equal, no measure
that reads answers will ever show a difference on these items.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from assay.core.block import RESPONSE_PARTS, Block
from assay.core.protocols import Measure
from assay.core.records import Arm, Hit, Observed, Response


def reads_only_answers(measure: Measure) -> bool:
    """Whether a measure reads only the answers of a system, and neither times nor its index."""
    return not measure.needs.isdisjoint(RESPONSE_PARTS) and "structure" not in measure.needs


@dataclass(frozen=True)
class StoredAnswers:
    """The stored answers of a study, for comparing two arms."""

    blocks: Sequence[Block]

    def on(self, one: Arm, other: Arm, item_ids: Collection[str]) -> bool:
        """Whether both arms answered all of these items, with every seed, in the same way."""
        sides = [{block.seed: block for block in self.blocks if block.arm == arm} for arm in (one, other)]
        if not sides[0] or sides[0].keys() != sides[1].keys():
            return False
        return all(_same(sides[0][seed], sides[1][seed], set(item_ids)) for seed in sides[0])


def _same(one: Block, other: Block, item_ids: Collection[str]) -> bool:
    if one.corpus.hash != other.corpus.hash:  # an id may stand for another text
        return False
    answers = [
        {
            item_id: _comparable(response)
            for item_id, response in zip(block.item_ids, block.responses, strict=True)
            if item_id in item_ids and response is not None and response.error is None
        }
        for block in (one, other)
    ]
    return len(answers[0]) == len(item_ids) and answers[0] == answers[1]


def _comparable(response: Response) -> tuple[Response, list[object]]:
    """Returns a response without times, costs and scores, and which neighbouring hits have equal scores.

    The order of the hits is kept.
    """
    hits = [(hit.doc_id, hit.span, hit.text) for hit in response.hits]
    ties = [first.score == second.score for first, second in pairwise(response.hits)]
    rest = msgspec.structs.replace(response, hits=list[Hit](), observed=Observed())
    return rest, [*hits, *ties]
