"""Handles the connections of the desk.

Idle connections are cut, so that a client who holds many of them open cannot lock others out.
"""

from __future__ import annotations

import asyncio
import resource

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.desk.guard import error_response

PATIENCE = 30.0  # seconds between two checks whether a connection makes progress
MOST = 400  # connections at once; the browser of a rater holds only a few


class DeskConnection(H11Protocol):
    """A connection to the desk.

    It is cut after 30 to 60 seconds without a new request. If newer connections need room, it may be cut
    earlier.
    """

    patience, most = PATIENCE, MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._make_room()
        self._check(before=object())  # an object that equals no request, so nothing is cut yet

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _check(self, before: object) -> None:
        """Cuts the connection if no new request has arrived since the last check."""
        now: object = self.cycle  # one object per request; None until a whole head has arrived
        if now is before:
            self.transport.abort()
        self._timer = self.loop.call_later(self.patience, self._check, now)

    def _make_room(self) -> None:
        """Cuts the oldest idle connection if there are too many; if no other is idle, cuts this one."""
        held = [each for each in self.connections if isinstance(each, DeskConnection)]
        held = [each for each in held if not each.transport.is_closing()]
        if len(held) <= room(self.most):
            return
        idle = [each for each in held if each.is_idle and each is not self]
        min(idle, key=lambda each: each._since, default=self).transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answers what is not HTTP with an `ErrorMessage`.

        If an answer was sent already, it only hangs up.
        """
        if self.cycle is not None:
            self.cycle.disconnected = (
                True  # it was in the body of a request, which must not be answered any more
            )
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
        """Finishes the answer to a complete request; cuts a request that has not arrived completely."""
        if self.is_idle or not self.cycle.more_body:
            super().shutdown()
        else:
            self.transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete


def room(most: int) -> int:
    """Returns the most connections at once.

    It is at most half of the file handles, because marks need file handles too.
    """
    handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if handles == resource.RLIM_INFINITY else min(most, handles // 2)
