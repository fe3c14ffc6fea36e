"""The pictures of a blinded scoring: tokens against accuracy, a dot a site, bars by site and category.

As elsewhere in the page, places across are percentages and the figures stand as text beside the picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from assay.kinds.answers.results import Point, SiteTokens
from assay.report.svg import COLOURS, HEIGHT, MARKERS, Axis, axis_over, dot
from assay.report.wording import number, printable

TOP, FOOT, SIDE, ROW = 8, 24, 36, 44  # pixels: air above, figures below and beside, one step of accuracy
SHIFT = 0.6  # of a row: how far dots of one row are moved apart, up and down together
DRAWN = 1500  # dots; of more points every second, third … is drawn
STEP, NEAR = 11, 1.5  # pixels and percent: dots nearer than this stand above each other
GOLDEN = 0.618033988749895  # its multiples spread evenly whatever their number

_OPEN = Markup('<svg class="plot {}" width="{}" height="{}" aria-hidden="true" focusable="false">')
_ACROSS = Markup('<line class="{}" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
_DOWN = Markup('<line class="{}" x1="{x:.2f}%" x2="{x:.2f}%" y1="{}" y2="{}"/>')
_BESIDE = Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>')
_BELOW = Markup('<text class="{}" x="{:.2f}%" y="{}" text-anchor="middle">{}</text>')
_POINT = Markup('<g class="{}"><title>{}</title>{}</g>')
_BAR = Markup('<rect class="{}" x="{:.2f}%" width="{:.2f}%" y="{:.1f}" height="{}"><title>{}</title></rect>')
_CLOSE = Markup("</svg>")


def model_styles(models: Sequence[str]) -> dict[str, str]:
    """A colour and a shape for each model, none of them a system's of the first two."""
    shapes = ["", *MARKERS]
    return {
        model: f"s{2 + place % (COLOURS - 2)} {shapes[place % len(shapes)]}".strip()
        for place, model in enumerate(models)
    }


def drawn_points(points: Sequence[Point]) -> Sequence[Point]:
    """The points that are drawn: all of them, or every second, third … of very many."""
    return points[:: -(-len(points) // DRAWN) or 1]


def scatter(points: Sequence[Point], styles: dict[str, str]) -> Markup:
    """A dot a question and model: to the right more tokens, above better answers; zero drawn both ways."""
    across = axis_over((point.tokens for point in points), zero=True)
    if across is None:
        return Markup()
    steps = [round(point.accuracy) for point in points]
    low, high = min(-1, *steps), max(1, *steps)
    high_px = ROW * (high - low + 1)

    def y(value: float) -> float:
        return TOP + ROW * (high - value + 0.5)

    levels = range(low, high + 1)
    values = Markup().join(_BESIDE.format(SIDE - 8, y(level) + 4, f"{level:+d}" if level else "0")
                           for level in levels)  # fmt: skip
    ground = Markup().join(_ACROSS.format("grid" if level else "zero", y=y(level)) for level in levels)
    ground += _upright(across, TOP + high_px)
    dots = Markup().join(
        _dot(point, across, y(point.accuracy) + ROW * SHIFT * ((place * GOLDEN) % 1 - 0.5), styles)
        for place, point in enumerate(drawn_points(points))
    )
    whole = TOP + high_px + FOOT
    beside = _OPEN.format("values", SIDE, whole) + values + _CLOSE
    return beside + _OPEN.format("scatter", "100%", whole) + ground + dots + _CLOSE


def _dot(point: Point, across: Axis, y: float, styles: dict[str, str]) -> Markup:
    style = styles.get(point.model, "s7")
    told = (
        f"{point.item_id}, {point.model}: tokens {number(point.tokens, signed=True)}, "
        f"accuracy {number(point.accuracy, signed=True)}"
    )
    return _POINT.format(style, printable(told), dot(across.at(point.tokens), style, round(y, 1)))


def _upright(across: Axis, bottom: float) -> Markup:
    """Lines down at round numbers, zero stronger, figures below; a narrow page leaves the finer ones out."""
    drawn = Markup()
    for tick, fine in fine_ticks(across):
        drawn += _DOWN.format("zero" if tick == 0 else "grid", TOP, bottom, x=across.at(tick))
        drawn += _BELOW.format("fine" if fine else "", across.at(tick), bottom + 17, f"{tick:g}")
    return drawn


def fine_ticks(axis: Axis) -> list[tuple[float, bool]]:
    """The ticks of an axis and, for a picture as wide as the page, those between them."""
    coarse = axis.ticks
    if len(coarse) < 2:
        return [(tick, False) for tick in coarse]
    step = (coarse[1] - coarse[0]) / (5 if f"{coarse[1] - coarse[0]:e}".startswith("5") else 2)
    places = range(math.ceil(axis.low / step), math.floor(axis.high / step) + 1)
    known = {round(tick / step) for tick in coarse}
    return [(round(place * step, 12), place not in known) for place in places]


def strip(sites: Sequence[SiteTokens], style: str, median: float) -> Markup:
    """A dot a site by its change in percent; those that would hide each other stand above each other."""
    across = axis_over((site.delta_pct for site in sites), zero=True)
    if across is None:
        return Markup()
    floors: list[float] = []  # where the last dot of each floor stands
    placed: list[tuple[SiteTokens, int]] = []
    for site in sorted(sites, key=lambda one: one.delta_pct):
        x = across.at(site.delta_pct)
        floor = next((at for at, last in enumerate(floors) if x - last >= NEAR), len(floors))
        floors[floor:floor + 1] = [x]  # fmt: skip
        placed.append((site, floor))
    bottom = TOP + STEP * len(floors) + 6
    drawn = _upright(across, bottom)
    drawn += _DOWN.format("target", TOP, bottom, x=across.at(median))
    for site, floor in placed:
        told = printable(f"{site.site_id}: {site.delta_pct:+.1f} %")
        mark = dot(across.at(site.delta_pct), style, bottom - 6 - STEP * floor)
        drawn += _POINT.format(style, told, mark)
    return _OPEN.format("strip", "100%", bottom + FOOT) + drawn + _CLOSE


def site_bar(site: SiteTokens, across: Axis, style: str) -> Markup:
    """One site's change in percent, from zero to where it stands."""
    start, end = sorted((across.at(0.0), across.at(site.delta_pct)))
    told = printable(f"{site.site_id}: {site.delta_pct:+.1f} %")
    zero = _DOWN.format("zero", 0, HEIGHT, x=across.at(0.0))
    bar = _BAR.format(f"part {style}", start, end - start, 8, HEIGHT - 16, told)
    return _OPEN.format("", "100%", HEIGHT) + bar + zero + _CLOSE


def count_bars(counts: Sequence[tuple[str, int, str]], most: int) -> Markup:
    """One bar under the other, each a count in the colour of its condition (its name, count and style)."""
    thick = 9
    drawn = Markup()
    for place, (name, count, style) in enumerate(counts):
        told = printable(f"{name}: {count}")
        wide = 100 * count / most if most else 0.0
        drawn += _BAR.format(f"part {style}", 0.0, wide, 4 + place * (thick + 2), thick, told)
    return _OPEN.format("", "100%", 8 + len(counts) * (thick + 2)) + drawn + _CLOSE
