"""Item by item: each arm's score, and what changed against the baseline, worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from assay.core.records import GRAVEST_FIRST, Arm, Factors, Status
from assay.core.results import ItemView, MeasureInfo, Results

if TYPE_CHECKING:
    from collections.abc import Mapping

GRAVITY = tuple(reversed(GRAVEST_FIRST))
COUNTED = (Status.SCORED, Status.MISSING)


class ItemScore(NamedTuple):
    """One item's score under one arm and measure, seeds averaged."""

    value: float | None
    status: str


Grid = dict[tuple[str, str], dict[str, ItemScore]]  # (arm, measure) -> item -> cell


@dataclass(frozen=True)
class Flip:
    """An item whose score differs between the baseline and an arm."""

    item: ItemView
    before: float
    after: float
    gain: float  # positive is better, whichever way the measure points


@dataclass(frozen=True)
class Changes:
    """Everything that changed between the baseline and one arm on one measure."""

    arm: str
    baseline: str
    measure: MeasureInfo
    flips: list[Flip]  # worst first
    same: int
    unpaired: int  # items without a score on both sides

    @property
    def worse(self) -> int:
        return sum(flip.gain < 0 for flip in self.flips)

    @property
    def better(self) -> int:
        return len(self.flips) - self.worse


def score_grid(results: Results) -> Grid:
    """Scores by arm and measure, then by item."""
    rank = {str(status): index for index, status in enumerate(GRAVITY)}
    frame = (
        results.scores.with_columns(
            pl.col("value").cast(pl.Float64).fill_nan(None),
            pl.col("status").cast(pl.String).replace_strict(rank, return_dtype=pl.Int8),
        )
        .group_by("arm", "measure", "item", maintain_order=True)
        .agg(pl.col("value").mean(), pl.col("status").max())
    )
    grid: Grid = {}
    for arm, measure, item, value, status in frame.iter_rows():
        grid.setdefault((arm, measure), {})[item] = ItemScore(value, GRAVITY[status])
    return grid


def counterparts(results: Results) -> dict[str, str]:
    """For each arm other than the baseline's, the baseline arm it is compared with."""
    made: dict[str, Arm] = {one.name: one for one in (Arm(e.system, e.factors) for e in results.estimates)}
    arms = {name: made.get(name, Arm(name)) for name in results.arms}
    bases = {name: arm for name, arm in arms.items() if results.baseline in (name, arm.system)}
    found: dict[str, str] = {}
    for name, arm in arms.items():
        partner = next((base for base, other in bases.items() if _agree(arm.factors, other.factors)), None)
        if name not in bases and partner is not None:
            found[name] = partner
    return found


def changes(results: Results, grid: Grid | None = None) -> list[Changes]:
    """What changed against the baseline on the study's first measure, one entry an arm."""
    if not results.measures or not results.items:
        return []
    measure = results.measures[0]
    grid = score_grid(results) if grid is None else grid
    return [
        _changes(results.items, measure, (arm, base), grid) for arm, base in counterparts(results).items()
    ]


def _changes(items: list[ItemView], measure: MeasureInfo, pair: tuple[str, str], grid: Grid) -> Changes:
    arm, base = pair
    after, before = grid.get((arm, measure.name), {}), grid.get((base, measure.name), {})
    sign = 1 if measure.better == "higher" else -1
    flips: list[Flip] = []
    same = unpaired = 0
    for item in items:
        new, old = _value(after, item.item_id), _value(before, item.item_id)
        if new is None or old is None:
            unpaired += 1
        elif new == old:
            same += 1
        else:
            flips.append(Flip(item, old, new, sign * (new - old)))
    flips.sort(key=lambda flip: flip.gain)
    return Changes(arm, base, measure, flips, same, unpaired)


def _value(cells: Mapping[str, ItemScore], item_id: str) -> float | None:
    cell = cells.get(item_id)
    return cell.value if cell is not None and cell.status in COUNTED else None


def _agree(one: Factors, other: Factors) -> bool:
    return all(other[key] == value for key, value in one.items() if key in other)
