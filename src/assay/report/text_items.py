"""Item by item on a terminal: what each was scored, and how long answers took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.records import Status
from assay.report import wording as say
from assay.report.flips import score_grid
from assay.report.text_tables import plain, side_by_side

if TYPE_CHECKING:
    from rich.table import Table

    from assay.results import Results

QUERY = 24  # characters shown of a query
_SILENT = (Status.SCORED, Status.MISSING)


def item_tables(results: Results, width: int) -> list[Table]:
    """Every item with its values, a table or more an arm; a status stands where there is no value."""
    grid, tables = score_grid(results), []
    label = ["item", *(f"{item.item_id}  {say.shortened(item.text, QUERY)}" for item in results.items)]
    for arm in results.arms:
        columns = []
        for measure in results.measures:
            cells = [grid.get((arm, measure.name), {}).get(item.item_id) for item in results.items]
            told = ["" if cell is None else _cell(cell.value, cell.status) for cell in cells]
            if any(told):
                columns.append([say.measure_title(measure), *told])
        made = side_by_side(label, columns, width)
        if made:
            made[0].title = plain(f"Items: {arm}", "bold")
        tables += made
    return tables


def _cell(value: float | None, status: str) -> str:
    if status in _SILENT:
        return say.number(value)
    return "" if status == Status.NOT_APPLICABLE else str(status)


def latency_lines(results: Results) -> Iterator[str]:
    """How long answers took, where the study measures time."""
    if any(measure.unit == "s" for measure in results.measures):
        for arm, taken in results.trust.seconds.items():
            yield f"{arm}: " + ", ".join(f"{name} {say.number(value)} s" for name, value in taken.items())
