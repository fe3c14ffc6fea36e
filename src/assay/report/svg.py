"""Small inline pictures: dots with whiskers, a margin against its threshold, the shapes of a verdict.

Positions are percentages of the drawing's width, so a picture fills whatever cell it stands in and nothing
in it is stretched. The figures stand as text in the cells beside it, which is what a screen reader reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from assay.core.results import GO, INCONCLUSIVE, NO_GO, Results
from assay.report.wording import with_interval

HEIGHT = 28
COLOURS = 8  # classes s0 … s7 of the style sheet
# Beyond eight systems colours come again, with another shape: classes m1 … m3.
MARKERS = {
    "m1": "M-4.5 -4.5h9v9h-9z",
    "m2": "M0 -6.5L6.5 0L0 6.5L-6.5 0z",
    "m3": "M0 -6L6 5H-6z",
}
NARROWEST, DIGIT = 110, 6.5  # pixels of a picture, and of a digit in it
EDGE = 4.0  # percent left free at both ends, so that a dot or a tick's figure is never cut

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
    """A stretch of numbers laid over the width of a picture."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Where a value stands, in percent of the width; what lies outside stands at the edge."""
        share = (value - self.low) / (self.high - self.low)
        return EDGE + min(1.0, max(0.0, share)) * (100 - 2 * EDGE)

    @property
    def ticks(self) -> list[float]:
        """Two to five round numbers inside the axis: few enough that their figures never touch."""
        wanted = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(wanted))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(index * step, 12) for index in range(first, last + 1)]


def axis_over(values: Iterable[float | None], *, zero: bool = False) -> Axis | None:
    """The axis that shows all values with a little air, through zero where asked; None without any value."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return None
    if zero:
        known.append(0.0)
    low, high = min(known), max(known)
    air = (high - low) * 0.06 or abs(high) * 0.1 or 0.1
    return Axis(low - air, high + air)


def scale(axis: Axis) -> Markup:
    """The figures along an axis; where they would touch in the narrowest cell, every second one."""
    places = [(axis.at(tick), f"{tick:g}") for tick in axis.ticks]
    widest = max((len(figure) for _, figure in places), default=0)
    apart = [(b - a) / 100 * NARROWEST for (a, _), (b, _) in pairwise(places)]
    if apart and min(apart) < (widest + 0.6) * DIGIT:
        places = places[axis.ticks.index(0) % 2 if 0 in axis.ticks else 0 :: 2]  # zero stays
    return _OPEN.format(16) + Markup().join(_TICK.format(*each) for each in places) + _CLOSE


def whisker(axis: Axis, at: tuple[float, float | None, float | None], style: str, title: str) -> Markup:
    """One mean with its interval, in the colour class of its system; grid lines join up from row to row."""
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
    """A point, such as that of a whisker, in the shape of its system."""
    shaped = next((MARKERS[name] for name in style.split() if name in MARKERS), None)
    if shaped is None:
        return _ROUND.format(at, y=y)
    return _SHAPED.format(at, y=y, d=shaped)


def margin(at: tuple[float, float | None, float | None], above: bool, style: str) -> Markup:
    """A margin and its interval against the threshold, the side that speaks for shipping shaded."""
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
    """Shares of a whole end to end (their class, their share, their title), in the colour of a system."""
    drawn, start = Markup(), 0.0
    for name, share, title in parts:
        if share:
            drawn += _PART.format(f"part {name}", 100 * start, 100 * share, title)
        start += share
    return _OPEN.format(HEIGHT) + Markup('<g class="{}">').format(style) + drawn + Markup("</g>") + _CLOSE


def shape(outcome: str | None) -> Markup:
    """The sign of a verdict: a circle, an octagon, a diamond, so that colour is never alone."""
    name = outcome or "none"
    drawing = Markup(_SHAPES.get(outcome, _SHAPES[None]))  # noqa: S704 (our own constants)
    return (
        Markup('<svg class="shape {}" viewBox="0 0 24 24" aria-hidden="true">').format(name)
        + drawing
        + _CLOSE
    )


def sign(outcome: str, x: float, y: float, size: float) -> Markup:
    """The same sign within another picture."""
    place = Markup('<g class="shape {}" transform="translate({:.1f} {:.1f}) scale({:.3f})">')
    drawing = Markup(_SHAPES[outcome])  # noqa: S704 (our own constants)
    return place.format(outcome, x, y, size / 24) + drawing + Markup("</g>")


def style_of(results: Results, name: str) -> str:
    """The classes of a system or one of its arms, the same everywhere in the page: its colour and shape."""
    system = next((one for one in results.systems if name == one or name.startswith(f"{one}[")), None)
    place = results.systems.index(system) if system is not None else len(results.systems)
    shape = ["", *(f" {name}" for name in MARKERS)][place // COLOURS % (len(MARKERS) + 1)]
    return f"s{place % COLOURS}{shape}" + (" base" if results.baseline in (name, system) else "")
