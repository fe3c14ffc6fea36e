"""Connections to a PostgreSQL database, and its refusals in plain words."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay.errors import Retryable, SystemFailure, UsageError

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

_CONNECT_WITHIN = 10  # seconds


class Server:
    """Connections to one database, each used by one thread at a time. No message holds the password.

    `settings` are those of connections that search.
    """

    def __init__(self, url: str, settings: Mapping[str, str]) -> None:
        import psycopg

        try:
            known = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # The cause repeats what it could not read, which may hold the password.
            raise UsageError(
                "The url of the store postgres is not an address. Write postgresql://USER@HOST/DATABASE."
            ) from None
        self._url, self._settings = url, settings
        self._password = str(known.get("password") or "")
        self.place = f"PostgreSQL at {known.get('host') or 'localhost'}, database {known.get('dbname') or ''}"
        self._turn = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False
        self._shut = weakref.finalize(self, _close_all, self._idle)  # at the latest when nobody holds it

    def connect(self, settings: Mapping[str, str] | None = None, autocommit: bool = True) -> Connection:
        """A new connection."""
        import psycopg
        from pgvector.psycopg import register_vector

        try:
            made = psycopg.connect(self._url, autocommit=autocommit, connect_timeout=_CONNECT_WITHIN)
        except psycopg.OperationalError as error:
            fix = "Check that it runs, and its address, user and password"
            raise SystemFailure(f"{self.place} cannot be reached: {self._said(error)}. {fix}.") from None
        try:
            for name, value in (settings or {}).items():
                made.execute("SELECT set_config(%s, %s, false)", (name, value))
            if made.execute("SELECT to_regtype('vector')").fetchone() != (None,):
                register_vector(made)
        except psycopg.Error:
            made.close()
            raise
        return made

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection for one search; one that failed is not used again."""
        import psycopg

        with self._turn:
            if self._closed:
                raise UsageError("The index is closed. Open it again.")
            taken = self._idle.pop() if self._idle else None
        try:
            taken = taken or self.connect(self._settings)
            yield taken
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise Retryable(f"{self.place} did not answer: {self._said(error)}.") from None
        except SystemFailure as error:
            raise Retryable(str(error)) from None
        finally:
            if taken is not None:
                self._give_back(taken)

    def _give_back(self, taken: Connection) -> None:
        with self._turn:
            if not self._closed and not taken.closed:
                self._idle.append(taken)
                return
        taken.close()

    @contextmanager
    def told(self, doing: str) -> Iterator[None]:
        """Says in plain words what the database refuses."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise SystemFailure(f"{self.place}: {doing} failed: {self._said(error)}.") from None

    def close(self) -> None:
        """Closes what is idle now, and the rest when it is given back."""
        with self._turn:
            self._closed = True
            self._shut()

    def _said(self, error: Exception) -> str:
        said = str(error).strip().rstrip(".")
        return said.replace(self._password, "…") if self._password else said


def _close_all(connections: list[Connection]) -> None:
    for each in connections:
        each.close()
