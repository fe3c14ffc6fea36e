"""The file in which somebody wrote down what models answered: JSON lines or CSV, plain or gzipped.

    {"question_id": "S001-Q01", "model_id": "small-8b", "condition": "A", "response": "Twice a week."}

A row with `error` says why there is no response. input_token_count, output_token_count, tokenizer, cost,
seconds and collected are optional; other fields are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from assay.core.errors import DataError, Problem, decoding_problem
from assay.datasets.trec_files import read_bytes
from assay.kinds.answers.datasets.answer_study_files import csv_rows
from assay.kinds.answers.datasets.content_documents import CONDITIONS

Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
_NEEDED = ("question_id", "condition", "response")
_SUFFIXES = (".jsonl", ".ndjson", ".csv")


class ResponseRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one model answered to one question under one condition, or why it did not."""

    question_id: str
    condition: str
    model_id: str = ""
    response: str | None = None
    error: str | None = None
    input_token_count: Count | None = None
    output_token_count: Count | None = None
    tokenizer: str | None = None
    cost: Amount | None = None
    seconds: Amount | None = None
    collected: str | float | None = None  # when

    @property
    def key(self) -> tuple[str, str, str]:
        return self.question_id, self.model_id, self.condition


class NumberedRow(NamedTuple):
    """A row, and the line of the file that it stands on."""

    number: int
    row: ResponseRow


@dataclass(frozen=True)
class ResponsesFile:
    """A file of responses as far as it could be read, and everything that is wrong with its form."""

    where: str
    lines: Sequence[NumberedRow] = ()
    problems: Sequence[Problem] = ()

    @property
    def models(self) -> list[str]:
        """The models it has rows of, in the order of the file."""
        return list(dict.fromkeys(line.row.model_id for line in self.lines))

    def of(self, condition: str, model: str) -> list[NumberedRow]:
        """The rows of one condition and model; without a model those of every one."""
        wanted = (line for line in self.lines if line.row.condition == condition)
        return [line for line in wanted if not model or line.row.model_id == model]


def read_responses(path: Path) -> ResponsesFile:
    """The rows of a file; what is wrong with its form is among its problems, never raised."""
    where, problems = str(path), list[Problem]()
    lines: list[NumberedRow] = []
    try:
        for number, make in _rows(path, where):
            try:
                lines.append(NumberedRow(number, _checked(make())))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                problems.append(decoding_problem(error, where, number))
            except DataError as error:
                problems += (replace(told, where=where, line=number) for told in error.problems)
    except DataError as error:  # of the file as a whole
        problems += (replace(told, where=where) for told in error.problems)
    if not lines and not problems:
        problems.append(Problem("there is no response in it", where, fix="Write a row a response."))
    problems += _doubled(lines, where)
    return ResponsesFile(where, lines, in_order(problems))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Problems by their lines, those of the file as a whole first."""
    return sorted(problems, key=lambda each: each.line or 0)


def _rows(path: Path, where: str) -> Iterator[tuple[int, Callable[[], ResponseRow]]]:
    """Each row's line, and what reads the row."""
    name = path.name.removesuffix(".gz")
    if not name.endswith(_SUFFIXES):
        fix = f"Write it as one of {', '.join(_SUFFIXES)}, gzipped or not."
        raise DataError(Problem("it is neither JSON lines nor CSV", where, fix=fix))
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if not name.endswith(".csv"):
        if data.lstrip().startswith(b"["):
            what, fix = "it is one JSON list", "Write one object a line, without brackets and commas between."
            raise DataError(Problem(what, where, fix=fix))
        for number, raw in enumerate(data.split(b"\n"), 1):
            if raw.strip():
                yield number, lambda raw=raw: msgspec.json.decode(raw, type=ResponseRow)  # type: ignore[misc]
        return
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DataError(decoding_problem(error, where, data.count(b"\n", 0, error.start) + 1)) from None
    for number, cells in csv_rows(text, where, _NEEDED):
        yield number, lambda cells=cells: _row_of(cells)  # type: ignore[misc]


def _row_of(cells: dict[str, str]) -> ResponseRow:
    """A row of a CSV file: an empty cell is nothing said, except where it is the response of a model."""
    given: dict[str, Any] = {name: value.strip() for name, value in cells.items() if value.strip()}
    if "error" not in given:
        given["response"] = cells["response"]
    return msgspec.convert(given, ResponseRow, strict=False)


def _checked(row: ResponseRow) -> ResponseRow:
    problems = []
    if row.condition not in CONDITIONS:
        what, fix = f"{row.condition!r} is no condition", f"Write {' or '.join(CONDITIONS)}."
        problems.append(Problem(what, field="condition", fix=fix))
    if row.response is None and not row.error:
        fix = 'Write what the model answered, "" where it said nothing, or an error.'
        problems.append(Problem("there is neither a response nor an error", field="response", fix=fix))
    if problems:
        raise DataError(problems)
    return row


def _doubled(lines: Sequence[NumberedRow], where: str) -> Iterator[Problem]:
    first: dict[tuple[str, str, str], int] = {}
    for number, row in lines:
        if (known := first.setdefault(row.key, number)) != number:
            model = f" by {row.model_id!r}" if row.model_id else ""
            what = f"{row.question_id!r} under {row.condition}{model} stands on line {known} already"
            yield Problem(what, where, number, fix="Keep the one that counts.")
