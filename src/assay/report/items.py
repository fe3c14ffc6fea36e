"""Compares items one by one: each arm's score, and what changed against the baseline, worst first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import polars as pl

from assay.core.records import GRAVEST_FIRST, Arm, Factors, Status
from assay.core.results import ItemView, MeasureInfo, Results
from assay.report.charts import style_of
from assay.report.tables import SEMANTIC, WRONG, mark_word
from assay.report.wording import shorten, wants_review

if TYPE_CHECKING:
    from collections.abc import Mapping


GRAVITY = tuple(reversed(GRAVEST_FIRST))
COUNTED = (Status.SCORED, Status.MISSING)


class ItemScore(NamedTuple):
    """The score of one item for one arm and measure, averaged over seeds."""

    value: float | None
    status: str


Grid = dict[tuple[str, str], dict[str, ItemScore]]  # (arm, measure) -> item -> cell


@dataclass(frozen=True)
class Flip:
    """An item whose score differs between the baseline and an arm."""

    item: ItemView
    before: float
    after: float
    gain: float  # positive is better, also for measures where lower is better


@dataclass(frozen=True)
class Changes:
    """The items that changed between the baseline and one arm on one measure."""

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
    """Returns the scores by arm and measure, then by item."""
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
    """Returns the baseline arm that each other arm is compared with."""
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
    """Returns, for each arm, what changed against the baseline on the study's first measure."""
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


# ----------------------------------------------------------------------------------------------

UNWANTED = "must not come back"
SNIPPETS = (240, 200, 165, 135, 110, 90, 70, 50, 0)  # characters of a hit's text, the longest that fits
_ESCAPES: dict[str, str | int | None] = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def script_safe(value: Any) -> str:
    """Returns JSON for a script element. Nothing in it can end the element or open a comment."""
    return msgspec.json.encode(value).decode().translate(str.maketrans(_ESCAPES))


def item_data(results: Results, grid: Grid, room: int) -> tuple[str, int]:
    """Returns the item data as JSON, and the length at which snippets are cut.

    The length is chosen so that the JSON has at most `room` bytes, if that is possible.
    """

    def packed(limit: int) -> tuple[str, int]:
        text = script_safe(_ItemPacker(results, grid, limit).value())
        return text, len(text.encode())

    most, least = SNIPPETS[0], SNIPPETS[-1]
    text, full = packed(most)
    if full <= room:
        return text, most
    shortest, base = packed(least)
    for limit in SNIPPETS[1:-1]:
        # Size grows ever slower with the limit, so the straight line between the two ends is a lower bound.
        if base + (full - base) * limit / most > room:
            continue
        text, size = packed(limit)
        if size <= room:
            return text, limit
    return shortest, least


def snippet(text: str, limit: int, needles: list[str]) -> tuple[str, list[int]]:
    """Returns a part of the text around what was expected, and the position of the expected text in it.

    The position is [] if the expected text is not there.
    """
    line = " ".join(text.split())
    found = next((needle for needle in needles if needle in line and needle != line), None)
    if not limit or found is None:
        return shorten(line, limit) if limit else "", []
    found = found[:limit]
    at = line.index(found)
    start = max(0, at - (limit - len(found)) // 2) if len(line) > limit else 0
    lead = "…" if start else ""
    tail = "…" if start + limit < len(line) else ""
    mark = len(lead) + at - start
    return f"{lead}{line[start : start + limit]}{tail}", [mark, mark + len(found)]


def _brief(value: float) -> float:
    """Rounds a value to six digits. A whole number is written without a decimal point."""
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _once(lists: list[list[list[Any]]]) -> list[list[list[Any]] | int]:
    """Replaces each list of hits that repeats an earlier list by the index of the earlier list."""
    return [lists.index(each) if each and lists.index(each) < at else each for at, each in enumerate(lists)]


def _trimmed(values: list[Any], least: int) -> list[Any]:
    """Removes empty values at the end, but leaves at least `least` values."""
    while len(values) > least and values[-1] is None:
        values.pop()
    return values


@dataclass
class _ItemPacker:
    """An object that packs items as arrays.

    A hit is [document and text, score, grade, needle, mark, reason, ruled]. The needle is the position of the
    expected text. The mark is what a review made of the hit. `ruled` is 1 if a rule finds a passage that a
    person marked. Reasons and texts are stored once. Empty values at the end are left out.
    """

    results: Results
    grid: Grid
    limit: int
    pool: dict[tuple[str, str], int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)

    def value(self) -> dict[str, Any]:
        results = self.results
        arms = {arm: index for index, arm in enumerate(results.arms)}
        partner = counterparts(results)
        rows = [self._item(item) for item in results.items]
        return {
            "arms": results.arms,
            "styles": [style_of(results, arm) for arm in results.arms],
            "partner": [arms[partner[arm]] if arm in partner else -1 for arm in results.arms],
            "measures": [[m.name, m.better, m.unit] for m in results.measures],
            "statuses": [str(status) for status in GRAVITY],
            "pool": [list(key) for key in self.pool],
            "reasons": list(self.reasons),
            "items": rows,
        }

    def _item(self, item: ItemView) -> list[Any]:
        needles = [" ".join(one.text.split()) for one in item.expected if one.text.strip()]
        return [
            item.item_id,
            item.text,
            item.tags,
            item.expectation,
            [
                [self._place(one.target, shorten(one.text, 2 * self.limit)), one.grade]
                for one in item.expected
            ],
            _once([self._hits(item, arm, needles) for arm in self.results.arms]),
            [item.faults.get(arm) for arm in self.results.arms],
            [[self._score(item, arm, m.name) for m in self.results.measures] for arm in self.results.arms],
            [item.took(arm) for arm in self.results.arms],
            item.sufficient,
        ]

    def _hits(self, item: ItemView, arm: str, needles: list[str]) -> list[list[Any]]:
        hits = []
        wanted = wants_review(item)
        for rank, one in enumerate(item.returned.get(arm, [])):
            text, needle = snippet(one.text, self.limit, needles)
            unwanted = item.expects == "nothing" and (one.grade or 0) > 0  # by the rule that names the hit
            word = UNWANTED if unwanted else mark_word(self.results.review, one, rank, wanted)
            reason = self.reasons.setdefault(one.reason, len(self.reasons)) if one.reason else None
            hit = [self._place(one.doc_id, text), float(f"{one.score:.4g}"), one.grade]
            ruled = 1 if one.ruled and word in (SEMANTIC, WRONG) else None
            hits.append(_trimmed([*hit, needle or None, word, reason, ruled], len(hit)))
        return hits

    def _score(self, item: ItemView, arm: str, measure: str) -> list[Any] | float | None:
        """Returns only the value for most scores. For the others returns value and status."""
        cell = self.grid.get((arm, measure), {}).get(item.item_id)
        if cell is None:
            return None
        value = None if cell.value is None else _brief(cell.value)
        if cell.status == Status.SCORED and value is not None:
            return value
        return [value, GRAVITY.index(Status(cell.status))]

    def _place(self, doc_id: str, text: str) -> int:
        return self.pool.setdefault((doc_id, text), len(self.pool))
