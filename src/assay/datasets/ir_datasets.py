"""Reads datasets of the ir_datasets catalogue by their name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, PluginError, Problem, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.datasets.reading import Relevant, unknown_documents

_PARTS = ("docs", "queries", "qrels")


@dataclass(frozen=True)
class IrDatasets:
    """A dataset such as `beir/scifact/test`. The items are the queries that have qrels."""

    name: str

    def load(self, kit: Kit) -> Dataset:
        found = self._find(_catalogue())
        try:
            corpus = Corpus([_passage(doc) for doc in found.docs_iter()])
            relevant = _relevant(found.qrels_iter())
            items = list(_items(found.queries_iter(), relevant))
            definitions = found.qrels_defs()
        except (OSError, RuntimeError) as error:
            fix = "Load it once where it can be downloaded; it is then kept in IR_DATASETS_HOME."
            raise DataError(Problem(f"ir_datasets cannot provide it: {error}", self.name, fix=fix)) from error
        meaning = "; ".join(f"{grade}: {text}" for grade, text in sorted(definitions.items()))
        return Dataset(
            self.name,
            corpus,
            items,
            {"relevant": meaning} if meaning else {},
            list(_warn_of_absences(items, relevant, corpus)),
        )

    def _find(self, catalogue: ModuleType) -> Any:
        try:
            found = catalogue.load(self.name)
        except KeyError as error:
            fix = did_you_mean(self.name, catalogue.registry)
            raise DataError(Problem("ir_datasets knows no such dataset", self.name, fix=fix)) from error
        lacking = [part for part in _PARTS if not getattr(found, f"has_{part}")()]
        if lacking:
            fix = "Choose a part of it that has all three, such as its test split."
            raise DataError(Problem(f"it has no {' and no '.join(lacking)}", self.name, fix=fix))
        return found


def _catalogue() -> ModuleType:
    try:
        import ir_datasets
    except ImportError as error:
        install = "pip install 'retrieval-assay[datasets]'"
        raise PluginError(f"The package ir_datasets cannot be imported ({error}). Run: {install}") from error
    return ir_datasets  # type: ignore[no-any-return]


def _passage(doc: Any) -> Passage:
    """Makes a passage of a document, with its separate title if it has a field `text`.

    Otherwise all text of the document becomes the text of the passage.
    """
    if isinstance(text := getattr(doc, "text", None), str):
        return Passage(doc.doc_id, text, getattr(doc, "title", None) or "")
    return Passage(doc.doc_id, doc.default_text())


def _relevant(qrels: Iterable[Any]) -> Relevant:
    """Returns grades by item and document. If a document is judged more than once, the best grade counts."""
    grades: Relevant = {}
    for qrel in qrels:
        of_item = grades.setdefault(qrel.query_id, {})
        of_item[qrel.doc_id] = max(qrel.relevance, of_item.get(qrel.doc_id, qrel.relevance))
    return grades


def _items(queries: Iterable[Any], relevant: Relevant) -> Iterator[Item]:
    for query in queries:
        if query.query_id in relevant:
            gold = {"relevant": relevant[query.query_id]}
            yield Item(query.query_id, query.default_text(), gold=gold)


def _warn_of_absences(items: list[Item], relevant: Relevant, corpus: Corpus) -> Iterator[str]:
    """Yields warnings about gaps in the catalogue's own files, which users cannot repair."""
    asked = {item.item_id for item in items}
    if lost := [item_id for item_id in relevant if item_id not in asked]:
        yield f"{len(lost)} queries have qrels but no text and are left out, {lost[0]!r} first."
    missing = {
        doc_id for grades in relevant.values() for doc_id in unknown_documents(grades, corpus.position)
    }
    if missing:
        yield f"{len(missing)} relevant documents are not in the corpus, {min(missing)!r} first."
