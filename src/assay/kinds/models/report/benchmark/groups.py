"""Means with their intervals: of one model, and of all by category, by difficulty and overall."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import polars as pl

from assay.core.records import Estimate
from assay.kinds.models.report.benchmark.columns import RATES, Column
from assay.kinds.models.report.benchmark.encoded import parquet_bytes
from assay.kinds.models.report.benchmark.figures import ALL, Figures, Where
from assay.report.flips import COUNTED

QUANTILES = {"p50": 0.5, "p95": 0.95}
TOTAL = "total_latency_ms"
CATEGORY, DIFFICULTY = "category", "difficulty"
_FIRST = ("mean_mrr", "mean_hit_at_10", "mean_latency_ms", "semantic_lift")


def bounds_of(one: Estimate | None) -> dict[str, Any]:
    """A mean with its interval and on how many queries it stands."""
    if one is None:
        return {"value": None, "low": None, "high": None, "n": 0, "n_expected": 0}
    ends = {"value": one.value, "low": one.low, "high": one.high}
    return {**ends, "n": one.n_scored, "n_expected": one.n_expected}


def means(figures: Figures, model: str, where: Where = ALL) -> dict[str, Any]:
    """`mean_mrr` and so on, with intervals and counts beside them."""
    named: dict[str, Any] = {f"mean_{name}": None for name in figures.schema}
    found = {column.name: figures.estimate(model, column, where) for column in figures.columns}
    given = {name: one for name, one in found.items() if one is not None and one.value is not None}
    named |= {f"mean_{name}": one.value for name, one in given.items()}
    named["intervals"] = {name: [one.low, one.high] for name, one in given.items()}
    named["n"] = {name: one.n_scored for name, one in given.items()}
    rising = {column.name for column in figures.columns if column.only_rises}
    named["lower_bounds"] = [name for name in given if name in rising and figures.is_lower_bound(where)]
    return named


def spreads(figures: Figures, model: str) -> dict[str, float | None]:
    """`std_mrr` and so on: the standard deviation over queries."""
    found: dict[str, float | None] = {f"std_{name}": None for name in figures.schema}
    for column in figures.columns:
        values = [figures.value(model, column, item.item_id) for item in figures.queries]
        there = [value for value in values if value is not None]
        found[f"std_{column.name}"] = statistics.stdev(there) if len(there) > 1 else None
    return found


def quantiles(figures: Figures, model: str) -> dict[str, float | None]:
    """`p50_total_latency_ms` and so on, over every answer of every seed."""
    stages = {column.name: column for column in figures.columns if column.stage is not None}
    trusted = figures.results.trust.seconds.get(model, {})
    found: dict[str, float | None] = {}
    for name in dict.fromkeys([TOTAL, *stages]):
        for quantile, share in QUANTILES.items():
            seconds = trusted.get(quantile) if name == TOTAL else None
            if seconds is None and name in stages:
                seconds = _quantile(figures, model, stages[name], share)
            found[f"{quantile}_{name}"] = None if seconds is None else seconds * 1000
    return found


def group_metrics(figures: Figures, model: str, tag: str) -> dict[str, dict[str, Any]]:
    """A model's means by each value of a tag."""
    return {
        value: {
            **means(figures, model, {tag: value}),
            "count": len(figures.inside({tag: value})),
            "lower_bound": figures.is_lower_bound({tag: value}),
        }
        for value in figures.slices(tag)
    }


def aggregate_table(figures: Figures) -> bytes:
    """A row a model: means over all queries, percentiles of the time, and what the review found."""
    rows: list[dict[str, Any]] = []
    for model in figures.models:
        row: dict[str, Any] = {"model": model, "queries": len(figures.queries)}
        row["lower_bound"] = figures.is_lower_bound(ALL)
        for column in figures.columns:
            if not column.is_rate:
                name = "latency_ms" if column.name == TOTAL else column.name
                row |= _cells(f"mean_{name}", name, figures.estimate(model, column))
        for rate in RATES:
            row |= _cells(rate, rate, figures.rates.get((model, rate)))
        timed = quantiles(figures, model).items()
        row |= {name.replace(TOTAL, "latency_ms"): value for name, value in timed}
        rows.append(row)
    named = [f"mean_{name}" for name in figures.schema if name != TOTAL and name not in RATES]
    order = dict.fromkeys([*_FIRST, *RATES, *named, *(name for row in rows for name in row)])
    texts: dict[str, pl.DataType] = {"model": pl.String()}
    kinds = {name: _kind(name) for name in order if name != "model"}
    return parquet_bytes(rows, texts | kinds | {"lower_bound": pl.Boolean()})


def group_table(figures: Figures, tag: str) -> bytes:
    """A row a value of the tag and model; no rows where the study makes no such slices."""
    rows: list[dict[str, Any]] = []
    for value in figures.slices(tag):
        where = {tag: value}
        about = {"count": len(figures.inside(where)), "lower_bound": figures.is_lower_bound(where)}
        for model in figures.models:
            row: dict[str, Any] = {tag: value, "model": model, **about}
            for column in figures.columns:
                row |= _cells(column.name, column.name, figures.estimate(model, column, where))
            rows.append(row)
    schema: dict[str, pl.DataType] = {tag: pl.String(), "model": pl.String()}
    schema |= dict.fromkeys(figures.schema, pl.Float64())
    schema |= {"count": pl.Int64(), "lower_bound": pl.Boolean()}
    schema |= {name: _kind(name) for column in figures.columns for name in _ends(column.name)}
    return parquet_bytes(rows, schema)


def relevance_columns(figures: Figures) -> list[Column]:
    """The columns that say how good the results are by rule alone."""
    aside = {column.name for column in figures.about_negatives}
    return [
        column
        for column in figures.columns
        if column.stage is None and not column.adjusted and not column.is_rate and column.name not in aside
    ]


def _cells(name: str, stem: str, one: Estimate | None) -> dict[str, Any]:
    found = bounds_of(one)
    return {
        name: found["value"],
        **dict(zip(_ends(stem), (found["low"], found["high"], found["n"]), strict=True)),
    }


def _ends(stem: str) -> Sequence[str]:
    return f"low_{stem}", f"high_{stem}", f"n_{stem}"


def _kind(name: str) -> pl.DataType:
    return pl.Int64() if name == "queries" or name.startswith("n_") else pl.Float64()


def _quantile(figures: Figures, model: str, column: Column, share: float) -> float | None:
    mine = [pl.col("arm") == model, pl.col("measure") == column.measure, pl.col("status").is_in([*COUNTED])]
    values = figures.results.scores.filter(*mine)["value"].fill_nan(None).drop_nulls()
    return values.quantile(share, "linear")
