"""The flat systems against published figures, measured by pytrec_eval.

BM25: Anserini publishes nDCG@10 0.679 for BEIR SciFact and 0.322 for NFCorpus (flat index: title and text
as one field).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import pytrec_eval

from assay.core.protocols import Kit
from assay.datasets.beir import Beir
from assay.systems.flat import BM25, Dense


def mean_ndcg_at_10(folder: Path, system: BM25 | Dense) -> float:
    dataset = Beir(str(folder)).load(Kit())
    session = system.build(dataset.corpus, seed=0, kit=Kit()).session()
    qrels = {item.item_id: item.gold["relevant"] for item in dataset.items}
    run = {
        item.item_id: {hit.doc_id: hit.score for hit in session.answer(item.query, []).hits}
        for item in dataset.items
    }
    scored = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    return float(sum(scores["ndcg_cut_10"] for scores in scored.values()) / len(qrels))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "system", "published"),
    [
        ("scifact", BM25(k=10), 0.679),
        ("nfcorpus", BM25(k=10), 0.322),
        ("scifact", Dense(k=10), 0.513),  # the figure known for this model by exhaustive cosine
    ],
)
def test_reaches_the_published_figure(
    shared_data: Callable[[str], Path], dataset: str, system: BM25 | Dense, published: float
) -> None:
    assert mean_ndcg_at_10(shared_data(dataset), system) == pytest.approx(published, abs=0.01)
