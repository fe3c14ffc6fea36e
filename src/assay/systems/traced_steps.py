"""Checks the steps of a trace: whether each step fits the earlier steps, and the graph or tree.

Memories write paths, seeds, spreads, tensions and removals. Trees write routing steps, cross-links, races
between paths, and how many nodes were scored.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from assay.core.errors import Problem
from assay.core.records import Step
from assay.systems.traced_structure import EdgeKinds, PublishedStructure, ends_of

ROUTE, LINK, RACE, VISITED = "route", "link", "race", "visited"
ROUTE_KINDS = (ROUTE, LINK, RACE, VISITED)
PASSAGES = "passages"  # the name of the count below the leaves
_LEAST = {ROUTE: (1, "Count levels from 1, the root's children."), LINK: (1, "Count hops from 1."),
          RACE: (0, "Write 0."), VISITED: (1, "Count levels from 1.")}  # fmt: skip
MEMORY_KINDS = ("path", "seed", "spread", "tension", "removed")
KINDS = (*MEMORY_KINDS, *ROUTE_KINDS)
REMOVALS = ("path", "random", "nearby")
_NEAR = 0.8  # an unknown kind with at least this similarity counts as misspelt
Placed = Sequence[tuple[int, Step]]  # steps and their places in the trace


def trace_problems(trace: Sequence[Step], published: PublishedStructure | None) -> Iterator[Problem]:
    """Yields all problems that a trace has in itself, or in comparison with the published graph or tree."""
    yield from _trace_problems(trace)
    yield from route_problems(trace, published)
    if published is not None:
        yield from _walk_problems(trace, published.walked)


def _trace_problems(trace: Sequence[Step]) -> Iterator[Problem]:
    """Yields steps that do not follow from the steps before them."""
    before: Step | None = None  # the last step of a path
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
    """Checks that a path begins at depth 0, and that each step continues from the step before it."""
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
        what = f"the source is {step.source!r}, but the path is at {before.target!r}"
        yield Problem(what, field=f"{field}.source", fix="Name the node of the step before.")


def _event_problems(step: Step, field: str) -> Iterator[Problem]:
    """Checks that a step of a spread, tension or removal has the fields that it needs."""
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
            what = f"{step.edge!r} does not say what was removed"
            yield Problem(what, field=f"{field}.edge", fix=fix)
        if not 0 <= step.scores.get("change", -1) <= 1:
            fix = "Write how far the result changes, from 0 to 1."
            yield Problem("there is no change from 0 to 1", field=f"{field}.scores.change", fix=fix)


def _walk_problems(trace: Sequence[Step], walked: EdgeKinds) -> Iterator[Problem]:
    """Yields steps along edges that the graph does not have in either direction."""
    for at, step in enumerate(trace):
        if step.kind not in {"path", "spread"} or step.source is None or step.edge is None:
            continue
        found = walked.get(ends_of(step.source, step.target), set())
        if step.edge not in found:
            there = f"only {', '.join(sorted(found))}" if found else "none"
            what = f"the structure has no {step.edge} between {step.source!r} and {step.target!r}, {there}"
            fix = "Add the edge to the structure, or correct the step."
            yield Problem(what, field=f"trace[{at}].edge", fix=fix)


def route_problems(trace: Sequence[Step], published: PublishedStructure | None) -> Iterator[Problem]:
    """Yields steps in a tree that lack a field, or that contradict each other or the structure."""
    placed = {
        kind: [(at, step) for at, step in enumerate(trace) if step.kind == kind] for kind in ROUTE_KINDS
    }
    for kind, steps in placed.items():
        for at, step in steps:
            yield from _form_problems(kind, step, f"trace[{at}]")
    yield from _route_problems(placed[ROUTE])
    yield from _race_problems(placed[RACE])
    yield from _visited_problems(placed[VISITED])
    if published is not None:
        for at, step in placed[ROUTE]:
            yield from _misplaced(step, published, f"trace[{at}]")
        yield from _unlinked(placed[LINK], published)


def _form_problems(kind: str, step: Step, field: str) -> Iterator[Problem]:
    """Yields a depth that the kind of step cannot have, and a source that is missing or has no meaning."""
    least, fix = _LEAST[kind]
    if 0 <= step.depth < least or (kind == RACE and step.depth > 0):
        yield Problem(f"a step of kind {kind!r} at depth {step.depth}", field=f"{field}.depth", fix=fix)
    if kind in {ROUTE, LINK} and step.source is None:
        fix = "Name the node that was expanded." if kind == ROUTE else "Name the passage it came from."
        yield Problem(f"a step of kind {kind!r} has no source", field=f"{field}.source", fix=fix)
    if kind in {RACE, VISITED} and step.source is not None:
        yield Problem(f"a step of kind {kind!r} has a source", field=f"{field}.source", fix="Leave it out.")


def _route_problems(steps: Placed) -> Iterator[Problem]:
    """Yields repeated candidates, and selected nodes whose parent was not selected."""
    kept = {(step.depth, step.target) for _, step in steps if step.selected}
    first: dict[tuple[str | None, str], int] = {}
    for at, step in steps:
        field = f"trace[{at}]"
        if (earlier := first.setdefault((step.source, step.target), at)) != at:
            what = f"{step.target!r} is a candidate of {step.source!r} in trace[{earlier}] already"
            yield Problem(what, field=field, fix="Write each child of an expanded node once.")
        if step.selected and step.stop is not None:
            what = f"it was selected, and stopped by {step.stop!r}"
            yield Problem(what, field=f"{field}.stop", fix="Leave it out, or write selected: false.")
        above = (step.depth - 1, step.source)
        if step.selected and step.depth > 1 and step.source is not None and above not in kept:
            what = f"it is selected below {step.source!r}, which no step selects at depth {step.depth - 1}"
            fix = "Write the step that selected its source, or selected: false here."
            yield Problem(what, field=f"{field}.source", fix=fix)


def _race_problems(steps: Placed) -> Iterator[Problem]:
    """Yields races with only one path, with no winner or several, or with paths without confidence."""
    if not steps:
        return
    first: dict[str, int] = {}
    for at, step in steps:
        field = f"trace[{at}]"
        if (earlier := first.setdefault(step.target, at)) != at:
            what = f"{step.target!r} races in trace[{earlier}] already"
            yield Problem(what, field=f"{field}.target", fix="Write each path once.")
        if "confidence" not in step.scores:
            fix = "Write how sure the path was: the surest is taken."
            yield Problem("there is no confidence", field=f"{field}.scores.confidence", fix=fix)
    won = sum(step.selected for _, step in steps)
    if len(first) < 2:
        yield Problem("only one path races", field=f"trace[{steps[0][0]}]", fix="Write a step for each path.")
    elif won != 1:
        what = f"{won} of {len(steps)} paths won the race"
        fix = "Write selected: false at every path but the one whose answer this is."
        yield Problem(what, field=f"trace[{steps[0][0]}].selected", fix=fix)


def _visited_problems(steps: Placed) -> Iterator[Problem]:
    """Yields wrong names of levels, and wrong counts. Several steps may count parts of one level."""
    for at, step in steps:
        field = f"trace[{at}]"
        if step.target not in {f"L{step.depth}", PASSAGES}:
            what = f"{step.target!r} is not a level at depth {step.depth}"
            fix = f"Write L{step.depth}, or {PASSAGES} for what lies below the leaves."
            yield Problem(what, field=f"{field}.target", fix=fix)
        nodes, of = step.scores.get("nodes"), step.scores.get("of")
        if nodes is None or of is None or not 0 <= nodes <= of:
            what = f"{_count(nodes)} nodes of {_count(of)}"
            fix = "Write how many nodes were scored, and of how many."
            yield Problem(what, field=f"{field}.scores", fix=fix)


def _count(count: float | None) -> str:
    return "no number of" if count is None else f"{count:g}"


def _misplaced(step: Step, published: PublishedStructure, field: str) -> Iterator[Problem]:
    """Yields a problem if a routing step has another place in the tree, or is not in the tree."""
    ends = {"source": step.source, "target": step.target}
    lost = [name for name, node_id in ends.items() if node_id is not None and node_id not in published.nodes]
    for name in lost:
        fix = "Add a line for the node, or correct the step."
        yield Problem(f"the structure has no node {ends[name]!r}", field=f"{field}.{name}", fix=fix)
    if lost or step.source is None:
        return
    level = published.nodes[step.target].level
    if level is not None and level != step.depth:
        what = f"{step.target!r} has level {level} in the structure, and depth {step.depth} here"
        yield Problem(what, field=f"{field}.depth", fix="Write the level of the target.")
    if step.target not in published.children.get(step.source, ()):
        what = f"{step.target!r} is not a child of {step.source!r} in the structure"
        fix = "Add an edge of kind child between them, or correct the step."
        yield Problem(what, field=f"{field}.source", fix=fix)
    elif step.depth == 1 and step.source in published.below:
        what = f"{step.source!r} is not the root"
        yield Problem(what, field=f"{field}.source", fix="Depth 1 is the choice among the root's children.")


def _unlinked(steps: Placed, published: PublishedStructure) -> Iterator[Problem]:
    """Yields links along edges that the structure lacks. A link through one name needs no direct edge."""
    for at, step in steps:
        if step.source is not None and not published.linked(step.source, step.target, step.edge):
            kind = "link" if step.edge is None else step.edge
            what = f"the structure has no {kind} from {step.source!r} to {step.target!r}, nor one over a name"
            fix = "Add the edges to the structure, or correct the step."
            yield Problem(what, field=f"trace[{at}].edge", fix=fix)
