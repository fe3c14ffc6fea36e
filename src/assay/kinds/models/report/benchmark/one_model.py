"""What one model did, query by query: the full JSON and the table a dashboard reads."""

from __future__ import annotations

from typing import Any

import polars as pl

from assay.core.results import ItemView, RankedResult
from assay.kinds.models.report.benchmark.encoded import json_bytes, parquet_bytes
from assay.kinds.models.report.benchmark.figures import Figures
from assay.kinds.models.report.benchmark.groups import (
    CATEGORY,
    DIFFICULTY,
    group_metrics,
    means,
    quantiles,
    spreads,
)

TAGS = (CATEGORY, DIFFICULTY, "intent")
LOWER_BOUND = "lower_bound"  # some of its hits nobody judged: what goes by rule alone may be higher


def tag_value(item: ItemView, tag: str) -> str | None:
    """An item's value of a tag; several stand with a bar between them."""
    return "|".join(item.tags.get(tag, [])) or None


def about(item: ItemView, tags: tuple[str, ...] = TAGS) -> dict[str, Any]:
    """What identifies a query in every table."""
    named = {tag: tag_value(item, tag) for tag in tags}
    return {"query_id": item.item_id, "query_text": item.text, **named}


def about_schema(tags: tuple[str, ...] = TAGS) -> dict[str, pl.DataType]:
    return dict.fromkeys(("query_id", "query_text", *tags), pl.String())


def model_json(figures: Figures, model: str) -> bytes:
    """A model's means, its means by category and difficulty, and every query with its top results."""
    return json_bytes(
        {
            "model_name": model,
            "total_queries": len(figures.queries),
            "timestamp": figures.timestamp,
            "metrics": {
                **means(figures, model),
                **spreads(figures, model),
                **quantiles(figures, model),
            },
            "category_metrics": group_metrics(figures, model, CATEGORY),
            "difficulty_metrics": group_metrics(figures, model, DIFFICULTY),
            "query_results": [_query(figures, model, item) for item in figures.queries],
        }
    )


def model_table(figures: Figures, model: str) -> bytes:
    """A row a query."""
    rows = [
        {**about(item), **figures.metrics(model, item.item_id), LOWER_BOUND: figures.is_open(model, item)}
        for item in figures.queries
    ]
    return parquet_bytes(rows, about_schema() | figures.schema | {LOWER_BOUND: pl.Boolean()})


def _query(figures: Figures, model: str, item: ItemView) -> dict[str, Any]:
    hits = item.returned.get(model, [])
    return {
        **about(item),
        "expects": item.expects,
        "error": item.faults.get(model),
        **figures.metrics(model, item.item_id),
        LOWER_BOUND: figures.is_open(model, item),
        "top_results": [_result(rank, hit, item.expects) for rank, hit in enumerate(hits, 1)],
    }


def _result(rank: int, hit: RankedResult, expects: str | None) -> dict[str, Any]:
    """One hit: whether it is relevant (null: nobody judged it), and whose word that is."""
    relevant = None if hit.grade is None else hit.grade > 0
    unwanted = expects == "nothing" and relevant  # what such a query names must not come back
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
