"""Datasets in the BEIR layout."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.core.registry import DATASETS, Registry
from assay.datasets.beir import Beir

CORPUS = """\
{"_id": "d1", "title": "Tea", "text": "Tea is a drink.", "metadata": {"year": 1999}}
{"_id": "d2", "title": null, "text": "Coffee, too."}
{"_id": "d3", "text": "ग्रीन टी"}
"""
QUERIES = """\
{"_id": "q2", "text": "what is coffee", "metadata": {"source": "log"}}
{"_id": "q1", "text": "what is tea"}
{"_id": "q9", "text": "asked in another split"}
"""
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td2\t1\nq1\td3\t0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS, encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS, encoding="utf-8")
    return tmp_path


def test_passages_keep_title_and_metadata_in_file_order(folder: Path) -> None:
    assert Beir(str(folder)).load(Kit()).corpus.passages == [
        Passage("d1", "Tea is a drink.", "Tea", metadata={"year": 1999}),
        Passage("d2", "Coffee, too."),
        Passage("d3", "ग्रीन टी"),
    ]


def test_queries_with_qrels_of_the_split_become_items_in_file_order(folder: Path) -> None:
    assert Beir(str(folder)).load(Kit()).items == [
        Item("q2", "what is coffee", gold={"relevant": {"d2": 1}}, split="test"),
        Item("q1", "what is tea", gold={"relevant": {"d1": 2, "d3": 0}}, split="test"),
    ]


def test_another_split(folder: Path) -> None:
    (folder / "qrels" / "dev.tsv").write_text("q9\td1\t1\n", encoding="utf-8")
    assert [item.item_id for item in Beir(str(folder), split="dev").load(Kit()).items] == ["q9"]


def test_a_split_that_is_not_there_names_those_that_are(folder: Path) -> None:
    with pytest.raises(DataError, match=r"train\.tsv: the file is missing\. .*there: test\."):
        Beir(str(folder), split="train").load(Kit())


def test_gzip_marks_windows_line_ends_and_blank_lines_change_nothing(folder: Path) -> None:
    plain = Beir(str(folder)).load(Kit())
    for path in [folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels" / "test.tsv"]:
        data = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n"
        Path(f"{path}.gz").write_bytes(gzip.compress(data))
        path.unlink()
    again = Beir(str(folder)).load(Kit())
    assert again.hash == plain.hash
    assert again.items == plain.items


def test_a_study_names_it_with_a_path_relative_to_itself(folder: Path) -> None:
    loaded = Registry().create(DATASETS, f"beir:{folder.name}").load(Kit(root=folder.parent))
    assert (loaded.name, len(loaded.corpus), len(loaded.items)) == (folder.name, 3, 2)


@pytest.mark.parametrize(
    ("name", "split", "counts"),
    [
        ("scifact", "test", (5183, 300, 339)),
        ("scifact", "train", (5183, 809, 919)),
        ("nfcorpus", "test", (3633, 323, 12334)),
        ("nfcorpus", "dev", (3633, 324, 11385)),
        ("multihop/beir/2wiki354", "test", (6119, 354, 874)),
    ],
)
def test_public_sets_load_with_their_published_counts(
    shared_data: Callable[[str], Path], name: str, split: str, counts: tuple[int, int, int]
) -> None:
    loaded = Beir(str(shared_data(name)), split).load(Kit())
    graded = sum(len(item.gold["relevant"]) for item in loaded.items)
    assert (len(loaded.corpus), len(loaded.items), graded) == counts
