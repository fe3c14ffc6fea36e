"""Stores vectors in Qdrant: on a server, or in a folder with the local mode of its client."""

from __future__ import annotations

import re
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from operator import methodcaller
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from assay.core.endpoint import Endpoint
from assay.core.errors import AssayError, PluginError, SystemFailure, UsageError
from assay.core.parts import NOTHING, Floats, Ranking, Vectors, Where
from assay.core.protocols import Kit
from assay.core.registry import outside_identity
from assay.retrieval.vectors.exact import (
    StoreContent,
    check_same_shape,
    prepare_content,
    prepare_queries,
    storage_name,
    wanted_facets,
)
from assay.retrieval.vectors.qdrant_places import QdrantFolder, QdrantServer, shared_folder

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.models import AliasDescription, Filter, ScoredPoint

_STAGE = "storing vectors"
_FACETS = "facets"
_POINTS_AT_ONCE = 256
_QUERIES_AT_ONCE = 64
_SPARE = 8  # hits beyond k: ties with the last are mostly seen without another request
_ALIKE = 1e-6  # scores that are closer than this differ only by float32 rounding
_INDEXED_WITHIN = 3600.0  # seconds
_DEAD_AFTER = 86_400.0  # seconds after which a build counts as dead
_COLLECTION = re.compile(r"([^.]+)\.(\d+)x(\d+)\.(\d+)\.[0-9a-f]{32}")


class QdrantIndex:
    """A collection in Qdrant, known by its alias. Threads may share it."""

    def __init__(
        self, server: QdrantServer | QdrantFolder, alias: str, shape: tuple[int, int], exact: bool
    ) -> None:
        self._server, self._alias = server, alias
        self.shape = shape
        self._exact = exact
        self._closed = False

    def __len__(self) -> int:
        return self.shape[0]

    def search(self, queries: ArrayLike, k: int, where: Where | None = None) -> list[Ranking]:
        """Returns the k nearest vectors by cosine for each row of `queries`; a row of zeros has no hit."""
        if self._closed:
            raise UsageError("The index is closed. Open it again.")
        rows, among = prepare_queries(queries, *self.shape), _facet_filter(wanted_facets(where))
        rankings = [NOTHING] * len(rows)
        count = min(k, len(self))
        asked = np.flatnonzero(rows.any(axis=1)).tolist() if count > 0 else []
        for start in range(0, len(asked), _QUERIES_AT_ONCE):
            some = asked[start : start + _QUERIES_AT_ONCE]
            for row, ranking in zip(some, self._ranked(rows[some], count, among), strict=True):
                rankings[row] = ranking
        return rankings

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._server.close()

    def _ranked(self, rows: Vectors, k: int, among: Filter | None) -> list[Ranking]:
        """Returns rankings of the best k. Equal scores are in corpus order.

        More hits are asked for as long as hits that were not returned may tie with the k-th hit.
        """
        limit = k + _SPARE
        rankings: list[Ranking] = []
        for row, points in zip(rows, self._points(rows, limit, among), strict=True):
            found, wide = points, limit
            while len(found) == wide and found[k - 1].score - found[-1].score <= _ALIKE:
                wide *= 4
                (found,) = self._points(row[np.newaxis], wide, among)
            rankings.append(_rank_points(row, found, k))
        return rankings

    def _points(self, rows: Vectors, limit: int, among: Filter | None) -> list[list[ScoredPoint]]:
        from qdrant_client.models import QueryRequest, SearchParams

        params = SearchParams(exact=True) if self._exact and not self._server.local else None
        requests = [
            QueryRequest(query=row, filter=among, params=params, limit=limit, with_vector=self._server.local)
            for row in rows.tolist()
        ]
        answers = self._server.ask(lambda client: client.query_batch_points(self._alias, requests=requests))
        return [answer.points for answer in answers]


