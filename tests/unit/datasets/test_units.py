"""Numbered documents: what becomes a unit, where it stands, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.records import Passage
from assay.datasets.units import UnitDocument, document_hash, read_folder, read_units


def units(folder: Path, text: str | bytes, name: str = "lease.md") -> UnitDocument:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_units(path, "a_pack")


def texts(read: UnitDocument) -> dict[str, str]:
    return {passage.doc_id: passage.text for passage in read.passages}


def told(read: UnitDocument, folder: Path) -> list[str]:
    return [str(problem).replace(f"{folder}/", "") for problem in read.problems]


# ---------------------------------------------------------------------------------- what is read


def test_a_unit_is_a_passage_that_knows_its_place(tmp_path: Path) -> None:
    text = "# Lease\n\n## Rent\n1 Tenant pays.\n2 Landlord waits.\n"
    read = units(tmp_path, text)
    assert (read.document.doc_id, read.document.title, read.document.text) == ("lease", "Lease", text)
    assert read.problems == []
    assert [type(each) for each in read.passages] == [Passage, Passage]
    two = read.passages[1]
    assert (two.doc_id, two.text, two.title, two.source, two.section, two.metadata) == (
        "lease:2",
        "Landlord waits.",
        "Lease",
        "lease",
        "Rent",
        {"pack": "a_pack", "line": 5},
    )
    assert two.span is not None
    assert text[two.span.start : two.span.end] == "Landlord waits."


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("1 Pays.", "1"),
        ("2. Pays.", "2"),
        ("3) Pays.", "3"),
        ("4.1 Pays.", "4.1"),
        ("4.1. Pays.", "4.1"),
        ("(5) Pays.", "5"),
        ("6.) Pays.", "6"),
        ("007 Pays.", "007"),
        ("   8 Pays.", "8"),
        ("\t9\tPays. \t", "9"),
    ],
)
def test_numbers_as_people_write_them(tmp_path: Path, line: str, number: str) -> None:
    assert texts(units(tmp_path, line)) == {f"lease:{number}": "Pays."}


@pytest.mark.parametrize(
    "line", ["2024-01-02 x", "10:30 x", "5% x", "1a x", "- 1 x", "1,5 x", "#1 x", "(1 x"]
)
def test_what_is_no_number(tmp_path: Path, line: str) -> None:
    assert texts(units(tmp_path, f"1 Pays\n{line}\n")) == {"lease:1": f"Pays {line}"}


def test_other_lines_go_on_with_the_unit_above(tmp_path: Path) -> None:
    text = "Preamble.\n1 Tenant pays\n  on the first,\n\n  whatever the weather.  \n2\n  Landlord waits.\n"
    read = units(tmp_path, text)
    assert texts(read) == {
        "lease:1": "Tenant pays on the first, whatever the weather.",
        "lease:2": "Landlord waits.",
    }
    spans = [passage.span for passage in read.passages if passage.span]
    assert [text[span.start : span.end] for span in spans] == [
        "Tenant pays\n  on the first,\n\n  whatever the weather.",
        "Landlord waits.",
    ]


def test_a_list_inside_a_unit_is_part_of_it_unless_its_numbers_have_a_dot(tmp_path: Path) -> None:
    text = "1 Tenant shall\n    1. pay\n    2. clean\n    1.1 leave\n2 Landlord waits.\n"
    assert texts(units(tmp_path, text)) == {
        "lease:1": "Tenant shall 1. pay 2. clean",
        "lease:1.1": "leave",
        "lease:2": "Landlord waits.",
    }


def test_sections_nest_and_end(tmp_path: Path) -> None:
    text = "1 a\n# T\n## A ##\n2 b\n#### B #1\n3 c\n### C\n4 d\n## D\nlost\n5 e\n# Annex\n6 f\n##\n7 g\n"
    read = units(tmp_path, text)
    assert read.document.title == "T"
    assert [passage.section for passage in read.passages] == [
        None, "A", "A / B #1", "A / C", "D", "Annex", "Annex",
    ]  # fmt: skip
    assert texts(read)["lease:4"] == "d"


def test_the_stem_is_the_title_where_there_is_none(tmp_path: Path) -> None:
    assert units(tmp_path, "1 a").document.title == "lease"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_ends_of_lines_and_a_byte_order_mark(tmp_path: Path, end: str) -> None:
    text = f"# Lease{end}{end}1 Tenant{end}pays. {end}2\tWaits.{end}"
    read = units(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert texts(read) == {"lease:1": "Tenant pays.", "lease:2": "Waits."}
    assert [passage.metadata["line"] for passage in read.passages] == [3, 5]
    span = read.passages[1].span
    assert span is not None
    assert read.document.text[span.start : span.end] == "Waits."


def test_signs_that_only_look_like_ends_of_lines_are_text(tmp_path: Path) -> None:
    read = units(tmp_path, "1 one\u2028two\x0cthree\n2 four\n")
    assert texts(read) == {"lease:1": "one\u2028two\x0cthree", "lease:2": "four"}
    assert read.passages[1].metadata["line"] == 2


def test_a_dialogue_keeps_its_speakers(tmp_path: Path) -> None:
    read = units(tmp_path, "# Talk\n## Monday\n1 Ana: hello\n2 Ben: hi\n   there\n", "talk.txt")
    assert texts(read) == {"talk:1": "Ana: hello", "talk:2": "Ben: hi there"}


def test_without_a_pack_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("1 x")
    assert read_units(tmp_path / "a.md").passages[0].metadata == {"line": 1}


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["1 ", "2. ", "(3)", "4.1\t", "# ", "## a", "\r\n", "\n", "\r", "x", " ", "é\u2028"])
    )
)
def test_the_span_of_a_unit_holds_its_text_and_nothing_else(tmp_path: Path, parts: list[str]) -> None:
    read = units(tmp_path, "".join(parts))
    for passage in read.passages:
        assert passage.span is not None
        shown = read.document.text[passage.span.start : passage.span.end]
        assert shown.split() == passage.text.split()
    assert len(read.passages) == len({passage.doc_id for passage in read.passages})


# ------------------------------------------------------------------------------- what is refused


def test_a_number_that_stands_twice(tmp_path: Path) -> None:
    assert told(units(tmp_path, "1 a\n2 b\n1) c\n"), tmp_path) == [
        "lease.md:3: the number 1 stands on line 1 already. A number names one unit: renumber one of the two."
    ]


@pytest.mark.parametrize("text", ["", " \n\r\n", "# Only\n## headings\n", "words"])
def test_a_document_without_units(tmp_path: Path, text: str) -> None:
    (problem,) = units(tmp_path, text).problems
    assert problem.what == "the document has no numbered unit"
    assert problem.where == str(tmp_path / "lease.md")


def test_a_unit_without_text(tmp_path: Path) -> None:
    assert told(units(tmp_path, "1 a\n2.\n\n# T\n"), tmp_path) == [
        "lease.md:2: the unit 2 is empty. Write its text after the number."
    ]


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    read = units(tmp_path, b"1 a\n2 \xff\n")
    assert told(read, tmp_path) == ["lease.md:2: bytes that are not UTF-8. Save the file as UTF-8."]
    assert (read.document.doc_id, read.passages) == ("lease", [])


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\xff.md")
    path.write_text("1 a")
    (problem,) = read_units(path).problems
    assert problem.what.startswith("the name of the file is not UTF-8")
    assert problem.where.endswith("a\\xff.md")


def test_numbers_that_go_back_are_worth_a_look(tmp_path: Path) -> None:
    read = units(tmp_path, "1 Buyer pays within\n30 days of receipt.\n2 Seller waits.\n")
    assert read.problems == []
    (warning,) = read.warnings
    assert "lease.md:3: the unit 2 follows the unit 30. Where line 2 only goes on" in warning
    assert units(tmp_path, "1 a\n1.9 b\n1.10 c\n2 d\n10 e\n").warnings == []


def test_long_lines_take_no_time(tmp_path: Path) -> None:
    wide = " " * 50_000
    read = units(tmp_path, f"#{wide}x{wide}#\n{'1.' * 50_000}\n1{wide}a{wide}b\n{'(' * 50_000}\n")
    assert read.document.title == "x"
    assert len(read.passages) == 1


# ---------------------------------------------------------------------------------- whole folders


def test_the_documents_of_a_folder_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a.md", ".hidden.md", "c.json", "D.MD"):
        (tmp_path / name).write_text("1 x")
    (tmp_path / "inner").mkdir()
    folder = read_folder(tmp_path, "p")
    assert [passage.doc_id for passage in folder.passages] == ["D:1", "a:1", "b:1"]
    assert folder.problems == []


def test_two_documents_of_one_stem(tmp_path: Path) -> None:
    for name in ("a.md", "a.txt"):
        (tmp_path / name).write_text("1 x")
    (problem,) = read_folder(tmp_path).problems
    assert problem.what.startswith("a.md has the same stem")
    assert problem.where == str(tmp_path / "a.txt")


@pytest.mark.parametrize("name", ["missing", "nul\0", "x" * 5000])
def test_a_folder_that_is_not_there(tmp_path: Path, name: str) -> None:
    (problem,) = read_folder(tmp_path / name).problems
    assert problem.what == "there is no such folder of documents"


def test_a_folder_without_documents(tmp_path: Path) -> None:
    (problem,) = read_folder(tmp_path).problems
    assert str(problem).endswith(
        "no document lies in this folder. Put documents there that end in .md or .txt."
    )


def test_a_node_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text("1 a\n2 b\n3 c\n")
    (tmp_path / "long.md").write_text("".join(f"{n} x\n" for n in range(1, 31)))
    folder = read_folder(tmp_path)
    assert folder.absent("lease:2") is None
    assert folder.absent("lease:33") == (
        "there is no node 'lease:33'",
        "Did you mean 'lease:3' or 'lease:2' or 'lease:1'? The units of 'lease' are 1, 2, 3.",
    )
    lacking = folder.absent("long:99")
    assert lacking is not None
    assert lacking[1].endswith("The units of 'long' are 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …, 30.")
    assert folder.absent("lese:2") == (
        "there is no node 'lese:2', as no document is called 'lese'",
        "Did you mean 'lease:2'?",
    )
    assert folder.absent("2") == (
        "there is no node '2', as no document is called ''",
        "Write STEM:NUMBER. The documents are 'lease', 'long'.",
    )


def test_nodes_of_a_document_that_cannot_be_read_are_not_told_of_again(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_bytes(b"\xff")
    assert read_folder(tmp_path).absent("lease:2") is None


def test_documents_are_as_they_were_frozen_or_named(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text("1 x")
    frozen = "9764ed1a67fade8362557671900462bf4dfec0425e111659bdbe0611849898ac"  # printf '1 x' | sha256sum
    assert document_hash(tmp_path / "a.md") == frozen
    assert document_hash(tmp_path / "missing.md") == ""
    sums = {"a.md": frozen.upper(), "b.md": "0" * 64, "d.md": frozen}
    assert [(name, what) for name, what, _ in read_folder(tmp_path).changes_since(sums)] == [
        ("b.md", "the content of 'b.md' is not what was frozen"),
        ("c.md", "the document 'c.md' is not among the frozen ones"),
        ("d.md", "the directory has no document 'd.md'"),
    ]


def test_what_is_named_like_a_document_and_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("1 x")
    (tmp_path / "b.md").mkdir()
    (tmp_path / "c.txt").symlink_to(tmp_path / "gone.txt")
    folder = read_folder(tmp_path)
    assert list(folder.units) == ["a"]
    assert [(problem.what, problem.where) for problem in folder.problems] == [
        ("this is not a file", str(tmp_path / "b.md")),
        ("the link leads nowhere", str(tmp_path / "c.txt")),
    ]
