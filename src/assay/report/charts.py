"""Charts of sections: lines over x with their bands, points over x and y, a strip of points along x.

Positions across are percentages, so that a chart fills its place at any width; the figures along its sides
stand as text. Lines and bands stand in a drawing of their own that is stretched, with strokes that are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from assay.core.results import Results
from assay.core.section import Chart, ChartPoint, ChartSeries
from assay.report.svg import COLOURS, MARKERS, Axis, axis_over, dot, style_of
from assay.report.wording import printable

TOP, HIGH, FOOT, SIDE = 10, 260, 24, 44  # pixels: air above, lines, figures below, figures beside
FIRST, LAST, BEYOND = 2.0, 82.0, 95.0  # percent: x of 0, the largest x, without a limit
APART, ROOM = 1.25, 8.0  # percent: between lines where there is no limit, and for all of them together
EDGE = 97.0  # percent: the largest x where there is nothing beyond it
ROW, SHIFT = 44, 0.6  # pixels of one step up in a scatter; of it, how far points of one step are moved apart
MOST = 1500  # points of a scatter; of more, every second, third … is drawn
STEP, NEAR = 11, 1.5  # pixels and percent: points of a strip nearer than this stand above each other
GOLDEN = 0.618033988749895  # its multiples spread evenly whatever their number

_OPEN = Markup('<svg class="plot {}" width="{}" height="{}" aria-hidden="true" focusable="false">')
_CLOSE = Markup("</svg>")
_ACROSS = Markup('<line class="{}" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
_DOWN = Markup('<line class="{}" x1="{x:.2f}%" x2="{x:.2f}%" y1="{}" y2="{}"/>')
_BESIDE = Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>')
_BELOW = Markup('<text class="{}" x="{:.2f}%" y="{}" text-anchor="middle">{}</text>')
_STRETCHED = Markup('<svg viewBox="0 0 100 {h}" width="100%" height="{h}" preserveAspectRatio="none">')
_GROUP = Markup('<g class="{}">{}</g>')
_BAND = Markup('<polygon class="band" points="{}"/>')
_LINE = Markup('<polyline class="{}" points="{}"/>')
_WHISKER = Markup('<line class="reach" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1:.1f}" y2="{2:.1f}"/>')
_POINT = Markup("<g><title>{}</title>{}</g>")
_RING = Markup('<circle class="ring" cx="{:.2f}%" cy="{:.1f}" r="10"/>')


def chart_svg(results: Results, chart: Chart) -> Markup:
    """The drawing of a chart; nothing where it has no point."""
    styles = [style for _, style in legend(results, chart)]
    match chart.form:
        case "lines":
            return _lines(chart, styles)
        case "scatter":
            return _scatter(chart, styles)
        case "strip":
            return _strip(chart, styles)


def legend(results: Results, chart: Chart) -> list[tuple[str, str]]:
    """The name of each series with its colour and shape: a system's own, or one that the first two lack."""
    shapes = ["", *MARKERS]
    return [
        (
            series.name,
            style_of(results, series.system)
            if series.system
            else f"s{2 + place % (COLOURS - 2)} {shapes[place % len(shapes)]}".strip(),
        )
        for place, series in enumerate(chart.series)
    ]


# ---------------------------------------------------------------------------------------- lines


def _lines(chart: Chart, styles: Sequence[str]) -> Markup:
    """Two drawings side by side: the figures of the values, and the lines."""
    ends = (end for series in chart.series for at in series.points for end in (at.y, at.low, at.high))
    axis = axis_over(ends)
    if axis is None:
        return Markup()
    ground = _Lines(chart, axis)
    drawn = list(zip(chart.series, styles, strict=True))
    flat = Markup().join(_GROUP.format(style, ground.line(place)) for place, (_, style) in enumerate(drawn))
    dots = Markup().join(
        _GROUP.format(style, ground.dots(place, style)) for place, (_, style) in enumerate(drawn)
    )
    whole = TOP + HIGH + FOOT
    values = Markup().join(_BESIDE.format(SIDE - 8, ground.y(tick) + 4, f"{tick:g}") for tick in axis.ticks)
    beside = _OPEN.format("values", SIDE, whole) + values + _CLOSE
    stretched = _STRETCHED.format(h=whole) + flat + _CLOSE
    return beside + _OPEN.format("lines", "100%", whole) + ground.drawing() + stretched + dots + _CLOSE


