"""Tables on a terminal: without boxes, words set left and folded, figures set right and whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from assay.report.wording import printable

GAP = 2


def plain(text: str, style: str = "") -> Text:
    """Text as it is: names such as `race[stage=50k]` are not rich mark-up."""
    return Text(printable(text), style)


def columned(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    words: tuple[int, ...] = (0,),
    widths: Sequence[int] = (),
) -> Table:
    """A table without boxes; the columns of `words` are set left and may fold, figures do neither.

    Tables that are to line up are given their widths, and all but the first no header.
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


def side_by_side(label: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> list[Table]:
    """Tables with as many columns as fit beside the label, each column headed by its first cell."""
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
    return [columned("", header, body) for header, *body in rows]
