"""A block's ranking: a document that came back in several spans stands once, where its best span does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.core.dataset import Corpus
from assay.core.records import Hit, Passage, Response, Span
from assay.measures.ranking import RR
from walked_block import block_of, item, value

SPANS = (
    Hit("a", 0.9, span=Span(0, 10)),
    Hit("b", 0.8),
    Hit("a", 0.1, span=Span(50, 60)),
)


def test_of_several_spans_of_one_document_the_best_counts() -> None:
    ranking = block_of([item("q", "a")], [Response(list(SPANS))]).ranking
    assert ranking.rows() == [("q", "a", 0.9), ("q", "b", 0.8)]


@pytest.mark.parametrize(("evidence", "expected"), [("a", 1.0), ("b", 1 / 2)])
def test_a_later_span_does_not_move_a_document_down(evidence: str, expected: float) -> None:
    assert value(RR(cutoff=10), item("q", evidence), Response(list(SPANS))) == expected


def test_by_document_the_best_passage_counts() -> None:
    passages: Sequence[Passage] = [
        Passage("a1", "one", source="a"),
        Passage("b1", "two", source="b"),
        Passage("a2", "three", source="a"),
    ]
    response = Response([Hit("a1", 3.0), Hit("b1", 2.0), Hit("a2", 1.0)])
    block = block_of([item("q", "a1")], [response], corpus=Corpus(passages))
    assert block.ranked("document").rows() == [("q", "a", 3.0), ("q", "b", 2.0)]
