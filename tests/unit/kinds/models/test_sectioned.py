"""Sectioned reports in Parquet with a golden set in YAML."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from assay.core.dataset import Dataset, Place
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.kinds.models.golden_yaml import UNIVERSAL
from assay.kinds.models.sectioned import SectionedReports

ROWS: list[dict[str, Any]] = [
    {
        "chunk_id": "R-17.pdf_chunk_000",
        "report_id": "R-17.pdf",
        "section_name": "PROBABLE CAUSE",
        "chunk_text": "The jackscrew of the stabilizer had worn through.",
        "year": 2001,
        "filed": date(2001, 3, 4),
        "state": None,
    },
    {
        "chunk_id": "loose",
        "report_id": None,
        "section_name": None,
        "chunk_text": "A note without a report.",
        "year": None,
        "filed": None,
        "state": "AK",
    },
]
GOLDEN = """\
metadata:
  version: 2
  total_queries: 5
summary: [five queries, three categories]
evaluation: {k: 10}
incident_lookup:
  - id: "INC-001"
    query: stabilizer jackscrew failure
    difficulty: easy
    intent: lookup
    notes: the best known of them
    ground_truth:
      verification_sql: "WHERE lower(chunk_text) LIKE '%jackscrew%'"
      expected_report_ids: ["R-17.pdf"]
      expected_chunk_count: 1
      relevance_signals: [jackscrew, 737]
      comment: counted by hand
  - id: "INC-010"
    query: an accident that another country investigated
    ground_truth:
      verification_sql: "WHERE lower(chunk_text) LIKE '%pitot%'"
      expected_report_ids: []
      expected_chunk_count: 0
conceptual_queries:
  - id: "CON-010"
    query: >
      losing the horizon
      in cloud
    difficulty: hard
    intent: exploratory
    ground_truth:
      expected_report_ids: []
      min_relevant_reports: 3
      relevance_signals: disorientation
section_queries:
  - id: 1
    query: what was the probable cause
    ground_truth:
      primary_sections: [PROBABLE CAUSE, CONCLUSIONS]
      section_chunk_count: 557
      min_section_accuracy: 0.5
  - id: 2
    query: safety recommendations
    ground_truth: {primary_sections: RECOMMENDATIONS, min_section_accuracy: 1}
