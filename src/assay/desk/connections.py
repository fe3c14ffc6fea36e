"""Connections that have to be used: who holds many open without asking for anything shuts nobody out."""

from __future__ import annotations

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 30.0  # seconds in which a request has to begin and end
MOST = 400  # connections at once; raters' browsers hold a handful each


class Connection(H11Protocol):
    """One connection. It is cut where nothing new was asked for a while, or where newer ones need room."""

    patience, most = PATIENCE, MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._make_room()
        self._look(object())

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _look(self, before: object) -> None:
        """Cuts the connection where the request under way is the same as the last time, or still none."""
        now: object = self.cycle  # one object a request; None until a whole head has arrived
        if now is before:
            self.transport.abort()
        self._timer = self.loop.call_later(self.patience, self._look, now)

    def _make_room(self) -> None:
        """Cuts the oldest that waits for a request; without it the process runs out of file handles."""
        held = [each for each in self.connections if isinstance(each, Connection)]
        held = [each for each in held if not each.transport.is_closing()]
        if len(held) <= room(self.most):
            return
        idle = [each for each in held if each.is_idle and each is not self]
        min(idle, key=lambda each: each._since, default=self).transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete


def room(most: int) -> int:
    """How many connections there may be: half of the file handles at most, for marks need some, too."""
    handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if handles == resource.RLIM_INFINITY else min(most, handles // 2)
