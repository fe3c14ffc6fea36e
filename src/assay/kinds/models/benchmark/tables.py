"""The files of single models and of groups of queries: means with intervals, every query, and people's marks.

The rates from people's marks are over the queries that were judged for every model. So the means of all
models are over the same queries.
"""

from __future__ import annotations

import io
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from assay.core.records import Estimate
from assay.core.results import ItemView, RankedResult, ReviewSummary
from assay.kinds.models.benchmark.columns import ADJUSTED, RATES, MeasureColumn, column_name
from assay.kinds.models.benchmark.results import ALL, REVIEWED, BenchmarkResults, Where, rate_names
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.report.items import COUNTED
from assay.report.views import SHOWN_HITS


def json_bytes(content: Mapping[str, Any]) -> bytes:
    """Returns one indented JSON object. NaN becomes null."""
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def parquet_bytes(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, pl.DataType]) -> bytes:
    """Returns a table with exactly the columns of `schema`. A value that a row lacks is null."""
    full = [[row.get(name) for name in schema] for row in rows]
    buffer = io.BytesIO()
    pl.DataFrame(full, schema=dict(schema), orient="row").write_parquet(buffer)
    return buffer.getvalue()


QUANTILES = {"p50": 0.5, "p95": 0.95}
TOTAL = "total_latency_ms"
CATEGORY, DIFFICULTY = "category", "difficulty"
_FIRST = ("mean_mrr", "mean_hit_at_10", "mean_latency_ms", "semantic_lift")


def estimate_facts(one: Estimate | None) -> dict[str, Any]:
    """Returns a mean with its interval, and the number of its queries."""
    if one is None:
        return {"value": None, "low": None, "high": None, "n": 0, "n_expected": 0}
    ends = {"value": one.value, "low": one.low, "high": one.high}
    return {**ends, "n": one.n_scored, "n_expected": one.n_expected}


def means(benchmark: BenchmarkResults, model: str, where: Where = ALL) -> dict[str, Any]:
    """Returns `mean_mrr` and so on, with their intervals and numbers of queries."""
    named: dict[str, Any] = {f"mean_{name}": None for name in benchmark.schema}
    found = {column.name: benchmark.estimate(model, column, where) for column in benchmark.columns}
    given = {name: one for name, one in found.items() if one is not None and one.value is not None}
    named |= {f"mean_{name}": one.value for name, one in given.items()}
    named["intervals"] = {name: [one.low, one.high] for name, one in given.items()}
    named["n"] = {name: one.n_scored for name, one in given.items()}
    rising = {column.name for column in benchmark.columns if column.only_rises}
    named["lower_bounds"] = [name for name in given if name in rising and benchmark.is_lower_bound(where)]
    return named


def spreads(benchmark: BenchmarkResults, model: str) -> dict[str, float | None]:
    """Returns `std_mrr` and so on: the standard deviations over queries."""
    found: dict[str, float | None] = {f"std_{name}": None for name in benchmark.schema}
    for column in benchmark.columns:
        values = [benchmark.value(model, column, item.item_id) for item in benchmark.queries]
        there = [value for value in values if value is not None]
        found[f"std_{column.name}"] = statistics.stdev(there) if len(there) > 1 else None
    return found


def quantiles(benchmark: BenchmarkResults, model: str) -> dict[str, float | None]:
    """Returns `p50_total_latency_ms` and so on, over every answer of every seed."""
    stages = {column.name: column for column in benchmark.columns if column.stage is not None}
    trusted = benchmark.results.trust.seconds.get(model, {})
    found: dict[str, float | None] = {}
    for name in dict.fromkeys([TOTAL, *stages]):
        for quantile, share in QUANTILES.items():
            seconds = trusted.get(quantile) if name == TOTAL else None
            if seconds is None and name in stages:
                seconds = _quantile(benchmark, model, stages[name], share)
            found[f"{quantile}_{name}"] = None if seconds is None else seconds * 1000
    return found


