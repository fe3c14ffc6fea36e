"""Indexes of 10,000 to 200,000 passages of about 100 tokens: built, kept, opened again, asked.

Everybody works in a process of his own, so that memory is his own too, on the same texts and the same queries
with the same vectors. Peers are given the vectors: embedding costs them nothing here.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from bench import size

SIZES = size.sized((10_000, 50_000, 200_000), (500, 1_000))
WORDS, QUERY_WORDS, QUERIES, DEPTH, K = 100, 8, size.sized(200, 5), 100, 10
BUILD_SECONDS, BUILD_GB, P50_MS, P95_MS = 240.0, 4.0, 60.0, 120.0

RESULTS = size.RESULTS / "retrieval.json"  # what bench.curve draws

Ask = Callable[[str], Sequence[int]]


# ------------------------------------------------------------------------------------------ the work


def vocabulary() -> list[str]:
    """Words that are one token each for the static model, in the order in which its tokenizer learnt them."""
    folder = Path(find_spec("wordllama").origin).parent / "tokenizers"
    learnt = json.loads((folder / "l2_supercat_tokenizer_config.json").read_bytes())["model"]["vocab"]
    words = [token[1:] for token in sorted(learnt, key=learnt.get) if token[:1] == "▁"]
    return [word for word in words if word.isalpha() and word.isascii()]


def texts(n: int) -> list[str]:
    """Passages of words drawn by Zipf's law."""
    words, draw = vocabulary(), random.Random(7)
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    return [" ".join(draw.choices(words, cum_weights=weights, k=WORDS)) for _ in range(n)]


def queries(passages: Sequence[str]) -> list[str]:
    """Some words of a passage, drawn from anywhere in it."""
    draw = random.Random(8)
    return [" ".join(draw.sample(draw.choice(passages).split(), QUERY_WORDS)) for _ in range(QUERIES)]


# ---------------------------------------------------------------------------------------- the parties


def ours(passages: Sequence[str], folder: Path) -> Ask:
    """`hybrid` with the static model, as a study builds it."""
    from assay.core.dataset import Corpus
    from assay.core.protocols import Kit
    from assay.core.records import Passage, Query
    from assay.systems.flat import Hybrid

    corpus = Corpus([Passage(str(number), text) for number, text in enumerate(passages)])
    index = Hybrid(k=K, depth=DEPTH).build(corpus, 0, Kit(cache=folder / "cache"))
    return lambda text: [int(hit.doc_id) for hit in index.answer(Query("q", text), []).hits]


def bm25s_numpy(passages: Sequence[str], folder: Path) -> Ask:
    """bm25s (compiled by numba) and one NumPy matrix product, fused by reciprocal rank."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    words = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    words.index(
        bm25s.tokenize(list(passages), stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    vectors, embed = _vectors(folder)

    def ask(text: str) -> Sequence[int]:
        tokens = bm25s.tokenize([text], stopwords="en", stemmer=stemmer, show_progress=False)
        lexical = words.retrieve(tokens, k=DEPTH, show_progress=False)[0][0]
        similarity = vectors @ embed(text)
        near = np.argpartition(-similarity, DEPTH)[:DEPTH]
        near = near[np.argsort(-similarity[near])]
        return _fused(lexical, near)

    return ask


def faiss_flat(_: Sequence[str], folder: Path) -> Ask:
    """faiss's exhaustive inner product alone: vectors, no words."""
    import faiss

    vectors, embed = _vectors(folder)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda text: index.search(embed(text)[np.newaxis], K)[1][0]


def _vectors(folder: Path) -> tuple[np.ndarray, Callable[[str], np.ndarray]]:
    from assay.core.protocols import Kit
    from assay.retrieval.embed.static import StaticEmbedder

    model = StaticEmbedder().load(Kit())
    return np.load(folder / "vectors.npy"), lambda text: model.embed([text], "query").vectors[0]


def _fused(*rankings: Sequence[int]) -> list[int]:
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, position in enumerate(ranking):
            scores[int(position)] = scores.get(int(position), 0.0) + 1 / (61 + place)
    return sorted(scores, key=lambda position: -scores[position])[:K]


