"""Damaged dataset files: every problem at once, each with file, line, field and what to do."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.datasets.beir import Beir
from assay.datasets.folder import Folder

PASSAGE = {"doc_id": "p1", "text": "Tea is a drink."}
GRADES = 'Write {"DOC_ID": GRADE}, with a number for each grade.'
TAKE_OUT = "Add them to the corpus, or take them out here."
ITEM = {"item_id": "q1", "text": "what is tea", "gold": {"relevant": {"p1": 1}}}


def lines(*records: dict[str, Any] | str) -> bytes:
    return "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "passages.jsonl").write_bytes(lines(PASSAGE))
    (tmp_path / "items.jsonl").write_bytes(lines(ITEM))
    return tmp_path


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_bytes(lines({"_id": "d1", "text": "Tea is a drink."}))
    (tmp_path / "queries.jsonl").write_bytes(lines({"_id": "q1", "text": "what is tea"}))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("q1\td1\t1\n", encoding="utf-8")
    return tmp_path


def problems(dataset: Folder | Beir, root: Path) -> list[str]:
    """What loading complains about, with paths relative to the folder."""
    with pytest.raises(DataError) as caught:
        dataset.load(Kit())
    return [str(problem).replace(f"{root}/", "") for problem in caught.value.problems]


def test_one_look_shows_every_problem_of_every_file(folder: Path) -> None:
    records: list[dict[str, Any] | str] = [
        ITEM,
        '{"item_id": "q2", "text": "cut off',
        {"item_id": 3, "text": "x"},
        "",
        {"item_id": "q4"},
        ITEM,
        "[1, 2]",
        {"item_id": "q6", "text": "x", "tag": {"a": "b"}, "expects": "silence", "gold": {"relevant": ["p1"]}},
    ]
    (folder / "items.jsonl").write_bytes(lines(*records))
    (folder / "passages.jsonl").write_bytes(lines({"id": "p1", "text": "a"}, {"doc_id": "p2", "text": None}))
    assert problems(Folder(str(folder)), folder) == [
        "items.jsonl:2: not JSON: Input data was truncated. Write one complete JSON object per line.",
        "items.jsonl:3: item_id: expected str, got int. Correct the value.",
        "items.jsonl:5: text: the field is missing. Add 'text'.",
        "items.jsonl:7: expected object, got array. Correct the value.",
        "items.jsonl:8: tag: is not a field of an item. Did you mean 'tags'?",
        "items.jsonl:8: expects: 'silence' cannot be expected. Write 'nothing', or leave the field out.",
        f"items.jsonl:8: gold.relevant: is not a map from doc_id to grade. {GRADES}",
        "items.jsonl:6: the item_id 'q1' stands on line 1 already. Ids must be unique.",
        "passages.jsonl:1: doc_id: the field is missing. Add 'doc_id'.",
        "passages.jsonl:2: text: the field is missing. Add 'text'.",
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"item_id": "q1" "text": "x"}', "items.jsonl:2: not JSON: expected ',' or '}'"),
        (b'{"item_id": "q1", "text": "x"} {}', "items.jsonl:2: not JSON: trailing characters"),
        (b'{"item_id": "q1", "text": NaN}', "items.jsonl:2: not JSON: invalid character"),
        (b'{"item_id": "q1", "text": "caf\xe9"}', "items.jsonl:2: not UTF-8 (byte 0xe9). Save"),
        (
            b'{"item_id": "q1", "text": "x", "tags": {"a": {"b": 1}}}',
            "items.jsonl:2: tags[...][0]: expected str",
        ),
        (b'{"item_id": "q1", "text": "x", "tags": ["a"]}', "items.jsonl:2: tags: expected object, got array"),
        (
            b'{"item_id": "q1", "text": "x", "scope": "p1"}',
            "items.jsonl:2: scope: expected array | null, got str",
        ),
        (b'{"item_id": "q1", "text": "x", "expects": {}}', "items.jsonl:2: expects: {} cannot be expected"),
        (
            b'{"item_id": "q1", "text": "x", "gold": {"relevant": {"p1": true}}}',
            "2: gold.relevant: is not a map",
        ),
        (
            b'{"item_id": "q1", "text": "x", "gold": {"relevant": null}}',
            "items.jsonl:2: gold.relevant: is not a map",
        ),
        (b'{"item_id": "q1", "gold": ' + b"[" * 100_000, "items.jsonl:2: nested too deeply"),
    ],
)
def test_a_line_that_is_wrong_is_named(folder: Path, line: bytes, says: str) -> None:
    (folder / "items.jsonl").write_bytes(b'{"item_id": "q0", "text": "x"}\n' + line + b"\n")
    found = problems(Folder(str(folder)), folder)
    assert says in found[0]


def test_gold_and_scope_that_name_no_passage_are_listed(folder: Path) -> None:
    gone = {f"g{number}": 1 for number in range(7)}
    items: list[dict[str, Any]] = [
        {"item_id": "q1", "text": "x", "gold": {"relevant": {"p1": 1, "judged_bad": 0, **gone}}},
        {"item_id": "q2", "text": "x", "scope": ["p1", "p9"]},
    ]
    (folder / "items.jsonl").write_bytes(lines(*items))
    listed = "'g0', 'g1', 'g2', 'g3', 'g4' and 2 more"
    assert problems(Folder(str(folder)), folder) == [
        f"items.jsonl:1: gold.relevant: not in the corpus: {listed}. {TAKE_OUT}",
        f"items.jsonl:2: scope: not in the corpus: 'p9'. {TAKE_OUT}",
    ]


def test_qrels_are_checked_line_by_line(folder: Path) -> None:
    (folder / "items.jsonl").write_bytes(lines({"item_id": "q1", "text": "x"}))
    rows = [
        "item\tdoc\tgrade",
        "q1\tp1\tx",
        "q1 p1 1",
        "q1\t0\tp1\t1",
        "q1\tp1\tnan",
        "q1\tp1\t1",
        "q1\tp1\tgrade",
    ]
    (folder / "qrels.tsv").write_text("\n".join(rows), encoding="utf-8")
    assert problems(Folder(str(folder)), folder) == [
        "qrels.tsv:2: grade: 'x' is not a grade. Write a number such as 1.",
        "qrels.tsv:3: expected 3 tab-separated columns, found 1. Write item, document and grade.",
        "qrels.tsv:4: expected 3 tab-separated columns, found 4. Write item, document and grade.",
        "qrels.tsv:5: grade: 'nan' is not a grade. Write a number such as 1.",
        "qrels.tsv:7: grade: 'grade' is not a grade. Write a number such as 1.",
    ]


def test_qrels_that_contradict_the_other_files_or_themselves(folder: Path) -> None:
    rows = ["q1\tp1\t1", "q1\tp1\t2", "q7\tp1\t1", "q1\tp9\t1", "q1\tp8\t0", "q1\tp1\t1"]
    (folder / "qrels.tsv").write_text("\n".join(rows), encoding="utf-8")
    assert problems(Folder(str(folder)), folder) == [
        "qrels.tsv:2: 'p1' has another grade for item 'q1' on an earlier line. Keep one of the two.",
        "qrels.tsv:3: there is no item 'q7'. Add the item, or remove the line.",
        "qrels.tsv:4: not in the corpus: 'p9'. Add them to the corpus, or take them out here.",
        "items.jsonl:1: gold.relevant: qrels.tsv has grades too. Keep one of the two.",
    ]


def test_a_first_line_with_a_wrong_grade_is_not_taken_for_column_names(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text("q1\td1\thigh\nq1\td1\t1\n", encoding="utf-8")
    assert problems(Beir(str(beir)), beir) == [
        "qrels/test.tsv:1: grade: 'high' is not a grade. Write a number such as 1."
    ]


def test_passages_must_lie_in_their_documents(folder: Path) -> None:
    passages: list[dict[str, Any]] = [
        {**PASSAGE, "source": "d1", "span": [0, 4]},
        {"doc_id": "p2", "text": "x", "source": "d9"},
        {"doc_id": "p3", "text": "x", "source": "d1", "span": [2, 5]},
        {"doc_id": "p4", "text": "x", "source": "d1", "span": [3, 2]},
    ]
    (folder / "passages.jsonl").write_bytes(lines(*passages))
    (folder / "documents.jsonl").write_bytes(lines({"doc_id": "d1", "text": "1234"}))
    assert problems(Folder(str(folder)), folder) == [
        "passages.jsonl:2: source: there is no document 'd9'. Add it to documents.jsonl.",
        "passages.jsonl:3: span: [2, 5) is not within the 4 characters of 'd1'. Correct the span.",
        "passages.jsonl:4: span: [3, 2) is not within the 4 characters of 'd1'. Correct the span.",
    ]


def test_missing_files_are_named_together(tmp_path: Path) -> None:
    assert problems(Folder(str(tmp_path)), tmp_path) == [
        "items.jsonl: the file is missing. Add items.jsonl to the folder.",
        "passages.jsonl: the file is missing. Add passages.jsonl or passages.parquet to the folder.",
    ]
    assert problems(Beir(str(tmp_path)), tmp_path) == [
        "corpus.jsonl: the file is missing. Add corpus.jsonl to the folder.",
        "queries.jsonl: the file is missing. Add queries.jsonl to the folder.",
        "qrels/test.tsv: the file is missing. Add the file.",
    ]


@pytest.mark.parametrize("kind", [Folder, Beir])
def test_a_missing_folder(kind: type[Folder] | type[Beir], tmp_path: Path) -> None:
    assert problems(kind(str(tmp_path / "none")), tmp_path) == [
        "none: there is no such folder. Check the path."
    ]


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_an_empty_file(folder: Path, content: bytes) -> None:
    (folder / "items.jsonl").write_bytes(content)
    (folder / "qrels.tsv").write_bytes(content)
    assert problems(Folder(str(folder)), folder) == [
        "items.jsonl: the file is empty. Fill it, or remove it.",
        "qrels.tsv: the file is empty. Fill it, or remove it.",
    ]


def test_qrels_of_column_names_alone_judge_nothing(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n", encoding="utf-8")
    assert problems(Beir(str(beir)), beir) == [
        "qrels/test.tsv: only column names, no grade. Add the judgments."
    ]


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-12],  # cut off
        lambda whole: whole[:12] + b"\xff\xff\xff" + whole[15:],  # bits lost
        lambda whole: whole[:-8] + b"\0\0\0\0" + whole[-4:],  # checksum wrong
        lambda _: b"never was gzip",
    ],
)
def test_a_damaged_archive(folder: Path, damage: Any) -> None:
    (folder / "items.jsonl").unlink()
    (folder / "items.jsonl.gz").write_bytes(damage(gzip.compress(lines(ITEM))))
    found = problems(Folder(str(folder)), folder)
    assert any("items.jsonl.gz: cannot be read: " in problem for problem in found)


def test_beir_files_are_checked_the_same_way(beir: Path) -> None:
    (beir / "corpus.jsonl").write_bytes(
        lines({"_id": "d1", "text": "x"}, {"_id": "d1", "text": "y"}, {"_id": 2, "text": "z"}, {"title": "t"})
    )
    (beir / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "\xff"}\n')
    assert problems(Beir(str(beir)), beir) == [
        "corpus.jsonl:3: _id: expected str, got int. Correct the value.",
        "corpus.jsonl:4: _id: the field is missing. Add '_id'.",
        "corpus.jsonl:2: the doc_id 'd1' stands on line 1 already. Ids must be unique.",
        "queries.jsonl:1: not UTF-8 (byte 0xff). Save the file as UTF-8.",
    ]


def test_beir_qrels_that_name_what_is_not_there(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text("q1\td1\t1\nq8\td1\t1\nq1\td9\t1\nq1\td7\t0\n", encoding="utf-8")
    assert problems(Beir(str(beir)), beir) == [
        "qrels/test.tsv:2: there is no item 'q8'. Add the item, or remove the line.",
        "qrels/test.tsv:3: not in the corpus: 'd9'. Add them to the corpus, or take them out here.",
    ]


# ------------------------------------------------------------------------------------ tables


@pytest.fixture
def table(folder: Path) -> Path:
    (folder / "passages.jsonl").unlink()
    pl.DataFrame([PASSAGE]).write_parquet(folder / "passages.parquet")
    return folder / "passages.parquet"


def test_a_table_without_its_columns(table: Path) -> None:
    pl.DataFrame({"docid": ["p1"], "year": [1999]}).write_parquet(table)
    assert problems(Folder(str(table.parent)), table.parent) == [
        "passages.parquet: doc_id: the column is missing. Did you mean 'docid'?",
        "passages.parquet: text: the column is missing. Known: docid, year.",
    ]


def test_columns_of_a_wrong_type(table: Path) -> None:
    pl.DataFrame({"doc_id": [1, 2], "text": ["a", "b"], "title": [1.5, None]}).write_parquet(table)
    assert problems(Folder(str(table.parent)), table.parent) == [
        "passages.parquet: doc_id: the column holds Int64, not text. Cast it to a string.",
        "passages.parquet: title: the column holds Float64, not text. Cast it to a string.",
    ]


def test_cells_of_a_table_are_named_by_row(table: Path) -> None:
    pl.DataFrame({"doc_id": ["p1", None, "p1"], "text": ["a", "b", "c"]}).write_parquet(table)
    assert problems(Folder(str(table.parent)), table.parent) == [
        "passages.parquet:2: doc_id: the field is missing. Add 'doc_id'.",
        "passages.parquet:3: the doc_id 'p1' stands on line 1 already. Ids must be unique.",
    ]


def test_a_table_without_rows(table: Path) -> None:
    pl.DataFrame(schema={"doc_id": pl.String, "text": pl.String}).write_parquet(table)
    assert problems(Folder(str(table.parent)), table.parent) == [
        "passages.parquet: the table has no rows. Fill it, or remove it."
    ]


@pytest.mark.parametrize("keep", [0, 3, 8, 100, -1, -9])
def test_a_table_that_was_cut_off(table: Path, keep: int) -> None:
    table.write_bytes(table.read_bytes()[:keep])
    found = problems(Folder(str(table.parent)), table.parent)
    assert [problem.split(": ")[1] for problem in found] == ["cannot be read as Parquet"]


def test_a_table_its_reader_panics_on(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(path: Path) -> pl.DataFrame:
        raise pl.exceptions.PanicException("unwrap on None")

    monkeypatch.setattr(pl, "read_parquet", panic)
    assert problems(Folder(str(table.parent)), table.parent) == [
        "passages.parquet: cannot be read as Parquet: unwrap on None. Write the file again."
    ]


# ----------------------------------------------------------------------------------- anything


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200), name=st.sampled_from(["items.jsonl", "passages.jsonl", "qrels.tsv"]))
def test_no_bytes_whatever_escape_as_another_error(folder: Path, content: bytes, name: str) -> None:
    (folder / "items.jsonl").write_bytes(lines({"item_id": "q1", "text": "x"}))
    (folder / "passages.jsonl").write_bytes(lines(PASSAGE))
    (folder / "qrels.tsv").write_bytes(b"q1\tp1\t1\n")
    (folder / name).write_bytes(content)
    assert problems(Folder(str(folder)), folder)
