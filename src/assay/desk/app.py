"""Defines the desk's HTTP API: its routes and its OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from importlib.resources import files
from mimetypes import guess_type
from typing import Annotated, Any, cast

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from assay.desk.access import SESSION_LIFE, Access, LoginRefused, Visitor
from assay.desk.guard import VISITOR, BodyLimit, Guard, add_error_handlers
from assay.review.work import (
    Credentials,
    DeskWork,
    Draft,
    ErrorMessage,
    LoginSession,
    Message,
    NewPrecedent,
    NotFound,
    PrecedentView,
    SaveReceipt,
    StepView,
    Suggestion,
    Task,
    Undo,
    WorkState,
)

TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


def make_app(work: DeskWork, access: Access) -> FastAPI:
    """Returns the desk as an ASGI application."""
    app = FastAPI(
        title="Review desk", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.work, app.state.access, app.state.pages = work, access, _pages()
    app.state.description = None
    for method, path, handler, model in _ROUTES:
        app.add_api_route(path, _in_one_go(handler, model), methods=[method], response_model=model)
    for path in ("/", "/static/{name}"):
        app.add_api_route(path, page, methods=["GET"], include_in_schema=False)
    app.add_middleware(BodyLimit)
    app.add_middleware(Guard, access=access)  # added last, so it runs first
    add_error_handlers(app)
    return app


def _pages() -> dict[str, tuple[bytes, str]]:
    """Returns every file of the page, by its exact name. No other file can be requested."""
    folder = files("assay.desk") / "static"
    found = (each for each in folder.iterdir() if each.is_file() and not each.name.startswith("."))
    return {each.name: (each.read_bytes(), _type(each.name)) for each in found}


def _type(name: str) -> str:
    suffix = name[name.rfind(".") :]
    return TYPES.get(suffix) or guess_type(name)[0] or "application/octet-stream"


def _in_one_go(handler: Callable[..., Any], model: Any) -> Callable[..., Response]:
    """Returns a route that also serializes its answer in its own thread.

    A change to another thread would have to wait for busy threads.
    """
    written = TypeAdapter(model).dump_json

    @wraps(handler)
    def answering(**given: Any) -> Response:
        found = handler(**given)
        return found if isinstance(found, Response) else _json(written(found))

    return answering


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


# ------------------------------------------------------------------------------------ requests


def _sent(kind: type[Message]) -> Any:
    """Returns a dependency that parses the body as a message, strictly: no value is converted."""

    async def read(request: Request) -> Message:
        said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if said != "application/json":
            raise HTTPException(400, "Send JSON, and say so: Content-Type: application/json.")
        try:
            return kind.model_validate_json(await request.body(), strict=True)
        except ValidationError as error:
            raise RequestValidationError(error.errors(include_url=False, include_input=False)) from None

    return Depends(read)


# As coroutines these lookups need no thread.


async def _work(request: Request) -> DeskWork:
    return cast("DeskWork", request.app.state.work)


def _access(request: Request) -> Access:
    return cast("Access", request.app.state.access)


def _visitor(request: Request) -> Visitor:
    return cast("Visitor", request.scope[VISITOR])


async def _rater(request: Request) -> str:
    return _visitor(request).rater


At = Annotated[DeskWork, Depends(_work)]
By = Annotated[str, Depends(_rater)]


# -------------------------------------------------------------------------------------------- routes
# Plain functions run in threads: a mark that waits for the disk delays nobody else.


async def page(request: Request, name: str = "index.html") -> Response:
    """Returns the page or one of its files. They contain no data."""
    found = request.app.state.pages.get(name)
    if found is None:
        raise NotFound("there is no such file")
    content, kind = found
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})


def enter(request: Request, entry: Annotated[Credentials, _sent(Credentials)], work: At) -> Response:
    """Logs in."""
    access = _access(request)
    cookie = access.enter(entry, request.client.host if request.client else "")
    response = _json(_session(access.visitor(cookie), work).model_dump_json().encode())
    response.set_cookie(access.cookie, cookie, max_age=int(SESSION_LIFE), **_cookie(request))
    return response


def session(request: Request, work: At) -> LoginSession:
    """Returns who is logged in."""
    return _session(_visitor(request), work)


def leave(request: Request) -> Response:
    """Logs out."""
    access = _access(request)
    access.leave(_visitor(request))
    response = Response(status_code=204)
    response.delete_cookie(access.cookie, **_cookie(request))
    return response


def _cookie(request: Request) -> dict[str, Any]:
    """Returns the cookie's attributes. The origin of the request shows whether a proxy uses TLS."""
    tls = request.headers.get("origin", "").lower().startswith("https://")
    return {"path": "/", "httponly": True, "samesite": "strict", "secure": tls}


def _session(visitor: Visitor | None, work: DeskWork) -> LoginSession:
    if visitor is None:  # the rater was removed in the meantime
        raise LoginRefused
    return LoginSession(rater=visitor.rater, csrf=visitor.csrf, title=work.title)


def work_state(work: At, rater: By) -> WorkState:
    """Returns all passes, and how far this rater is."""
    return work.state(rater)


def step_view(step: str, work: At, rater: By) -> StepView:
    """Returns a pass: its form, its rules and its tasks."""
    return work.step(rater, step)


def task_view(step: str, task_id: str, work: At, rater: By) -> Task:
    """Returns a task, as one screen shows it."""
    return work.task(rater, step, task_id)


