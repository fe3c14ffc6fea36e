"""The folder of an annotation, beside the documents, and the CSV tables in it.

DOCUMENTS-annotation/
  guide.md               how to label, for the team to complete
  inventory.csv          one row per document
  snapshots/VERSION.json the hash of every document
  sample.csv, sample.json   which units to write cases about, and how they were drawn
  candidates.csv         every unit with its id and its text
  sheets/NAME.csv        one sheet per person
  adjudication.csv       decisions where two people differ, and why
  marks/                 the journal of all labels and decisions that were imported
  cases/                 the case files
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.records import Passage
from assay.core.yaml_lines import read_text
from assay.datasets.units import SUFFIXES, UnitFolder, read_folder
from assay.store.disk import write_atomic

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_RULE = "Use letters, digits, dot, dash and underscore, at most 100, and begin with none of . and -."
_DELIMITERS = (",", ";", "\t")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SHIELD = "'"


@dataclass(frozen=True)
class SourceDocument:
    """A document as it is now: its numbered units, and the hash of its bytes."""

    doc_id: str
    path: Path
    sha256: str
    units: Sequence[Passage]


class Workspace:
    """A folder of numbered documents, and the folder in which its annotation is kept."""

    def __init__(self, documents: Path, root: Path) -> None:
        self.documents = documents
        self.root = root
        self.guide = root / "guide.md"
        self.inventory = root / "inventory.csv"
        self.snapshots = root / "snapshots"
        self.sample = root / "sample.csv"
        self.candidates = root / "candidates.csv"
        self.sheets = root / "sheets"
        self.adjudication = root / "adjudication.csv"
        self.marks = root / "marks"
        self.cases = root / "cases"

    @cached_property
    def folder(self) -> UnitFolder:
        """The documents, cut into units. Raises an error that lists every problem of every document."""
        found = read_folder(self.documents)
        if found.problems:
            raise DataError(found.problems)
        return found

    @cached_property
    def sources(self) -> list[SourceDocument]:
        """Every document, in the order of file names."""
        units = self.folder.units
        files = sorted(each for each in self.documents.iterdir() if each.suffix.lower() in SUFFIXES)
        return [
            SourceDocument(
                path.stem, path, hashlib.sha256(path.read_bytes()).hexdigest(), units[path.stem].passages
            )
            for path in files
            if path.stem in units and path.is_file()
        ]


def open_workspace(documents: Path, work: Path | None = None) -> Workspace:
    """Returns the annotation of a folder of documents. By default it is kept beside the folder."""
    if not documents.is_dir():
        raise UsageError(f"{documents} is not a folder. Name the folder that holds the documents.")
    place = documents.resolve()
    return Workspace(documents, work or place.with_name(f"{place.name}-annotation"))


def check_name(name: str, what: str) -> str:
    """Returns the name if it may be part of a file name; otherwise raises an error."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of {what}. {_RULE}")
    return name


def write_file(path: Path, content: bytes) -> None:
    """Writes a file completely, or not at all."""
    write_atomic(path, lambda target: target.write_bytes(content))


# -------------------------------------------------------------------- tables for spreadsheet programs


@dataclass(frozen=True)
class CsvRow:
    """A row of a table, with its file and line."""

    cells: Mapping[str, str]
    where: str
    line: int

    def __getitem__(self, column: str) -> str:
        """Returns a cell without the spaces around it; empty if the table has no such column."""
        return self.cells.get(column, "").strip()

    def problem(self, column: str, what: str, fix: str = "") -> Problem:
        """Returns a problem with a cell of the row."""
        return Problem(what, self.where, self.line, column, fix)


@dataclass(frozen=True)
class CsvTable:
    """The content of a CSV file."""

    path: Path
    columns: list[str]
    rows: list[CsvRow]
    delimiter: str = ","


def read_table(path: Path, needed: Sequence[str]) -> CsvTable:
    """Reads the rows of a CSV file that are not blank. Every needed column must be there.

    Cells may be separated by commas, semicolons or tabs. The file may begin with a byte order mark.
    """
    text, where = read_text(path), str(path)
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, problems, end = list[CsvRow](), list[Problem](), 0
    try:
        columns = [name.strip() for name in next(reader, [])]
        for name in needed:
            if name not in columns:
                fix = did_you_mean(name, set(columns) - set(needed))
                problems.append(Problem("the column is missing", where, 1, name, fix))
        for name in sorted({name for name in columns if name and columns.count(name) > 1}):
            problems.append(Problem("two columns have this name", where, 1, name, "Rename one."))
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


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Writes a table completely, or not at all.

    The file begins with the byte order mark, by which spreadsheet programs recognise UTF-8.
    """
    header = dict(zip(columns, columns, strict=True))
    write_file(path, codecs.BOM_UTF8 + _encoded(columns, [header, *rows]))


def append_rows(table: CsvTable, rows: Sequence[Mapping[str, str]]) -> None:
    """Adds rows at the end of a file. The rows before them stay unchanged, byte for byte."""
    if not rows:
        return
    before = table.path.read_bytes()
    gap = b"" if before.endswith(b"\n") else b"\n"
    write_file(table.path, before + gap + _encoded(table.columns, rows, table.delimiter))


def _encoded(columns: Sequence[str], rows: Iterable[Mapping[str, str]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([escape_formula(row.get(name, "")) for name in columns] for row in rows)
    return text.getvalue().encode()


def escape_formula(cell: str) -> str:
    """Returns the cell, with an apostrophe before it if a spreadsheet program would read it as a formula."""
    return _SHIELD + cell if cell.startswith(_FORMULA) else cell


def unescape_formula(cell: str) -> str:
    """Returns the cell without the apostrophe that `escape_formula` put before it."""
    bare = cell.removeprefix(_SHIELD)
    return bare if bare.startswith(_FORMULA) else cell


def split_cell(cell: str) -> list[str]:
    """Returns the entries of a cell, which semicolons or line ends separate. Each entry is returned once."""
    parts = (part.strip() for part in cell.replace("\n", ";").split(";"))
    return list(dict.fromkeys(part for part in parts if part))