def group_metrics(benchmark: BenchmarkResults, model: str, tag: str) -> dict[str, dict[str, Any]]:
    """Returns a model's means for each value of a tag."""
    return {
        value: {
            **means(benchmark, model, {tag: value}),
            "count": len(benchmark.inside({tag: value})),
            "lower_bound": benchmark.is_lower_bound({tag: value}),
        }
        for value in benchmark.slices(tag)
    }


@dataclass(frozen=True)
class MeasureReadings:
    """The means of one column of one model: by rules, with people's marks, and mixed."""

    automated: Estimate | None  # by rules, over all queries
    automated_where_reviewed: Estimate | None  # by rules, over the queries that need a review
    human_adjusted: Estimate | None  # with people's marks, over the queries that need a review
    mixed: Estimate | None  # with people's marks where there are any, over all queries


def readings_of(benchmark: BenchmarkResults, model: str) -> dict[MeasureColumn, MeasureReadings]:
    """Returns the readings of every column that rules can fill."""
    adjusted = {column.name: column for column in benchmark.columns if column.adjusted}
    found: dict[MeasureColumn, MeasureReadings] = {}
    for column in relevance_columns(benchmark):
        other = adjusted.get(ADJUSTED + column.name)
        found[column] = MeasureReadings(
            benchmark.estimate(model, column),
            benchmark.estimate(model, column, REVIEWED),
            None if other is None else benchmark.estimate(model, other, REVIEWED),
            None if other is None else benchmark.estimate(model, other, ALL),
        )
    return found


def aggregate_table(benchmark: BenchmarkResults) -> bytes:
    """Returns one row per model: means over all queries, percentiles of the time, and the review's rates."""
    rows: list[dict[str, Any]] = []
    for model in benchmark.models:
        row: dict[str, Any] = {"model": model, "queries": len(benchmark.queries)}
        row["lower_bound"] = benchmark.is_lower_bound(ALL)
        for column in benchmark.columns:
            if not column.is_rate:
                name = "latency_ms" if column.name == TOTAL else column.name
                row |= _cells(f"mean_{name}", name, benchmark.estimate(model, column))
        for rate in RATES:
            row |= _cells(rate, rate, benchmark.rates.get((model, rate)))
        timed = quantiles(benchmark, model).items()
        row |= {name.replace(TOTAL, "latency_ms"): value for name, value in timed}
        rows.append(row)
    named = [f"mean_{name}" for name in benchmark.schema if name != TOTAL and name not in RATES]
    order = dict.fromkeys([*_FIRST, *RATES, *named, *(name for row in rows for name in row)])
    texts: dict[str, pl.DataType] = {"model": pl.String()}
    kinds = {name: _column_type(name) for name in order if name != "model"}
    return parquet_bytes(rows, texts | kinds | {"lower_bound": pl.Boolean()})


def group_table(benchmark: BenchmarkResults, tag: str) -> bytes:
    """Returns one row per model and value of the tag. It is empty if the study does not slice by the tag."""
    rows: list[dict[str, Any]] = []
    for value in benchmark.slices(tag):
        where = {tag: value}
        query_facts = {"count": len(benchmark.inside(where)), "lower_bound": benchmark.is_lower_bound(where)}
        for model in benchmark.models:
            row: dict[str, Any] = {tag: value, "model": model, **query_facts}
            for column in benchmark.columns:
                row |= _cells(column.name, column.name, benchmark.estimate(model, column, where))
            rows.append(row)
    schema: dict[str, pl.DataType] = {tag: pl.String(), "model": pl.String()}
    schema |= dict.fromkeys(benchmark.schema, pl.Float64())
    schema |= {"count": pl.Int64(), "lower_bound": pl.Boolean()}
    schema |= {name: _column_type(name) for column in benchmark.columns for name in _ends(column.name)}
    return parquet_bytes(rows, schema)


def relevance_columns(benchmark: BenchmarkResults) -> list[MeasureColumn]:
    """Returns the columns that measure, by rules only, how good the results are."""
    aside = {column.name for column in benchmark.about_negatives}
    return [
        column
        for column in benchmark.columns
        if column.stage is None and not column.adjusted and not column.is_rate and column.name not in aside
    ]


