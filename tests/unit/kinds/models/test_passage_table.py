"""Clauses over the passages: what they find, what columns they see, and what is said of a wrong one."""

from __future__ import annotations

import gc
import os
import random
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from assay.core.dataset import Corpus
from assay.core.errors import DataError, UsageError
from assay.core.records import Passage
from assay.kinds.models.golden_yaml import read_golden
from assay.kinds.models.judges.passage_table import PassageTable
from assay.kinds.models.judges.sql_clause import LOWER_COLUMN, ClauseRefused
from assay.kinds.models.judges.sql_select import PARTS

NAMES = {"doc_id": "chunk_id", "text": "chunk_text", "source": "report_id", "section": "section_name"}
CORPUS = Corpus(
    [
        Passage(
            "z1",
            "Alaska flight 261: the jackscrew failed.",
            title="Alaska",
            source="R1",
            section="cause",
            metadata={
                "year": 2000,
                "hours": 1.5,
                "night": True,
                "day": date(2000, 1, 31),
                "tags": ["ice", "wing"],
                "mixed": 7,
                "Odd name": "x",
                "text": "a key that is hidden",
                "Weather": "clear",
                "user": "anna",
                "deep": {"a": {"b": 1}},
            },
        ),
        Passage(
            "a2",
            "ALASKA again; it's 100% ice",
            source="R1",
            section="facts",
            metadata={
                "year": 1999,
                "hours": 2,
                "night": False,
                "day": date(1999, 12, 1),
                "tags": [],
                "mixed": "seven",
                "weather": "rain",
                "Chunk_Text": "hidden as well",
            },
        ),
        Passage("m3", "Zürich: straße, 日本 ☕", source="R2", section="cause", metadata={"year": 2010}),
        Passage("b4", "nothing", metadata={"moment": datetime(2020, 5, 1, 12, tzinfo=UTC), "big": 2**70}),
    ]
)


@pytest.fixture(scope="module")
def table() -> Iterator[PassageTable]:
    with PassageTable(CORPUS, NAMES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("clause", "found"),
    [
        ("lower(chunk_text) LIKE '%alaska%' AND lower(chunk_text) LIKE '%261%'", ["z1"]),
        ("text LIKE 'ALASKA%'", ["a2"]),
        ("text ILIKE 'alaska%'", ["z1", "a2"]),
        ("text LIKE '%100!%%' ESCAPE '!'", ["a2"]),
        ("chunk_text NOT ILIKE '%alaska%'", ["m3", "b4"]),
        ("text LIKE '%it''s%'", ["a2"]),
        ("text LIKE '%;%'", ["a2"]),
        ("text LIKE '%straße%' AND contains(text, '日本 ☕')", ["m3"]),
        ("year IN (1999, 2010)", ["a2", "m3"]),
        ("year BETWEEN 1999 AND 2000", ["z1", "a2"]),
        ("hours > 1.75", ["a2"]),
        ("hours * 2 = 3", ["z1"]),
        ("night", ["z1"]),
        ("NOT night", ["a2"]),
        ("day >= DATE '2000-01-01'", ["z1"]),
        ("day < '2000-01-01'", ["a2"]),
        ("extract(month FROM day) = 12", ["a2"]),
        ("day + INTERVAL 60 DAY > DATE '2000-01-31'", ["z1"]),  # 1 December and 60 days is 30 January
        ("moment = TIMESTAMP '2020-05-01 12:00:00'", ["b4"]),
        ("big = '1180591620717411303424'", ["b4"]),  # 2**70, too large for a number of SQL
        ("'wing' = ANY(tags)", ["z1"]),
        ("list_contains(tags, 'ice')", ["z1"]),
        ("len(tags) = 0", ["a2"]),
        ("mixed IN ('7', 'seven')", ["z1", "a2"]),
        ("\"Odd name\" = 'x'", ["z1"]),
        ("weather IN ('clear', 'rain')", ["z1", "a2"]),
        ("user = 'anna'", ["z1"]),
        ("deep ->> '$.a.b' = '1'", ["z1"]),
        ("source IS NULL", ["b4"]),
        ("section_name = 'cause' OR report_id = 'R1'", ["z1", "a2", "m3"]),
        ("chunk_id = 'm3' AND doc_id = 'm3'", ["m3"]),
        ("TITLE = 'Alaska'", ["z1"]),
        ("regexp_matches(text, '^Alaska (flight|again)')", ["z1"]),
        ("regexp_matches(text, '(?i)^alaska (flight|again)')", ["z1", "a2"]),
        ("text SIMILAR TO '.*jackscrew.*'", ["z1"]),
        ("year > 2000", ["m3"]),
        ("NOT (year > 2000)", ["z1", "a2"]),  # NULL is neither
        ("NULL::BOOLEAN", []),
        ("1 = 2", []),
        ("CASE WHEN year = 2000 THEN true ELSE section = 'facts' END", ["z1", "a2"]),
        ("TRY_CAST(mixed AS INTEGER) = 7", ["z1"]),
        ("report_id IN (SELECT report_id FROM chunks WHERE section = 'facts')", ["z1", "a2"]),
        ("year = (SELECT max(year) FROM passages)", ["m3"]),
        (
            "EXISTS (SELECT 1 FROM chunks c WHERE c.report_id = passages.report_id AND c.year < 2000)",
            ["z1", "a2"],
        ),
        (
            "EXISTS (SELECT 1 FROM chunks c WHERE c.report_id = chunks.report_id AND c.year < 2000)",
            ["z1", "a2"],
        ),
        ("chunks.year = 2000", ["z1"]),
        ("source IN (SELECT source FROM chunks GROUP BY source HAVING count(*) = 1)", ["m3"]),
        (
            "doc_id IN (SELECT doc_id FROM chunks QUALIFY row_number() OVER (ORDER BY doc_id) <= 2)",
            ["a2", "b4"],
        ),
    ],
)
def test_a_clause_finds_in_corpus_order(table: PassageTable, clause: str, found: list[str]) -> None:
    assert table.matching(clause) == found


