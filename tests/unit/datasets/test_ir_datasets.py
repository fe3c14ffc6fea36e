"""Datasets of the ir_datasets catalogue, with a stand-in for it: nothing is downloaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from assay.core.errors import DataError, PluginError
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.core.registry import DATASETS, Registry
from assay.datasets.ir_datasets import IrDatasets


class TitledDoc(NamedTuple):
    doc_id: str
    text: str
    title: str

    def default_text(self) -> str:
        return f"{self.title} {self.text}"


class BodyDoc(NamedTuple):
    doc_id: str
    headline: str
    body: str

    def default_text(self) -> str:
        return f"{self.headline} {self.body}"


class Topic(NamedTuple):
    query_id: str
    text: str

    def default_text(self) -> str:
        return self.text


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Tiny:
    """Speaks as much of the catalogue's interface as is used."""

    def __init__(
        self, qrels: list[Qrel], parts: frozenset[str] = frozenset({"docs", "queries", "qrels"})
    ) -> None:
        self.qrels, self.parts = qrels, parts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("has_"):
            return lambda: name.removeprefix("has_") in self.parts
        raise AttributeError(name)

    def docs_iter(self) -> Iterator[Any]:
        yield TitledDoc("d1", "a drink", "Tea")
        yield BodyDoc("d2", "Coffee", "too")

    def queries_iter(self) -> Iterator[Any]:
        yield Topic("q1", "what is tea")
        yield Topic("q2", "not judged")

    def qrels_iter(self) -> Iterator[Any]:
        yield from self.qrels

    def qrels_defs(self) -> dict[int, str]:
        return {1: "relevant", 0: "not relevant"}


class Broken(Tiny):
    def docs_iter(self) -> Iterator[Any]:
        raise OSError("no route to host")


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> dict[str, Tiny]:
    known: dict[str, Tiny] = {"tiny/test": Tiny([Qrel("q1", "d1", 1), Qrel("q1", "d2", 0)])}
    stand_in = SimpleNamespace(load=known.__getitem__, registry=known)
    monkeypatch.setitem(sys.modules, "ir_datasets", stand_in)
    return known


@pytest.mark.usefixtures("catalogue")
def test_judged_queries_become_items() -> None:
    loaded = Registry().create(DATASETS, "ir_datasets:tiny/test").load(Kit())
    assert loaded.name == "tiny/test"
    assert loaded.corpus.passages == [Passage("d1", "a drink", "Tea"), Passage("d2", "Coffee too")]
    assert loaded.items == [Item("q1", "what is tea", gold={"relevant": {"d1": 1, "d2": 0}})]
    assert loaded.label_definitions == {"relevant": "0: not relevant; 1: relevant"}
    assert loaded.warnings == []


def test_a_document_judged_by_subtopic_has_its_best_grade(catalogue: dict[str, Tiny]) -> None:
    catalogue["sub"] = Tiny([Qrel("q1", "d1", 0, "1"), Qrel("q1", "d1", 2, "2"), Qrel("q1", "d1", 1, "3")])
    assert IrDatasets("sub").load(Kit()).items[0].gold == {"relevant": {"d1": 2}}


def test_what_the_catalogue_lacks_is_a_warning(catalogue: dict[str, Tiny]) -> None:
    qrels = [Qrel("q1", "d1", 1), Qrel("q1", "gone", 1), Qrel("q1", "judged_bad", 0), Qrel("q7", "d1", 1)]
    catalogue["holes"] = Tiny(qrels)
    loaded = IrDatasets("holes").load(Kit())
    assert [item.item_id for item in loaded.items] == ["q1"]
    assert list(loaded.warnings) == [
        "1 queries have qrels but no text and are left out, 'q7' first.",
        "1 relevant documents are not in the corpus, 'gone' first.",
    ]


@pytest.mark.usefixtures("catalogue")
def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(DataError, match=r"tiny/tset: ir_datasets knows no such dataset.*'tiny/test'"):
        IrDatasets("tiny/tset").load(Kit())


def test_a_dataset_without_qrels_is_refused(catalogue: dict[str, Tiny]) -> None:
    catalogue["docs"] = Tiny([], frozenset({"docs"}))
    with pytest.raises(DataError, match="it has no queries and no qrels"):
        IrDatasets("docs").load(Kit())


def test_a_download_that_fails_says_so(catalogue: dict[str, Tiny]) -> None:
    catalogue["far"] = Broken([])
    with pytest.raises(
        DataError, match=r"far: ir_datasets cannot provide it: no route to host\. .*downloaded"
    ):
        IrDatasets("far").load(Kit())


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(PluginError, match=r"pip install 'retrieval-assay\[datasets\]'"):
        IrDatasets("tiny/test").load(Kit())


def test_the_real_catalogue_speaks_the_same_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    real = pytest.importorskip("ir_datasets", reason="the extra 'datasets' is not installed")
    formats = real.formats

    class Docs(formats.BaseDocs):  # type: ignore[misc, name-defined]
        def docs_iter(self) -> Iterator[Any]:
            yield formats.GenericDoc("d1", "a drink")

        def docs_cls(self) -> type:
            return formats.GenericDoc  # type: ignore[no-any-return]

    class Queries(formats.BaseQueries):  # type: ignore[misc, name-defined]
        def queries_iter(self) -> Iterator[Any]:
            yield formats.GenericQuery("q1", "what is tea")

    class Qrels(formats.BaseQrels):  # type: ignore[misc, name-defined]
        def qrels_iter(self) -> Iterator[Any]:
            yield formats.TrecQrel("q1", "d1", 1, "0")

        def qrels_defs(self) -> dict[int, str]:
            return {1: "relevant"}

    dataset = real.Dataset(Docs(), Queries(), Qrels())
    monkeypatch.setitem(real.registry._registered, "assay-tiny", dataset)
    loaded = IrDatasets("assay-tiny").load(Kit())
    assert loaded.corpus.passages == [Passage("d1", "a drink")]
    assert loaded.items == [Item("q1", "what is tea", gold={"relevant": {"d1": 1}})]
