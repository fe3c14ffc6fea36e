"""Embedding with a memory: no text goes through one model twice, whatever run, seed or corpus asks for it.

Vectors are kept by content in `ASSAY_CACHE/embeddings`, one SQLite file a model, and written batch by batch,
so that a killed build goes on where it stopped. Queries are kept too, each with the seconds that embedding it
took: an answer from memory still reports what the model needs.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from assay.datasets.dataset import digest
from assay.errors import DataError, Problem, SystemFailure
from assay.protocols import Kit
from assay.retrieval.parts import Embedded, Embedder, Model, Role, Vectors
from assay.retrieval.shelf import disk_told

_ROWS_AT_ONCE = 500  # SQLite takes some thousand parameters a statement
_LITTLE = 1 << 16  # bytes
_PATIENCE = 60.0  # seconds to wait for another process that writes


class Remembered(NamedTuple):
    """The vector of a text, and what making it took when it was made."""

    vector: Vectors
    seconds: float
    tokens: int
    cost: float = 0.0  # paid now: nothing where it was remembered


class Embedding:
    """A model and all that it embedded before. Threads may share it."""

    def __init__(self, embedder: Embedder, kit: Kit) -> None:
        self._embedder, self._kit = embedder, kit
        self.identity = embedder.identity(kit)
        self._memory = _Memory(kit.cache / "embeddings" / f"{digest([self.identity.encode()])}.sqlite")
        self._loading = threading.Lock()

    @cached_property
    def model(self) -> Model:
        """The model itself, loaded when something new is to be embedded."""
        with self._loading:
            return self._embedder.load(self._kit)

    def passages(self, texts: Sequence[str]) -> Embedded:
        """A row a text. What is new is embedded longest first: a batch of like lengths wastes no padding."""
        keys = [_key("passage", text) for text in texts]
        known = self._memory.known(set(keys))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        order = sorted(new, key=lambda key: (-len(new[key]), key))
        tokens, cost = 0, 0.0
        for batch in self._batches(order):
            made = self.model.embed([new[key] for key in batch], "passage")
            self._memory.keep((key, vector, 0.0, 0) for key, vector in zip(batch, made.vectors, strict=True))
            tokens, cost = tokens + made.tokens, cost + made.cost
        return Embedded(self._memory.matrix(keys), tokens, cost)

    def query(self, text: str) -> Remembered:
        """The vector of one query."""
        key = _key("query", text)
        if (found := self._memory.find(key)) is not None:
            return found
        model, started = self.model, perf_counter()
        made = model.embed([text], "query")
        seconds = perf_counter() - started
        self._memory.keep([(key, made.vectors[0], seconds, made.tokens)])
        return Remembered(made.vectors[0], seconds, made.tokens, made.cost)

    def _batches(self, order: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        if not order:
            return
        size = self.model.batch
        for start in range(0, len(order), size):
            self._kit.progress("embedding", start, len(order))
            yield order[start : start + size]
        self._kit.progress("embedding", len(order), len(order))

    def close(self) -> None:
        self._memory.close()


def _key(role: Role, text: str) -> bytes:
    return hashlib.blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _Memory:
    """Vectors by key in one file, which processes may share."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._file = self._open()
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorname not in {"SQLITE_NOTADB", "SQLITE_CORRUPT"}:
                    raise
                path.unlink()  # what is damaged can be made again
                self._file = self._open()

    def _open(self) -> sqlite3.Connection:
        # the lock below makes one connection serve all threads
        file = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute(
            "CREATE TABLE IF NOT EXISTS vectors"
            " (key BLOB PRIMARY KEY, vector BLOB NOT NULL, seconds REAL NOT NULL, tokens INTEGER NOT NULL)"
        )
        return file

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those keys that have a vector."""
        return {key for (key,) in self._rows("key", sorted(keys))}

    def find(self, key: bytes) -> Remembered | None:
        for vector, seconds, tokens in self._rows("vector, seconds, tokens", [key]):
            return Remembered(np.frombuffer(vector, np.float32), seconds, tokens)
        return None

    def matrix(self, keys: Sequence[bytes]) -> Vectors:
        """The vectors of keys that all have one, a row a key."""
        row = {key: number for number, key in enumerate(sorted(set(keys)))}
        vectors = np.empty((0, 0), np.float32)
        for key, packed in self._rows("key, vector", list(row)):
            vector = np.frombuffer(packed, np.float32)
            if not vectors.size:
                vectors = np.empty((len(row), len(vector)), np.float32)
            if len(vector) != vectors.shape[1]:
                raise DataError(self._mixed(len(vector), vectors.shape[1]))
            vectors[row[key]] = vector
        return vectors[[row[key] for key in keys]] if keys else vectors

    def keep(self, rows: Iterable[tuple[bytes, Vectors, float, int]]) -> None:
        packed = [(key, vector.tobytes(), seconds, tokens) for key, vector, seconds, tokens in rows]
        with self._told(), self._turn:
            self._file.execute("BEGIN IMMEDIATE")
            try:
                self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", packed)
                self._file.execute("COMMIT")
            except sqlite3.Error:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise

    def _rows(self, columns: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(keys), _ROWS_AT_ONCE):
            some = keys[start : start + _ROWS_AT_ONCE]
            marks = ",".join("?" * len(some))
            statement = f"SELECT {columns} FROM vectors WHERE key IN ({marks})"  # noqa: S608  our own words
            with self._told(), self._turn, closing(self._file.execute(statement, some)) as rows:
                found = rows.fetchall()
            yield from found

    def _mixed(self, one: int, other: int) -> Problem:
        what = f"one model gave vectors of {one} and of {other} dimensions"
        return Problem(what, str(self._path), fix="Remove the file, and check what answers under that name.")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Says in plain words what the disk refuses."""
        with disk_told(self._path.parent):
            try:
                yield
            except sqlite3.OperationalError as error:
                # where not even its smallest file fits, SQLite speaks of I/O alone
                left = shutil.disk_usage(self._path.parent).free
                if error.sqlite_errorname == "SQLITE_FULL" or left < _LITTLE:
                    fix = "Free some space, or set ASSAY_CACHE to a folder that has it"
                    raise SystemFailure(f"{self._path.parent}: the disk is full. {fix}.") from error
                fix = "Check that it can be written, or set ASSAY_CACHE to another folder"
                raise SystemFailure(f"{self._path}: {error}. {fix}.") from error

    def close(self) -> None:
        with self._turn:
            self._file.close()
