"""The journal: what is written is read back, whatever happened to the file in between."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError
from assay.records import Hit, Judgment, Response
from assay.run.journal import (
    Answer,
    Answered,
    Judged,
    Writer,
    damaged_lines,
    read_entries,
    read_idle,
    segments,
)


def unit(number: int) -> Answered:
    return Answered(
        "arm", 0, [Answer(f"key{number}", f"q{number}", Response(hits=[Hit("d1", 0.1 * number)]))]
    )


def write(folder: Path, numbers: range) -> Path:
    with Writer(folder) as writer:
        for number in numbers:
            writer.append(unit(number))
    return writer.path


def keys(folder: Path) -> list[str]:
    return [
        answer.key
        for entry in read_entries(folder)
        if isinstance(entry, Answered)
        for answer in entry.answers
    ]


def test_what_is_written_is_read_back_segment_by_segment(tmp_path: Path) -> None:
    write(tmp_path, range(3))
    write(tmp_path, range(3, 5))
    assert [path.name for path in segments(tmp_path)] == ["000001.jsonl", "000002.jsonl"]
    assert list(read_entries(tmp_path)) == [unit(number) for number in range(5)]


@settings(max_examples=60)
@given(cut=st.integers(min_value=0))
def test_a_torn_tail_costs_the_torn_line_and_no_other(tmp_path_factory: Any, cut: int) -> None:
    folder = tmp_path_factory.mktemp("journal")
    path = write(folder, range(4))
    whole = path.read_bytes()
    left = whole[: cut % (len(whole) + 1)]
    path.write_bytes(left)
    assert keys(folder) == [f"key{number}" for number in range(left.count(b"\n"))]


@settings(max_examples=60)
@given(garbage=st.binary(min_size=1).filter(lambda data: b"\n" not in data))
def test_a_garbage_line_costs_that_line_and_no_other(tmp_path_factory: Any, garbage: bytes) -> None:
    folder = tmp_path_factory.mktemp("journal")
    path = write(folder, range(3))
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + garbage + b"\n" + second[: len(second) // 2] + b"\n" + third)
    assert keys(folder) == ["key0", "key2"]
    assert damaged_lines(path.parent) == 2  # the garbage and half of the second


def test_an_empty_segment_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "000007.jsonl").touch()
    assert keys(tmp_path) == []
    write(tmp_path, range(1))
    assert segments(tmp_path)[-1].name == "000008.jsonl"


def test_a_writer_that_wrote_nothing_leaves_nothing(tmp_path: Path) -> None:
    write(tmp_path, range(0))
    assert segments(tmp_path) == []


def test_a_segment_somebody_writes_to_is_not_idle(tmp_path: Path) -> None:
    with Writer(tmp_path) as writer:
        writer.append(unit(1))
        assert list(read_idle(writer.path)) == []
        assert keys(tmp_path) == ["key1"]
    assert list(read_idle(writer.path)) == [unit(1)]


def test_a_disk_that_takes_short_writes_still_holds_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, bytes(data)[:7]))
    write(tmp_path, range(3))
    monkeypatch.undo()
    assert keys(tmp_path) == ["key0", "key1", "key2"]


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    room = [500]

    def filling(file: int, data: bytes) -> int:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(file, data[: room[0]])
        room[0] -= written
        return written

    stored = []

    def fill(writer: Writer) -> None:
        for number in range(100):
            writer.append(unit(number))
            stored.append(f"key{number}")

    with Writer(tmp_path) as writer:
        monkeypatch.setattr(os, "write", filling)
        with pytest.raises(DataError, match=r"000001\.jsonl: cannot be written: No space left.*run again"):
            fill(writer)
        assert 0 < len(stored) < 10
        monkeypatch.undo()  # room again: the same writer goes on, its torn line gone
        writer.append(unit(50))
    assert keys(tmp_path) == [*stored, "key50"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").touch()
    with pytest.raises(DataError, match="run/journal: cannot be written: Not a directory"):
        Writer(tmp_path / "run/journal")

    def read_only(*_: Any) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(DataError, match="cannot be written: Read-only file system"):
        Writer(tmp_path / "journal")


def test_a_mark_is_on_disk_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync

    def noted(file: int) -> None:
        synced.append(os.fstat(file).st_size)
        real(file)

    monkeypatch.setattr(os, "fsync", noted)
    with Writer(tmp_path) as writer:
        writer.append(unit(0))
        assert synced == []
        writer.append(Judged(Judgment("q0", "relevance", 1.0, "ann")), now=True)
        assert synced == [writer.path.stat().st_size]
