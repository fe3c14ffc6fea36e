"""Scores blocks: each value has a status that says how it came about."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import product

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import (
    FAILED,
    MISSING,
    NOT_APPLICABLE,
    PENDING,
    SCORED,
    STATUSES,
    UNJUDGED,
    Block,
)
from assay.core.errors import AssayError, PluginError
from assay.core.optional import PairMeasure
from assay.core.protocols import Measure
from assay.core.records import Status
from assay.core.registry import as_plugin_error
from assay.measures.declaration import cutoff_of, declaration_of, view_of
from assay.measures.marks import REVIEW, wants_review

SLACK = 1e-9  # rounding may take a sum this far beyond its range
STATUS = pl.Enum([status.value for status in Status])
BrokenMeasures = dict[tuple[str, str], str]  # why a measure could not be computed, by system and measure


def score_block(measure: Measure, block: Block) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Returns one value and one status per item. The value is NaN unless the status is scored or missing."""
    status = block.asked.copy()
    if declaration_of(measure).of_failures:
        status[status == FAILED] = SCORED
    if block.lacks(measure.needs):
        return np.full(len(status), np.nan), np.full_like(status, NOT_APPLICABLE)
    applies, found = _worked_out(measure, block)
    status[~applies] = NOT_APPLICABLE
    values = np.where(status == SCORED, found, np.nan)
    # a response that lacks a part; some measures also read a missing part as an answer
    empty = (status == SCORED) & block.empty(declaration_of(measure).may_be_blank)
    unknown = np.isnan(values) | _unseen(measure, block)
    if block.with_near_misses is not None and "labels" in measure.needs:
        unknown |= ~np.isclose(found, _worked_out(measure, block.with_near_misses)[1], equal_nan=True)
    unknown &= (status == SCORED) & ~empty
    status[unknown] = UNJUDGED if "labels" in measure.needs else NOT_APPLICABLE
    status[empty] = MISSING
    values[unknown] = np.nan
    values[empty] = np.nan if measure.absent is None else measure.absent
    return values, status


def _worked_out(measure: Measure, block: Block) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Returns where a measure applies, and its values. Errors in a measure are reported under its name."""
    with as_plugin_error(f"{measure.name} broke on {block.arm.name}"):
        applies = np.asarray(measure.applies(block), dtype=bool)
        values = np.asarray(measure.values(block), dtype=np.float64)
    if wrong := [each.shape for each in (applies, values) if each.shape != (len(block.items),)]:
        raise PluginError(f"{measure.name} gave {wrong[0]} values for {len(block.items)} items.")
    high = np.inf if measure.high is None else measure.high
    outside = applies & ((values < measure.low - SLACK) | (values > high + SLACK))
    if outside.any():
        worst = values[outside][0]
        raise PluginError(f"{measure.name} gave {worst:g}, outside its range {measure.low:g} to {high:g}.")
    return applies, values


def _unseen(measure: Measure, block: Block) -> NDArray[np.bool_]:
    """Returns True for items with an unjudged hit within the cut-off, if this makes their value unknown.

    In an open world such a hit always makes the value unknown. If the measure reads people's marks first and
    then labels of rules, only items that want a review become unknown. If unmarked hits counted as not
    relevant, a system whose hits nobody reviewed would have an unfair advantage.
    """
    view = view_of(measure)
    unknown = np.full(len(block.items), block.labels.world(view.label) == "open")
    if REVIEW in view.labels:
        unknown |= wants_review(block)
    if not unknown.any() or not {"hits", "labels"} <= measure.needs:
        return np.zeros(len(block.items), dtype=bool)
    gains = block.gains_in(view)
    grades, returned = gains.grades, gains.returned
    depth = min(cutoff_of(measure) or grades.shape[1], grades.shape[1])
    there = np.arange(depth) < returned[:, None]
    return np.asarray(unknown & (there & np.isnan(grades[:, :depth])).any(axis=1))


def _score_pair(
    measure: Measure, block: Block, every: Sequence[Block]
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Scores a block. A measure of two systems also reads the other system's block with the same factors."""
    if not isinstance(measure, PairMeasure):
        return score_block(measure, block)
    other = _counterpart(block, measure.against, every)
    if other is None:
        none = np.full(len(block.items), np.nan)
        return none, np.full(len(block.items), NOT_APPLICABLE, np.int8)
    values, status = score_block(measure, dataclasses.replace(block, beside=other))
    for code in (FAILED, PENDING):  # an item that the other system lacks cannot be compared
        status[(other.asked == code) & (status != NOT_APPLICABLE)] = code
    return np.where(status == SCORED, values, np.nan), status


def _counterpart(block: Block, system: str, every: Sequence[Block]) -> Block | None:
    """Returns another system's block on the same items and factors, with the same seed if there is one."""
    mine = block.arm.factors
    beside = [
        each
        for each in every
        if each.arm.system == system
        and each.item_ids == block.item_ids
        and all(mine[name] == value for name, value in each.arm.factors.items() if name in mine)
    ]
    same = [each for each in beside if each.seed == block.seed]
    return next(iter(same or beside), None)


def score_blocks(
    measures: Sequence[Measure], blocks: Iterable[Block], broken: BrokenMeasures | None = None
) -> pl.DataFrame:
    """Returns all scores as one table: item, system, factors, arm, seed, measure, value, status.

    If `broken` is given, a measure that raises an error is noted there, and only its own scores fail.
    """
    parts = []
    names = np.array([status.value for status in STATUSES])
    every = list(blocks)
    for block, measure in product(every, measures):
        try:
            with as_plugin_error(f"{measure.name} broke on {block.arm.name}"):
                values, status = _score_pair(measure, block, every)
        except AssayError as error:
            if broken is None:
                raise
            broken.setdefault((block.arm.system, measure.name), str(error))
            values = np.full(len(block.items), np.nan)
            status = np.where(block.asked == SCORED, FAILED, block.asked)
        parts.append(
            pl.DataFrame({"item": block.item_ids, "value": values, "status": names[status]}).select(
                "item",
                system=pl.lit(block.arm.system),
                factors=pl.lit(msgspec.json.encode(block.arm.factors, order="sorted").decode()),
                arm=pl.lit(block.arm.name),
                seed=pl.lit(block.seed, pl.Int64),
                measure=pl.lit(measure.name),
                value=pl.col("value").fill_nan(None),
                status=pl.col("status").cast(STATUS),
            )
        )
    return pl.concat(parts)


def withhold_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """Removes values and statuses of scores. Even a failure may tell raters which system it was."""
    return scores.with_columns(
        value=pl.lit(None, pl.Float64), status=pl.lit(Status.UNJUDGED.value).cast(STATUS)
    )
