"""Scores and compares TREC run files without a study, and exports a study as run files and qrels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import assay
from assay.core.block import SCORED
from assay.core.errors import DataError, Problem, UsageError
from assay.core.records import Item
from assay.core.results import Results, TrustSummary
from assay.measures.files import run_name, score_files
from assay.measures.marks import wants_review
from assay.measures.parse import parse_measure
from assay.measures.score import BrokenMeasures
from assay.pipeline.warnings import broken_measure_warnings, check_something_computed, status_counts
from assay.report.views import measure_infos
from assay.report.wording import file_stem, quantity
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows

if TYPE_CHECKING:
    from assay.core.block import Block
    from assay.pipeline.evaluation import Evaluation


def evaluate_runs(
    runs: Sequence[str | Path],
    qrels: str | Path,
    measures: Sequence[str],
    *,
    against: str = "baseline",
    missing: str = "zero",
) -> Results:
    """Scores run files on the judged queries, and compares the runs.

    With `against="baseline"` each run is compared with the first one, with "all" in all pairs, with "none"
    not at all. A judged query that is not in a run counts as 0, as with the option -c of trec_eval. With
    `missing="open"` it counts as not run if another run has it, so that runs on different queries are not
    compared.
    """
    names = [run_name(Path(path)) for path in runs]
    if len(set(names)) < len(names):
        raise UsageError(
            "Two run files have the same name, so their results could not be told apart. Rename one."
        )
    if not measures:
        raise UsageError("Name at least one measure, such as -m nDCG@10.")
    parts, warnings, broken = list[pl.DataFrame](), list[str](), BrokenMeasures()
    for name, path in zip(names, runs, strict=True):
        found = score_files(path, qrels, measures)
        warnings += [each for each in (*found.inapplicable, found.cut) if each and each not in warnings]
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
    estimates, comparisons = summarise(rows, parsed, ComparisonSettings(names[0], against))
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
    """Marks a query that a run lacks as not run, if another run has this query."""
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


QRELS, LABEL = "qrels.txt", "relevance"


@dataclass(frozen=True)
class TrecFiles:
    """The contents of TREC files by file name, and notes for people who read the files."""

    files: dict[str, bytes]
    notes: list[str] = field(default_factory=list)


def export_trec(evaluation: Evaluation) -> TrecFiles:
    """Exports a study as TREC files for trec_eval, ranx or ir_measures, which give the study's scores.

    There is one run file per arm and seed. There is one qrels file, or one per run if arms searched different
    corpora. Items that failed or were not asked are in no file, because another program would count them as
    empty answers. A note says how many items are left out.
    """
    found = TrecFiles({})
    names = _names(evaluation.blocks)
    judged = {name: _qrels(block) for name, block in names.items()}
    shared = len(set(judged.values())) == 1
    if any(block.labels.world(LABEL) == "open" for block in names.values()):
        found.notes.append("qrels: what nobody judged is not in them, and counts elsewhere as not relevant")
    if any(wants_review(block).any() for block in names.values()):
        what = "qrels: what rules find; people's marks are not in them, and what they have yet to judge"
        found.notes.append(f"{what} counts elsewhere as not relevant")
    for name, block in names.items():
        found.files[f"{name}.run"] = _run(name, block, found.notes)
        found.files[QRELS if shared else f"{name}.{QRELS}"] = judged[name]
    return found


def _names(blocks: Sequence[Block]) -> dict[str, Block]:
    """Returns the blocks by file name. The name has the seed if there are several, and a number if needed."""
    seeds = Counter(block.arm.name for block in blocks)
    named: dict[str, Block] = {}
    for block in blocks:
        stem = file_stem(block.arm.name) + (f"-seed{block.seed}" if seeds[block.arm.name] > 1 else "")
        numbered = (f"{stem}-{number}" for number in count(1))
        named[next(name for name in chain([stem], numbered) if name not in named)] = block
    return named


def _run(name: str, block: Block, notes: list[str]) -> bytes:
    ranking = block.ranking.join(_places(block), on="item", how="left").sort(
        "place", "score", "doc", descending=[False, True, True]
    )
    if _tied_by_rounding(ranking):
        ranking = ranking.with_columns(score=pl.col("score").rank("dense").over("item").cast(pl.Float64))
        notes.append(f"{name}.run: scores are too close for single precision, so ranks replace them")
    answered = int((block.asked == SCORED).sum())
    if answered < len(block.items):
        left = quantity(len(block.items) - answered, "item")
        notes.append(f"{name}.run: {left} failed or not asked, and not in the file")
    ranked = ranking.select(
        "item", q=pl.lit("Q0"), doc="doc", rank=pl.int_range(1, pl.len() + 1).over("item"), score="score"
    ).with_columns(tag=pl.lit(name))
    return _lines(ranked)


def _places(block: Block) -> pl.DataFrame:
    """Returns the items with their positions in the dataset."""
    return pl.DataFrame({"item": block.item_ids}, schema={"item": pl.String}).with_row_index("place")


def _tied_by_rounding(ranking: pl.DataFrame) -> bool:
    """Whether different scores become equal in single precision, which trec_eval uses to compare scores."""
    single = ranking["score"].to_numpy().astype(np.float32)
    exact = ranking.select("item", "score").n_unique()
    return ranking.select("item").with_columns(score=pl.Series(single)).n_unique() < exact


def _qrels(block: Block) -> bytes:
    grades = block.relevance.drop_nulls("grade")
    if grades["grade"].round(0).ne(grades["grade"]).any():
        what = "grades are not all whole numbers, and qrels hold no others"
        raise DataError(
            Problem(what, fix="Declare whole grades, or read the scores: assay report --format parquet.")
        )
    ordered = grades.join(_places(block), on="item").sort("place", "doc")
    return _lines(ordered.select("item", q=pl.lit("0"), doc="doc", grade=pl.col("grade").cast(pl.Int64)))


def _lines(rows: pl.DataFrame) -> bytes:
    for column in ("item", "doc"):
        spaced = rows.filter(pl.col(column).str.contains(r"\s"))[column]
        if len(spaced):
            what = f"the id {spaced[0]!r} holds a blank, and TREC files part their columns by blanks"
            raise DataError(Problem(what, fix="Give it an id without one."))
    return rows.write_csv(separator=" ", include_header=False, quote_style="never").encode()
