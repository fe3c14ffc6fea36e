"""A tiny corpus, a block of answers over it, and results to render: what every plugin is tried on."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit
from assay.core.records import Arm, Context, Hit, Item, Judgment, Observed, Passage, Piece, Response, Step
from assay.judges.resolve import resolve
from assay.store.columns import in_columns, in_order
from assay.store.journal import Answer

TEXTS = {
    "d1": "the quick brown fox jumps over the lazy dog",
    "d2": "a fox and a dog went to market",
    "d3": "größe, 検索, поиск and naïve cafés",
    "d4": "the market closes at five",
}
ITEMS = [
    Item("q1", "brown fox", gold={"relevant": {"d1": 2, "d2": 1}}, tags={"topic": ["animals"]}),
    Item("q2", "market", gold={"relevant": {"d4": 1}}),
    Item("q3", "検索 größe", gold={"relevant": {"d3": 1}}, language="ja"),
    Item("q4", "nothing of the kind", expects="nothing"),
    Item("q5", "lazy", gold={"relevant": {"d1": 1}}),
]


@pytest.fixture(scope="session")
def dataset() -> Dataset:
    return Dataset("tiny", Corpus([Passage(doc_id, text) for doc_id, text in TEXTS.items()]), ITEMS)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    """A kit whose root holds a run file, so that systems which read one have one."""
    lines = [f"{item.item_id} Q0 d{rank} {rank} {5 - rank} t\n" for item in ITEMS[:3] for rank in (1, 2, 3)]
    (tmp_path / "any.run").write_text("".join(lines))
    return Kit(cache=tmp_path / "cache", root=tmp_path)


@pytest.fixture(scope="session")
def block(dataset: Dataset) -> Block:
    """Answers of every sort: ranked, empty, failed-free, with contexts, trace and route; q5 is pending."""
    seen = Observed(seconds={"total": 0.25, "search": 0.2})
    piece = Context(400, [Piece("d1", TEXTS["d1"])], 9, "words")
    answers = [
        Answer("k1", "q1", Response([Hit("d2", 2.0), Hit("d1", 1.0)], [piece], "near", observed=seen)),
        Answer("k2", "q2", Response([Hit("d1", 1.0)], trace=[Step("route", 1, "d1")], observed=seen)),
        Answer("k3", "q3", Response(observed=seen)),
        Answer("k4", "q4", Response(observed=seen)),
    ]
    judgments = [
        Judgment(item.item_id, "relevance", float(grade), "ids", target=doc_id)
        for item in dataset.items
        for doc_id, grade in item.gold.get("relevant", {}).items()
    ]
    stored: pl.DataFrame = in_order(in_columns(answers), ["k1", "k2", "k3", "k4", "k5"])
    return Block(Arm("any"), 0, dataset.items, stored, resolve(judgments, ["ids"], {"relevance"}), judgments)
