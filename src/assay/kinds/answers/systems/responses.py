"""Responses: answers that models gave elsewhere, read from JSON lines or CSV, plain or gzipped.

    {"question_id": "S001-Q01", "model_id": "small-8b", "condition": "A", "response": "Twice a week."}

A row with `error` says why there is no response. These fields are optional: input_token_count,
output_token_count, tokenizer, cost, seconds and collected. Other fields are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.errors import DataError, Problem, UsageError, decoding_problem, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Hit, Observed, Query, Response
from assay.datasets.trec_files import read_bytes
from assay.kinds.answers.content_pairs import CONDITIONS, as_hits, check_condition, content_of, join_texts
from assay.kinds.answers.datasets.answer_study_files import csv_rows
from assay.systems.imported import ABSENT

FIRST_ADDRESS = "assay.systems.responses"

ERROR = "error"  # the fault of a row that says why there is no response
_LISTED = 5  # ids that a message lists
_PER_TOKEN = 8  # characters; any text has fewer per token, so a lower count means that text was cut off
_NEEDED = ("question_id", "condition", "response")
_SUFFIXES = (".jsonl", ".ndjson", ".csv")

Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


# ------------------------------------------------------------------------------------- the file


class ResponseRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer of one model to one question under one condition, or the reason why there is none."""

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
    """A row, and the number of its line in the file."""

    number: int
    row: ResponseRow


@dataclass(frozen=True)
class ResponsesFile:
    """The readable rows of a file of responses, and all problems of its form."""

    where: str
    rows: Sequence[NumberedRow] = ()
    problems: Sequence[Problem] = ()

    @property
    def models(self) -> list[str]:
        """The models that have rows in the file, in the order of the file."""
        return list(dict.fromkeys(line.row.model_id for line in self.rows))

    def of(self, condition: str, model: str) -> list[NumberedRow]:
        """Returns the rows of one condition and model. Without a model, returns the rows of every model."""
        wanted = (line for line in self.rows if line.row.condition == condition)
        return [line for line in wanted if not model or line.row.model_id == model]


def read_responses(path: Path) -> ResponsesFile:
    """Reads the rows of a file. Problems of the file's form are collected, never raised."""
    where, problems = str(path), list[Problem]()
    rows: list[NumberedRow] = []
    try:
        for number, read in _row_readers(path, where):
            try:
                row = read()
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                problems.append(decoding_problem(error, where, number))
                continue
            if wrong := [*_row_problems(row, where, number)]:
                problems += wrong
            else:
                rows.append(NumberedRow(number, row))
    except DataError as error:  # of the file as a whole
        problems += (replace(each, where=where) for each in error.problems)
    if not rows and not problems:
        problems.append(Problem("there is no response in it", where, fix="Write one row per response."))
    first: dict[tuple[str, str, str], int] = {}
    for number, row in rows:
        if (known := first.setdefault(row.key, number)) != number:
            model = f" by {row.model_id!r}" if row.model_id else ""
            what = f"{row.question_id!r} under {row.condition}{model} is on line {known} already"
            problems.append(Problem(what, where, number, fix="Keep the one that counts."))
    return ResponsesFile(where, rows, _by_line(problems))


def _by_line(problems: Iterable[Problem]) -> list[Problem]:
    """Sorts problems by line. Problems of the file as a whole come first."""
    return sorted(problems, key=lambda each: each.line or 0)


def _row_readers(path: Path, where: str) -> Iterator[tuple[int, Callable[[], ResponseRow]]]:
    """Yields the line number of each row, and a function that reads the row."""
    name = path.name.removesuffix(".gz")
    if not name.endswith(_SUFFIXES):
        fix = f"Write it as one of {', '.join(_SUFFIXES)}, gzipped or not."
        raise DataError(Problem("it is neither JSON lines nor CSV", where, fix=fix))
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if not name.endswith(".csv"):
        if data.lstrip().startswith(b"["):
            what, fix = (
                "it is one JSON list",
                "Write one object per line, without brackets and commas between.",
            )
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
        yield number, lambda cells=cells: _from_csv(cells)  # type: ignore[misc]


def _from_csv(cells: dict[str, str]) -> ResponseRow:
    """Reads a row of a CSV file. Empty cells are ignored, but an empty response is an answer."""
    given: dict[str, Any] = {name: value.strip() for name, value in cells.items() if value.strip()}
    if "error" not in given:
        given["response"] = cells["response"]
    return msgspec.convert(given, ResponseRow, strict=False)


def _row_problems(row: ResponseRow, where: str, number: int) -> Iterator[Problem]:
    if row.condition not in CONDITIONS:
        what, fix = f"{row.condition!r} is not a condition", f"Write {' or '.join(CONDITIONS)}."
        yield Problem(what, where, number, "condition", fix)
    if row.response is None and not row.error:
        what = "there is neither a response nor an error"
        fix = 'Write what the model answered, "" if it said nothing, or an error.'
        yield Problem(what, where, number, "response", fix)


# ------------------------------------------------------------------------------------ the system


