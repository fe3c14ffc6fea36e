"""Broken TREC files: every fault is found, named with its line, and all of them at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.datasets.trec import Trec, read_topics
from assay.datasets.trec_files import read_qrels, read_run

GOOD = b"q1 Q0 d1 1 2.0 t\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"q1 Q0 d2 2 1.0", "expected 6 columns, found 5"),
        (b"q1", "expected 6 columns, found 1"),
        (b"q1 Q0  2 1.0 t", "expected 6 columns, found 5"),
        (b"q1 Q0 d2 2 high t", "score: 'high' is not a finite number"),
        (b"q1 Q0 d2 2 1_0 t", "score: '1_0' is not a finite number"),
        (b"q1 Q0 d2 2 nan t", "score: 'nan' is not a finite number"),
        (b"q1 Q0 d2 2 -inf t", "score: '-inf' is not a finite number"),
        (b"q1 Q0 d2 2 1e999 t", "score: '1e999' is not a finite number"),
        (b"q1 Q0 d1 2 1.0 t", "document 'd1' of query 'q1' stands on line 1 already"),
        (b"q1 Q0 d\xff 2 1.0 t", "not UTF-8 (byte 0xff)"),
    ],
)
def test_a_bad_line_of_a_run(tmp_path: Path, line: bytes, says: str) -> None:
    path = tmp_path / "run"
    path.write_bytes(GOOD + b"# a comment counts as a line\n" + line + b"\nq2 Q0 d1 1 1.0 t\n")
    with pytest.raises(DataError) as caught:
        read_run(path)
    (problem,) = caught.value.problems
    assert f"{path}:3: {says}" in str(problem)
    assert problem.fix


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("q1 0 d2", "expected 4 columns, found 3"),
        ("q1 0 d2 1 2", "expected 4 columns, found 5"),
        ("q1 0 d2 1.5", "grade: '1.5' is not an integer"),
        ("q1 0 d2 yes", "grade: 'yes' is not an integer"),
        ("q1 0 d1 0", "document 'd1' of query 'q1' stands on line 1 already"),
    ],
)
def test_a_bad_line_of_qrels(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(f"q1 0 d1 1\n{line}\n")
    with pytest.raises(DataError) as caught:
        read_qrels(path)
    (problem,) = caught.value.problems
    assert f"{path}:2: {says}" in str(problem)


def test_all_problems_of_a_file_come_at_once(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(GOOD + b"q1 Q0 d2 2 x t\nshort\n" + GOOD + b"q1 Q0 \xff 2 1 t\nq1 Q0 d5 5 inf t\n")
    with pytest.raises(DataError) as caught:
        read_run(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 6]


def test_a_long_list_is_shown_in_part_and_kept_whole(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(GOOD + b"q1 Q0 d 1 1.0\n" * 50)
    with pytest.raises(DataError, match="and 30 more") as caught:
        read_run(path)
    assert len(caught.value.problems) == 50


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a comment\n"])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    for read in (read_run, read_qrels):
        with pytest.raises(DataError, match="the file is empty"):
            read(tmp_path / "file")


@pytest.mark.parametrize("read", [read_run, read_qrels, read_topics])
def test_a_file_that_cannot_be_read(tmp_path: Path, read: type) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "absent")
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path)
    (tmp_path / "torn.gz").write_bytes(b"\x1f\x8b\x08\x00torn")
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "torn.gz")


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"q1\tone\nq2 two\nq1\tagain\n\tno id\n", [2, 3, 4]),
        (b"<top>\n<num> 1\n</top>\n<top>\n<title> x\n</top>\n", [1, 4]),
        (b"q1\tone\nq2\t\xff\n", [2]),
        (b"\n", [None]),
    ],
)
def test_bad_topics(tmp_path: Path, content: bytes, lines: list[int | None]) -> None:
    (tmp_path / "topics").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_topics(tmp_path / "topics")
    assert [problem.line for problem in caught.value.problems] == lines


def test_a_bad_corpus_names_its_lines(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("q1\tone\n")
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n{"_id": "b"}\nnot json\n')
    with pytest.raises(DataError) as caught:
        Trec("topics", "qrels", "corpus.jsonl").load(Kit(root=tmp_path))
    assert [problem.line for problem in caught.value.problems] == [2, 3]
