"""The desk's API as OpenAPI describes it: every body, every refusal, and how to log in."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from assay.review.messages import Credentials, Draft, ErrorMessage, Message, NewPrecedent, Undo

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
    """The whole description."""
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
    if method != "get" or path.endswith("/suggestion"):  # that a rater saw one is kept, too
        found += [503]
    if (method, path) == ("post", "/api/session"):
        return [*found, 429]
    return [*found, 422] if body else found
