"""Embedding with a memory: no text goes through one model twice, whatever run, seed or corpus asks for it.

Vectors are kept by content in `ASSAY_CACHE/embeddings`, one file a model, and written batch by batch, so
that a killed build goes on where it stopped. Queries are kept too, each with the seconds that embedding it
took: an answer from memory still reports what the model needs.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from assay.core.dataset import digest
from assay.core.errors import Retryable, SystemFailure
from assay.core.parts import Embedder, Model, Role, Vectors
from assay.core.protocols import Kit
from assay.store.disk import explain_cache_errors, hold_lock

_STRIPES = 64  # queries that can be in hand at once without waiting for each other, by chance


class EmbeddingCache:
    """A model and all that it embedded before. Threads may share it."""

    def __init__(self, embedder: Embedder, kit: Kit) -> None:
        self._embedder, self._kit = embedder, kit
        self.identity = embedder.identity(kit)
        self._memory = VectorFile(kit.cache / "embeddings" / f"{digest([self.identity.encode()])}.sqlite")
        self._model: Model | None = None
        self._loading = threading.Lock()
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]

    @property
    def model(self) -> Model:
        """The model itself, loaded when something new is to be embedded."""
        with self._loading:
            if self._model is None:
                self._model = self._embedder.load(self._kit)
            return self._model

    def passages(self, texts: Sequence[str]) -> Vectors:
        """A row a text; what embedding the new ones costs is paid as it comes."""
        keys = [_key("passage", text) for text in texts]
        if len(self._memory.known(keys)) < len(set(keys)):
            with self._memory.alone():
                known = self._memory.known(keys)
                self._learn({key: text for key, text in zip(keys, texts, strict=True) if key not in known})
        return self._memory.matrix(keys)

    def query(self, text: str) -> tuple[StoredVector, float]:
        """The vector of one query, and what it cost now: nothing where it was remembered."""
        key = _key("query", text)
        with self._stripes[key[0] % _STRIPES]:  # who asks the same meanwhile waits, and remembers
            if (found := self._memory.find(key)) is not None:
                return found, 0.0
            model, started = self.model, perf_counter()
            vectors, tokens, cost = model.embed([text], "query")
            made = StoredVector(vectors[0], perf_counter() - started, tokens)
            with suppress(SystemFailure):  # an answer is not lost because it cannot be remembered
                self._memory.keep([(key, made)])
            return made, cost

    def _learn(self, new: Mapping[bytes, str]) -> None:
        """Embeds new texts, the longest first: a batch of like lengths wastes no padding.

        Each batch is kept and paid as it comes, so that one that fails takes no other along.
        """
        if not new:
            return
        model, order = self.model, sorted(new, key=lambda key: (-len(new[key]), key))
        batches = [order[start : start + model.batch] for start in range(0, len(order), model.batch)]
        done = 0
        self._kit.progress("embedding", done, len(order))
        with ThreadPoolExecutor(getattr(model, "threads", 1)) as pool:
            coming = [pool.submit(partial(self._learn_batch, new, batch)) for batch in batches]
            try:
                for future in as_completed(coming):
                    done += future.result()
                    self._kit.progress("embedding", done, len(order))
            finally:  # where one failed, those that have not begun are not worth their price
                pool.shutdown(wait=False, cancel_futures=True)

    def _learn_batch(self, new: Mapping[bytes, str], batch: Sequence[bytes]) -> int:
        vectors, _, cost = self.model.embed([new[key] for key in batch], "passage")
        self._memory.keep((key, StoredVector(vector)) for key, vector in zip(batch, vectors, strict=True))
        self._kit.pay(cost)
        return len(batch)

    def close(self) -> None:
        self._memory.close()


def _key(role: Role, text: str) -> bytes:
    return hashlib.blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


_ROWS_AT_ONCE = 500  # SQLite takes some thousand parameters a statement
_LITTLE = 1 << 16  # bytes
_PATIENCE = 60.0  # seconds to wait for another process that writes
_DAMAGED = {"SQLITE_NOTADB", "SQLITE_CORRUPT"}


class StoredVector(NamedTuple):
    """The vector of a text, and what making it took when it was made."""

    vector: Vectors
    seconds: float = 0.0
    tokens: int = 0


class VectorFile:
    """Vectors by key, all of one dimension. All of it can be made again; losing it costs time or money."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._file = self._open()
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorname not in _DAMAGED:
                    raise
                self._set_aside()
                self._file = self._open()

    def _open(self) -> sqlite3.Connection:
        # the lock below makes one connection serve all threads
        file = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        # SQLite does not wait if two change the mode at once
        with hold_lock(self._path.with_suffix(".opening")):
            file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute(
            "CREATE TABLE IF NOT EXISTS vectors"
            " (key BLOB PRIMARY KEY, vector BLOB NOT NULL, seconds REAL NOT NULL, tokens INTEGER NOT NULL)"
        )
        return file

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps others, in this process or another, from filling the memory with the same texts meanwhile."""
        with self._told(), hold_lock(self._path.with_suffix(".lock")):
            yield

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those keys that have a vector."""
        return {key for (key,) in self._rows("key", sorted(set(keys)))}

    def find(self, key: bytes) -> StoredVector | None:
        for vector, seconds, tokens in self._rows("vector, seconds, tokens", [key]):
            return StoredVector(np.frombuffer(vector, np.float32), seconds, tokens)
        return None

    def matrix(self, keys: Sequence[bytes]) -> Vectors:
        """The vectors of keys that all have one, a row a key."""
        with self._told(), self._turn:
            width = self._width()
        row = {key: number for number, key in enumerate(sorted(set(keys)))}
        vectors = np.empty((len(row), width // 4), np.float32)
        found = 0
        for key, vector in self._rows("key, vector", list(row)):
            vectors[row[key]] = np.frombuffer(vector, np.float32)
            found += 1
        if found < len(row):
            raise SystemFailure(f"{self._path}: {len(row) - found} vectors are gone from it. Run again.")
        return vectors[[row[key] for key in keys]]

    def keep(self, rows: Iterable[tuple[bytes, StoredVector]]) -> None:
        """Writes vectors down together, or none of them; the first of a key stays."""
        packed = [
            (key, made.vector.astype(np.float32).tobytes(), made.seconds, made.tokens) for key, made in rows
        ]
        with self._told(), self._turn:
            self._refuse_other_widths({len(vector) for _, vector, _, _ in packed})
            self._file.execute("BEGIN IMMEDIATE")
            try:
                self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", packed)
                self._file.execute("COMMIT")
            except sqlite3.Error:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise

    def _width(self) -> int:
        """The bytes of a vector; 0 before there is one."""
        found = self._fetch("SELECT length(vector) FROM vectors LIMIT 1")
        return found[0][0] if found else 0

    def _refuse_other_widths(self, widths: set[int]) -> None:
        """Vectors of another dimension come from another model, and would spoil what was paid for."""
        width = self._width() or max(widths, default=0)
        for other in widths - {width}:
            now, before = other // 4, width // 4
            what = f"the model gave vectors of {now} dimensions, and of {before} before"
            raise Retryable(f"{self._path.name}: {what}. Check what answers under its name, and run again.")

    def _rows(self, columns: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(keys), _ROWS_AT_ONCE):
            some = keys[start : start + _ROWS_AT_ONCE]
            marks = ",".join("?" * len(some))
            statement = f"SELECT {columns} FROM vectors WHERE key IN ({marks})"  # noqa: S608  our own words
            with self._told(), self._turn:
                found = self._fetch(statement, some)
            yield from found

    def _fetch(self, statement: str, parameters: Sequence[bytes] = ()) -> list[Any]:
        """The rows found; none where the file is damaged: it is set aside, and what it held is made again."""
        try:
            with closing(self._file.execute(statement, parameters)) as rows:
                return rows.fetchall()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorname not in _DAMAGED:
                raise
            self._file.close()
            self._set_aside()
            self._file = self._open()
            return []

    def _set_aside(self) -> None:
        """Moves a damaged file away, which may have been paid for; what was to be written to it goes."""
        self._path.replace(self._path.with_suffix(".damaged"))
        for end in ("-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Says in plain words what disk and file refuse."""
        with explain_cache_errors(self._path.parent):
            try:
                yield
            except sqlite3.DatabaseError as error:
                # where not even its smallest file fits, SQLite speaks of I/O alone
                left = shutil.disk_usage(self._path.parent).free
                if error.sqlite_errorname == "SQLITE_FULL" or left < _LITTLE:
                    fix = "Free some space, or set ASSAY_CACHE to a folder that has it"
                    raise SystemFailure(f"{self._path.parent}: the disk is full. {fix}.") from error
                damaged = error.sqlite_errorname in _DAMAGED
                fix = "Remove it" if damaged else "Check that it can be written"
                raise SystemFailure(
                    f"{self._path}: {error}. {fix}, or set ASSAY_CACHE to another folder."
                ) from error

    def close(self) -> None:
        with self._turn:
            self._file.close()
