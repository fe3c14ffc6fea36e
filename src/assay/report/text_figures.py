"""Sections and figures on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group

from assay.core.results import Results
from assay.core.section import Section, Table, Text
from assay.report.figures import cell_text, figure_tables, notes
from assay.report.text_tables import grid, plain, side_by_side

if TYPE_CHECKING:
    from rich.console import RenderableType


def section_parts(section: Section, width: int) -> list[RenderableType]:
    """What a terminal shows of a section: its words and its tables, in their order.

    A table with a title begins a part of its own; everything else follows what stands before it.
    """
    alarm = [_whole(section.alarm, "bold red")] if section.alarm else []
    if not alarm and not section.printed:
        return []
    parts: list[list[RenderableType]] = [[plain(section.title, "bold"), *alarm]]
    for block in section.printed:
        if isinstance(block, Text):
            style = "yellow" if block.tone == "caution" else ""
            parts[-1] += [_whole(line, style) for line in block.lines]
            continue
        if block.title and len(parts[-1]) > 1:
            parts.append([])
        parts[-1] += _tables(block, width)
    return [Group(*part) for part in parts]


def _whole(line: str, style: str) -> RenderableType:
    """A line that is not folded: paths and commands stay whole for whoever copies them."""
    text = plain(line, style)
    text.no_wrap, text.overflow = True, "ignore"
    return text


def _tables(block: Table, width: int) -> list[RenderableType]:
    label, *columns = zip([column.head for column in block.columns], *block.texts, strict=True)
    worded = {column.head for column in block.columns if not column.figure}
    title = [plain(block.title, "bold")] if block.title else []
    return [*title, *side_by_side(label, columns, width, worded)]


def figure_parts(results: Results, width: int) -> list[RenderableType]:
    """The figures that the study asks for, and what has to be said of them."""
    parts: list[RenderableType] = []
    for table in figure_tables(results):
        names = table.systems or ["value [95 %] n"]
        columns = [[row.title, *map(cell_text, row.cells)] for row in table.rows]
        tables = grid(("system" if table.systems else "", "figure"), names, columns, width)
        if table.place or not parts:
            place = f" ({table.place})" if table.place else ""
            tables[0].title = plain(f"Figures: value [95 % interval] n{place}", "bold")
        parts.append(Group(*tables, *(plain(note, "dim") for note in notes(table))))
    return parts
