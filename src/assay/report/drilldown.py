"""The per-item part of the page: one compact JSON value, every text stored once, cut to fit a budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from assay.core.records import Status
from assay.core.results import ItemView, Results
from assay.report.flips import GRAVITY, Grid, counterparts
from assay.report.review import SEMANTIC, WRONG, mark_word
from assay.report.svg import style_of
from assay.report.wording import shorten, wants_review

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
    """JSON that may stand in a script element: nothing in it can end the element or open a comment."""
    return msgspec.json.encode(value).decode().translate(str.maketrans(_ESCAPES))


def item_data(results: Results, grid: Grid, room: int) -> tuple[str, int]:
    """The item data as script-safe JSON of so many bytes, and at how many characters snippets were cut."""

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
    """A stretch of the text around what was expected, and where in it that stands (nothing: [])."""
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
    """A value with as many digits as anybody reads; whole numbers without a point."""
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def _once(lists: list[list[list[Any]]]) -> list[list[list[Any]] | int]:
    """Each list of hits once; one that is the same as an earlier one is told by the place of that."""
    return [lists.index(each) if each and lists.index(each) < at else each for at, each in enumerate(lists)]


def _trimmed(values: list[Any], least: int) -> list[Any]:
    """The values without the empty ones at their end, but never fewer than so many."""
    while len(values) > least and values[-1] is None:
        values.pop()
    return values


@dataclass
class _ItemPacker:
    """Packs items as arrays; a hit is [document and text, score, grade, needle, mark, reason, ruled].

    The needle is where the expected text stands, the mark what a review made of the hit, ruled whether a rule
    finds what a person marked. Reasons are stored once, as texts are. What is empty at the end is left out.
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
            unwanted = item.expects == "nothing" and (one.grade or 0) > 0  # by the rule that names it
            word = UNWANTED if unwanted else mark_word(self.results.review, one, rank, wanted)
            reason = self.reasons.setdefault(one.reason, len(self.reasons)) if one.reason else None
            hit = [self._place(one.doc_id, text), float(f"{one.score:.4g}"), one.grade]
            ruled = 1 if one.ruled and word in (SEMANTIC, WRONG) else None
            hits.append(_trimmed([*hit, needle or None, word, reason, ruled], len(hit)))
        return hits

    def _score(self, item: ItemView, arm: str, measure: str) -> list[Any] | float | None:
        """The value alone where it was scored, which is most of them; else value and status."""
        cell = self.grid.get((arm, measure), {}).get(item.item_id)
        if cell is None:
            return None
        value = None if cell.value is None else _brief(cell.value)
        if cell.status == Status.SCORED and value is not None:
            return value
        return [value, GRAVITY.index(Status(cell.status))]

    def _place(self, doc_id: str, text: str) -> int:
        return self.pool.setdefault((doc_id, text), len(self.pool))
