"""Forms taken in as a study does it, without a study: through a journal, beside what people said before."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.records import Judgment
from assay.review.form_import import BlankRow, ReviewImport, read_marks
from assay.review.grade_forms import read_grades
from assay.review.marks import MarkBook, folder_book
from assay.review.passage_work import import_passages
from assay.store.journal import JudgmentEntry


@dataclass(frozen=True)
class Taken:
    """What forms brought."""

    judgments: list[Judgment]
    unchanged: int
    auto: int
    blanks: list[BlankRow]
    notes: list[str]


def take(*args: Any, standing: Sequence[Judgment], **more: Any) -> Taken:
    return _kept(read_marks(*args, standing=standing, **more), standing)


def take_grades(*args: Any, earlier: Sequence[Judgment], **more: Any) -> Taken:
    return _kept(read_grades(*args, earlier=earlier, **more), earlier)


def _kept(found: ReviewImport, earlier: Sequence[Judgment]) -> Taken:
    with tempfile.TemporaryDirectory() as folder:
        book: MarkBook[JudgmentEntry] = folder_book(Path(folder), JudgmentEntry)
        book.add(*map(JudgmentEntry, earlier))
        judgments = import_passages(found.filled, book, clock=lambda: 0.0)
    return Taken(judgments, found.unchanged, found.auto, found.blanks, found.notes)
