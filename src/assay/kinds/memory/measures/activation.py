"""Measures of how a memory came to its answer: nodes touched, hops, effect of edges, effect of priming.

None of these measures says whether an answer is right. `Activated` and `Depth` say what an answer cost. The
other measures are read by comparison: a dynamic memory is compared with a static one, and the edges of a path
with as many other edges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block, View
from assay.core.records import Response
from assay.kinds.memory.walk import (
    change_without,
    paths_of,
    reached_nodes,
    spreads_in,
    walk_expectations,
)
from assay.measures.declaration import Declaration, DeclaredMeasure
from assay.retrieval.fuse import result_distance, result_shares

FIRST_ADDRESS = "assay.measures.activation"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


activation_declaration = partial(Declaration, better="lower", high=None, absent=None)


@dataclass(frozen=True)
class ActivationMeasure(DeclaredMeasure):
    """A measure of how an answer came about. An answer without a value is left out of the mean.

    The measure applies to every item except unprimed twins, so that no probe is counted twice.
    """

    def applies(self, block: Block) -> Bools:
        return np.array([item.gold.get("unprimed_of") is None for item in block.items], dtype=bool)


@dataclass(frozen=True)
class Activated(ActivationMeasure):
    """Activated nodes: how many distinct nodes energy began at or was passed on to.

    If an answer has no spread, the measure counts the distinct nodes on its paths or, without paths, its
    hits. The value has no upper limit. Lower is better: of two memories that find the same, the one that
    touched fewer nodes was cheaper. An answer without hits is left out of the mean, so that finding nothing
    does not look cheap.

    Collins and Loftus, "A spreading-activation theory of semantic processing", Psychological Review 82(6),
    1975.
    """

    declares: ClassVar[Declaration] = activation_declaration("Activated", needs=frozenset({"hits"}))

    def values(self, block: Block) -> Floats:
        return np.array(
            [
                np.nan if response is None else float(len(reached_nodes(response)))
                for response in block.responses
            ],
            dtype=float,
        )


@dataclass(frozen=True)
class Depth(ActivationMeasure):
    """Depth: the deepest hop of the best path, 0 for a path of one step.

    With of="spread", the value is the deepest hop at which energy was still passed on, over all spreads of
    the answer; an answer without a spread has no value. The value has no upper limit. Lower is better,
    because depth is a cost of the answer.
    """

    declares: ClassVar[Declaration] = activation_declaration("Depth")
    of: Literal["path", "spread"] = "path"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"hits" if self.of == "path" else "trace"})

    @property
    def blank(self) -> frozenset[str]:
        """The needs without which an answer is missing. A trace without a spread does not make it missing."""
        return frozenset({"hits"} if self.of == "path" else ())

    def values(self, block: Block) -> Floats:
        return np.array([self._deepest(response) for response in block.responses], dtype=float)

    def _deepest(self, response: Response | None) -> float:
        if response is None:
            return np.nan
        walked = paths_of(response)[:1] if self.of == "path" else spreads_in(response.trace)
        hops = [step.depth for part in walked for step in part if step.selected]
        return float(max(hops)) if hops else np.nan


@dataclass(frozen=True)
class EdgeEffect(ActivationMeasure):
    """Effect of removing edges: how far the result changes without them, from 0 (not at all) to 1 (wholly).

    `of` says which edges are removed: "path" removes the edges of the best path, "random" removes as many
    edges of the whole graph, and "nearby" removes as many edges at the nodes of the answer's paths. The last
    two values are means over several random draws. A path is causally useful if its value is larger than
    theirs. The measure applies to answers whose trace has the value. Higher is better: the path carried the
    result.
    """

    first_address: ClassVar[str] = "assay.measures.activation:Effect"
    declares: ClassVar[Declaration] = activation_declaration(
        "Effect", needs=frozenset({"trace"}), better="higher", high=1.0, blank=frozenset()
    )
    of: Literal["path", "random", "nearby"] = "path"

    def values(self, block: Block) -> Floats:
        found = [
            None if response is None else change_without(response, self.of) for response in block.responses
        ]
        return np.array([np.nan if each is None else each for each in found], dtype=float)


@dataclass(frozen=True)
class PrimingShift(ActivationMeasure):
    """Priming shift: how far a probe's result is from that of the same question in a fresh session.

    The value is ½ Σ |p − q| over the scores of the hits, after the scores of each result are scaled to add up
    to 1 (see `result_distance`). 0 means that both results are the same, and 1 that they have nothing in
    common. The measure applies to a probe if the gold of another item, its unprimed twin, names the probe in
    `unprimed_of`. A probe is unjudged as long as its twin has no answer. Higher means more priming; a static
    memory has 0.

    Meyer and Schvaneveldt, "Facilitation in recognizing pairs of words", J. Exp. Psych. 90(2), 1971, for
    priming; the distance is total variation.
    """

    # an empty response is not missing: two empty results are the same result
    declares: ClassVar[Declaration] = activation_declaration(
        "PrimingShift",
        needs=frozenset({"labels"}),
        better="higher",
        high=1.0,
        blank=frozenset(),
        pooled=False,
    )

    @property
    def seen_in(self) -> View:
        """The view of a block that the measure reads: no label of a judge."""
        return View(label="unprimed")

    def applies(self, block: Block) -> Bools:
        if block.lacks(frozenset({"hits"})):
            return np.zeros(len(block.items), dtype=bool)
        twins = self._twins(block)
        return np.array([item_id in twins for item_id in block.item_ids], dtype=bool)

    def values(self, block: Block) -> Floats:
        twins = self._twins(block)
        pairs = zip(block.item_ids, block.responses, strict=True)
        return np.array([_shift(response, twins.get(item_id)) for item_id, response in pairs], dtype=float)

    @staticmethod
    def _twins(block: Block) -> dict[str, Response | None]:
        """Returns, by the id of each probe, the response of its unprimed twin."""
        pairs = zip(walk_expectations(block.items), block.responses, strict=True)
        return {each.unprimed_of: response for each, response in pairs if each.unprimed_of is not None}


@dataclass(frozen=True)
class PrimingPull(PrimingShift):
    """Priming pull: how much more evidence of earlier items a probe's result has than in a fresh session.

    The value is Σ (p − q) over the evidence (label "relevance", grade 1 or more) of the items before the
    probe in its sequence. p and q are the scores of the probe and of the same question in a fresh session;
    the scores of each are scaled to add up to 1. The range is -1 to 1.

    A memory that learned moves towards the evidence of earlier questions. A memory whose scores only vary at
    random has 0 on average, however large its `PrimingShift` is. The value is -1 if nothing came back. The
    measure applies where `PrimingShift` applies and an item before the probe has evidence.
    """

    declares: ClassVar[Declaration] = activation_declaration(
        "PrimingPull",
        needs=frozenset({"labels"}),
        better="higher",
        low=-1.0,
        high=1.0,
        absent=-1.0,
        blank=frozenset({"hits"}),
        pooled=False,
    )

    @property
    def seen_in(self) -> View:
        """The view of a block that the measure reads."""
        return View()

    def applies(self, block: Block) -> Bools:
        before = _evidence_before(block)
        primed = np.array([bool(before.get(item_id)) for item_id in block.item_ids], dtype=bool)
        applies: Bools = super().applies(block) & primed
        return applies

    def values(self, block: Block) -> Floats:
        twins, before = self._twins(block), _evidence_before(block)
        pairs = zip(block.item_ids, block.responses, strict=True)
        return np.array(
            [_pull(response, twins.get(item_id), before.get(item_id, set())) for item_id, response in pairs],
            dtype=float,
        )


def _evidence_before(block: Block) -> dict[str, set[str]]:
    """Returns, for each item of a sequence, the evidence of the items before it."""
    evidence: dict[str, set[str]] = {}
    for item_id, doc_id, grade in block.relevance.iter_rows():
        if grade >= 1:
            evidence.setdefault(item_id, set()).add(doc_id)
    so_far: dict[str, set[str]] = {}
    found: dict[str, set[str]] = {}
    for item in block.items:
        if item.sequence is not None:
            held = so_far.setdefault(item.sequence, set())
            found[item.item_id] = set(held)
            held |= evidence.get(item.item_id, set())
    return found


def _pull(primed: Response | None, unprimed: Response | None, toward: set[str]) -> float:
    if primed is None or unprimed is None or primed.error or unprimed.error:
        return np.nan
    p, q = result_shares(primed.hits), result_shares(unprimed.hits)
    return math.fsum(p.get(doc, 0.0) - q.get(doc, 0.0) for doc in sorted(toward))


def _shift(primed: Response | None, unprimed: Response | None) -> float:
    if primed is None or unprimed is None or primed.error or unprimed.error:
        return np.nan
    return result_distance(primed.hits, unprimed.hits)
