"""Draws the pictures of the page: dots with whiskers, margins, verdict signs, and charts of sections.

Positions are percentages of the drawing's width, so a picture fills its cell and nothing in it is stretched.
The lines and bands of a chart are in a drawing of their own. That drawing is stretched, but its strokes are
not. The numbers are text in the cells beside a picture. Screen readers read this text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from assay.core.results import GO, INCONCLUSIVE, NO_GO, Results
from assay.core.section import Chart, ChartPoint, ChartSeries
from assay.report.wording import printable, with_interval

HEIGHT = 28
COLOURS = 8  # classes s0 … s7 of the style sheet
# Beyond eight systems colours come again, with another shape: classes m1 … m3.
MARKERS = {
    "m1": "M-4.5 -4.5h9v9h-9z",
    "m2": "M0 -6.5L6.5 0L0 6.5L-6.5 0z",
    "m3": "M0 -6L6 5H-6z",
}
NARROWEST, DIGIT = 110, 6.5  # pixels of a picture, and of a digit in it
EDGE = 4.0  # percent left free at both ends, so that a dot or the number at a tick is never cut

_OPEN = Markup('<svg class="plot" width="100%" height="{}" aria-hidden="true" focusable="false">')
_CLOSE = Markup("</svg>")
_GRID = Markup('<line class="grid" x1="{0:.2f}%" x2="{0:.2f}%" y1="0" y2="100%"/>')
_ZERO = Markup('<line class="zero" x1="{0:.2f}%" x2="{0:.2f}%" y1="0" y2="100%"/>')
_ZONE = Markup('<rect class="zone" x="{:.2f}%" width="{:.2f}%" y="0" height="100%"/>')
_TICK = Markup('<text x="{:.2f}%" y="12" text-anchor="middle">{}</text>')
_WHISKER = Markup(
    '<g class="{}"><title>{}</title>'
    '<line class="whisker" x1="{:.2f}%" x2="{:.2f}%" y1="{y}" y2="{y}"/>'
    "{dot}</g>"
)
_ROUND = Markup('<circle class="dot" cx="{:.2f}%" cy="{y}" r="5"/>')
_SHAPED = Markup('<svg x="{:.2f}%" y="{y}" overflow="visible"><path class="dot" d="{d}"/></svg>')
_PART = Markup('<rect class="{}" x="{:.2f}%" width="{:.2f}%" y="6" height="16"><title>{}</title></rect>')
_SHAPES = {
    GO: '<circle cx="12" cy="12" r="11"/><path class="sign" d="M6.5 12.5l3.8 3.8 7.2-8"/>',
    NO_GO: '<path d="M7.4 1h9.2L23 7.4v9.2L16.6 23H7.4L1 16.6V7.4z"/>'
    '<path class="sign" d="M8 8l8 8M16 8l-8 8"/>',
    INCONCLUSIVE: '<path d="M12 .5L23.5 12 12 23.5.5 12z"/><path class="sign" d="M7.5 12h9"/>',
    None: '<rect x="2" y="2" width="20" height="20" rx="3"/><path class="sign" d="M7 9h10M7 15h10"/>',
}


@dataclass(frozen=True)
class Axis:
    """A range of numbers that is drawn over the width of a picture."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Returns the position of a value, in percent of the width. Values outside are put at the edge."""
        share = (value - self.low) / (self.high - self.low)
        return EDGE + min(1.0, max(0.0, share)) * (100 - 2 * EDGE)

    @property
    def ticks(self) -> list[float]:
        """Two to five round numbers inside the axis. They are so few that their labels never touch."""
        wanted = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(wanted))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(index * step, 12) for index in range(first, last + 1)]


def axis_over(values: Iterable[float | None], *, zero: bool = False) -> Axis | None:
    """Returns an axis that shows all values, and zero if asked; None without any value."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return None
    if zero:
        known.append(0.0)
    low, high = min(known), max(known)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 0.1
    return Axis(low - air, high + air)


def scale(axis: Axis) -> Markup:
    """Draws the numbers along an axis; only every second one if they would touch in the narrowest cell."""
    places = [(axis.at(tick), f"{tick:g}") for tick in axis.ticks]
    widest = max((len(figure) for _, figure in places), default=0)
    apart = [(b - a) / 100 * NARROWEST for (a, _), (b, _) in pairwise(places)]
    if apart and min(apart) < (widest + 0.6) * DIGIT:
        places = places[axis.ticks.index(0) % 2 if 0 in axis.ticks else 0 :: 2]  # zero stays
    return _OPEN.format(16) + Markup().join(_TICK.format(*each) for each in places) + _CLOSE


def whisker(axis: Axis, at: tuple[float, float | None, float | None], style: str, title: str) -> Markup:
    """Draws one mean with its interval, in its system's colour. Grid lines join up from row to row."""
    value, low, high = at
    grid = Markup().join((_ZERO if tick == 0 else _GRID).format(axis.at(tick)) for tick in axis.ticks)
    ends = (axis.at(value if low is None else low), axis.at(value if high is None else high))
    label = f"{title}: {with_interval(value, low, high)}"
    return (
        _OPEN.format(HEIGHT)
        + grid
        + _WHISKER.format(style, label, *ends, y=HEIGHT / 2, dot=dot(axis.at(value), style))
        + _CLOSE
    )


