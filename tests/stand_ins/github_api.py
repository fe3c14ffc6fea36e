"""A stand-in for GitHub's REST API: the comments of pull requests, on a real HTTP server on this machine.

    with GitHubStandIn("t") as server:
        …, env={"GITHUB_API_URL": server.url, "GITHUB_TOKEN": "t"}

It checks who asks, pages as GitHub does, refuses what GitHub refuses, and fails by plan.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

MOST = 65_536  # characters of a comment
BOT = {"login": "github-actions[bot]", "type": "Bot"}


class Reply(NamedTuple):
    """What is sent back."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = MappingProxyType({})


class GitHubStandIn(ThreadingHTTPServer):
    """Serves on a free port of this machine while it is entered.

    `comments` are those of all pull requests, by their paths; `asked` is every request; `plan` holds answers
    that are given before any other; `writable` says what the token may do, as it may not for forks.
    """

    def __init__(self, token: str, *, writable: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), _Calls)
        self.token, self.writable = token, writable
        self.comments: dict[str, list[dict[str, Any]]] = {}
        self.foreign: set[int] = set()  # comments that the token may not edit
        self.asked: list[tuple[str, str]] = []
        self.plan: list[Reply] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def add(self, place: str, body: str, user: dict[str, str] | None = None, **more: Any) -> int:
        """A comment as somebody wrote it; its id."""
        number = 1 + sum(map(len, self.comments.values()))
        address = f"https://github.example/{place}#issuecomment-{number}"
        row = {"id": number, "body": body, "user": user or BOT, "author_association": "NONE"}
        self.comments.setdefault(place, []).append({**row, "html_url": address, **more})
        return number

    def reply(self, method: str, path: str, payload: Any, given: str | None) -> Reply:
        self.asked.append((method, path))
        if self.plan:
            return self.plan.pop(0)
        if given != f"Bearer {self.token}":
            return Reply(401, {"message": "Bad credentials"})
        parts = urlsplit(path)
        if method == "GET":
            query = parse_qs(parts.query)
            return self._page(parts.path, {name: int(values[0]) for name, values in query.items()})
        if not self.writable:
            return Reply(403, {"message": "Resource not accessible by integration"})
        if len(payload["body"]) > MOST:
            return Reply(422, {"message": f"Body is too long (maximum is {MOST} characters)"})
        return self._write(method, parts.path, payload["body"])

    def _page(self, path: str, asked: dict[str, int]) -> Reply:
        rows, size, page = self.comments.get(path, []), asked.get("per_page", 30), asked.get("page", 1)
        more = len(rows) > page * size
        link = {"Link": f'<{self.url}{path}?per_page={size}&page={page + 1}>; rel="next"'} if more else {}
        return Reply(200, rows[(page - 1) * size : page * size], link)

    def _write(self, method: str, path: str, body: str) -> Reply:
        if method == "POST" and re.fullmatch(r"/repos/[\w.-]+/[\w.-]+/issues/\d+/comments", path):
            self.add(path, body)
            return Reply(201, self.comments[path][-1])
        number = int(path.rpartition("/")[2])
        if number in self.foreign:
            return Reply(403, {"message": "Must have admin rights to Repository."})
        for rows in self.comments.values():
            for row in rows:
                if method == "PATCH" and row["id"] == number:
                    row["body"] = body
                    return Reply(200, row)
        return Reply(404, {"message": "Not Found"})


class _Calls(BaseHTTPRequestHandler):
    server: GitHubStandIn
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PATCH(self) -> None:
        self._answer("PATCH")

    def _answer(self, method: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        payload = json.loads(self.rfile.read(length)) if length else None
        given = self.headers.get("Authorization")
        status, body, headers = self.server.reply(method, self.path, payload, given)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
