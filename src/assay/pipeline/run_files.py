"""Run files scored and compared: the short way from TREC files to estimates and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

import assay
from assay.core.errors import UsageError
from assay.core.records import Item
from assay.core.results import Results, TrustSummary
from assay.measures.files import run_name, score_files
from assay.measures.parse import parse_measure
from assay.measures.score import Broken
from assay.pipeline.trust import broken_measure_warnings, check_something_computed, status_counts
from assay.report.views import measure_infos
from assay.stats.compare import Comparing, summarise
from assay.stats.rows import Rows


def evaluate_runs(
    runs: Sequence[str | Path],
    qrels: str | Path,
    measures: Sequence[str],
    *,
    against: str = "baseline",
    missing: str = "zero",
) -> Results:
    """Estimates of every run on the judged queries, and comparisons with the first, of all pairs, or none.

    A judged query that a run lacks counts as 0, as with trec_eval's -c. With `missing="open"` one that
    another run has counts as not run, so that runs over different queries are not compared.
    """
    names = [run_name(Path(path)) for path in runs]
    if len(set(names)) < len(names):
        raise UsageError(
            "Two run files have the same name, so their results could not be told apart. Rename one."
        )
    if not measures:
        raise UsageError("Name at least one measure, such as -m nDCG@10.")
    parts, warnings, broken = list[pl.DataFrame](), list[str](), Broken()
    for name, path in zip(names, runs, strict=True):
        found = score_files(path, qrels, measures)
        warnings += [each for each in (*found.unreached, found.cut) if each and each not in warnings]
        broken |= {(name, measure): why for measure, why in found.broken.items()}
        if found.unjudged:
            warnings.append(f"{name}: {len(found.unjudged)} queries without judgments are left out")
        absent = found.scores.filter(pl.col("status") == "missing")["item"].n_unique()
        if absent:
            queries = found.scores["item"].n_unique()
            warnings.append(f"{name}: {absent} of {queries} judged queries are not in the run")
        parts.append(found.scores.select("item", *_arm_columns(name), "measure", "value", "status"))
    scores = pl.concat(parts) if missing == "zero" else _mark_pending(pl.concat(parts))
    check_something_computed(broken, scores)
    warnings += broken_measure_warnings(broken)
    rows = Rows(scores, [Item(item_id, "") for item_id in scores["item"].unique(maintain_order=True)])
    parsed = [parse_measure(text) for text in measures]
    estimates, comparisons = summarise(rows, parsed, Comparing(names[0], against))
    return Results(
        study=Path(qrels).name,
        kind="runs",
        systems=names,
        arms=names,
        baseline=names[0] if comparisons else None,
        measures=measure_infos(parsed),
        by=[],
        scores=scores,
        estimates=estimates,
        comparisons=comparisons,
        verdicts=[],
        verdict=None,
        trust=TrustSummary(
            status_counts(scores, parsed[0].name), warnings, {"qrels": str(qrels), "assay": assay.__version__}
        ),
    )


def _mark_pending(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores with a query that some runs have and this one lacks as not run, instead of as 0."""
    lacks = pl.col("status") == "missing"
    elsewhere = (~lacks).any().over("item", "measure")
    pending = pl.lit("pending").cast(scores.schema["status"])
    return scores.with_columns(
        value=pl.when(lacks & elsewhere).then(None).otherwise("value"),
        status=pl.when(lacks & elsewhere).then(pending).otherwise("status"),
    )


def _arm_columns(name: str) -> list[pl.Expr]:
    return [
        pl.lit(name).alias("system"),
        pl.lit("{}").alias("factors"),
        pl.lit(name).alias("arm"),
        pl.lit(0, pl.Int64).alias("seed"),
    ]
