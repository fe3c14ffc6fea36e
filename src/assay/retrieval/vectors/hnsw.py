"""Approximate cosine search with Faiss by a graph of near neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.errors import PluginError, UsageError
from assay.core.parts import NOTHING, Ints, Ranking, Vectors, Where
from assay.core.protocols import Kit
from assay.retrieval.vectors.exact import (
    Facets,
    StoreContent,
    VectorComparison,
    check_same_shape,
    index_cache,
    prepare_content,
    prepare_queries,
    save_array,
    storage_name,
)
from assay.store.disk import UNREADABLE, DamagedArtifact

Bits = NDArray[np.uint8]

_GRAPH, _FACETS, _DIRECTED = "graph.faiss", "facets.json", "directed.npy"
_WRITE_AT_ONCE = 1 << 20


class HnswIndex:
    """An index with a graph that finds candidates, and with vectors that rank the candidates exactly.

    Threads may share it.
    """

    def __init__(self, graph: Any, exact: VectorComparison, ef_search: int, exact_below: int) -> None:
        self._graph = graph
        self._exact = exact
        self._ef_search = ef_search
        self._exact_below = exact_below

    def __len__(self) -> int:
        return len(self._exact)

    @property
    def shape(self) -> tuple[int, int]:
        return self._exact.shape

    def search(self, queries: ArrayLike, k: int, where: Where | None = None) -> list[Ranking]:
        """Returns about the k nearest vectors by cosine for each row of `queries`; none for a row of
        zeros."""
        rows = prepare_queries(queries, *self.shape)
        among = self._exact.among(where)
        count = len(self) if among is None else len(among)
        if k >= count or (where and count <= self._exact_below):
            return self._exact.nearest(rows, k, among)
        return [self._walk(row, k, among) if k > 0 and row.any() else NOTHING for row in rows]

    def close(self) -> None:
        """Does nothing, because nothing has to be closed."""

    def _walk(self, query: Vectors, k: int, among: Ints | None) -> Ranking:
        """Walks the graph, and returns the best k of the candidates that the walk meets, ranked exactly.

        A walk also meets vectors that a filter excludes. So the fewer vectors are allowed, the wider the walk
        starts. Its width is doubled until it meets enough candidates. A walk as wide as the index would be
        slower than comparing all vectors, so then all are compared.
        """
        candidates = max(self._ef_search, k)
        width = candidates if among is None else candidates * len(self) // len(among)
        allowed = None if among is None else _bitmap(among, len(self))
        while width < len(self):
            met = _walk_graph(self._graph, query, candidates, width, allowed)
            if len(met) >= k:
                return self._exact.decided(query, np.sort(met), k)
            width *= 2
        return self._exact.nearest(query[np.newaxis], k, among)[0]


@dataclass(frozen=True)
class Hnsw:
    """Walks a graph in which each vector knows its neighbours. It is fast, but sometimes misses a hit.

    Each vector has `m` neighbours, and twice as many at the bottom of the graph. When a vector is added,
    `ef_construction` candidates are considered. A search considers `ef_search` candidates, or k if k is
    larger (Malkov & Yashunin 2018). Similarities of candidates are computed exactly, so scores are the same
    as with `exact`. If a filter leaves at most `exact_below` vectors, all of them are compared, and no hit is
    missed.

    The build uses all cores. Another version of the library or another machine may build another graph, which
    misses other hits. The graph is stored under its name, so one study reads one graph.
    """

    m: int = 16
    ef_construction: int = 128
    ef_search: int = 64
    exact_below: int = 10_000
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        for name, lowest in (("m", 2), ("ef_construction", 1), ("ef_search", 1), ("exact_below", 0)):
            if (value := getattr(self, name)) < lowest:
                raise UsageError(f"{name} is {value}. It must be at least {lowest}.")

    def open(self, name: str, kit: Kit) -> HnswIndex | None:
        return index_cache(kit).read(self._key(name), self._read)

    def build(
        self, name: str, vectors: Vectors, kit: Kit, metadata: Sequence[Mapping[str, object]] = ()
    ) -> HnswIndex:
        content, shelf, key = prepare_content(vectors, metadata), index_cache(kit), self._key(name)
        index = shelf.read_or_put(key, self._read, lambda folder: self._write(folder, content))
        check_same_shape(name, index.shape, content.shape)
        return index

    def identity(self, kit: Kit) -> str:
        """Returns the version of the library, because another version may build another graph."""
        return f"faiss {_faiss().__version__}"

    def _key(self, name: str) -> str:
        """Returns the name of a graph. It contains the parameters of the build, but not those of a search."""
        return storage_name("hnsw", self.version, self.m, self.ef_construction, name, longest=120)

    def _write(self, folder: Path, content: StoreContent) -> None:
        faiss = _faiss()
        rows, dims = content.shape
        graph = faiss.IndexHNSWFlat(max(dims, 1), self.m, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = self.ef_construction
        if rows:
            graph.add(content.vectors)
        with (folder / _GRAPH).open("wb") as file:  # Faiss's own writing does not report a full disk
            faiss.write_index(graph, faiss.PyCallbackIOWriter(file.write, _WRITE_AT_ONCE))
        save_array(folder / _DIRECTED, content.directed)
        (folder / _FACETS).write_bytes(msgspec.json.encode(content.positions()))

    def _read(self, folder: Path) -> HnswIndex:
        faiss = _faiss()
        try:
            graph = faiss.read_index(str(folder / _GRAPH), faiss.IO_FLAG_MMAP_IFC)
            directed = np.load(folder / _DIRECTED, allow_pickle=False)
        except (*UNREADABLE, RuntimeError) as error:
            raise DamagedArtifact(folder, error) from error
        exact = VectorComparison(_mapped_vectors(graph), directed, Facets.kept(folder / _FACETS))
        return HnswIndex(graph, exact, self.ef_search, self.exact_below)


def _walk_graph(graph: Any, query: Vectors, candidates: int, width: int, allowed: Bits | None) -> Ints:
    """Returns the positions of the best candidates that a walk of this width meets."""
    faiss = _faiss()
    among = {} if allowed is None else {"sel": faiss.IDSelectorBitmap(allowed)}
    params = faiss.SearchParametersHNSW(efSearch=width, **among)
    _, positions = graph.search(query[np.newaxis], candidates, params=params)
    met: Ints = positions[positions >= 0]
    return met


def _bitmap(positions: Ints, length: int) -> Bits:
    """Returns one bit per vector, which is set for the given positions."""
    chosen = np.zeros(length, np.bool_)
    chosen[positions] = True
    return np.packbits(chosen, bitorder="little")


def _mapped_vectors(graph: Any) -> Vectors:
    """Returns the vectors as Faiss has mapped them, without a copy. They exist as long as the graph."""
    faiss = _faiss()
    if not graph.ntotal:
        return np.empty((0, graph.d), np.float32)
    flat = faiss.rev_swig_ptr(faiss.downcast_index(graph.storage).get_xb(), graph.ntotal * graph.d)
    vectors: Vectors = flat.reshape(graph.ntotal, graph.d)
    return vectors


def _faiss() -> Any:
    """Imports the library. Its types are not used, because they lack half of the functions needed here."""
    try:
        return import_module("faiss")
    except ImportError as error:
        raise PluginError(
            "The store hnsw needs Faiss, which is not installed. "
            "Install it: pip install 'retrieval-assay[hnsw]'."
        ) from error
