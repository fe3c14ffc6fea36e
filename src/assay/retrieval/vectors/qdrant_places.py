"""Where a Qdrant is: on a server or in a folder, asked the same way."""

from __future__ import annotations

import json
import math
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay.endpoint import Endpoint
from assay.errors import Retryable, SystemFailure, UsageError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

T = TypeVar("T")

_PASSING = frozenset({408, 425, 429})  # besides every status from 500 on


class Remote:
    """A server. Threads may share it."""

    local = False

    def __init__(self, endpoint: Endpoint) -> None:
        from qdrant_client import QdrantClient

        self.place = f"Qdrant at {endpoint.address}"
        self.turn = nullcontext()  # a server keeps its clients apart by itself
        self._endpoint = endpoint
        self._client = QdrantClient(
            url=endpoint.url,
            timeout=math.ceil(endpoint.timeout),
            headers={"api-key": endpoint.key} if endpoint.key else None,
            prefer_grpc=False,
            check_compatibility=False,  # it asks the server before anybody did
            trust_env=not endpoint.loopback,  # a proxy does not reach this machine
        )

    def ask(self, call: Callable[[QdrantClient], T]) -> T:
        """One request. Retryable where another attempt may pass, SystemFailure where none will."""
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            return call(self._client)
        except ResponseHandlingException as error:
            what = str(error.source) or type(error.source).__name__
            raise Retryable(f"{self.place} gave no whole answer: {self._shown(what)}.") from None
        except json.JSONDecodeError:
            raise Retryable(f"{self.place} gave an answer that is not JSON.") from None
        except QdrantException as error:  # a 429 that says how long to wait
            raise Retryable(f"{self.place} has too much to do: {self._shown(str(error))}.") from None
        except UnexpectedResponse as error:
            status = error.status_code or 0
            said = self._shown(error.content.decode("utf-8", "replace"))
            what = f"{self.place} answers {status}: {said}"
            if status in _PASSING or status >= 500:
                raise Retryable(f"{what}.") from None
            fix = (
                "Check the key" if status in {401, 403} else "Check the address, and see what the server logs"
            )
            raise SystemFailure(f"{what}. {fix}.") from None

    def insist(self, call: Callable[[QdrantClient], T]) -> T:
        """A request that is made again, ever more slowly, before it is given up."""
        for attempt in range(self._endpoint.retries):
            try:
                return self.ask(call)
            except Retryable:
                time.sleep(self._endpoint.backoff * 2.0**attempt)
        try:
            return self.ask(call)
        except Retryable as error:
            times = self._endpoint.retries + 1
            fix = "Check that the server runs, and its address"
            raise SystemFailure(f"{error} That was attempt {times}, the last. {fix}.") from None

    def close(self) -> None:
        self._client.close()

    def _shown(self, text: str) -> str:
        for secret in self._endpoint.secrets:
            text = text.replace(secret, "…")
        return " ".join(text.split())[:200].rstrip(".")


class Local:
    """A folder, which the library lets one client of one process open, so all of a process share it."""

    local = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = f"Qdrant in {folder}"
        self.turn = threading.RLock()  # held for a request, and for a whole build
        self._users = 0
        self._client: QdrantClient | None = None

    def join(self) -> Local:
        """Opens the folder for its first user."""
        with self.turn:
            if self._client is None:
                self._client = self._opened()
                self._shut = weakref.finalize(self, self._client.close)  # at exit, if nobody else does
            self._users += 1
        return self

    def close(self) -> None:
        """Gives the folder back with its last user."""
        with self.turn:
            self._users -= 1
            if self._users == 0:
                self._shut()
                self._client = None

    def ask(self, call: Callable[[QdrantClient], T]) -> T:
        with self.turn:
            if self._client is None:
                raise UsageError("The index is closed. Open it again.")
            try:
                return call(self._client)
            except (sqlite3.Error, OSError) as error:
                fix = "Free some space, or choose another folder: path=…"
                raise SystemFailure(f"{self.place} cannot be used: {error}. {fix}.") from error

    insist = ask  # what a folder refuses, it refuses again

    def _opened(self) -> QdrantClient:
        from qdrant_client import QdrantClient

        try:
            return QdrantClient(path=str(self.folder), force_disable_check_same_thread=True)
        except RuntimeError as error:
            what = "is in use by another process"
            fix = "Wait for it, choose another folder (path=…), or run a server (url=…)"
            raise SystemFailure(f"{self.place} {what}. {fix}.") from error
        except ValueError as error:
            fix = "Delete the folder; what was in it is made again when it is next needed"
            raise SystemFailure(f"{self.place} is damaged: {error}. {fix}.") from error


@cache
def local(folder: Path) -> Local:
    """The one of a folder in this process."""
    return Local(folder)
