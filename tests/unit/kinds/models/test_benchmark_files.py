"""A model benchmark as files: names, columns, figures and the report to read."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from assay.core.records import Arm, ClauseResult, Comparison, Estimate, Factors, Verdict
from assay.core.results import ItemView, MeasureInfo, RankedResult, Results, ReviewSummary, TrustSummary
from assay.kinds.models.benchmark.columns import columns_of
from assay.kinds.models.benchmark.folder import BenchmarkFolder, model_file_names
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.stats.families import shown_direction
from fake_results import bare_results, build_results

CREATED = 1768300200.0  # 2026-01-13 10:30:00 UTC
ADJUSTED_RR = "RR(label='review|relevance')@10"
LIFT, PRECISION, WRONG = "SemanticLift@10", "SemanticPrecision@10", "FalsePositiveRate@10"
MEASURES = [
    "RR@10", "Success@1", "Success@10", "nDCG@10", ADJUSTED_RR, PRECISION, LIFT, WRONG, "Abstain",
    "Seconds(stage='embed')", "Seconds",
]  # fmt: skip
TAGS = {
    "INC-001": {
        "category": ["incident_lookup"],
        "difficulty": ["easy"],
        "intent": ["lookup"],
        "review": ["no"],
    },
    "INC-010": {"category": ["incident_lookup"], "difficulty": ["hard"], "review": ["no"]},
    "CON-001": {"category": ["conceptual_queries"], "difficulty": ["medium"], "review": ["yes"]},
    "CON-002": {"category": ["conceptual_queries"], "difficulty": ["hard"], "review": ["yes"]},
}
# By model and measure, the values of INC-001, CON-001, CON-002; INC-010 is the negative query.
VALUES: dict[str, dict[str, tuple[float | None, ...]]] = {
    "minilm": {
        "RR@10": (1.0, 0.5, 0.0),
        "Success@1": (1.0, 0.0, 0.0),
        "Success@10": (1.0, 1.0, 0.0),
        "nDCG@10": (0.9, 0.6, 0.0),
        ADJUSTED_RR: (1.0, 1.0, 0.5),
        PRECISION: (None, 0.5, None),
        LIFT: (None, 0.25, None),
        WRONG: (None, 0.5, None),
        "Seconds(stage='embed')": (0.010, 0.020, 0.060),
        "Seconds": (0.040, 0.050, 0.120),
    },
    "mika": {
        "RR@10": (1.0, 1.0, 0.25),
        "Success@1": (1.0, 1.0, 0.0),
        "Success@10": (1.0, 1.0, 1.0),
        "nDCG@10": (0.8, 0.7, 0.3),
        ADJUSTED_RR: (1.0, 1.0, 1.0),
        PRECISION: (None, 0.75, 1.0),
        LIFT: (None, 0.5, 0.5),
        WRONG: (None, 0.25, 0.0),
        "Seconds(stage='embed')": (0.030, 0.030, 0.030),
        "Seconds": (0.080, 0.080, 0.080),
    },
}
SCORE_COLUMNS = ("item", "system", "factors", "arm", "seed", "measure", "value", "status")

DESIGN_QUERY = {
    "query_id": pl.String, "query_text": pl.String, "category": pl.String, "difficulty": pl.String,
    "intent": pl.String, "mrr": pl.Float64, "hit_at_1": pl.Boolean, "hit_at_5": pl.Boolean,
    "hit_at_10": pl.Boolean, "precision_at_5": pl.Float64, "recall_at_10": pl.Float64,
    "ndcg_at_10": pl.Float64, "embed_latency_ms": pl.Float64, "search_latency_ms": pl.Float64,
    "total_latency_ms": pl.Float64,
}  # fmt: skip


def info(name: str) -> MeasureInfo:
    lower = name.startswith(("Seconds", "False"))
    return MeasureInfo(name, "lower" if lower else "higher", 0.0, None if "Seconds" in name else 1.0)


def score_rows(model: str, seed: int = 0) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for measure in MEASURES:
        known = dict(
            zip(("INC-001", "CON-001", "CON-002"), VALUES[model].get(measure, (None,) * 3), strict=True)
        )
        for item in TAGS:
            value, status = known.get(item), "scored"
            if item == "INC-010":
                value, status = (0.0, "scored") if measure == "Abstain" else (None, "not_applicable")
            elif value is None:
                status = "unjudged" if item == "CON-002" and measure != "Abstain" else "not_applicable"
            rows.append((item, model, "{}", model, seed, measure, value, status))
    return rows


def frame(rows: list[tuple[object, ...]]) -> pl.DataFrame:
    kinds = {"seed": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(rows, {name: kinds.get(name, pl.String) for name in SCORE_COLUMNS}, orient="row")


def estimate(scores: pl.DataFrame, model: str, measure: str, where: dict[str, str]) -> Estimate:
    inside = [item for item, tags in TAGS.items() if all(v in tags.get(k, []) for k, v in where.items())]
    mine = scores.filter(pl.col("arm") == model, pl.col("measure") == measure, pl.col("item").is_in(inside))
    asked = mine.filter(pl.col("status") != "not_applicable")
    values = asked["value"].drop_nulls().to_list()
    mean = sum(values) / len(values) if values else None
    low, high = (None, None) if mean is None else (mean - 0.125, mean + 0.125)
    return Estimate(model, {}, measure, where, mean, low, high, len(values), len(asked))


def comparison(measure: str, difference: float, low: float, high: float, **more: Any) -> Comparison:
    facts: dict[str, Any] = {
        "where": {}, "p": 0.03, "p_adjusted": 0.04, "effect": 0.8, "wins": 2, "ties": 1, "losses": 0, "n": 3,
        "effect_name": "Cohen's d", "test": "sign-flip permutation", "mde": 0.2, "p_wilcoxon": 0.0456,
    }  # fmt: skip
    sides = {"a": "mika", "b": "minilm", "factors": {}}
    facts["shown"] = shown_direction(low, high, upward=True)
    return Comparison(
        **{**sides, **facts, **more}, measure=measure, difference=difference, low=low, high=high
    )


def review_of(scores: pl.DataFrame) -> ReviewSummary:
    """CON-001 is judged for both models, CON-002 for mika alone."""
    first = scores.filter(pl.col("item") == "CON-001")
    return ReviewSummary(
        depth=10,
        items=2,
        complete=["CON-001"],
        complete_by_arm={"minilm": 1, "mika": 2},
        marked=5,
        open=3,
        estimates=[estimate(first, m, name, {}) for name in (PRECISION, LIFT, WRONG) for m in VALUES],
        comparisons=[comparison(LIFT, 0.25, 0.05, 0.45, n=1, wins=1, ties=0)],
        bounds={LIFT: {"minilm": (0.125, 0.625), "mika": (0.5, 0.5)}},
        verdicts=["go", "inconclusive"],
        outlook="Three more judgments decide between go and inconclusive.",
    )


def hits_of(item: str, model: str) -> list[RankedResult]:
    if item == "INC-010":
        return [RankedResult(f"{model}-x", 0.3, None, "something else")]
    return [
        RankedResult(f"r_chunk_{rank}", 0.9 - rank / 10, float(rank == 1), f"text {rank}")
        for rank in range(4)
    ]


@pytest.fixture(scope="module")
def results() -> Results:
    """Two models on four queries, one negative and two that want a review."""
    scores = frame([row for model in VALUES for row in score_rows(model)])
    wheres: list[dict[str, str]] = [
        {}, {"category": "incident_lookup"}, {"category": "conceptual_queries"}, {"difficulty": "easy"},
        {"difficulty": "medium"}, {"difficulty": "hard"}, {"review": "yes"}, {"review": "no"},
    ]  # fmt: skip
    clause = ClauseResult("RR@10(mika) > RR@10(minilm)", True, 0.25, 0.05, 0.45, 3, left=0.75, right=0.5)
    return Results(
        study="safety reports",
        kind="models",
        systems=["minilm", "mika"],
        arms=["minilm", "mika"],
        baseline="minilm",
        measures=[info(name) for name in MEASURES],
        by=["category", "difficulty", "review"],
        scores=scores,
        estimates=[estimate(scores, m, name, where) for where in wheres for name in MEASURES for m in VALUES],
        comparisons=[
            comparison("RR@10", 0.25, 0.05, 0.45),
            comparison("RR@10", 0.375, -0.1, 0.8, where={"category": "conceptual_queries"}, n=2),
            comparison("Seconds", 0.010, -0.01, 0.03, wins=1, losses=2, ties=0, p_adjusted=0.4, mde=0.04),
            comparison(LIFT, 9.0, 9.0, 9.0),  # each model's own queries: must not be used
        ],
        verdicts=[Verdict("decision", "go", [clause])],
        verdict="go",
        trust=TrustSummary(
            {}, ["one warning"], {"corpus": "abc123"},
            {"minilm": {"p50": 0.050, "p95": 0.113}, "mika": {"p50": 0.08, "p95": 0.08}},
        ),
        items=[
            ItemView(
                item, f"question {item}", tags, [], {model: hits_of(item, model) for model in VALUES},
                expects="nothing" if item == "INC-010" else None,
            )
            for item, tags in TAGS.items()
        ],
        review=review_of(scores),
        recommendation="Use mika.",
        created=CREATED,
    )  # fmt: skip


def parquet(files: dict[str, bytes], name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(files[f"results/{name}.parquet"]))


def loaded(files: dict[str, bytes], name: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(files[f"results/{name}.json"], parse_constant=refuse)


@pytest.fixture(scope="module")
def files(results: Results) -> dict[str, bytes]:
    return BenchmarkFolder().files(results)


@pytest.fixture(scope="module")
def unreviewed(results: Results) -> dict[str, bytes]:
    return BenchmarkFolder().files(
        dataclasses.replace(results, review=None, recommendation=None, verdict=None, verdicts=[])
    )


@pytest.fixture(scope="module")
def report(files: dict[str, bytes]) -> str:
    return files["final_benchmark_report.md"].decode()


def section(report: str, title: str) -> str:
    return report.partition(f"## {title}\n")[2].partition("\n## ")[0]


# -------------------------------------------------------------------------------------- files


def test_the_files_have_the_names_that_dashboards_expect(
    files: dict[str, bytes], unreviewed: dict[str, bytes]
) -> None:
    always = {
        "final_benchmark_report.md",
        "results/benchmark_minilm_20260113_103000.json",
        "results/benchmark_minilm_20260113_103000.parquet",
        "results/benchmark_mika_20260113_103000.json",
        "results/benchmark_mika_20260113_103000.parquet",
        "results/minilm_results.json",
        "results/minilm_results.parquet",
        "results/mika_results.json",
        "results/mika_results.parquet",
        "results/comparison_report.json",
        "results/combined_metrics.json",
        "results/query_comparison.parquet",
        "results/aggregate_metrics.parquet",
        "results/category_metrics.parquet",
        "results/difficulty_metrics.parquet",
        "results/benchmark_decision.parquet",
    }
    people = {
        "results/human_review_minilm.json",
        "results/human_review_mika.json",
        "results/human_review_details.parquet",
    }
    assert set(unreviewed) == always
    assert set(files) == always | people
    assert files["results/mika_results.json"] == files["results/benchmark_mika_20260113_103000.json"]
    assert files["results/mika_results.parquet"] == files["results/benchmark_mika_20260113_103000.parquet"]


def test_the_files_are_a_pure_function_of_the_results(results: Results, files: dict[str, bytes]) -> None:
    assert BenchmarkFolder().files(results) == files


def test_without_a_time_files_are_undated(results: Results) -> None:
    made = BenchmarkFolder().files(dataclasses.replace(results, created=None))
    assert "results/benchmark_mika_undated.parquet" in made
    assert loaded(made, "mika_results")["timestamp"] is None


def test_file_names_are_safe_and_never_collide() -> None:
    names = model_file_names(["../up", "a/b", "a b", "MiniLM", "minilm", "tree[k=1]", "x" * 300])
    assert names["../up"] == ".._up"
    assert names["tree[k=1]"] == "tree_k=1_"
    assert len({name.casefold() for name in names.values()}) == 7
    assert all(re.fullmatch(r"[\w.=,-]{1,90}", name) for name in names.values())


# ------------------------------------------------------------------------------------ columns


@pytest.mark.parametrize(
    ("measure", "column"),
    [
        ("RR@10", "mrr"),
        ("RR@inf", "mrr"),
        ("Success@5", "hit_at_5"),
        ("P@5", "precision_at_5"),
        ("R@10", "recall_at_10"),
        ("R", "recall"),
        ("nDCG@10", "ndcg_at_10"),
        ("SectionAccuracy@10", "section_accuracy_at_10"),
        ("SemanticLift@10", "semantic_lift"),
        ("Seconds", "total_latency_ms"),
        ("Seconds(stage='search')", "search_latency_ms"),
        ("RR(view='document')@10", "report_mrr"),
        ("RR(label='review|relevance')@10", "adjusted_mrr"),
        ("P(view='document', label='review|relevance')@5", "adjusted_report_precision_at_5"),
        ("AP(label='review|relevance')@10", "adjusted_ap_10"),
        ("Clean@10", "clean_10"),
        ("what? ever", "what_ever"),
        ("???", "measure"),
    ],
)
def test_a_measure_has_the_column_its_name_tells(measure: str, column: str) -> None:
    assert [each.name for each in columns_of([info(measure)])] == [column]


def test_the_plainest_and_deepest_measure_has_the_name() -> None:
    names = ["RR@5", "RR(rel=2)@100", "RR@10", "Success@1", "Success(rel=2)@1", "Clean@10", "clean@10"]
    made = {each.measure: each.name for each in columns_of([info(name) for name in names])}
    assert made == {
        "RR@5": "rr_5",
        "RR(rel=2)@100": "rr_rel_2_100",
        "RR@10": "mrr",
        "Success@1": "hit_at_1",
        "Success(rel=2)@1": "success_rel_2_1",
        "Clean@10": "clean_10",
        "clean@10": "clean_10_2",
    }


# ---------------------------------------------------------------------------------- one model


def test_a_models_table_begins_with_the_named_columns(files: dict[str, bytes]) -> None:
    table = parquet(files, "minilm_results")
    assert dict(list(table.schema.items())[:15]) == DESIGN_QUERY
    others = ["adjusted_mrr", "semantic_precision", "semantic_lift", "false_positive_rate", "abstain"]
    assert table.columns[15:] == [*others, "lower_bound"]
    first, negative, _, missed = table.to_dicts()
    assert (first["query_id"], first["query_text"], first["intent"]) == (
        "INC-001", "question INC-001", "lookup",
    )  # fmt: skip
    assert (first["mrr"], first["hit_at_1"], first["hit_at_5"]) == (
        1.0,
        True,
        None,
    )  # Success@5: not measured
    assert first["embed_latency_ms"] == pytest.approx(10.0)  # 0.010 s
    assert first["search_latency_ms"] is None
    assert (negative["mrr"], negative["hit_at_10"], negative["abstain"]) == (None, None, 0.0)
    assert (missed["mrr"], missed["hit_at_10"], missed["semantic_lift"]) == (0.0, False, None)


def test_the_tables_open_in_duckdb(files: dict[str, bytes], tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "query_comparison.parquet"
    path.write_bytes(files["results/query_comparison.parquet"])
    opened = duckdb.read_parquet(str(path))
    assert opened.columns[:3] == ["query_id", "query_text", "category"]
    assert opened.aggregate("winner, count(*)", "winner").order("winner").fetchall() == [
        ("Tie", 1), ("mika", 2), (None, 1),
    ]  # fmt: skip


def test_a_models_json_has_means_spread_slices_and_results(files: dict[str, bytes]) -> None:
    told = loaded(files, "minilm_results")
    assert (told["model_name"], told["total_queries"]) == ("minilm", 4)
    assert told["timestamp"] == "2026-01-13T10:30:00+00:00"
    metrics = told["metrics"]
    assert metrics["mean_mrr"] == pytest.approx(0.5)  # (1 + 0.5 + 0) / 3
    assert metrics["std_mrr"] == pytest.approx(0.5)  # sqrt((0.25 + 0 + 0.25) / 2)
    assert metrics["mean_hit_at_1"] == pytest.approx(1 / 3)
    assert metrics["mean_hit_at_5"] is None
    assert metrics["mean_embed_latency_ms"] == pytest.approx(30.0)  # (10 + 20 + 60) / 3
    assert metrics["p50_total_latency_ms"] == pytest.approx(50.0)
    assert metrics["p95_total_latency_ms"] == pytest.approx(113.0)
    # 0.95 of the way over three values: 20 + 0.9 * (60 - 20) = 56
    assert metrics["p95_embed_latency_ms"] == pytest.approx(56.0)
    assert metrics["intervals"]["mrr"] == pytest.approx([0.375, 0.625])
    assert metrics["n"]["mrr"] == 3
    assert metrics["mean_semantic_lift"] == pytest.approx(0.25)  # CON-001, the one judged for both
    lookup, conceptual = told["category_metrics"].values()
    assert (lookup["mean_mrr"], lookup["count"], lookup["lower_bound"]) == (1.0, 2, False)
    assert (conceptual["mean_mrr"], conceptual["count"], conceptual["lower_bound"]) == (0.25, 2, True)
    assert told["difficulty_metrics"]["hard"]["count"] == 2
    query = told["query_results"][0]
    assert (query["mrr"], query["hit_at_10"], query["category"]) == (1.0, True, "incident_lookup")
    assert query["top_results"][1] == {
        "rank": 2, "chunk_id": "r_chunk_1", "score": 0.8, "relevant": True, "status": "relevant_by_rule",
        "judgment": None, "rule_match": False, "text": "text 1",
    }  # fmt: skip
    assert told["query_results"][1]["top_results"][0]["relevant"] is None  # nobody judged it


# ------------------------------------------------------------------------------- side by side


def test_two_models_stand_side_by_side(files: dict[str, bytes]) -> None:
    table = parquet(files, "query_comparison")
    assert table.columns[:8] == [
        "query_id", "query_text", "category", "difficulty", "minilm_mrr", "mika_mrr", "mrr_diff", "winner",
    ]  # fmt: skip
    for model in VALUES:
        assert {f"{model}_{name}" for name in list(DESIGN_QUERY)[5:]} <= set(table.columns)
    assert table["mrr_diff"].to_list() == [0.0, None, 0.5, 0.25]  # 1 - 1, none, 1 - 0.5, 0.25 - 0
    assert table["winner"].to_list() == ["Tie", None, "mika", "mika"]
    assert table["mika_hit_at_10"].to_list() == [True, None, True, True]


def test_the_baseline_may_come_second(results: Results) -> None:
    made = BenchmarkFolder().files(dataclasses.replace(results, baseline="mika"))
    table = parquet(made, "query_comparison")
    assert table["mrr_diff"].to_list() == [0.0, None, -0.5, -0.25]
    decision = parquet(made, "benchmark_decision").to_dicts()[0]
    # mika - minilm was 0.25 [0.05, 0.45], so minilm - mika is -0.25 [-0.45, -0.05]
    assert (decision["minilm_auto_advantage"], decision["mrr_difference"]) == (False, -0.25)
    told = loaded(made, "comparison_report")["pairs"][0]["overall"]["mrr"]
    assert [told[key] for key in ("low", "high", "wins", "losses", "effect")] == [-0.45, -0.05, 0, 2, -0.8]


def test_names_that_would_collide_give_a_row_a_pair(results: Results) -> None:
    one, two = "m", "m_adjusted"  # m_adjusted_mrr would be two columns
    names = {"minilm": one, "mika": two}
    renamed = dataclasses.replace(
        results,
        arms=[one, two],
        baseline=one,
        scores=results.scores.with_columns(pl.col("arm", "system").replace(names)),
        estimates=[msgspec.structs.replace(each, system=names[each.system]) for each in results.estimates],
        review=None,
    )
    table = parquet(BenchmarkFolder().files(renamed), "query_comparison")
    assert table["model_a"].unique().to_list() == [two]
    assert table["mrr_diff"].to_list() == [0.0, None, 0.5, 0.25]


def test_the_comparison_has_every_test_but_no_t_test(files: dict[str, bytes]) -> None:
    told = loaded(files, "comparison_report")
    (pair,) = told["pairs"]
    assert (pair["a"], pair["b"], told["baseline"], told["not_compared"]) == ("mika", "minilm", "minilm", [])
    assert pair["overall"]["mrr"] == {
        "measure": "RR@10", "difference": 0.25, "low": 0.05, "high": 0.45, "wins": 2, "losses": 0, "ties": 1,
        "n": 3, "p": 0.03, "test": "sign-flip permutation", "p_adjusted": 0.04, "p_wilcoxon": 0.0456,
        "family": "", "shown": "better", "effect": 0.8, "effect_name": "Cohen's d",
        "detectable_difference": 0.2, "refused": None,
    }  # fmt: skip
    seconds = pair["overall"]["total_latency_ms"]
    assert (seconds["difference"], seconds["detectable_difference"]) == (10.0, 40.0)  # milliseconds
    (conceptual,) = pair["by_category"].items()
    there = {**pair["overall"]["mrr"], "difference": 0.375, "low": -0.1, "high": 0.8, "n": 2, "shown": ""}
    assert conceptual == ("conceptual_queries", {"mrr": there})
    assert pair["human_review"]["semantic_lift"]["difference"] == 0.25  # the review's, not 9
    for content in files.values():
        assert not re.search(rb"t.?test|student", content, re.IGNORECASE)


# ------------------------------------------------------------------------------------- groups


def test_aggregates_begin_with_what_cards_show(files: dict[str, bytes], unreviewed: dict[str, bytes]) -> None:
    table = parquet(files, "aggregate_metrics")
    assert table.columns[:5] == ["model", "mean_mrr", "mean_hit_at_10", "mean_latency_ms", "semantic_lift"]
    minilm, mika = table.to_dicts()
    assert (minilm["model"], minilm["mean_mrr"], minilm["mean_latency_ms"]) == (
        "minilm", pytest.approx(0.5), pytest.approx(70.0),  # (40 + 50 + 120) / 3
    )  # fmt: skip
    assert (minilm["p50_latency_ms"], minilm["p95_latency_ms"]) == (pytest.approx(50), pytest.approx(113))
    assert (mika["semantic_lift"], mika["n_semantic_lift"]) == (0.5, 1)  # on CON-001 alone
    assert (mika["low_mrr"], mika["high_mrr"], mika["n_mrr"]) == (0.625, 0.875, 3)
    assert mika["mean_precision_at_5"] is None
    before = parquet(unreviewed, "aggregate_metrics")
    assert before["semantic_lift"].to_list() == [None, None]
    assert before["mean_adjusted_mrr"].to_list() == [None, None]  # no person stands behind it


def test_groups_have_a_row_a_value_and_model(files: dict[str, bytes]) -> None:
    table = parquet(files, "category_metrics")
    assert table.columns[:3] == ["category", "model", "mrr"]
    assert table.schema["count"] == pl.Int64
    shown = table.select("category", "model", "mrr", "hit_at_10", "count", "lower_bound").rows()
    assert shown == [
        ("incident_lookup", "minilm", 1.0, 1.0, 2, False),
        ("incident_lookup", "mika", 1.0, 1.0, 2, False),
        ("conceptual_queries", "minilm", 0.25, 0.5, 2, True),  # (0.5 + 0) / 2
        ("conceptual_queries", "mika", 0.625, 1.0, 2, True),  # (1 + 0.25) / 2
    ]
    # minilm's lift stands on one of two queries, mika's on both: only the whole is given
    assert table["semantic_lift"].to_list() == [None, None, None, 0.5]
    difficulty = parquet(files, "difficulty_metrics")
    assert difficulty.columns[:3] == ["difficulty", "model", "mrr"]
    assert difficulty.filter(pl.col("lower_bound"))["difficulty"].unique().sort().to_list() == [
        "hard", "medium",
    ]  # fmt: skip


def test_without_slices_the_group_tables_are_empty() -> None:
    bare = bare_results()
    table = parquet(BenchmarkFolder().files(bare), "category_metrics")
    assert (table.columns[:3], len(table)) == (["category", "model", "mrr"], 0)


# ------------------------------------------------------------------------------------- people


def test_a_review_has_a_file_per_model(files: dict[str, bytes]) -> None:
    told = loaded(files, "human_review_mika")
    assert told["semantic_lift"] == {"value": 0.5, "low": 0.375, "high": 0.625, "n": 1, "n_expected": 1}
    assert told["queries_reviewed_for_every_model"] == ["CON-001"]
    assert (told["queries_reviewed_for_this_model"], told["open_judgments"], told["partial"]) == (2, 3, True)
    assert told["bounds"] == {"semantic_lift": [0.5, 0.5]}
    assert loaded(files, "human_review_minilm")["bounds"] == {"semantic_lift": [0.125, 0.625]}


def test_details_count_back_from_shares(files: dict[str, bytes]) -> None:
    table = parquet(files, "human_review_details")
    assert table.columns == [
        "query_id", "category", "model", "keyword_matches", "semantic_matches", "false_positives", "unjudged",
        "total", "semantic_precision", "semantic_lift", "false_positive_rate", "complete",
    ]  # fmt: skip
    rows = {(row["query_id"], row["model"]): list(row.values())[3:] for row in table.to_dicts()}
    # four results: precision 0.5 is 2, of which lift 0.25 is 1; 0.5 is 2 wrong ones
    assert rows["CON-001", "minilm"] == [1, 1, 2, 0, 4, 0.5, 0.25, 0.5, True]
    assert rows["CON-001", "mika"] == [1, 2, 1, 0, 4, 0.75, 0.5, 0.25, True]
    # judged for mika alone: counts, but no rates, or a mean over the table would compare unlike queries
    assert rows["CON-002", "mika"] == [2, 2, 0, 0, 4, None, None, None, True]
    assert rows["CON-002", "minilm"] == [None, None, None, None, 4, None, None, None, False]
    lift = table.group_by("model").agg(pl.col("semantic_lift").mean()).sort("model").rows()
    assert lift == [("mika", 0.5), ("minilm", 0.25)]


class Marked(RankedResult, frozen=True):
    """A result that shows what it was judged to be."""

    mark: str | None = None


def test_details_read_marks_where_results_carry_them(results: Results) -> None:
    marks = [KEYWORD_MATCH, SEMANTIC_MATCH, None, FALSE_POSITIVE]
    hits: list[RankedResult] = [Marked(f"d{rank}", 1.0, None, "", mark) for rank, mark in enumerate(marks)]
    items = [
        msgspec.structs.replace(item, returned={"minilm": hits, "mika": hits[:2]}) for item in results.items
    ]
    measures = [each for each in results.measures if each.name not in (PRECISION, LIFT, WRONG)]
    made = BenchmarkFolder().files(dataclasses.replace(results, items=items, measures=measures))
    rows = [list(row.values())[2:] for row in parquet(made, "human_review_details").to_dicts()[:2]]
    assert rows[0][:6] == ["minilm", 1, 1, 1, 1, 4]
    assert rows[1] == ["mika", 1, 1, 0, 0, 2, 1.0, 0.5, 0.0, True]  # 2 of 2 right, 1 of 2 by meaning


# ----------------------------------------------------------------------------------- decision


def test_the_decision_of_two_models_is_one_row(files: dict[str, bytes], unreviewed: dict[str, bytes]) -> None:
    table = parquet(files, "benchmark_decision")
    assert table.columns == [
        "recommendation", "mika_auto_advantage", "mika_semantic_advantage", "mrr_difference",
        "semantic_lift_difference",
    ]  # fmt: skip
    assert table.rows() == [("Use mika.", True, True, 0.25, 0.25)]
    before = parquet(unreviewed, "benchmark_decision").rows()
    assert before == [
        ("No verdict: No gate is declared, so there is no verdict.", True, None, 0.25, None),
    ]


def test_an_interval_that_includes_zero_is_no_advantage(results: Results) -> None:
    weak = dataclasses.replace(results, comparisons=[comparison("RR@10", 0.25, 0.0, 0.5)])
    assert parquet(BenchmarkFolder().files(weak), "benchmark_decision")["mika_auto_advantage"].to_list() == [
        False
    ]
    refused = comparison("RR@10", 0.25, 0.0, 0.5, refused="different items")
    refused = msgspec.structs.replace(refused, difference=None, low=None, high=None)
    none = BenchmarkFolder().files(dataclasses.replace(results, comparisons=[refused]))
    assert parquet(none, "benchmark_decision")["mika_auto_advantage"].to_list() == [None]


def test_combined_metrics_stand_side_by_side(files: dict[str, bytes], unreviewed: dict[str, bytes]) -> None:
    told = loaded(files, "combined_metrics")
    minilm = told["models"]["minilm"]
    assert minilm["automated"]["mrr"]["value"] == pytest.approx(0.5)
    assert minilm["automated"]["mrr"]["lower_bound"] is True
    assert minilm["automated"]["ndcg_at_10"]["lower_bound"] is False
    assert minilm["automated_where_reviewed"]["mrr"]["value"] == 0.25  # (0.5 + 0) / 2
    assert minilm["human_adjusted"]["mrr"]["value"] == 0.75  # (1 + 0.5) / 2
    assert minilm["mixed"]["mrr"]["value"] == pytest.approx(2.5 / 3)
    assert minilm["negative_queries"]["abstain"]["value"] == 0.0
    assert "abstain" not in minilm["automated"]
    assert told["decision"]["recommendation"] == "Use mika."
    assert told["decision"]["pairs"][0]["a_semantic_advantage"] is True
    assert told["verdicts"][0]["clauses"][0]["holds"] is True
    assert told["provenance"] == {"corpus": "abc123"}
    before = loaded(unreviewed, "combined_metrics")
    assert (before["models"]["mika"]["human_adjusted"], before["models"]["mika"]["mixed"]) == ({}, {})


# ------------------------------------------------------------------------------------- report


def test_the_report_answers_first(report: str) -> None:
    lines = report.splitlines()
    assert lines[0] == "# safety reports: final benchmark report"
    assert lines[2] == "**Recommendation: Use mika.**"
    assert lines[4] == "Verdict: Go. These are its clauses."
    assert report.index("Use mika") < report.index("RR@10(mika) > RR@10(minilm)") < report.index("## Totals")
    titles = re.findall(r"^## (.+)$", report, re.MULTILINE)
    assert titles == [
        "Totals", "Differences", "By category", "By difficulty", "Human review", "Latency (ms)",
        "Negative queries", "How to read this", "Provenance",
    ]  # fmt: skip


def test_lower_bounds_are_marked_where_rules_fall_short(report: str) -> None:
    conceptual = [line for line in section(report, "By category").splitlines() if "conceptual" in line]
    assert len(conceptual) == 2
    # 0.25 and 0.625 with 0.125 either side
    assert all("lower bound" in line for line in conceptual)
    assert "≥ 0.250 [0.125, 0.375], n = 2" in conceptual[0]
    assert "≥ 0.625 [0.500, 0.750], n = 2" in conceptual[1]
    lookup = [line for line in section(report, "By category").splitlines() if "incident" in line]
    assert lookup
    assert not any("≥" in line or "lower bound" in line for line in lookup)


def test_totals_show_three_readings(report: str) -> None:
    row = next(
        line for line in section(report, "Totals").splitlines() if "`mrr`" in line and "minilm" in line
    )
    assert row.split(" | ")[2:] == [
        "≥ 0.500 [0.375, 0.625], n = 3",
        "≥ 0.250 [0.125, 0.375], n = 2",
        "0.750 [0.625, 0.875], n = 2",
        "0.833 [0.708, 0.958], n = 3 |",
    ]
    ndcg = next(line for line in section(report, "Totals").splitlines() if "`ndcg_at_10`" in line)
    assert "≥" not in ndcg  # recall's denominator grows with what people find, and so does the ideal ranking
    assert "partial" in section(report, "Totals")


def test_every_mean_has_its_interval_and_n(report: str) -> None:
    for title in ("Totals", "By category", "By difficulty", "Negative queries"):
        for line in section(report, title).splitlines():
            if line.startswith("| ") and not line.startswith(("| ---", "| measure", "| category", "| diff")):
                cells = line.strip("| ").split(" | ")[2:]
                assert cells
                assert all(cell == "n/a" or ("[" in cell and "n = " in cell) for cell in cells), line


def test_differences_show_tests_effect_and_power(report: str) -> None:
    told = section(report, "Differences")
    mrr = next(line for line in told.splitlines() if "`mrr`" in line)
    for cell in ("+0.250 [+0.0500, +0.450]", "2 / 1 / 0", "0.046", "0.030", "0.040", "+0.800 (Cohen's d)"):
        assert f" {cell} " in mrr
    seconds = next(line for line in told.splitlines() if "`total_latency_ms`" in line)
    assert "not demonstrated" in seconds
    assert " 40.0 |" in seconds
    assert "semantic_lift" in told
    assert "sign-flip" in told


def test_the_review_says_how_far_it_is(report: str, unreviewed: dict[str, bytes]) -> None:
    told = section(report, "Human review")
    assert "**partial**: 1 of 2 queries" in told
    assert "Three more judgments" in told
    minilm = next(line for line in told.splitlines() if "`semantic_lift`" in line and "minilm" in line)
    assert minilm.split(" | ")[2:] == ["0.250 [0.125, 0.375], n = 1", "[0.125, 0.625]", "1/2 |"]
    before = unreviewed["final_benchmark_report.md"].decode()
    assert "No person has judged anything yet" in section(before, "Human review")
    assert "Recommendation: No verdict" in before


def test_latency_and_negatives(report: str) -> None:
    rows = [line for line in section(report, "Latency (ms)").splitlines() if "minilm | total" in line]
    assert rows[0].endswith("n = 3 | 50.0 | 113 |")
    assert rows[0].startswith("| minilm | total | 70.0 [")
    told = section(report, "Negative queries")
    assert "INC-010" in told
    assert "0 [-0.125, 0.125], n = 1 |" in told


# ------------------------------------------------------------------------------ other studies


def test_three_models_have_a_row_a_pair() -> None:
    made = BenchmarkFolder().files(build_results(n=40))
    table = parquet(made, "query_comparison")
    assert table.columns[:10] == [
        "query_id", "query_text", "category", "difficulty", "model_a", "model_b", "a_mrr", "b_mrr",
        "mrr_diff", "winner",
    ]  # fmt: skip
    assert {"a_ndcg_at_10", "b_ndcg_at_10"} <= set(table.columns)
    assert len(table) == 3 * 40
    decision = parquet(made, "benchmark_decision")
    assert decision.columns == [
        "recommendation", "model_a", "model_b", "a_auto_advantage", "a_semantic_advantage", "mrr_difference",
        "semantic_lift_difference",
    ]  # fmt: skip
    assert decision.select("model_a", "model_b").rows() == [
        ("dense", "bm25"), ("hybrid", "bm25"), ("hybrid", "dense"),
    ]  # fmt: skip
    assert loaded(made, "comparison_report")["not_compared"] == [["hybrid", "dense"]]


def test_a_study_with_little_to_show_still_gives_every_file() -> None:
    bare = bare_results()
    made = BenchmarkFolder().files(bare)
    assert len(parquet(made, "bm25_results")) == 12
    one = dataclasses.replace(bare, systems=["bm25"], arms=["bm25"], measures=[], estimates=[])
    alone = BenchmarkFolder().files(one)
    assert len(parquet(alone, "query_comparison")) == 0
    assert len(parquet(alone, "benchmark_decision")) == 1
    assert parquet(alone, "bm25_results").columns == [*DESIGN_QUERY, "lower_bound"]
    assert "No verdict" in alone["final_benchmark_report.md"].decode()


def test_corpus_text_cannot_format_the_report() -> None:
    planted = BenchmarkFolder().files(build_results(n=30, plant=" | <b>x</b>\n# y"))
    report = planted["final_benchmark_report.md"].decode()
    assert not re.search(r"(?<!\\)<b>", re.sub(r"`[^`\n]*`", "", report))
    assert not re.search(r"^# y", report, re.MULTILINE)
    for block in report.split("\n\n"):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines() if line.startswith("|")}
        assert len(widths) <= 1


def test_seeds_are_averaged_and_failures_are_null(results: Results) -> None:
    second = frame(score_rows("minilm", seed=1)).with_columns(
        pl.when(pl.col("item") == "CON-002").then(1.0).otherwise(pl.col("value")).alias("value"),
        pl.when((pl.col("item") == "CON-001") & (pl.col("measure") == "RR@10"))
        .then(pl.lit("failed"))
        .otherwise(pl.col("status"))
        .alias("status"),
    )
    made = BenchmarkFolder().files(dataclasses.replace(results, scores=pl.concat([results.scores, second])))
    table = parquet(made, "minilm_results")
    assert table["mrr"].to_list() == [1.0, None, None, 0.5]  # (0 + 1) / 2; CON-001 failed once
    assert table["hit_at_10"].to_list() == [True, None, True, None]  # the seeds disagree on CON-002


def test_arms_of_a_factor_are_models_of_their_own(results: Results) -> None:
    factors: dict[str, Factors] = {"minilm": {}, "mika": {"size": "big"}}
    name = Arm("mika", factors["mika"]).name
    arms = pl.col("arm").replace({"mika": name})
    split = dataclasses.replace(
        results,
        arms=["minilm", name],
        scores=results.scores.with_columns(arms),
        estimates=[msgspec.structs.replace(one, factors=factors[one.system]) for one in results.estimates],
        comparisons=[msgspec.structs.replace(one, factors={"size": "big"}) for one in results.comparisons],
        review=None,
    )
    made = BenchmarkFolder().files(split)
    assert parquet(made, "benchmark_decision").columns[1] == "mika[size=big]_auto_advantage"
    assert parquet(made, "benchmark_decision")["mrr_difference"].to_list() == [0.25]
    assert loaded(made, "mika_size=big__results")["metrics"]["mean_mrr"] == 0.75
