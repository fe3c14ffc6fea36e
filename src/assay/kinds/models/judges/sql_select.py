"""Runs clauses on a locked connection. Each clause is one SELECT, in a transaction that cannot write."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from array import array
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any

from assay.core.errors import did_you_mean
from assay.kinds.models.judges.sql_clause import (
    DEEP,
    LIKE,
    LOWER_COLUMN,
    READS,
    TABLES,
    ClauseRefused,
    check_clause,
    column_names,
    reuse_lower_columns,
    shorten_message,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARTS = 2  # of the clauses that run together, each on its own thread
BATCH = 4_000  # passages loaded at once
LOCKS = (
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "allow_community_extensions = false",
    "allow_persistent_secrets = false",
    "python_enable_replacements = false",
    "temp_directory = ''",
    "enable_external_access = false",
    "lock_configuration = true",
)

_UNKNOWN = re.compile(r'Referenced column "(.+?)" (?:was )?not found')

SqlColumn = tuple[str, str, list[Any]]  # name, SQL type, one value per passage
ClauseReply = tuple[str, bytes]  # why it was refused, or empty; the positions of passages as C integers


def timeout_message(seconds: float) -> str:
    """Returns the message for a clause that was stopped."""
    return f"The clause took longer than {seconds:g} seconds and was stopped. Make it simpler."


def import_modules() -> None:
    """Imports the modules whose import takes long."""
    import duckdb  # noqa: F401
    import numpy  # noqa: F401


def connect(columns: Sequence[SqlColumn], others: Mapping[str, str], memory: int) -> DuckDBPyConnection:
    """Returns a locked connection to the loaded table, with `memory` bytes for the work of clauses."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": 1})
    declared = ", ".join(f"{_quoted(name)} {kind}" for name, kind, _ in columns)
    connection.execute(f"CREATE TABLE stored ({declared})")
    # Named, because DuckDB otherwise names each column by all its text, which takes longer than loading.
    rows = ", ".join(f"unnest(?::{kind}[]) AS {_quoted(name)}" for name, kind, _ in columns)
    for start in range(0, len(columns[0][2]), BATCH):
        batch = [values[start : start + BATCH] for _, _, values in columns]
        connection.execute(f"INSERT INTO stored SELECT {rows}", batch)
    shown = ", ".join(["*", *(f"{_quoted(field)} AS {_quoted(name)}" for name, field in others.items())])
    for table in TABLES:
        connection.execute(f"CREATE VIEW {table} AS SELECT {shown} FROM stored")  # noqa: S608
    held = connection.execute("SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()").fetchall()[0][0]
    for setting in (f"memory_limit = '{held + memory}B'", *LOCKS):
        connection.execute(f"SET GLOBAL {setting}")  # also for cursors of the connection
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def answer_clauses(
    connection: DuckDBPyConnection, places: Mapping[str, int], clauses: Sequence[str], seconds: float
) -> list[ClauseReply]:
    """Returns the reply to each clause, or an empty list if several clauses cannot be run together."""
    try:
        if len(clauses) != 1:
            return _answer_together(connection, places, clauses, seconds)
        found = matching_ids(connection, clauses[0], seconds)
    except ClauseRefused as refusal:
        return [(str(refusal), b"")] if len(clauses) == 1 else []
    return [("", array("i", sorted(map(places.__getitem__, found))).tobytes())]


def matching_ids(connection: DuckDBPyConnection, clause: str, seconds: float) -> list[str]:
    """Returns the doc_ids of the passages that satisfy the clause, in no particular order."""
    with _time_limit(connection, seconds):
        table, condition = _bind_clause(connection, clause)
        return read_column(connection, f"SELECT doc_id FROM {table} WHERE {condition}")[1]  # noqa: S608


def _bind_clause(connection: DuckDBPyConnection, clause: str) -> tuple[str, str]:
    """Returns the name of the table that a clause fits, and its condition."""
    condition = check_clause(connection, clause)
    table, kind = _table_and_type(connection, condition)
    if not kind.upper().startswith("BOOL"):
        raise ClauseRefused(f"The clause is {kind}, neither true nor false. {LIKE}")
    return table, condition


def _answer_together(
    connection: DuckDBPyConnection, places: Mapping[str, int], clauses: Sequence[str], seconds: float
) -> list[ClauseReply]:
    found: list[ClauseReply] = [("", b"")] * len(clauses)
    tables: dict[str, dict[int, str]] = {}
    with _time_limit(connection, seconds):
        for number, clause in enumerate(clauses):
            try:
                with _refusing(connection):
                    table, condition = _bind_clause(connection, clause)
                    # as in a select of its own: a WHERE takes less than a list of columns does
                    read_column(connection, f"SELECT doc_id FROM {table} WHERE {condition} LIMIT 0")  # noqa: S608
                tables.setdefault(table, {})[number] = condition
            except ClauseRefused as refusal:
                found[number] = (str(refusal), b"")
        for table, conditions in tables.items():
            satisfied = _match_in_parallel(connection, places, table, conditions, seconds)
            found = [
                ("", satisfied[number]) if number in satisfied else each for number, each in enumerate(found)
            ]
    return found


