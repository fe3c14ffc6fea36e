"""The sample's search service: hybrid search over two small books, a boundary route, an off-topic answer.

    GET /api/v1/search?q=…&lang=en&k=10
    {"results": [{"id", "text", "score", "book", "chapter"}, …], "practice_bridge": false,
     "safety_interstitial": false, "off_topic": false}

Questions about how a practice is done go to a teacher: `practice_bridge` is true, and instructions never come
back. What has nothing to do with the books gets no results. Words of someone in danger set
`safety_interstitial`. All three are decided by routes.json: in English by the examples that are nearest in
meaning, in other languages, for which no model comes with the program, by cues.

`--without` leaves a part out, to see what it is good for, and whether the study notices.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from assay.core.dataset import Corpus
from assay.core.errors import AssayError
from assay.core.parts import Embedder, Ranking
from assay.core.protocols import Kit
from assay.core.records import Document, Passage
from assay.retrieval.chunk import TokenWindows
from assay.retrieval.embed.onnx import MiniLM
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.embedding import EmbeddingCache
from assay.retrieval.fuse import WeightedFusion
from assay.retrieval.lexical import Analysis, Language
from assay.retrieval.vectors.exact import ExactStore
from assay.systems.answering import Meter
from assay.systems.retrievers import FusedRetriever, Retriever, VectorRetriever, WordRetriever

HERE = Path(__file__).parent
TECHNIQUE = "the-still-oar"  # the book of instructions, which search never shows
WORDS: dict[str, Language] = {"en": "english", "es": "spanish", "hi": "any"}
PARTS = ("words", "vectors", "boundary", "off_topic", "interstitial", "order")
DEPTH = 50
WEIGHTS = {"words": 0.2, "vectors": 0.8}
NEIGHBOURS = 2  # examples of each way that are compared


class ByExamples:
    """Sends a query the way whose examples are nearest to it: search, practice, off_topic or danger."""

    def __init__(self, examples: dict[str, list[str]], embedding: EmbeddingCache) -> None:
        self._embedding = embedding
        self._ways = {way: embedding.passages(texts) for way, texts in examples.items()}

    def way(self, query: str) -> str:
        vector = self._embedding.query(query)[0].vector
        near = {way: np.sort(vectors @ vector)[-NEIGHBOURS:].mean() for way, vectors in self._ways.items()}
        return max(near, key=lambda way: float(near[way]))


@dataclass(frozen=True)
class ByCues:
    """Sends a query the first way one of whose cues it holds, and to search where it holds none."""

    cues: dict[str, list[str]]

    def way(self, query: str) -> str:
        plain = query.casefold()
        return next((way for way, cues in self.cues.items() if any(cue in plain for cue in cues)), "search")


class Search:
    """One language: its passages, how they are ranked, and the router."""

    def __init__(self, language: str, without: Sequence[str], kit: Kit) -> None:
        self.without = frozenset(without)
        corpus = Corpus(TokenWindows(size=200, overlap=40).cut(list(documents(language)), kit))
        model = _model(language, kit)
        self._corpus = corpus
        words = WordRetriever.build(corpus, Analysis(WORDS[language]), DEPTH, kit)
        self._vectors = VectorRetriever.build(corpus, model, ExactStore(), DEPTH, kit)
        both: dict[str, Retriever] = {"words": words, "vectors": self._vectors}
        parts = [(name, part) for name, part in both.items() if name not in self.without]
        self._retriever = FusedRetriever(
            [part for _, part in parts], WeightedFusion(tuple(WEIGHTS[name] for name, _ in parts))
        )
        routes = json.loads((HERE / "routes.json").read_text(encoding="utf-8"))
        by_examples = language in routes["examples"]
        self._router = (
            ByExamples(routes["examples"][language], EmbeddingCache(model, kit))
            if by_examples
            else ByCues(routes["cues"][language])
        )

    def answer(self, query: str, k: int) -> dict[str, object]:
        way = self._router.way(query)
        bridge = way == "practice" and "boundary" not in self.without
        silent = way == "off_topic" and "off_topic" not in self.without
        found = [] if bridge or silent else list(self._results(query, k))
        return {
            "results": found[::-1] if "order" in self.without else found,
            "practice_bridge": bridge,
            "safety_interstitial": way == "danger" and "interstitial" not in self.without,
            "off_topic": silent,
        }

    def _results(self, query: str, k: int) -> Iterator[dict[str, object]]:
        ranking = self._retriever.rank(query, Meter())
        near = self._vectors.rank(query, Meter())
        # by rank in the order of results, by likeness in size: what is like nothing scores low throughout
        most = float(near.scores.max(initial=0.0)) / float(ranking.scores.max(initial=1.0))
        for place, score in list(self._shown(ranking))[:k]:
            passage = self._corpus.passages[place]
            about = passage.metadata
            yield {
                "id": passage.doc_id,
                "text": passage.text,
                "score": round(score * most, 6),
                "book": about["book"],
                "chapter": about["chapter"],
            }

    def _shown(self, ranking: Ranking) -> Iterator[tuple[int, float]]:
        for place, score in zip(ranking.positions.tolist(), ranking.scores.tolist(), strict=True):
            if not _instructs(self._corpus.passages[place]) or "boundary" in self.without:
                yield place, score


def documents(language: str) -> Iterator[Document]:
    """The chapters of both books in one language."""
    for path in sorted((HERE / "corpus" / language).glob("*/*.md")):
        text = path.read_text(encoding="utf-8")
        chapter = re.match(r"\d+", path.name)
        about = {"book": path.parent.name, "chapter": int(chapter[0]) if chapter else 0}
        yield Document(f"{language}/{path.parent.name}/{path.stem}", text, metadata=about)


def _instructs(passage: Passage) -> bool:
    return bool(passage.metadata["book"] == TECHNIQUE)


def _model(language: str, kit: Kit) -> Embedder:
    """MiniLM knows English only; the static model, which knows some of every script, serves the others."""
    if language != "en":
        return StaticEmbedder()
    try:
        MiniLM().load(kit)
    except AssayError as error:
        print(f"MiniLM cannot be loaded, so the static model serves: {error}", flush=True)
        return StaticEmbedder()
    return MiniLM()


class Service(ThreadingHTTPServer):
    """The service, with every language's index built before the first request."""

    request_queue_size = 128

    def __init__(self, port: int, without: Sequence[str] = ()) -> None:
        kit = Kit()
        self._indexes = {language: Search(language, without, kit) for language in WORDS}
        super().__init__(("127.0.0.1", port), _Asked)

    def reply(self, target: str) -> tuple[int, dict[str, object]]:
        """Status and body for the target of a GET."""
        parts = urlsplit(target)
        given = dict(parse_qsl(parts.query))
        if parts.path == "/health":
            return 200, {"status": "ok"}
        if parts.path != "/api/v1/search":
            return 404, {"detail": "Not Found"}
        if "q" not in given or not given.get("k", "10").isdecimal():
            return 422, {"detail": "q is the query, k a whole number"}
        index = self._indexes.get(given.get("lang", "en"), self._indexes["en"])
        return 200, index.answer(given["q"], int(given.get("k", "10")))


class _Asked(BaseHTTPRequestHandler):
    """One connection, kept open from request to request."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body go out together
    server: Service

    def do_GET(self) -> None:
        status, answer = self.server.reply(self.path)
        body = json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing of single requests."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the sample's search on this machine.")
    parser.add_argument("--port", type=int, default=8642)
    parser.add_argument("--without", nargs="*", default=(), choices=PARTS, help="parts to leave out")
    given = parser.parse_args()
    Service(given.port, given.without).serve_forever()


if __name__ == "__main__":
    main()