@dataclass(frozen=True)
class Qdrant:
    """Stores vectors in Qdrant: on the server at `url`, or in the folder `path` if `url` is empty.

    An index is an alias of a collection. The alias is set when all vectors are stored and indexed, so an
    index with an alias is complete. Builders of one name that share the cache folder wait for each other.
    Other builders do the work twice, and the later alias counts. If a killed build left a collection without
    an alias, any build a day later removes the collection. The server decides whether it searches exactly or
    with its own HNSW graph; `exact` makes every search exact.

    Without `url`, the library's local mode is used (in the cache folder if `path` is empty). Local mode is
    exact, is meant for some 20,000 vectors, and can be open in only one process at a time. Requests to a
    server are tested against a stand-in that speaks its REST protocol; a live server has not been tried.
    """

    url: str = field(default="", repr=False)
    key: str | None = field(default=None, repr=False)
    path: str = ""
    exact: bool = False
    timeout: float = outside_identity(30.0)
    retries: int = outside_identity(4)  # of requests of a build; searches are retried by the runner
    backoff: float = outside_identity(0.5)
    collection_prefix: str = "assay"
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        if self.url and self.path:
            raise UsageError("A store is at a url or at a path. Give one of them.")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", self.collection_prefix):
            prefix = self.collection_prefix
            raise UsageError(f"collection_prefix is {prefix!r}. Use up to 40 letters, digits, - or _.")

    def open(self, name: str, kit: Kit) -> QdrantIndex | None:
        server = self._server(kit)
        index = None
        try:
            index = self._found(server, name)
        finally:
            if index is None:
                server.close()
        return index

    def build(
        self, name: str, vectors: Vectors, kit: Kit, metadata: Sequence[Mapping[str, object]] = ()
    ) -> QdrantIndex:
        content, server = prepare_content(vectors, metadata), self._server(kit)
        index = None
        try:
            with server.exclusive(self._alias(name), kit):
                if (there := self._found(server, name)) is None:
                    self._sweep(server, name, kit)
                    self._make(server, name, content, kit)
                    there = self._found(server, name)
            if there is None:
                raise SystemFailure(
                    f"{server.place}: the alias {self._alias(name)} is gone as soon as it was set."
                )
            check_same_shape(name, there.shape, content.shape)
            index = there
        finally:
            if index is None:
                server.close()
        return index

    def _server(self, kit: Kit) -> QdrantServer | QdrantFolder:
        if find_spec("qdrant_client") is None:
            raise PluginError(
                "The store qdrant needs qdrant-client, which is not installed. "
                "Install it: pip install 'retrieval-assay[qdrant]'."
            )
        if self.url:
            return QdrantServer(Endpoint(self.url, self.key, self.timeout, self.retries, self.backoff))
        folder = kit.path(self.path) if self.path else kit.cache / "qdrant"
        return shared_folder(folder.resolve()).join()

    def _alias(self, name: str) -> str:
        return storage_name(self.collection_prefix, self.version, name, longest=120)

    def _found(self, server: QdrantServer | QdrantFolder, name: str) -> QdrantIndex | None:
        alias = self._alias(name)
        for each in _list_aliases(server):
            parsed = _parse_collection(each.collection_name)
            if each.alias_name == alias and parsed is not None and parsed.alias == alias:
                return QdrantIndex(server, alias, parsed.shape, self.exact)
        return None

    def _sweep(self, server: QdrantServer | QdrantFolder, name: str, kit: Kit) -> None:
        """Removes the collections without an alias that killed builds left.

        It never removes a collection that a build may still be working on: a folder has no other builder, and
        on a server only builds that began a day ago or earlier count as dead.
        """
        until = kit.clock() - (0.0 if server.local else _DEAD_AFTER)
        for each in server.insist(lambda client: client.get_collections()).collections:
            parsed = _parse_collection(each.name)
            dead = parsed is not None and parsed.alias.startswith(self._alias("")) and parsed.begun <= until
            if dead and each.name not in {alias.collection_name for alias in _list_aliases(server)}:
                server.insist(methodcaller("delete_collection", each.name))
        if isinstance(server, QdrantFolder):
            for folder in (server.folder / "collection").glob(
                f"{self._alias(name)}.*"
            ):  # collections that were begun, but are not listed
                shutil.rmtree(folder, ignore_errors=True)

    def _make(self, server: QdrantServer | QdrantFolder, name: str, content: StoreContent, kit: Kit) -> None:
        from qdrant_client import models

        alias, (rows, dims) = self._alias(name), content.shape
        collection = f"{alias}.{rows}x{dims}.{int(kit.clock())}.{uuid.uuid4().hex}"
        with ExitStack() as undo:
            undo.callback(_drop, server, collection)
            self._fill(server, collection, content, kit)
            undo.pop_all()
        named = models.CreateAlias(collection_name=collection, alias_name=alias)
        operation = models.CreateAliasOperation(create_alias=named)
        server.insist(lambda client: client.update_collection_aliases([operation]))

    def _fill(
        self, server: QdrantServer | QdrantFolder, collection: str, content: StoreContent, kit: Kit
    ) -> None:
        from qdrant_client import models

        (_, dims), directed = content.shape, content.directed
        # for vectors of length 1 this is the cosine, and Qdrant stores them unchanged
        config = models.VectorParams(size=max(dims, 1), distance=models.Distance.DOT)
        _create(server, collection, lambda client: client.create_collection(collection, config))
        if any(content.facets) and not server.local:  # local mode has no such indexes
            server.insist(
                lambda client: client.create_payload_index(
                    collection, _FACETS, models.PayloadSchemaType.KEYWORD, wait=True
                )
            )
        for start in range(0, len(directed), _POINTS_AT_ONCE):
            points = [
                models.PointStruct(
                    id=position,
                    vector=content.vectors[position].tolist(),
                    payload={_FACETS: list(content.facets[position])},
                )
                for position in directed[start : start + _POINTS_AT_ONCE].tolist()
            ]
            server.insist(methodcaller("upsert", collection, points, wait=True))
            kit.progress(_STAGE, start + len(points), len(directed))
        _wait_until_indexed(server, collection)


