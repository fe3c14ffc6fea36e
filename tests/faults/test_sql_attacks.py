"""Hostile clauses: each is refused, nothing is read or written outside the table, and the table survives."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import UsageError
from assay.core.records import Passage
from assay.kinds.models.judges import sql_select
from assay.kinds.models.judges.passage_table import PassageTable
from assay.kinds.models.judges.sql_clause import ClauseRefused
from assay.kinds.models.judges.sql_select import connect, read_column

SECRET = "canary-7f3a"  # noqa: S105
WORDS = ["engine", "elevator", "seemed", "tree", "fee", "crew", "the", "ee", "x"]
CORPUS = Corpus(
    [
        Passage(f"d{at}", "tea zq " + " ".join(random.Random(at).choices(WORDS, k=500)), metadata={"n": at})
        for at in range(300)
    ]
)
IDS = [passage.doc_id for passage in CORPUS.passages]

# {canary} is a CSV file that exists, {folder} the folder it lies in; nothing else may appear there.
ATTACKS = {
    # a second statement
    "drop": "1=1; drop table passages",
    "drop stored": "1=1; DROP TABLE stored; --",
    "drop view": "true; DROP VIEW passages",
    "delete": "true; DELETE FROM stored",
    "update": "true; UPDATE stored SET text = ''",
    "insert": "true; INSERT INTO stored (doc_id) VALUES ('evil')",
    "create": "true; CREATE TABLE evil AS SELECT 1",
    "second select": "true; SELECT 1",
    "hidden statement": "true /* ; */ ; /* -- */ DROP TABLE stored",
    "commit": "true; COMMIT; DROP TABLE stored",
    "attach": "true; ATTACH '{folder}/evil.db'",
    "copy out": "true; COPY stored TO '{folder}/evil.csv'",
    "copy in": "true; COPY stored FROM '{canary}'",
    "export": "true; EXPORT DATABASE '{folder}/evil'",
    "install": "true; INSTALL httpfs",
    "load": "true; LOAD httpfs",
    "set": "true; SET enable_external_access = true",
    "reset": "true; RESET lock_configuration",
    "pragma": "true; PRAGMA database_list",
    "call": "true; CALL pragma_version()",
    "use": "true; USE memory",
    "prepare": "true; PREPARE p AS SELECT 1",
    "checkpoint": "true; FORCE CHECKPOINT",
    "macro": "true; CREATE MACRO lower(x) AS 'evil'",
    "explain": "true; EXPLAIN ANALYZE SELECT 1",
    # out of its parentheses
    "union": "1=1) UNION SELECT ('evil'",
    "union all file": "false) UNION ALL SELECT content FROM read_text('{canary}') WHERE (true",
    "bare union": "false UNION SELECT 'evil'",
    "closing": "true) AND (true",
    "limit": "true LIMIT 1",
    "escaped limit": "true) LIMIT (1",
    "order": "true ORDER BY text",
    "group": "true GROUP BY doc_id",
    "escaped group": "true) GROUP BY (doc_id",
    "having": "true HAVING true",
    "qualify": "true QUALIFY true",
    "sample": "true USING SAMPLE 1",
    "window": "true WINDOW w AS ()",
    "line comment": "true) --",
    "open comment": "true /*",
    "open comment after": "true) /*",
    "open string": "true OR text = 'x",
    "dollar string": "true OR text = $$x",
    "unbalanced": "((true)",
    "null byte": "true\0; DROP TABLE stored",
    "from": "true FROM stored",
    # other tables, files and the system
    "read_csv": "EXISTS (SELECT 1 FROM read_csv('{canary}'))",
    "read_text": "(SELECT content FROM read_text('{canary}')) LIKE '%canary%'",
    "read_blob": "EXISTS (FROM read_blob('{canary}'))",
    "read_parquet": "EXISTS (FROM read_parquet('{canary}'))",
    "read_json": "EXISTS (FROM read_json_auto('{canary}'))",
    "read_duckdb": "EXISTS (FROM read_duckdb('{canary}'))",
    "sniff_csv": "EXISTS (FROM sniff_csv('{canary}'))",
    "glob": "EXISTS (FROM glob('{folder}/*'))",
    "file as table": "EXISTS (SELECT * FROM '{canary}')",
    "quoted file": 'EXISTS (SELECT * FROM "{canary}")',
    "url": "EXISTS (FROM 'https://example.org/x.parquet')",
    "dataset in join": "EXISTS (SELECT 1 FROM chunks c JOIN '{canary}' f ON true)",
    "deep file": "n IN (SELECT n FROM (SELECT n FROM chunks WHERE EXISTS (FROM '{canary}')))",
    "file in select list": "(SELECT (SELECT content FROM read_text('{canary}')) FROM chunks LIMIT 1) = 'x'",
    "file in order": "n IN (SELECT n FROM chunks ORDER BY (SELECT 1 FROM '{canary}'))",
    "file in limit": "n IN (SELECT n FROM chunks LIMIT (SELECT 1 FROM '{canary}'))",
    "file in having": "n IN (SELECT n FROM chunks GROUP BY n HAVING (SELECT true FROM '{canary}'))",
    "file in case": "CASE WHEN true THEN (SELECT true FROM '{canary}') END",
    "file in in": "n IN (SELECT 1 UNION SELECT 2 FROM '{canary}')",
    "file in filter": "1 = (SELECT count(*) FILTER (WHERE EXISTS (FROM '{canary}')) FROM chunks)",
    "file in window": "1 IN (SELECT sum(n) OVER (ORDER BY (SELECT 1 FROM '{canary}')) FROM chunks)",
    "file in star": "EXISTS (SELECT * REPLACE ((SELECT 1 FROM '{canary}') AS n) FROM chunks)",
    "stored": "EXISTS (FROM stored)",
    "settings": "EXISTS (FROM duckdb_settings())",
    "secrets": "EXISTS (FROM duckdb_secrets())",
    "functions": "EXISTS (FROM duckdb_functions)",
    "information schema": "EXISTS (FROM information_schema.tables)",
    "pg_catalog": "EXISTS (FROM pg_catalog.pg_class)",
    "sqlite_master": "EXISTS (FROM sqlite_master)",
    "schema": "EXISTS (FROM main.passages)",
    "catalog": "EXISTS (FROM memory.main.passages)",
    "temp": "EXISTS (FROM temp.chunks)",
    "show": "EXISTS (FROM (SHOW TABLES))",
    "describe": "EXISTS (FROM (DESCRIBE chunks))",
    "summarize": "EXISTS (FROM (SUMMARIZE chunks))",
    "pivot": "EXISTS (PIVOT chunks ON n USING count(*))",
    "unpivot": "EXISTS (FROM chunks UNPIVOT (v FOR k IN (text, title)))",
    "query": "EXISTS (FROM query('SELECT 1'))",
    "query_table": "EXISTS (FROM query_table('stored'))",
    "serialized": "EXISTS (FROM json_execute_serialized_sql('x'))",
    "range table": "EXISTS (FROM range(10))",
    "unnest table": "EXISTS (FROM unnest([1, 2]))",
    "values": "EXISTS (VALUES (1))",
    "cte": "EXISTS (WITH t AS (SELECT 1) FROM t)",
    "shadowing cte": "EXISTS (WITH chunks AS (FROM '{canary}') FROM chunks)",
    "recursive": "EXISTS (WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) FROM t)",
    "data in cte": "EXISTS (WITH t AS (DELETE FROM stored RETURNING 1) FROM t)",
    "python variable": "EXISTS (FROM CORPUS)",
    "tablesample": "EXISTS (FROM chunks TABLESAMPLE 10%)",
    "time travel": "EXISTS (FROM chunks AT (VERSION => 1))",
    # all columns at once, which are more beside other clauses
    "whole row": "passages::VARCHAR LIKE '%tea%'",
    "whole row of a schema": "main.passages::VARCHAR LIKE '%tea%'",
    "whole row from within": "EXISTS (SELECT 1 FROM chunks WHERE passages::VARCHAR LIKE '%tea%')",
    "star from within": "(SELECT t FROM (SELECT passages.*) t)::VARCHAR LIKE '%tea%'",
    "unpacked star": "concat_ws(' ', *COLUMNS(*)) LIKE '%tea%'",
    # functions
    "getenv": "getenv('ASSAY_CANARY') LIKE 'canary%'",
    "current_setting": "current_setting('secret_directory') <> ''",
    "set_config": "set_config('threads', '4', false) = '4'",
    "getvariable": "getvariable('x') IS NULL",
    "nextval": "nextval('s') > 0",
    "setseed": "setseed(0.5) IS NULL",
    "random": "random() > 0.5",
    "uuid": "uuid() IS NOT NULL",
    "now": "now() > TIMESTAMP '2000-01-01'",
    "current_timestamp": "current_timestamp > TIMESTAMP '2000-01-01'",
    "user": "user = 'duckdb'",
    "current_user": "current_user IS NOT NULL",
    "session_user": "session_user IS NOT NULL",
    "current_database": "current_database() = 'memory'",
    "current_query": "current_query() <> ''",
    "version": "version() <> ''",
    "pg_sleep": "pg_sleep(100) IS NULL",
    "sleep_ms": "sleep_ms(100000) IS NULL",
    "write_log": "write_log('evil') IS NULL",
    "error": "error('evil') IS NULL",
    "repeat": "length(repeat(text, 1000000000)) > 0",
    "lpad": "length(lpad(text, 2000000000, 'x')) > 0",
    "range": "len(range(1000000000)) > 0",
    "generate_series": "len(generate_series(1, 1000000000)) > 0",
    "list_resize": "len(list_resize([1], 1000000000)) > 0",
    "bar": "bar(1, 0, 1, 1000000000) <> ''",
    "printf": "printf('%1000000000d', 1) <> ''",
    "serialize": "json_serialize_sql('SELECT 1') <> ''",
    "qualified function": "main.lower(text) = 'x'",
    "system function": "system.main.lower(text) = 'x'",
    "method": "text.lower() = 'x'",
    "hidden function": "coalesce(NULL, CASE WHEN [getenv('HOME')][1] <> '' THEN true END)",
    "function in cast": "CAST(getenv('HOME') AS VARCHAR) <> ''",
    "function in window": "1 IN (SELECT row_number() OVER (ORDER BY random()) FROM chunks)",
    "lambda": "list_transform([1], x -> x + 1) = [2]",
    "comprehension": "[x for x in [1, 2] if x > 1] = [2]",
    "parameter": "text = ?",
    "named parameter": "text = $evil",
    "position": "#1 = 'd1'",
    "default": "text = DEFAULT",
    "nesting": "(" * 20_000 + "true" + ")" * 20_000,
    "long": "true OR " * 20_000 + "true",
    "many comments": "/**/" * 20_000 + "x",
}


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("outside") / "canary.csv"
    path.write_text(f"doc_id\n{SECRET}\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def table() -> Iterator[PassageTable]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CANARY", SECRET)
        with PassageTable(CORPUS, {"text": "chunk_text"}) as opened:
            yield opened


def untouched(canary: Path) -> bool:
    return canary.read_text(encoding="utf-8") == f"doc_id\n{SECRET}\n" and os.listdir(canary.parent) == [
        canary.name
    ]


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_and_the_table_survives(table: PassageTable, canary: Path, name: str) -> None:
    clause = ATTACKS[name].replace("{canary}", str(canary)).replace("{folder}", str(canary.parent))
    with pytest.raises(ClauseRefused) as caught:
        table.matching(clause)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert untouched(canary)
    assert table.matching("text LIKE 'tea%'") == IDS


def test_every_way_in_is_refused_before_anything_runs(canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The syntax tree alone decides: a connection that would run everything is never asked to."""
    connection = unlocked()

    def run(*_: object) -> None:
        raise AssertionError("it ran")

    monkeypatch.setattr(sql_select, "_read_only", run)
    for clause in ATTACKS.values():
        if len(clause) < 1000 and "\0" not in clause:
            with pytest.raises(ClauseRefused):
                sql_select.matching_ids(connection, clause.replace("{canary}", str(canary)), 5)


