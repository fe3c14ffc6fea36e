"""The judge stage: judgments of every judge, resolved to labels by declared precedence.

The study lists its judges best first. For one item, label, target and arm the best judge's latest judgment
is the label; a judgment that another one replaces does not count. Measures read labels, agreement reads
judgments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import polars as pl

from assay.datasets.dataset import digest
from assay.measures.block import LABEL_COLUMNS, Labels
from assay.records import Judgment


def resolve(judgments: Iterable[Judgment], precedence: Sequence[str], worlds: Sequence[str]) -> Labels:
    """Labels from judgments; judges that the precedence does not name come last, in order of appearance."""
    standing = _standing(judgments)
    rank = {judge: place for place, judge in enumerate(precedence)}
    best: dict[tuple[str, str, str | None, str | None], Judgment] = {}
    for judgment in sorted(standing, key=lambda each: rank.get(each.judge, len(rank)), reverse=True):
        best[judgment.item_id, judgment.label, judgment.target, judgment.arm] = judgment
    columns = {
        "item": [judgment.item_id for judgment in best.values()],
        "label": [judgment.label for judgment in best.values()],
        "target": [judgment.target for judgment in best.values()],
        "arm": [judgment.arm for judgment in best.values()],
        "grade": [judgment.grade for judgment in best.values()],
        "category": [judgment.category for judgment in best.values()],
    }
    world = "closed" if "closed" in worlds or not worlds else "open"
    return Labels(
        pl.DataFrame(columns, schema=LABEL_COLUMNS), world, _pool(standing) if world == "open" else None
    )


def _standing(judgments: Iterable[Judgment]) -> list[Judgment]:
    listed = list(judgments)
    replaced = {judgment.replaces for judgment in listed if judgment.replaces is not None}
    return [
        judgment
        for judgment in listed
        if judgment.judgment_id is None or judgment.judgment_id not in replaced
    ]


def _pool(judgments: Sequence[Judgment]) -> str:
    seen = sorted({(judgment.item_id, judgment.label, judgment.target or "") for judgment in judgments})
    return digest(msgspec.json.encode(each) for each in seen)
