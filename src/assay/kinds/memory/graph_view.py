"""What a graph system makes of the documents of a study: nodes with their roles, edges with their reasons.

Whoever writes labels looks here first: a path or a role that no rule gives cannot be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, UsageError, did_you_mean
from assay.core.optional import StructuredIndex
from assay.core.protocols import Index
from assay.core.records import Arm, Node, Structure
from assay.kinds.memory.systems.memories import MemoryIndex
from assay.study.study import Study

Scope = tuple[str, ...] | None  # None: the whole corpus
_PARTS = ("nodes", "edges")
_ADD = "Add one to systems, such as graph: weighted_graph, or traced(path=…, structure=…)."


class NodeView(msgspec.Struct, frozen=True):
    """A node: what it is, how much it matters whatever is asked (None where nobody says), and its text."""

    node_id: str
    role: str | None
    weight: float | None
    text: str


class EdgeView(msgspec.Struct, frozen=True):
    """An edge, and the rule that made it."""

    source: str
    kind: str
    target: str
    weight: float
    rule: str | None


class DocumentView(msgspec.Struct, frozen=True):
    """The nodes of a document, and the edges that begin or end in it. A graph may have nodes of none: ""."""

    document: str
    pack: str | None
    nodes: list[NodeView]
    edges: list[EdgeView]


@dataclass(frozen=True)
class GraphView:
    """The graph behind one system, document by document."""

    study: str
    system: str
    documents: list[DocumentView]
    left: list[str]  # documents that were not asked for

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"schema": "assay/graph/1", **found}


def graph_view(
    study: Study, system: str | None = None, document: str | None = None, most: int | None = None
) -> GraphView:
    """The graph of some documents, by default of all, each in the scope of the first item that has it.

    It is that of the system, or of the first of the study that walks edges and publishes them.
    """
    for arm in _arms(study, system):
        dataset = study.dataset(arm)
        every = list(dict.fromkeys(p.source or p.doc_id for p in dataset.corpus.passages))
        wanted = _wanted(document, every)[:most]
        drawing = _SystemGraphs(study, arm, dataset, _scopes(dataset, wanted))
        if wanted and drawing.publishes(named=system is not None):
            views = list(drawing.views(strays=document is None))
            return GraphView(study.name, arm.name, views, every[len(wanted) :] if document is None else [])
    which = f"{system!r} publishes none" if system is not None else "no system of the study publishes one"
    raise UsageError(f"There is no graph to show: {which}. {_ADD}")


def _arms(study: Study, system: str | None) -> list[Arm]:
    """The arms that may have a graph: one a system, or the one that is named."""
    first = {arm.system: arm for arm in reversed(study.arms)}
    if system is not None:
        named = {**{arm.name: arm for arm in study.arms}, **first}
        if system not in named:
            raise UsageError(f"There is no system {system!r}. {did_you_mean(system, first)}")
        return [named[system]]
    every = [first[name] for name in study.file.systems]
    return [arm for arm in every if "trace" in (study.gives(arm) or {"trace"})]


def _wanted(document: str | None, every: Sequence[str]) -> list[str]:
    if document is None:
        return list(every)
    if document not in set(every):
        raise UsageError(f"There is no document {document!r}. {did_you_mean(document, every)}")
    return [document]


def _scopes(dataset: Dataset, documents: Sequence[str]) -> dict[str, Scope]:
    """What each document is asked about in: the scope of the first item that has it, or else itself."""
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


@dataclass(frozen=True)
class _SystemGraphs:
    """The graph of a system over the scopes of some documents."""

    study: Study
    arm: Arm
    dataset: Dataset
    scopes: Mapping[str, Scope]
    drawn: dict[Scope, _ScopedGraph] = field(default_factory=dict)

    def corpus(self, scope: Scope) -> Corpus:
        return self.dataset.corpus if scope is None else self.dataset.corpus.restricted(scope)

    @contextmanager
    def _built(self, scope: Scope) -> Iterator[Index]:
        index = self.study.system(self.arm).build(self.corpus(scope), self.study.seeds[0], self.study.kit)
        with closing(index) if hasattr(index, "close") else nullcontext():  # type: ignore[type-var]
            yield index

    def publishes(self, *, named: bool) -> bool:
        """Whether there is a graph; one that is never walked counts only where it is asked for by name."""
        checking = getattr(self.study.system(self.arm), "problems", None)
        if checking is not None and (problems := checking(self.dataset, self.study.kit)):
            raise DataError(problems)
        first = next(iter(self.scopes.values()))
        with self._built(first) as index:
            self.drawn[first] = _graph(index, self.corpus(first))
            walked = not isinstance(index, MemoryIndex) or index.answering.structure
            return isinstance(index, StructuredIndex) and (named or walked)

    def views(self, *, strays: bool) -> Iterator[DocumentView]:
        """Each document in the graph of its scope, and where asked for, then the nodes of no document."""
        for document, scope in self.scopes.items():
            if scope not in self.drawn:
                with self._built(scope) as index:
                    self.drawn[scope] = _graph(index, self.corpus(scope))
            yield self.drawn[scope].view(document)
        rest = [graph.view("") for graph in self.drawn.values()] if strays else []
        nodes, edges = ({one: None for view in rest for one in getattr(view, part)} for part in _PARTS)
        if nodes:
            yield DocumentView("", None, list(nodes), list(edges))


@dataclass(frozen=True)
class _ScopedGraph:
    """A graph over a corpus."""

    structure: Structure
    corpus: Corpus

    def view(self, document: str) -> DocumentView:
        nodes, edges = self._nodes.get(document, []), self._edges.get(document, [])
        return DocumentView(document, self._packs.get(document), nodes, edges)

    @cached_property
    def _owner(self) -> dict[str, str]:
        """The document of each node; "" where it stands for none."""
        known = {**self.corpus.documents, **self.corpus.position}
        stood = {node.node_id: _passage(node) for node in self.structure.nodes}
        return {node: self.corpus.document_of(one) if one in known else "" for node, one in stood.items()}

    @cached_property
    def _nodes(self) -> dict[str, list[NodeView]]:
        found: dict[str, list[NodeView]] = {}
        for node in self.structure.nodes:
            text = self.corpus.text_of(_passage(node)) or ""
            if node.span is not None and node.doc_id in self.corpus.documents:
                text = text[node.span.start : node.span.end]
            view = NodeView(node.node_id, node.role, node.weight, text)
            found.setdefault(self._owner[node.node_id], []).append(view)
        return found

    @cached_property
    def _edges(self) -> dict[str, list[EdgeView]]:
        found: dict[str, list[EdgeView]] = {}
        for edge in self.structure.edges:
            view = EdgeView(edge.source, edge.kind, edge.target, edge.weight, edge.rule)
            for document in {self._owner.get(edge.source, ""), self._owner.get(edge.target, "")}:
                found.setdefault(document, []).append(view)
        return found

    @cached_property
    def _packs(self) -> dict[str, str]:
        named = ((p.source or p.doc_id, p.metadata.get("pack")) for p in reversed(self.corpus.passages))
        return {document: str(pack) for document, pack in named if pack}


def _graph(index: Index, corpus: Corpus) -> _ScopedGraph:
    structure = index.structure() if isinstance(index, StructuredIndex) else Structure([], [])
    return _ScopedGraph(structure, corpus)


def _passage(node: Node) -> str:
    """The passage, or the document, that a node stands for."""
    return node.node_id if node.doc_id is None else node.doc_id
