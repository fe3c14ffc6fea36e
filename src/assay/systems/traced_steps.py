"""Whether the steps of a trace follow from each other, and from the graph or tree they were taken in."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from assay.core.errors import Problem
from assay.core.records import Step
from assay.systems.traced_routes import ROUTE_KINDS, route_problems
from assay.systems.traced_structure import EdgeKinds, PublishedStructure, ends_of

MEMORY_KINDS = ("path", "seed", "spread", "tension", "removed")
KINDS = (*MEMORY_KINDS, *ROUTE_KINDS)
REMOVALS = ("path", "random", "nearby")
_NEAR = 0.8  # how alike a kind must be to one of ours to be a slip


def trace_problems(trace: Sequence[Step], published: PublishedStructure | None) -> Iterator[Problem]:
    """All that is wrong with a trace, as far as it and the graph tell."""
    yield from _trace_problems(trace)
    yield from route_problems(trace, published)
    if published is not None:
        yield from _walk_problems(trace, published.walked)


def _trace_problems(trace: Sequence[Step]) -> Iterator[Problem]:
    """Steps that do not follow from those before them."""
    before: Step | None = None  # in the paths
    seeded = False
    for at, step in enumerate(trace):
        field = f"trace[{at}]"
        if step.depth < 0:
            yield Problem(f"the depth is {step.depth}", field=f"{field}.depth", fix="Count from 0.")
        elif step.kind == "path":
            yield from _path_problems(step, before, field)
        elif step.kind == "spread" and not seeded:
            fix = "Put the step of its seed in front of it."
            yield Problem("energy spreads before any seed", field=f"{field}.kind", fix=fix)
        elif step.kind in MEMORY_KINDS:
            yield from _event_problems(step, field)
        elif step.kind not in KINDS and (
            near := difflib.get_close_matches(step.kind.lower(), KINDS, 1, _NEAR)
        ):
            fix = f"Did you mean {near[0]!r}? A kind of your own needs a name less like it."
            yield Problem(f"there is no kind {step.kind!r}", field=f"{field}.kind", fix=fix)
        before = step if step.kind == "path" else before
        seeded = seeded or step.kind == "seed"


def _path_problems(step: Step, before: Step | None, field: str) -> Iterator[Problem]:
    """A path begins at depth 0, and each step goes on from the one before it."""
    if step.depth == 0:
        for name in ("source", "edge"):
            if getattr(step, name) is not None:
                what = f"a path begins here, so it has no {name}"
                yield Problem(what, field=f"{field}.{name}", fix="Leave it out, or count the depth on.")
    elif before is None:
        what = f"the first path begins at depth {step.depth}"
        yield Problem(what, field=f"{field}.depth", fix="Begin every path at depth 0.")
    elif step.depth != before.depth + 1:
        what = f"depth {step.depth} follows depth {before.depth}"
        yield Problem(what, field=f"{field}.depth", fix="Count on by one, or begin a path at 0.")
    elif step.source != before.target:
        what = f"the source is {step.source!r}, but the path stands at {before.target!r}"
        yield Problem(what, field=f"{field}.source", fix="Name the node of the step before.")


def _event_problems(step: Step, field: str) -> Iterator[Problem]:
    """What a step of a spread, a tension or a removal must say."""
    if (step.kind == "spread") != (step.depth > 0):
        what = f"a step of kind {step.kind!r} at depth {step.depth}"
        fix = "Count hops from 1." if step.kind == "spread" else "Write 0."
        yield Problem(what, field=f"{field}.depth", fix=fix)
    if step.kind in {"spread", "tension"} and step.source is None:
        what = f"a step of kind {step.kind!r} has no source"
        yield Problem(what, field=f"{field}.source", fix="Name the node at its other end.")
    if step.kind == "removed":
        if step.edge not in REMOVALS:
            fix = f"Write {', '.join(REMOVALS[:-1])} or {REMOVALS[-1]}."
            yield Problem(f"{step.edge!r} says not what was removed", field=f"{field}.edge", fix=fix)
        if not 0 <= step.scores.get("change", -1) <= 1:
            fix = "Write how far the result changes, from 0 to 1."
            yield Problem("there is no change from 0 to 1", field=f"{field}.scores.change", fix=fix)


def _walk_problems(trace: Sequence[Step], walked: EdgeKinds) -> Iterator[Problem]:
    """Steps along edges that the graph does not have; either direction counts."""
    for at, step in enumerate(trace):
        if step.kind not in {"path", "spread"} or step.source is None or step.edge is None:
            continue
        found = walked.get(ends_of(step.source, step.target), set())
        if step.edge not in found:
            there = f"only {', '.join(sorted(found))}" if found else "none"
            what = f"the structure has no {step.edge} between {step.source!r} and {step.target!r}, {there}"
            fix = "Add the edge to the structure, or correct the step."
            yield Problem(what, field=f"trace[{at}].edge", fix=fix)
