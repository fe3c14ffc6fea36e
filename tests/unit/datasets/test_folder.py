"""Assay's own dataset layout."""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Document, Item, Passage, Span
from assay.core.registry import DATASETS, Registry
from assay.datasets.folder import Folder

PASSAGES: list[dict[str, Any]] = [
    {"doc_id": "p1", "text": "Tea is", "title": "Tea", "source": "d1", "span": [0, 6], "year": 1999},
    {"doc_id": "p2", "text": "a drink.", "section": "1", "metadata": {"lang": "en"}, "source": None},
]
ITEMS: list[dict[str, Any]] = [
    {"item_id": "q1", "text": "what is tea", "gold": {"relevant": {"p1": 2, "p2": 0.5}}, "language": "en"},
    {"item_id": "q2", "text": "what is xyzzy", "expects": "nothing", "scope": ["p1"], "sequence": "s"},
]


def write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "passages.jsonl", PASSAGES)
    write(tmp_path / "items.jsonl", ITEMS)
    return tmp_path


def test_items_and_passages(folder: Path) -> None:
    loaded = Folder(str(folder)).load(Kit())
    assert loaded.corpus.passages == [
        Passage("p1", "Tea is", "Tea", "d1", Span(0, 6), metadata={"year": 1999}),
        Passage("p2", "a drink.", section="1", metadata={"lang": "en"}),
    ]
    assert loaded.items == [
        Item("q1", "what is tea", "en", gold={"relevant": {"p1": 2, "p2": 0.5}}),
        Item("q2", "what is xyzzy", expects="nothing", sequence="s", scope=["p1"]),
    ]


def test_tags_are_lists_of_strings_however_they_are_written(folder: Path) -> None:
    tags = {"kind": "direct", "many": ["a", 2, False], "hops": 2, "weight": 2.5, "ok": True, "none": None}
    write(folder / "items.jsonl", [{"item_id": "q1", "text": "t", "tags": tags}])
    assert Folder(str(folder)).load(Kit()).items[0].tags == {
        "kind": ["direct"],
        "many": ["a", "2", "false"],
        "hops": ["2"],
        "weight": ["2.5"],
        "ok": ["true"],
    }


def test_a_table_gives_the_same_corpus_as_lines(folder: Path) -> None:
    lines = Folder(str(folder)).load(Kit())
    columns = ("doc_id", "text", "title", "source", "span", "section", "year")
    rows = [{column: passage.get(column) for column in columns} for passage in PASSAGES]
    rows[1]["lang"] = "en"
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(folder / "passages.parquet")
    (folder / "passages.jsonl").unlink()
    table = Folder(str(folder)).load(Kit())
    assert table.corpus.passages == lines.corpus.passages
    assert table.hash == lines.hash


def test_columns_of_a_table_keep_their_types_in_metadata(folder: Path) -> None:
    (folder / "passages.jsonl").unlink()
    frame = pl.DataFrame({"doc_id": ["p1", "p2"], "text": ["a", "b"], "day": [date(2024, 1, 31), None]})
    frame.with_columns(pl.col("doc_id").cast(pl.Categorical)).write_parquet(folder / "passages.parquet")
    passages = Folder(str(folder)).load(Kit()).corpus.passages
    assert [passage.metadata for passage in passages] == [{"day": date(2024, 1, 31)}, {}]


def test_documents_are_what_passages_were_cut_from(folder: Path) -> None:
    write(folder / "documents.jsonl", [{"doc_id": "d1", "text": "Tea is a drink.", "url": "x"}])
    documents = Folder(str(folder)).load(Kit()).corpus.documents
    assert documents == {"d1": Document("d1", "Tea is a drink.", metadata={"url": "x"})}


def test_qrels_stand_beside_other_gold(folder: Path) -> None:
    write(folder / "items.jsonl", [{"item_id": "q1", "text": "t", "gold": {"evidence": ["Tea"]}}])
    (folder / "qrels.tsv").write_text("item_id\tdoc_id\tgrade\nq1\tp2\t1.5\nq1\tp1\t-1\n", encoding="utf-8")
    gold = Folder(str(folder)).load(Kit()).items[0].gold
    assert gold == {"evidence": ["Tea"], "relevant": {"p2": 1.5, "p1": -1}}


def test_gzipped_lines(folder: Path) -> None:
    plain = Folder(str(folder)).load(Kit())
    for name in ("items.jsonl", "passages.jsonl"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    assert Folder(str(folder)).load(Kit()).hash == plain.hash


def test_a_study_names_it_with_a_path_relative_to_itself(folder: Path) -> None:
    loaded = Registry().create(DATASETS, f"folder(path={folder.name})").load(Kit(root=folder.parent))
    assert loaded.name == folder.name


tag = st.one_of(st.text(), st.integers(-(2**53), 2**53), st.booleans())
item = st.fixed_dictionaries(
    {"text": st.text(), "tags": st.dictionaries(st.text(), st.one_of(tag, st.lists(tag, max_size=3)))},
    optional={"language": st.none() | st.text(), "split": st.text(), "added": st.text()},
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(item, min_size=1, max_size=5))
def test_any_item_survives_the_file_with_its_tags_as_strings(
    folder: Path, items: list[dict[str, Any]]
) -> None:
    write(folder / "items.jsonl", [{"item_id": str(number), **item} for number, item in enumerate(items)])
    loaded = Folder(str(folder)).load(Kit()).items
    for number, (read, written) in enumerate(zip(loaded, items, strict=True)):
        assert (read.item_id, read.text, read.split) == (str(number), written["text"], written.get("split"))
        assert read.tags.keys() == written["tags"].keys()
        for key, values in read.tags.items():
            given = written["tags"][key]
            assert values == [
                each if isinstance(each, str) else json.dumps(each)
                for each in (given if isinstance(given, list) else [given])
            ]


def test_two_corpora_in_one_folder_are_refused(folder: Path) -> None:
    pl.DataFrame(PASSAGES[:1]).write_parquet(folder / "passages.parquet")
    with pytest.raises(DataError, match=r"also has passages\.jsonl\. Remove one"):
        Folder(str(folder)).load(Kit())
