"""An HTTP endpoint on loopback, one item of which always breaks: a failure, never a miss."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from assay.datasets.dataset import Corpus
from assay.errors import Retryable
from assay.pipeline import Evaluation
from assay.plugins import SYSTEMS
from assay.protocols import Kit
from assay.records import Budget, Hit, Item, Passage, Query, Response
from assay.study import Study

WORDS = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay"]
PASSAGES = [Passage(f"p-{word}", f"all about the {word}") for word in WORDS]
ITEMS = [
    Item(
        f"en-{word}", f"tell me of the {word}", "en", {"category": ["direct"]}, {"relevant": {f"p-{word}": 1}}
    )
    for word in WORDS
]


class Endpoint(BaseHTTPRequestHandler):
    """Finds the passage that shares a word with the query; always breaks on the gnu."""

    calls: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        text = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)["q"][0]
        self.calls.append(text)
        self.send_response(500 if "gnu" in text else 200)
        self.end_headers()
        found = [word for word in WORDS if word in text.split()]
        self.wfile.write(json.dumps([[f"p-{word}", 1.0] for word in found]).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Endpoint.calls.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/search"
    server.shutdown()
    server.server_close()


@dataclass(frozen=True)
class Web:
    """Asks an endpoint; a 5xx may pass."""

    url: str
    version: ClassVar[str] = "1"
    threads: ClassVar[int] = 4

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Web:
        return self

    def session(self) -> Web:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        address = f"{self.url}?{urllib.parse.urlencode({'q': query.text})}"
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                return Response(hits=[Hit(doc_id, score) for doc_id, score in json.load(reply)])
        except urllib.error.HTTPError as error:
            error.close()
            raise Retryable(f"{error.code} from {self.url}") from error


STUDY = """
kind: search
data: folder(path=.)
systems: {{web: {{use: web, url: "{url}"}}}}
measures: [Success@3, RR@10]
by: [category]
run: {{retries: 1, backoff: 0.01}}
gates:
  merge: {{go: ["Success@3(web) >= 80% where category=direct"]}}
  strict: {{go: ["Success@3(web) >= 95%"]}}
"""


def test_a_failing_item_is_a_failure_and_never_a_miss(
    url: str, study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY.format(url=url), ITEMS, PASSAGES, {SYSTEMS: {"web": Web}})
    results = evaluated(study).results

    estimate = next(each for each in results.estimates if each.measure == "Success@3" and not each.where)
    assert (estimate.value, estimate.n_scored, estimate.n_expected) == (1.0, 9, 10)
    assert estimate.counts == {"failed": 1}
    assert len([call for call in Endpoint.calls if "gnu" in call]) == 2  # one retry
    assert (
        next(view for view in results.items if view.item_id == "en-gnu")
        .faults["web"]
        .startswith("Retryable: 500")
    )

    # 9 of 10 at worst and 10 of 10 at best: both pass 80 %, only one passes 95 %
    merge, strict = results.verdicts
    assert (merge.verdict, merge.clauses[0].holds) == ("go", True)
    assert (strict.verdict, strict.clauses[0].holds) == ("inconclusive", None)
    assert "1 failed item" in strict.clauses[0].reason


def test_the_failed_item_is_asked_again_and_nothing_else(
    url: str, study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY.format(url=url), ITEMS, PASSAGES, {SYSTEMS: {"web": Web}})
    evaluated(study)
    Endpoint.calls.clear()
    assert evaluated(study).results.verdict == "inconclusive"
    assert set(Endpoint.calls) == {"tell me of the gnu"}
