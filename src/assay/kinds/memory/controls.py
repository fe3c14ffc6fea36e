"""Traces that claim everything: every role, every type of edge, every contradiction, on any order of hits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, zip_longest
from typing import ClassVar

import msgspec

from assay.controls.trial import ControlNotApplicable, Draw, Trial, replace_responses
from assay.core.block import Block
from assay.core.records import PATH, Response, Step
from assay.kinds.memory.walk import REMOVED, SEED, SPREAD, TENSION, ranked_ids

FIRST_ADDRESS = "assay.controls.walks"

CLAIMED = (PATH, SEED, SPREAD, TENSION, REMOVED)
WALKED, AT_ODDS, HOPS = 4, 10, 3  # hits that claimed paths run over, that are at odds, hops of the spread


@dataclass(frozen=True)
class _TraceVocabulary:
    """What traces of the study name: an engine knows its own vocabulary."""

    roles: Sequence[str]
    edges: Sequence[str]
    stops: Sequence[str]

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> _TraceVocabulary:
        steps = [
            step
            for block in blocks
            for response in block.responses
            if response is not None
            for step in response.trace
            if step.kind in CLAIMED and step.kind != REMOVED
        ]
        named = ({getattr(step, field) for step in steps} - {None} for field in ("role", "edge", "stop"))
        return cls(*(sorted(each) for each in named))


@dataclass(frozen=True)
class BluffedTrace:
    """The baseline's order with a trace that claims every role, edge, contradiction and reason to stop."""

    expected: ClassVar[str] = "refused"
    draws: ClassVar[int] = 1
    twin: ClassVar[bool] = True  # of what the candidate is compared with, as far as its order goes

    def mutants(self, trial: Trial) -> Mapping[str, Draw]:
        trial.require(frozenset({"trace", "hits"}))
        words = _TraceVocabulary.of(trial.blocks)
        if not (words.roles or words.edges):
            raise ControlNotApplicable("no system of the study tells a path with roles or edges")

        def bluffed(block: Block) -> Block:
            taken = trial.beside(block) or block
            return replace_responses(block, [each and _bluff(each, words) for each in taken.responses])

        return {"": trial.drawn("bluffed", lambda block, _: bluffed(block), compared=True)}


def _bluff(response: Response, words: _TraceVocabulary) -> Response:
    nodes = ranked_ids(response)
    if response.error is not None or not nodes:
        return response
    claims = [*_paths(nodes[:WALKED], words), *_spread(nodes[:WALKED], words)]
    claims += [Step(TENSION, 0, b, a) for a, b in combinations(nodes[:AT_ODDS], 2)]
    claims += [
        Step(REMOVED, 0, nodes[0], edge=edge, scores={"change": float(edge == "path")})
        for edge in ("path", "random", "nearby")
    ]
    return msgspec.structs.replace(response, trace=claims)


def _paths(nodes: Sequence[str], words: _TraceVocabulary) -> Iterator[Step]:
    """The hits in their order as the best path, then every way from some of them to others."""
    ways = [tuple(nodes), *((node,) for node in nodes)]
    ways += [way for length in (2, 3) for way in permutations(nodes, length)]
    for way in ways:
        yield Step(PATH, 0, way[0], role=words.roles[0] if words.roles else None)
        depth = 0
        for before, node in zip(way, way[1:] or way, strict=False):
            for edge, role in zip_longest(words.edges, words.roles):
                depth += 1
                yield Step(PATH, depth, node, before, edge=edge, role=role)


def _spread(nodes: Sequence[str], words: _TraceVocabulary) -> Iterator[Step]:
    yield Step(SEED, 0, nodes[0])
    for hop in range(1, HOPS + 1):
        for node in nodes:
            for edge, stop in zip_longest(words.edges, words.stops):
                yield Step(SPREAD, hop, node, nodes[0], edge=edge, stop=stop)
