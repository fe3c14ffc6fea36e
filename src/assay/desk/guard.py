"""Checks every request before a route gets it, and answers the requests that the desk refuses.

`Guard` checks the host name, the page that a request comes from, and the session. `BodyLimit` limits the size
of a body and the time to send it. Every refusal is an `ErrorMessage`, with the same headers as other answers.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.core.errors import DataError
from assay.desk.access import Access, LoginRefused, TooManyLogins
from assay.review.work import Conflict, ErrorMessage, MarkView, NotFound, RuleViolation

VISITOR = "assay.visitor"  # the key under which a request carries its visitor
LOGIN = ("POST", "/api/session")  # the only request of the API that needs no session
WHO = ("GET", "/api/session")  # with this request a page learns which session its browser has now
READING = frozenset({"GET", "HEAD", "OPTIONS"})
LARGEST = 256 * 1024  # bytes of a body
PATIENCE = 20.0  # seconds for a whole body
LONGEST, MOST = 300, 20  # the most characters of a problem, and the most problems
SECURITY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


class Guard:
    """Middleware that refuses requests before their body is read.

    It also adds the security headers to every answer.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refuse(Request(scope))
        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        """Returns the answer that refuses a request; None if the request may go on.

        A request that may go on carries its visitor.
        """
        host = request.headers.get("host", "")
        if not self._access.knows_host(host):
            what = "The desk is not served under this name. Open the link as it was given."
            return error_response(403, what)
        path, method = request.scope["path"], request.method
        if {"content-length", "transfer-encoding"} <= set(request.headers):
            # A proxy may see the end at another byte than the desk. Then the next request would be cut.
            close = {"connection": "close"}
            return error_response(400, "The request says in two ways how long it is.", headers=close)
        if not path.startswith("/api/"):
            return None
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        if not self._access.is_own_page(host, origin, site):
            return error_response(403, "This request comes from a page of another site.")
        if (method, path) == LOGIN:
            return None
        visitor = self._access.visitor(request.cookies.get(self._access.cookie))
        if visitor is None:
            return error_response(401, "Nobody is logged in here. Open your link, or log in.")
        sent = request.headers.get("x-csrf")
        # Reading needs no token, but a token that is sent has to be the right one: otherwise a page that one
        # rater left open shows what belongs to the rater who logged in after.
        needed = method not in READING or (sent is not None and (method, path) != WHO)
        if needed and not hmac.compare_digest((sent or "").encode("utf-8", "replace"), visitor.csrf.encode()):
            return error_response(403, "The request lacks the header X-CSRF of this session.")
        request.scope[VISITOR] = visitor
        return None


class BodyLimit:
    """Middleware that reads the whole body before the routes do.

    It refuses a body that is too large or too slow.
    """

    def __init__(self, app: ASGIApp, most: int = LARGEST, patience: float = PATIENCE) -> None:
        self._app, self._most, self._patience = app, most, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal, body = None, b""
        try:
            async with asyncio.timeout(self._patience):
                body = await self._read(scope, receive)
        except TimeoutError:
            refusal = 408, "The request took too long to arrive."
        except OverflowError:
            refusal = 413, f"That is more than the {self._most // 1024} kB that the desk takes at once."
        except ClientDisconnect:
            return  # half a request has no meaning, and nobody would read an answer
        if refusal is not None:
            # The rest of the body is still on its way: this connection cannot be used again.
            response = error_response(*refusal, headers={"connection": "close"})
            await response(scope, receive, send)
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, receive_again, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        """Returns the whole body.

        Raises OverflowError if it is too large, ClientDisconnect if the client is gone.
        """
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not (length.isdigit() and len(length) < 20) or int(length) > self._most:
            raise OverflowError
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self._most:
                raise OverflowError
            more = message.get("more_body", False)
        return body


# ------------------------------------------------------------------------------------ refusals


def error_response(
    status: int,
    what: str,
    problems: Sequence[str] = (),
    current: MarkView | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Returns the answer that refuses a request."""
    shown = [_encodable(each)[:LONGEST] for each in problems[:MOST]]
    body = ErrorMessage(what=_encodable(what)[:LONGEST], problems=shown, current=current).model_dump_json()
    return Response(body, status, {**SECURITY, **(headers or {})}, "application/json")


def _encodable(text: str) -> str:
    """Returns a text that can be sent: a lone surrogate is written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def add_error_handlers(app: FastAPI) -> None:
    """Makes an app answer every error with an `ErrorMessage`."""
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)


def _too_many_logins(_: Request, error: TooManyLogins) -> Response:
    what = f"Too many attempts to log in. Wait {error.seconds} seconds."
    return error_response(429, what, headers={"retry-after": str(error.seconds)})


def _unreadable(_: Request, error: RequestValidationError) -> Response:
    places = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
    problems = [f"{place}: {what}" if place else what for place, what in places]
    return error_response(400, "The desk cannot read this request.", problems)


def _http_error(_: Request, error: HTTPException) -> Response:
    words = {404: "There is no such page.", 405: "That cannot be done here."}
    what = words.get(error.status_code, error.detail)
    return error_response(error.status_code, what, headers=error.headers)


_HANDLERS: dict[type[Exception], Callable[[Request, Any], Response]] = {
    NotFound: lambda _, error: error_response(404, str(error) or "There is no such thing."),
    Conflict: lambda _, error: error_response(409, error.what, current=error.current),
    RuleViolation: lambda _, error: error_response(422, "A rule of this pass forbids that.", error.problems),
    LoginRefused: lambda *_: error_response(
        401, "This login is not valid: it is wrong, was used before, or is over."
    ),
    TooManyLogins: _too_many_logins,
    RequestValidationError: _unreadable,
    HTTPException: _http_error,
    DataError: lambda _, error: error_response(503, "It could not be saved.", [str(error)]),
    Exception: lambda *_: error_response(
        500, "The desk failed. The reason is in the terminal in which it was started."
    ),
}
