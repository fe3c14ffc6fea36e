"""A mark that its own judge takes back, and what stands then."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.records import Judgment
from assay.judges.labels import current_judgments


def said(mark: str, replaces: str | None = None, *, judge: str = "anna", withdrawn: bool = False) -> Judgment:
    grade = float(mark[-1])
    return Judgment(
        "q0", "review", grade, judge, target="d", judgment_id=mark, replaces=replaces, withdrawn=withdrawn
    )


FIRST, SECOND = said("m1"), said("m2", "m1")
UNDO_SECOND, UNDO_FIRST = said("w3", "m2", withdrawn=True), said("w4", "m1", withdrawn=True)


@pytest.mark.parametrize(
    ("marks", "stand"),
    [
        ([FIRST], ["m1"]),
        ([FIRST, said("w2", "m1", withdrawn=True)], []),
        ([FIRST, SECOND], ["m2"]),
        ([FIRST, SECOND, UNDO_SECOND], ["m1"]),  # what it had replaced stands again
        ([FIRST, SECOND, UNDO_SECOND, UNDO_FIRST], []),
        ([FIRST, SECOND, UNDO_SECOND, UNDO_FIRST, said("m5")], ["m5"]),
        ([FIRST, SECOND, UNDO_SECOND, said("m5", "m1")], ["m5"]),
        ([FIRST, said("w2", "m1", judge="mallory", withdrawn=True)], ["m1"]),  # nobody else's to take back
        ([FIRST, said("w2", withdrawn=True)], ["m1"]),  # it names nothing
    ],
)
def test_current_judgments(marks: list[Judgment], stand: list[str]) -> None:
    assert [each.judgment_id for each in current_judgments(marks)] == stand


def test_a_mark_that_stands_is_stored_as_before() -> None:
    assert b"withdrawn" not in msgspec.json.encode(FIRST)
    assert msgspec.json.decode(msgspec.json.encode(UNDO_FIRST), type=Judgment).withdrawn
