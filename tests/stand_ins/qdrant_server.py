"""A stand-in for a Qdrant server: its REST protocol over HTTP, answered by the client's own local mode.

    with QdrantStandIn(faults=Faults("500", every=3)) as server:
        Qdrant(url=server.url, backoff=0)

It knows the calls that a vector store makes: collections, aliases, payload indexes, points, queries.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models

from stand_ins.openai_server import Faults


class QdrantStandIn:
    """An HTTP server between `with` and the end of it. `calls` holds all requests, also those that failed."""

    def __init__(self, faults: Faults | None = None, key: str | None = None) -> None:
        self.faults, self.key = faults or Faults(), key
        self.calls: list[str] = []
        self.limits: list[int] = []  # how many points each query asked for
        self.exact: list[bool] = []  # whether it asked for an exact search
        self.client = QdrantClient(":memory:", force_disable_check_same_thread=True)
        self.turn = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.stand_in = self  # type: ignore[attr-defined]
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def made(self) -> list[str]:
        """The requests that made a collection."""
        return [call for call in self.calls if re.fullmatch(r"PUT /collections/[^/]+", call)]

    @property
    def collections(self) -> list[str]:
        return sorted(each.name for each in self.client.get_collections().collections)

    def __enter__(self) -> QdrantStandIn:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.client.close()

    def answer(self, method: str, path: str, payload: Any) -> tuple[int, Any]:
        """Status and result of a request."""
        for pattern, does in _ROUTES.items():
            if found := re.fullmatch(pattern, f"{method} {path}"):
                try:
                    return 200, does(self, *found.groups(), payload)
                except ValueError as error:  # what local mode raises for what a server refuses
                    return 404 if "not found" in str(error) else 400, str(error)
        return 404, f"there is no {method} {path}"

    def create(self, name: str, payload: Any) -> bool:
        return self.client.create_collection(name, models.VectorParams(**payload["vectors"]))

    def aliases(self, payload: Any) -> bool:
        operations = TypeAdapter(list[models.AliasOperations]).validate_python(payload["actions"])
        return self.client.update_collection_aliases(operations)

    def upsert(self, name: str, payload: Any) -> Any:
        points = [models.PointStruct(**point) for point in payload["points"]]
        return self.client.upsert(name, points)

    def query(self, name: str, payload: Any) -> Any:
        answers = []
        for each in payload["searches"]:
            request = models.QueryRequest(**each)
            self.limits.append(request.limit or 10)
            self.exact.append(bool(request.params and request.params.exact))
            answers.append(
                self.client.query_points(
                    name, request.query, query_filter=request.filter, limit=request.limit, with_payload=False
                )
            )
        return answers


_ROUTES: dict[str, Callable[..., Any]] = {
    r"GET /collections": lambda own, _: own.client.get_collections(),
    r"GET /aliases": lambda own, _: own.client.get_aliases(),
    r"POST /collections/aliases": QdrantStandIn.aliases,
    r"GET /collections/([^/]+)/exists": lambda own, name, _: {"exists": own.client.collection_exists(name)},
    r"GET /collections/([^/]+)": lambda own, name, _: own.client.get_collection(name),
    r"PUT /collections/([^/]+)": QdrantStandIn.create,
    r"DELETE /collections/([^/]+)": lambda own, name, _: own.client.delete_collection(name),
    r"PUT /collections/([^/]+)/index": lambda *_: {"operation_id": 0, "status": "completed"},
    r"PUT /collections/([^/]+)/points": QdrantStandIn.upsert,
    r"POST /collections/([^/]+)/points/query/batch": QdrantStandIn.query,
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: two would wait for each other

    def log_message(self, *_: object) -> None:
        pass

    def _handle(self) -> None:
        own: QdrantStandIn = self.server.stand_in  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with own.turn:
            own.calls.append(f"{self.command} {self.path}")
            fault = own.faults.of(len(own.calls))
        if fault == "closed":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif fault == "rubbish":
            self._send(200, b"<html>Sign in to the network</html>")
        elif fault is not None:
            wait = {"Retry-After": "1"} if "wait" in fault else {}
            self._send(int(fault[:3]), json.dumps({"status": {"error": "by plan"}}).encode(), wait)
        elif own.key is not None and self.headers.get("api-key") != own.key:
            said = f"Invalid API key {self.headers.get('api-key')}"
            self._send(401, json.dumps({"status": {"error": said}}).encode())
        else:
            with own.turn:
                status, result = own.answer(
                    self.command, self.path.partition("?")[0], json.loads(body or b"null")
                )
            state = "ok" if status == 200 else {"error": result}
            sent = {"time": 0.0, "status": state, "result": TypeAdapter(Any).dump_python(result, mode="json")}
            self._send(status, json.dumps(sent).encode())

    do_GET = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