def _cells(name: str, stem: str, one: Estimate | None) -> dict[str, Any]:
    found = estimate_facts(one)
    return {
        name: found["value"],
        **dict(zip(_ends(stem), (found["low"], found["high"], found["n"]), strict=True)),
    }


def _ends(stem: str) -> Sequence[str]:
    return f"low_{stem}", f"high_{stem}", f"n_{stem}"


def _column_type(name: str) -> pl.DataType:
    return pl.Int64() if name == "queries" or name.startswith("n_") else pl.Float64()


def _quantile(benchmark: BenchmarkResults, model: str, column: MeasureColumn, share: float) -> float | None:
    mine = [pl.col("arm") == model, pl.col("measure") == column.measure, pl.col("status").is_in([*COUNTED])]
    values = benchmark.results.scores.filter(*mine)["value"].fill_nan(None).drop_nulls()
    return values.quantile(share, "linear")


TAGS = (CATEGORY, DIFFICULTY, "intent")
LOWER_BOUND = "lower_bound"  # some of its hits are not judged, so values by rules only may be higher


def tag_value(item: ItemView, tag: str) -> str | None:
    """Returns an item's value of a tag. Several values are separated by a bar."""
    return "|".join(item.tags.get(tag, [])) or None


def query_facts(item: ItemView, tags: tuple[str, ...] = TAGS) -> dict[str, Any]:
    """Returns the columns that identify a query in every table."""
    named = {tag: tag_value(item, tag) for tag in tags}
    return {"query_id": item.item_id, "query_text": item.text, **named}


def query_schema(tags: tuple[str, ...] = TAGS) -> dict[str, pl.DataType]:
    return dict.fromkeys(("query_id", "query_text", *tags), pl.String())


def model_json(benchmark: BenchmarkResults, model: str) -> bytes:
    """Returns a model's means (overall, by category, by difficulty), and every query with its top results."""
    return json_bytes(
        {
            "model_name": model,
            "total_queries": len(benchmark.queries),
            "timestamp": benchmark.timestamp,
            "metrics": {
                **means(benchmark, model),
                **spreads(benchmark, model),
                **quantiles(benchmark, model),
            },
            "category_metrics": group_metrics(benchmark, model, CATEGORY),
            "difficulty_metrics": group_metrics(benchmark, model, DIFFICULTY),
            "query_results": [_query(benchmark, model, item) for item in benchmark.queries],
        }
    )


def model_table(benchmark: BenchmarkResults, model: str) -> bytes:
    """Returns one row per query."""
    rows = [
        {
            **query_facts(item),
            **benchmark.metrics(model, item.item_id),
            LOWER_BOUND: benchmark.is_open(model, item),
        }
        for item in benchmark.queries
    ]
    return parquet_bytes(rows, query_schema() | benchmark.schema | {LOWER_BOUND: pl.Boolean()})


def _query(benchmark: BenchmarkResults, model: str, item: ItemView) -> dict[str, Any]:
    hits = item.returned.get(model, [])
    return {
        **query_facts(item),
        "expects": item.expects,
        "error": item.faults.get(model),
        **benchmark.metrics(model, item.item_id),
        LOWER_BOUND: benchmark.is_open(model, item),
        "top_results": [_result(rank, hit, item.expects) for rank, hit in enumerate(hits, 1)],
    }


def _result(rank: int, hit: RankedResult, expects: str | None) -> dict[str, Any]:
    """Returns one hit with its relevance (null if not judged) and the source of the judgment."""
    relevant = None if hit.grade is None else hit.grade > 0
    unwanted = expects == "nothing" and relevant  # a passage that such a query names must not come back
    return {
        "rank": rank,
        "chunk_id": hit.doc_id,
        "score": hit.score,
        "relevant": False if unwanted else relevant,
        "status": "must_not_come_back" if unwanted else hit.status,
        "judgment": hit.mark,
        "rule_match": hit.ruled,
        "text": hit.text,
    }


_COUNTS = ("keyword_matches", "semantic_matches", "false_positives", "unjudged")
_MARKS = (KEYWORD_MATCH, SEMANTIC_MATCH, FALSE_POSITIVE, None)


