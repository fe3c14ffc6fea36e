"""Connections that have to be used, and speak HTTP: who holds many open without asking shuts nobody out."""

from __future__ import annotations

import asyncio
import resource

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.desk.guard import error_response

PATIENCE = 30.0  # seconds in which a request has to begin and end
MOST = 400  # connections at once; raters' browsers hold a handful each


class DeskConnection(H11Protocol):
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
        held = [each for each in self.connections if isinstance(each, DeskConnection)]
        held = [each for each in held if not each.transport.is_closing()]
        if len(held) <= room(self.most):
            return
        idle = [each for each in held if each.is_idle and each is not self]
        min(idle, key=lambda each: each._since, default=self).transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuses what is not HTTP as the desk refuses everything; hangs up where it has answered already."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # it was the body of a request, which nobody may answer after this
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.abort()
            return
        refusal = error_response(
            400, "The desk cannot read this request.", [msg], headers={"connection": "close"}
        )
        head = h11.Response(status_code=400, headers=refusal.raw_headers, reason=b"Bad Request")
        parts = (head, h11.Data(data=bytes(refusal.body)), h11.EndOfMessage())
        self.transport.write(b"".join(self.conn.send(part) or b"" for part in parts))
        self.transport.close()

    def shutdown(self) -> None:
        """Lets what was asked be answered; what has not arrived whole is cut, for nobody acts on it."""
        if self.is_idle or not self.cycle.more_body:
            super().shutdown()
        else:
            self.transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete


def room(most: int) -> int:
    """How many connections there may be: half of the file handles at most, for marks need some, too."""
    handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if handles == resource.RLIM_INFINITY else min(most, handles // 2)
