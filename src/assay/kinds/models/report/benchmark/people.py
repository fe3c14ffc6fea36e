"""What people found: the rates of each model, and the marks behind them query by query.

Rates are given on queries judged for every model alone, so that any mean over them compares like with like.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from assay.core.results import ItemView, ReviewSummary
from assay.kinds.models.report.benchmark.columns import RATES, column_name
from assay.kinds.models.report.benchmark.encoded import json_bytes, parquet_bytes
from assay.kinds.models.report.benchmark.figures import REVIEWED, Figures, rate_names
from assay.kinds.models.report.benchmark.groups import CATEGORY, bounds_of
from assay.kinds.models.report.benchmark.one_model import tag_value
from assay.measures.marks import FALSE_POSITIVE, KEYWORD_MATCH, SEMANTIC_MATCH
from assay.report.views import SHOWN_HITS

_COUNTS = ("keyword_matches", "semantic_matches", "false_positives", "unjudged")
_MARKS = (KEYWORD_MATCH, SEMANTIC_MATCH, FALSE_POSITIVE, None)


def rate_bounds(review: ReviewSummary, model: str) -> dict[str, list[float]]:
    """By rate: the least and the most it can come to over all queries, whatever is still open."""
    found = {column_name(measure): arms[model] for measure, arms in review.bounds.items() if model in arms}
    return {name: list(found[name]) for name in rate_names([*found])}


def review_json(figures: Figures, review: ReviewSummary, model: str) -> bytes:
    """One model's rates, on which queries they stand, and what is still open."""
    return json_bytes(
        {
            "model_name": model,
            "timestamp": figures.timestamp,
            "partial": review.partial,
            "depth": review.depth,
            "queries_to_review": review.items,
            "queries_reviewed_for_every_model": review.complete,
            "queries_reviewed_for_this_model": review.complete_by_arm.get(model, 0),
            "judged_passages": review.marked,
            "open_judgments": review.open,
            **{rate: bounds_of(figures.rates.get((model, rate))) for rate in RATES},
            "bounds": rate_bounds(review, model),
            "settled": review.settled,
            "outlook": review.outlook,
        }
    )


def details_table(figures: Figures, review: ReviewSummary) -> bytes:
    """A row a query that wants a review and model: its marks, and its rates where all models are judged."""
    schema: dict[str, pl.DataType] = {"query_id": pl.String(), CATEGORY: pl.String(), "model": pl.String()}
    schema |= dict.fromkeys((*_COUNTS, "total"), pl.Int64())
    schema |= dict.fromkeys(RATES, pl.Float64())
    schema |= {"complete": pl.Boolean()}
    rows = [
        _details(figures, review, item, model)
        for item in figures.inside(REVIEWED)
        for model in figures.models
    ]
    return parquet_bytes(rows, schema)


def _details(figures: Figures, review: ReviewSummary, item: ItemView, model: str) -> dict[str, Any]:
    scored = _scored(figures, item, model)
    hits = item.returned.get(model, [])[: review.depth]
    # Where people look deeper than results are shown, how many there are is not known here.
    cut = review.depth > SHOWN_HITS and len(hits) == SHOWN_HITS
    total = None if cut else len(hits)
    found = [getattr(hit, "mark", None) for hit in hits]
    everywhere = item.item_id in review.complete
    if any(found) and not cut:
        counted = Counter(found)
        counts = dict(zip(_COUNTS, (counted[mark] for mark in _MARKS), strict=True))
    else:
        counts = _from_rates(scored, total)
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


def _scored(figures: Figures, item: ItemView, model: str) -> dict[str, float]:
    """The rates that the study scores, of one query."""
    named = {column.name: column for column in figures.columns if column.name in RATES}
    found = {rate: figures.value(model, column, item.item_id) for rate, column in named.items()}
    return {rate: value for rate, value in found.items() if value is not None}


def _from_rates(scored: dict[str, float], total: int | None) -> dict[str, int]:
    """Marks counted back from the shares they make; nothing where a share is missing."""
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
