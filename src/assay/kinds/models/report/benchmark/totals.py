"""The same measures three ways: by rule alone, as people judged them, and both together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from assay.core.records import Estimate
from assay.kinds.models.report.benchmark.columns import ADJUSTED, Column
from assay.kinds.models.report.benchmark.encoded import json_bytes
from assay.kinds.models.report.benchmark.figures import ALL, REVIEWED, Figures
from assay.kinds.models.report.benchmark.groups import bounds_of, quantiles, relevance_columns
from assay.kinds.models.report.benchmark.head_to_head import decision_rows
from assay.kinds.models.report.benchmark.people import rate_bounds


@dataclass(frozen=True)
class Total:
    """One column of one model in every reading."""

    automated: Estimate | None  # by rule, over all queries
    automated_where_reviewed: Estimate | None  # by rule, over those that want a review
    human_adjusted: Estimate | None  # with people's marks, over those that want a review
    mixed: Estimate | None  # with people's marks where there are any, over all queries


def totals(figures: Figures, model: str) -> dict[Column, Total]:
    """By column that rules alone can fill."""
    adjusted = {column.name: column for column in figures.columns if column.adjusted}
    found: dict[Column, Total] = {}
    for column in relevance_columns(figures):
        other = adjusted.get(ADJUSTED + column.name)
        found[column] = Total(
            figures.estimate(model, column),
            figures.estimate(model, column, REVIEWED),
            None if other is None else figures.estimate(model, other, REVIEWED),
            None if other is None else figures.estimate(model, other, ALL),
        )
    return found


def combined_json(figures: Figures) -> bytes:
    """All readings of all models, the decision, the verdicts and where it all came from."""
    results = figures.results
    review = results.review
    return json_bytes(
        {
            "study": results.study,
            "timestamp": figures.timestamp,
            "models": {model: _model(figures, model) for model in figures.models},
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
                "recommendation": figures.recommendation,
                "verdict": results.verdict,
                "pairs": [row for row in decision_rows(figures) if "model_a" in row],
            },
            "verdicts": msgspec.to_builtins(results.verdicts),
            "warnings": results.trust.warnings,
            "provenance": results.trust.provenance,
        }
    )


def _model(figures: Figures, model: str) -> dict[str, Any]:
    found = totals(figures, model)
    review = figures.results.review
    bound = figures.is_lower_bound(ALL)
    return {
        "automated": {
            column.name: {**bounds_of(total.automated), "lower_bound": bound and column.only_rises}
            for column, total in found.items()
        },
        "automated_where_reviewed": _reading(found, "automated_where_reviewed"),
        "human_adjusted": _reading(found, "human_adjusted"),
        "mixed": _reading(found, "mixed"),
        "human_review": {
            rate: bounds_of(one) for (name, rate), one in figures.rates.items() if name == model
        },
        "human_review_bounds": {} if review is None else rate_bounds(review, model),
        "negative_queries": {
            column.name: bounds_of(figures.estimate(model, column)) for column in figures.about_negatives
        },
        "latency": {
            **{
                f"mean_{column.name}": bounds_of(figures.estimate(model, column))
                for column in figures.columns
                if column.stage is not None
            },
            **quantiles(figures, model),
        },
    }


def _reading(found: dict[Column, Total], which: str) -> dict[str, Any]:
    given = {column.name: getattr(total, which) for column, total in found.items()}
    return {name: bounds_of(one) for name, one in given.items() if one is not None}
