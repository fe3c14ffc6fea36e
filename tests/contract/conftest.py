"""A tiny corpus, a block of answers over it, results to render, and the fixture that makes a plugin."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import polars as pl
import pytest
from plugins import Address, Server, create
from samples import ITEMS, PASSAGES, TEXTS, write_samples

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit
from assay.core.records import (
    Arm,
    Context,
    Edge,
    Hit,
    Judgment,
    Node,
    Observed,
    Piece,
    Response,
    Step,
    Structure,
)
from assay.core.registry import template_of
from assay.judges.labels import resolve
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.store.journal import Answer, answer_columns, select_by_key
from assay.study.study import open_study
from stand_ins.chat_server import ChatStandIn
from stand_ins.openai_server import OpenAIStandIn, Reply
from stand_ins.search_server import SearchServer
from vector_stores import postgres, qdrant_server

__all__ = ["postgres", "qdrant_server"]

SUMMARY = {
    "theme": "Foxes and markets",
    "includes": ["foxes"],
    "excludes": ["dogs"],
    "key_entities": [],
    "key_terms": ["fox", "market"],
}
FOUND = [
    {"id": doc_id, "text": TEXTS[doc_id], "score": score} for doc_id, score in (("d2", 0.9), ("d1", 0.8))
]


# ------------------------------------------------------------------------------------ plugins


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file in every format that a plugin reads."""
    return write_samples(tmp_path_factory.mktemp("samples") / "root")


@pytest.fixture
def kit(tmp_path: Path, root: Path) -> Kit:
    """A kit whose root holds the samples, with a cache of its own."""
    return Kit(cache=tmp_path / "cache", root=root)


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest) -> Iterator[Address]:
    """The address of a stand-in, which is started when it is first asked for."""
    with ExitStack() as stack:
        addresses: dict[Server, str] = {}

        def start(server: Server) -> str:
            if server is Server.POSTGRES:
                uri: str = request.getfixturevalue("postgres").get_uri()
                return uri
            starts = {
                Server.CHAT: lambda: ChatStandIn(lambda _: "HIGH\nIt says so."),
                Server.SUMMARIES: lambda: ChatStandIn(lambda _: json.dumps(SUMMARY)),
                Server.SEARCH: lambda: SearchServer(Reply({"results": FOUND})),
                Server.EMBEDDINGS: OpenAIStandIn,
            }
            stand_in: Any = stack.enter_context(starts[server]())
            url: str = stand_in.url
            return url

        def known(server: Server) -> str:
            if server not in addresses:
                addresses[server] = start(server)
            return addresses[server]

        yield known


@pytest.fixture
def plugin(request: pytest.FixtureRequest, address: Address, catalogue: None) -> Any:
    """The plugin that a test is about."""
    return create(request.param, address)


class Document(NamedTuple):
    """A document, topic or judgment of the catalogue."""

    doc_id: str
    text: str

    def default_text(self) -> str:
        return self.text


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the catalogue of ir_datasets, which downloads what it is asked for."""
    grades = [(item.item_id, *pair) for item in ITEMS for pair in item.gold.get("relevant", {}).items()]
    tiny = SimpleNamespace(
        has_docs=lambda: True,
        has_queries=lambda: True,
        has_qrels=lambda: True,
        docs_iter=lambda: iter([Document(*pair) for pair in TEXTS.items()]),
        queries_iter=lambda: iter(
            [
                SimpleNamespace(query_id=each.item_id, default_text=lambda each=each: each.text)
                for each in ITEMS
            ]
        ),
        qrels_iter=lambda: iter(
            [SimpleNamespace(query_id=item, doc_id=doc, relevance=grade) for item, doc, grade in grades]
        ),
        qrels_defs=lambda: {1: "relevant"},
    )
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=lambda _: tiny))  # type: ignore[arg-type]


# --------------------------------------------------------------------- a dataset, and answers to it


@pytest.fixture(scope="session")
def dataset() -> Dataset:
    return Dataset("tiny", Corpus(PASSAGES), ITEMS)


@pytest.fixture(scope="session")
def block(dataset: Dataset) -> Block:
    """Answers of every sort: ranked, empty, failed-free, with contexts, trace and route; q5 is pending."""
    seen = Observed(seconds={"total": 0.25, "search": 0.2})
    piece = Context(400, [Piece("d1", TEXTS["d1"])], 9, "words")
    answers = [
        Answer("k1", "q1", Response([Hit("d2", 2.0), Hit("d1", 1.0)], [piece], "near", observed=seen)),
        Answer("k2", "q2", Response([Hit("d1", 1.0)], trace=[Step("route", 1, "d1")], observed=seen)),
        Answer("k3", "q3", Response(observed=seen)),
        Answer("k4", "q4", Response(observed=seen)),
    ]
    judgments = [
        Judgment(item.item_id, "relevance", float(grade), "ids", target=doc_id)
        for item in dataset.items
        for doc_id, grade in item.gold.get("relevant", {}).items()
    ]
    keys = ["k1", "k2", "k3", "k4", "k5"]
    labels = resolve(judgments, ["ids"], {"relevance"})
    stored: pl.DataFrame = select_by_key(answer_columns(answers), keys)
    # what another system answered: q1 the other way round, and nothing else
    other = select_by_key(
        answer_columns([Answer("k1", "q1", Response([Hit("d1", 2.0), Hit("d2", 1.0)]))]), keys
    )
    beside = Block(Arm("other"), 0, dataset.items, other, labels, judgments)
    return Block(Arm("any"), 0, dataset.items, stored, labels, judgments, TREE, beside=beside)


# ------------------------------------------------------------------------------- two whole studies

WALKED = """\
kind: anything
data: {use: real_text, sources: [{use: handbook, path: handbook}]}
systems: {beam: tree, spread: activation_spreading_v1}
budgets: [50, 100, 200, inf]
measures: [A@50, A@100, A@200, A@inf, R@5, eps@L1]
compare: {resamples: 200}
"""


@pytest.fixture(scope="session")
def evaluations(root: Path) -> dict[str, Evaluation]:
    """A study of systems that walk a tree and a graph, and one whose answers people have scored."""
    (root / "study.yaml").write_text(WALKED)
    template = Path(str(template_of("answers")))
    shutil.copytree(template, root / "answers", ignore=shutil.ignore_patterns("run"))
    found = {}
    for name, path in (("walked", root), ("scored", root / "answers/scored")):
        study = open_study(path)
        run_study(study)
        found[name] = Evaluation(study)
    return found


# A root with two leaves, of two passages each.
TREE = Structure(
    [
        Node("root", 0),
        Node("left", 1),
        Node("right", 1),
        *(Node(f"passage:{doc_id}", doc_id=doc_id) for doc_id in TEXTS),
    ],
    [
        Edge("root", "left"),
        Edge("root", "right"),
        *(Edge("left" if doc_id in {"d1", "d2"} else "right", f"passage:{doc_id}") for doc_id in TEXTS),
    ],
)
