"""Reads the files of a dataset, and collects all problems of these files.

JSON lines and qrels may be gzipped. Parquet tables are read as rows. JSON is read with the line of each
field.
"""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from assay.core.errors import DataError, Problem, decoding_problem, did_you_mean
from assay.core.yaml_lines import Lines, Loc, read_text

if TYPE_CHECKING:
    import polars as pl


T = TypeVar("T")
R = TypeVar("R")
Relevant = dict[str, dict[str, float]]  # item_id -> doc_id -> grade

_NAMED = 5
_HEADINGS = frozenset({"score", "grade", "relevance", "rel", "label"})


@dataclass(frozen=True)
class FileRecords(Generic[T]):
    """The records of one file, with the line or the table row of each record."""

    where: str
    records: list[T]
    lines: list[int]

    def __iter__(self) -> Iterator[tuple[int, T]]:
        return zip(self.lines, self.records, strict=True)


class Qrel(NamedTuple):
    """One line of a qrels file."""

    item_id: str
    doc_id: str
    grade: float


class FolderReader:
    """Reads the files of one folder. `finish` raises a DataError with all problems that were found so far."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise DataError(Problem("there is no such folder", str(folder), fix="Check the path."))
        self.folder = folder
        self.problems: list[Problem] = []

    def finish(self) -> None:
        """Raises a DataError with the collected problems, if there are any."""
        if self.problems:
            raise DataError(self.problems)

    def find(self, name: str) -> Path | None:
        """Returns the path of a file or of its gzipped form; None if neither exists."""
        paths = (self.folder / name, self.folder / f"{name}.gz")
        return next((path for path in paths if path.is_file()), None)

    def need(self, *names: str) -> Path | None:
        """Returns the first of these files that exists. Records a problem if none of them exists."""
        found = next((path for path in map(self.find, names) if path), None)
        if found is None:
            fix = f"Add {' or '.join(names)} to the folder."
            self.problems.append(Problem("the file is missing", str(self.folder / names[0]), fix=fix))
        return found

    def jsonl(self, path: Path | None, make: Callable[[bytes], T], key: str) -> FileRecords[T]:
        """Reads one record per line. `key` is the attribute that must be unique."""
        return self.collect(path, self._lines(path) if path else (), make, key)

    def collect(
        self, path: Path | None, source: Iterable[tuple[int, R]], make: Callable[[R], T], key: str
    ) -> FileRecords[T]:
        """Turns rows into records with `make`.

        A row that `make` refuses becomes a problem with the row's line. `key` is the attribute that must be
        unique.
        """
        rows: FileRecords[T] = FileRecords(str(path), [], [])
        for line, raw in source:
            try:
                rows.records.append(make(raw))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                self.problems.append(decoding_problem(error, rows.where, line))
            except DataError as error:
                self.problems += (replace(problem, where=rows.where, line=line) for problem in error.problems)
            else:
                rows.lines.append(line)
        self._check_unique(rows, key)
        return rows

    def qrels(self, path: Path | None) -> FileRecords[Qrel]:
        """Reads lines of item, document and grade, separated by tabs. The first line may name the columns."""
        rows: FileRecords[Qrel] = FileRecords(str(path), [], [])
        before = len(self.problems)
        for line, raw in self._lines(path) if path else ():
            try:
                fields = [field.strip() for field in raw.decode().split("\t")]
            except UnicodeDecodeError as error:
                self.problems.append(decoding_problem(error, rows.where, line))
                continue
            grade = _grade(fields[-1])
            if len(fields) != 3:
                what = f"expected 3 tab-separated columns, found {len(fields)}"
                fix = "Write item, document and grade."
                self.problems.append(Problem(what, rows.where, line, fix=fix))
            elif grade is not None:
                rows.records.append(Qrel(fields[0], fields[1], grade))
                rows.lines.append(line)
            elif rows.records or fields[2].lower() not in _HEADINGS:
                fix = "Write a number such as 1."
                self.problems.append(Problem(f"{fields[2]!r} is not a grade", rows.where, line, "grade", fix))
        if path and not rows.records and len(self.problems) == before:
            self.problems.append(Problem("only column names, no grade", rows.where, fix="Add the judgments."))
        return rows

    def relevant(self, qrels: FileRecords[Qrel], items: Collection[str], docs: Collection[str]) -> Relevant:
        """Returns grades by item and document. Unknown items and passages become problems."""
        grades: Relevant = {}
        for line, (item_id, doc_id, grade) in qrels:
            if item_id not in items:
                fix = "Add the item, or remove the line."
                self.problems.append(Problem(f"there is no item {item_id!r}", qrels.where, line, fix=fix))
            if grade > 0 and doc_id not in docs:
                self.problems.append(missing_passages([doc_id], qrels.where, line))
            if grades.setdefault(item_id, {}).setdefault(doc_id, grade) != grade:
                what = f"{doc_id!r} has another grade for item {item_id!r} on an earlier line"
                self.problems.append(Problem(what, qrels.where, line, fix="Keep one of the two."))
        return grades

    def _lines(self, path: Path) -> Iterator[tuple[int, bytes]]:
        """Yields the lines that are not blank, numbered from 1."""
        empty = True
        try:
            with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
                for number, line in enumerate(stream, 1):
                    text = (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).strip()
                    if text:
                        empty = False
                        yield number, text
        except (OSError, EOFError, zlib.error) as error:
            fix = "Check that the file is whole and may be read."
            self.problems.append(Problem(f"cannot be read: {error}", str(path), fix=fix))
            return
        if empty:
            self.problems.append(Problem("the file is empty", str(path), fix="Fill it, or remove it."))

    def _check_unique(self, rows: FileRecords[T], key: str) -> None:
        first: dict[str, int] = {}
        key_of = attrgetter(key)
        for line, record in rows:
            known = first.setdefault(value := key_of(record), line)
            if known != line:
                what = f"the {key} {value!r} stands on line {known} already"
                self.problems.append(Problem(what, rows.where, line, fix="Ids must be unique."))


def missing_passages(doc_ids: Collection[str], where: str, line: int, field: str = "") -> Problem:
    """Returns the problem that some passages are not in the corpus."""
    names = ", ".join(map(repr, list(doc_ids)[:_NAMED]))
    more = f" and {len(doc_ids) - _NAMED} more" if len(doc_ids) > _NAMED else ""
    fix = "Add them to the corpus, or take them out here."
    return Problem(f"not in the corpus: {names}{more}", where, line, field, fix)


def unknown_documents(named: Mapping[str, float], docs: Collection[str]) -> list[str]:
    """Returns the documents with a grade above 0 that are not among `docs`. Others may be absent."""
    return [doc_id for doc_id, grade in named.items() if grade > 0 and doc_id not in docs]


def _grade(text: str) -> float | None:
    try:
        grade = float(text)
    except ValueError:
        return None
    if not math.isfinite(grade):
        return None
    return int(grade) if grade.is_integer() else grade


Row = dict[str, Any]


def table_rows(
    reader: FolderReader, path: Path, needed: Collection[str], texts: Collection[str]
) -> Iterable[tuple[int, Row]]:
    """Returns the rows of a Parquet file, numbered from 1.

    There are no rows if the reader recorded a problem with the table. `needed` are columns that must exist.
    `texts` are columns that must hold text if they exist.
    """
    import polars as pl

    try:
        # an open file: in a path, polars reads brackets and stars as patterns
        with path.open("rb") as stream:
            frame = pl.read_parquet(stream)
    except FileNotFoundError:
        reader.problems.append(Problem("there is no such file", str(path), fix="Check the path."))
        return ()
    # for some damaged pages polars raises a panic outside of its exception tree
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        problem = Problem(f"cannot be read as Parquet: {error}", str(path), fix="Write the file again.")
        reader.problems.append(problem)
        return ()
    problems = [
        Problem("the column is missing", str(path), field=column, fix=did_you_mean(column, frame.columns))
        for column in needed
        if column not in frame.columns
    ]
    kinds = (pl.String, pl.Categorical, pl.Enum, pl.Null)
    problems += [
        Problem(f"the column holds {dtype}, not text", str(path), field=column, fix="Cast it to a string.")
        for column, dtype in frame.schema.items()
        if column in texts and not isinstance(dtype, kinds)
    ]
    if frame.is_empty():
        problems.append(Problem("the table has no rows", str(path), fix="Fill it, or remove it."))
    reader.problems += problems
    return () if problems else _numbered(reader, path, frame)


def _numbered(reader: FolderReader, path: Path, frame: pl.DataFrame) -> Iterator[tuple[int, Row]]:
    import polars as pl

    try:
        yield from enumerate(frame.iter_rows(named=True), 1)
    # Parquet can hold dates and durations beyond those of Python
    except (pl.exceptions.PanicException, OverflowError, ValueError) as error:
        what = f"a cell holds what Python cannot: {error}"
        reader.problems.append(Problem(what, str(path), fix="Correct it, or write the column as text."))


_TOKEN = re.compile(r'[{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+')  # only for valid JSON


def read_json(path: Path) -> tuple[Any, Lines]:
    """Returns the content of a JSON file, and the line of each field."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str) -> tuple[Any, Lines]:
    """Returns the content of a JSON text, and the line of each field.

    `where` is the name of the text in problems.
    """
    try:
        content = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DataError(_json_problem(text, where, error)) from None
    lines = Lines(where)
    if doubled := _note_lines(text, lines):
        raise DataError(doubled)
    return content, lines


