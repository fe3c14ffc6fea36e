"""Answers of a memory made up by hand, as the block that measures read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.core.block import STATUSES, Block
from assay.core.dataset import Corpus
from assay.core.protocols import Measure
from assay.core.records import Arm, Hit, Item, Judgment, Response, Step
from assay.judges.labels import resolve
from assay.measures.score import score_block
from assay.store.journal import Answer, answer_columns, select_by_key

CLOSED = frozenset({"relevance"})


def path(*walked: str) -> list[Step]:
    """A path from its nodes, "node", "node:role" or, where an edge leads there, "edge>node:role"."""
    steps: list[Step] = []
    for depth, text in enumerate(walked):
        edge, _, named = text.rpartition(">")
        node, _, role = named.partition(":")
        before = steps[-1].target if steps else None
        steps.append(Step("path", depth, node, before, {"score": 1.0}, edge=edge or None, role=role or None))
    return steps


def seed(node: str) -> Step:
    return Step("seed", 0, node, scores={"energy": 1.0})


def spread(hop: int, source: str, target: str, edge: str, stop: str | None = None) -> Step:
    return Step("spread", hop, target, source, {"energy": 0.5}, stop is None, edge, stop)


def hits(*doc_ids: str) -> list[Hit]:
    """Hits that score n … 1."""
    return [Hit(doc_id, float(len(doc_ids) - rank)) for rank, doc_id in enumerate(doc_ids)]


def walked(*trace: Step) -> Response:
    """A response whose hits are the nodes of its paths."""
    nodes = dict.fromkeys(step.target for step in trace if step.kind == "path")
    return Response(hits(*nodes), trace=list(trace))


def item(item_id: str, *evidence: str, **gold: Any) -> Item:
    """An item whose gold names evidence of grade 1, and whatever else is given."""
    relevant = {"relevant": dict.fromkeys(evidence, 1.0)} if evidence else {}
    return Item(item_id, "a query", gold=relevant | gold)


def block_of(
    items: Sequence[Item],
    responses: Sequence[Response | None],
    gives: frozenset[str] | None = None,
    closed: frozenset[str] = CLOSED,
    corpus: Corpus | None = None,
) -> Block:
    """A block of one arm; None: the item is pending."""
    pairs = zip(items, responses, strict=True)
    stored = answer_columns(
        Answer(each.item_id, each.item_id, told) for each, told in pairs if told is not None
    )
    judgments = [
        Judgment(each.item_id, "relevance", float(grade), "ids", target=doc_id)
        for each in items
        for doc_id, grade in each.gold.get("relevant", {}).items()
    ]
    answers = select_by_key(stored, [each.item_id for each in items])
    labels = resolve(judgments, ["ids"], closed)
    return Block(
        Arm("memory"), 0, items, answers, labels, judgments, gives=gives, corpus=corpus or Corpus(())
    )


def scored(measure: Measure, block: Block) -> list[tuple[float | None, str]]:
    """Value and status of each item."""
    values, status = score_block(measure, block)
    return [
        (None if np.isnan(value) else float(value), STATUSES[code].value)
        for value, code in zip(values, status, strict=True)
    ]


def value(measure: Measure, of: Item, response: Response) -> float | None:
    """The value of one answer, None where there is none."""
    return scored(measure, block_of([of], [response]))[0][0]
