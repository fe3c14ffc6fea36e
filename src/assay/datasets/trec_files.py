"""Reads TREC run files (`qid Q0 docid rank score tag`) and qrels (`qid 0 docid grade`), plain or gzipped.

Columns are separated by any mix of spaces and tabs. As in trec_eval, the second column, the rank and
everything after a run's tag are ignored. Blank lines and lines that start with # are skipped. In a regular
file, one space or one tab separates the columns. polars reads such a file at full speed. If anything is
irregular, the file is read again line by line; this reads the file, or reports each problem with its line.
"""

from __future__ import annotations

import codecs
import gzip
import math
import mmap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from assay.core.errors import DataError, Problem, decoding_problem

_BEGINNING = 2**16  # bytes to look at for the first line of content
_MIX = 0x9E3779B97F4A7C15  # an odd number, so that the hashes of (a, b) and (b, a) differ


@dataclass(frozen=True)
class _ColumnLayout:
    """The columns of a kind of file. Columns with a leading underscore are ignored."""

    columns: tuple[str, ...]
    number: str  # the column that holds a number
    integer: bool
    surplus: bool  # whether more columns may follow
    header: bool = False  # whether the first line names the columns

    @property
    def kept(self) -> tuple[str, str, str]:
        return ("item", "doc", self.number)

    @property
    def schema(self) -> dict[str, type[pl.DataType]]:
        number = pl.Int64 if self.integer else pl.Float64
        return {name: number if name == self.number else pl.String for name in self.columns}


_RUN = _ColumnLayout(("item", "_q0", "doc", "_rank", "score", "_tag"), "score", integer=False, surplus=True)
_MOST = 2**63  # limit of a grade: its column has 64 bits
_QRELS = _ColumnLayout(("item", "_0", "doc", "grade"), "grade", integer=True, surplus=False)
_BEIR = _ColumnLayout(("item", "doc", "grade"), "grade", integer=True, surplus=False)


def read_run(path: str | Path) -> pl.DataFrame:
    """Reads a run file into the columns item, doc and score, in the order of the file."""
    return _read(Path(path), _RUN)


def read_qrels(path: str | Path) -> pl.DataFrame:
    """Reads a qrels file into the columns item, doc and grade, in the order of the file.

    A file of three columns is a BEIR file. Its first line may name the columns.
    """
    _, first = next(_fields(bytes(_content(Path(path))[:_BEGINNING])), (0, []))
    if len(first) != len(_BEIR.columns):
        return _read(Path(path), _QRELS)
    return _read(
        Path(path), replace(_BEIR, header=_parse_number(first[-1].decode(errors="replace"), True) is None)
    )


def read_bytes(path: Path) -> bytes:
    """Returns the content of a file without a byte order mark. A gzipped file is unpacked."""
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
    except FileNotFoundError:
        raise DataError(Problem("there is no such file", str(path), fix="Check the path.")) from None
    except (OSError, EOFError, zlib.error) as error:
        fix = "Check that the file is whole and may be read."
        raise DataError(Problem(f"cannot be read: {error}", str(path), fix=fix)) from error
    return data.removeprefix(codecs.BOM_UTF8)


def _read(path: Path, layout: _ColumnLayout) -> pl.DataFrame:
    frame = _read_regular(path, layout)
    return _read_lines(read_bytes(path), layout, str(path)) if frame is None else frame


def _read_regular(path: Path, layout: _ColumnLayout) -> pl.DataFrame | None:
    """Reads a regular file at full speed. Returns None if the file is irregular in any way."""
    data = _content(path)
    separator = b"\t" if data.find(b"\t") >= 0 else b" "
    if separator == b"\t" and data.find(b" ") >= 0:
        return None
    # polars maps a plain file by its name, without a copy
    scan = pl.scan_csv(
        data if isinstance(data, bytes) else path,
        has_header=layout.header,
        separator=separator.decode(),
        quote_char=None,
        comment_prefix="#",
        schema=layout.schema,
        glob=False,
    )
    last = pl.col(layout.columns[-1])
    try:
        frame = scan.select(*layout.kept, complete=last.is_not_null()).collect()
    except pl.exceptions.PolarsError:
        return None
    # polars fills a short line with nulls and drops the surplus of a long one
    whole = bool(frame["complete"].all()) and not any(frame.null_count().row(0))
    exact = layout.surplus or data[:].count(separator) == (len(frame) + layout.header) * (
        len(layout.columns) - 1
    )
    if frame.is_empty() or not whole or not exact:
        return None
    if not frame[layout.number].is_finite().all() or _may_repeat(frame):
        return None
    return frame.select(layout.kept)