def _match_in_parallel(
    connection: DuckDBPyConnection,
    places: Mapping[str, int],
    table: str,
    conditions: Mapping[int, str],
    seconds: float,
) -> dict[int, bytes]:
    """Returns the passages that satisfy each condition, by the number of the condition.

    Each thread runs a part of the conditions.
    """

    def part(numbers: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        with connection.cursor() as cursor, _time_limit(cursor, seconds):
            chosen = [conditions[number] for number in numbers]
            return zip(numbers, _match_in_one_pass(cursor, places, table, chosen), strict=True)

    several = min(os.cpu_count() or 1, PARTS, len(conditions))
    numbers = list(conditions)
    with ThreadPoolExecutor(several) as threads:
        # dealt out in turn, because expensive clauses tend to be neighbours
        found = threads.map(part, [numbers[at::several] for at in range(several)])
        return dict(chain.from_iterable(found))


def _match_in_one_pass(
    connection: DuckDBPyConnection, places: Mapping[str, int], table: str, conditions: Sequence[str]
) -> list[bytes]:
    """Returns the positions of the passages that satisfy each condition, in one pass over the table.

    A CASE tries the parts of a condition as a WHERE does: a part that could fail is not tried if an earlier
    part is false. DuckDB does not notice repeated expressions inside a CASE, so columns in lower case are
    prepared.
    """
    import numpy as np

    held = [reuse_lower_columns(connection, each) for each in conditions]
    lowered = sorted(set().union(*(columns for _, columns in held)))
    inner = ", ".join(
        ["*", *(f"lower({_quoted(name)}) AS {_quoted(LOWER_COLUMN + name)}" for name in lowered)]
    )
    cases = ", ".join(
        f'CASE WHEN {condition} THEN true ELSE false END AS "{number}"'
        for number, (condition, _) in enumerate(held)
    )
    sql = f"SELECT doc_id, {cases} FROM (SELECT {inner} FROM {table}) AS {table}"  # noqa: S608
    with _read_only(connection, sql) as result:
        doc_ids, *columns = result.fetchnumpy().values()
    standing = np.fromiter(map(places.__getitem__, doc_ids), np.intc, len(doc_ids))
    return [np.sort(standing[column]).tobytes() for column in columns]


@contextlib.contextmanager
def _time_limit(connection: DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupts work that takes too long, and refuses the clause in words if an error occurs."""
    import duckdb

    timer = threading.Timer(seconds, connection.interrupt)
    timer.start()
    try:
        with _refusing(connection):
            yield
    except duckdb.InterruptException:
        raise ClauseRefused(timeout_message(seconds)) from None
    finally:
        timer.cancel()
        timer.join()


@contextlib.contextmanager
def _refusing(connection: DuckDBPyConnection) -> Iterator[None]:
    """Refuses a clause with DuckDB's message. Interruptions are raised again: they may have other reasons."""
    import duckdb

    try:
        yield
    except RecursionError:
        raise ClauseRefused(DEEP) from None
    except duckdb.Error as error:
        # after the first two it cannot be used any more: the process ends and another is started
        if isinstance(error, duckdb.FatalException | duckdb.InternalException | duckdb.InterruptException):
            raise
        raise ClauseRefused(_explain(connection, error)) from None


def read_column(connection: DuckDBPyConnection, sql: str) -> tuple[str, list[Any]]:
    """Returns the type and the values of the first column of one SELECT."""
    with _read_only(connection, sql) as found:
        return str(found.description[0][1]), [row[0] for row in found.fetchall()]


@contextlib.contextmanager
def _read_only(connection: DuckDBPyConnection, sql: str) -> Iterator[DuckDBPyConnection]:
    """Yields the result of one SELECT, in a transaction that cannot write."""
    import duckdb

    statements = connection.extract_statements(sql)
    if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
        raise ClauseRefused(f"The clause is more than one condition. {LIKE}")
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield connection.execute(statements[0])
    finally:
        with contextlib.suppress(duckdb.TransactionException):
            connection.execute("ROLLBACK")


def _table_and_type(connection: DuckDBPyConnection, condition: str) -> tuple[str, str]:
    """Returns the name of the table that the condition fits, and the condition's type."""
    import duckdb

    first, second = TABLES
    try:
        return first, read_column(connection, f"SELECT {condition} FROM {first} LIMIT 0")[0]  # noqa: S608
    except duckdb.BinderException as error:
        if f'referenced table "{second}" not found' not in str(error).lower():
            raise
        return second, read_column(connection, f"SELECT {condition} FROM {second} LIMIT 0")[0]  # noqa: S608


def _explain(connection: DuckDBPyConnection, error: Exception) -> str:
    import duckdb

    line = str(error).partition("\n")[0].partition(". Use ")[0]  # its advice is for who may change settings
    first = shorten_message(line.partition(": ")[2] or line)
    if isinstance(error, duckdb.OutOfMemoryException):
        return "The clause needs too much memory. Compare fewer things at once."
    if unknown := _UNKNOWN.match(first):
        return f"There is no column {unknown[1]!r}. {did_you_mean(unknown[1], column_names(connection))}"
    if isinstance(error, duckdb.ParserException):
        return f"The clause cannot be read as SQL: {first}. {LIKE}"
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        return f"The clause does not fit the passages: {first}. {READS}"
    return f"The clause fails on a passage: {first}. TRY_CAST(x AS type) and nullif(x, 0) yield NULL instead."
