"""Prepares sections for the page: the templates ask here about tables, charts and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from assay.core.results import GO, NO_GO, Results
from assay.core.section import (
    BlockGroup,
    Chart,
    Picture,
    Place,
    Section,
    SectionBlock,
    Table,
    TableCell,
    TableColumn,
)
from assay.report import charts

_BAR = Markup('<rect class="{}" x="{:.2f}%" width="{:.2f}%" y="6" height="{}"/>')
_LINE = Markup('<line class="zero" x1="{0:.2f}%" x2="{0:.2f}%" y1="0" y2="{1}"/>')
_OPEN = Markup('<svg class="plot" width="100%" height="{}" aria-hidden="true" focusable="false">')
_CLOSE = Markup("</svg>")
_THICK = 10


@dataclass(frozen=True)
class SectionPage:
    """The sections of one report, with the functions that the templates call on them."""

    results: Results

    def at(self, place: Place) -> list[Section]:
        return [section for section in self.results.sections if section.place == place]

    @property
    def style(self) -> Markup:
        """The style sheets of all pictures, without repetitions. They come from files of the kinds."""
        blocks = [block for section in self.results.sections for block in _every(section)]
        styles = dict.fromkeys(block.style for block in blocks if isinstance(block, Picture))
        return Markup("\n".join(styles))  # noqa: S704

    def detailed(self, section: Section) -> list[str]:
        """Returns the ids of the items for which a section has details, in the section's order."""
        return list(dict.fromkeys(detail.item_id for detail in section.details if detail.blocks))

    def details(self) -> Iterator[tuple[int, Section, list[SectionBlock]]]:
        """Yields the details that open with an item: the item's position, the section, and the blocks."""
        places = {item.item_id: place for place, item in enumerate(self.results.items)}
        for section in self.results.sections:
            found: dict[str, list[SectionBlock]] = {}
            for detail in section.details:
                found.setdefault(detail.item_id, []).extend(detail.blocks)
            yield from ((places[item], section, blocks) for item, blocks in found.items() if blocks)

    def style_of(self, arm: str) -> str:
        return charts.style_of(self.results, arm) if arm else ""

    def scale(self, table: Table, column: TableColumn) -> Markup | str:
        """Returns the head of a column of pictures: its own words, or a scale if its axis goes below zero."""
        axis = _axis(table, column.drawn)
        return column.picture or (charts.scale(axis) if axis is not None and axis.low < 0 else "")

    def plots(self, table: Table) -> list[list[Markup]]:
        """Returns the pictures of each row's cells. For a cell without a picture it returns an empty one."""
        axes = {column.drawn: _axis(table, column.drawn) for column in table.columns}
        return [
            [
                self._plot(cell, row[0], column, axes[column.drawn])
                for cell, column in zip(row, table.columns, strict=len(row) > 1)
            ]
            for row in table.rows
        ]

    def _plot(
        self, cell: TableCell, first: TableCell, column: TableColumn, axis: charts.Axis | None
    ) -> Markup:
        style = self.style_of(cell.system or column.system or first.system)
        if cell.value is None:
            return Markup()
        if column.drawn == "margin":
            return _margin(cell.value, cell)
        if axis is None:
            return Markup()
        if column.drawn == "interval":
            return charts.whisker(axis, (cell.value, cell.low, cell.high), style, first.text)
        return _bar(cell.value, axis, f"{'part' if style else 'bar'} {style}{' taken' * cell.strong}")

    def chart(self, chart: Chart) -> Markup:
        from assay.report.charts import chart_svg  # most reports draw none

        return chart_svg(self.results, chart)

    def legend(self, chart: Chart) -> list[tuple[str, str]]:
        from assay.report import charts

        return charts.legend(self.results, chart)

    def undrawn(self, chart: Chart) -> tuple[int, int] | None:
        """Returns the number of points that are drawn and of all points; None if the two are equal."""
        from assay.report.charts import points_drawn

        count = sum(len(series.points) for series in chart.series)
        drawn = len(points_drawn(chart)) if chart.form == "scatter" else count
        return (drawn, count) if drawn < count else None

    def svg(self, picture: Picture) -> Markup:
        return Markup(picture.svg)  # noqa: S704 (made with escaping by the kind)


def block_name(block: SectionBlock) -> str:
    """Returns the word by which the templates recognise the type of a block."""
    return type(block).__name__.lower()


def _every(section: Section) -> Iterator[SectionBlock]:
    yield from _within(section.blocks)
    for detail in section.details:
        yield from _within(detail.blocks)


def _within(blocks: Iterable[SectionBlock]) -> Iterator[SectionBlock]:
    for block in blocks:
        yield block
        if isinstance(block, BlockGroup):
            yield from _within(block.blocks)


def _axis(table: Table, drawn: str) -> charts.Axis | None:
    """Returns one axis for all columns that are drawn in the same form.

    If no bar is below zero, the axis begins at zero.
    """
    if drawn not in {"bar", "interval"}:
        return None
    rows = (zip(row, table.columns, strict=True) for row in table.rows if len(row) > 1)
    cells = [cell for row in rows for cell, column in row if column.drawn == drawn]
    values = [cell.value for cell in cells if cell.value is not None]
    if drawn == "bar" and min(values, default=0.0) >= 0:
        return charts.Axis(0.0, max(values, default=0.0) or 1.0)
    return charts.axis_over((end for cell in cells for end in (cell.value, cell.low, cell.high)), zero=True)


def _margin(value: float, cell: TableCell) -> Markup:
    """Draws the distance of a value from its threshold; empty without a threshold."""
    if cell.threshold is None:
        return Markup()
    low, high = (None if end is None else end - cell.threshold for end in (cell.low, cell.high))
    reached = GO if value >= cell.threshold else NO_GO
    return charts.margin((value - cell.threshold, low, high), True, reached)


def _bar(value: float, axis: charts.Axis, style: str) -> Markup:
    """Draws a bar from zero to the value."""
    high = _THICK + 12
    if axis.low == 0:
        return _OPEN.format(high) + _BAR.format(style, 0.0, 100 * value / axis.high, _THICK) + _CLOSE
    start, end = sorted((axis.at(0.0), axis.at(value)))
    return (
        _OPEN.format(high)
        + _BAR.format(style, start, end - start, _THICK)
        + _LINE.format(axis.at(0.0), high)
        + _CLOSE
    )
