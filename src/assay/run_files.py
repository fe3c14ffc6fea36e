"""Run files scored and compared: the short way from TREC files to estimates and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

import assay
from assay.errors import UsageError
from assay.measures.files import score_files
from assay.measures.parse import parse_measure
from assay.records import Item
from assay.report.views import measure_infos
from assay.results import Results, Trust
from assay.stats.compare import Comparing, summarise
from assay.stats.rows import Rows
from assay.trust import status_counts


def evaluate_runs(
    runs: Sequence[str | Path], qrels: str | Path, measures: Sequence[str], *, against: str = "baseline"
) -> Results:
    """Estimates of every run, and comparisons with the first (or of all pairs), on the judged queries."""
    names = [_name(Path(path)) for path in runs]
    if len(set(names)) < len(names):
        raise UsageError(
            "Two run files have the same name, so their results could not be told apart. Rename one."
        )
    if not measures:
        raise UsageError("Name at least one measure, such as -m nDCG@10.")
    parts, warnings = [], []
    for name, path in zip(names, runs, strict=True):
        found = score_files(path, qrels, measures)
        if found.unjudged:
            warnings.append(f"{name}: {len(found.unjudged)} queries without judgments are left out")
        parts.append(found.scores.select("item", *_about(name), "measure", "value", "status"))
    scores = pl.concat(parts)
    rows = Rows(scores, [Item(item_id, "") for item_id in scores["item"].unique(maintain_order=True)])
    parsed = [parse_measure(text) for text in measures]
    estimates, comparisons = summarise(rows, parsed, Comparing(names[0], against))
    return Results(
        study=Path(qrels).name,
        kind="runs",
        systems=names,
        arms=names,
        baseline=names[0] if len(names) > 1 else None,
        measures=measure_infos(parsed),
        by=[],
        scores=scores,
        estimates=estimates,
        comparisons=comparisons,
        verdicts=[],
        verdict=None,
        trust=Trust(
            status_counts(scores, parsed[0].name), warnings, {"qrels": str(qrels), "assay": assay.__version__}
        ),
    )


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".run").removesuffix(".trec").removesuffix(".txt")


def _about(name: str) -> list[pl.Expr]:
    return [
        pl.lit(name).alias("system"),
        pl.lit("{}").alias("factors"),
        pl.lit(name).alias("arm"),
        pl.lit(0, pl.Int64).alias("seed"),
    ]
