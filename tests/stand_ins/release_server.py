"""A stand-in for the places that releases are downloaded from.

    with ReleaseServer({"/data.json": Reply(b"[]")}) as server:
        get(server.url + "/data.json")

A reply can redirect, fail for a while, break off in the middle, or not know ranges.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Reply:
    """What a path answers. `cut` is after how many bytes the first answers break off, `cuts` how many do."""

    body: bytes = b""
    status: int = 200
    location: str = ""
    kind: str = "application/json"
    cut: int = 0
    cuts: int = 1
    ranges: bool = True


class ReleaseServer(ThreadingHTTPServer):
    """Serves on a free port of this machine while it is entered; `asked` are paths with their ranges."""

    def __init__(self, replies: dict[str, Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Calls)
        self.replies = replies
        self.asked: list[tuple[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Calls(BaseHTTPRequestHandler):
    server: ReleaseServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.asked.append((self.path, wanted))
        reply = self.server.replies.get(self.path, Reply(status=404))
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and reply.ranges else 0
        if start and start >= len(reply.body):
            self._send(416, b"", {})
            return
        headers = {"Content-Type": reply.kind}
        if reply.location:
            headers["Location"] = reply.location
        status = reply.status
        if start:
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(reply.body) - 1}/{len(reply.body)}"
        self._send(status, reply.body[start:], headers, self._cut(reply, start))

    def _cut(self, reply: Reply, start: int) -> int | None:
        if not reply.cut or not reply.cuts:
            return None
        reply.cuts -= 1
        return max(reply.cut - start, 1)

    def _send(self, status: int, body: bytes, headers: dict[str, str], cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:cut])
        if cut is not None:
            self.wfile.flush()
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as its base has it
        pass
