"""Connections to a PostgreSQL database, and its refusals in plain words.

It needs psycopg and pgvector, so it is imported by who is about to connect.
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

# Of a network that is gone, the operating system tells after about a minute.
_ROUTE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_GRACE = 1.0  # seconds that a server has to say by itself that its time is up
_PASSING = (
    "08",
    "40",
    "57P",
    "53300",
)  # states: connection lost, transaction undone, shutting down, too many
# What a server says of itself while it cannot take a connection; all else that it says would be said again.
_REFUSED = re.compile(r"FATAL:\s+(?!the database system is|sorry, too many|too many|remaining connection)")


class ConnectionLost(SystemFailure):
    """A connection that could not be made or that broke: another may fare better."""


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is given up after `patience` seconds without an answer, None being no limit.

    The limits that a server keeps do not help where it has stopped, or cannot be heard.
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
    """The steps of an exchange, which are taken whenever there is news, and every tenth of a second."""
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
    """Connections to one database, each used by one thread at a time. No message holds the password.

    `settings` are those of connections that search.
    """

    def __init__(
        self, url: str, settings: Mapping[str, str], timeout: float, retries: int, backoff: float
    ) -> None:
        try:
            known = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # The cause repeats what it could not read, which may hold the password.
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
        self._shut = weakref.finalize(self, _close_all, self._idle)  # at the latest when nobody holds it

    def transaction(self, doing: str, work: Callable[[PatientConnection], T]) -> T:
        """What `work` gives. All of it is done or nothing, so it is done again where the connection broke."""
        attempt = 1
        while True:
            try:
                with self.told(doing), self._connect({}, autocommit=False) as connection:
                    return work(connection)
            except ConnectionLost as error:
                if attempt > self._retries:
                    raise SystemFailure(f"{error} That was attempt {attempt}, the last.") from None
            attempt += 1
            time.sleep(pause_before(attempt, self._backoff))

    @contextmanager
    def connection(self) -> Iterator[PatientConnection]:
        """A connection for one search; one that failed is not used again."""
        with self._turn:
            if self._closed:
                raise UsageError("The index is closed. Open it again.")
            taken = self._idle.pop() if self._idle else None
        try:
            taken = taken or self._connect(self._settings, autocommit=True)
            yield taken
        except psycopg.errors.QueryCanceled as error:  # by the server, or by us where it was late to say so
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
    def told(self, doing: str) -> Iterator[None]:
        """Says in plain words what the database refuses."""
        try:
            yield
        except psycopg.Error as error:
            passing = isinstance(error, psycopg.OperationalError) and (
                error.sqlstate is None or error.sqlstate.startswith(_PASSING)
            )
            what = f"{self.place}: {doing} failed: {self._said(error)}."
            raise (ConnectionLost if passing else SystemFailure)(what) from None

    def close(self) -> None:
        """Closes what is idle now, and the rest when it is given back."""
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
