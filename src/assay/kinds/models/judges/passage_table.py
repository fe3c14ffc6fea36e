"""The passages as one SQL table, which is all that a clause from an unknown author's golden set may read.

Four protections limit a clause, and each should be enough by itself. The clause's syntax tree may name only
listed things (`sql_clause`). The connection is locked and runs one SELECT in a read-only transaction
(`sql_select`). Both run in a process of their own that can open no file, sees no environment and has little
memory. This process ends itself when its time is up (`sql_process`).
"""

from __future__ import annotations

import importlib.util
import re
import threading
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any

import msgspec

from assay.core.dataset import Corpus
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.records import Passage
from assay.kinds.models.judges.sql_clause import ClauseRefused, check_readable
from assay.kinds.models.judges.sql_process import SqlWorker, TableContents
from assay.kinds.models.judges.sql_select import ClauseReply, SqlColumn, timeout_message

CORE = ("doc_id", "text", "title", "source", "section")

_SIMPLE = {
    str: "VARCHAR",
    bool: "BOOLEAN",
    int: "BIGINT",
    float: "DOUBLE",
    date: "DATE",
    datetime: "TIMESTAMP",
}
_SIZE = re.compile(r"\s*(\d+)\s*([KMG])i?B\s*", re.IGNORECASE)