@pytest.mark.parametrize(
    "clause",
    [
        "year = 2000",
        "WHERE year = 2000",
        "where year = 2000;",
        "  WhErE\n(year = 2000) ; ;  ",
        "WHERE(year = 2000)",
        "year = 2000 -- a note; with a semicolon",
        "year = 2000; -- a note",
        "year = 2000 /* a note */ ; /* another */",
        "-- a note\nWHERE year = 2000",
        "/* one */ /* two */ where year = 2000",
        "year = 2000 AND '; --' <> '/*'",
    ],
)
def test_the_word_where_semicolons_and_comments_do_not_matter(table: PassageTable, clause: str) -> None:
    assert table.matching(clause) == ["z1"]


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("", "not SQL. Write what may follow WHERE"),
        (" \n", "not SQL"),
        (None, "The clause is None"),
        (3, "The clause is 3"),
        ("WHERE", "cannot be read as SQL"),
        ("-- only a note", "cannot be read as SQL"),
        ("year = ", "cannot be read as SQL: syntax error"),
        ("text LIKE 'open", "cannot be read as SQL: unterminated"),
        ("chunk_txt = 'x'", "There is no column 'chunk_txt'. Did you mean 'chunk_text'"),
        ("qqqq = 'x'", "Known: Odd name, Weather,"),
        ("chunk_text", "The clause is VARCHAR, neither true nor false"),
        ("year", "The clause is BIGINT"),
        ("NULL", "neither true nor false"),
        ("CAST(text AS INTEGER) = 1", "fails on a passage: Could not convert string"),
        ("year // 0 = 1", "fails on a passage: Division by zero"),
        ("error('x')", "the function 'error'"),
        ("regexp_matches(text, '(')", "fails on a passage: missing )"),
        ("count(*) > 1", "WHERE clause cannot contain aggregates. A clause may compare"),
        ("lowr(text) = 'x'", "the function 'lowr'. Did you mean 'lower'"),
        ("day LIKE '2000%'", "No function matches"),
        ("current_date > day", "'current_date': labels may not change with the day"),
        ("year = 2000\0", "null character"),
        ("text = '\ud800'", "half a character"),
        ("(" * 5000 + "true" + ")" * 5000, "nested too deeply"),
        ("NOT " * 900 + "true", "nested too deeply"),
        ("true OR " * 20_000 + "true", "100,000 are read"),
        ("year = ?", "may not use parameters"),
        ("(t -> t = 'ice') = tags", "may not use lambdas"),
        ("list_filter(tags, t -> t = 'ice') = ['ice']", "the function 'list_filter'"),
    ],
)
def test_a_wrong_clause_is_refused_with_what_to_do(table: PassageTable, clause: Any, said: str) -> None:
    with pytest.raises(ClauseRefused, match=r"\.$|\?$") as caught:
        table.matching(clause)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 450
    assert table.matching("year = 2000") == ["z1"]


