"""Whether a memory walked as its case expects: the path, roles and edges, tensions, and the spread.

Each applies where an item's gold states that expectation, and nowhere else. A system that says it never
gives a trace is not measured by what only a trace can show. One that may give a trace and gave none has not
met what is expected: that is 0, as missing. Paths are always there: a flat result is paths of one step.

Whoever claims everything has shown nothing, so that claims count only as far as they commit themselves: a
path visits a node once, only the first paths count, a node has one role, and of the tensions that are claimed
a share must be right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.errors import UsageError
from assay.core.records import Response
from assay.kinds.memory.measures.evidence import HITS, EvidenceHit
from assay.kinds.memory.walk import (
    ExpectedStep,
    ExpectedTraceStep,
    Over,
    WalkExpectation,
    follows,
    paths_of,
    spread_length,
    spreads_in,
    tension_pairs,
    visited_once,
    walk_expectations,
)
from assay.measures.declaration import Declaration, ExpectationMeasure, expectation_declaration

FIRST_ADDRESS = "assay.measures.path"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
TRACE = frozenset({"trace"})


walk_declaration = partial(expectation_declaration, needs=TRACE, blank=TRACE)


@dataclass(frozen=True)
class WalkMeasure(ExpectationMeasure, ABC):
    """An expectation of what was walked: 1 where it is met, 0 where it is not."""

    def applies(self, block: Block) -> Bools:
        return np.array([self.stated(each) for each in walk_expectations(block.items)], dtype=bool)

    def values(self, block: Block) -> Floats:
        evidence: dict[str, set[str]] = {}
        for item_id, doc_id, grade in block.relevance.iter_rows():
            if grade >= 1:
                evidence.setdefault(item_id, set()).add(doc_id)
        every = zip(block.item_ids, walk_expectations(block.items), block.responses, strict=True)
        return np.array(
            [
                float(self.holds(wanted, response, evidence.get(item_id, set())))
                if response is not None and self.stated(wanted)
                else np.nan
                for item_id, wanted, response in every
            ],
            dtype=float,
        )

    @abstractmethod
    def stated(self, wanted: WalkExpectation) -> bool:
        """Whether an item says what is expected here."""

    @abstractmethod
    def holds(self, wanted: WalkExpectation, response: Response, evidence: Set[str]) -> bool:
        """Whether a response is as an item expects; `evidence` is what is labelled as that."""


@dataclass(frozen=True)
class PathHit(WalkMeasure):
    """Path: 1 where a path is walked as the item expects, node by node, else 0.

    The item names the nodes, the type of edge that leads to each where that matters, whether any path or the
    best one only counts, and how it must match: exactly, at its beginning, or in this order with other nodes
    between. The first `most` paths count, and of each the first visit to a node: among enough paths, every
    way is one of them.
    """

    declares: ClassVar[Declaration] = walk_declaration("PathHit", needs=HITS, blank=HITS)
    most: int = 10

    def stated(self, wanted: WalkExpectation) -> bool:
        return wanted.path is not None

    def holds(self, wanted: WalkExpectation, response: Response, evidence: Set[str]) -> bool:
        if (path := wanted.path) is None:
            return False
        walked = map(visited_once, paths_of(response)[: 1 if wanted.path_scope == "best_path" else self.most])
        return any(follows(path.steps, each, path.match_mode, ExpectedStep.fits) for each in walked)


@dataclass(frozen=True)
class SemanticHit(WalkMeasure):
    """Semantics: 1 where every role and every edge type that the item requires was walked, else 0.

    Roles are those of evidence on any path (of any node where nothing is labelled as evidence), and a node
    that is given several has none; edge types are those on the best path, which visits a node once.
    part="roles" or "edges" asks for one of the two; an item that requires only one of them is asked for that.
    """

    declares: ClassVar[Declaration] = walk_declaration("SemanticHit")
    part: Literal["both", "roles", "edges"] = "both"

    def stated(self, wanted: WalkExpectation) -> bool:
        return bool(self._roles(wanted) or self._edges(wanted))

    def holds(self, wanted: WalkExpectation, response: Response, evidence: Set[str]) -> bool:
        walked = paths_of(response)
        given: dict[str, set[str]] = {}
        for step in (step for path in walked for step in path):
            if step.role is not None:
                given.setdefault(step.target, set()).add(step.role)
        roles = {
            role
            for node, (role, *others) in given.items()
            if not others and (not evidence or node in evidence)
        }
        edges = {step.edge for path in walked[:1] for step in visited_once(path)}
        return roles.issuperset(self._roles(wanted)) and edges.issuperset(self._edges(wanted))

    def _roles(self, wanted: WalkExpectation) -> list[str]:
        return wanted.required_semantic_roles if self.part != "edges" else []

    def _edges(self, wanted: WalkExpectation) -> list[str]:
        return wanted.required_edge_types if self.part != "roles" else []


@dataclass(frozen=True)
class ContradictionHit(WalkMeasure):
    """Contradictions: 1 where every pair of nodes that the item requires is shown to be at odds, else 0.

    Which node of a pair is named first does not matter. Of all pairs that are shown at least the share
    `precision` must be required ones: whoever says that everything is at odds has shown nothing.
    """

    declares: ClassVar[Declaration] = walk_declaration("ContradictionHit")
    precision: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.precision <= 1:
            raise UsageError(f"ContradictionHit: precision is {self.precision:g}, and must be from 0 to 1.")

    def stated(self, wanted: WalkExpectation) -> bool:
        return bool(wanted.required_contradiction_pairs)

    def holds(self, wanted: WalkExpectation, response: Response, evidence: Set[str]) -> bool:
        required, shown = set(map(frozenset, wanted.required_contradiction_pairs)), tension_pairs(response)
        return shown >= required and len(required) >= self.precision * len(shown)


@dataclass(frozen=True)
class TraceHit(WalkMeasure):
    """Activation trace: 1 where the first spread is as the item expects, else 0.

    Its steps match the expected ones exactly, at its beginning, or in this order with others between; every
    required reason to stop occurs in it; and it has neither too few steps nor too many, the seed counted. An
    answer without any spread has met nothing, however short a spread may be.
    """

    declares: ClassVar[Declaration] = walk_declaration("TraceHit")

    def stated(self, wanted: WalkExpectation) -> bool:
        lengths = (wanted.min_activation_trace_length, wanted.max_activation_trace_length)
        return bool(
            wanted.activation_trace
            or wanted.required_trace_stop_reasons
            or any(n is not None for n in lengths)
        )

    def holds(self, wanted: WalkExpectation, response: Response, evidence: Set[str]) -> bool:
        if not (found := spreads_in(response.trace)):
            return False
        spread, trace = found[0], wanted.activation_trace
        least, most = wanted.min_activation_trace_length, wanted.max_activation_trace_length
        return (
            (trace is None or follows(trace.steps, spread, trace.match_mode, ExpectedTraceStep.fits))
            and {step.stop for step in spread}.issuperset(wanted.required_trace_stop_reasons)
            and (least is None or spread_length(spread) >= least)
            and (most is None or spread_length(spread) <= most)
        )


@dataclass(frozen=True)
class CaseHit(ExpectationMeasure):
    """Case: 1 where everything that the item states holds, else 0.

    That is evidence, path, semantics, contradictions and activation trace, each as its own measure reads it;
    `over` is what counts as returned for the evidence. Where a system says that it gives no trace, cases that
    only a trace can meet do not apply. Where nobody has judged the evidence and nothing else failed, the case
    is unjudged.
    """

    declares: ClassVar[Declaration] = expectation_declaration(
        "CaseHit", needs=frozenset({"labels"}), blank=HITS
    )
    over: Over = "paths"

    def applies(self, block: Block) -> Bools:
        evidence, path, *traced = (measure.applies(block) for measure in self._parts())
        shown = np.any(traced, axis=0)
        if block.lacks(HITS):
            return np.zeros(len(block.items), dtype=bool)
        found: Bools = (evidence | path) & ~shown if block.lacks(TRACE) else evidence | path | shown
        return found

    def values(self, block: Block) -> Floats:
        stated = np.array([measure.applies(block) for measure in self._parts()], dtype=bool)
        values = np.array([measure.values(block) for measure in self._parts()], dtype=float)
        failed, unknown = (stated & (values == 0)).any(axis=0), (stated & np.isnan(values)).any(axis=0)
        return np.where(failed, 0.0, np.where(unknown, np.nan, 1.0))

    def _parts(self) -> tuple[EvidenceHit | WalkMeasure, ...]:
        return EvidenceHit(self.over), PathHit(), SemanticHit(), ContradictionHit(), TraceHit()
