"""A cache of embeddings: no text goes through one model twice, in any run, seed or corpus.

Vectors are stored by content in `ASSAY_CACHE/embeddings`, in a file for each model. They are written batch by
batch, so that a killed build continues where it stopped. Queries are stored with the seconds that their
embedding took: an answer from the cache still reports the time that the model needs.
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

_STRIPES = 64  # locks for queries: two queries that share a lock by chance wait for each other


class EmbeddingCache:
    """A model together with the stored vectors of all texts that it embedded. Threads may share it."""

    def __init__(self, embedder: Embedder, kit: Kit) -> None:
        self._embedder, self._kit = embedder, kit
        self.identity = embedder.identity(kit)
        self._stored = VectorFile(kit.cache / "embeddings" / f"{digest([self.identity.encode()])}.sqlite")
        self._model: Model | None = None
        self._loading = threading.Lock()
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]

    @property
    def model(self) -> Model:
        """The model. It is loaded when a new text must be embedded."""
        with self._loading:
            if self._model is None:
                self._model = self._embedder.load(self._kit)
            return self._model

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Returns the vectors of texts, one row per text.

        New texts are embedded first, and their cost is paid batch by batch.
        """
        keys = [_key("passage", text) for text in texts]
        if len(self._stored.known(keys)) < len(set(keys)):
            with self._stored.exclusive():
                known = self._stored.known(keys)
                self._embed_new(
                    {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
                )
        return self._stored.matrix(keys)

    def query(self, text: str) -> tuple[StoredVector, float]:
        """Returns the vector of a query and what it cost now. The cost is 0 if the vector was stored."""
        key = _key("query", text)
        with self._stripes[key[0] % _STRIPES]:  # threads with the same query wait, and then find it stored
            if (found := self._stored.find(key)) is not None:
                return found, 0.0
            model, started = self.model, perf_counter()
            vectors, tokens, cost = model.embed([text], "query")
            made = StoredVector(vectors[0], perf_counter() - started, tokens)
            with suppress(SystemFailure):  # a query is answered even if its vector cannot be stored
                self._stored.put([(key, made)])
            return made, cost

    def _embed_new(self, new: Mapping[bytes, str]) -> None:
        """Embeds new texts, the longest first, because a batch of similar lengths needs little padding.

        Each batch is stored and paid at once. So a batch that fails does not lose any other batch.
        """
        if not new:
            return
        model, order = self.model, sorted(new, key=lambda key: (-len(new[key]), key))
        batches = [order[start : start + model.batch] for start in range(0, len(order), model.batch)]
        done = 0
        self._kit.progress("embedding", done, len(order))
        with ThreadPoolExecutor(getattr(model, "threads", 1)) as pool:
            coming = [pool.submit(partial(self._embed_batch, new, batch)) for batch in batches]
            try:
                for future in as_completed(coming):
                    done += future.result()
                    self._kit.progress("embedding", done, len(order))
            finally:  # if a batch failed, do not pay for batches that have not begun
                pool.shutdown(wait=False, cancel_futures=True)

    def _embed_batch(self, new: Mapping[bytes, str], batch: Sequence[bytes]) -> int:
        vectors, _, cost = self.model.embed([new[key] for key in batch], "passage")
        self._stored.put((key, StoredVector(vector)) for key, vector in zip(batch, vectors, strict=True))
        self._kit.pay(cost)
        return len(batch)

    def close(self) -> None:
        self._stored.close()


def _key(role: Role, text: str) -> bytes:
    return hashlib.blake2b(f"{role}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


_ROWS_AT_ONCE = 500  # SQLite allows some thousand parameters per statement
_LITTLE = 1 << 16  # bytes
_PATIENCE = 60.0  # seconds to wait for another process that writes
_DAMAGED = {"SQLITE_NOTADB", "SQLITE_CORRUPT"}


class StoredVector(NamedTuple):
    """The vector of a text, and the seconds and tokens that embedding the text took."""

    vector: Vectors
    seconds: float = 0.0
    tokens: int = 0


class VectorFile:
    """Vectors by key in one SQLite file, all of the same dimension. Threads and processes may share it.

    All vectors can be made again; if the file is lost, that costs time or money.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        with self._explain_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._file = self._open()
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorname not in _DAMAGED:
                    raise
                self._set_aside()
                self._file = self._open()

    def _open(self) -> sqlite3.Connection:
        # a lock lets all threads use one connection
        file = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        # SQLite does not wait if two connections change the mode at once
        with hold_lock(self._path.with_suffix(".opening")):
            file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=NORMAL")
        file.execute(
            "CREATE TABLE IF NOT EXISTS vectors"
            " (key BLOB PRIMARY KEY, vector BLOB NOT NULL, seconds REAL NOT NULL, tokens INTEGER NOT NULL)"
        )
        return file

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds a lock, so that no other thread or process embeds the same texts at the same time."""
        with self._explain_errors(), hold_lock(self._path.with_suffix(".lock")):
            yield

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        """Returns those of the keys that have a vector."""
        return {key for (key,) in self._rows("key", sorted(set(keys)))}

    def find(self, key: bytes) -> StoredVector | None:
        for vector, seconds, tokens in self._rows("vector, seconds, tokens", [key]):
            return StoredVector(np.frombuffer(vector, np.float32), seconds, tokens)
        return None

    def matrix(self, keys: Sequence[bytes]) -> Vectors:
        """Returns the vectors of keys, one row per key. Every key must have a vector."""
        with self._explain_errors(), self._turn:
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

    def put(self, rows: Iterable[tuple[bytes, StoredVector]]) -> None:
        """Stores all of these vectors, or none if an error occurs. A key that has a vector keeps it."""
        packed = [
            (key, made.vector.astype(np.float32).tobytes(), made.seconds, made.tokens) for key, made in rows
        ]
        with self._explain_errors(), self._turn:
            self._check_widths({len(vector) for _, vector, _, _ in packed})
            self._file.execute("BEGIN IMMEDIATE")
            try:
                self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", packed)
                self._file.execute("COMMIT")
            except sqlite3.Error:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise

    def _width(self) -> int:
        """Returns the number of bytes of a vector; 0 if there is no vector yet."""
        found = self._fetch("SELECT length(vector) FROM vectors LIMIT 1")
        return found[0][0] if found else 0

    def _check_widths(self, widths: set[int]) -> None:
        """Raises Retryable for vectors of another dimension: they come from another model."""
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
            with self._explain_errors(), self._turn:
                found = self._fetch(statement, some)
            yield from found

    def _fetch(self, statement: str, parameters: Sequence[bytes] = ()) -> list[Any]:
        """Returns the rows that a statement finds.

        A damaged file is set aside, and gives no rows; its vectors are made again.
        """
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
        """Renames a damaged file, whose vectors may have cost money, and removes its write-ahead log."""
        self._path.replace(self._path.with_suffix(".damaged"))
        for end in ("-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Turns errors of the disk and of the file into errors with plain words."""
        with explain_cache_errors(self._path.parent):
            try:
                yield
            except sqlite3.DatabaseError as error:
                # if the disk is completely full, SQLite only reports an I/O error
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
