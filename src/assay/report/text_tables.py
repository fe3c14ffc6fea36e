"""Makes tables for a terminal. They have no boxes.

Words are on the left and may be folded. Numbers are on the right and stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.core.records import Status
from assay.core.results import Results
from assay.core.section import Section
from assay.core.section import Table as SectionTable
from assay.core.section import Text as SectionText
from assay.report import wording
from assay.report.items import score_grid
from assay.report.tables import figure_notes, figure_tables, figure_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.core.results import ItemChange


GAP = 2
MOST = 80  # characters of a query
LABEL = 24  # characters; the name of a measure or figure may be broken to this length, not shorter
JOINTS = re.compile(r"(?<=[(,|= ])|(?=@)")  # where a measure's name may be broken
WORDS = re.compile(r"(?<=[,| ])")  # where a clause may be broken


def plain(text: str, style: str = "") -> Text:
    """Returns text that is shown unchanged: names such as `race[stage=50k]` are not read as rich mark-up."""
    return Text(wording.printable(text), style)


def plain_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    words: tuple[int, ...] = (0,),
    widths: Sequence[int] = (),
) -> Table:
    """Returns a table without boxes. The columns of `words` are on the left and may fold.

    The other columns hold numbers. They are on the right and do not fold. Tables that have to line up get the
    same `widths`, and only the first gets a header.
    """
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, GAP, 0, 0),
        title=plain(title, "bold") if title else None,
        show_header=bool(header),
    )
    table.title_justify = "left"
    for index, name in enumerate(header or [""] * len(widths)):
        worded = index in words
        table.add_column(
            plain(name, "dim"),
            justify="left" if worded else "right",
            overflow="fold",
            no_wrap=not worded,
            width=widths[index] if widths else None,
        )
    for row in rows:
        table.add_row(*(plain(cell) for cell in row))
    return table


def fold_text(text: str, room: int, joints: re.Pattern[str] = JOINTS) -> str:
    """Returns the text. If it is longer than `room`, it is broken at its joints."""
    lines = [""]
    for part in joints.split(text):
        if lines[-1] and cell_len(lines[-1]) + cell_len(part.rstrip()) > room:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def side_by_side(
    label: Sequence[str], columns: Sequence[Sequence[str]], width: int, worded: Collection[str] = ()
) -> list[Table]:
    """Returns tables with as many columns as fit beside the label. The first cell of a column is its head.

    Columns whose head is in `worded` hold words, and are on the left.
    """
    groups: list[list[Sequence[str]]] = []
    room = 0
    for column in columns:
        needed = GAP + max(cell_len(cell) for cell in column)
        if not groups or needed > room:
            groups.append([])
            room = width - max(cell_len(line) for cell in label for line in cell.split("\n"))
        groups[-1].append(column)
        room -= needed
    rows = [list(zip(label, *group, strict=True)) for group in groups]
    return [
        plain_table("", header, body, (0, *(at for at, name in enumerate(header) if name in worded)))
        for header, *body in rows
    ]


def grid(
    corner: tuple[str, str], names: Sequence[str], columns: Sequence[Sequence[str]], width: int
) -> list[Table]:
    """Returns tables with one row per name, or one table with a row per column if that one is shorter.

    `corner` has the head of the first column for both forms.
    """
    by_name = side_by_side([corner[0], *names], columns, width)
    if not columns:
        return by_name
    heads, *rows = zip(*columns, strict=True)
    others = [[name, *cells] for name, cells in zip(names, rows, strict=True)]
    room = width - sum(GAP + max(map(cell_len, column)) for column in others)
    # long heads are broken, so that all names fit side by side
    label = [corner[1], *(fold_text(head, max(room, LABEL)) for head in heads)]
    by_head = side_by_side(label, others, width)
    # If the names as columns need several tables, names as rows are easier to compare.
    shorter = len(by_head) == 1 and len(columns) < sum(table.row_count + 2 for table in by_name)
    return by_head if shorter else by_name


def turn_table(turns: Sequence[ItemChange], width: int) -> RenderableType:
    """Returns the items that changed, with one row for each item and measure.

    A row has as much of the query as fits.
    """
    several = [turn.arm for turn in turns] if len({turn.arm for turn in turns}) > 1 else []
    columns = [
        ["item", *(f"{turn.item_id}, {wording.VARIES}" if turn.varies else turn.item_id for turn in turns)],
        ["measure", *(turn.measure for turn in turns)],
        *([["system", *several]] if several else []),
        ["before", *(wording.number(turn.before) for turn in turns)],
        ["after", *(wording.number(turn.after) for turn in turns)],
    ]
    room = max(MOST // 4, width - GAP - sum(GAP + max(map(cell_len, column)) for column in columns))
    columns.append(["query", *(wording.shorten(turn.text, min(room, MOST)) for turn in turns)])
    header, *rows = zip(*columns, strict=True)
    figures = len(columns) - 3, len(columns) - 2
    words = tuple(place for place in range(len(columns)) if place not in figures)
    return Padding(plain_table("", header, rows, words), (0, 0, 0, GAP))


QUERY = 24  # characters shown of a query
LEAST = 12  # width of a column of details
_SILENT = (Status.SCORED, Status.MISSING)


def item_tables(results: Results, width: int) -> list[Table]:
    """Returns every item with its values, in one or more tables per arm.

    If a value is missing, its status is shown instead.
    """
    grid, tables = score_grid(results), []
    label = ["item", *(f"{item.item_id}  {wording.shorten(item.text, QUERY)}" for item in results.items)]
    for arm in results.arms:
        columns = []
        for measure in results.measures:
            cells = [grid.get((arm, measure.name), {}).get(item.item_id) for item in results.items]
            told = ["" if cell is None else _cell(cell.value, cell.status) for cell in cells]
            if any(told):
                columns.append([wording.measure_title(measure), *told])
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
    """Returns a section's line on each item, cut to fit beside the label.

    Returns nothing if the section has no line for the arm.
    """
    known = {detail.item_id: detail.line for detail in section.details if detail.arm == arm and detail.line}
    if room < LEAST or not known:
        return []
    lines = [known.get(item.item_id, "") for item in results.items]
    return [line if cell_len(line) <= room else set_cell_size(line, room - 1) + "…" for line in lines]


def _cell(value: float | None, status: str) -> str:
    if status in _SILENT:
        return wording.number(value)
    return "" if status == Status.NOT_APPLICABLE else str(status)


def latency_lines(results: Results) -> Iterator[str]:
    """Yields lines about how long answers took, if the study measures time."""
    if any(measure.unit == "s" for measure in results.measures):
        for arm, taken in results.trust.seconds.items():
            yield f"{arm}: " + ", ".join(f"{name} {wording.number(value)} s" for name, value in taken.items())


# ----------------------------------------------------------------------------------------------


def section_parts(section: Section, width: int) -> list[RenderableType]:
    """Returns a section for a terminal: its words and its tables, in their order.

    A table with a title begins a new part. Everything else belongs to the part before it.
    """
    alarm = [_whole(section.alarm, "bold red")] if section.alarm else []
    if not alarm and not section.printed:
        return []
    parts: list[list[RenderableType]] = [[plain(section.title, "bold"), *alarm]]
    for block in section.printed:
        if isinstance(block, SectionText):
            style = "yellow" if block.tone == "caution" else ""
            parts[-1] += [_whole(line, style) for line in block.lines]
            continue
        if block.title and len(parts[-1]) > 1:
            parts.append([])
        parts[-1] += _tables(block, width)
    return [Group(*part) for part in parts]


def _whole(line: str, style: str) -> RenderableType:
    """Returns a line that is not folded, because people copy whole paths and commands."""
    text = plain(line, style)
    text.no_wrap, text.overflow = True, "ignore"
    return text


def _tables(block: SectionTable, width: int) -> list[RenderableType]:
    label, *columns = zip([column.head for column in block.columns], *block.texts, strict=True)
    worded = {column.head for column in block.columns if not column.figure}
    title = [plain(block.title, "bold")] if block.title else []
    return [*title, *side_by_side(label, columns, width, worded)]


def figure_parts(results: Results, width: int) -> list[RenderableType]:
    """Returns the figures that the study asks for, with their notes."""
    parts: list[RenderableType] = []
    for table in figure_tables(results):
        names = table.systems or ["value [95 %] n"]
        columns = [[row.title, *map(figure_text, row.cells)] for row in table.rows]
        tables = grid(("system" if table.systems else "", "figure"), names, columns, width)
        if table.place or not parts:
            place = f" ({table.place})" if table.place else ""
            tables[0].title = plain(f"Figures: value [95 % interval] n{place}", "bold")
        parts.append(Group(*tables, *(plain(note, "dim") for note in figure_notes(table))))
    return parts