def test_a_key_that_collides_keeps_the_core_meaning(table: PassageTable) -> None:
    assert table.matching("text LIKE '%hidden%' OR chunk_text LIKE '%hidden%'") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "clause"),
    [
        ([1, 2.5, None], "value < 2 AND value >= 1"),
        ([True, 1, None], "value = 'true'"),
        ([date(2020, 1, 1), datetime(2021, 1, 1), None], "value = TIMESTAMP '2020-01-01'"),
        ([[1, 2], [3.5], None], "value[2] = 2.0"),
        ([[1], ["a"], None], "value = '[1]'"),
        ([[[1]], [[2]], None], "value = '[[1]]'"),
        ([{"a": 1}, "b", None], "value ->> 'a' = '1'"),
        (["", None, None], "value = ''"),
        ([["a", None], [], None], "value[1] = 'a' AND value[2] IS NULL"),
    ],
)
def test_a_column_has_the_type_of_what_it_holds(values: list[Any], clause: str) -> None:
    passages = [Passage(str(at), "t", metadata={"value": value}) for at, value in enumerate(values)]
    clause = clause.replace("value ->> 'a'", "json_extract_string(try_cast(value AS JSON), 'a')")
    with PassageTable(Corpus(passages)) as table:
        assert table.matching(clause) == ["0"]


def test_strange_keys_do_no_harm() -> None:
    odd = {
        'a"b; DROP TABLE stored; --': 1,
        "": 2,
        " ": 3,
        "n\0": 4,
        "select": 5,
        "Ä": 6,
        "ä": 7,
        "A": 8,
        "a": 9,
    }
    with PassageTable(Corpus([Passage("d", "t", metadata=odd)])) as table:
        assert table.matching('"a""b; DROP TABLE stored; --" = 1 AND "select" = 5 AND a = 8') == ["d"]


def test_no_passages_and_no_metadata() -> None:
    with PassageTable(Corpus([])) as table:
        assert table.matching("text LIKE '%a%'") == []


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"txt": "chunk"}, "no field 'txt'. Did you mean 'text'"),
        ({"text": " "}, "cannot name the column"),
        ({"text": "Title"}, "Two columns are called 'Title'"),
        ({"text": "body", "title": "BODY"}, "Two columns are called 'BODY'"),
    ],
)
def test_names_that_cannot_be(columns: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=r"[.?]$") as caught:
        PassageTable(CORPUS, columns)
    assert said in str(caught.value)


def test_a_column_may_be_called_what_it_is_called() -> None:
    with PassageTable(CORPUS, {"text": "TEXT"}) as table:
        assert table.matching("text LIKE 'nothing'") == ["b4"]


def test_an_amount_of_memory_is_written_with_its_unit() -> None:
    with pytest.raises(UsageError, match="Write it as in 512MB"):
        PassageTable(CORPUS, memory="much")


def test_order_is_that_of_the_corpus_however_the_rows_come() -> None:
    ids = [f"d{at * 7919 % 5000}" for at in range(5000)]  # 7919 is prime to 5000: each id once
    passages = [Passage(doc_id, "t", source=f"s{at % 10}") for at, doc_id in enumerate(ids)]
    with PassageTable(Corpus(passages)) as table:
        clause = "source IN (SELECT source FROM chunks WHERE doc_id IN ('d0', 'd7919') ORDER BY doc_id DESC)"
        assert table.matching(clause) == [doc_id for at, doc_id in enumerate(ids) if at % 10 == 0]
        assert table.matching("true") == ids


# ------------------------------------------------------------------------------ many clauses at once

