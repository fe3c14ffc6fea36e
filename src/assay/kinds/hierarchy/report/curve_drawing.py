"""The picture of a budget curve: a line a system with its band, parity ringed.

Positions along the budgets are percentages, so that the picture fills its place at any width; lines and bands
stand in a drawing of their own that is stretched, with strokes that are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from assay.core.records import Estimate
from assay.core.results import Results
from assay.kinds.hierarchy.report.curves import Line, Panel, budget_name, panels_of
from assay.report.svg import Axis, axis_over, dot, style_of
from assay.report.wording import printable, with_interval

TOP, HIGH, FOOT, SIDE = 10, 260, 24, 44  # pixels: air above, the picture, the budgets' figures, the values'
FIRST, LAST, BEYOND = 2.0, 82.0, 95.0  # percent: no tokens, the largest budget, no limit
APART, ROOM = 1.25, 8.0  # percent: between lines where there is no limit, and for all of them together
EDGE = 97.0  # percent: the largest budget where there is nothing beyond it

_OPEN = Markup('<svg class="plot {}" width="{}" height="{}" aria-hidden="true" focusable="false">')
_ACROSS = Markup('<line class="grid" x1="0" x2="100%" y1="{0:.1f}" y2="{0:.1f}"/>')
_DOWN = Markup('<line class="grid" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1}" y2="{2}"/>')
_VALUE = Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>')
_BUDGET = Markup('<text x="{:.2f}%" y="{}" text-anchor="middle">{}</text>')
_TARGET = Markup('<line class="target" x1="0" x2="100%" y1="{0:.1f}" y2="{0:.1f}"/>')
_STRETCHED = Markup('<svg viewBox="0 0 100 {h}" width="100%" height="{h}" preserveAspectRatio="none">')
_GROUP = Markup('<g class="{}">{}</g>')
_BAND = Markup('<polygon class="band" points="{}"/>')
_LINE = Markup('<polyline class="{}" points="{}"/>')
_WHISKER = Markup('<line class="reach" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1:.1f}" y2="{2:.1f}"/>')
_POINT = Markup("<g><title>{}</title>{}</g>")
_RING = Markup('<circle class="ring" cx="{:.2f}%" cy="{:.1f}" r="10"/>')
_CLOSE = Markup("</svg>")


def curve_views(results: Results) -> list[dict[str, Any]]:
    """Every curve with its panels, as the page shows them."""
    views = []
    for curve in results.curves:
        panels = panels_of(results, curve)
        if panels:
            title = panels[0].answer if len(panels) == 1 else f"{curve.name} by token budget"
            views.append(
                {"curve": curve, "title": title, "panels": [_view(results, each) for each in panels]}
            )
    return views


def _view(results: Results, panel: Panel) -> dict[str, Any]:
    styles = [style_of(results, line.arm.name) for line in panel.lines]
    return {"panel": panel, "picture": picture(panel, styles), "styles": styles}


def picture(panel: Panel, styles: Sequence[str]) -> Markup:
    """A panel as two drawings side by side: the figures of the values, and the curves."""
    axis = axis_over(bound for line in panel.lines for point in line.points for bound in _bounds(point))
    if axis is None:
        return Markup()
    drawing = _Drawing(panel, axis)
    lines = list(zip(panel.lines, styles, strict=True))
    flat = Markup().join(_GROUP.format(style, drawing.line(line)) for line, style in lines)
    dots = Markup().join(_GROUP.format(style, drawing.dots(line, style)) for line, style in lines)
    whole = TOP + HIGH + FOOT
    values = _OPEN.format("values", SIDE, whole) + drawing.values() + _CLOSE
    stretched = _STRETCHED.format(h=whole) + flat + _CLOSE
    return values + _OPEN.format("curve", "100%", whole) + drawing.ground() + stretched + dots + _CLOSE


def _bounds(point: Estimate | None) -> tuple[float | None, ...]:
    return () if point is None else (point.value, point.low, point.high)


class _Drawing:
    """Where everything stands."""

    def __init__(self, panel: Panel, axis: Axis) -> None:
        self.panel, self.axis = panel, axis
        budgets = panel.curve.budgets
        self.most = max((budget for budget in budgets if budget is not None), default=1)
        self.end = LAST if None in budgets else EDGE

    def x(self, budget: int | None, line: Line | None = None) -> float:
        """Where a budget stands; beyond the last, lines stand side by side, or their intervals would hide."""
        if budget is not None:
            return FIRST + (self.end - FIRST) * budget / self.most
        among = [each.arm.name for each in self.panel.lines]
        place = among.index(line.arm.name) - (len(among) - 1) / 2 if line is not None else 0
        return BEYOND + place * min(APART, ROOM / len(among))

    def y(self, value: float) -> float:
        return TOP + HIGH * (1 - (value - self.axis.low) / (self.axis.high - self.axis.low))

    def values(self) -> Markup:
        ticks = ((self.y(tick) + 4, f"{tick:g}") for tick in self.axis.ticks)
        return Markup().join(_VALUE.format(SIDE - 8, *tick) for tick in ticks)

    def ground(self) -> Markup:
        drawn = Markup().join(_ACROSS.format(self.y(tick)) for tick in self.axis.ticks)
        for budget in self.panel.curve.budgets:
            drawn += _DOWN.format(self.x(budget), TOP, TOP + HIGH)
            drawn += _BUDGET.format(self.x(budget), TOP + HIGH + 17, budget_name(budget))
        target, reference = self.panel.target, self.panel.reference
        if target is not None and reference is not None and self.axis.low < target < self.axis.high:
            drawn += _TARGET.format(self.y(target))
        return drawn

    def line(self, line: Line) -> Markup:
        """Band and line over the bounded budgets, and a dashed way to where there is no limit."""
        bounded = [point for point in self._points(line) if point[0] is not None]
        beyond = [point for point in self._points(line) if point[0] is None]
        drawn = Markup()
        above = [(self.x(budget), self.y(high)) for budget, _, _, high in bounded if high is not None]
        below = [(self.x(budget), self.y(low)) for budget, _, low, _ in bounded if low is not None]
        if len(above) == len(below) > 1:
            drawn += _BAND.format(_path([*above, *reversed(below)]))
        drawn += _LINE.format("course", _path([(self.x(b), self.y(value)) for b, value, _, _ in bounded]))
        if bounded and beyond:
            ends = (bounded[-1], beyond[0])
            drawn += _LINE.format(
                "leap", _path([(self.x(b, line), self.y(value)) for b, value, _, _ in ends])
            )
        return drawn

    def dots(self, line: Line, style: str) -> Markup:
        drawn = Markup()
        for budget, value, low, high in self._points(line):
            x, y = self.x(budget, line), self.y(value)
            if budget is None and low is not None and high is not None:
                drawn += _WHISKER.format(x, self.y(low), self.y(high))
            if line.parity is not None and budget is not None and line.parity.value == budget:
                drawn += _RING.format(x, y)
            told = f"{line.arm.name} at {budget_name(budget)}: {with_interval(value, low, high)}"
            drawn += _POINT.format(printable(told), dot(x, style, y))
        return drawn

    def _points(self, line: Line) -> Iterator[tuple[int | None, float, float | None, float | None]]:
        for budget, point in zip(self.panel.curve.budgets, line.points, strict=True):
            if point is not None and point.value is not None and math.isfinite(point.value):
                yield budget, point.value, point.low, point.high


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.2f},{y:.1f}" for x, y in points)
