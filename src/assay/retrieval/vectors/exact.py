"""Exact cosine search over vectors in a mapped file; and shared code of all stores: content, queries, facets,
names.

Metadata becomes facets. A facet is one text for a key and a value, such as `["language", "en"]`. So 1, "1"
and true stay three values in every store, and a key may hold any character. Only texts, whole numbers and
booleans have facets, as one value or in a list. Searches cannot filter by other metadata.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from assay.core.errors import UsageError
from assay.core.parts import NOTHING, Ints, Ranking, Vectors, Where, normalize_rows
from assay.core.protocols import Kit
from assay.store.disk import UNREADABLE, ArtifactCache, DamagedArtifact

_QUERIES_AT_ONCE = 64  # bounds the block of similarities: 64 × 1 million × 4 bytes is 256 MB
_VECTORS, _FACETS, _DIRECTED = "vectors.npy", "facets.json", "directed.npy"


class Facets:
    """The positions of the vectors that have each facet. They are read when they are first needed."""

    def __init__(self, read: Callable[[], Mapping[str, Sequence[int]]]) -> None:
        self._read = read

    @classmethod
    def kept(cls, path: Path) -> Facets:
        """Returns the facets that a file holds."""

        def read() -> dict[str, list[int]]:
            try:
                return msgspec.json.decode(path.read_bytes(), type=dict[str, list[int]])
            except UNREADABLE as error:
                shutil.rmtree(path.parent, ignore_errors=True)  # the next run makes it again
                raise DamagedArtifact(path.parent, error) from error

        return cls(read)

    @cached_property
    def _positions(self) -> Mapping[str, Sequence[int]]:
        return self._read()

    def matching(self, asked: Sequence[Sequence[str]]) -> Ints:
        """Returns the positions that have at least one facet of each group, in order."""
        groups = [
            np.unique(
                np.array([each for facet in group for each in self._positions.get(facet, ())], np.int64)
            )
            for group in asked
        ]
        return reduce(lambda left, right: np.intersect1d(left, right, assume_unique=True), groups)


class VectorComparison:
    """Vectors that are all compared with the query. It never changes, so any number of threads may search."""

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
        """All vectors by position. They must only be read."""
        return self._matrix

    def search(self, queries: ArrayLike, k: int, where: Where | None = None) -> list[Ranking]:
        """Returns the k nearest vectors by cosine for each row of `queries`; a row of zeros has no hit."""
        return self.nearest(prepare_queries(queries, *self.shape), k, self.among(where))

    def close(self) -> None:
        """Does nothing, because nothing has to be closed."""

    def among(self, where: Where | None) -> Ints | None:
        """Returns the positions that a search may find, in order; None means all positions."""
        asked = wanted_facets(where)
        return self._facets.matching(asked) if asked else self._directed

    def nearest(self, rows: Vectors, k: int, among: Ints | None) -> list[Ranking]:
        """Returns the k nearest vectors among the given positions for each row; None means all positions."""
        if not len(self):
            return [NOTHING] * len(rows)
        rankings: list[Ranking] = []
        for start in range(0, len(rows), _QUERIES_AT_ONCE):
            block = rows[start : start + _QUERIES_AT_ONCE]
            alike = self._similarities(block, among)
            rankings += [self._rank(*pair, k, among) for pair in zip(block, alike, strict=True)]
        return rankings

    def decided(self, query: Vectors, positions: Ints, k: int) -> Ranking:
        """Returns the best k of some positions, by similarities in float64. `positions` must be in order.

        Scores are rounded to float32, so that ties are the same on every machine.
        """
        exact = np.vecdot(self._matrix[positions].astype(np.float64), query.astype(np.float64))
        scores = exact.astype(np.float32).astype(np.float64)
        best = np.argsort(-scores, kind="stable")[:k]
        return Ranking(positions[best], scores[best])

    def _similarities(self, queries: Vectors, among: Ints | None) -> Vectors:
        if among is not None and len(among) * 4 > len(self._matrix):
            return self._similarities(queries, None)[:, among]  # copying so many rows would take longer
        matrix = self._matrix if among is None else self._matrix[among]
        if len(queries) > 1:
            return queries @ matrix.T
        # one query is bound by memory: BLAS threads gain nothing, and wait for each other on a busy machine
        similarity: Vectors = np.vecdot(matrix, queries)
        return similarity[np.newaxis]

    def _rank(self, query: Vectors, similarity: Vectors, k: int, among: Ints | None) -> Ranking:
        """Ranks the best k: approximate similarities select candidates, and exact similarities order them.

        BLAS adds up in an order that depends on batch, row and processor, so the similarities of two equal
        passages can differ in the last bit. Therefore similarities are computed again for all vectors that
        are close enough to the k-th to change places with it.
        """
        count = min(k, len(similarity)) if query.any() else 0
        if count < 1:
            return NOTHING
        kth = np.partition(similarity, len(similarity) - count)[len(similarity) - count]
        # a float32 dot product of unit vectors errs by at most dimensions × eps / 2, on both sides
        slack = len(query) * np.finfo(np.float32).eps
        near = np.flatnonzero(similarity >= kth - slack)
        return self.decided(query, near if among is None else among[near], count)


class InMemoryIndex(VectorComparison):
    """Vectors that are only in memory, for small corpora."""

    def __init__(self, vectors: ArrayLike, metadata: Sequence[Mapping[str, object]] = ()) -> None:
        content = prepare_content(vectors, metadata)
        super().__init__(content.vectors, content.directed, Facets(content.positions))


@dataclass(frozen=True)
class ExactStore:
    """Compares a query with every vector. It misses no hit, but its time grows with the number of vectors.

    The vectors are in a file below the cache folder. Opening maps the file into memory, so processes share
    one copy.
    """

    first_address: ClassVar[str] = "assay.retrieval.vectors.exact:Exact"
    version: ClassVar[str] = "1"

    def open(self, name: str, kit: Kit) -> VectorComparison | None:
        return index_cache(kit).read(self._key(name), _read)

    def build(
        self, name: str, vectors: Vectors, kit: Kit, metadata: Sequence[Mapping[str, object]] = ()
    ) -> VectorComparison:
        content, shelf, key = prepare_content(vectors, metadata), index_cache(kit), self._key(name)
        index = shelf.read_or_put(key, _read, lambda folder: _write(folder, content))
        check_same_shape(name, index.shape, content.shape)
        return index

    def _key(self, name: str) -> str:
        return storage_name("exact", self.version, name, longest=120)


def save_array(path: Path, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
    """Saves an array like numpy.save.

    If the disk is full, it raises an OSError with an errno, which numpy's own error lacks.
    """
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)


def index_cache(kit: Kit) -> ArtifactCache:
    """Returns the cache of indexes that are stored in files."""
    return ArtifactCache(kit.cache / "indexes")


def _write(folder: Path, content: StoreContent) -> None:
    save_array(folder / _VECTORS, content.vectors)
    save_array(folder / _DIRECTED, content.directed)
    (folder / _FACETS).write_bytes(msgspec.json.encode(content.positions()))


def _read(folder: Path) -> VectorComparison:
    try:
        vectors = np.load(folder / _VECTORS, mmap_mode="r", allow_pickle=False)
        directed = np.load(folder / _DIRECTED, allow_pickle=False)
    except UNREADABLE as error:
        raise DamagedArtifact(folder, error) from error
    return VectorComparison(vectors, directed, Facets.kept(folder / _FACETS))


_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class StoreContent:
    """Vectors of length 1, and the facets of each vector.

    A row of zeros has no direction, and is never found.
    """

    vectors: Vectors
    facets: Sequence[Sequence[str]]

    @property
    def shape(self) -> tuple[int, int]:
        rows, dims = self.vectors.shape
        return rows, dims

    @property
    def directed(self) -> Ints:
        """The positions of all vectors that are not zero. Only these can be found."""
        return np.flatnonzero(self.vectors.any(axis=1))

    def positions(self) -> dict[str, list[int]]:
        """Returns the positions that have each facet, in order."""
        found: dict[str, list[int]] = {}
        for position in self.directed.tolist():
            for facet in self.facets[position]:
                found.setdefault(facet, []).append(position)
        return found


def prepare_content(vectors: ArrayLike, metadata: Sequence[Mapping[str, object]]) -> StoreContent:
    """Checks vectors and metadata, and converts them to the form that stores keep."""
    rows = np.asarray(vectors)
    if rows.ndim != 2:
        raise UsageError(f"A store takes a matrix, one row per vector. This has {rows.ndim} dimensions.")
    if metadata and len(metadata) != len(rows):
        raise UsageError(f"There are {len(rows)} vectors and metadata of {len(metadata)}. Give one for each.")
    return StoreContent(normalize_rows(rows), [facets_of(each) for each in metadata] or [()] * len(rows))


def check_same_shape(name: str, stored: tuple[int, int], new: tuple[int, int]) -> None:
    """Raises a UsageError if the content stored under a name has another shape than the new content."""
    if stored != new and (stored[0] or new[0]):
        (rows, dims), (new_rows, new_dims) = stored, new
        raise UsageError(
            f"The index {name} already holds {rows} vectors of {dims} dimensions, "
            f"and these are {new_rows} of {new_dims}. A name stands for one content: choose another."
        )


def prepare_queries(queries: ArrayLike, length: int, dims: int) -> Vectors:
    """Checks queries for an index of `length` vectors, and scales them to length 1."""
    rows = np.asarray(queries)
    if rows.ndim != 2:
        raise UsageError(f"A search takes a matrix, one row per query. This has {rows.ndim} dimensions.")
    if length and rows.shape[1] != dims:
        raise UsageError(
            f"The queries have {rows.shape[1]} dimensions and the index {dims}. "
            "Embed both with the same model."
        )
    return normalize_rows(rows)


def facets_of(metadata: Mapping[str, object]) -> list[str]:
    """Returns the facets of some metadata."""
    return [_facet(key, value) for key, held in metadata.items() for value in _values(held)]


def wanted_facets(where: Where | None) -> list[list[str]]:
    """Returns a list of facets for each key of a filter. A vector must have at least one facet of each
    list."""
    asked = []
    for key, value in (where or {}).items():
        values = _values(value)
        if len(values) != len(_listed(value)):
            raise UsageError(
                f"where: {key} is compared with {value!r}. Use texts, whole numbers, true or false."
            )
        asked.append([_facet(key, each) for each in values])
    return asked


def storage_name(*parts: object, longest: int = 60) -> str:
    """Joins parts to a name for folders, tables and collections.

    A name that is too long or has unusual characters ends in a hash.
    """
    name = "-".join(map(str, parts))
    if _PLAIN.fullmatch(name) and len(name) <= longest:
        return name
    mark = hashlib.blake2b(name.encode(), digest_size=10).hexdigest()
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[: longest - len(mark) - 1] + "-" + mark


def _values(held: object) -> list[str | int]:
    return [value for value in _listed(held) if isinstance(value, str | int)]


def _listed(held: object) -> list[object]:
    return list(held) if isinstance(held, Sequence | Set) and not isinstance(held, str | bytes) else [held]


def _facet(key: str, value: str | int | bool) -> str:
    return json.dumps([key, value])