def rate_bounds(review: ReviewSummary, model: str) -> dict[str, list[float]]:
    """Returns, for each rate, its lowest and highest possible value over all queries.

    The open judgments may have any result.
    """
    found = {column_name(measure): arms[model] for measure, arms in review.bounds.items() if model in arms}
    return {name: list(found[name]) for name in rate_names([*found])}


def review_json(benchmark: BenchmarkResults, review: ReviewSummary, model: str) -> bytes:
    """Returns one model's rates, the queries that they are over, and the open judgments."""
    return json_bytes(
        {
            "model_name": model,
            "timestamp": benchmark.timestamp,
            "partial": review.partial,
            "depth": review.depth,
            "queries_to_review": review.items,
            "queries_reviewed_for_every_model": review.complete,
            "queries_reviewed_for_this_model": review.complete_by_arm.get(model, 0),
            "judged_passages": review.marked,
            "open_judgments": review.open,
            **{rate: estimate_facts(benchmark.rates.get((model, rate))) for rate in RATES},
            "bounds": rate_bounds(review, model),
            "settled": review.settled,
            "outlook": review.outlook,
        }
    )


def details_table(benchmark: BenchmarkResults, review: ReviewSummary) -> bytes:
    """Returns one row per model and query that needs a review, with the marks.

    A row has rates if the query was judged for every model.
    """
    schema: dict[str, pl.DataType] = {"query_id": pl.String(), CATEGORY: pl.String(), "model": pl.String()}
    schema |= dict.fromkeys((*_COUNTS, "total"), pl.Int64())
    schema |= dict.fromkeys(RATES, pl.Float64())
    schema |= {"complete": pl.Boolean()}
    rows = [
        _review_row(benchmark, review, item, model)
        for item in benchmark.inside(REVIEWED)
        for model in benchmark.models
    ]
    return parquet_bytes(rows, schema)


def _review_row(
    benchmark: BenchmarkResults, review: ReviewSummary, item: ItemView, model: str
) -> dict[str, Any]:
    scored = _scored_rates(benchmark, item, model)
    hits = item.returned.get(model, [])[: review.depth]
    # If people look deeper than results are shown, the number of results is not known here.
    cut = review.depth > SHOWN_HITS and len(hits) == SHOWN_HITS
    total = None if cut else len(hits)
    found = [hit.mark for hit in hits]
    everywhere = item.item_id in review.complete
    if any(found) and not cut:
        counted = Counter(found)
        counts = dict(zip(_COUNTS, (counted[mark] for mark in _MARKS), strict=True))
    else:
        counts = _counts_from_rates(scored, total)
    complete = everywhere or len(scored) == len(RATES) or counts.get("unjudged") == 0
    return {
        "query_id": item.item_id,
        CATEGORY: tag_value(item, CATEGORY),
        "model": model,
        **counts,
        "total": total,
        **(scored or _rates(counts, total) if everywhere else {}),
        "complete": complete,
    }


def _scored_rates(benchmark: BenchmarkResults, item: ItemView, model: str) -> dict[str, float]:
    """Returns the rates of one query that the study scores."""
    named = {column.name: column for column in benchmark.columns if column.name in RATES}
    found = {rate: benchmark.value(model, column, item.item_id) for rate, column in named.items()}
    return {rate: value for rate, value in found.items() if value is not None}


def _counts_from_rates(scored: dict[str, float], total: int | None) -> dict[str, int]:
    """Computes the counts of marks from the rates. The result is empty if a rate is missing."""
    if len(scored) < len(RATES) or total is None:
        return {}
    precision, lift, wrong = (scored[rate] * total for rate in RATES)
    return dict(zip(_COUNTS, (round(precision - lift), round(lift), round(wrong), 0), strict=True))


def _rates(counts: dict[str, int], total: int | None) -> dict[str, float]:
    if not total or not counts or counts["unjudged"]:
        return {}
    right = counts["keyword_matches"] + counts["semantic_matches"]
    shares = (right, counts["semantic_matches"], counts["false_positives"])
    return {rate: share / total for rate, share in zip(RATES, shares, strict=True)}
