"""A stand-in for services of embeddings and reranking: a real HTTP server on this machine.

    with OpenAIStandIn(faults=Faults("500", every=10)) as server:
        OpenAI("stand-in", url=server.url, backoff=0)

It speaks OpenAI's `/embeddings`, the `/rerank` of Jina, Cohere and Voyage and that of TEI, writes down what
it was asked, and fails by plan. Texts that share words have vectors that are alike, so that search works.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import socket
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Kind = Literal[
    "429",
    "429 wait",  # with a Retry-After
    "500",
    "rubbish",  # a page of HTML with status 200
    "truncated",  # half of the body, then the connection is closed
    "closed",  # the connection is closed without an answer
    "hang",  # no answer until the client gives up
    "drip",  # an answer that comes a byte at a time, without an end
    "count",  # one vector or score too few
    "dimension",  # all vectors longer than they were
    "nan",  # a vector or score that is no number
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Faults:
    """Which calls fail, and how: every n-th, or a share of them by chance. Several kinds take turns."""

    kinds: Kind | Sequence[Kind] = ()
    every: int = 0
    share: float = 0.0
    seed: int = 0

    def of(self, call: int) -> Kind | None:
        """The fault of a call, counted from 1; the same whenever it is asked."""
        kinds = [self.kinds] if isinstance(self.kinds, str) else list(self.kinds)
        by_turn = self.every > 0 and call % self.every == 0
        chance = random.Random(f"{self.seed} {call}")
        if not kinds or not (by_turn or chance.random() < self.share):
            return None
        return kinds[call // self.every % len(kinds)] if by_turn else chance.choice(kinds)


@dataclass(frozen=True)
class Reply:
    """What is sent back: `body` as it is where it is bytes, as JSON otherwise."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Request:
    """What was asked."""

    path: str
    headers: dict[str, str]
    payload: Any


class StandIn:
    """An HTTP server between `with` and the end of it; what it answers is for `reply` to say."""

    def __init__(self, faults: Faults | None = None, delay: float = 0.0) -> None:
        self.faults = faults or Faults()
        self.delay = delay  # seconds an answer takes
        self.requests: list[Request] = []  # all of them, those that failed too
        self.failed = 0  # how many did, by plan
        self.connections = 0
        self.at_once = 0  # the most requests that were in hand at one time
        self.turn = threading.Lock()
        self.stopping = threading.Event()
        self._in_hand = 0
        self._open: set[socket.socket] = set()
        self._server = _Server(self)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def calls(self) -> int:
        return len(self.requests)

    def reply(self, request: Request, fault: Kind | None) -> Reply:
        """The answer to a request, with "count", "dimension" or "nan" wrong in it where that is the fault."""
        raise NotImplementedError

    def __enter__(self) -> StandIn:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        with self.turn:
            for connection in self._open:
                _shut(connection)

    def connected(self, connection: socket.socket) -> None:
        with self.turn:
            self.connections += 1
            self._open.add(connection)

    def disconnected(self, connection: socket.socket) -> None:
        with self.turn:
            self._open.discard(connection)

    def begin(self, request: Request) -> Kind | None:
        """Writes a request down, and says how it is to fail."""
        with self.turn:
            self.requests.append(request)
            self._in_hand += 1
            self.at_once = max(self.at_once, self._in_hand)
            fault = self.faults.of(len(self.requests))
            self.failed += fault is not None
        self.stopping.wait(self.delay)
        return fault

    def end(self) -> None:
        with self.turn:
            self._in_hand -= 1


