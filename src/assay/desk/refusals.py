"""Every way in which a request can fail, as the one message that says no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.core.errors import DataError
from assay.desk.access import LoginRefused, TooManyLogins
from assay.desk.answers import error_response
from assay.review.work import Conflict, NotFound, RuleViolation


def add_error_handlers(app: FastAPI) -> None:
    """Teaches an app to answer so."""
    for kind, answer in _REFUSALS.items():
        app.add_exception_handler(kind, answer)


def _no_such_thing(_: Request, error: NotFound) -> Response:
    return error_response(404, str(error) or "There is no such thing.")


def _conflict(_: Request, error: Conflict) -> Response:
    return error_response(409, error.what, current=error.current)


def _broken(_: Request, error: RuleViolation) -> Response:
    return error_response(422, "A rule of this pass forbids that.", error.problems)


def _refused(_: Request, __: LoginRefused) -> Response:
    return error_response(401, "This opens nothing: it is wrong, was used before, or is over.")


def _too_many(_: Request, error: TooManyLogins) -> Response:
    what = f"Too many attempts to log in. Wait {error.seconds} seconds."
    return error_response(429, what, headers={"retry-after": str(error.seconds)})


def _malformed(_: Request, error: RequestValidationError) -> Response:
    places = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
    told = [f"{place}: {what}" if place else what for place, what in places]
    return error_response(400, "The desk cannot read this request.", told)


def _by_status(_: Request, error: HTTPException) -> Response:
    words = {404: "There is no such page.", 405: "That cannot be done here."}
    return error_response(
        error.status_code, words.get(error.status_code, error.detail), headers=error.headers
    )


def _unsaved(_: Request, error: DataError) -> Response:
    return error_response(503, "It could not be saved.", [str(error)])


def _failed(_: Request, __: Exception) -> Response:
    return error_response(500, "The desk failed at this. Whoever serves it sees why, where it was started.")


_REFUSALS: dict[type[Exception], Callable[[Request, Any], Response]] = {
    NotFound: _no_such_thing,
    Conflict: _conflict,
    RuleViolation: _broken,
    LoginRefused: _refused,
    TooManyLogins: _too_many,
    RequestValidationError: _malformed,
    HTTPException: _by_status,
    DataError: _unsaved,
    Exception: _failed,
}