@pytest.mark.slow
def test_attacks_among_other_clauses_are_refused_alike(table: PassageTable, canary: Path) -> None:
    named = {
        name: clause.replace("{canary}", str(canary)).replace("{folder}", str(canary.parent))
        for name, clause in ATTACKS.items()
    }
    *found, last = table.matching_all([*named.values(), "text LIKE 'tea%'"])
    assert last == IDS
    for (name, clause), refusal in zip(named.items(), found, strict=True):
        assert isinstance(refusal, ClauseRefused), name
        with pytest.raises(ClauseRefused) as caught:
            table.matching(clause)
        assert str(caught.value) == str(refusal)
        assert SECRET not in str(refusal)
    assert untouched(canary)


# ------------------------------------------------------------------------ each wall without the others


def columns() -> list[sql_select.SqlColumn]:
    return [
        ("doc_id", "VARCHAR", IDS),
        ("text", "VARCHAR", [each.text for each in CORPUS.passages]),
    ]


def unlocked() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE passages (doc_id VARCHAR, text VARCHAR, n BIGINT)")
    return connection


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(columns(), {}, 64 << 20) as opened:
        yield opened


OUTSIDE = {
    "read_text": "SELECT content FROM read_text('{canary}')",
    "read_csv": "SELECT * FROM read_csv('{canary}')",
    "file as table": "SELECT * FROM '{canary}'",
    "glob": "SELECT * FROM glob('{folder}/*')",
    "copy out": "COPY stored TO '{folder}/evil.csv'",
    "copy in": "COPY stored FROM '{canary}'",
    "attach": "ATTACH '{folder}/evil.db'",
    "export": "EXPORT DATABASE '{folder}/evil'",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "load file": "LOAD '{folder}/evil.duckdb_extension'",
    "external access": "SET enable_external_access = true",
    "unlock": "SET lock_configuration = false",
    "memory": "SET memory_limit = '100GB'",
    "threads": "PRAGMA threads = 8",
    "temp directory": "SET temp_directory = '{folder}'",
    "extension directory": "SET extension_directory = '{folder}'",
    "secret": "CREATE PERSISTENT SECRET s (TYPE s3)",
    "profile": "PRAGMA profiling_output = '{folder}/evil.json'",
    "getenv": "SELECT getenv('ASSAY_CANARY')",
    "python variable": "SELECT * FROM ATTACKS",
}
WRITES = {
    "drop table": "DROP TABLE stored",
    "drop view": "DROP VIEW passages",
    "replace view": "CREATE OR REPLACE VIEW passages AS SELECT 1 AS doc_id",
    "create": "CREATE TABLE evil AS SELECT 1",
    "insert": "INSERT INTO stored VALUES ('evil', 'x')",
    "update": "UPDATE stored SET text = ''",
    "delete": "DELETE FROM stored",
    "truncate": "TRUNCATE stored",
    "alter": "ALTER TABLE stored DROP COLUMN text",
    "macro": "CREATE MACRO lower(x) AS 'evil'",
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_connection_alone_reaches_nothing_outside(
    connection: duckdb.DuckDBPyConnection, canary: Path, name: str
) -> None:
    sql = OUTSIDE[name].replace("{canary}", str(canary)).replace("{folder}", str(canary.parent))
    for session in (connection, connection.cursor()):
        with pytest.raises(duckdb.Error) as caught:
            session.execute(sql).fetchall()
        assert SECRET not in str(caught.value)
    assert untouched(canary)
    assert read_column(connection, "SELECT doc_id FROM passages") == ("VARCHAR", IDS)


@pytest.mark.parametrize("name", WRITES)
def test_the_transaction_alone_cannot_write(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    connection.execute("BEGIN TRANSACTION READ ONLY")
    with pytest.raises(duckdb.Error):
        connection.execute(WRITES[name])
    connection.execute("ROLLBACK")
    assert read_column(connection, "SELECT doc_id FROM passages") == ("VARCHAR", IDS)


@pytest.mark.parametrize(
    "sql",
    [*WRITES.values(), "SELECT 1; DROP TABLE stored", "COMMIT; DROP TABLE stored", "SELECT 1; SELECT 2", ""],
)
def test_reading_alone_runs_one_select(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises(ClauseRefused, match="more than one condition"):
        read_column(connection, sql)
    assert read_column(connection, "SELECT doc_id FROM passages") == ("VARCHAR", IDS)


def test_reading_alone_is_in_a_transaction_that_cannot_write(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE SEQUENCE counted")
    with pytest.raises(duckdb.Error, match="read-only"):
        read_column(connection, "SELECT nextval('counted')")  # the one SELECT that writes
    assert connection.execute("SELECT nextval('counted')").fetchall() == [(1,)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no such limits")
@pytest.mark.parametrize(
    "deed",
    [
        "open('{canary}').read()",
        "open('{folder}/evil', 'w')",
        "__import__('socket').socket()",
        "connection.execute(\"FROM read_text('{canary}')\").fetchall()",
        "connection.execute(\"ATTACH '{folder}/evil.db'\")",
        "bytearray(8 << 30)",
    ],
)
def test_the_process_alone_opens_nothing(canary: Path, deed: str) -> None:
    deed = deed.replace("{canary}", str(canary)).replace("{folder}", str(canary.parent))
    before = "import duckdb, socket\nfrom assay.kinds.models.judges.sql_process import _confine"
    script = f"{before}\nconnection = duckdb.connect()\n_confine(1 << 20)\n{deed}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert any(word in done.stderr for word in ("Too many open files", "MemoryError")), done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert untouched(canary)


@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="reads the process's environment from /proc"
)
def test_the_process_has_no_environment_to_leak(table: PassageTable) -> None:
    assert table._worker is not None
    held = Path(f"/proc/{table._worker._process.pid}/environ").read_text(encoding="utf-8")
    assert SECRET not in held
    assert "HOME=" not in held


# -------------------------------------------------------------------------------- time and memory

RUNAWAYS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "cross join": (
        (
            "n IN (SELECT max(a.n * b.n + c.n * d.n) FROM passages a, passages b, passages c, passages d"
            " WHERE a.text || b.text < c.text || d.text)"
        ),
        lambda said: "longer than 1 second" in said,
    ),
    "regular expression": (  # one chunk of rows takes seconds and heeds no interruption
        "regexp_matches(text, '(e.{0,100}){10}zq')",
        lambda said: "longer than 1 second" in said,
    ),
    "growing text": (
        "length(replace(replace(replace(text, 'e', text), 'x', text), 'e', text)) > 1",
        lambda said: "memory" in said or "longer than 1 second" in said,
    ),
    "sorted product": (
        (
            "n IN (SELECT a.n FROM passages a, passages b"
            " QUALIFY row_number() OVER (ORDER BY a.text || b.text) = 5)"
        ),
        lambda said: "memory" in said or "longer than 1 second" in said,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNAWAYS)
def test_a_runaway_is_stopped_and_the_table_stays_usable(name: str) -> None:
    clause, expected = RUNAWAYS[name]
    with PassageTable(CORPUS, seconds=1, memory="64MB") as table:
        began = time.monotonic()
        with pytest.raises(ClauseRefused) as caught:
            table.matching(clause)
        assert expected(str(caught.value)), str(caught.value)
        assert time.monotonic() - began < 10
        assert table.matching("n >= 0") == IDS


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNAWAYS)
def test_a_runaway_among_others_is_the_only_one_refused(name: str) -> None:
    clause, expected = RUNAWAYS[name]
    with PassageTable(CORPUS, seconds=1, memory="64MB") as table:
        first, runaway, last = table.matching_all(["n < 2", clause, "lower(text) LIKE 'tea%'"])
        assert (first, last) == (["d0", "d1"], IDS)
        assert isinstance(runaway, ClauseRefused)
        assert expected(str(runaway)), str(runaway)


def test_too_much_memory_is_said_so() -> None:
    clause = "n IN (SELECT length(max(a.text || b.text)) FROM passages a, passages b GROUP BY a.n, b.n)"
    with PassageTable(CORPUS, seconds=30, memory="16MB") as table:
        with pytest.raises(ClauseRefused, match="needs too much memory"):
            table.matching(clause)
        assert table.matching("n = 7") == ["d7"]


def test_a_process_that_dies_while_it_loads_is_said_so_and_replaced() -> None:
    with PassageTable(CORPUS) as table:
        assert table._worker is not None
        table._worker._process.kill()
        with pytest.raises(UsageError, match="table of passages could not be built"):
            table.matching("n = 7")
        assert table.matching("n = 7") == ["d7"]


def test_a_process_that_dies_is_replaced() -> None:
    with PassageTable(CORPUS) as table:
        assert table.matching("n = 7") == ["d7"]
        assert table._worker is not None
        table._worker._process.kill()
        with pytest.raises(ClauseRefused, match="breaks DuckDB"):
            table.matching("n = 7")
        assert table.matching("n = 7") == ["d7"]