class OpenAIStandIn(StandIn):
    """Embeds by words: a text is the sum of its words' vectors, and a token is a word.

    `batch_limit` is how many texts a request may hold (413), `token_limit` how many words a request (400).
    """

    def __init__(
        self,
        faults: Faults | None = None,
        *,
        dimensions: int = 32,
        key: str | None = None,
        batch_limit: int = 2048,
        token_limit: int = 300_000,
        packed: bool = False,  # vectors in base64, whatever was asked for
        rerank_field: str = "results",  # "data" at Voyage
        delay: float = 0.0,
    ) -> None:
        super().__init__(faults, delay)
        self.dimensions, self.key = dimensions, key
        self.batch_limit, self.token_limit = batch_limit, token_limit
        self.packed, self.rerank_field = packed, rerank_field
        self.texts: list[str] = []  # all that were embedded
        self.pairs: list[tuple[str, str]] = []  # all that were scored

    def __enter__(self) -> OpenAIStandIn:
        super().__enter__()
        return self

    def reply(self, request: Request, fault: Kind | None) -> Reply:
        given = request.headers.get("authorization", "")
        if self.key is not None and given != f"Bearer {self.key}":
            return _error(401, f"Incorrect API key provided: {given.removeprefix('Bearer ')}.")
        path = request.path.partition("?")[0]
        if path == "/v1/embeddings":
            return self._embed(request.payload, fault)
        if path == "/v1/rerank":
            return self._rerank(request.payload, fault)
        return _error(404, "There is no such path.")

    def _embed(self, payload: Any, fault: Kind | None) -> Reply:
        texts, length = payload["input"], payload.get("dimensions", self.dimensions)
        words = sum(map(tokens, texts))
        if len(texts) > self.batch_limit:
            return self._too_many(len(texts))
        if words > self.token_limit:
            return _error(400, f"Requested {words} tokens, max {self.token_limit} tokens per request")
        if not all(text.strip() for text in texts):
            return _error(400, "input cannot be an empty string")
        vectors = [vector(text, length + (fault == "dimension")) for text in texts]
        if fault == "nan":
            vectors[-1][0] = np.nan
        rows = [
            {"object": "embedding", "index": index, "embedding": self._written(each, payload)}
            for index, each in enumerate(vectors)
        ]
        if fault is None:
            with self.turn:
                self.texts += texts
        rows = rows[::-1][fault == "count" :]  # in another order than asked
        usage = {"prompt_tokens": words, "total_tokens": words}
        return Reply({"object": "list", "model": payload["model"], "data": rows, "usage": usage})

    def _written(self, one: NDArray[np.float32], payload: Any) -> list[float] | str:
        if self.packed or payload.get("encoding_format") == "base64":
            return base64.b64encode(one.astype("<f4").tobytes()).decode()
        return one.tolist()  # type: ignore[no-any-return]

    def _too_many(self, count: int) -> Reply:
        return _error(413, f"batch size {count} > maximum allowed batch size {self.batch_limit}")

    def _rerank(self, payload: Any, fault: Kind | None) -> Reply:
        query, plain = payload["query"], "texts" in payload
        texts = payload["texts" if plain else "documents"]
        if len(texts) > self.batch_limit:
            return self._too_many(len(texts))
        if not all(text.strip() for text in texts):
            return _error(422, "`texts` cannot hold an empty string")
        scores = [score(query, text) for text in texts]
        if fault == "nan":
            scores[-1] = float("nan")
        name = "score" if plain else "relevance_score"
        results = [{"index": index, name: each} for index, each in enumerate(scores)]
        results.sort(key=lambda each: -each[name])
        results = results[fault == "count" :]
        if fault is None:
            with self.turn:
                self.pairs += [(query, text) for text in texts]
        words = len(texts) * tokens(query) + sum(map(tokens, texts))
        return Reply(results if plain else {self.rerank_field: results, "usage": {"total_tokens": words}})


def tokens(text: str) -> int:
    return len(text.split())


def vector(text: str, dimensions: int = 32) -> NDArray[np.float32]:
    """What the stand-in embeds a text as; its length is not 1."""
    words = [hashlib.sha256(word.encode()).digest()[:8] for word in text.lower().split()]
    each = [np.random.default_rng(int.from_bytes(word)).normal(size=dimensions) for word in words]
    total: NDArray[np.float32] = np.stack(each).sum(axis=0).astype(np.float32)
    return total


def score(query: str, text: str) -> float:
    """The share of the query's words that the text has."""
    asked = set(query.lower().split())
    return len(asked & set(text.lower().split())) / len(asked)


def _error(status: int, message: str) -> Reply:
    return Reply({"error": {"message": message, "type": "invalid_request_error"}}, status)


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was faster


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, stand_in: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stand_in = stand_in

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of clients that went away."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the body waits 40 ms for the head to be acknowledged

    def setup(self) -> None:
        super().setup()
        self.server.stand_in.connected(self.connection)

    def finish(self) -> None:
        self.server.stand_in.disconnected(self.connection)
        super().finish()

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        names = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, names, payload)
        try:
            self._answer(request, self.server.stand_in.begin(request))
        finally:
            self.server.stand_in.end()

    def _answer(self, request: Request, fault: Kind | None) -> None:
        match fault:
            case "429":
                self._send(Reply({"error": "slow down"}, 429))
            case "429 wait":
                self._send(Reply({"error": "slow down"}, 429, {"Retry-After": "0.05"}))
            case "500":
                self._send(Reply({"error": {"message": "something broke"}}, 500))
            case "rubbish":
                self._send(Reply(b"<html><body>Sign in to the network</body></html>"))
            case "truncated":
                self._send(self.server.stand_in.reply(request, fault), whole=False)
            case "closed":
                _shut(self.connection)
                self.close_connection = True
            case "hang":
                self.server.stand_in.stopping.wait(30)
                self.close_connection = True
            case "drip":
                self._drip()
            case _:
                self._send(self.server.stand_in.reply(request, fault))

    def _send(self, reply: Reply, *, whole: bool = True) -> None:
        content = reply.content
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content if whole else content[: len(content) // 2])
        self.close_connection = self.close_connection or not whole

    def _drip(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        until = time.monotonic() + 30
        while time.monotonic() < until and not self.server.stand_in.stopping.wait(0.01):
            self.wfile.write(b" ")
            self.wfile.flush()
