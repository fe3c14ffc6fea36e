"""Replies that are small on the wire and huge when unpacked: no client holds more than it may."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assay.core.endpoint import Endpoint
from assay.core.errors import DataError, Retryable
from assay.core.unpacking import OversizedContent, decompress
from assay.datasets.public.transfer import Transfer, unpack

MIB = 1 << 20


def zeros(count: int) -> bytes:
    """So many MiB of zeros, gzipped, without packing each of them."""
    block = bytes(MIB)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    one = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    check = 0
    for _ in range(count):
        check = zlib.crc32(block, check)
    head = gzip.compress(b"")[:10]
    tail = check.to_bytes(4, "little") + (count * MIB % (1 << 32)).to_bytes(4, "little")
    return head + one * count + packer.flush() + tail


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """1 GiB in two layers of gzip: some 3 kB."""
    packed = gzip.compress(zeros(1024))
    assert len(packed) < 10_000
    return packed


class Replying(ThreadingHTTPServer):
    """Answers every request with one body."""

    def __init__(self, body: bytes, encoding: str, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.body, self.encoding, self.status = body, encoding, status
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.accepted: list[str | None] = []

    def __enter__(self) -> Replying:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Replying

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.accepted.append(self.headers.get("Accept-Encoding"))
        self.send_response(self.server.status)
        self.send_header("Content-Encoding", self.server.encoding)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Says nothing."""


CLIENTS = """
import json, re, sys
from pathlib import Path

from assay.retrieval.chat import Chat
from assay.core.dataset import Corpus
from assay.core.endpoint import Endpoint
from assay.core.errors import AssayError
from assay.report.github_actions import PullRequestComments
from assay.core.protocols import Kit
from assay.core.records import Passage, Query
from assay.retrieval.embed.openai import OpenAI
from assay.retrieval.rerankers import RerankEndpoint
from assay.systems.http import Http

url, most = sys.argv[1], int(sys.argv[2])
once = {"retries": 0}
chat = Chat(Endpoint(url, **once))
passages, system = Corpus([Passage("d", "text")]), Http(url=url, params={"q": "{query}"})


def held():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])


asking = {
    "embeddings": lambda: OpenAI("m", url=url, **once).load(Kit()).embed(["a"], "query"),
    "judges": lambda: chat.endpoint.open().post(chat.PATH, {}, lambda said: chat.parse_reply([], said)),
    "reranking": lambda: RerankEndpoint(url, **once).load(None, Kit()).scores("a", ["b"]),
    "systems": lambda: system.build(passages, 0, Kit()).session().answer(Query("q", "a"), []),
    "GitHub": lambda: PullRequestComments(Endpoint(url), "a/b", 1)._ask("GET", "/"),
}
said, before = {}, held()
for name, ask in asking.items():
    try:
        ask()
    except AssayError as error:
        said[name] = str(error)
    assert held() - before < most, f"{name}: {(held() - before) >> 20} MiB"
print(json.dumps(said))
"""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the largest memory is read from /proc")
@pytest.mark.parametrize("status", [200, 400, 500])
def test_no_client_holds_what_a_reply_of_two_layers_becomes(bomb: bytes, status: int) -> None:
    with Replying(bomb, "gzip, gzip", status) as server:
        command = [sys.executable, "-c", CLIENTS, server.url, str(256 * MIB)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert list(said) == ["embeddings", "judges", "reranking", "systems", "GitHub"]
    if status == 200:
        assert all("more than 64 MiB" in each for each in said.values()), said
    assert server.accepted == ["gzip, deflate"] * 5


def bare(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


TEXT = json.dumps({"answer": ["text " * 100] * 400}).encode()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("X-GZIP", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", bare(TEXT)),
        ("gzip, deflate", zlib.compress(gzip.compress(TEXT))),
        ("gzip,gzip , gzip", gzip.compress(gzip.compress(gzip.compress(TEXT)))),
        ("gzip", gzip.compress(TEXT[:70]) + gzip.compress(TEXT[70:])),
        ("gzip", gzip.compress(TEXT) + bytes(40)),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_what_is_packed_as_it_says_is_unpacked(encoding: str, body: bytes, size: int) -> None:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    assert b"".join(decompress(parts, encoding, len(TEXT) + 100)) == TEXT
    with pytest.raises(OversizedContent):
        list(decompress(parts, encoding, len(TEXT) - 1))


def test_nothing_is_nothing_however_it_is_packed() -> None:
    assert list(decompress([], "gzip, deflate", 0)) == []


@pytest.mark.parametrize(
    ("encoding", "body", "why"),
    [
        ("gzip", gzip.compress(TEXT)[:-9], "cut short"),
        ("deflate", zlib.compress(TEXT)[:1], "cut short"),
        ("gzip", TEXT, "cannot be unpacked"),
        ("deflate", b"\xff\xff\xff", "cannot be unpacked"),
        ("br", TEXT, "packed as 'br', which nobody asked for"),
        ("gzip, zstd", TEXT, "packed as 'zstd'"),
        (", ".join(["gzip"] * 6), TEXT, "packed 6 times over"),
    ],
)
def test_what_cannot_be_unpacked_says_why(encoding: str, body: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        list(decompress([body], encoding, 2 * MIB))
    with Replying(body, encoding) as server, pytest.raises(Retryable, match=why):
        Endpoint(server.url, retries=0).open().post("/a", {}, lambda answer: answer)


def test_a_layer_in_between_is_counted_too() -> None:
    """5 MiB of zeros that unpack to nothing, since they are no gzip: they are never all read."""
    read = []

    def parts() -> Iterator[bytes]:
        for part in [gzip.compress(gzip.compress(b"") + bytes(5 * MIB))]:
            read.append(part)
            yield part

    with pytest.raises(OversizedContent):
        list(decompress(parts(), "gzip, gzip", 2 * MIB))


# --------------------------------------------------------------------------------------- downloads


def test_a_download_that_is_packed_unasked_is_bounded_as_the_file_is(bomb: bytes, tmp_path: Path) -> None:
    much = "more than the 3,000,000 bytes"
    with Replying(bomb, "gzip, gzip") as server, pytest.raises(DataError, match=much):
        Transfer().fetch(server.url, tmp_path / "part", 3_000_000, resume=False)
    assert (tmp_path / "part").stat().st_size == 0


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_of_an_archive_is_never_unpacked_at_once(
    packed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    read: Callable[[zipfile.ZipExtFile, int], bytes] = zipfile.ZipExtFile.read

    def reading(self: zipfile.ZipExtFile, n: int) -> bytes:
        asked.append(n)
        return read(self, n)

    with zipfile.ZipFile(tmp_path / "a.zip", "w", packed) as archive:
        archive.writestr("data.json", bytes(3 * MIB))
    monkeypatch.setattr(zipfile.ZipExtFile, "read", reading)
    unpack(tmp_path / "a.zip", "data.json", None, tmp_path / "data.json", "a.zip")
    assert (tmp_path / "data.json").read_bytes() == bytes(3 * MIB)
    # What is asked for is read packed as well, and only deflate is unpacked in pieces.
    assert max(asked) <= (MIB if packed == zipfile.ZIP_DEFLATED else 4096)
