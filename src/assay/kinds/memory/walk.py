"""What a memory walked, as its trace tells it, and what a case expects of the walk, as its gold states it.

A trace holds replayed paths, best first (steps of the kind "path"), then spreads of activation ("seed" and
"spread"), then tensions between nodes ("tension"), then what the result would be without some edges
("removed"). A response without any path step walked nowhere: each of its hits is a path of one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec

from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.records import PATH, Item, Response, Step

Over = Literal["paths", "best_path", "hits"]
MatchMode = Literal["exact", "prefix", "subsequence"]
SEED, SPREAD, TENSION, REMOVED = "seed", "spread", "tension", "removed"  # kinds of steps, beside PATH
T = TypeVar("T")

# ------------------------------------------------------------------------------ what was walked


def paths_of(response: Response) -> list[list[Step]]:
    """The replayed paths, best first; where there are none, the hits by rank, each a path of one step."""
    found = _parts((step for step in response.trace if step.kind == PATH), lambda step: step.depth == 0)
    return found or [[Step(PATH, 0, doc_id)] for doc_id in ranked_ids(response)]


def visited_once(path: Sequence[Step]) -> list[Step]:
    """A path without its returns: of several visits to a node the first."""
    first: dict[str, Step] = {}
    for step in path:
        first.setdefault(step.target, step)
    return list(first.values())


def ranked_ids(response: Response) -> list[str]:
    """What the hits name, best first, each once; equal scores stand as in every ranking."""
    order = sorted(response.hits, key=lambda hit: (hit.score, hit.doc_id), reverse=True)
    return list(dict.fromkeys(hit.doc_id for hit in order))


def returned_nodes(response: Response, over: Over) -> list[str]:
    """The nodes that a response returns, each once: of all paths in turn, of the best one, or the ranking."""
    if over == "hits":
        return ranked_ids(response)
    walked = paths_of(response) if over == "paths" else paths_of(response)[:1]
    return list(dict.fromkeys(step.target for path in walked for step in path))


def spreads_of(response: Response) -> list[list[Step]]:
    """The spreads of activation, one a seed: the seed, then every attempt to pass energy on."""
    steps = (step for step in response.trace if step.kind in (SEED, SPREAD))
    return _parts(steps, lambda step: step.kind == SEED)


def spread_length(spread: Sequence[Step]) -> int:
    """How many steps a spread has, with those that its system left untold."""
    return len(spread) + int(sum(step.scores.get("untold", 0.0) for step in spread if step.kind == SEED))


def reached_nodes(response: Response) -> set[str]:
    """The nodes that energy began at or was passed on to; without a spread, those on the paths."""
    found = {step.target for spread in spreads_of(response) for step in spread if step.selected}
    return found or set(returned_nodes(response, "paths"))


def tension_pairs(response: Response) -> set[frozenset[str]]:
    """The pairs of nodes that a response says are at odds, whichever is named first."""
    pairs = ((step.source, step.target) for step in response.trace if step.kind == TENSION)
    return {frozenset({source, target}) for source, target in pairs if source is not None}


def change_without(response: Response, without: str) -> float | None:
    """How far the result changes without some edges: the best path's, random ones, nearby ones."""
    steps = (step for step in response.trace if step.kind == REMOVED and step.edge == without)
    return next((step.scores.get("change") for step in steps), None)


def _parts(steps: Iterable[Step], begins: Callable[[Step], bool]) -> list[list[Step]]:
    parts: list[list[Step]] = []
    for step in steps:
        if begins(step) or not parts:
            parts.append([])
        parts[-1].append(step)
    return parts


# ----------------------------------------------------------------------------- what is expected


class ExpectedStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of an expected path: the node, and the type of edge that leads to it where that matters."""

    node_id: str
    via_edge_type: str | None = None

    def fits(self, step: Step) -> bool:
        """Whether a step of a path is the one expected."""
        return step.target == self.node_id and self.via_edge_type in (None, step.edge)


class WantedPath(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A path that a case expects."""

    steps: Annotated[list[ExpectedStep], msgspec.Meta(min_length=1)]
    match_mode: MatchMode = "subsequence"


class ExpectedTraceStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of an expected spread: the node, and whatever else is stated about it."""

    node_id: str
    edge_type: str | None = None
    hop: int | None = None
    is_seed: bool | None = None
    stopped_reason: str | None = None

    def fits(self, step: Step) -> bool:
        """Whether a step of a spread is the one expected."""
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
    """What the gold of an item says about a walk. Nothing stated is nothing expected."""

    minimum_evidence_matches: Annotated[int, msgspec.Meta(ge=0)] = 1
    path: WantedPath | None = None
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
    """What each item expects of a walk; whatever gold cannot be read is told at once."""
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
    wanted: Sequence[T], walked: Sequence[Step], mode: MatchMode, fits: Callable[[T, Step], bool]
) -> bool:
    """Whether a walk is as wanted: exactly, at its beginning, or in this order with others between."""
    if mode == "subsequence":
        left = iter(walked)
        return all(any(fits(each, step) for step in left) for each in wanted)
    enough = len(walked) == len(wanted) if mode == "exact" else len(walked) >= len(wanted)
    return enough and all(map(fits, wanted, walked))