"""


def load(folder: Path, golden: str = GOLDEN, rows: list[dict[str, Any]] = ROWS, **named: Any) -> Dataset:
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(folder / "chunks.parquet")
    (folder / "gold.yaml").write_text(golden, encoding="utf-8")
    named.setdefault("people", ("conceptual_queries",))
    return SectionedReports("chunks.parquet", "gold.yaml", **named).load(Kit(root=folder))


def problems(folder: Path, golden: str, **named: Any) -> list[str]:
    """What loading complains about, with paths relative to the folder."""
    with pytest.raises(DataError) as caught:
        load(folder, golden, **named)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def entry(truth: str = "{relevance_signals: [x]}", more: str = "") -> str:
    return f"lookup:\n  - id: A\n    query: q\n{more}    ground_truth: {truth}\n"


def test_passages_know_their_report_and_section(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert loaded.name == "gold"
    assert loaded.corpus.passages == [
        Passage(
            "R-17.pdf_chunk_000",
            "The jackscrew of the stabilizer had worn through.",
            source="R-17.pdf",
            section="PROBABLE CAUSE",
            metadata={"year": 2001, "filed": date(2001, 3, 4)},
        ),
        Passage("loose", "A note without a report.", metadata={"state": "AK"}),
    ]
    assert loaded.corpus.document_of("loose") == "loose"
    assert loaded.columns == {
        "doc_id": "chunk_id",
        "text": "chunk_text",
        "source": "report_id",
        "section": "section_name",
    }


def test_items_hold_what_is_given_and_no_more(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert loaded.warnings == []
    assert loaded.items == [
        Item(
            "INC-001",
            "stabilizer jackscrew failure",
            tags={
                "category": ["incident_lookup"],
                "difficulty": ["easy"],
                "intent": ["lookup"],
                "review": ["no"],
            },
            gold={
                "sql": "WHERE lower(chunk_text) LIKE '%jackscrew%'",
                "reports": ["R-17.pdf"],
                "signals": ["jackscrew", "737"],
                "declared": {"expected_chunk_count": 1},
            },
        ),
        Item(
            "INC-010",
            "an accident that another country investigated",
            tags={"category": ["incident_lookup"], "review": ["no"]},
            gold={
                "sql": "WHERE lower(chunk_text) LIKE '%pitot%'",
                "declared": {"expected_chunk_count": 0},
            },
            expects="nothing",
        ),
        Item(
            "CON-010",
            "losing the horizon in cloud",
            tags={
                "category": ["conceptual_queries"],
                "difficulty": ["hard"],
                "intent": ["exploratory"],
                "review": ["yes"],
            },
            gold={"signals": ["disorientation"], "declared": {"min_relevant_reports": 3}},
        ),
        Item(
            "1",
            "what was the probable cause",
            tags={"category": ["section_queries"], "review": ["no"]},
            gold={
                "sections": ["PROBABLE CAUSE", "CONCLUSIONS"],
                "universal": list(UNIVERSAL),
                "declared": {"section_chunk_count": 557, "min_section_accuracy": 0.5},
            },
        ),
        Item(
            "2",
            "safety recommendations",
            tags={"category": ["section_queries"], "review": ["no"]},
            gold={
                "sections": ["RECOMMENDATIONS"],
                "universal": list(UNIVERSAL),
                "declared": {"min_section_accuracy": 1.0},
            },
        ),
    ]


def test_every_item_has_its_place(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    where = str(tmp_path / "gold.yaml")
    # Counted in GOLDEN, the first line being 1.
    lines = {"INC-001": 7, "INC-010": 18, "CON-010": 25, "1": 36, "2": 42}
    assert loaded.places == {item_id: Place(where, line) for item_id, line in lines.items()}


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    rows = [{"doc_id": "a", "words": "b", "source": "SAFENET", "file": "F-1", "part": "", "text": "other"}]
    loaded = load(
        tmp_path, entry(), rows, id="doc_id", text="words", report="file", section="part", people=()
    )
    # An empty section is none; columns that are called like fields of a passage stay metadata.
    metadata = {"source": "SAFENET", "text": "other"}
    assert loaded.corpus.passages == [Passage("a", "b", source="F-1", metadata=metadata)]
    assert loaded.columns == {"doc_id": "doc_id", "text": "words", "source": "file", "section": "part"}


def test_metadata_of_every_type_can_be_written_as_json(tmp_path: Path) -> None:
    east = timezone(timedelta(hours=0), "UTC")
    odd = {
        "money": Decimal("1.50"),
        "raw": b"\xff",
        "list": [1, None],
        "struct": {"a": 1, "b": None},
        "at": datetime(2001, 3, 4, 5, tzinfo=east),
        "clock": time(5, 6),
        "took": timedelta(hours=1),
        "share": float("nan"),
        "yes": True,
    }
    loaded = load(tmp_path, rows=[{**ROWS[0], **odd}])
    passage = loaded.corpus.passages[0]
    assert set(odd) < set(passage.metadata)
    again = msgspec.json.decode(msgspec.json.encode(passage.metadata))
    assert again["money"] == "1.50"
    assert again["clock"] == "05:06:00"
    assert again["list"] == [1, None]
    assert len(loaded.hash) == 32


# -------------------------------------------------------------------------------- the golden set


@pytest.mark.parametrize(
    ("written", "sections"),
    [
        ("", list(UNIVERSAL)),
        ("universal_valid_sections: [SUMMARY, BRIEF]\n", ["SUMMARY", "BRIEF"]),
        ("universal_sections: SUMMARY\n", ["SUMMARY"]),
        ("universal_valid_sections: []\n", []),
        ("universal_valid_sections:\n", list(UNIVERSAL)),
        ("universal_valid_sections: [A, B]\nuniversal_sections: [B, C]\n", ["A", "B", "C"]),
    ],
)
def test_sections_that_are_right_for_every_query(tmp_path: Path, written: str, sections: list[str]) -> None:
    loaded = load(tmp_path, written + entry("{primary_sections: [FIRE]}"))
    assert loaded.items[0].gold == {"sections": ["FIRE"], "universal": sections}


@pytest.mark.parametrize(
    ("truth", "more", "negative"),
    [
        ("{verification_sql: w, expected_report_ids: []}", "", True),
        ("{verification_sql: w, expected_chunk_count: 0}", "", True),
        ("{verification_sql: w, expected_report_ids: [], min_relevant_reports: 0}", "", True),
        ("{relevance_signals: [s]}", "    expects: nothing\n", True),
        ("{relevance_signals: [s]}", "    negative: true\n", True),
        ("{relevance_signals: [s]}", "    negative: false\n", False),
        ("{verification_sql: w, expected_report_ids: [], min_relevant_reports: 3}", "", False),
        ("{verification_sql: w, expected_report_ids: [], expected_report_count: 3}", "", False),
        ("{verification_sql: w, expected_report_ids: [], expected_chunk_count: 3}", "", False),
        ("{verification_sql: w, expected_report_ids: [], primary_sections: [S]}", "", False),
        ("{verification_sql: w, expected_report_ids: }", "", False),
        ("{verification_sql: w}", "", False),
    ],
)
def test_which_queries_expect_nothing(tmp_path: Path, truth: str, more: str, negative: bool) -> None:
    item = load(tmp_path, entry(truth, more)).items[0]
    assert item.expects == ("nothing" if negative else None)
    assert "reports" not in item.gold


def test_what_is_no_category_is_passed_over(tmp_path: Path) -> None:
    others = "notes: [a, b]\npeople: [{name: x}]\nempty: []\ncount: 3\nnothing:\nnested: {id: x, query: y}\n"
    loaded = load(tmp_path, others + entry())
    assert [item.item_id for item in loaded.items] == ["A"]


def test_a_count_of_queries_that_is_not_true_is_a_warning(tmp_path: Path) -> None:
    loaded = load(tmp_path, "metadata:\n  total_queries: 50\n" + entry(), people=())
    assert [warning.replace(f"{tmp_path}/", "") for warning in loaded.warnings] == [
        (
            "gold.yaml:2: metadata.total_queries: it says 50, the file has 1. "
            "Correct it, or look for queries that are not read."
        )
    ]


def test_people_who_are_to_review_no_category_are_a_warning(tmp_path: Path) -> None:
    loaded = load(tmp_path, entry(), people=("lookup", "conceptual", "comparative"))
    assert loaded.items[0].tags["review"] == ["yes"]
    assert loaded.warnings == [
        (
            "gold.yaml: no category is called 'conceptual' or 'comparative', which people are to review. "
            "Categories: lookup."
        )
    ]


def test_expected_reports_that_the_table_lacks_are_a_warning(tmp_path: Path) -> None:
    loaded = load(tmp_path, entry("{expected_report_ids: [R-17.pdf, R-17, R-99]}"), people=())
    assert loaded.warnings == [
        (
            "gold.yaml: no passage is from 2 of the expected reports, such as 'R-17' of A. "
            "Check how the table writes their names."
        )
    ]


WORDS = "expected a word or a list of words, found"
QUOTES = "Put each word in quotes."
NUMBER = "Write a number such as 3."
SHARE = "Write a number such as 0.5."
COUNT = "lookup.A.ground_truth.expected_chunk_count: expected a whole number from 0, found"
ACCURACY = "lookup.A.ground_truth.min_section_accuracy: expected a share from 0 to 1, found"


@pytest.mark.parametrize(
    ("truth", "says"),
    [
        ("{expected_chunk_count: -1}", f"{COUNT} -1. {NUMBER}"),
        ("{expected_chunk_count: 1.5}", f"{COUNT} 1.5. {NUMBER}"),
        ("{expected_chunk_count: many}", f"{COUNT} 'many'. {NUMBER}"),
        ("{expected_chunk_count: true}", f"{COUNT} True. {NUMBER}"),
        ("{expected_chunk_count: 99999999999999999999}", f"{COUNT} '99999999999999999999'. {NUMBER}"),
        ("{min_section_accuracy: 1.01}", f"{ACCURACY} 1.01. {SHARE}"),
        ("{min_section_accuracy: -0.5}", f"{ACCURACY} -0.5. {SHARE}"),
        ("{min_section_accuracy: 50%}", f"{ACCURACY} '50%'. {SHARE}"),
        ("{min_section_accuracy: 1e999}", f"{ACCURACY} inf. {SHARE}"),
        (
            "{verification_sql: [a]}",
            "lookup.A.ground_truth.verification_sql: expected some text, found ['a']. Write it in quotes.",
        ),
        ("{primary_sections: [1.10]}", f"lookup.A.ground_truth.primary_sections: {WORDS} 1.1. {QUOTES}"),
        ("{primary_sections: [a, ' ']}", f"lookup.A.ground_truth.primary_sections: {WORDS} ' '. {QUOTES}"),
        ("{relevance_signals: [a, ]}", ""),
        ("{relevance_signals: [~]}", f"lookup.A.ground_truth.relevance_signals: {WORDS} nothing. {QUOTES}"),
        (
            '{relevance_signals: ["\\uD800"]}',
            rf"lookup.A.ground_truth.relevance_signals: {WORDS} '\ud800'. {QUOTES}",
        ),
        (
            "[a]",
            (
                "lookup.A.ground_truth: expected a mapping, found ['a']. "
                "Write fields such as verification_sql under it."
            ),
        ),
        (
            "{verification_sq: w}",
            "lookup.A.ground_truth.verification_sq: there is no such field. Did you mean 'verification_sql'?",
        ),
        (
            "{primary_section: w}",
            "lookup.A.ground_truth.primary_section: there is no such field. Did you mean 'primary_sections'?",
        ),
        (
            "{expects: nothing}",
            "lookup.A.ground_truth.expects: this field belongs beside ground_truth. Move it there.",
        ),
        ("{<<: {a: b}}", "lookup.A.ground_truth.<<: merge keys are not read. Write the fields out."),
    ],
)
def test_a_field_that_is_wrong_is_named(tmp_path: Path, truth: str, says: str) -> None:
    if not says:
        assert load(tmp_path, entry(truth)).items[0].gold == {"signals": ["a"]}
        return
    assert problems(tmp_path, entry(truth)) == [f"gold.yaml:4: {says}"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("    expects: something\n", "expects: expected 'nothing', found 'something'. Write 'nothing', or"),
        ("    negative: yes\n", "negative: expected true or false, found 'yes'. Write one of the two"),
        ("    difficulty: {a: b}\n", f"difficulty: {WORDS} {{'a': 'b'}}. {QUOTES}"),
        ("    intents: lookup\n", "intents: there is no such field. Did you mean 'intent'?"),
        ("    ID: B\n", "ID: there is no such field. Did you mean 'id'?"),
        ("    verification_sql: w\n", "verification_sql: this field belongs inside ground_truth. Move it"),
        ("    <<: {a: b}\n", "<<: merge keys are not read. Write the fields out."),
    ],
)
def test_a_field_beside_the_ground_truth_that_is_wrong(tmp_path: Path, more: str, says: str) -> None:
    (found,) = problems(tmp_path, entry(more=more))
    assert found.startswith(f"gold.yaml:4: lookup.A.{says}")


ADD = "Add verification_sql, expected_report_ids, primary_sections or relevance_signals."


@pytest.mark.parametrize(
    ("truth", "says"),
    [
        ("", f"nothing says what is relevant. {ADD}"),
        ("{notes: x}", f"nothing says what is relevant. {ADD}"),
        ("{min_relevant_reports: 3}", f"nothing says what is relevant. {ADD}"),
        ("{expected_report_ids: [], min_relevant_reports: 3}", f"nothing says what is relevant. {ADD}"),
        ("{primary_sections: []}", f"nothing says what is relevant. {ADD}"),
        (
            "{expected_report_ids: []}",
            (
                "a query that expects nothing says nothing by which to tell what is wrong. "
                "Add verification_sql or relevance_signals."
            ),
        ),
        (
            (
                "{relevance_signals: [s], expected_chunk_count: 0, expected_report_ids: [R], "
                "min_relevant_reports: 2}"
            ),
            (
                "the query expects nothing, and yet declares expected_report_ids and min_relevant_reports. "
                "Keep one of the two."
            ),
        ),
    ],
)
def test_a_query_that_cannot_be_judged(tmp_path: Path, truth: str, says: str) -> None:
    assert problems(tmp_path, entry(truth)) == [f"gold.yaml:4: lookup.A.ground_truth: {says}"]


def test_one_look_shows_every_problem_of_both_files(tmp_path: Path) -> None:
    golden = """\
