"""TREC files: runs, qrels, topics, and the dataset made of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.datasets.trec import Trec, read_topics
from assay.datasets.trec_files import read_qrels, read_run

ROWS = [("q1", "d1", 2.5), ("q1", "d#2", -1.0), ("q2", "d1", 0.001)]
FORMS = {
    "spaces": "q1 Q0 d1 1 2.5 t\nq1 Q0 d#2 2 -1.0 t\nq2 Q0 d1 1 1e-3 t\n",
    "tabs": "q1\tQ0\td1\t1\t2.5\tt\nq1\tQ0\td#2\t2\t-1.0\tt\nq2\tQ0\td1\t1\t1e-3\tt\n",
    "windows": "q1 Q0 d1 1 2.5 t\r\nq1 Q0 d#2 2 -1.0 t\r\nq2 Q0 d1 1 1e-3 t\r\n",
    "mixed": "q1\tQ0  d1 1   2.5\tt\n  q1 Q0 d#2 2 -1 t  \nq2 Q0\td1 1 1e-3 t",
    "comments": "# made by hand\nq1 Q0 d1 1 2.5 t\nq1 Q0 d#2 2 -1 t\n  # indented\n\nq2 Q0 d1 1 1e-3 t\n",
    "surplus": "q1 Q0 d1 1 2.5 t and more\nq1 Q0 d#2 2 -1 t\nq2 Q0 d1 1 1e-3 t\n",
    "marked": "\ufeffq1 Q0 d1 1 2.5 t\nq1 Q0 d#2 2 -1.0 t\nq2 Q0 d1 1 1e-3 t\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
def test_every_form_of_a_run_reads_the_same(tmp_path: Path, form: str, packed: bool) -> None:
    data = FORMS[form].encode()
    path = tmp_path / ("run.gz" if packed else "run")
    path.write_bytes(gzip.compress(data) if packed else data)
    frame = read_run(path)
    assert frame.schema == {"item": pl.String, "doc": pl.String, "score": pl.Float64}
    assert frame.rows() == ROWS


@pytest.mark.parametrize(
    "text", ["q1 0 d1 2\nq1 0 d2 -1\n", "q1\t0\td1\t2\r\nq1 0  d2 -1", "#x\nq1 0 d1 2\nq1 0 d2 -1"]
)
def test_every_form_of_qrels_reads_the_same(tmp_path: Path, text: str) -> None:
    (tmp_path / "qrels").write_text(text)
    frame = read_qrels(tmp_path / "qrels")
    assert frame.schema == {"item": pl.String, "doc": pl.String, "grade": pl.Int64}
    assert frame.rows() == [("q1", "d1", 2), ("q1", "d2", -1)]


words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6).filter(
    lambda word: not word.startswith("#") and len(word.split()) == 1
)
scores = st.floats(allow_nan=False, allow_infinity=False, width=32)


@settings(max_examples=60)
@given(rows=st.dictionaries(st.tuples(words, words), scores, min_size=1), tag=words)
def test_a_run_with_any_ids_and_scores_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[tuple[str, str], float], tag: str
) -> None:
    path = tmp_path_factory.mktemp("run") / "run"
    flat = [(item, doc, score) for (item, doc), score in rows.items()]
    lines = [f"{item} Q0 {doc} 1 {score!r} {tag}" for item, doc, score in flat]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert sorted(read_run(path).rows()) == sorted(flat)


TAGGED = """<top>
<num> Number: 301
<title> International
  Organized Crime
<desc> Description:
Identify organizations.
</top>
<top>
<num>302</num>
<title>Topic: Poliomyelitis</title>
</top>
"""


def test_topics_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text(TAGGED)
    (tmp_path / "topics.tsv").write_text("301\tInternational Organized Crime\n\n302\tPoliomyelitis\n")
    expected = {"301": "International Organized Crime", "302": "Poliomyelitis"}
    assert read_topics(tmp_path / "topics") == read_topics(tmp_path / "topics.tsv") == expected


def test_the_dataset(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("q1\tone\nq2\ttwo\n")
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 0\nq3 0 a 1\n")
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "a", "title": "A", "text": "x"}\n{"doc_id": "b", "text": "y"}\n'
    )
    dataset = Trec("topics.tsv", "qrels", "corpus.jsonl").load(Kit(root=tmp_path))
    assert [(item.item_id, item.text, item.gold) for item in dataset.items] == [
        ("q1", "one", {"relevant": {"a": 2, "b": 0}}),
        ("q2", "two", {}),
    ]
    assert [(each.doc_id, each.title, each.text) for each in dataset.corpus.passages] == [
        ("a", "A", "x"),
        ("b", "", "y"),
    ]
    assert dataset.name == "topics"
    assert dataset.warnings == [
        "1 topics have no judgment, such as 'q2'.",
        "1 judged queries have no topic, such as 'q3'.",
    ]
    assert len(Trec("topics.tsv", "qrels").load(Kit(root=tmp_path)).corpus) == 0


def test_beir_qrels_are_read_with_and_without_their_header(tmp_path: Path) -> None:
    lines = "q1\td1\t2\nq1\td2\t0\n"
    for name, text in (
        ("plain", lines),
        ("named", "query-id\tcorpus-id\tscore\r\n" + lines.replace("\n", "\r\n")),
    ):
        (tmp_path / name).write_text(text, newline="")
        assert read_qrels(tmp_path / name).rows() == [("q1", "d1", 2), ("q1", "d2", 0)]


def test_a_file_of_another_kind_is_one_problem(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.4 tag\n")
    with pytest.raises(DataError) as error:
        read_qrels(tmp_path / "qrels")
    assert [problem.what for problem in error.value.problems] == [
        "on every line: expected 4 columns, found 6"
    ]
