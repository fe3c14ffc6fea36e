"""BM25 on SciFact and NFCorpus through `assay run`: published figures, trec_eval's values query by query."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from assay.core.protocols import Kit
from assay.datasets.beir import Beir
from assay.pipeline.evaluation import Evaluation
from assay.study.study import open_study

STUDY = """
data: beir(path={path})
systems: {{bm25: bm25}}
measures: [nDCG@10, nDCG, AP, AP@100, RR@inf, P@5, R@100, Success@1, Rprec, P(rel=2)@10, AP(rel=2),
  R(rel=2)@20]
"""
THEIRS = {
    "nDCG@10": (1, "ndcg_cut_10"),
    "nDCG": (1, "ndcg"),
    "AP": (1, "map"),
    "AP@100": (1, "map_cut_100"),
    "RR@inf": (1, "recip_rank"),
    "P@5": (1, "P_5"),
    "R@100": (1, "recall_100"),
    "Success@1": (1, "success_1"),
    "Rprec": (1, "Rprec"),
    "P(rel=2)@10": (2, "P_10"),
    "AP(rel=2)": (2, "map"),
    "R(rel=2)@20": (2, "recall_20"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "published"), [("scifact", 0.6789), ("nfcorpus", 0.3218)])
def test_bm25_reaches_the_published_figure_and_every_measure_equals_trec_eval(
    name: str, published: float, tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    path = shared_data(name)
    (tmp_path / "study.yaml").write_text(STUDY.format(path=path))
    command = [sys.executable, "-m", "assay", "run", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)

    ndcg = next(each["value"] for each in found["estimates"] if each["measure"] == "nDCG@10")
    assert ndcg == pytest.approx(published, abs=0.01)

    ours = {(row["measure"], row["item"]): row["value"] for row in found["scores"]}
    qrels = {item.item_id: item.gold["relevant"] for item in Beir(str(path)).load(Kit()).items}
    run: dict[str, dict[str, float]] = {item: {} for item in qrels}
    ranking = Evaluation(open_study(tmp_path)).blocks[0].ranking
    for item, doc, score in ranking.select("item", "doc", "score").iter_rows():
        run[item][doc] = score
    highest = max(grade for grades in qrels.values() for grade in grades.values())  # 1 in SciFact, else 2
    for measure, (level, theirs) in THEIRS.items():
        if level > highest:  # trec_eval gives 0 where no judgment reaches the level, which measures nothing
            assert {row["status"] for row in found["scores"] if row["measure"] == measure} == {
                "not_applicable"
            }
            continue
        family = (
            theirs.rpartition("_")[0] + "." + theirs.rpartition("_")[2] if theirs[-1].isdigit() else theirs
        )
        values = pytrec_eval.RelevanceEvaluator(qrels, {family}, relevance_level=level).evaluate(run)
        compared = {item: row[theirs] for item, row in values.items()}
        assert len(compared) >= 300
        for item, value in compared.items():
            assert ours[measure, item] == pytest.approx(value, abs=1e-9), (measure, item)
