"""Item by item on a terminal: what each was scored, and how long answers took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from assay.core.records import Status
from assay.report import wording as say
from assay.report.flips import score_grid
from assay.report.text_tables import GAP, plain, side_by_side

if TYPE_CHECKING:
    from rich.table import Table

    from assay.core.results import Results
    from assay.core.section import Section

QUERY = 24  # characters shown of a query
LEAST = 12  # width of a column of details
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
        room = width - GAP - max(map(cell_len, label))
        details = [
            [section.key, *lines]
            for section in results.sections
            if (lines := _lines(results, section, arm, room))
        ]
        made = side_by_side(label, [*columns, *details], width, [head for head, *_ in details])
        if made:
            made[0].title = plain(f"Items: {arm}", "bold")
        tables += made
    return tables


def _lines(results: Results, section: Section, arm: str, room: int) -> list[str]:
    """A section's line on each item, cut to what fits beside its label; nothing if it has none of the arm."""
    known = {detail.item_id: detail.line for detail in section.details if detail.arm == arm and detail.line}
    if room < LEAST or not known:
        return []
    lines = [known.get(item.item_id, "") for item in results.items]
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
