"""Tables that people fill in with a spreadsheet: CSV that opens well there, read as it comes back.

Spreadsheets save with a comma, a semicolon or a tab, with or without a byte order mark. A cell that begins
like a formula is written behind an apostrophe, so that no program computes it; reading takes it off again.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.yaml_lines import read_text
from assay.kinds.memory.annotation.workspace import write_file

_DELIMITERS = (",", ";", "\t")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SHIELD = "'"


@dataclass(frozen=True)
class CsvRow:
    """One row of a table, and where it stands."""

    cells: Mapping[str, str]
    where: str
    line: int

    def __getitem__(self, column: str) -> str:
        """A cell without the spaces around it; nothing where the table lacks the column."""
        return self.cells.get(column, "").strip()

    def problem(self, column: str, what: str, fix: str = "") -> Problem:
        """A problem with one of its cells."""
        return Problem(what, self.where, self.line, column, fix)


@dataclass(frozen=True)
class CsvTable:
    """A table as a file has it."""

    path: Path
    columns: list[str]
    rows: list[CsvRow]
    delimiter: str = ","


def read_table(path: Path, needed: Sequence[str]) -> CsvTable:
    """The rows of a CSV file that are not blank; every column that is needed must be there."""
    text, where = read_text(path), str(path)
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, problems, end = list[CsvRow](), list[Problem](), 0
    try:
        columns = [name.strip() for name in next(reader, [])]
        problems += _column_problems(columns, needed, where)
        for cells in reader:
            start, end = max(end, 1) + 1, reader.line_num
            if any(map(str.strip, cells[len(columns) :])):
                what = f"{len(cells)} cells where {len(columns)} columns are named"
                problems.append(Problem(what, where, start, fix="Put text with a comma in quotes."))
            elif any(map(str.strip, cells)):
                plain = map(unescape_formula, cells)
                rows.append(CsvRow(dict(zip(columns, plain, strict=False)), where, start))
    except csv.Error as error:
        problems.append(Problem(f"this is not CSV: {error}", where, reader.line_num, fix="Check its quotes."))
    if problems:
        raise DataError(problems)
    return CsvTable(path, columns, rows, delimiter)


def _column_problems(columns: Sequence[str], needed: Sequence[str], where: str) -> list[Problem]:
    lacking = [name for name in needed if name not in columns]
    doubled = {name for name in columns if name and columns.count(name) > 1}
    return [
        *(
            Problem("the column is missing", where, 1, name, did_you_mean(name, set(columns) - set(needed)))
            for name in lacking
        ),
        *(Problem("two columns are called so", where, 1, name, "Rename one.") for name in sorted(doubled)),
    ]


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Writes a table as a whole, or not at all; begins with the mark by which spreadsheets know UTF-8."""
    content = codecs.BOM_UTF8 + _encoded(columns, [dict(zip(columns, columns, strict=True)), *rows])
    write_file(path, content)


def append_rows(table: CsvTable, rows: Sequence[Mapping[str, str]]) -> None:
    """Adds rows below those that a file has, which stay as they are, byte for byte."""
    if not rows:
        return
    before = table.path.read_bytes()
    gap = b"" if before.endswith(b"\n") else b"\n"
    content = before + gap + _encoded(table.columns, rows, table.delimiter)
    write_file(table.path, content)


def _encoded(columns: Sequence[str], rows: Iterable[Mapping[str, str]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([escape_formula(row.get(name, "")) for name in columns] for row in rows)
    return text.getvalue().encode()


def escape_formula(cell: str) -> str:
    """The cell behind an apostrophe where a spreadsheet would take it for a formula."""
    return _SHIELD + cell if cell.startswith(_FORMULA) else cell


def unescape_formula(cell: str) -> str:
    """The cell without the apostrophe that `escape_formula` put before it."""
    bare = cell.removeprefix(_SHIELD)
    return bare if bare.startswith(_FORMULA) else cell


def split_cell(cell: str) -> list[str]:
    """The entries of a cell that are separated by semicolons or line ends, each once."""
    parts = (part.strip() for part in cell.replace("\n", ";").split(";"))
    return list(dict.fromkeys(part for part in parts if part))