@dataclass(frozen=True)
class ResponsesIndex:
    """Rows and content documents by item. No query changes the index, so it is its own session."""

    rows: Mapping[str, ResponseRow]
    content: Mapping[str, Sequence[Hit]]

    def session(self) -> ResponsesIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """Returns the response of the item, or a fault if its row is missing or has an error.

        An empty text is an answer.
        """
        if (row := self.rows.get(query.item_id)) is None:
            return Response(error=ABSENT)
        seen = Observed({} if row.seconds is None else {"total": row.seconds}, tokens=row.output_token_count)
        if row.error:
            return Response(error=Fault(ERROR, row.error), observed=seen)
        hits = list(self.content.get(query.item_id, ()))
        return Response(hits=hits, answer=row.response or "", observed=seen)


@dataclass(frozen=True)
class Responses:
    """Answers of one model under one condition, from a file that was collected elsewhere.

    Hits are the content documents of that condition, if the corpus has them. `model` may be left out if the
    file has rows of one model only. An item without a row fails with the fault `absent`. An item whose row
    has an error fails with the fault `error`. Costs in the file were paid elsewhere, and are not counted
    again.
    """

    path: str
    condition: str
    model: str = ""
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "answer"})
    seeded: ClassVar[bool] = False
    origin: ClassVar[str] = "imported"

    def __post_init__(self) -> None:
        check_condition(self.condition)
        if not self.path:
            raise UsageError("path: no file is named. Write the file that holds the responses.")

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ResponsesIndex:
        file = read_responses(kit.path(self.path))
        if problems := [*file.problems, *self._unfit(file)]:
            raise DataError(problems)
        rows = {line.row.question_id: line.row for line in file.of(self.condition, self.model)}
        content = content_of(corpus, self.condition)
        return ResponsesIndex(rows, {item_id: as_hits(given) for item_id, given in content.items()})

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Returns the problems of the file. A row for a question that the dataset lacks is also a problem."""
        file = read_responses(kit.path(self.path))
        known = {item.item_id for item in dataset.items}
        fix = "Correct the id, or take the row out."
        foreign = [
            Problem(f"there is no item {row.question_id!r}", file.where, number, "question_id", fix)
            for number, row in file.rows
            if row.question_id not in known
        ]
        return _by_line([*file.problems, *self._unfit(file), *foreign])

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """Warns about questions without a row, whose items fail, and about content that was cut off."""
        rows = read_responses(kit.path(self.path)).of(self.condition, self.model)
        who = f"condition {self.condition}" + (f" and model {self.model}" if self.model else "")
        found, there = list[str](), {line.row.question_id for line in rows}
        if lost := [item.item_id for item in dataset.items if item.item_id not in there]:
            count = f"{len(lost)} of {len(dataset.items)} items"
            found.append(f"{self.path} has no row under {who} for {count} ({_list_some(lost)})")
        if cut := self._cut_off(rows, dataset):
            what = f"input_token_count is too small for the content under {who}"
            fix = "was it cut off before the model saw it, or are these the tokens of something else?"
            found.append(f"{self.path}: {what} in {len(cut)} of {len(rows)} rows ({_list_some(cut)}): {fix}")
        return found

    def identity(self, kit: Kit) -> str:
        """Returns the hash of the rows of this condition and model. Other rows do not matter."""
        file = read_responses(kit.path(self.path))
        rows = sorted(file.of(self.condition, self.model), key=lambda line: line.row.key)
        return digest(msgspec.json.encode(line.row) for line in rows)

    def _unfit(self, file: ResponsesFile) -> Iterator[Problem]:
        """Yields a problem if no row fits, or if the file has several models and none is chosen."""
        if not file.rows:
            return
        if self.model and self.model not in file.models:
            fix = did_you_mean(self.model, file.models)
            yield Problem(f"it has no row of the model {self.model!r}", file.where, fix=fix)
        elif not self.model and len(file.models) > 1:
            what = f"it has rows of {len(file.models)} models, and none is chosen"
            names = ", ".join(map(repr, file.models[:_LISTED]))
            yield Problem(what, file.where, fix=f"Set model, or a factor of that name, to one of {names}.")
        elif not file.of(self.condition, self.model):
            of = f" of the model {self.model!r}" if self.model else ""
            what = f"it has no row{of} under the condition {self.condition}"
            yield Problem(what, file.where, fix="Collect it, or leave the system out.")

    def _cut_off(self, rows: Sequence[NumberedRow], dataset: Dataset) -> list[str]:
        """Returns the questions whose number of input tokens is too small for their content.

        The limit holds for any tokenizer.
        """
        given = content_of(dataset.corpus, self.condition)
        sizes = {item_id: len(join_texts(each.text for each in texts)) for item_id, texts in given.items()}
        counts = {row.question_id: row.input_token_count for _, row in rows}
        return [
            item_id
            for item_id, count in counts.items()
            if count is not None and count * _PER_TOKEN < sizes.get(item_id, 0)
        ]


def _list_some(ids: Sequence[str]) -> str:
    """Lists the first of many ids, and says how many more there are."""
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    return ", ".join(ids[:_LISTED]) + more
