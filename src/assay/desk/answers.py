"""How the desk says no: every refusal is a `ErrorMessage`, with the same headers as everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from assay.review.messages import ErrorMessage, MarkView

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
LONGEST, MOST = 300, 20  # characters of a problem; problems


def error_response(
    status: int,
    what: str,
    problems: Sequence[str] = (),
    current: MarkView | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A refusal."""
    told = [encodable(each)[:LONGEST] for each in problems[:MOST]]
    body = ErrorMessage(what=encodable(what)[:LONGEST], problems=told, current=current).model_dump_json()
    return Response(body, status, {**SECURITY, **(headers or {})}, "application/json")


def encodable(text: str) -> str:
    """A text that can be sent: half a character is written out."""
    return text.encode("utf-8", "backslashreplace").decode()
