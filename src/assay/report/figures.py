"""The figures that a study asks for, as tables: a row a figure, a column a system."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.results import Figure, Results
from assay.report import wording as say


@dataclass(frozen=True)
class FigureRow:
    """One figure: of each arm in turn, or of no system in particular."""

    title: str
    text: str
    cells: list[Figure | None]


@dataclass(frozen=True)
class FigureTable:
    """Figures under one combination of factors; without systems there is one column, and it is the value."""

    place: str  # the factors, in words
    systems: list[str]
    rows: list[FigureRow]


def figure_tables(results: Results) -> list[FigureTable]:
    """Figures that are taken of every system, by factors, then those that name their systems themselves."""
    by_place: dict[str, dict[str, dict[str, Figure]]] = {}
    for one in results.figures:
        if one.system is not None:
            named = by_place.setdefault(say.where_text(one.factors), {}).setdefault(one.name, {})
            named[one.system] = one
    tables = []
    for place, grid in by_place.items():
        systems = list(dict.fromkeys(system for cells in grid.values() for system in cells))
        rows = [_row(_first(cells), [cells.get(each) for each in systems]) for cells in grid.values()]
        tables.append(FigureTable(place, systems, rows))
    alone = [_row(one, [one], one.arm) for one in results.figures if one.system is None]
    return [*tables, *([FigureTable("", [], alone)] if alone else [])]


def _first(cells: dict[str, Figure]) -> Figure:
    return next(iter(cells.values()))


def _row(first: Figure, cells: list[Figure | None], place: str = "") -> FigureRow:
    return FigureRow(f"{say.figure_title(first)} {place}".strip(), first.text, cells)


def cell_text(figure: Figure | None) -> str:
    """A figure with its interval and n; only where there is none, nothing but that."""
    if figure is None or figure.value is None:
        return say.NOTHING
    return f"{say.figure_value(figure)} n {figure.n}"


def notes(table: FigureTable) -> list[str]:
    """What has to be said of figures, each reason once with those it concerns."""
    found: dict[str, list[str]] = {}
    for row in table.rows:
        for place, one in enumerate(row.cells):
            if one is not None and (note := say.figure_note(one)):
                found.setdefault(note, []).append(
                    f"{row.title} of {table.systems[place]}" if table.systems else row.title
                )
    return [f"{say.first_names(names, 3)}: {reason}" for reason, names in found.items()]