def dot(at: float, style: str, y: float = HEIGHT / 2) -> Markup:
    """Draws a point in the shape of its system."""
    shaped = next((MARKERS[name] for name in style.split() if name in MARKERS), None)
    if shaped is None:
        return _ROUND.format(at, y=y)
    return _SHAPED.format(at, y=y, d=shaped)


def margin(at: tuple[float, float | None, float | None], above: bool, style: str) -> Markup:
    """Draws a margin and its interval against the threshold. The side of a go is shaded."""
    value, low, high = at
    axis = axis_over([value, low, high], zero=True) or Axis(-1, 1)
    zero = axis.at(0.0)
    zone = (zero, 100 - zero) if above else (0.0, zero)
    ends = (axis.at(value if low is None else low), axis.at(value if high is None else high))
    label = f"margin {with_interval(value, low, high, signed=True)}; the line is the threshold"
    drawn = _ZONE.format(*zone) + _ZERO.format(zero)
    drawn += _WHISKER.format(style, label, *ends, y=HEIGHT / 2, dot=dot(axis.at(value), style))
    return _OPEN.format(HEIGHT) + drawn + _CLOSE


def stacked(parts: Sequence[tuple[str, float, str]], style: str) -> Markup:
    """Draws shares of a whole end to end (class, share, title), in the colour of a system."""
    drawn, start = Markup(), 0.0
    for name, share, title in parts:
        if share:
            drawn += _PART.format(f"part {name}", 100 * start, 100 * share, title)
        start += share
    return _OPEN.format(HEIGHT) + Markup('<g class="{}">').format(style) + drawn + Markup("</g>") + _CLOSE


def shape(outcome: str | None) -> Markup:
    """Draws the sign of a verdict. Signs differ in shape too: a circle, an octagon or a diamond."""
    name = outcome or "none"
    drawing = Markup(_SHAPES.get(outcome, _SHAPES[None]))  # noqa: S704 (our own constants)
    return (
        Markup('<svg class="shape {}" viewBox="0 0 24 24" aria-hidden="true">').format(name)
        + drawing
        + _CLOSE
    )


def sign(outcome: str, x: float, y: float, size: float) -> Markup:
    """Draws the sign of a verdict inside another picture."""
    place = Markup('<g class="shape {}" transform="translate({:.1f} {:.1f}) scale({:.3f})">')
    drawing = Markup(_SHAPES[outcome])  # noqa: S704 (our own constants)
    return place.format(outcome, x, y, size / 24) + drawing + Markup("</g>")


