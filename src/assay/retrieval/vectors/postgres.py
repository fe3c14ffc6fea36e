"""Stores vectors in PostgreSQL with the extension pgvector, in a table for each index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal, LiteralString

import numpy as np
from numpy.typing import ArrayLike

from assay.core.errors import PluginError, SystemFailure, UsageError
from assay.core.parts import NOTHING, Ranking, Vectors, Where
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

if TYPE_CHECKING:
    from psycopg.sql import SQL, Composed, Identifier

    from assay.retrieval.vectors.postgres_server import PatientConnection, PostgresServer

_STAGE = "storing vectors"
_MOST_INDEXED, _MOST_STORED = 2000, 16_000  # dimensions that pgvector allows: index, table
_OLDEST = (0, 8)  # version of pgvector that continues a scan until enough rows pass a filter
_REPORT_EVERY = 10_000
_MOST_MEMORY = 2048  # MB of the server's memory for building a graph


class PostgresIndex:
    """A table of vectors in PostgreSQL. Threads may share it."""

    def __init__(
        self, server: PostgresServer, table: Identifier, shape: tuple[int, int], approximate: bool
    ) -> None:
        self._server, self._table = server, table
        self.shape = shape
        self._approximate = approximate

    def __len__(self) -> int:
        return self.shape[0]

    def search(self, queries: ArrayLike, k: int, where: Where | None = None) -> list[Ranking]:
        """Returns the k nearest vectors by cosine for each row of `queries`; a row of zeros has no hit."""
        rows, asked = prepare_queries(queries, *self.shape), wanted_facets(where)
        count = min(k, len(self))
        if count < 1:
            return [NOTHING] * len(rows)
        with self._server.explaining("a search"), self._server.connection() as connection:
            return [self._rank(connection, row, count, asked) if row.any() else NOTHING for row in rows]

    def close(self) -> None:
        self._server.close()

    def _rank(self, connection: PatientConnection, query: Vectors, k: int, asked: list[list[str]]) -> Ranking:
        if self._approximate and k < len(self):
            found = connection.execute(self._by_index(len(asked)), (query, *asked, query, k, k)).fetchall()
            if len(found) == k:
                return _make_ranking(found)
        # without an index, or if a scan along it ended early, every matching row is compared
        return _make_ranking(connection.execute(self._one_by_one(len(asked)), (query, *asked, k)).fetchall())

    def _one_by_one(self, groups: int) -> Composed:
        """Returns a statement that compares every row: it sorts by a value that the index does not have."""
        return _sql(
            "SELECT position, (1 - (embedding <=> %s))::real AS score FROM {} WHERE embedding IS NOT NULL {} "
            "ORDER BY score DESC, position LIMIT %s",
            self._table,
            _facet_conditions(groups),
        )

    def _by_index(self, groups: int) -> Composed:
        """Returns a statement that uses the index.

        The statement also sorts, because an iterative scan is not quite in order (see pgvector).
        """
        return _sql(
            "WITH near AS MATERIALIZED (SELECT position, embedding <=> %s AS distance FROM {} "
            "WHERE embedding IS NOT NULL {} ORDER BY embedding <=> %s LIMIT %s) "
            "SELECT position, (1 - distance)::real AS score FROM near ORDER BY score DESC, position LIMIT %s",
            self._table,
            _facet_conditions(groups),
        )


@dataclass(frozen=True)
class Postgres:
    """Stores vectors in PostgreSQL with pgvector. They are compared one by one or found with an HNSW index.

    `url` is postgresql://USER:PASSWORD@HOST/DATABASE; take the password from the environment (`${NAME}`, or
    PGPASSWORD). Each index is a table of `schema`. The table is made in one transaction, so it is complete or
    absent. `index=hnsw` has pgvector's parameters `m`, `ef_construction` and `ef_search`, and allows up to
    2,000 dimensions. A search or the opening of an index must be answered within `timeout` seconds. If the
    connection breaks, opening and building are repeated up to `retries` times. Similarities are computed in
    float32.
    """

    url: str = field(default="", repr=False)
    index: Literal["none", "hnsw"] = "none"
    schema: str = "assay"
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 100
    timeout: float = outside_identity(60.0)
    retries: int = outside_identity(4)  # searches are retried by the runner
    backoff: float = outside_identity(0.5)
    version: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        ranges = {"m": (2, 100), "ef_construction": (2 * self.m, 1000), "ef_search": (1, 1000)}
        for name, (lowest, highest) in ranges.items():
            if not lowest <= (value := getattr(self, name)) <= highest:
                raise UsageError(f"{name} is {value}. It must be from {lowest} to {highest}.")
        if not 0.001 <= self.timeout <= 86_400:  # for the server, 0 means no limit
            raise UsageError(f"timeout is {self.timeout:g}. It must be from 0.001 to 86,400 seconds.")
        for name in ("retries", "backoff"):
            if not 0 <= (value := getattr(self, name)) < float("inf"):
                raise UsageError(f"{name} is {value}. It must be 0 or more.")
        if not self.schema:
            raise UsageError("schema is empty. Name the schema that is to hold the tables, such as assay.")

    def open(self, name: str, kit: Kit) -> PostgresIndex | None:
        server = self._server()
        return server.transaction("opening an index", lambda taken: self._found(server, taken, name))

    def build(
        self, name: str, vectors: Vectors, kit: Kit, metadata: Sequence[Mapping[str, object]] = ()
    ) -> PostgresIndex:
        content, server = prepare_content(vectors, metadata), self._server()
        self._check_dimensions(content.shape[1])

        def store(connection: PatientConnection) -> PostgresIndex | None:
            connection.patience = None  # building an index may take any time
            connection.execute("SET LOCAL statement_timeout = 0")
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"{self.schema}.{name}",))
            if (there := self._found(server, connection, name)) is not None:
                return there
            self._fill(connection, self._table(name), content, kit)
            return self._found(server, connection, name)

        server.transaction("making schema and extension", lambda taken: self._prepare(server, taken))
        index = server.transaction(_STAGE, store)
        if index is None:
            raise SystemFailure(f"{server.place}: the table of {name} is gone as soon as it was made.")
        check_same_shape(name, index.shape, content.shape)
        return index

    def _server(self) -> PostgresServer:
        for library in ("psycopg", "pgvector"):
            if find_spec(library) is None:
                raise PluginError(
                    f"The store postgres needs {library}, which is not installed. "
                    "Install it: pip install 'retrieval-assay[postgres]'."
                )
        from assay.retrieval.vectors.postgres_server import PostgresServer

        settings = {"statement_timeout": f"{self.timeout * 1000:.0f}"}
        if self.index == "hnsw":
            settings |= {"hnsw.ef_search": str(self.ef_search), "hnsw.iterative_scan": "relaxed_order"}
        return PostgresServer(self.url, settings, self.timeout, self.retries, self.backoff)

    def _table(self, name: str) -> Identifier:
        """Returns the name of a table. It contains the parameters of the build, but not those of a search."""
        from psycopg.sql import Identifier

        made = ("hnsw", self.m, self.ef_construction) if self.index == "hnsw" else ("none",)
        return Identifier(self.schema, storage_name("v", self.version, *made, name, longest=56))

    def _found(
        self, server: PostgresServer, connection: PatientConnection, name: str
    ) -> PostgresIndex | None:
        table = self._table(name)
        about = connection.execute(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'embedding'",
            (table.as_string(),),
        ).fetchone()
        if about is None:
            return None
        counted = connection.execute(_sql("SELECT count(*) FROM {}", table)).fetchone()
        rows = int(counted[0]) if counted else 0
        return PostgresIndex(server, table, (rows, int(about[0])), self.index == "hnsw")

    def _check_dimensions(self, dims: int) -> None:
        most = _MOST_INDEXED if self.index == "hnsw" else _MOST_STORED
        if dims > most:
            instead = "Use index=none, or" if dims <= _MOST_STORED else "Use"
            raise UsageError(
                f"The vectors have {dims} dimensions, and pgvector takes up to {most} "
                f"with index={self.index}. {instead} a model with fewer."
            )

    def _prepare(self, server: PostgresServer, connection: PatientConnection) -> None:
        """Makes schema and extension if they are missing. Special rights are needed only for making them."""
        import psycopg
        from psycopg.sql import Identifier

        connection.execute("SELECT pg_advisory_xact_lock(hashtext('assay'))")
        there = connection.execute("SELECT to_regnamespace(quote_ident(%s))", (self.schema,)).fetchone()
        if there == (None,):
            connection.execute(_sql("CREATE SCHEMA {}", Identifier(self.schema)))
        installed = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        if connection.execute(installed).fetchone() is None:
            try:
                connection.execute("CREATE EXTENSION vector")
            except psycopg.errors.InsufficientPrivilege:
                fix = "Ask its administrator to run there: CREATE EXTENSION vector"
                raise SystemFailure(f"{server.place} lacks the extension vector. {fix}.") from None
            except psycopg.Error:
                fix = "Install it on the server: https://github.com/pgvector/pgvector"
                raise SystemFailure(f"{server.place} lacks pgvector. {fix}.") from None
        (found,) = connection.execute(installed).fetchone() or ("0",)
        if tuple(int(part) for part in str(found).split(".")[:2]) < _OLDEST:
            oldest = ".".join(map(str, _OLDEST))
            raise SystemFailure(f"{server.place} has pgvector {found}. Update it to {oldest} or later.")

    def _fill(
        self, connection: PatientConnection, table: Identifier, content: StoreContent, kit: Kit
    ) -> None:
        rows, dims = content.shape
        size = max(dims, 1)
        connection.execute(
            _sql(
                "CREATE TABLE {} "
                "(position integer PRIMARY KEY, embedding vector({}), facets text[] NOT NULL)",
                table,
                size,
            )
        )
        if size <= _MOST_INDEXED:  # fits a page; rows outside of the page are slower to compare
            connection.execute(_sql("ALTER TABLE {} ALTER embedding SET STORAGE PLAIN", table))
        directed = set(content.directed.tolist())
        with connection.cursor().copy(_sql("COPY {} FROM STDIN (FORMAT binary)", table)) as copy:
            copy.set_types(["int4", "vector", "text[]"])
            for position, (vector, facets) in enumerate(zip(content.vectors, content.facets, strict=True)):
                copy.write_row((position, vector if position in directed else None, list(facets)))
                if (position + 1) % _REPORT_EVERY == 0:
                    kit.progress(_STAGE, position + 1, rows)
        if any(content.facets):
            connection.execute(_sql("CREATE INDEX ON {} USING gin (facets)", table))
        if self.index == "hnsw":
            # building is many times slower if the graph does not fit into this memory
            needed = min(64 + rows * (4 * size + 40 * self.m) // 1_000_000, _MOST_MEMORY)
            connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", (f"{needed}MB",))
            connection.execute(
                _sql(
                    "CREATE INDEX ON {} USING hnsw (embedding vector_cosine_ops) "
                    "WITH (m={}, ef_construction={})",
                    table,
                    self.m,
                    self.ef_construction,
                )
            )
        connection.execute(_sql("ANALYZE {}", table))


def _sql(text: LiteralString, *parts: object) -> Composed:
    """Returns a statement with names and numbers in place of its braces."""
    from psycopg.sql import SQL

    return SQL(text).format(*parts)


def _facet_conditions(groups: int) -> SQL:
    """Returns a condition for each key of a filter: the row has at least one of the wanted facets."""
    from psycopg.sql import SQL

    return SQL("AND facets && %s::text[] " * groups)


def _make_ranking(rows: Sequence[tuple[Any, ...]]) -> Ranking:
    if not rows:
        return NOTHING
    positions, scores = zip(*rows, strict=True)
    return Ranking(np.array(positions, np.int64), np.array(scores, np.float32).astype(np.float64))
