"""Responses: what models answered elsewhere, from a file of JSON lines or CSV (see `responses_file`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Hit, Observed, Query, Response
from assay.kinds.answers.datasets.content_documents import as_hits, check_condition, content_of, join_texts
from assay.kinds.answers.systems.responses_file import (
    NumberedRow,
    ResponseRow,
    ResponsesFile,
    in_order,
    read_responses,
)
from assay.systems.imported import ABSENT

FIRST_ADDRESS = "assay.systems.responses"

ERROR = "error"  # the fault of a row that says why there is no response
_NAMED = 5  # of many that are missing
_PER_TOKEN = 8  # characters: texts have fewer, so that a count below an eighth means that some was cut off


@dataclass(frozen=True)
class ResponsesIndex:
    """Rows and content documents by item. No query changes it, so it is its own session."""

    rows: Mapping[str, ResponseRow]
    content: Mapping[str, Sequence[Hit]]

    def session(self) -> ResponsesIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """The row of the item: a fault where collecting it went wrong. An empty text is an answer."""
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

    Hits are the content documents of that condition, where the corpus has them. `model` may be left out where
    the file has rows of one model only. An item without a row fails with the fault `absent`, one whose row
    holds an error with the fault `error`. Costs in the file were paid elsewhere, and are not booked again.
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
        content = content_of(corpus, self.condition)
        return ResponsesIndex(
            self.recorded(kit), {item_id: as_hits(given) for item_id, given in content.items()}
        )

    def recorded(self, kit: Kit) -> dict[str, ResponseRow]:
        """The rows of this condition and model by question, with the counts and costs in the file."""
        file = read_responses(kit.path(self.path))
        if problems := [*file.problems, *self._unfit(file)]:
            raise DataError(problems)
        return {line.row.question_id: line.row for line in file.of(self.condition, self.model)}

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """What is wrong with the file, and what shows that it is about other questions or models."""
        file = read_responses(kit.path(self.path))
        return in_order([*file.problems, *self._unfit(file), *_foreign(file, dataset)])

    def warnings(self, dataset: Dataset, kit: Kit) -> list[str]:
        """The questions that the file has no row for, whose items fail; and content that was cut off."""
        rows = read_responses(kit.path(self.path)).of(self.condition, self.model)
        who = f"condition {self.condition}" + (f" and model {self.model}" if self.model else "")
        told, there = list[str](), {line.row.question_id for line in rows}
        if lost := [item.item_id for item in dataset.items if item.item_id not in there]:
            counted = f"{len(lost)} of {len(dataset.items)} items"
            told.append(f"{self.path} has no row under {who} for {counted} ({_some(lost)})")
        if cut := self._cut_off(rows, dataset):
            what = f"input_token_count is too small for the content under {who}"
            fix = "was it cut off before the model saw it, or are these the tokens of something else?"
            told.append(f"{self.path}: {what} in {len(cut)} of {len(rows)} rows ({_some(cut)}): {fix}")
        return told

    def identity(self, kit: Kit) -> str:
        """The hash of the rows that are answered from, whatever else the file holds."""
        file = read_responses(kit.path(self.path))
        rows = sorted(file.of(self.condition, self.model), key=lambda line: line.row.key)
        return digest(msgspec.json.encode(line.row) for line in rows)

    def _unfit(self, file: ResponsesFile) -> Iterator[Problem]:
        """That the file has no row of this model or condition, or of more models than one can answer for."""
        if not file.lines:
            return
        if self.model and self.model not in file.models:
            fix = did_you_mean(self.model, file.models)
            yield Problem(f"it has no row of the model {self.model!r}", file.where, fix=fix)
        elif not self.model and len(file.models) > 1:
            what = f"it has rows of {len(file.models)} models, and none is chosen"
            names = ", ".join(map(repr, file.models[:_NAMED]))
            yield Problem(what, file.where, fix=f"Set model, or a factor of that name, to one of {names}.")
        elif not file.of(self.condition, self.model):
            of = f" of the model {self.model!r}" if self.model else ""
            what = f"it has no row{of} under the condition {self.condition}"
            yield Problem(what, file.where, fix="Collect it, or leave the system out.")

    def _cut_off(self, rows: Sequence[NumberedRow], dataset: Dataset) -> list[str]:
        """The questions whose model read fewer tokens than their content can have, by any tokenizer."""
        given = content_of(dataset.corpus, self.condition)
        sizes = {item_id: len(join_texts(each.text for each in texts)) for item_id, texts in given.items()}
        counts = {row.question_id: row.input_token_count for _, row in rows}
        return [
            item_id
            for item_id, count in counts.items()
            if count is not None and count * _PER_TOKEN < sizes.get(item_id, 0)
        ]


def _foreign(file: ResponsesFile, dataset: Dataset) -> Iterator[Problem]:
    """Rows for questions that are not there, whichever arm answers from them."""
    known = {item.item_id for item in dataset.items}
    for number, row in file.lines:
        if row.question_id not in known:
            fix = "Correct the id, or take the row out."
            yield Problem(f"there is no item {row.question_id!r}", file.where, number, "question_id", fix)


def _some(ids: Sequence[str]) -> str:
    """The first of many ids, and how many more there are."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ", ".join(ids[:_NAMED]) + more
