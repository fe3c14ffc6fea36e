"""What people thought of search results: query, language, helpful, time, and nothing about who they are."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.core.errors import DataError, Problem, UsageError, decoding_problem
from assay.core.yaml_lines import read_text

COLUMNS = ("query", "language", "helpful", "time")
Row = dict[str, Any] | list[str] | str  # by column, of another length than the header, or as a JSON object
_SECONDS = re.compile(r"\d{9,10}(\.\d+)?")
_YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_object = msgspec.json.Decoder(dict[str, Any]).decode


class Feedback(NamedTuple):
    """One person's yes or no to the results of one query."""

    query: str
    language: str
    helpful: bool
    time: datetime


def read_feedback(path: Path) -> list[Feedback]:
    """The feedback in a CSV or JSONL file; any column beyond the four is refused."""
    if path.suffix not in {".csv", ".jsonl"}:
        raise UsageError(f"{path} is neither .csv nor .jsonl. Write {', '.join(COLUMNS)} as one of the two.")
    text, where = read_text(path), str(path)
    rows = _csv_rows(text, where) if path.suffix == ".csv" else _json_rows(text)
    found, problems = [], list[Problem]()
    try:
        for line, row in rows:
            try:
                found.append(_feedback(_decoded(row)))
            except DataError as error:
                problems += [Problem(one.what, where, line, one.field, one.fix) for one in error.problems]
            except (msgspec.MsgspecError, RecursionError) as error:
                problems.append(decoding_problem(error, where, line))
    except csv.Error as error:
        problems.append(Problem(f"this is not CSV: {error}", where, fix="Check its quotes."))
    if not found and not problems:
        problems.append(Problem("there is no feedback in it", where, fix="Write a row a vote."))
    if problems:
        raise DataError(problems)
    return found


def _csv_rows(text: str, where: str) -> Iterator[tuple[int, Row]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in next(reader, [])]
    if problems := _column_problems(header):
        raise DataError([Problem(one.what, where, 1, one.field, one.fix) for one in problems])
    for row in reader:
        if row:
            yield reader.line_num, dict(zip(header, row, strict=True)) if len(row) == len(header) else row


def _json_rows(text: str) -> Iterator[tuple[int, Row]]:
    yield from ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _decoded(row: Row) -> dict[str, Any]:
    if isinstance(row, dict):
        return row
    if isinstance(row, list):
        what = f"{len(row)} values where {len(COLUMNS)} columns are named"
        raise DataError(Problem(what, fix="Write a value for each."))
    found = _object(row)
    if problems := _column_problems(found):
        raise DataError(problems)
    return found


def _column_problems(names: Collection[str]) -> list[Problem]:
    more = [name for name in names if name not in COLUMNS]
    fix = f"Take it out: only {', '.join(COLUMNS)} are read, and nothing about people."
    problems = [Problem("this column is not taken in", field=name, fix=fix) for name in more]
    lacking = [name for name in COLUMNS if name not in names]
    problems += [Problem("this column is missing", field=name, fix="Add it.") for name in lacking]
    if not problems and len(names) > len(COLUMNS):
        problems.append(Problem("a column stands twice", fix="Keep one of the two."))
    return problems


def _feedback(row: dict[str, Any]) -> Feedback:
    problems = [
        Problem("it is empty", field=name, fix="Fill it in, or take the row out.")
        for name in ("query", "language")
        if not isinstance(row.get(name), str) or not row[name].strip()
    ]
    helpful, time = _yes_no(row.get("helpful")), _time(row.get("time"))
    if helpful is None:
        what = f"{row.get('helpful')!r} is neither yes nor no"
        problems.append(Problem(what, field="helpful", fix="Write true or false."))
    if time is None:
        what, fix = f"{row.get('time')!r} is no time", "Write it like 2026-03-15T10:30:00Z."
        problems.append(Problem(what, field="time", fix=fix))
    if problems or helpful is None or time is None:
        raise DataError(problems)
    return Feedback(row["query"].strip(), row["language"].strip(), helpful, time)


def _yes_no(value: Any) -> bool | None:
    return _YES_NO.get(str(value).strip().lower()) if isinstance(value, str | bool | int) else None


def _time(value: Any) -> datetime | None:
    """An ISO 8601 time, or a Unix one; without a zone it is taken as UTC."""
    if isinstance(value, str) and _SECONDS.fullmatch(value.strip()):
        value = float(value)
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        found = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    if found is None:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