class _CollectionName(NamedTuple):
    """The parts of a collection's name: alias, shape of the content, and the time when the build began.

    Vectors of zeros are not stored, but they count in the shape.
    """

    alias: str
    shape: tuple[int, int]
    begun: int


def _parse_collection(collection: str) -> _CollectionName | None:
    found = _COLLECTION.fullmatch(collection)
    return None if found is None else _CollectionName(found[1], (int(found[2]), int(found[3])), int(found[4]))


def _list_aliases(server: QdrantServer | QdrantFolder) -> list[AliasDescription]:
    return server.insist(lambda client: client.get_aliases()).aliases


def _drop(server: QdrantServer | QdrantFolder, collection: str) -> None:
    """Removes the collection of a failed build. If that fails too, a build a day later removes it."""
    with suppress(AssayError):
        server.ask(methodcaller("delete_collection", collection))


def _create(
    server: QdrantServer | QdrantFolder, collection: str, create: Callable[[QdrantClient], bool]
) -> None:
    """Makes a collection, unless it exists: then an earlier attempt made it, and its answer was lost."""

    def make(client: QdrantClient) -> bool:
        return client.collection_exists(collection) or create(client)

    server.insist(make)


def _wait_until_indexed(server: QdrantServer | QdrantFolder, collection: str) -> None:
    """Waits for the server's index. The server builds it after its answer, and until then hits may change."""
    until, pause = time.monotonic() + _INDEXED_WITHIN, 0.05
    while server.insist(lambda client: client.get_collection(collection)).status != "green":
        if time.monotonic() > until:
            raise SystemFailure(f"{server.place} did not index {collection} within {_INDEXED_WITHIN:g} s.")
        time.sleep(pause)
        pause = min(2 * pause, 5.0)


def _facet_filter(asked: list[list[str]]) -> Filter | None:
    from qdrant_client.models import FieldCondition, Filter, MatchAny

    if not asked:
        return None
    return Filter(must=[FieldCondition(key=_FACETS, match=MatchAny(any=group)) for group in asked])


def _rank_points(query: Vectors, points: Sequence[ScoredPoint], k: int) -> Ranking:
    """Ranks the best k points. Equal scores are in corpus order."""
    if not points:
        return NOTHING
    positions, scores = np.array([point.id for point in points], np.int64), _point_scores(query, points)
    order = np.lexsort((positions, -scores))[:k]
    return Ranking(positions[order], scores[order])


def _point_scores(query: Vectors, points: Sequence[ScoredPoint]) -> Floats:
    """Returns the scores of points, rounded to float32.

    The scores of a server come in falling order. Scores that differ from the first of a group only by float32
    rounding become equal to it. In local mode, scores are computed from the returned vectors.
    """
    scores: list[float] = []
    if points[0].vector is None:
        for point in points:
            same = scores and scores[-1] - point.score <= _ALIKE
            scores.append(scores[-1] if same else point.score)
    else:  # in local mode, similarities depend on how vectors were read
        vectors = np.array([point.vector for point in points], np.float64)
        scores = np.vecdot(vectors, query.astype(np.float64)).tolist()
    return np.array(scores, np.float32).astype(np.float64)
