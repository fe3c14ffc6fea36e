"""Exact cosine search over vectors in a file that is mapped into memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from assay.core.parts import NOTHING, Ints, Ranking, Vectors, Where
from assay.core.protocols import Kit
from assay.retrieval.vectors.given import Given, check_same, directions, given, stored_name, wanted
from assay.store.cache import UNREADABLE, ArtifactCache, DamagedArtifact

_QUERIES_AT_ONCE = 64  # bounds the block of similarities: 64 × 1 million × 4 bytes is 256 MB
_VECTORS, _FACETS, _DIRECTED = "vectors.npy", "facets.json", "directed.npy"


class Facets:
    """Positions by facet, taken from where they are when they are first asked for."""

    def __init__(self, read: Callable[[], Mapping[str, Sequence[int]]]) -> None:
        self._read = read

    @classmethod
    def kept(cls, path: Path) -> Facets:
        """Those in a file."""

        def read() -> dict[str, list[int]]:
            try:
                return msgspec.json.decode(path.read_bytes(), type=dict[str, list[int]])
            except UNREADABLE as error:
                shutil.rmtree(path.parent, ignore_errors=True)  # so that the next run makes it again
                raise DamagedArtifact(path.parent, error) from error

        return cls(read)

    @cached_property
    def _positions(self) -> Mapping[str, Sequence[int]]:
        return self._read()

    def matching(self, asked: Sequence[Sequence[str]]) -> Ints:
        """Those that have one facet of each group, in order."""
        groups = [
            np.unique(
                np.array([each for facet in group for each in self._positions.get(facet, ())], np.int64)
            )
            for group in asked
        ]
        return reduce(lambda left, right: np.intersect1d(left, right, assume_unique=True), groups)


class Compared:
    """Vectors by position, each compared with the query. Immutable, so any number of threads may search."""

    def __init__(self, vectors: Vectors, directed: Ints, facets: Facets) -> None:
        self._matrix = vectors
        self._directed = directed if len(directed) < len(vectors) else None  # None: all of them
        self._facets = facets

    def __len__(self) -> int:
        return len(self._matrix)

    @property
    def shape(self) -> tuple[int, int]:
        rows, dims = self._matrix.shape
        return rows, dims

    @property
    def vectors(self) -> Vectors:
        """All vectors by position, to be read and not written."""
        return self._matrix

    def search(self, queries: ArrayLike, k: int, where: Where | None = None) -> list[Ranking]:
        """The k nearest by cosine for each row of `queries`; none for a row of zeros."""
        return self.nearest(directions(queries, *self.shape), k, self.among(where))

    def close(self) -> None:
        """Nothing is held that the last reader does not give back."""

    def among(self, where: Where | None) -> Ints | None:
        """The positions that a search may find, in order; None: all."""
        asked = wanted(where)
        return self._facets.matching(asked) if asked else self._directed

    def nearest(self, rows: Vectors, k: int, among: Ints | None) -> list[Ranking]:
        """The k nearest of some positions for each row."""
        if not len(self):
            return [NOTHING] * len(rows)
        rankings: list[Ranking] = []
        for start in range(0, len(rows), _QUERIES_AT_ONCE):
            block = rows[start : start + _QUERIES_AT_ONCE]
            alike = self._similarities(block, among)
            rankings += [self._rank(*pair, k, among) for pair in zip(block, alike, strict=True)]
        return rankings

    def decided(self, query: Vectors, positions: Ints, k: int) -> Ranking:
        """The best k of some positions, given in order, by similarities in float64.

        They are rounded: what then ties, ties everywhere.
        """
        exact = np.vecdot(self._matrix[positions].astype(np.float64), query.astype(np.float64))
        scores = exact.astype(np.float32).astype(np.float64)
        best = np.argsort(-scores, kind="stable")[:k]
        return Ranking(positions[best], scores[best])

    def _similarities(self, queries: Vectors, among: Ints | None) -> Vectors:
        if among is not None and len(among) * 4 > len(self._matrix):
            return self._similarities(queries, None)[:, among]  # copying that many rows would take longer
        matrix = self._matrix if among is None else self._matrix[among]
        if len(queries) > 1:
            return queries @ matrix.T
        # One query is bound by memory: BLAS threads gain nothing, and on a busy machine wait for each other.
        alone: Vectors = np.vecdot(matrix, queries)
        return alone[np.newaxis]

    def _rank(self, query: Vectors, similarity: Vectors, k: int, among: Ints | None) -> Ranking:
        """The top k of approximate similarities, decided by exact ones.

        BLAS adds up in an order that depends on batch, row and processor, so that two equal passages can
        differ in the last bit. Everything close enough to the k-th to change places with it is therefore
        computed once more.
        """
        count = min(k, len(similarity)) if query.any() else 0
        if count < 1:
            return NOTHING
        kth = np.partition(similarity, len(similarity) - count)[len(similarity) - count]
        # A float32 dot product of unit vectors errs by at most dimensions × eps / 2; both sides may err.
        slack = len(query) * np.finfo(np.float32).eps
        near = np.flatnonzero(similarity >= kth - slack)
        return self.decided(query, near if among is None else among[near], count)


class ExactIndex(Compared):
    """Vectors in memory alone, for what is not worth a file."""

    def __init__(self, vectors: ArrayLike, metadata: Sequence[Mapping[str, object]] = ()) -> None:
        content = given(vectors, metadata)
        super().__init__(content.vectors, content.directed, Facets(content.positions))


@dataclass(frozen=True)
class Exact:
    """Compares a query with every vector: no hit is missed, and time grows with their number.

    A file below the cache folder keeps them; opening maps it into memory, so processes share one copy.
    """

    version: ClassVar[str] = "1"

    def open(self, name: str, kit: Kit) -> Compared | None:
        return index_shelf(kit).read(self._key(name), _read)

    def build(
        self, name: str, vectors: Vectors, kit: Kit, metadata: Sequence[Mapping[str, object]] = ()
    ) -> Compared:
        content, shelf, key = given(vectors, metadata), index_shelf(kit), self._key(name)
        index = shelf.read_or_put(key, _read, lambda folder: _write(folder, content))
        check_same(name, index.shape, content.shape)
        return index

    def _key(self, name: str) -> str:
        return stored_name("exact", self.version, name, longest=120)


def save_array(path: Path, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    """As numpy.save does, but a full disk is an OSError that says so: numpy's has no errno."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)


def index_shelf(kit: Kit) -> ArtifactCache:
    """Where indexes in files are kept."""
    return ArtifactCache(kit.cache / "indexes")


def _write(folder: Path, content: Given) -> None:
    save_array(folder / _VECTORS, content.vectors)
    save_array(folder / _DIRECTED, content.directed)
    (folder / _FACETS).write_bytes(msgspec.json.encode(content.positions()))


def _read(folder: Path) -> Compared:
    try:
        vectors = np.load(folder / _VECTORS, mmap_mode="r", allow_pickle=False)
        directed = np.load(folder / _DIRECTED, allow_pickle=False)
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error
    return Compared(vectors, directed, Facets.kept(folder / _FACETS))