def _content(path: Path) -> bytes | mmap.mmap:
    """Returns the content of a file.

    A plain file is mapped into memory. A file that is gzipped, has a byte order mark or is empty is read as
    bytes.
    """
    try:
        with path.open("rb") as file:
            head = file.read(len(codecs.BOM_UTF8))
            if head and not head.startswith((b"\x1f\x8b", codecs.BOM_UTF8)):
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # outlives the open file
    except (OSError, ValueError):
        pass  # read_bytes reports what is wrong
    return read_bytes(path)


def _may_repeat(frame: pl.DataFrame) -> bool:
    """Whether a pair of item and document may occur twice. If the answer is no, it is certain."""
    key = frame["item"].hash().to_numpy() * np.uint64(_MIX) ^ frame["doc"].hash().to_numpy()
    key.sort()
    return bool((key[1:] == key[:-1]).any())


def _read_lines(data: bytes, layout: _ColumnLayout, where: str) -> pl.DataFrame:
    """Reads a file line by line. Raises a DataError with all problems of the file."""
    rows: list[tuple[str, str, float]] = []
    problems: list[Problem] = []
    first: dict[tuple[str, str], int] = {}
    for line, fields in islice(_fields(data), int(layout.header), None):
        row = _row(fields, layout, where, line)
        if isinstance(row, Problem):
            problems.append(row)
        elif (earlier := first.setdefault(row[:2], line)) != line:
            what = f"document {row[1]!r} of query {row[0]!r} stands on line {earlier} already"
            problems.append(Problem(what, where, line, fix="Keep one of the two."))
        else:
            rows.append(row)
    if not rows and not problems:
        problems.append(Problem("the file is empty", where, fix="Check the path, or what wrote it."))
    if problems:
        raise DataError(_condense(problems) if not rows else problems)
    schema = {name: layout.schema[name] for name in layout.kept}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _condense(problems: list[Problem]) -> list[Problem]:
    """Returns one problem if every line has the same problem: the file is then of another kind."""
    first = problems[0]
    if len(problems) == 1 or len({problem.what for problem in problems}) > 1:
        return problems
    return [Problem(f"on every line: {first.what}", first.where, fix=f"Is this the right file? {first.fix}")]


def _fields(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yields the number and the columns of every line that has content."""
    for number, line in enumerate(data.split(b"\n"), 1):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            yield number, fields


def _row(
    fields: list[bytes], layout: _ColumnLayout, where: str, line: int
) -> tuple[str, str, float] | Problem:
    expected = len(layout.columns)
    if len(fields) < expected or (len(fields) > expected and not layout.surplus):
        shape = " ".join(name.removeprefix("_") for name in layout.columns)
        what = f"expected {expected} columns, found {len(fields)}"
        return Problem(what, where, line, fix=f"Write: {shape}.")
    try:
        named = dict(zip(layout.columns, (field.decode() for field in fields), strict=False))
    except UnicodeDecodeError as error:
        return decoding_problem(error, where, line)
    number = _parse_number(named[layout.number], layout.integer)
    if layout.integer and number is not None and not -_MOST <= number < _MOST:
        what = f"{named[layout.number][:40]} has too many digits"
        return Problem(what, where, line, layout.number, fix="Write an integer of at most 18.")
    if number is None:
        kind = "an integer" if layout.integer else "a finite number"
        what = f"{named[layout.number]!r} is not {kind}"
        return Problem(what, where, line, layout.number, fix=f"Write {kind}.")
    return named["item"], named["doc"], number


def _parse_number(text: str, integer: bool) -> float | None:
    try:
        number = int(text) if integer else float(text)
    except ValueError:
        return None
    return number if "_" not in text and (integer or math.isfinite(number)) else None