SOURCE = Path(__file__).parents[4] / "src" / "assay"
GOLDEN = [SOURCE / each / "gold_queries.yaml" for each in ("kinds/models/template", "studies/safety_reports")]
SOUND = [
    "lower(chunk_text) LIKE '%alaska%' OR lower(section) = 'facts'",
    "LOWER(text) ILIKE '%ICE%' AND NOT lower(TEXT) LIKE '%jack%'",
    "lower(text) LIKE '%100!%%' ESCAPE '!'",
    "regexp_matches(lower(chunk_text), 'jack|stra.e')",
    "night",
    "NULL::BOOLEAN",
    "chunks.year = 2000 AND lower(chunks.text) LIKE '%a%'",
    "mixed = '7' AND CAST(mixed AS INTEGER) = 7",
    "EXISTS (SELECT 1 FROM chunks c WHERE c.report_id = passages.report_id AND lower(c.text) LIKE '%ice%')",
    "lower(text) IN (SELECT lower(text) FROM chunks WHERE lower(text) LIKE '%z%')",
    "EXISTS (SELECT * FROM chunks c WHERE c.report_id = passages.report_id AND c.year < 2000)",
    "EXISTS (FROM chunks c WHERE c.report_id = passages.report_id AND lower(c.text) LIKE '%ice%')",
    "text IN (SELECT * FROM (SELECT text FROM chunks WHERE year = 2000))",
    "source IN (SELECT source FROM chunks GROUP BY source HAVING count(*) = 1)",
]
WHOLE_ROWS = [
    "passages::VARCHAR LIKE '%alaska%'",
    "chunks::VARCHAR LIKE '%alaska%'",
    "\"Passages\"::VARCHAR LIKE '%alaska%'",
    "main.passages::VARCHAR LIKE '%alaska%'",
    "memory.main.passages::VARCHAR LIKE '%alaska%'",
    "concat(passages) LIKE '%alaska%'",
    "row(passages)::VARCHAR LIKE '%alaska%'",
    "passages['text'] LIKE 'A%'",
    "passages IS NOT NULL",
    "EXISTS (SELECT 1 FROM chunks WHERE passages::VARCHAR LIKE '%alaska%')",
    "(SELECT passages)::VARCHAR LIKE '%alaska%'",
    "(SELECT t FROM (SELECT passages.*) t)::VARCHAR LIKE '%alaska%'",
    "EXISTS (SELECT COLUMNS(passages.*) FROM chunks)",
    "concat_ws(' ', *COLUMNS(*)) LIKE '%alaska%'",
    "concat_ws(' ', *COLUMNS(passages.*)) LIKE '%alaska%'",
    "coalesce(*COLUMNS('text')) LIKE '%alaska%'",
    "COLUMNS(*) IS NOT NULL",
    "COLUMNS('^text$') LIKE 'A%'",
    "COLUMNS(* EXCLUDE (doc_id)) IS NOT NULL",
]
UNSOUND = [
    "",
    "\ud800",
    "year = ",
    "lower(chunk_txt) = 'x'",
    "chunk_text",
    "CAST(text AS INTEGER) = 1",
    "year // 0 = 1",
    "regexp_matches(text, '(')",
    "count(*) > 1",
    "row_number() OVER () = 1",
    "unnest([true, false])",
    "random() > 0.5",
    *WHOLE_ROWS,
]


def one_by_one(table: PassageTable, clauses: Sequence[str]) -> list[list[str] | str]:
    found: list[list[str] | str] = []
    for clause in clauses:
        try:
            found.append(table.matching(clause))
        except ClauseRefused as refusal:
            found.append(str(refusal))
    return found


def together(table: PassageTable, clauses: Sequence[str]) -> list[list[str] | str]:
    found = table.matching_all(clauses)
    return [str(each) if isinstance(each, ClauseRefused) else each for each in found]


