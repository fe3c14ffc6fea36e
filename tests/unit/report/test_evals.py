"""One JSON file a language: the search design's keys, and what came back where a query failed."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import polars as pl
import pytest

from assay.core.records import ClauseResult, Estimate, Verdict
from assay.core.results import ExpectedTarget, ItemView, MeasureInfo, RankedResult, Results, TrustSummary
from assay.kinds.search.evals import EvalFiles

MEASURES = ["Success(rel=2)@3", "RR@10", "Routed(above=0.35)", "IntentMet@3"]
ITEMS: list[tuple[str, str, str | None, dict[str, float | None]]] = [
    # id, category, expects, values by measure
    ("en-direct-001", "direct", None, {"Success(rel=2)@3": 1.0, "RR@10": 1.0}),
    ("en-direct-002", "direct", None, {"Success(rel=2)@3": 0.0, "RR@10": 0.25}),
    ("en-emotional-001", "emotional", None, {"Success(rel=2)@3": None, "RR@10": None}),
    ("en-technique_boundary-001", "technique_boundary", "route", {"Routed(above=0.35)": 0.0}),
    ("en-dark_night-001", "dark_night", "intent", {"IntentMet@3": 1.0}),
    ("es-direct-001", "direct", None, {"Success(rel=2)@3": 1.0, "RR@10": 0.5}),
]
HITS = [RankedResult(f"d{rank}", 1 / rank, 2.0 if rank == 4 else 0.0, f"text {rank}") for rank in range(1, 6)]


def view(item_id: str, category: str, expects: str | None) -> ItemView:
    failed = item_id == "en-emotional-001"
    return ItemView(
        item_id,
        f"query of {item_id}",
        {"category": [category]},
        [ExpectedTarget("book 3", 2.0, "the expected words")] if expects is None else [],
        {} if failed else {"server": HITS},
        {"server": "HTTP 500: broken"} if failed else {},
        expects,
        item_id[:2],
        "practice_bridge" if expects == "route" else "search",
        {},
        {"server": "search"},
    )


def gate(name: str, verdict: str, where: str = "", deciding: bool = True, system: str = "server") -> Verdict:
    text = f"RR@10({system}) >= 0.5{where}"
    return Verdict(name, verdict, [ClauseResult(text, None, None, None, None, 0)], deciding=deciding)


@pytest.fixture
def results() -> Results:
    rows: list[dict[str, Any]] = [
        {"item": item, "arm": "server", "measure": measure, "value": values.get(measure), "status": how}
        for item, _, _, values in ITEMS
        for measure in MEASURES
        for how in [
            "not_applicable" if measure not in values else "failed" if values[measure] is None else "scored"
        ]
    ]
    return Results(
        "search", "search", ["server"], ["server"], None,
        [MeasureInfo(name, "higher", 0.0, 1.0, lower_bound=name.startswith("S")) for name in MEASURES],
        ["category"], pl.DataFrame(rows, infer_schema_length=None), [], [], [], None,
        TrustSummary({}, [], {}), [view(*each[:3]) for each in ITEMS], created=1773570600.0,
    )  # fmt: skip


def test_figures_by_category_in_the_designs_names(results: Results) -> None:
    files = EvalFiles().files(results)
    assert list(files) == ["eval-en-20260315T103000Z.json", "eval-es-20260315T103000Z.json"]
    found = json.loads(files["eval-en-20260315T103000Z.json"])
    assert (found["timestamp"], found["language"], found["total_queries"]) == (
        "2026-03-15T10:30:00Z",
        "en",
        5,
    )
    # two of the three direct and emotional queries have a figure: one failed
    assert (found["overall_recall_at_3"], found["overall_mrr_at_10"]) == (0.5, 0.625)
    assert found["categories"] == {
        "direct": {"count": 2, "recall_at_3": 0.5, "mrr_at_10": 0.625},
        "emotional": {"count": 1, "failed": 1},
        "technique_boundary": {"count": 1, "routing_accuracy": 0.0},
        "dark_night": {"count": 1, "intent_met_at_3": 1.0},
    }
    assert found["errors"] == {"en-emotional-001": "HTTP 500: broken"}
    assert found["lower_bounds"] == ["Success(rel=2)@3"]
    assert found["gate_passed"] is None


def test_failures_show_what_came_back_instead(results: Results) -> None:
    found = json.loads(EvalFiles().files(results)["eval-en-20260315T103000Z.json"])
    missed, bridge = found["failures"]
    assert missed == {
        "id": "en-direct-002",
        "query": "query of en-direct-002",
        "category": "direct",
        "expected_passage": "the expected words",
        "best_match_rank": 4,
        "top_3_results": ["text 1", "text 2", "text 3"],
    }
    assert (bridge["expected_passage"], bridge["best_match_rank"]) == (None, None)
    assert (bridge["expected"], bridge["got"]) == ("the route practice_bridge", "route search")


@pytest.mark.parametrize(
    ("verdicts", "english", "spanish"),
    [
        ([gate("ship", "go")], True, True),
        ([gate("ship", "go"), gate("look", "no-go", deciding=False)], True, True),
        ([gate("en", "go", " where language=en"), gate("safe", "no-go")], False, False),
        ([gate("other", "no-go", system="other")], None, None),
        ([gate("en", "no-go", " where language=en"), gate("es", "go", " where language=es")], False, True),
        ([gate("en", "go", " where language=en|es")], True, True),
        ([gate("en", "inconclusive", " where language=en")], False, None),
    ],
)
def test_a_gate_passes_by_the_verdicts_that_speak_of_the_language(
    results: Results, verdicts: list[Verdict], english: bool | None, spanish: bool | None
) -> None:
    files = EvalFiles().files(dataclasses.replace(results, verdicts=verdicts)).values()
    assert [json.loads(each)["gate_passed"] for each in files] == [english, spanish]


def test_the_reports_own_estimate_is_the_figure(results: Results) -> None:
    # as where people set a judge's verdicts right: the mean of the items is not what the report says
    right = Estimate("server", {}, "RR@10", {"language": "en"}, 0.4, 0.3, 0.5, 2, 3, "prediction-powered")
    files = EvalFiles().files(dataclasses.replace(results, estimates=[right]))
    found = json.loads(files["eval-en-20260315T103000Z.json"])
    assert (found["overall_mrr_at_10"], found["overall_recall_at_3"]) == (0.4, 0.5)


def test_of_two_measures_with_one_name_the_first_has_it(results: Results) -> None:
    both = [*results.measures, MeasureInfo("Success@3", "higher", 0.0, 1.0)]
    more = results.scores.filter(pl.col("measure") == "RR@10").with_columns(
        measure=pl.lit("Success@3"), value=pl.lit(0.0)
    )
    changed = dataclasses.replace(results, measures=both, scores=pl.concat([results.scores, more]))
    found = json.loads(EvalFiles().files(changed)["eval-en-20260315T103000Z.json"])
    assert found["overall_recall_at_3"] == 0.5
    assert "en-direct-001" not in {each["id"] for each in found["failures"]}


def test_what_nobody_judged_is_named(results: Results) -> None:
    waiting = (pl.col("item") == "en-direct-001") & (pl.col("measure") == "RR@10")
    scores = results.scores.with_columns(
        status=pl.when(waiting).then(pl.lit("unjudged")).otherwise("status"),
        value=pl.when(waiting).then(None).otherwise("value"),
    )
    found = json.loads(
        EvalFiles().files(dataclasses.replace(results, scores=scores))["eval-en-20260315T103000Z.json"]
    )
    assert (found["unjudged"], found["categories"]["direct"]["unjudged"]) == (["en-direct-001"], 1)
    assert found["categories"]["direct"]["mrr_at_10"] == 0.25
