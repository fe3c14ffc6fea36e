"""Invented traces that test the gates: the walk that items expect, and a trace that claims everything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, zip_longest
from typing import ClassVar

import msgspec

from assay.controls.trial import ControlNotApplicable, Draw, Trial, replace_responses
from assay.core.block import Block
from assay.core.records import PATH, Response, Step
from assay.kinds.memory.walk import (
    REMOVED,
    SEED,
    SPREAD,
    TENSION,
    WalkExpectation,
    ranked_ids,
    walk_expectations,
)

FIRST_ADDRESS = "assay.controls.walks"

WALKED = 4  # how many hits the bluffed paths go through
AT_ODDS = 10  # among how many hits each pair is claimed to be at odds
HOPS = 3  # the hops of the bluffed spread

# --------------------------------------------------------------------------------- the oracle's walk


@dataclass(frozen=True)
class ExpectedWalks:
    """The walk that each item expects.

    An unprimed answer, which a probe is compared with, stays unchanged.
    """

    def steps(self, block: Block, documents: Sequence[Sequence[str]]) -> Iterator[list[Step] | None]:
        expected = walk_expectations(block.items)
        for wanted, docs, response in zip(expected, documents, block.responses, strict=True):
            if response is None or wanted.unprimed_of is not None:
                yield None
                continue
            # if the trace measures the effect of edges: those of the path carried the whole result
            removed = {str(step.edge) for step in response.trace if step.kind == REMOVED}
            yield [
                *_expected_steps(docs, wanted),
                *(
                    Step(REMOVED, 0, "", edge=edge, scores={"change": float(edge == "path")})
                    for edge in sorted(removed)
                ),
            ]


def _expected_steps(docs: Sequence[str], wanted: WalkExpectation) -> list[Step]:
    """Returns the walk that an item expects; empty if the item expects no walk."""
    nodes = [(step.node_id, step.via_edge_type) for step in wanted.path.steps] if wanted.path else []
    nodes = nodes or [(doc, None) for doc in docs]
    roles, edges = list(wanted.required_semantic_roles), list(wanted.required_edge_types)
    spread = bool(
        wanted.activation_trace
        or wanted.required_trace_stop_reasons
        or wanted.min_activation_trace_length
        or wanted.max_activation_trace_length
    )
    if not (wanted.path or roles or edges or wanted.required_contradiction_pairs or spread):
        return []
    while nodes and len(nodes) <= max(len(roles) - 1, len(edges)):
        nodes.append((f"{nodes[-1][0]}+", None))  # one more node, for roles and edges that have no node yet
    steps: list[Step] = []
    for depth, (node, via) in enumerate(nodes):
        edge = via or (edges.pop(0) if depth and edges else None)
        role = roles.pop(0) if roles else None
        steps.append(Step(PATH, depth, node, nodes[depth - 1][0] if depth else None, edge=edge, role=role))
    on_path = {node for node, _ in nodes}
    steps += [Step(PATH, 0, doc) for doc in docs if doc not in on_path]
    steps += [Step(TENSION, 0, b, a) for a, b in wanted.required_contradiction_pairs]
    return [*steps, *_expected_spread(docs, wanted)]


def _expected_spread(docs: Sequence[str], wanted: WalkExpectation) -> list[Step]:
    steps = [
        Step(
            SEED if event.is_seed or (place == 0 and not event.hop) else SPREAD,
            event.hop if event.hop is not None else place,
            event.node_id,
            edge=event.edge_type,
            stop=event.stopped_reason,
        )
        for place, event in enumerate(wanted.activation_trace.steps if wanted.activation_trace else ())
    ]
    if not steps or steps[0].kind != SEED:
        steps.insert(0, Step(SEED, 0, docs[0] if docs else ""))
    stops = {step.stop for step in steps}
    steps += [
        Step(SPREAD, 1, steps[0].target, stop=stop, selected=False)
        for stop in wanted.required_trace_stop_reasons
        if stop not in stops
    ]
    while len(steps) < (wanted.min_activation_trace_length or 0):
        steps.append(Step(SPREAD, len(steps), steps[0].target))
    return steps


# ------------------------------------------------------------------------------ the bluffed trace


@dataclass(frozen=True)
class _TraceVocabulary:
    """The roles, edges and stop reasons that occur in the traces of a study."""

    roles: Sequence[str]
    edges: Sequence[str]
    stops: Sequence[str]


@dataclass(frozen=True)
class BluffedTrace:
    """The baseline's order with a trace that claims every role, edge, contradiction and reason to stop."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = 1
    twin: ClassVar[bool] = True  # in its order, it equals the arm that the candidate is compared with

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(frozenset({"trace", "hits"}))
        responses = [each for block in trial.blocks for each in block.responses if each is not None]
        kinds = {PATH, SEED, SPREAD, TENSION}
        steps = [step for each in responses for step in each.trace if step.kind in kinds]
        words = _TraceVocabulary(
            sorted({step.role for step in steps if step.role is not None}),
            sorted({step.edge for step in steps if step.edge is not None}),
            sorted({step.stop for step in steps if step.stop is not None}),
        )
        if not (words.roles or words.edges):
            raise ControlNotApplicable("no trace of the study names the roles or edges of a path")

        def bluffed(block: Block) -> Block:
            taken = trial.beside(block) or block
            return replace_responses(block, [each and _bluff(each, words) for each in taken.responses])

        return {"": trial.drawn("bluffed", lambda block, _: bluffed(block), compared=True)}


def _bluff(response: Response, words: _TraceVocabulary) -> Response:
    nodes = ranked_ids(response)
    if response.error is not None or not nodes:
        return response
    claims = [*_bluffed_paths(nodes[:WALKED], words), Step(SEED, 0, nodes[0])]
    claims += [
        Step(SPREAD, hop, node, nodes[0], edge=edge, stop=stop)
        for hop in range(1, HOPS + 1)
        for node in nodes[:WALKED]
        for edge, stop in zip_longest(words.edges, words.stops)
    ]
    claims += [Step(TENSION, 0, b, a) for a, b in combinations(nodes[:AT_ODDS], 2)]
    claims += [
        Step(REMOVED, 0, nodes[0], edge=edge, scores={"change": float(edge == "path")})
        for edge in ("path", "random", "nearby")
    ]
    return msgspec.structs.replace(response, trace=claims)


def _bluffed_paths(nodes: Sequence[str], words: _TraceVocabulary) -> Iterator[Step]:
    """Yields the hits in their order as the best path, then every path over one, two or three of them."""
    ways = [tuple(nodes), *((node,) for node in nodes)]
    ways += [way for length in (2, 3) for way in permutations(nodes, length)]
    for way in ways:
        yield Step(PATH, 0, way[0], role=words.roles[0] if words.roles else None)
        depth = 0
        for before, node in zip(way, way[1:] or way, strict=False):
            for edge, role in zip_longest(words.edges, words.roles):
                depth += 1
                yield Step(PATH, depth, node, before, edge=edge, role=role)