universal_valid_section: [A]
universal_sections: [B, {c: d}]
lookup:
  - id: A
    query: ""
    ground_truth: {expected_chunk_count: -1, primary_section: X}
  - just words
  - query: no id
    ground_truth: {relevance_signals: [s]}
other:
  - id: A
    query: again
    ground_truth: {relevance_signals: [s]}
  - id: [B]
    ground_truth: {relevance_signals: [s]}
  - {name: x}
"""
    rows = [{**ROWS[0], "chunk_id": None}, {**ROWS[0], "chunk_text": None}, ROWS[0]]
    cell = "the cell is empty. Fill it, or take the row out."
    others = "expected an entry like others of this list, found"
    out = "Write id, query and ground_truth, or take it out."
    assert problems(tmp_path, golden, rows=[*rows, ROWS[0]]) == [
        f"chunks.parquet:1: chunk_id: {cell}",
        f"chunks.parquet:2: chunk_text: {cell}",
        "chunks.parquet:4: the doc_id 'R-17.pdf_chunk_000' stands on line 3 already. Ids must be unique.",
        (
            "gold.yaml:1: universal_valid_section: there is no such field. "
            "Did you mean 'universal_valid_sections'?"
        ),
        f"gold.yaml:2: universal_sections: {WORDS} {{'c': 'd'}}. {QUOTES}",
        (
            "gold.yaml:6: lookup.A.ground_truth.primary_section: there is no such field. "
            "Did you mean 'primary_sections'?"
        ),
        "gold.yaml:5: lookup.A.query: expected some text, found ''. Write it in quotes.",
        f"gold.yaml:6: {COUNT} -1. {NUMBER}",
        f"gold.yaml:7: lookup.1: {others} 'just words'. {out}",
        "gold.yaml:8: lookup.2.id: this field is required. Add it.",
        "gold.yaml:11: other.A.id: the id 'A' stands on line 4 already. Ids must be unique.",
        "gold.yaml:14: other.1.id: expected some text, found ['B']. Write it in quotes.",
        "gold.yaml:14: other.1.query: this field is required. Add it.",
        f"gold.yaml:16: other.2: {others} {{'name': 'x'}}. {out}",
    ]


FORM = "Write CATEGORY: and under it a list of entries with id, query and ground_truth."


@pytest.mark.parametrize(
    ("golden", "says"),
    [
        (
            "notes: [a]\nlookup: []\n",
            f"gold.yaml:1: expected a list of queries, found only 'notes', 'lookup'. {FORM}",
        ),
        ("{}", f"gold.yaml:1: expected a list of queries, found only an empty mapping. {FORM}"),
        ("", "gold.yaml: expected a mapping from categories to lists of queries, found nothing. Write "),
        (
            "- id: A\n",
            "gold.yaml:1: expected a mapping from categories to lists of queries, found [{'id': 'A'}].",
        ),
        ("a: 1\na: 2\n", "gold.yaml:2: a: this field is already on line 1."),
        ("a: [\n", "gold.yaml:2: this is not YAML: "),
        ('a: "\\UFFFFFFFF"\n', "gold.yaml: this is not YAML: "),
        (
            '"\\uD800":\n- id: A\n',
            r"gold.yaml:1: \ud800: the name of the category is not valid text. Correct the escape.",
        ),
    ],
)
def test_a_file_that_is_no_golden_set(tmp_path: Path, golden: str, says: str) -> None:
    (found,) = problems(tmp_path, golden)
    assert found.startswith(says)


# -------------------------------------------------------------------------------- the table


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for passages in ("none.parquet", "none/chunks.parquet"):
        with pytest.raises(DataError) as caught:
            SectionedReports(passages, ".").load(Kit(root=tmp_path))
        table, golden = caught.value.problems
        assert table.what in ("there is no such file", "there is no such folder")
        assert golden.what == "cannot be read: Is a directory"


def test_columns_that_are_missing_or_hold_no_text(tmp_path: Path) -> None:
    rows = [{"chunkid": "a", "chunk_text": 1, "report_id": "r", "part": "x"}]
    assert problems(tmp_path, entry(), rows=rows) == [
        "chunks.parquet: chunk_id: the column is missing. Did you mean 'chunkid' or 'chunk_text'?",
        "chunks.parquet: section_name: the column is missing. Known: chunk_text, chunkid, part, report_id.",
        "chunks.parquet: chunk_text: the column holds Int64, not text. Cast it to a string.",
    ]


def test_a_table_without_rows(tmp_path: Path) -> None:
    names = ("chunk_id", "chunk_text", "report_id", "section_name")
    (tmp_path / "gold.yaml").write_text(entry())
    pl.DataFrame(schema=dict.fromkeys(names, pl.String)).write_parquet(tmp_path / "chunks.parquet")
    with pytest.raises(DataError, match="the table has no rows"):
        SectionedReports("chunks.parquet", "gold.yaml").load(Kit(root=tmp_path))


def test_a_path_is_no_pattern(tmp_path: Path) -> None:
    load(tmp_path, entry())
    (tmp_path / "chunks.parquet").rename(tmp_path / "chunks[1].parquet")
    loaded = SectionedReports("chunks[1].parquet", "gold.yaml").load(Kit(root=tmp_path))
    assert len(loaded.corpus) == 2
