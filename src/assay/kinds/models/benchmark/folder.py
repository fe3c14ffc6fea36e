"""A benchmark of models as a folder of files: a report for readers, JSON and Parquet for dashboards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl

from assay.core.dataset import digest
from assay.core.records import Comparison
from assay.core.results import Results
from assay.kinds.models.benchmark.columns import RATES, MeasureColumn
from assay.kinds.models.benchmark.final_report import final_report
from assay.kinds.models.benchmark.results import ALL, BenchmarkResults, Pair, Where, is_better
from assay.kinds.models.benchmark.tables import (
    CATEGORY,
    DIFFICULTY,
    MeasureReadings,
    aggregate_table,
    details_table,
    estimate_facts,
    group_table,
    json_bytes,
    model_json,
    model_table,
    parquet_bytes,
    quantiles,
    query_facts,
    query_schema,
    rate_bounds,
    readings_of,
    review_json,
)

TIE = "Tie"
TAGS = (CATEGORY, DIFFICULTY)


def comparison_json(benchmark: BenchmarkResults) -> bytes:
    """Returns every pair that the study compares, overall, by category and by difficulty."""
    compared = [pair for pair in benchmark.pairs if _compared(benchmark, pair, ALL)]
    return json_bytes(
        {
            "timestamp": benchmark.timestamp,
            "models": benchmark.models,
            "baseline": benchmark.results.baseline,
            "pairs": [_pair(benchmark, pair) for pair in compared],
            "not_compared": [pair for pair in benchmark.pairs if pair not in compared],
        }
    )


def query_table(benchmark: BenchmarkResults) -> bytes:
    """Returns one row per query, with both models side by side.

    With more than two models, or if column names would be equal, there is one row per pair and query.
    """
    if len(benchmark.models) == 2:
        ((challenger, baseline),) = benchmark.pairs
        wide = _wide_schema(benchmark, baseline, challenger)
        if wide is not None:
            rows = [_wide_row(benchmark, (challenger, baseline), item.item_id) for item in benchmark.queries]
            known = [query_facts(item, TAGS) for item in benchmark.queries]
            return parquet_bytes([{**one, **row} for one, row in zip(known, rows, strict=True)], wide)
    return _long_table(benchmark)


def decision_rows(benchmark: BenchmarkResults) -> list[dict[str, Any]]:
    """Returns the recommendation, and for each pair whether the first model is shown to be better.

    Better means: by rules (`mrr`), and by people's marks (`semantic_lift`).
    """
    if not benchmark.pairs:
        return [{"recommendation": benchmark.recommendation}]
    rows: list[dict[str, Any]] = []
    for a, b in benchmark.pairs:
        mrr, lift = (benchmark.comparison((a, b), name) for name in ("mrr", "semantic_lift"))
        rows.append(
            {
                "recommendation": benchmark.recommendation,
                "model_a": a,
                "model_b": b,
                "a_auto_advantage": is_better(mrr),
                "a_semantic_advantage": is_better(lift),
                "mrr_difference": None if mrr is None else mrr.difference,
                "semantic_lift_difference": None if lift is None else lift.difference,
            }
        )
    return rows


def decision_table(benchmark: BenchmarkResults) -> bytes:
    """Returns one row whose columns are named after the challenger.

    With other than two models, there is one row per pair.
    """
    rows = decision_rows(benchmark)
    named = {"a_auto_advantage": pl.Boolean(), "a_semantic_advantage": pl.Boolean()}
    schema: dict[str, pl.DataType] = {"recommendation": pl.String()}
    if len(benchmark.models) == 2:
        challenger = benchmark.pairs[0][0]
        titles = {name: challenger + name.removeprefix("a") for name in named}
        rows = [{titles.get(name, name): value for name, value in row.items()} for row in rows]
        schema |= {titles[name]: kind for name, kind in named.items()}
    else:
        schema |= {"model_a": pl.String(), "model_b": pl.String(), **named}
    schema |= {"mrr_difference": pl.Float64(), "semantic_lift_difference": pl.Float64()}
    return parquet_bytes(rows, schema)


def comparison_facts(one: Comparison) -> dict[str, Any]:
    """Returns one comparison as an object: the first model minus the second."""
    return {
        "measure": one.measure,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "wins": one.wins,
        "losses": one.losses,
        "ties": one.ties,
        "n": one.n,
        "p": one.p,
        "test": one.test,
        "p_adjusted": one.p_adjusted,
        "family": one.family,
        "shown": one.shown,
        "p_wilcoxon": one.p_wilcoxon,
        "effect": one.effect,
        "effect_name": one.effect_name,
        "detectable_difference": one.mde,
        "refused": one.refused,
    }


def _pair(benchmark: BenchmarkResults, pair: Pair) -> dict[str, Any]:
    overall = _compared(benchmark, pair, ALL)
    return {
        "a": pair[0],
        "b": pair[1],
        "overall": {name: facts for name, facts in overall.items() if name not in RATES},
        "by_category": _compared_by(benchmark, pair, CATEGORY),
        "by_difficulty": _compared_by(benchmark, pair, DIFFICULTY),
        "human_review": {name: facts for name, facts in overall.items() if name in RATES},
    }


def _compared_by(benchmark: BenchmarkResults, pair: Pair, tag: str) -> dict[str, dict[str, Any]]:
    found = {value: _compared(benchmark, pair, {tag: value}) for value in benchmark.slices(tag)}
    return {value: facts for value, facts in found.items() if facts}


def _compared(benchmark: BenchmarkResults, pair: Pair, where: Where) -> dict[str, dict[str, Any]]:
    names = dict.fromkeys([*(column.name for column in benchmark.columns), *RATES])
    found = {name: benchmark.comparison(pair, name, where) for name in names}
    return {name: comparison_facts(one) for name, one in found.items() if one is not None}


def _wide_schema(
    benchmark: BenchmarkResults, baseline: str, challenger: str
) -> dict[str, pl.DataType] | None:
    """Returns the columns of two models side by side, or None if two of the names would be equal."""
    prefixes = (f"{baseline}_", f"{challenger}_")
    first = {f"{prefix}mrr": pl.Float64() for prefix in prefixes}
    schema: dict[str, pl.DataType] = {**query_schema(TAGS), **first}
    schema |= {"mrr_diff": pl.Float64(), "winner": pl.String()}
    schema |= {f"{prefix}{name}": kind for name, kind in benchmark.schema.items() for prefix in prefixes}
    # SQL does not distinguish MRR and mrr
    wanted = len(query_schema(TAGS)) + 2 + 2 * len(benchmark.schema)
    return schema if len({name.lower() for name in schema}) == wanted else None


def _wide_row(benchmark: BenchmarkResults, pair: Pair, item_id: str) -> dict[str, Any]:
    sides = {model: benchmark.metrics(model, item_id) for model in pair}
    named = {f"{model}_{name}": value for model, side in sides.items() for name, value in side.items()}
    return {**named, **_outcome(pair, sides)}


def _long_table(benchmark: BenchmarkResults) -> bytes:
    schema: dict[str, pl.DataType] = {**query_schema(TAGS), "model_a": pl.String(), "model_b": pl.String()}
    schema |= {"a_mrr": pl.Float64(), "b_mrr": pl.Float64(), "mrr_diff": pl.Float64(), "winner": pl.String()}
    schema |= {f"{side}_{name}": kind for name, kind in benchmark.schema.items() for side in "ab"}
    rows: list[dict[str, Any]] = []
    values = {
        model: {item.item_id: benchmark.metrics(model, item.item_id) for item in benchmark.queries}
        for model in benchmark.models
    }
    for pair in benchmark.pairs:
        for item in benchmark.queries:
            sides = {model: values[model][item.item_id] for model in pair}
            row = {**query_facts(item, TAGS), "model_a": pair[0], "model_b": pair[1], **_outcome(pair, sides)}
            for side, model in zip("ab", pair, strict=True):
                row |= {f"{side}_{name}": value for name, value in sides[model].items()}
            rows.append(row)
    return parquet_bytes(rows, schema)


def _outcome(pair: Pair, sides: Mapping[str, Mapping[str, float | bool | None]]) -> dict[str, Any]:
    """Returns the difference in reciprocal rank, and the model ahead. Both are None without two scores."""
    first, second = (sides[model]["mrr"] for model in pair)
    if first is None or second is None:
        return {"mrr_diff": None, "winner": None}
    winner = TIE if first == second else pair[0] if first > second else pair[1]
    return {"mrr_diff": first - second, "winner": winner}


def combined_json(benchmark: BenchmarkResults) -> bytes:
    """Returns all readings of all models, the decision, the verdicts and the provenance."""
    results = benchmark.results
    review = results.review
    return json_bytes(
        {
            "study": results.study,
            "timestamp": benchmark.timestamp,
            "models": {model: _readings(benchmark, model) for model in benchmark.models},
            "review": None
            if review is None
            else {
                "partial": review.partial,
                "queries_to_review": review.items,
                "queries_reviewed_for_every_model": len(review.complete),
                "open_judgments": review.open,
                "settled": review.settled,
                "outlook": review.outlook,
            },
            "decision": {
                "recommendation": benchmark.recommendation,
                "verdict": results.verdict,
                "pairs": [row for row in decision_rows(benchmark) if "model_a" in row],
            },
            "verdicts": msgspec.to_builtins(results.verdicts),
            "warnings": results.trust.warnings,
            "provenance": results.trust.provenance,
        }
    )


def _readings(benchmark: BenchmarkResults, model: str) -> dict[str, Any]:
    found = readings_of(benchmark, model)
    review = benchmark.results.review
    bound = benchmark.is_lower_bound(ALL)
    return {
        "automated": {
            column.name: {**estimate_facts(total.automated), "lower_bound": bound and column.only_rises}
            for column, total in found.items()
        },
        "automated_where_reviewed": _reading(found, "automated_where_reviewed"),
        "human_adjusted": _reading(found, "human_adjusted"),
        "mixed": _reading(found, "mixed"),
        "human_review": {
            rate: estimate_facts(one) for (name, rate), one in benchmark.rates.items() if name == model
        },
        "human_review_bounds": {} if review is None else rate_bounds(review, model),
        "negative_queries": {
            column.name: estimate_facts(benchmark.estimate(model, column))
            for column in benchmark.about_negatives
        },
        "latency": {
            **{
                f"mean_{column.name}": estimate_facts(benchmark.estimate(model, column))
                for column in benchmark.columns
                if column.stage is not None
            },
            **quantiles(benchmark, model),
        },
    }


def _reading(found: dict[MeasureColumn, MeasureReadings], which: str) -> dict[str, Any]:
    given = {column.name: getattr(total, which) for column, total in found.items()}
    return {name: estimate_facts(one) for name, one in given.items() if one is not None}


LONGEST_NAME = 80
UNDATED = "undated"


@dataclass(frozen=True)
class BenchmarkFolder:
    """The files of a model benchmark, by path relative to the output folder.

    Each model's own files are written twice: under a name with the time of the run, and under a constant
    name.
    """

    def files(self, results: Results) -> dict[str, bytes]:
        """Returns the path and the content of every file."""
        benchmark = BenchmarkResults(results)
        time = UNDATED if benchmark.time is None else benchmark.time.strftime("%Y%m%d_%H%M%S")
        found = {"final_benchmark_report.md": final_report(benchmark)}
        for model, name in model_file_names(benchmark.models).items():
            for suffix, content in (
                ("json", model_json(benchmark, model)),
                ("parquet", model_table(benchmark, model)),
            ):
                found[f"results/benchmark_{name}_{time}.{suffix}"] = content
                found[f"results/{name}_results.{suffix}"] = content
            if results.review is not None:
                found[f"results/human_review_{name}.json"] = review_json(benchmark, results.review, model)
        found |= {
            "results/comparison_report.json": comparison_json(benchmark),
            "results/combined_metrics.json": combined_json(benchmark),
            "results/query_comparison.parquet": query_table(benchmark),
            "results/aggregate_metrics.parquet": aggregate_table(benchmark),
            "results/category_metrics.parquet": group_table(benchmark, CATEGORY),
            "results/difficulty_metrics.parquet": group_table(benchmark, DIFFICULTY),
            "results/benchmark_decision.parquet": decision_table(benchmark),
        }
        if results.review is not None:
            found["results/human_review_details.parquet"] = details_table(benchmark, results.review)
        return found


def model_file_names(models: Sequence[str]) -> dict[str, str]:
    """Returns the name of each model in file names. The names are safe on any disk, and no two are alike."""
    plain = {model: re.sub(r"[^A-Za-z0-9_.=,-]+", "_", model)[:LONGEST_NAME] for model in models}
    # some disks do not distinguish upper and lower case
    often = Counter(name.casefold() for name in plain.values())
    return {
        model: name if often[name.casefold()] == 1 else f"{name}.{digest([model.encode()])[:8]}"
        for model, name in plain.items()
    }
