"""Measures of whether a memory returned the evidence, and whether it walked as the case expects.

A passage is evidence if its label "relevance" has grade 1 or more. The label may come from gold, rules or
people. The parameter `over` says which nodes count as returned: over="paths" reads the nodes of all paths,
path after path; over="best_path" reads the steps of the first path; over="hits" reads the ranking. Every node
counts once. In a response without paths, each hit counts as a path of one step.

A measure of the walk applies to an item only if the gold of the item states that expectation. If a system
says that it never gives a trace, the measures that need a trace do not apply to it. If a system may give a
trace and gave none, it has not met the expectation: its score is 0, and its status is missing.

A system gains nothing by claiming everything, because every claim can turn out wrong: each node of a path
counts once, only the first paths count, a node with several roles has none, and a share of the claimed
contradictions must be right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block, View
from assay.core.errors import UsageError
from assay.core.records import Response
from assay.kinds.memory.walk import (
    ExpectedStep,
    ExpectedTraceStep,
    Over,
    WalkExpectation,
    follows,
    paths_of,
    returned_nodes,
    spread_length,
    spreads_in,
    tension_pairs,
    visited_once,
    walk_expectations,
)
from assay.measures.declaration import (
    Declaration,
    DeclaredMeasure,
    ExpectationMeasure,
    expectation_declaration,
)

FIRST_ADDRESS = "assay.measures.path"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
HITS = frozenset({"hits"})
TRACE = frozenset({"trace"})

# --------------------------------------------------------------------------------------- evidence

evidence_declaration = partial(Declaration, at="rank", blank=HITS)


@dataclass(frozen=True)
class EvidenceMeasure(DeclaredMeasure, ABC):
    """A measure of the evidence among the returned nodes: from 0 to 1, and 0 if nothing came back."""

    least: ClassVar[float] = 1.0  # an item needs a label of at least this grade
    over: Over = "paths"
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.cutoff is not None and self.cutoff < 1:
            raise UsageError(f"{self.family}: cutoff is {self.cutoff}, and must be at least 1.")

    @property
    def needs(self) -> frozenset[str]:
        """The parts of a block that the measure needs. The hits are only among them if `over` is "hits".

        Otherwise the measure finds out by itself whether a returned node is unjudged.
        """
        labels = frozenset({"labels"})
        return HITS | labels if self.over == "hits" else labels

    def applies(self, block: Block) -> Bools:
        if block.lacks(HITS):
            return np.zeros(len(block.items), dtype=bool)
        # an unprimed twin only serves for comparison, and expects nothing of its own
        primed = np.array([each.unprimed_of is None for each in walk_expectations(block.items)], dtype=bool)
        applies: Bools = block.rankable & primed & (block.highest_in(View()) >= self.least)
        return applies

    def values(self, block: Block) -> Floats:
        return self.of(self._found(block), block.gains.relevant(1), block)

    @abstractmethod
    def of(self, found: Floats, there: Ints, block: Block) -> Floats:
        """Returns the values, given how much evidence was found (NaN: unknown) and how much there is."""

    def _found(self, block: Block) -> Floats:
        if self.over == "hits":
            found: Ints = np.count_nonzero(block.gains.top(self.cutoff) >= 1, axis=1)
            return found.astype(np.float64)
        grades: dict[str, dict[str, float]] = {}
        for item_id, doc_id, grade in block.relevance.iter_rows():
            if grade >= 0:  # a negative grade is not a judgment
                grades.setdefault(item_id, {})[doc_id] = grade
        pairs = zip(block.items, block.responses, strict=True)
        return np.array(
            [self._count(response, grades.get(item.item_id, {}), block) for item, response in pairs],
            dtype=float,
        )

    def _count(self, response: Response | None, grades: Mapping[str, float], block: Block) -> float:
        if response is None:
            return np.nan
        units = block.corpus.units
        returned = (
            unit for node in returned_nodes(response, self.over) for unit in units.get(node) or (node,)
        )
        counted = list(dict.fromkeys(returned))[: self.cutoff]
        if block.labels.world("relevance") == "open" and any(node not in grades for node in counted):
            return np.nan
        return sum(grades.get(node, 0) >= 1 for node in counted)


@dataclass(frozen=True)
class EvidenceHit(EvidenceMeasure):
    """Evidence hit: 1 if at least as many pieces of evidence are returned as the item asks for, else 0.

    The gold of the item gives the number in `minimum_evidence_matches` (default 1). If people rejected so
    much evidence that fewer pieces are left, all that are left must be returned. If the number is 1, the
    measure equals `Success` over the nodes that count; if the number is all, it equals `Complete`. The value
    is 0 if the item has no evidence.

    Thorne et al., "FEVER", NAACL 2018, for evidence that must be complete; Yang et al., "HotpotQA", EMNLP
    2018, for supporting facts.
    """

    first_address: ClassVar[str] = "assay.measures.evidence:EvidenceHit"
    declares: ClassVar[Declaration] = evidence_declaration("EvidenceHit", binary=True, pooled=False)

    def of(self, found: Floats, there: Ints, block: Block) -> Floats:
        asked = np.array(
            [each.minimum_evidence_matches for each in walk_expectations(block.items)], dtype=np.int64
        )
        met = (found >= np.minimum(asked, there)) & (there > 0)
        return np.where(np.isnan(found), np.nan, met.astype(float))


@dataclass(frozen=True)
class EvidenceRecall(EvidenceMeasure):
    """Evidence recall: the fraction of all evidence that is among the nodes returned.

    With over="hits", the measure equals `R`. The value is 0 if the item has no evidence.

    van Rijsbergen, "Information Retrieval", 2nd ed., chapter 7, 1979.
    """

    first_address: ClassVar[str] = "assay.measures.evidence:EvidenceRecall"
    declares: ClassVar[Declaration] = evidence_declaration("EvidenceRecall")

    def of(self, found: Floats, there: Ints, block: Block) -> Floats:
        return found / np.maximum(there, 1)


# ------------------------------------------------------------------------------------------ walks

walk_declaration = partial(expectation_declaration, needs=TRACE, blank=TRACE)


@dataclass(frozen=True)
class WalkMeasure(ExpectationMeasure, ABC):
    """A measure of one expectation about the walk: 1 if the expectation is met, 0 if it is not."""

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
        """Whether an item states this expectation."""

    @abstractmethod
    def holds(self, wanted: WalkExpectation, response: Response, evidence: Set[str]) -> bool:
        """Whether a response meets the expectation. `evidence` is the nodes that are labelled as evidence."""


@dataclass(frozen=True)
class PathHit(WalkMeasure):
    """Path: 1 if a path is walked as the item expects, node by node, else 0.

    The item names the nodes of the path and, where it matters, the type of the edge that leads to each node.
    The item also says whether any path counts or only the best one, and how the path must match: exactly, at
    its beginning, or in this order with other nodes between. Only the first `most` paths count, because
    enough paths would include every possible path. In each path, only the first visit to a node counts.
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
    """Semantics: 1 if every role and every edge type that the item requires was walked, else 0.

    Roles are read from the evidence nodes on any path, or from all nodes if nothing is labelled as evidence.
    A node with several roles counts as having none. Edge types are read from the best path, where only the
    first visit to a node counts. With part="roles" or part="edges", the measure checks only roles or only
    edge types. An item that requires only one of the two is checked for only that one.
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
    """Contradictions: 1 if every pair of nodes that the item requires is shown to be at odds, else 0.

    The order of the two nodes of a pair does not matter. Of all pairs that a response shows, at least the
    share `precision` must be required ones, because claiming that all nodes contradict each other proves
    nothing.
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
    """Activation trace: 1 if the first spread is as the item expects, else 0.

    The steps of the spread must match the expected ones as the item asks: exactly, at the beginning, or in
    this order with other steps between. Every required stop reason must occur in the spread. The number of
    steps, including the seed, must be within the item's limits. An answer without a spread does not meet the
    expectation, even if the item only limits the greatest length.
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
    """Case: 1 if everything that the item states is met, else 0.

    An item may state evidence, a path, semantics, contradictions and an activation trace; each is checked by
    its own measure. `over` says which nodes count as returned for the evidence. If a system says that it
    gives no trace, the measure does not apply to cases that only a trace can meet. If the evidence is
    unjudged and nothing else failed, the case is unjudged.
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
