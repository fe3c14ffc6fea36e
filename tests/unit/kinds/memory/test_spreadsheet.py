"""Tables as spreadsheets write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.kinds.memory.annotation.workspace import (
    append_rows,
    escape_formula,
    read_table,
    split_cell,
    unescape_formula,
    write_table,
)


@pytest.mark.parametrize("cell", ["=1+1", "+49 30", "-", "@SUM(A1)", "\t=1", "plain", "", "'quoted'", "a=b"])
def test_what_is_written_is_read(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "t.csv"
    write_table(path, ["a", "b"], [{"a": cell, "b": "x, y\nz"}])
    assert dict(read_table(path, ["a"]).rows[0].cells) == {"a": cell, "b": "x, y\nz"}


def test_no_cell_of_ours_begins_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, ["a", "=b"], [{"a": "=HYPERLINK(1)", "=b": "-2"}])
    assert path.read_text(encoding="utf-8-sig").splitlines() == ["a,'=b", "'=HYPERLINK(1),'-2"]
    assert (escape_formula("@x"), unescape_formula("'@x"), unescape_formula("'x")) == ("'@x", "@x", "'x")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_way_of_saving_is_read(tmp_path: Path, delimiter: str, mark: str, end: str) -> None:
    path = tmp_path / "t.csv"
    text = end.join([delimiter.join(line) for line in (["a", "b"], ["1", "ü"], ["", ""], ["2"])])
    path.write_bytes((mark + text).encode())
    rows = read_table(path, ["a", "b"]).rows
    assert [(row["a"], row["b"], row.line) for row in rows] == [("1", "ü", 2), ("2", "", 4)]


def test_a_row_after_a_cell_of_two_lines_has_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"one\ntwo",x\nthree,y\n')
    assert [row.line for row in read_table(path, ["a"]).rows] == [2, 4]


def test_every_problem_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,a,evidense\n1,2,3,4\n")
    with pytest.raises(DataError) as raised:
        read_table(path, ["a", "evidence"])
    told = [(each.line, each.field, each.what) for each in raised.value.problems]
    assert told == [
        (1, "evidence", "the column is missing"),
        (1, "a", "two columns have this name"),
        (2, "", "4 cells where 3 columns are named"),
    ]
    assert "Did you mean 'evidense'?" in str(raised.value)
    path.write_text('a\n"open\n')
    with pytest.raises(DataError, match="this is not CSV"):
        read_table(path, ["a"])
    path.write_bytes("a\nü\n".encode("cp1252"))
    with pytest.raises(DataError, match="not UTF-8"):
        read_table(path, ["a"])


def test_rows_are_added_below_and_nothing_above_changes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    before = b"b;a;mine\r\n1;  2 ;'=3"  # somebody's order, delimiter, column and missing line end
    path.write_bytes(before)
    append_rows(read_table(path, ["a", "b"]), [{"a": "x;y", "b": "=z"}])
    assert path.read_bytes() == before + b'\n\'=z;"x;y";\n'
    assert [row["a"] for row in read_table(path, ["a"]).rows] == ["2", "x;y"]


def test_entries_of_a_cell() -> None:
    assert split_cell(" a:1; b:2;\n a:1;; c d ") == ["a:1", "b:2", "c d"]
