"""A small block to measure."""

from __future__ import annotations

import msgspec
import polars as pl
import pytest

from assay.core.block import LABEL_COLUMNS, Block, Labels
from assay.core.records import Arm, Fault, Hit, Item, Observed, Response

RESPONSES: list[Response | None] = [
    Response([Hit("a", 2.0), Hit("b", 1.0)], observed=Observed({"total": 0.5, "search": 0.25})),
    Response([Hit("z", 1.0)], observed=Observed({"total": 1.5})),
    Response(),
    Response([Hit("a", 1.0)], route="nothing"),
    Response([Hit("a", 1.0)], flags={"impossible": True}),
    Response([Hit("a", 1.0)]),
    None,
    Response(error=Fault("timeout", "took too long")),
]
NOTHING = {2, 3, 4, 5}


@pytest.fixture
def block() -> Block:
    """Eight items: two answered (one unlabelled), four that expect nothing, one pending, one failed."""
    items = [Item(f"q{n}", "?", expects="nothing" if n in NOTHING else None) for n in range(len(RESPONSES))]
    answers = pl.DataFrame(
        {
            "failed": [None if answer is None else answer.error is not None for answer in RESPONSES],
            "docs": [None if answer is None else [hit.doc_id for hit in answer.hits] for answer in RESPONSES],
            "scores": [
                None if answer is None else [hit.score for hit in answer.hits] for answer in RESPONSES
            ],
            "rest": [None if answer is None else msgspec.json.encode(answer) for answer in RESPONSES],
        },
        schema_overrides={"docs": pl.List(pl.String), "scores": pl.List(pl.Float64), "failed": pl.Boolean},
    )
    labels = [("q0", "b", 1.0), ("q0", "c", 2.0), ("q3", "a", 1.0), ("q6", "a", 1.0), ("q7", "a", 1.0)]
    rows = [
        {"item": item, "label": "relevance", "target": doc, "grade": grade} for item, doc, grade in labels
    ]
    frame = pl.DataFrame(rows, schema=LABEL_COLUMNS)
    return Block(Arm("system"), 0, items, answers, Labels(frame, frozenset({"relevance"})))