class PassageTable:
    """The passages as one read-only SQL table.

    The table is called passages, or chunks. Its columns are the core fields, also under the names in
    `columns`, and the metadata keys. `memory` is the memory that a clause may use in addition to the table
    itself.
    """

    def __init__(
        self,
        corpus: Corpus,
        columns: Mapping[str, str] = {},
        *,
        seconds: float = 5.0,
        memory: str = "512MB",
    ) -> None:
        if importlib.util.find_spec("duckdb") is None:
            raise UsageError("Clauses in SQL need DuckDB. Install it: pip install duckdb")
        self._corpus, self._seconds = corpus, seconds
        self._others, self._memory = _column_aliases(columns), _parse_memory(memory)
        self._lock = threading.Lock()
        self._worker: SqlWorker | None = self._start()

    def matching(self, clause: str) -> list[str]:
        """Returns the doc_ids of the passages for which the clause is true (not NULL), in corpus order."""
        (found,) = self.matching_all([clause])
        if isinstance(found, ClauseRefused):
            raise found
        return found

    def matching_all(self, clauses: Sequence[str]) -> list[list[str] | ClauseRefused]:
        """Returns, for each clause, what `matching` returns or the refusal, in one pass over the text."""
        found: list[list[str] | ClauseRefused] = [[] for _ in clauses]
        asked: dict[int, str] = {}
        for number, clause in enumerate(clauses):
            try:
                check_readable(clause)
                asked[number] = clause
            except ClauseRefused as refusal:
                found[number] = refusal
        with self._lock:
            replies = self._replies(list(asked.values()))
        for number, (why, places) in zip(asked, replies, strict=True):
            standing = array("i", places)
            found[number] = (
                ClauseRefused(why) if why else [self._corpus.passages[at].doc_id for at in standing]
            )
        return found

    def _replies(self, clauses: Sequence[str]) -> list[ClauseReply]:
        """Returns the replies to all clauses. They run together, or one by one if that fails.

        If they run one by one, one bad clause does not make the others fail.
        """
        together = self._ask(clauses) if len(clauses) > 1 else []
        return together or [reply for clause in clauses for reply in self._ask([clause])]

    def _ask(self, clauses: Sequence[str]) -> list[ClauseReply]:
        worker, self._worker = self._worker or self._start(), None
        try:
            began = _await_table(worker)
            replies = worker.ask(clauses)
            self._worker = worker
        except EOFError:
            if len(clauses) > 1:
                return []
            if time.monotonic() - began >= self._seconds:
                return [(timeout_message(self._seconds), b"")]
            return [("The clause needs too much memory, or breaks DuckDB. Make it simpler.", b"")]
        finally:
            if self._worker is None:  # also after Ctrl-C, when nobody would read its answer
                worker.end()
        return replies

    def _start(self) -> SqlWorker:
        """Starts a process that loads the table in the background."""
        worker = SqlWorker()
        try:
            columns = _columns(self._corpus, self._others)
            loaded: TableContents = (columns, self._others, self._memory, self._seconds)
            worker.load(msgspec.msgpack.encode(loaded))
        except UnicodeEncodeError:
            worker.end()
            raise DataError(list(_undecodable_fields(self._corpus.passages))) from None
        except EOFError:
            raise _table_error(worker) from None
        return worker

    def close(self) -> None:
        """Ends the process. A later question starts a new one."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def __enter__(self) -> PassageTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _await_table(worker: SqlWorker) -> float:
    """Waits until a process has loaded its table, and returns the time."""
    try:
        worker.loaded()
    except EOFError:
        raise _table_error(worker) from None
    return time.monotonic()


def _table_error(worker: SqlWorker) -> UsageError:
    why = worker.end() or "its process ended. Perhaps memory is short"
    return UsageError(f"The SQL table of passages could not be built: {why}.")


# ------------------------------------------------------------------------------ what is loaded


def _column_aliases(columns: Mapping[str, str]) -> dict[str, str]:
    """Returns the field for each column name that the author uses."""
    names: dict[str, str] = {}
    for field, name in columns.items():
        if field not in CORE:
            raise UsageError(f"A passage has no field {field!r}. {did_you_mean(field, CORE)}")
        if not name.strip() or "\0" in name or name.encode(errors="ignore").decode() != name:
            raise UsageError(f"{name!r} cannot name the column {field!r}. Write a word.")
        if name.lower() != field:
            if name.lower() in {*CORE, *(each.lower() for each in names)}:
                raise UsageError(f"Two columns are called {name!r}. Call {field!r} something else.")
            names[name] = field
    return names


def _columns(corpus: Corpus, others: Mapping[str, str]) -> list[SqlColumn]:
    """Returns the core fields, then one column per metadata key. Keys that differ in case are one column."""
    columns = [(name, "VARCHAR", [getattr(each, name) for each in corpus.passages]) for name in CORE]
    spellings: dict[str, dict[str, None]] = {}
    for key in dict.fromkeys(chain.from_iterable(each.metadata for each in corpus.passages)):
        spellings.setdefault(key.lower(), {})[key] = None
    taken = {*CORE, *(name.lower() for name in others)}
    for folded, keys in spellings.items():
        if folded in taken or not folded.strip() or "\0" in folded:
            continue
        values = [
            next((each.metadata[key] for key in keys if each.metadata.get(key) is not None), None)
            for each in corpus.passages
        ]
        columns.append((next(iter(keys)), *_with_sql_type(values)))
    return columns


def _undecodable_fields(passages: Iterable[Passage]) -> Iterator[Problem]:
    """Yields a problem for each field that holds half a character, as after a JSON escape cut in two."""
    for passage in passages:
        fields = {name: getattr(passage, name) for name in CORE} | dict(passage.metadata)
        for name, value in fields.items():
            try:
                msgspec.json.encode([name, value], enc_hook=str)
            except UnicodeEncodeError:
                what = f"the passage {passage.doc_id!r} holds half a character"
                field = name.encode(errors="backslashreplace").decode()
                yield Problem(what, field=field, fix="Write its file again as UTF-8.")


def _with_sql_type(values: list[Any]) -> tuple[str, list[Any]]:
    """Returns the SQL type that holds all the values, and the values in a form that can be sent."""
    if kind := _sql_type(values):
        return kind, [_transferable(each) for each in values]
    lists = all(each is None or isinstance(each, list) for each in values)
    if lists and (kind := _sql_type(chain.from_iterable(each or () for each in values))):
        return f"{kind}[]", [each and [_transferable(one) for one in each] for each in values]
    return "VARCHAR", [None if each is None else _text(each) for each in values]


def _sql_type(values: Iterable[Any]) -> str | None:
    kinds: set[type] = set()
    for each in values:
        if isinstance(each, int) and not -(2**63) <= each < 2**63:
            return None
        kinds.add(type(each))
    kinds -= {type(None)}
    if len(kinds) <= 1:
        return _SIMPLE.get(next(iter(kinds), str))
    return {frozenset({int, float}): "DOUBLE", frozenset({date, datetime}): "TIMESTAMP"}.get(frozenset(kinds))


def _text(value: Any) -> str:
    as_json = isinstance(value, bool | int | float | list | dict)
    return msgspec.json.encode(value, enc_hook=str).decode() if as_json else str(value)


def _transferable(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return value.isoformat() if isinstance(value, date) else value


def _parse_memory(memory: str) -> int:
    found = _SIZE.fullmatch(memory)
    if found is None:
        raise UsageError(f"{memory!r} is not an amount of memory. Write it as in 512MB.")
    return int(found[1]) << 10 * ("KMG".index(found[2].upper()) + 1)
