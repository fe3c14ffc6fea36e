"""The journal: what is written is read back, whatever happened to the file in between."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.core.records import Hit, Judgment, Response
from assay.store.journal import (
    Answer,
    AnswersEntry,
    JournalWriter,
    JudgmentEntry,
    damaged_lines,
    read_entries,
    read_idle_segment,
    segments,
)


def unit(number: int) -> AnswersEntry:
    return AnswersEntry(
        "arm", 0, [Answer(f"key{number}", f"q{number}", Response(hits=[Hit("d1", 0.1 * number)]))]
    )


def write(folder: Path, numbers: range) -> Path:
    with JournalWriter(folder) as writer:
        for number in numbers:
            writer.append(unit(number))
    return writer.path


def keys(folder: Path) -> list[str]:
    return [
        answer.key
        for entry in read_entries(folder)
        if isinstance(entry, AnswersEntry)
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
    with JournalWriter(tmp_path) as writer:
        writer.append(unit(1))
        assert list(read_idle_segment(writer.path)) == []
        assert keys(tmp_path) == ["key1"]
    assert list(read_idle_segment(writer.path)) == [unit(1)]


def test_a_disk_that_takes_short_writes_still_holds_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, bytes(data)[:7]))
    write(tmp_path, range(3))
    monkeypatch.undo()
    assert keys(tmp_path) == ["key0", "key1", "key2"]


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    room = [500]

    def filling(file: int, data: bytes) -> int:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(file, data[: room[0]])
        room[0] -= written
        return written

    stored = []

    def fill(writer: JournalWriter) -> None:
        for number in range(100):
            writer.append(unit(number))
            stored.append(f"key{number}")

    with JournalWriter(tmp_path) as writer:
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
        JournalWriter(tmp_path / "run/journal")

    def read_only(*_: Any) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(DataError, match="cannot be written: Read-only file system"):
        JournalWriter(tmp_path / "journal")


def mark(number: int) -> JudgmentEntry:
    return JudgmentEntry(Judgment(f"q{number}", "relevance", 1.0, "ann"))


def test_a_mark_and_the_name_of_its_file_are_on_disk_before_append_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[os.stat_result] = []
    real = os.fsync

    def noted(file: int) -> None:
        synced.append(os.fstat(file))
        real(file)

    monkeypatch.setattr(os, "fsync", noted)
    with JournalWriter(tmp_path / "journal") as writer:
        writer.append(unit(0))
        assert synced == []
        writer.append(mark(0), now=True)
        file, *folders = synced
        assert (file.st_size, file.st_ino) == (writer.path.stat().st_size, writer.path.stat().st_ino)
        assert [each.st_ino for each in folders] == [
            folder.stat().st_ino for folder in (tmp_path / "journal", tmp_path)
        ]
        writer.append(mark(1), now=True)
        assert [each.st_ino for each in synced[3:]] == [file.st_ino]  # a name is synced once


def refusing(*_: Any, **__: Any) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_mark_that_could_not_be_synced_does_not_appear_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JournalWriter(tmp_path) as writer:
        writer.append(mark(0), now=True)
        monkeypatch.setattr(os, "fsync", refusing)
        with pytest.raises(DataError, match="Input/output error"):
            writer.append(mark(1), now=True)
        assert list(read_entries(tmp_path)) == [mark(0)]
        monkeypatch.undo()
        writer.append(mark(2), now=True)
    assert list(read_entries(tmp_path)) == [mark(0), mark(2)]


def test_answers_that_could_not_be_synced_are_left_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = JournalWriter(tmp_path)
    writer.append(unit(0))
    monkeypatch.setattr(os, "fsync", refusing)
    with pytest.raises(DataError, match="Input/output error"):
        writer.close()
    assert keys(tmp_path) == ["key0"]  # paid for, and perhaps on disk all the same


def test_a_torn_line_that_could_not_be_cut_at_once_is_cut_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def half(file: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", refusing)
        return real(file, data[:20])

    with JournalWriter(tmp_path) as writer:
        writer.append(unit(0))
        monkeypatch.setattr(os, "write", half)
        monkeypatch.setattr(os, "ftruncate", refusing)
        with pytest.raises(DataError):
            writer.append(unit(1))
        monkeypatch.undo()
        writer.append(unit(2))
    assert keys(tmp_path) == ["key0", "key2"]


def test_promised_lines_survive_the_removal_of_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    with JournalWriter(folder) as writer:
        for number in range(3):
            writer.append(mark(number), now=True)
        shutil.rmtree(folder)
        writer.append(mark(3), now=True)
        writer.append(mark(4), now=True)
        assert list(read_entries(folder)) == [mark(number) for number in range(5)]
        assert list(read_idle_segment(writer.path)) == []  # it holds the lock there, too
    assert list(read_entries(folder)) == [mark(number) for number in range(5)]


def test_lines_that_cannot_be_written_again_are_not_reported_as_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "journal"
    with JournalWriter(folder) as writer:
        writer.append(mark(0), now=True)
        shutil.rmtree(folder)
        monkeypatch.setattr(Path, "mkdir", refusing)
        with pytest.raises(DataError):
            writer.append(mark(1), now=True)
        monkeypatch.undo()
        writer.append(mark(2), now=True)
    assert list(read_entries(folder)) == [mark(0), mark(2)]


def test_a_writer_is_closed_once_even_if_its_file_is_gone(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "journal")
    shutil.rmtree(tmp_path / "journal")
    writer.close()
    writer.close()
    writer.append(unit(0))  # dropped: whoever closed it stopped waiting
    assert keys(tmp_path / "journal") == []


def test_one_segment_is_open_at_a_time_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        write(tmp_path, range(number, number + 1))
    opened: list[Any] = []
    real = Path.open

    def noted(path: Path, mode: str) -> Any:
        opened.append(real(path, mode))
        return opened[-1]

    monkeypatch.setattr(Path, "open", noted)
    for _ in read_entries(tmp_path):
        assert sum(not each.closed for each in opened) == 1
    assert len(opened) == 5


def test_entries_that_are_rewritten_during_reading_are_found(tmp_path: Path) -> None:
    write(tmp_path, range(1))
    second = write(tmp_path, range(1, 2))
    reading = read_entries(tmp_path)
    assert next(reading) == unit(0)
    write(tmp_path, range(1, 3))
    second.unlink()
    assert list(reading) == [unit(1), unit(2)]


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "000001.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"000001\.jsonl: is a link to a file that does not exist"):
        keys(tmp_path)
