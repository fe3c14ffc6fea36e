"""The book of marks: on disk before it says so, whoever removes what under it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.kinds.answers.scoring.marks import Mark, score_book


def mark(number: int) -> Mark:
    return Mark(f"mark-{number}", "anna", f"R-{number}", "accuracy", 2, time=float(number))


def on_disk(folder: Path) -> list[Mark]:
    return [line for line in score_book(folder).lines if isinstance(line, Mark)]


@pytest.mark.parametrize("all_of_it", [True, False], ids=["the folder", "the last segment"])
def test_what_is_removed_under_it_is_written_anew_also_what_earlier_servers_took(
    tmp_path: Path, all_of_it: bool
) -> None:
    folder = tmp_path / "marks"
    earlier = score_book(folder)
    earlier.add(mark(1), mark(2))
    earlier.close()
    book = score_book(folder)
    book.add(mark(3))
    if all_of_it:
        shutil.rmtree(folder)
    else:
        max(folder.iterdir()).unlink()
    book.add(mark(4))
    assert sorted(on_disk(folder), key=lambda each: each.time) == [mark(number) for number in (1, 2, 3, 4)]
    book.close()
