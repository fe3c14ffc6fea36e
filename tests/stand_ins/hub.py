"""A stand-in for the Hugging Face hub: the few calls that fetch one model, over the files of a folder.

    with Hub(folder, "owner/model") as server:
        subprocess.run(…, env={"HF_ENDPOINT": server.url, "HF_HOME": …})

The hub's library reads its settings when it is imported, so those who ask need a process of their own.
"""

from __future__ import annotations

import json
import threading
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


class Hub(ThreadingHTTPServer):
    """Serves on a free port of this machine while it is entered.

    `asked` are all paths that somebody asked for, `fetched` the files that were read.
    """

    commit = "c" * 40

    def __init__(self, folder: Path, model: str) -> None:
        super().__init__(("127.0.0.1", 0), _Calls)
        self.files = {
            file.relative_to(folder).as_posix(): file.read_bytes()
            for file in folder.rglob("*")
            if file.is_file()
        }
        self.model = model
        self.asked: list[str] = []
        self.fetched: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Calls(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path, hub = self.path.partition("?")[0], self.server
        hub.asked.append(path)
        about = f"/api/models/{hub.model}"
        if path.startswith(f"/{hub.model}/resolve/"):
            self._file(path.split("/resolve/")[1].partition("/")[2])
        elif path.startswith(f"{about}/tree/"):
            rows = [
                {"type": "file", "path": name, "size": len(body), "oid": _hash(body)}
                for name, body in hub.files.items()
            ]
            self._send(200, json.dumps(rows).encode())
        elif path == about or path.startswith(f"{about}/revision/"):
            self._send(200, json.dumps({"id": hub.model, "sha": hub.commit, "siblings": []}).encode())
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def _file(self, name: str) -> None:
        if (body := self.server.files.get(name)) is None:
            self._send(404, b"{}", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": self.server.commit})
            return
        if self.command == "GET":
            self.server.fetched.append(name)
        self._send(200, body, {"ETag": f'"{_hash(body)}"', "X-Repo-Commit": self.server.commit})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as its base has it
        pass


def _hash(body: bytes) -> str:
    return sha1(body, usedforsecurity=False).hexdigest()