def style_of(results: Results, name: str) -> str:
    """Returns the colour and shape classes of a system or arm. They are the same everywhere in the page."""
    system = next((one for one in results.systems if name == one or name.startswith(f"{one}[")), None)
    place = results.systems.index(system) if system is not None else len(results.systems)
    shape = ["", *(f" {name}" for name in MARKERS)][place // COLOURS % (len(MARKERS) + 1)]
    return f"s{place % COLOURS}{shape}" + (" base" if results.baseline in (name, system) else "")


# ----------------------------------------------------------------------------------------------

TOP, HIGH, FOOT, SIDE = 10, 260, 24, 44  # pixels: space above, lines, numbers below, numbers beside
FIRST, LAST, BEYOND = 2.0, 82.0, 95.0  # percent: positions of x = 0, of the largest x, of no limit
APART, ROOM = 1.25, 8.0  # percent: between points without a limit, and for all of them together
END = 97.0  # percent: the position of the largest x if no point is without a limit
ROW, SHIFT = 44, 0.6  # pixels of a step up in a scatter; the share of it over which its points are spread
MOST = 1500  # points of a scatter; if there are more, every second, third … is drawn
STEP, NEAR = 11, 1.5  # pixels and percent: points of a strip nearer than this are put above each other
GOLDEN = 0.618033988749895  # its multiples spread evenly, however many there are

_SIZED = Markup('<svg class="plot {}" width="{}" height="{}" aria-hidden="true" focusable="false">')
_ACROSS = Markup('<line class="{}" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
_DOWN = Markup('<line class="{}" x1="{x:.2f}%" x2="{x:.2f}%" y1="{}" y2="{}"/>')
_BESIDE = Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>')
_BELOW = Markup('<text class="{}" x="{:.2f}%" y="{}" text-anchor="middle">{}</text>')
_STRETCHED = Markup('<svg viewBox="0 0 100 {h}" width="100%" height="{h}" preserveAspectRatio="none">')
_GROUP = Markup('<g class="{}">{}</g>')
_BAND = Markup('<polygon class="band" points="{}"/>')
_LINE = Markup('<polyline class="{}" points="{}"/>')
_REACH = Markup('<line class="reach" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1:.1f}" y2="{2:.1f}"/>')
_POINT = Markup("<g><title>{}</title>{}</g>")
_RING = Markup('<circle class="ring" cx="{:.2f}%" cy="{:.1f}" r="10"/>')


def chart_svg(results: Results, chart: Chart) -> Markup:
    """Draws a chart. The drawing is empty if the chart has no point."""
    styles = [style for _, style in legend(results, chart)]
    match chart.form:
        case "lines":
            return _lines(chart, styles)
        case "scatter":
            return _scatter(chart, styles)
        case "strip":
            return _strip(chart, styles)


def legend(results: Results, chart: Chart) -> list[tuple[str, str]]:
    """Returns each series' name with a colour and shape. A series without a system gets free ones."""
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
    """Draws two pictures side by side: the numbers of the y axis, and the lines."""
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
    beside = _SIZED.format("values", SIDE, whole) + values + _CLOSE
    stretched = _STRETCHED.format(h=whole) + flat + _CLOSE
    return beside + _SIZED.format("lines", "100%", whole) + ground.drawing() + stretched + dots + _CLOSE


class _Lines:
    """The positions and the parts of a chart of lines."""

    def __init__(self, chart: Chart, axis: Axis) -> None:
        self.chart, self.axis = chart, axis
        self.most = max((place for place in chart.breaks if place is not None), default=1.0)
        self.end = LAST if None in chart.breaks else END

    def x(self, x: float | None, series: int | None = None) -> float:
        """Returns the position of x.

        Points without a limit are side by side, so that no interval is hidden.
        """
        if x is not None:
            return FIRST + (self.end - FIRST) * x / self.most
        count = len(self.chart.series)
        place = 0.0 if series is None else series - (count - 1) / 2
        return BEYOND + place * min(APART, ROOM / count)

    def y(self, value: float) -> float:
        return TOP + HIGH * (1 - (value - self.axis.low) / (self.axis.high - self.axis.low))

    def drawing(self) -> Markup:
        """Draws the grid, the numbers along x, and the target if it lies inside."""
        drawn = Markup().join(_ACROSS.format("grid", y=self.y(tick)) for tick in self.axis.ticks)
        for place in self.chart.breaks:
            drawn += _DOWN.format("grid", TOP, TOP + HIGH, x=self.x(place))
            drawn += _BELOW.format("", self.x(place), TOP + HIGH + 17, "∞" if place is None else f"{place:g}")
        target = self.chart.target
        if target is not None and self.axis.low < target < self.axis.high:
            drawn += _ACROSS.format("target", y=self.y(target))
        return drawn

    def line(self, series: int) -> Markup:
        """Draws band and line up to the last limit, and dashes from there to the point without a limit."""
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
                drawn += _REACH.format(x, self.y(at.low), self.y(at.high))
            if at.ringed:
                drawn += _RING.format(x, y)
            drawn += _POINT.format(printable(at.text), dot(x, style, y))
        return drawn


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.2f},{y:.1f}" for x, y in points)


# -------------------------------------------------------------------------------------- scatter


def points_drawn(chart: Chart) -> list[tuple[ChartSeries, ChartPoint]]:
    """Returns the points that a scatter draws. Of very many points it draws every second, third …"""
    points = [(series, at) for series in chart.series for at in series.points]
    return points[:: -(-len(points) // MOST) or 1]


def _scatter(chart: Chart, styles: Sequence[str]) -> Markup:
    """Draws a scatter with whole steps upwards, and with lines at zero in both directions."""
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
    beside = _SIZED.format("values", SIDE, whole) + values + _CLOSE
    return beside + _SIZED.format("scatter", "100%", whole) + ground + dots + _CLOSE


def _upright(across: Axis, bottom: float) -> Markup:
    """Draws lines and numbers at round values, zero stronger. Narrow pages leave out the finer numbers."""
    drawn = Markup()
    for tick, fine in fine_ticks(across):
        drawn += _DOWN.format("zero" if tick == 0 else "grid", TOP, bottom, x=across.at(tick))
        drawn += _BELOW.format("fine" if fine else "", across.at(tick), bottom + 17, f"{tick:g}")
    return drawn


def fine_ticks(axis: Axis) -> list[tuple[float, bool]]:
    """Returns the ticks of an axis and, for pictures as wide as the page, finer ones, marked True."""
    coarse = axis.ticks
    if len(coarse) < 2:
        return [(tick, False) for tick in coarse]
    step = (coarse[1] - coarse[0]) / (5 if f"{coarse[1] - coarse[0]:e}".startswith("5") else 2)
    places = range(math.ceil(axis.low / step), math.floor(axis.high / step) + 1)
    known = {round(tick / step) for tick in coarse}
    return [(round(place * step, 12), place not in known) for place in places]


# ---------------------------------------------------------------------------------------- strip


def _strip(chart: Chart, styles: Sequence[str]) -> Markup:
    """Draws a point for each x. Points that would hide each other are put one above the other."""
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
    return _SIZED.format("strip", "100%", bottom + FOOT) + drawn + _CLOSE


def _styled(chart: Chart, styles: Sequence[str]) -> Iterator[tuple[ChartPoint, str]]:
    for series, style in zip(chart.series, styles, strict=True):
        yield from ((at, style) for at in series.points)