def _json_problem(text: str, where: str, error: Exception) -> Problem:
    if isinstance(error, RecursionError):
        return Problem("it is nested too deeply", where, fix="Write it flat.")
    try:
        json.loads(text)
    except json.JSONDecodeError as found:  # this error has the line
        what = f"this is not JSON: {found.msg[:1].lower()}{found.msg[1:]}"
        return Problem(what, where, found.lineno, fix="Correct the line, or one shortly before it.")
    except (ValueError, RecursionError):
        pass
    what = "this is not JSON: it holds NaN, Infinity, a number out of range or half a character"
    return Problem(what, where, fix="Write numbers that are finite, and \\u escapes of characters in pairs.")


def _note_lines(text: str, lines: Lines) -> list[Problem]:
    """Records the line of every field. Returns a problem for each key that occurs twice in an object."""
    loc: list[str | int] = []  # the place of the next value; "" for a key that is not read yet
    key_next, line, at = False, 1, 0
    problems: list[Problem] = []
    for token in _TOKEN.finditer(text):
        sign, start = token[0], token.start()
        line, at = line + text.count("\n", at, start), start
        if sign in "]}":
            loc.pop()
            key_next = False
        elif sign == ",":
            last = loc[-1]
            key_next = isinstance(last, str)
            loc[-1] = last + 1 if isinstance(last, int) else ""
        elif key_next and sign != ":":
            loc[-1] = msgspec.json.decode(sign, type=str)
            problems += _repeated_key(tuple(loc), line, lines)
            lines.at[tuple(loc)] = line
            key_next = False
        elif sign != ":":
            lines.at.setdefault(tuple(loc), line)
            if sign in "[{":
                loc.append(0 if sign == "[" else "")
                key_next = sign == "{"
    return problems


def _repeated_key(loc: Loc, line: int, lines: Lines) -> list[Problem]:
    if loc not in lines.at:
        return []
    what, field = f"this field is already on line {lines.at[loc]}", ".".join(map(str, loc))
    return [Problem(what, lines.where, line, field, "Keep one of the two.")]
