"""Connections to Qdrant on a server or in a folder, with the same methods."""

from __future__ import annotations

import json
import math
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay.core.endpoint import Endpoint, is_passing, pause_before
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.retrieval.vectors.exact import storage_name
from assay.store.disk import explain_cache_errors, hold_lock

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

T = TypeVar("T")

_SHOWN = 200  # characters of a server's answer in a message


class _PassingFailure(Retryable):
    """A failed request that may succeed when it is repeated.

    `retry_after` says when the server wants it to be repeated.
    """

    fault_kind = "_Failed"

    def __init__(self, what: str, retry_after: str | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


class QdrantServer:
    """A connection to a Qdrant server. Threads may share it."""

    local = False

    def __init__(self, endpoint: Endpoint) -> None:
        from qdrant_client import QdrantClient

        self.place = f"Qdrant at {endpoint.address}"
        self._endpoint = endpoint
        key = (endpoint.key or "").strip()  # a key from a file ends with a line break
        self._client = QdrantClient(
            url=endpoint.url,
            timeout=math.ceil(endpoint.timeout),
            headers={"api-key": key} if key else None,
            prefer_grpc=False,
            check_compatibility=False,  # the check would send an additional request
            trust_env=not endpoint.loopback,  # a proxy cannot reach this machine
            verify=endpoint.encrypted,  # reading all certificates takes 30 ms; plain HTTP has none
        )

    def ask(self, call: Callable[[QdrantClient], T]) -> T:
        """Sends one request. Raises Retryable if another attempt may succeed, otherwise SystemFailure."""
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            return call(self._client)
        except ResponseHandlingException as error:
            what = str(error.source) or type(error.source).__name__
            raise _PassingFailure(f"{self.place} gave no whole answer: {self._shown(what)}.") from None
        except json.JSONDecodeError:
            raise _PassingFailure(f"{self.place} gave an answer that is not JSON.") from None
        except QdrantException as error:  # a 429; a date to wait for is not read
            wait = str(getattr(error, "retry_after_s", ""))
            raise _PassingFailure(
                f"{self.place} has too much to do: {self._shown(str(error))}.", wait
            ) from None
        except UnexpectedResponse as error:
            status = error.status_code or 0
            said = self._shown(error.content.decode("utf-8", "replace"))
            what = f"{self.place} answers {status}: {said}"
            if is_passing(status):
                raise _PassingFailure(f"{what}.", error.headers.get("Retry-After")) from None
            fix = (
                "Check the key" if status in {401, 403} else "Check the address, and see what the server logs"
            )
            raise SystemFailure(f"{what}. {fix}.") from None

    def insist(self, call: Callable[[QdrantClient], T]) -> T:
        """Sends a request, and repeats it with growing pauses before it fails."""
        attempt = 1
        while True:
            try:
                return self.ask(call)
            except _PassingFailure as error:
                if attempt > self._endpoint.retries:
                    fix = "Check that the server runs, and its address"
                    raise SystemFailure(f"{error} That was attempt {attempt}, the last. {fix}.") from None
                wait = error.retry_after
            attempt += 1
            time.sleep(pause_before(attempt, self._endpoint.backoff, wait))

    @contextmanager
    def exclusive(self, alias: str, kit: Kit) -> Iterator[None]:
        """Holds a lock against other builders of an alias that share the cache folder."""
        locks = kit.cache / "locks"
        with explain_cache_errors(locks):
            locks.mkdir(parents=True, exist_ok=True)
        with hold_lock(locks / storage_name(self.place, alias, longest=120)):
            yield

    def close(self) -> None:
        self._client.close()

    def _shown(self, text: str) -> str:
        return self._endpoint.conceal(text)[:_SHOWN].rstrip(".")


class QdrantFolder:
    """A Qdrant folder. The library allows one client, so all users in this process share the client."""

    local = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = f"Qdrant in {folder}"
        self._turn = threading.RLock()  # held for a request, and for a whole build
        self._users = 0
        self._client: QdrantClient | None = None

    def join(self) -> QdrantFolder:
        """Adds a user of the folder, and opens the folder for the first user."""
        with self._turn:
            if self._client is None:
                self._client = self._opened()
                self._shut = weakref.finalize(self, self._client.close)  # at exit at the latest
            self._users += 1
        return self

    def close(self) -> None:
        """Removes a user of the folder, and closes the folder after the last user."""
        with self._turn:
            self._users -= 1
            if self._users == 0:
                self._shut()
                self._client = None

    def ask(self, call: Callable[[QdrantClient], T]) -> T:
        with self._turn:
            if self._client is None:
                raise UsageError("The index is closed. Open it again.")
            try:
                return call(self._client)
            except (sqlite3.Error, OSError) as error:
                fix = "Free some space, or choose another folder: path=…"
                raise SystemFailure(f"{self.place} cannot be used: {error}. {fix}.") from error

    insist = ask  # a repetition would fail again

    def exclusive(self, alias: str, kit: Kit) -> AbstractContextManager[object]:
        """Holds a lock against other threads. No other process can have the folder open."""
        return self._turn

    def _opened(self) -> QdrantClient:
        from qdrant_client import QdrantClient

        try:
            return QdrantClient(path=str(self.folder), force_disable_check_same_thread=True)
        except RuntimeError as error:
            what = "is in use by another process, and takes one at a time"
            fix = "Use a server (url=…), or run everything in one process (--engine local)"
            raise SystemFailure(f"{self.place} {what}. {fix}.") from error
        except ValueError as error:
            fix = "Delete the folder; what was in it is made again when it is next needed"
            raise SystemFailure(f"{self.place} is damaged: {error}. {fix}.") from error


@cache
def shared_folder(folder: Path) -> QdrantFolder:
    """Returns the only object for a folder in this process."""
    return QdrantFolder(folder)
