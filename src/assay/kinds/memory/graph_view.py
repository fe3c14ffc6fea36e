"""The graph that a system builds from the documents of a study: nodes with roles, edges with their reasons.

The graph shows people who label cases which paths and roles can be found at all, because a memory can only
find the ones that some rule draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, UsageError, did_you_mean
from assay.core.optional import CheckingSystem, ClosableIndex, StructuredIndex
from assay.core.records import Arm, Node, Structure
from assay.kinds.memory.systems.memories import MemoryIndex
from assay.study.study import Study

Scope = tuple[str, ...] | None  # None: the whole corpus
_ADD = "Add one to systems, such as graph: weighted_graph, or traced(path=…, structure=…)."


class NodeView(msgspec.Struct, frozen=True):
    """A node: its role, its weight before any query (None: unknown), and its text."""

    node_id: str
    role: str | None
    weight: float | None
    text: str


class EdgeView(msgspec.Struct, frozen=True):
    """An edge, and the rule that drew it."""

    source: str
    kind: str
    target: str
    weight: float
    rule: str | None


class DocumentView(msgspec.Struct, frozen=True):
    """The nodes of a document, and the edges that begin or end in the document.

    The document "" has the nodes that belong to no document.
    """

    document: str
    pack: str | None
    nodes: list[NodeView]
    edges: list[EdgeView]


@dataclass(frozen=True)
class GraphView:
    """The graph of one system, document by document."""

    study: str
    system: str
    documents: list[DocumentView]
    left: list[str]  # documents that are not shown

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"schema": "assay/graph/1", **found}


def graph_view(
    study: Study, system: str | None = None, document: str | None = None, most: int | None = None
) -> GraphView:
    """Returns the graph of some documents, or of all of them, as one system builds it.

    Each document is shown in the scope of the first item whose scope has the document. If no system is named,
    the graph of the first system that walks edges and publishes them is returned.
    """
    for arm in _arms(study, system):
        dataset = study.dataset(arm)
        every = list(dict.fromkeys(p.source or p.doc_id for p in dataset.corpus.passages))
        if document is not None and document not in every:
            raise UsageError(f"There is no document {document!r}. {did_you_mean(document, every)}")
        wanted = (every if document is None else [document])[:most]
        scopes = _scopes(dataset, wanted)
        if graphs := _published_graphs(study, arm, dataset, scopes, system is not None):
            views = [graphs[scope].view(name) for name, scope in scopes.items()]
            if document is None:
                views += _strays(list(graphs.values()))
            left = every[len(wanted) :] if document is None else []
            return GraphView(study.name, arm.name, views, left)
    which = f"{system!r} publishes none" if system is not None else "no system of the study publishes one"
    raise UsageError(f"There is no graph to show: {which}. {_ADD}")


def _arms(study: Study, system: str | None) -> list[Arm]:
    """Returns the arms that may have a graph: the named one or, by default, one per system."""
    first = {arm.system: arm for arm in reversed(study.arms)}
    if system is not None:
        named = {**{arm.name: arm for arm in study.arms}, **first}
        if system not in named:
            raise UsageError(f"There is no system {system!r}. {did_you_mean(system, first)}")
        return [named[system]]
    every = [first[name] for name in study.file.systems]
    return [arm for arm in every if "trace" in (study.gives(arm) or {"trace"})]


def _scopes(dataset: Dataset, documents: Sequence[str]) -> dict[str, Scope]:
    """Returns, for each document, the scope of the first item that has it.

    If no item has the document, the scope is the document itself.
    """
    corpus, missing = dataset.corpus, set(documents)
    found: dict[str, Scope] = {}
    for item in dataset.items:
        if not missing:
            break
        having = missing if item.scope is None else missing & {corpus.document_of(one) for one in item.scope}
        found.update(dict.fromkeys(having, None if item.scope is None else tuple(item.scope)))
        missing = missing - having
    for passage in corpus.passages if missing else ():
        if (document := passage.source or passage.doc_id) in missing:
            found[document] = (*(found.get(document) or ()), passage.doc_id)
    return {document: found[document] for document in documents}


def _published_graphs(
    study: Study, arm: Arm, dataset: Dataset, scopes: Mapping[str, Scope], named: bool
) -> dict[Scope, _ScopedGraph]:
    """Returns the graph over each scope; empty if the system publishes no graph over one of them.

    A graph that the system never walks counts only if the system was named.
    """
    system = study.system(arm)
    if scopes and isinstance(system, CheckingSystem) and (problems := system.problems(dataset, study.kit)):
        raise DataError(problems)
    found: dict[Scope, _ScopedGraph] = {}
    for scope in dict.fromkeys(scopes.values()):
        graph = _build_graph(study, arm, dataset, scope)
        if graph.structure is None or not (graph.walked or named):
            return {}
        found[scope] = graph
    return found


def _build_graph(study: Study, arm: Arm, dataset: Dataset, scope: Scope) -> _ScopedGraph:
    corpus = dataset.corpus if scope is None else dataset.corpus.restricted(scope)
    index = study.system(arm).build(corpus, study.seeds[0], study.kit)
    try:
        structure = index.structure() if isinstance(index, StructuredIndex) else None
        return _ScopedGraph(structure, corpus, not isinstance(index, MemoryIndex) or index.settings.structure)
    finally:
        if isinstance(index, ClosableIndex):
            index.close()


def _strays(graphs: Sequence[_ScopedGraph]) -> list[DocumentView]:
    """Returns a view of the nodes that belong to no document; empty if there are none."""
    views = [graph.view("") for graph in graphs]
    nodes = dict.fromkeys(node for view in views for node in view.nodes)
    edges = dict.fromkeys(edge for view in views for edge in view.edges)
    return [DocumentView("", None, list(nodes), list(edges))] if nodes else []


@dataclass(frozen=True)
class _ScopedGraph:
    """The graph over one scope of a corpus; `structure` is None if the system publishes no graph."""

    structure: Structure | None
    corpus: Corpus
    walked: bool

    def view(self, document: str) -> DocumentView:
        nodes, edges = self._nodes.get(document, []), self._edges.get(document, [])
        return DocumentView(document, self._packs.get(document), nodes, edges)

    @cached_property
    def _owner(self) -> dict[str, str]:
        """The document of each node; "" for a node that belongs to no document."""
        known = {**self.corpus.documents, **self.corpus.position}
        passages = {node.node_id: _passage(node) for node in self.structure.nodes} if self.structure else {}
        return {
            node: self.corpus.document_of(passage) if passage in known else ""
            for node, passage in passages.items()
        }

    @cached_property
    def _nodes(self) -> dict[str, list[NodeView]]:
        found: dict[str, list[NodeView]] = {}
        for node in self.structure.nodes if self.structure else ():
            text = self.corpus.text_of(_passage(node)) or ""
            if node.span is not None and node.doc_id in self.corpus.documents:
                text = text[node.span.start : node.span.end]
            view = NodeView(node.node_id, node.role, node.weight, text)
            found.setdefault(self._owner[node.node_id], []).append(view)
        return found

    @cached_property
    def _edges(self) -> dict[str, list[EdgeView]]:
        found: dict[str, list[EdgeView]] = {}
        for edge in self.structure.edges if self.structure else ():
            view = EdgeView(edge.source, edge.kind, edge.target, edge.weight, edge.rule)
            for document in {self._owner.get(edge.source, ""), self._owner.get(edge.target, "")}:
                found.setdefault(document, []).append(view)
        return found

    @cached_property
    def _packs(self) -> dict[str, str]:
        named = ((p.source or p.doc_id, p.metadata.get("pack")) for p in reversed(self.corpus.passages))
        return {document: str(pack) for document, pack in named if pack}


def _passage(node: Node) -> str:
    """Returns the id of the passage or document that a node represents."""
    return node.node_id if node.doc_id is None else node.doc_id
