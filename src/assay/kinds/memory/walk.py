"""What a trace says about the walk of a memory, and what gold says about the walk that it expects.

A trace holds paths, best first (steps of the kind "path"), then spreads of activation ("seed" and "spread"),
then tensions between nodes ("tension"), then how far the result changes without some edges ("removed"). In a
response without a path, each hit is a path of one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec

from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.records import PATH, Item, Response, Step

Over = Literal["paths", "best_path", "hits"]
MatchMode = Literal["exact", "prefix", "subsequence"]
SEED, SPREAD, TENSION, REMOVED = "seed", "spread", "tension", "removed"  # the kinds of steps besides PATH
T = TypeVar("T")

# ------------------------------------------------------------------------------ what was walked


def paths_of(response: Response) -> list[list[Step]]:
    """Returns the paths, best first.

    If there are none, each hit becomes a path of one step, in rank order.
    """
    return paths_in(response.trace) or [[Step(PATH, 0, doc_id)] for doc_id in ranked_ids(response)]


def paths_in(trace: Iterable[Step]) -> list[list[Step]]:
    """Returns the paths of a trace, best first."""
    return _split((step for step in trace if step.kind == PATH), lambda step: step.depth == 0)


def spreads_in(trace: Iterable[Step]) -> list[list[Step]]:
    """Returns the spreads of a trace, one per seed: the seed, then every attempt to pass energy on."""
    return _split((s for s in trace if s.kind in (SEED, SPREAD)), lambda step: step.kind == SEED)


def _split(steps: Iterable[Step], begins: Callable[[Step], bool]) -> list[list[Step]]:
    parts: list[list[Step]] = []
    for step in steps:
        if begins(step) or not parts:
            parts.append([])
        parts[-1].append(step)
    return parts


def visited_once(path: Sequence[Step]) -> list[Step]:
    """Returns a path with only the first visit to each node."""
    first: dict[str, Step] = {}
    for step in path:
        first.setdefault(step.target, step)
    return list(first.values())


def ranked_ids(response: Response) -> list[str]:
    """Returns the ids of the hits, best first, each id once. Ties are broken as in every ranking."""
    order = sorted(response.hits, key=lambda hit: (hit.score, hit.doc_id), reverse=True)
    return list(dict.fromkeys(hit.doc_id for hit in order))


def returned_nodes(response: Response, over: Over) -> list[str]:
    """Returns each node of a response once: from all paths in turn, from the best path, or from the hits."""
    if over == "hits":
        return ranked_ids(response)
    walked = paths_of(response) if over == "paths" else paths_of(response)[:1]
    return list(dict.fromkeys(step.target for path in walked for step in path))


def spread_length(spread: Sequence[Step]) -> int:
    """Returns how many steps a spread has. Steps that the system left out of the trace count too."""
    return len(spread) + int(sum(step.scores.get("untold", 0.0) for step in spread if step.kind == SEED))


def reached_nodes(response: Response) -> set[str]:
    """Returns the nodes that energy began at or was passed on to; without a spread, those on the paths."""
    found = {step.target for spread in spreads_in(response.trace) for step in spread if step.selected}
    return found or set(returned_nodes(response, "paths"))


def tension_pairs(response: Response) -> set[frozenset[str]]:
    """Returns the pairs of nodes that a response claims to be at odds, without an order within a pair."""
    pairs = ((step.source, step.target) for step in response.trace if step.kind == TENSION)
    return {frozenset({source, target}) for source, target in pairs if source is not None}


def change_without(response: Response, edges: str) -> float | None:
    """Returns how far the result changes without some edges; None if the trace does not say it.

    `edges` names the removed edges: "path" (those of the best path), "random" or "nearby".
    """
    steps = (step for step in response.trace if step.kind == REMOVED and step.edge == edges)
    return next((step.scores.get("change") for step in steps), None)


# ----------------------------------------------------------------------------- what is expected


class ExpectedStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of an expected path: the node, and the type of the edge that leads to it (None: any type)."""

    node_id: str
    via_edge_type: str | None = None

    def fits(self, step: Step) -> bool:
        """Whether a step of a path matches this expected step."""
        return step.target == self.node_id and self.via_edge_type in (None, step.edge)


class ExpectedPath(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A path that a case expects."""

    steps: Annotated[list[ExpectedStep], msgspec.Meta(min_length=1)]
    match_mode: MatchMode = "subsequence"


class ExpectedTraceStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of an expected spread: the node, and what else the case says about it (None: anything)."""

    node_id: str
    edge_type: str | None = None
    hop: int | None = None
    is_seed: bool | None = None
    stopped_reason: str | None = None

    def fits(self, step: Step) -> bool:
        """Whether a step of a spread matches this expected step."""
        return (
            step.target == self.node_id
            and self.edge_type in (None, step.edge)
            and self.hop in (None, step.depth)
            and self.is_seed in (None, step.kind == SEED)
            and self.stopped_reason in (None, step.stop)
        )


class ExpectedTrace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A spread of activation that a case expects."""

    steps: Annotated[list[ExpectedTraceStep], msgspec.Meta(min_length=1)]
    match_mode: MatchMode = "subsequence"


class WalkExpectation(msgspec.Struct, frozen=True):
    """The part of an item's gold that is about the walk."""

    minimum_evidence_matches: Annotated[int, msgspec.Meta(ge=0)] = 1
    path: ExpectedPath | None = None
    path_scope: Literal["best_path", "any_path"] = "any_path"
    required_edge_types: list[str] = []
    required_semantic_roles: list[str] = []
    required_contradiction_pairs: list[tuple[str, str]] = []
    activation_trace: ExpectedTrace | None = None
    required_trace_stop_reasons: list[str] = []
    min_activation_trace_length: int | None = None
    max_activation_trace_length: int | None = None
    unprimed_of: str | None = None


def walk_expectations(items: Sequence[Item]) -> list[WalkExpectation]:
    """Returns what each item expects of a walk.

    Raises an error that lists every item whose gold cannot be read.
    """
    found, problems = list[WalkExpectation](), list[Problem]()
    for item in items:
        try:
            found.append(msgspec.convert(item.gold, WalkExpectation))
        except msgspec.ValidationError as error:
            problems.append(decoding_problem(error, f"item {item.item_id!r}, gold"))
    if problems:
        raise DataError(problems)
    return found


def follows(
    expected: Sequence[T], walked: Sequence[Step], mode: MatchMode, fits: Callable[[T, Step], bool]
) -> bool:
    """Whether a walk matches the expected steps.

    The `mode` is "exact" (the same steps), "prefix" (the walk begins with the steps) or "subsequence" (the
    steps occur in this order, and other steps may lie between).
    """
    if mode == "subsequence":
        left = iter(walked)
        return all(any(fits(each, step) for step in left) for each in expected)
    enough = len(walked) == len(expected) if mode == "exact" else len(walked) >= len(expected)
    return enough and all(map(fits, expected, walked))
