"""How much a visitor may ask of the desk: the size of a body, the time to send it, attempts to log in."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.desk.answers import error_response

LARGEST = 256 * 1024  # bytes of a body
PATIENCE = 20.0  # seconds for a whole body
ATTEMPTS, WINDOW = 5, 60.0  # failed log-ins, in so many seconds


class LoginAttempts:
    """Counts what failed of late, by whatever it is counted by. Whoever shares it brings a lock."""

    def __init__(self, clock: Callable[[], float], most: int = ATTEMPTS, window: float = WINDOW) -> None:
        self._clock, self._most, self._window = clock, most, window
        self._failed: dict[str, deque[float]] = {}

    def wait(self, keys: Iterable[str]) -> int:
        """The seconds until another attempt is heard; 0: now."""
        now = self._clock()
        self._forget(now)
        counted = [self._failed[key] for key in keys if key in self._failed]
        full = [times[0] for times in counted if len(times) == self._most]
        return math.ceil(max(full) + self._window - now) if full else 0

    def failed(self, keys: Iterable[str]) -> None:
        """One more attempt went wrong."""
        for key in keys:
            self._failed.setdefault(key, deque(maxlen=self._most)).append(self._clock())

    def _forget(self, now: float) -> None:
        for key, times in list(self._failed.items()):
            # What lies ahead of a clock that was put back would shut everybody out until then.
            late = [each for each in times if now - self._window < each <= now]
            if late:
                self._failed[key] = deque(late, maxlen=self._most)
            else:
                del self._failed[key]


class _Gone(Exception):
    """Whoever sent a request left before it was whole: half of it means nothing, and nobody would hear."""


class BodyLimit:
    """Reads a body whole before anything else sees it; stops where it is too large or too slow."""

    def __init__(self, app: ASGIApp, most: int = LARGEST, patience: float = PATIENCE) -> None:
        self._app, self._most, self._patience = app, most, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared(scope) > self._most:
            await self._refuse(413, scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._patience):
                body = await self._read(receive)
        except TimeoutError:
            await self._refuse(408, scope, receive, send)
            return
        except _Gone:
            return
        if body is None:
            await self._refuse(413, scope, receive, send)
            return
        await self._app(scope, _again(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The body; None where it is too large."""
        parts, size = list[bytes](), 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise _Gone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._most:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)

    async def _refuse(self, status: int, scope: Scope, receive: Receive, send: Send) -> None:
        what = {
            413: f"That is more than the {self._most // 1024} kB that the desk takes at once.",
            408: "The request took too long to arrive.",
        }[status]
        # The rest of the body is still on its way: this connection cannot be used again.
        await error_response(status, what, headers={"connection": "close"})(scope, receive, send)


def _declared(scope: Scope) -> int:
    value = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(value) if value.isdigit() and len(value) < 20 else LARGEST + 1


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read before, and then whatever else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def once_more() -> Message:
        return waiting.pop() if waiting else await receive()

    return once_more