@pytest.mark.slow
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_all_clauses_of_a_golden_set_find_together_what_each_finds(path: Path) -> None:
    entries = read_golden(path).entries
    golden = [entry.ground_truth for category in entries.values() for entry in category]
    clauses = [truth.verification_sql for truth in golden if truth.verification_sql]
    words = re.findall(r"[A-Za-z-]{4,}", " ".join(clauses))
    draw = random.Random(3)
    keys = ("vehicle_type", "phase", "region", "vessel", "agency", "year", "report_date", "fatalities")
    passages = [
        Passage(
            f"p{at}",
            " ".join(draw.choices(words, k=60)).title(),
            source=draw.choice(["IR2015-02.pdf", "LLIS-1", "SAFENET-8JFQNQSAFE"]),
            section=draw.choice(["History", "SUMMARY", "Analysis"]),
            metadata=dict.fromkeys(keys, "history"),
        )
        for at in range(80)
    ]
    with PassageTable(Corpus(passages), NAMES) as table:
        expected = one_by_one(table, clauses)
        assert together(table, clauses) == expected
        assert len(table._ask(clauses)) == len(clauses)  # no need to ask one by one
    assert len(clauses) > 30
    assert sum(0 < len(each) < 80 for each in expected if isinstance(each, list)) > 10


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*SOUND, *UNSOUND]), max_size=6))
def test_a_mix_finds_together_what_each_finds(table: PassageTable, clauses: list[str]) -> None:
    assert together(table, clauses) == one_by_one(table, clauses)


@pytest.mark.parametrize("clause", [*SOUND, *UNSOUND])
def test_a_clause_finds_the_same_with_another_beside_it(table: PassageTable, clause: str) -> None:
    other = "lower(text) LIKE '%alaska%'"
    several = [other] * PARTS  # so many that one of them is worked out in the same part as the clause
    assert together(table, [clause, *several]) == [*one_by_one(table, [clause]), *[["z1", "a2"]] * PARTS]


@pytest.mark.parametrize("number", range(len(SOUND)))
def test_no_clause_that_is_sound_keeps_others_from_being_asked_together(
    table: PassageTable, number: int
) -> None:
    assert len(table._ask([SOUND[number], "true"])) == 2


@pytest.mark.parametrize("clause", WHOLE_ROWS)
def test_names_for_all_columns_are_refused_with_what_to_write(table: PassageTable, clause: str) -> None:
    with pytest.raises(ClauseRefused, match=r"as a value\. Name (the columns|a column of it)\.$"):
        table.matching(clause)


def test_a_column_may_be_called_as_a_table_is() -> None:
    passages = [Passage("d", "TEA", metadata={"passages": "three", "0": 5}), Passage("e", "tea")]
    clauses = ["passages = 'three'", "chunks.passages LIKE 'th%'", "lower(text) = 'tea'", '"0" = 5']
    with PassageTable(Corpus(passages)) as table:
        assert together(table, clauses) == one_by_one(table, clauses) == [["d"], ["d"], ["d", "e"], ["d"]]
        assert isinstance(table.matching_all(["chunks::VARCHAR <> ''"])[0], ClauseRefused)


def test_no_clauses_find_nothing(table: PassageTable) -> None:
    assert table.matching_all([]) == []


def test_a_key_cannot_stand_in_for_text_in_lower_case() -> None:
    with PassageTable(Corpus([Passage("d", "TEA", metadata={f"{LOWER_COLUMN}text": "coffee"})])) as table:
        assert together(table, ["lower(text) = 'tea'", "lower(text) = 'coffee'"]) == [["d"], []]


@pytest.mark.parametrize(
    "passage",
    [
        Passage("d\ud800", "t"),
        Passage("d", "a \ud800 b"),
        Passage("d", "t", metadata={"k": "\ud800"}),
        Passage("d", "t", metadata={"k": [{"a": "\ud800"}]}),
        Passage("d", "t", metadata={"\ud800": 1}),
    ],
)
def test_half_a_character_is_said_with_its_place(passage: Passage) -> None:
    with pytest.raises(DataError, match="holds half a character") as caught:
        PassageTable(Corpus([Passage("a", "sound"), passage]))
    (problem,) = caught.value.problems
    assert repr(passage.doc_id) in problem.what
    str(caught.value).encode()


def test_nothing_is_left_running() -> None:
    table = PassageTable(CORPUS)
    assert table._worker is not None
    process = table._worker._process
    table.close()
    assert process.poll() is not None
    assert table.matching("year = 2000") == ["z1"]  # it starts again

    again = table._worker._process
    del table
    gc.collect()
    assert again.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(again.pid, 0)