class _Lines:
    """Where everything stands in a chart of lines."""

    def __init__(self, chart: Chart, axis: Axis) -> None:
        self.chart, self.axis = chart, axis
        self.most = max((place for place in chart.breaks if place is not None), default=1.0)
        self.end = LAST if None in chart.breaks else EDGE

    def x(self, x: float | None, series: int | None = None) -> float:
        """Where x stands; without a limit, lines stand side by side, or their intervals would hide."""
        if x is not None:
            return FIRST + (self.end - FIRST) * x / self.most
        count = len(self.chart.series)
        place = 0.0 if series is None else series - (count - 1) / 2
        return BEYOND + place * min(APART, ROOM / count)

    def y(self, value: float) -> float:
        return TOP + HIGH * (1 - (value - self.axis.low) / (self.axis.high - self.axis.low))

    def drawing(self) -> Markup:
        """The grid, the places along x, and the target where it lies inside."""
        drawn = Markup().join(_ACROSS.format("grid", y=self.y(tick)) for tick in self.axis.ticks)
        for place in self.chart.breaks:
            drawn += _DOWN.format("grid", TOP, TOP + HIGH, x=self.x(place))
            drawn += _BELOW.format("", self.x(place), TOP + HIGH + 17, "∞" if place is None else f"{place:g}")
        target = self.chart.target
        if target is not None and self.axis.low < target < self.axis.high:
            drawn += _ACROSS.format("target", y=self.y(target))
        return drawn

    def line(self, series: int) -> Markup:
        """Band and line as far as there is a limit, and a dashed way to where there is none."""
        points = self.chart.series[series].points
        bounded = [at for at in points if at.x is not None]
        beyond = [at for at in points if at.x is None]
        drawn = Markup()
        above = [(self.x(at.x), self.y(at.high)) for at in bounded if at.high is not None]
        below = [(self.x(at.x), self.y(at.low)) for at in bounded if at.low is not None]
        if len(above) == len(below) > 1:
            drawn += _BAND.format(_path([*above, *reversed(below)]))
        drawn += _LINE.format("course", _path([(self.x(at.x), self.y(at.y)) for at in bounded]))
        if bounded and beyond:
            ends = (bounded[-1], beyond[0])
            drawn += _LINE.format("leap", _path([(self.x(at.x, series), self.y(at.y)) for at in ends]))
        return drawn

    def dots(self, series: int, style: str) -> Markup:
        drawn = Markup()
        for at in self.chart.series[series].points:
            x, y = self.x(at.x, series), self.y(at.y)
            if at.x is None and at.low is not None and at.high is not None:
                drawn += _WHISKER.format(x, self.y(at.low), self.y(at.high))
            if at.ringed:
                drawn += _RING.format(x, y)
            drawn += _POINT.format(printable(at.text), dot(x, style, y))
        return drawn


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.2f},{y:.1f}" for x, y in points)


# -------------------------------------------------------------------------------------- scatter


def points_drawn(chart: Chart) -> list[tuple[ChartSeries, ChartPoint]]:
    """The points that a scatter draws: all of them, or every second, third … of very many."""
    points = [(series, at) for series in chart.series for at in series.points]
    return points[:: -(-len(points) // MOST) or 1]


def _scatter(chart: Chart, styles: Sequence[str]) -> Markup:
    """Whole steps upwards, zero drawn both ways."""
    points = [at for series in chart.series for at in series.points]
    across = axis_over((at.x for at in points), zero=True)
    if across is None:
        return Markup()
    steps = [round(at.y) for at in points]
    low, high = min(-1, *steps), max(1, *steps)
    high_px = ROW * (high - low + 1)

    def y(value: float) -> float:
        return TOP + ROW * (high - value + 0.5)

    levels = range(low, high + 1)
    values = Markup().join(
        _BESIDE.format(SIDE - 8, y(level) + 4, f"{level:+d}" if level else "0") for level in levels
    )
    ground = Markup().join(_ACROSS.format("grid" if level else "zero", y=y(level)) for level in levels)
    ground += _upright(across, TOP + high_px)
    by_name = dict(zip((series.name for series in chart.series), styles, strict=True))
    dots = Markup()
    for place, (series, at) in enumerate(points_drawn(chart)):
        style = by_name[series.name]
        apart = ROW * SHIFT * ((place * GOLDEN) % 1 - 0.5)
        mark = dot(across.at(at.x or 0.0), style, round(y(at.y) + apart, 1))
        dots += _GROUP.format(style, Markup("<title>{}</title>").format(printable(at.text)) + mark)
    whole = TOP + high_px + FOOT
    beside = _OPEN.format("values", SIDE, whole) + values + _CLOSE
    return beside + _OPEN.format("scatter", "100%", whole) + ground + dots + _CLOSE


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


# ---------------------------------------------------------------------------------------- strip


def _strip(chart: Chart, styles: Sequence[str]) -> Markup:
    """A point for each x; those that would hide each other stand above each other."""
    points = sorted(_styled(chart, styles), key=lambda pair: pair[0].x or 0.0)
    across = axis_over((at.x for at, _ in points), zero=True)
    if across is None:
        return Markup()
    floors: list[float] = []  # where the last point of each floor stands
    placed: list[tuple[ChartPoint, str, int]] = []
    for at, style in points:
        x = across.at(at.x or 0.0)
        floor = next((place for place, last in enumerate(floors) if x - last >= NEAR), len(floors))
        floors[floor:floor + 1] = [x]  # fmt: skip
        placed.append((at, style, floor))
    bottom = TOP + STEP * len(floors) + 6
    drawn = _upright(across, bottom)
    if chart.target is not None:
        drawn += _DOWN.format("target", TOP, bottom, x=across.at(chart.target))
    for at, style, floor in placed:
        mark = dot(across.at(at.x or 0.0), style, bottom - 6 - STEP * floor)
        drawn += _GROUP.format(style, Markup("<title>{}</title>").format(printable(at.text)) + mark)
    return _OPEN.format("strip", "100%", bottom + FOOT) + drawn + _CLOSE


def _styled(chart: Chart, styles: Sequence[str]) -> Iterator[tuple[ChartPoint, str]]:
    for series, style in zip(chart.series, styles, strict=True):
        yield from ((at, style) for at in series.points)
