"""A stand-in for search APIs: a real HTTP server on this machine that answers by a script.

    with SearchServer(Reply({"results": []}, 429, {"Retry-After": "1"}), found("a", "b")) as server:
        Http(server.url, params={"q": "{query}"})

Each entry of the script is the answer to one request, the last one to all that follow: a reply, or the name
of a way to fail. `WAITING` is the source of a server to be started by a command.
"""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from stand_ins.openai_server import Kind, Reply, Request, StandIn, _Handler

# Says what it does, then serves; its arguments: --port N, and --delay, --die (on the first search), --deaf
# (to being asked to end), --child (starts a process of its own, and prints its id)
WAITING = """
import argparse, http.server, json, os, signal, subprocess, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
parser.add_argument("--delay", type=float, default=0)
for name in ("--die", "--deaf", "--child", "--refuse"):
    parser.add_argument(name, action="store_true")
how = parser.parse_args()
print("starting", os.getpid(), "in", os.getcwd(), flush=True)
open("pids", "a").write(f"{os.getpid()}\\n")
if how.refuse:
    sys.exit("no index at all")
if how.deaf:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if how.child:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open("pids", "a").write(f"{child.pid}\\n")
time.sleep(how.delay)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if how.die and self.path.startswith("/search"):
            print("out of memory", flush=True)
            os._exit(3)
        known = {"/health": 200, "/": 404}
        body = json.dumps({"results": [{"id": "d1", "text": "one", "score": 0.9}]}).encode()
        self.send_response(known.get(self.path, 200))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", how.port), Handler).serve_forever()
"""


def found(*ids: str, **more: Any) -> Reply:
    """An answer with one result an id, the text of each being "text of ID", scores from 0.9 down by 0.1."""
    results = [
        {"id": each, "text": f"text of {each}", "score": round(0.9 - 0.1 * rank, 1)}
        for rank, each in enumerate(ids)
    ]
    return Reply({"results": results, **more})


class SearchServer(StandIn):
    """Answers GET and POST by a script, and writes down what it was asked and when."""

    def __init__(self, *script: Reply | Kind, delay: float = 0.0) -> None:
        super().__init__(delay=delay)
        self.script = list(script) or [found("d1", "d2")]
        self.times: list[float] = []
        self._server.RequestHandlerClass = _Searched

    def __enter__(self) -> SearchServer:
        super().__enter__()
        return self

    @property
    def url(self) -> str:
        return f"{self.origin}/search"

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def params(self) -> list[dict[str, str]]:
        """The parameters of every request."""
        return [dict(parse_qsl(urlsplit(request.path).query)) for request in self.requests]

    def begin(self, request: Request) -> Kind | None:
        with self.turn:
            self.times.append(time.monotonic())
            number = min(len(self.times), len(self.script)) - 1
        super().begin(request)
        step = self.script[number]
        request.headers["step"] = str(number)
        return None if isinstance(step, Reply) else step

    def reply(self, request: Request, fault: Kind | None) -> Reply:
        step = self.script[int(request.headers["step"])]
        return step if isinstance(step, Reply) else found("d1", "d2")


class _Searched(_Handler, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        names = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, names, None)
        try:
            self._answer(request, self.server.stand_in.begin(request))
        finally:
            self.server.stand_in.end()

    def _send(self, reply: Reply, *, whole: bool = True) -> None:
        if reply.headers.get("Transfer-Encoding") != "chunked":
            return super()._send(reply, whole=whole)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        content = reply.content
        for at in range(0, len(content), 100):
            part = content[at : at + 100]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")
        return None
