"""What the oracle walks: the paths, tensions and spreads that items expect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.core.block import Block
from assay.core.records import PATH, Response, Step
from assay.kinds.memory.walk import (
    REMOVED,
    SEED,
    SPREAD,
    TENSION,
    WalkExpectation,
    walk_expectations,
)


@dataclass(frozen=True)
class ExpectedWalks:
    """A walk as each item expects it; what a probe is compared with stays as it was asked."""

    def steps(self, block: Block, documents: Sequence[Sequence[str]]) -> Iterator[list[Step] | None]:
        for wanted, docs, response in zip(
            walk_expectations(block.items), documents, block.responses, strict=True
        ):
            if response is None or wanted.unprimed_of is not None:
                yield None
            else:
                yield [*_walk(docs, wanted), *_removed(response)]


def _walk(docs: Sequence[str], wanted: WalkExpectation) -> list[Step]:
    """A walk as the item expects it; none where it expects none."""
    steps: list[Step] = []
    nodes = [(step.node_id, step.via_edge_type) for step in wanted.path.steps] if wanted.path else []
    nodes = nodes or [(doc, None) for doc in docs]
    roles, edges = list(wanted.required_semantic_roles), list(wanted.required_edge_types)
    if not (wanted.path or roles or edges or wanted.required_contradiction_pairs or _spreads(wanted)):
        return []
    while nodes and len(nodes) <= max(len(roles) - 1, len(edges)):
        nodes.append((f"{nodes[-1][0]}+", None))  # a further node, for what the named ones have no room for
    for depth, (node, via) in enumerate(nodes):
        edge = via or (edges.pop(0) if depth and edges else None)
        role = roles.pop(0) if roles else None
        steps.append(Step(PATH, depth, node, nodes[depth - 1][0] if depth else None, edge=edge, role=role))
    rest = [doc for doc in docs if doc not in {node for node, _ in nodes}]
    steps += [Step(PATH, 0, doc) for doc in rest]
    steps += [Step(TENSION, 0, b, a) for a, b in wanted.required_contradiction_pairs]
    return [*steps, *_spread(docs, wanted)]


def _removed(response: Response) -> list[Step]:
    """That the best path carried the whole result, where the candidate tells what carried its own."""
    told = {step.edge for step in response.trace if step.kind == REMOVED}
    return [
        Step(REMOVED, 0, "", edge=edge, scores={"change": float(edge == "path")})
        for edge in sorted(map(str, told))
    ]


def _spreads(wanted: WalkExpectation) -> bool:
    return bool(
        wanted.activation_trace
        or wanted.required_trace_stop_reasons
        or wanted.min_activation_trace_length
        or wanted.max_activation_trace_length
    )


def _spread(docs: Sequence[str], wanted: WalkExpectation) -> list[Step]:
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
    held = {step.stop for step in steps}
    steps += [
        Step(SPREAD, 1, steps[0].target, stop=stop, selected=False)
        for stop in wanted.required_trace_stop_reasons
        if stop not in held
    ]
    while len(steps) < (wanted.min_activation_trace_length or 0):
        steps.append(Step(SPREAD, len(steps), steps[0].target))
    return steps
