"""The packaged models study from end to end, offline: run, review, gate, report, with simulated reviewers."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
import yaml

from assay_worlds.incidents.corpus import truth
from small_study import assay

pytestmark = pytest.mark.slow
ERRORS = {"Anna": 0.05, "Ben": 0.10}  # the share of marks that each reviewer gets wrong
FILES = {
    "final_benchmark_report.md",
    "results/aggregate_metrics.parquet",
    "results/benchmark_decision.parquet",
    "results/category_metrics.parquet",
    "results/combined_metrics.json",
    "results/comparison_report.json",
    "results/difficulty_metrics.parquet",
    "results/human_review_details.parquet",
    "results/human_review_minilm.json",
    "results/human_review_static.json",
    "results/minilm_results.json",
    "results/minilm_results.parquet",
    "results/query_comparison.parquet",
    "results/static_results.json",
    "results/static_results.parquet",
}
COLUMNS = {
    "query_comparison": [
        "query_id",
        "query_text",
        "category",
        "difficulty",
        "static_mrr",
        "minilm_mrr",
        "mrr_diff",
        "winner",
    ],
    "aggregate_metrics": ["model", "mean_mrr", "mean_hit_at_10", "mean_latency_ms", "semantic_lift"],
    "benchmark_decision": [
        "recommendation",
        "minilm_auto_advantage",
        "minilm_semantic_advantage",
        "mrr_difference",
        "semantic_lift_difference",
    ],
    "minilm_results": [
        *("query_id", "query_text", "category", "difficulty", "intent", "mrr"),
        *("hit_at_1", "hit_at_5", "hit_at_10", "precision_at_5", "recall_at_10", "ndcg_at_10"),
        *("embed_latency_ms", "search_latency_ms", "total_latency_ms"),
    ],
    "human_review_details": ["query_id", "model", "semantic_lift"],
    "category_metrics": ["category", "model", "mrr"],
    "difficulty_metrics": ["difficulty", "model", "mrr"],
}


def review(forms: Path) -> None:
    """Two reviewers fill in every other form by what the generator knows, each with errors of their own."""
    relevant = truth()
    for number, path in enumerate(sorted(forms.glob("*.yaml"))):
        form = yaml.safe_load(path.read_text())
        reviewer = list(ERRORS)[number % len(ERRORS)]
        draw = random.Random(f"{reviewer} {path.name}")
        for row in form["results"]:
            if not row["judgment"]:
                right = row["chunk_id"] in relevant[form["metadata"]["query_id"]]
                seen = right != (draw.random() < ERRORS[reviewer])
                row["judgment"] = "SEMANTIC_MATCH" if seen else "FALSE_POSITIVE"
        form["metadata"] |= {"reviewer": reviewer, "review_date": "2026-02-01", "review_complete": True}
        path.write_text(yaml.safe_dump(form, sort_keys=False, allow_unicode=True))


def test_the_packaged_study_goes_from_models_to_a_recommendation(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="MiniLM needs the extra minilm")
    folder = tmp_path / "study"
    assert assay("init", "models", folder).code == 0
    assert assay("init", "models", folder).code == 3  # what is there is never overwritten
    assert assay("validate", folder, "--json").json["warnings"] == []  # every count is true

    first = assay("run", folder, "--json")
    assert (first.code, first.json["recommendation"]) == (11, "review first")
    assert first.json["review"]["items"] == 20

    assert assay("review", "export", folder).code == 0
    review(folder / "review")
    assert assay("review", "import", folder).code == 0
    found = assay("gate", folder, "--json")
    assert found.json["review"]["open"] == 0
    assert found.code in {0, 10}
    assert found.json["recommendation"] != "review first"
    lift = {
        each["system"]: each["value"]
        for each in found.json["review"]["estimates"]
        if each["measure"] == "SemanticLift@10"
    }
    assert lift["minilm"] > lift["static"]  # as the generator's own truth has it

    assert assay("report", folder, "--format", "benchmark", "--out", tmp_path / "out").code == 0
    written = {
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    stamped = {name for name in written if name.startswith("results/benchmark_") and "decision" not in name}
    assert written - stamped == FILES
    assert len(stamped) == 4
    for table, columns in COLUMNS.items():
        frame = pl.read_parquet(tmp_path / "out" / "results" / f"{table}.parquet")
        assert set(columns) <= set(frame.columns), table
    assert assay("report", folder).code == 0
