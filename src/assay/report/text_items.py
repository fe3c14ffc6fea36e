"""Item by item on a terminal: what each was scored, and how long answers took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from assay.core.records import Status
from assay.kinds.memory.report.walks import path_line
from assay.report import wording as say
from assay.report.flips import score_grid
from assay.report.text_tables import GAP, plain, side_by_side

if TYPE_CHECKING:
    from rich.table import Table

    from assay.core.results import ItemView, Results

QUERY = 24  # characters shown of a query
WALKED, LEAST = "walked", 12  # the head of the column of paths, and its least width
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
        if walked := _walked(results.items, arm, width - GAP - max(map(cell_len, label))):
            columns.append([WALKED, *walked])
        made = side_by_side(label, columns, width, (WALKED,))
        if made:
            made[0].title = plain(f"Items: {arm}", "bold")
        tables += made
    return tables


def _walked(items: Sequence[ItemView], arm: str, room: int) -> list[str]:
    """The best path of each item, cut to what fits beside its label; nothing where no item has one."""
    if room < LEAST or not any(arm in item.walks for item in items):
        return []
    lines = [path_line(item.walks[arm].path) if arm in item.walks else "" for item in items]
    return [line if cell_len(line) <= room else set_cell_size(line, room - 1) + "…" for line in lines]


def _cell(value: float | None, status: str) -> str:
    if status in _SILENT:
        return say.number(value)
    return "" if status == Status.NOT_APPLICABLE else str(status)


def latency_lines(results: Results) -> Iterator[str]:
    """How long answers took, where the study measures time."""
    if any(measure.unit == "s" for measure in results.measures):
        for arm, taken in results.trust.seconds.items():
            yield f"{arm}: " + ", ".join(f"{name} {say.number(value)} s" for name, value in taken.items())
