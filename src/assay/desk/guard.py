"""What stands before every route: the name it was asked under, the page it comes from, and who asks."""

from __future__ import annotations

import hmac

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.desk.access import Access
from assay.desk.answers import SECURITY, error_response

VISITOR = "assay.visitor"  # where a request carries who asks
ENTRANCE = ("POST", "/api/session")  # all that is open to whoever is not logged in, beside the page itself
WHO = ("GET", "/api/session")  # by which a page learns whose session its browser has now
READING = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Refuses before a body is read, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refused(Request(scope))
        await (self._app if refused is None else refused)(scope, receive, _with_headers(send))

    def _refused(self, request: Request) -> Response | None:
        """Why a request goes no further; also notes who asks."""
        host = request.headers.get("host", "")
        if not self._access.knows_host(host):
            return error_response(
                403, "The desk is not served under this name. Open the link as it was given."
            )
        path, method = request.scope["path"], request.method
        if {"content-length", "transfer-encoding"} <= set(request.headers):
            # A proxy may see another end of it than the desk does, and then the next rater's request is torn.
            close = {"connection": "close"}
            return error_response(400, "The request says in two ways how long it is.", headers=close)
        if not path.startswith("/api/"):
            return None
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        if not self._access.is_own_page(host, origin, site):
            return error_response(403, "This comes from a page that is not the desk's.")
        if (method, path) == ENTRANCE:
            return None
        visitor = self._access.visitor(request.cookies.get(self._access.cookie))
        if visitor is None:
            return error_response(401, "Nobody is logged in here. Open your link, or log in.")
        brought = request.headers.get("x-csrf")
        # A reading that brings one has to bring the right one, too: else a page that one rater left open
        # shows what belongs to whoever logged in after them.
        needed = method not in READING or (brought is not None and (method, path) != WHO)
        if needed and not _same(brought or "", visitor.csrf):
            return error_response(403, "The request lacks what this session's page brings with every change.")
        request.scope[VISITOR] = visitor
        return None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _with_headers(send: Send) -> Send:
    """Adds what an answer does not say for itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