PARTIES: dict[str, Callable[[Sequence[str], Path], Ask]] = {
    "ours": ours,
    "faiss flat": faiss_flat,
}
if not size.SMALL:  # numba compiles for a while
    PARTIES["bm25s + numpy"] = bm25s_numpy


# --------------------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Seen:
    """What one party needed."""

    build_s: float
    p50_ms: float
    p95_ms: float
    gb: float


def measured(party: str, n: int, folder: Path) -> Seen:
    """One party on n passages, in a process of its own."""
    command = [sys.executable, "-m", "bench.retrieval", party, str(n), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Seen(**json.loads(done.stdout.splitlines()[-1]))


def measure(party: str, n: int, folder: Path) -> Seen:
    passages = texts(n)
    asked = queries(passages)
    start = time.perf_counter()
    ask = PARTIES[party](passages, folder)
    build = time.perf_counter() - start
    ask("the first call compiles, where something is compiled")
    took = []
    for text in asked:
        start = time.perf_counter()
        ask(text)
        took.append(1000 * (time.perf_counter() - start))
    return Seen(build, float(np.percentile(took, 50)), float(np.percentile(took, 95)), peak_gb())


def peak_gb() -> float:
    """The most memory this process held; getrusage would count what its parent held too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def prepare(n: int, folder: Path) -> None:
    """The vectors that the peers are given."""
    from assay.core.protocols import Kit
    from assay.retrieval.embed.static import StaticEmbedder

    np.save(folder / "vectors.npy", StaticEmbedder().load(Kit()).embed(texts(n), "passage").vectors)


def sizes() -> dict[int, dict[str, Seen]]:
    """Every party on every size; ours a second time, with what it kept."""
    table: dict[int, dict[str, Seen]] = {}
    for n in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            table[n] = {"ours": measured("ours", n, folder), "ours again": measured("ours", n, folder)}
            prepare(n, folder)
            table[n] |= {party: measured(party, n, folder) for party in PARTIES if party != "ours"}
    return table


def rows() -> list[dict[str, Any]]:
    table = sizes()
    RESULTS.parent.mkdir(exist_ok=True)
    seen = {str(n): {party: vars(one) for party, one in parties.items()} for n, parties in table.items()}
    RESULTS.write_text(json.dumps(seen, indent=1))
    return [row for n, parties in table.items() for row in _rows(n, parties)]


def _rows(n: int, parties: dict[str, Seen]) -> Iterator[dict[str, Any]]:
    """Building and opening for every size; the rest, which has targets, for the largest alone."""
    mine, largest = parties["ours"], n == max(SIZES)
    targets = [
        ("build", lambda seen: seen.build_s, BUILD_SECONDS),
        ("hybrid p50", lambda seen: seen.p50_ms / 1000, P50_MS / 1000),
        ("hybrid p95", lambda seen: seen.p95_ms / 1000, P95_MS / 1000),
    ]
    for what, value_of, target in targets if largest else targets[:1]:
        for peer in ("bm25s + numpy", "faiss flat"):
            if peer not in parties:
                continue
            ours_s, peer_s = value_of(mine), value_of(parties[peer])
            yield {
                "what": f"{n:,} passages: {what}",
                "ours_s": ours_s,
                "peer": peer,
                "peer_s": peer_s,
                "ratio": peer_s / ours_s,
                "target": f"< {target:g} s" if largest else None,
                "met": ours_s < target if largest else None,
            }
    alone: dict[str, Any] = {"peer": "", "peer_s": None, "ratio": None, "target": None, "met": None}
    yield {"what": f"{n:,} passages: open what was kept", "ours_s": parties["ours again"].build_s, **alone}
    if largest:
        limit = {"target": f"< {BUILD_GB:g} GB", "met": mine.gb < BUILD_GB}
        yield {"what": f"{n:,} passages: {mine.gb:.1f} GB in all", "ours_s": None, **alone, **limit}


if __name__ == "__main__":
    party, count, place = sys.argv[1:]
    print(json.dumps(vars(measure(party, int(count), Path(place)))))
