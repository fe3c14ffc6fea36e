"""What a study asked and how it was judged, as TREC files: for trec_eval, ranx, ir_measures and other eyes.

Scoring the files gives what the study scored, item by item. What failed or was not asked is in no file, and
is told: another program would take its absence for an empty answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from assay.core.block import SCORED
from assay.core.errors import DataError, Problem
from assay.measures.marks import wants_review
from assay.report.wording import file_stem, quantity

if TYPE_CHECKING:
    from assay.core.block import Block
    from assay.pipeline.evaluation import Evaluation

QRELS, LABEL = "qrels.txt", "relevance"


@dataclass(frozen=True)
class TrecFiles:
    """The files by name, and what a reader of them should know."""

    files: dict[str, bytes]
    notes: list[str] = field(default_factory=list)


def export_trec(evaluation: Evaluation) -> TrecFiles:
    """A run file an arm and seed; one file of qrels, or one a run where arms searched different corpora."""
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
    """A file name for each block: its arm, its seed where there are several, a number where two are alike."""
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
        notes.append(f"{name}.run: scores lie too close for single precision, so places stand for them")
    answered = int((block.asked == SCORED).sum())
    if answered < len(block.items):
        left = quantity(len(block.items) - answered, "item")
        notes.append(f"{name}.run: {left} failed or not asked, and not in the file")
    ranked = ranking.select(
        "item", q=pl.lit("Q0"), doc="doc", rank=pl.int_range(1, pl.len() + 1).over("item"), score="score"
    ).with_columns(tag=pl.lit(name))
    return _lines(ranked)


def _places(block: Block) -> pl.DataFrame:
    """The items in the order of the data set."""
    return pl.DataFrame({"item": block.item_ids}, schema={"item": pl.String}).with_row_index("place")


def _tied_by_rounding(ranking: pl.DataFrame) -> bool:
    """Whether scores that differ are the same in single precision, in which trec_eval compares them."""
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
