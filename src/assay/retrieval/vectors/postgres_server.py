"""Connections to a PostgreSQL database, with its errors in plain words.

The module needs psycopg and pgvector, so it is imported only just before connecting.
"""

from __future__ import annotations

import re
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from pgvector.psycopg import register_vector

from assay.core.endpoint import pause_before
from assay.core.errors import Retryable, SystemFailure, UsageError

T = TypeVar("T")

# the operating system reports a lost network after about a minute
_ROUTE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_GRACE = 1.0  # seconds for the server to report its own timeout
_PASSING = (
    "08",
    "40",
    "57P",
    "53300",
)  # SQL states: connection lost, transaction undone, server shuts down, too many connections
# A server that starts up or is full refuses only for a time. Any other refusal would be repeated.
_REFUSED = re.compile(r"FATAL:\s+(?!the database system is|sorry, too many|too many|remaining connection)")


class ConnectionLost(SystemFailure):
    """The error of a connection that broke or could not be made; another attempt may succeed."""

    fault_kind = "Lost"


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that gives up after `patience` seconds without an answer (None: no limit).

    The server's own time limits do not help if the server has stopped or cannot be reached.
    """

    patience: float | None = None

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **options: Any) -> T:
        if self.patience is None:
            return super().wait(gen, *args, **options)
        try:
            return super().wait(_bound(gen, self.patience), *args, **options)
        except TimeoutError as error:
            self.close()
            raise psycopg.OperationalError(str(error)) from None


def _bound(steps: Generator[Any, Any, T], seconds: float) -> Generator[Any, Any, T]:
    """Runs the steps of an exchange for a limited time.

    A step runs at each event, and at least every tenth of a second.
    """
    until, news = time.monotonic() + seconds, None
    while True:
        try:
            news = yield steps.send(news)
        except StopIteration as end:
            result: T = end.value
            return result
        if time.monotonic() > until:
            raise TimeoutError(f"no answer within {seconds:g} s")


class PostgresServer:
    """Connections to a database. Each connection is used by one thread at a time.

    `settings` are the settings of connections that search. No error message contains the password.
    """

    def __init__(
        self, url: str, settings: Mapping[str, str], timeout: float, retries: int, backoff: float
    ) -> None:
        try:
            known = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # the cause contains the url, which may hold the password
            raise UsageError(
                "The url of the store postgres is not an address. Write postgresql://USER@HOST/DATABASE."
            ) from None
        self._address = psycopg.conninfo.make_conninfo("", **(_ROUTE | known))
        self._settings = settings
        self._timeout, self._retries, self._backoff = timeout, retries, backoff
        self._password = str(known.get("password") or "")
        self.place = f"PostgreSQL at {known.get('host') or 'localhost'}, database {known.get('dbname') or ''}"
        self._turn = threading.Lock()
        self._idle: list[PatientConnection] = []
        self._closed = False
        self._shut = weakref.finalize(
            self, _close_all, self._idle
        )  # if not closed before, then when the object is deleted

    def transaction(self, doing: str, work: Callable[[PatientConnection], T]) -> T:
        """Runs `work` in a transaction.

        If the connection breaks, `work` runs again, because a broken transaction changes nothing.
        """
        attempt = 1
        while True:
            try:
                with self.explaining(doing), self._connect({}, autocommit=False) as connection:
                    return work(connection)
            except ConnectionLost as error:
                if attempt > self._retries:
                    raise SystemFailure(f"{error} That was attempt {attempt}, the last.") from None
            attempt += 1
            time.sleep(pause_before(attempt, self._backoff))

    @contextmanager
    def connection(self) -> Iterator[PatientConnection]:
        """Gives a connection for one search. A connection that failed is not used again."""
        with self._turn:
            if self._closed:
                raise UsageError("The index is closed. Open it again.")
            taken = self._idle.pop() if self._idle else None
        try:
            taken = taken or self._connect(self._settings, autocommit=True)
            yield taken
        except psycopg.errors.QueryCanceled as error:  # by the server, or here after the time limit
            within = f"did not answer within {self._timeout:g} s"
            raise Retryable(f"{self.place} {within}: {self._said(error)}.") from None
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise Retryable(f"{self.place} did not answer: {self._said(error)}.") from None
        except SystemFailure as error:
            raise Retryable(str(error)) from None
        finally:
            if taken is not None:
                self._give_back(taken)

    @contextmanager
    def explaining(self, doing: str) -> Iterator[None]:
        """Turns errors of the database into errors with plain words."""
        try:
            yield
        except psycopg.Error as error:
            passing = isinstance(error, psycopg.OperationalError) and (
                error.sqlstate is None or error.sqlstate.startswith(_PASSING)
            )
            what = f"{self.place}: {doing} failed: {self._said(error)}."
            raise (ConnectionLost if passing else SystemFailure)(what) from None

    def close(self) -> None:
        """Closes idle connections now, and the other connections when they are returned."""
        with self._turn:
            self._closed = True
            self._shut()

    def _connect(self, settings: Mapping[str, str], autocommit: bool) -> PatientConnection:
        try:
            made = PatientConnection.connect(self._address, autocommit=autocommit)
        except psycopg.OperationalError as error:
            said = self._said(error)
            fix = "Check that it runs, and its address, user and password"
            failure = SystemFailure if _REFUSED.search(said) else ConnectionLost
            raise failure(f"{self.place} cannot be reached: {said}. {fix}.") from None
        made.patience = self._timeout + _GRACE
        try:
            for name, value in settings.items():
                made.execute("SELECT set_config(%s, %s, false)", (name, value))
            if made.execute("SELECT to_regtype('vector')").fetchone() != (None,):
                register_vector(made)
        except psycopg.Error:
            made.close()
            raise
        return made

    def _give_back(self, taken: PatientConnection) -> None:
        with self._turn:
            if not self._closed and not taken.closed:
                self._idle.append(taken)
                return
        taken.close()

    def _said(self, error: Exception) -> str:
        said = " ".join(str(error).split()).rstrip(".")
        return said.replace(self._password, "…") if self._password else said


def _close_all(connections: list[PatientConnection]) -> None:
    for each in connections:
        each.close()
