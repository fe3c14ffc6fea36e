"""Asking a search API: the system `http` through the runner, beside bare loops of other clients.

The server is a process of its own that answers at once with ten results of 120 words: whatever time there is,
clients take. The peers send the same requests and drop what comes back; ours also reads it, checks it, and
stores it. `own ms` is what one request takes through the runner, one at a time, less what a bare loop of
http.client takes for it: the harness's own.

    python -m bench.search_api
"""

from __future__ import annotations

import http.client
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.size import sized

REQUESTS, THREADS, REPEATS = sized((2_000, 8, 3), (50, 2, 1))
RATE = 500  # requests a second
OWN = 3.0  # milliseconds

SERVER = """
import asyncio, json

results = [{"id": f"d{n}", "text": "word " * 120, "score": 1 / (n + 1)} for n in range(10)]
body = json.dumps({"results": results, "practice_bridge": False}).encode()
head = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n"
answer = head % len(body) + body


class Answering(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.waiting = transport, b""

    def data_received(self, data):
        self.waiting += data
        while b"\\r\\n\\r\\n" in self.waiting:
            self.waiting = self.waiting.partition(b"\\r\\n\\r\\n")[2]
            self.transport.write(answer)


async def main():
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
"""

STUDY = """
data: data
systems:
  server:
    use: http
    url: http://127.0.0.1:{port}/search
    params: {{q: "{{query}}", k: "{{k}}"}}
    route: {{practice_bridge: practice_bridge}}
    threads: {threads}
measures: [nDCG@10]
"""

Ask = Callable[[int], Any]
Part = tuple[float, float]  # seconds by the clock, seconds of processors in this process


@contextmanager
def server() -> Iterator[int]:
    """A server in a process of its own; its port."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


def write_study(folder: Path, port: int, threads: int) -> None:
    (folder / "data").mkdir()
    (folder / "study.yaml").write_text(STUDY.format(port=port, threads=threads))
    items = (
        {"item_id": f"q{n}", "text": f"question {n}", "gold": {"relevant": {"d1": 1}}}
        for n in range(REQUESTS)
    )
    passages = ({"doc_id": f"d{n}", "text": "word " * 120} for n in range(10))
    for name, lines in (("items", items), ("passages", passages)):
        (folder / f"data/{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


# ---------------------------------------------------------------------------------------- the parties


def ours(port: int, threads: int) -> Part:
    """All requests through the runner: planned, asked, read, journalled, sealed."""
    from assay.pipeline.runner import run_study
    from assay.study.study import open_study

    with tempfile.TemporaryDirectory() as name:
        write_study(Path(name), port, threads)
        study = open_study(name)
        start, busy = time.perf_counter(), time.process_time()
        outcome = run_study(study)
        taken = time.perf_counter() - start, time.process_time() - busy
    assert outcome.answered == REQUESTS
    return taken


def by_httpx(port: int) -> Ask:
    import httpx

    client = httpx.Client(trust_env=False, verify=False)  # noqa: S501 - plain HTTP has no certificates to read
    return lambda n: client.get(f"http://127.0.0.1:{port}/search", params=_params(n)).content


def by_requests(port: int) -> Ask:
    import requests

    own = threading.local()

    def ask(n: int) -> bytes:
        if not hasattr(own, "session"):
            own.session = requests.Session()
            own.session.trust_env = False
        body: bytes = own.session.get(f"http://127.0.0.1:{port}/search", params=_params(n)).content
        return body

    return ask


def by_urllib3(port: int) -> Ask:
    import urllib3

    pool = urllib3.HTTPConnectionPool("127.0.0.1", port, maxsize=THREADS)
    return lambda n: pool.urlopen("GET", f"/search?{urlencode(_params(n))}", retries=False).data


def by_http_client(port: int) -> Ask:
    own = threading.local()

    def ask(n: int) -> bytes:
        if not hasattr(own, "connection"):
            own.connection = http.client.HTTPConnection("127.0.0.1", port)
        own.connection.request("GET", f"/search?{urlencode(_params(n))}")
        body: bytes = own.connection.getresponse().read()
        return body

    return ask


def _params(n: int) -> dict[str, str]:
    return {"q": f"question {n}", "k": "10"}


PEERS = {"httpx": by_httpx, "requests": by_requests, "urllib3": by_urllib3, "http.client": by_http_client}


# ------------------------------------------------------------------------------------------ measuring


def bare(make: Callable[[int], Ask], port: int, threads: int) -> Part:
    """All requests in a loop of some threads."""
    ask = make(port)
    ask(0)  # a connection, and whatever is imported
    waiting: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    for n in [*range(REQUESTS), *[None] * threads]:
        waiting.put(n)

    def work() -> None:
        while (n := waiting.get()) is not None:
            ask(n)

    crew = [threading.Thread(target=work) for _ in range(threads)]
    start, busy = time.perf_counter(), time.process_time()
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    return time.perf_counter() - start, time.process_time() - busy


def measured(port: int, threads: int) -> dict[str, Part]:
    """The quickest of some rounds, in each of which everybody has a turn."""
    rounds: dict[str, list[Part]] = {}
    ours(port, threads)  # imports
    for _ in range(REPEATS):
        rounds.setdefault("ours", []).append(ours(port, threads))
        for name, make in PEERS.items():
            rounds.setdefault(name, []).append(bare(make, port, threads))
    return {name: min(seen) for name, seen in rounds.items()}


def rows() -> list[dict[str, Any]]:
    with server() as port:
        together, alone = measured(port, THREADS), measured(port, 1)
    return [*_rate_rows(together), *_own_rows(alone)]


def _rate_rows(seen: dict[str, Part]) -> Iterator[dict[str, Any]]:
    taken, busy = seen["ours"]
    rate = REQUESTS / taken
    about = f"{rate:,.0f} a second, {1000 * busy / REQUESTS:.2f} ms of processor each"
    what = f"{REQUESTS:,} requests, {THREADS} threads ({about})"
    target = {"target": f"≥ {RATE} a second", "met": rate >= RATE}
    for name in PEERS:
        yield _row(what, taken, name, seen[name][0]) | (target if name == "httpx" else {})


def _own_rows(seen: dict[str, Part]) -> Iterator[dict[str, Any]]:
    own = 1000 * (seen["ours"][0] - seen["http.client"][0]) / REQUESTS
    what = f"{REQUESTS:,} requests, one at a time (own: {own:.2f} ms each)"
    target = {"target": f"own < {OWN:g} ms", "met": own < OWN}
    yield _row(what, seen["ours"][0], "http.client", seen["http.client"][0]) | target


def _row(what: str, mine: float, peer: str, theirs: float) -> dict[str, Any]:
    return {
        "what": what,
        "ours_s": mine,
        "peer": f"{peer}, a bare loop",
        "peer_s": theirs,
        "ratio": theirs / mine,
        "target": None,
        "met": None,
    }


if __name__ == "__main__":
    for each in rows():
        met = "" if each["met"] is None else f"{each['target']}: {'met' if each['met'] else 'missed'}"
        print(
            f"{each['what']:80} {each['ours_s']:6.3f} s  {each['peer']:26} {each['peer_s']:6.3f} s"
            f"  {each['ratio']:4.2f}×  {met}"
        )
