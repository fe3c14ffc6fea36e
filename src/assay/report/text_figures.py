"""Curves and figures on a terminal: a row a system, a column a budget or figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group

from assay.core.results import Results
from assay.kinds.hierarchy.report.curves import panels_of
from assay.report.figures import cell_text, figure_tables, notes
from assay.report.text_tables import grid, plain, side_by_side

if TYPE_CHECKING:
    from rich.console import RenderableType


def curve_tables(results: Results, width: int) -> list[RenderableType]:
    """Every curve, a table a panel, with what it shows above it."""
    parts: list[RenderableType] = []
    for curve in results.curves:
        for panel in panels_of(results, curve):
            columns = [
                [head, *(line.mean(place) for line in panel.lines)] for place, head in enumerate(panel.heads)
            ]
            if panel.has_parity:
                columns.append(["parity, tokens", *(line.reached for line in panel.lines)])
            columns.append(["n", *(line.sample for line in panel.lines)])
            label = ["system", *(line.label for line in panel.lines)]
            place = f" ({panel.place})" if panel.place else ""
            title = plain(f"{curve.name} by tokens, mean [95 % interval]{place}: {panel.answer}", "bold")
            parts.append(Group(title, *side_by_side(label, columns, width)))
    return parts


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
