"""Judgments resolved to labels by declared precedence: measures read labels, agreement reads judgments.

The study lists its judges best first, and only they count. For one item, label, target and span the best
judge's judgment is the label, whether it speaks of all arms and seeds or of one; the same judge's word on one
arm comes before its word on all, and its latest word before an earlier one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence, Set

import msgspec
import polars as pl

from assay.core.block import LABEL_COLUMNS, Labels
from assay.core.dataset import digest
from assay.core.records import Judgment


def resolve(judgments: Iterable[Judgment], precedence: Sequence[str], closed: Set[str]) -> Labels:
    """Labels from the judgments of the judges that the precedence names; `closed` are labels by name."""
    rank = {judge: place for place, judge in enumerate(precedence)}
    counted = [judgment for judgment in judgments if judgment.judge in rank]
    latest = {
        (each.judge, each.item_id, each.label, each.target, each.span, each.arm, each.seed): each
        for each in counted
    }
    rows = [
        (
            each.item_id,
            each.label,
            each.target,
            each.span and each.span.start,
            each.span and each.span.end,
            each.arm,
            each.seed,
            each.grade,
            each.category,
            rank[each.judge],
        )
        for each in latest.values()
    ]
    open_labels = sorted({judgment.label for judgment in counted} - closed)
    return Labels(
        pl.DataFrame(rows, schema=LABEL_COLUMNS, orient="row"),
        frozenset(closed),
        {label: _pool(judgment for judgment in counted if judgment.label == label) for label in open_labels},
    )


def supposing(labels: Labels, judgments: Iterable[Judgment]) -> Labels:
    """The labels as they would be with further judgments on what nobody has judged."""
    rows = [
        {"item": each.item_id, "label": each.label, "target": each.target, "grade": each.grade}
        | {"category": each.category, "rank": len(labels.frame)}
        for each in judgments
    ]
    more = pl.DataFrame(rows, schema=LABEL_COLUMNS)
    return dataclasses.replace(labels, frame=pl.concat([labels.frame, more]))


def _pool(judgments: Iterable[Judgment]) -> str:
    """A hash of what was looked at, whatever was found there."""
    looked = {msgspec.json.encode([each.item_id, each.target, each.span]) for each in judgments}
    return digest(sorted(looked))