def save(step: str, task_id: str, draft: Annotated[Draft, _sent(Draft)], work: At, rater: By) -> SaveReceipt:
    """Saves a mark. The mark is on disk when the answer arrives."""
    return work.save(rater, step, task_id, draft)


def take_back(
    step: str, task_id: str, undo: Annotated[Undo, _sent(Undo)], work: At, rater: By
) -> SaveReceipt:
    """Withdraws the current mark and goes back to the mark before it."""
    return work.undo(rater, step, task_id, undo)


def suggestion(step: str, task_id: str, work: At, rater: By) -> Suggestion:
    """Returns the suggestion of a rule or a model."""
    return work.suggestion(rater, step, task_id)


def register(work: At, rater: By) -> list[PrecedentView]:
    """Returns the precedents."""
    return work.register(rater)


def add_case(case: Annotated[NewPrecedent, _sent(NewPrecedent)], work: At, rater: By) -> PrecedentView:
    """Sets a precedent."""
    return work.add_case(rater, case)


def description(request: Request) -> Response:
    """Returns the description of this API."""
    app = request.app
    if app.state.description is None:
        app.state.description = json.dumps(describe_api(app, _access(request).cookie)).encode()
    return _json(app.state.description)


_TASK = "/api/steps/{step}/tasks/{task_id}"
_ROUTES: list[tuple[str, str, Callable[..., Any], Any]] = [
    ("POST", "/api/session", enter, LoginSession),
    ("GET", "/api/session", session, LoginSession),
    ("DELETE", "/api/session", leave, None),
    ("GET", "/api/work", work_state, WorkState),
    ("GET", "/api/steps/{step}", step_view, StepView),
    ("GET", _TASK, task_view, Task),
    ("PUT", f"{_TASK}/mark", save, SaveReceipt),
    ("POST", f"{_TASK}/undo", take_back, SaveReceipt),
    ("GET", f"{_TASK}/suggestion", suggestion, Suggestion),
    ("GET", "/api/register", register, list[PrecedentView]),
    ("POST", "/api/register", add_case, PrecedentView),
    ("GET", "/api/openapi.json", description, None),
]


# ----------------------------------------------------------------------------------------------

BODIES: dict[tuple[str, str], type[Message]] = {
    ("post", "/api/session"): Credentials,
    ("put", "/api/steps/{step}/tasks/{task_id}/mark"): Draft,
    ("post", "/api/steps/{step}/tasks/{task_id}/undo"): Undo,
    ("post", "/api/register"): NewPrecedent,
}
REFUSALS = {
    400: "It cannot be read.",
    401: "Nobody is logged in.",
    403: "It comes from elsewhere, or lacks the header X-CSRF.",
    404: "There is no such step or task.",
    408: "It took too long to arrive.",
    409: "Something else stands there, or the step is not open.",
    413: "It is too large.",
    422: "A rule of the pass forbids it.",
    429: "Too many attempts.",
    503: "The disk refused; nothing was saved.",
}
_REF = "#/components/schemas/{model}"


def describe_api(app: FastAPI, cookie: str) -> dict[str, Any]:
    """Returns the OpenAPI description of the whole API."""
    whole = get_openapi(title=app.title, version="1", routes=app.routes)
    # These bodies are read by the desk itself, strictly, so FastAPI does not know of them.
    models: list[type[Message]] = [*BODIES.values(), ErrorMessage]
    _, found = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    parts = whole.setdefault("components", {})
    parts["schemas"] = {**found["$defs"], **parts.get("schemas", {})}
    for gone in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(gone, None)
    parts["securitySchemes"] = {
        "session": {"type": "apiKey", "in": "cookie", "name": cookie},
        "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF"},
    }
    for path, operations in whole["paths"].items():
        for method, operation in operations.items():
            _complete(operation, method, path)
    return whole


def _complete(operation: dict[str, Any], method: str, path: str) -> None:
    body = BODIES.get((method, path))
    if body is not None:
        shape = {"$ref": _REF.format(model=body.__name__)}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": shape}}}
    if (method, path) != ("post", "/api/session"):
        operation["security"] = [{"session": []} if method == "get" else {"session": [], "csrf": []}]
    if (method, path) == ("delete", "/api/session"):
        operation["responses"] = {"204": {"description": "Logged out."}}
    problem = {"application/json": {"schema": {"$ref": _REF.format(model="ErrorMessage")}}}
    operation["responses"].pop("422", None)
    for status in _refusals(method, path, body is not None):
        operation["responses"][str(status)] = {"description": REFUSALS[status], "content": problem}
    if (method, path) == ("post", "/api/session"):
        wait = {"description": "Seconds to wait.", "schema": {"type": "integer"}, "required": True}
        operation["responses"]["429"]["headers"] = {"Retry-After": wait}


def _refusals(method: str, path: str, body: bool) -> list[int]:
    found = [401, 403, 408, 413]
    if "{step}" in path:
        found += [404, 409]
    if body:
        found += [400]
    if path == "/api/register" and method == "post":
        found += [404, 409]
    if method != "get" or path.endswith("/suggestion"):  # the desk also saves that a rater saw a suggestion
        found += [503]
    if (method, path) == ("post", "/api/session"):
        return [*found, 429]
    return [*found, 422] if body else found
