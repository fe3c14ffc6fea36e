"""The file in which an engine that ran elsewhere writes what it answered and how it got there.

    {"item_id": "q1", "hits": [{"doc_id": "msa:4", "score": 0.9}], "trace": [{"kind": "path", …}, …]}

One line an item. A field that is not known is refused by name, so that a slip is never passed over.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import msgspec

from assay.datasets.reading import Reader, Rows, explained
from assay.errors import DataError, Problem
from assay.records import Fault, Hit, Observed, Response, Step
from assay.systems.traced_graph import Graph, Walked, decoded, ends_of, read_graph

KINDS = ("path", "seed", "spread", "tension", "removed")
REMOVALS = ("path", "random", "nearby")
_NEAR = 0.8  # how alike a kind must be to one of ours to be a slip


# ------------------------------------------------------------------------------------- answers


class Returned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hit as the file names it."""

    doc_id: str
    score: float | None = None


class TracedStep(Step, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A step of a trace, read strictly."""


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why the engine did not answer."""

    kind: str
    message: str


class TracedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file holds for one item."""

    item_id: str
    hits: list[str | Returned] | None = None
    trace: list[TracedStep] = []
    seconds: float | None = None
    error: Failure | None = None

    @property
    def returned(self) -> list[Returned]:
        """The hits that it lists, if it lists any."""
        return [Returned(each) if isinstance(each, str) else each for each in self.hits or ()]

    def response(self, passage_of: Callable[[str], str]) -> Response:
        """The answer as a system gives it. Hits that are not listed are the passages of the paths."""
        observed = Observed(seconds={} if self.seconds is None else {"total": self.seconds})
        if self.error is not None:
            return Response(error=Fault(self.error.kind, self.error.message), observed=observed)
        returned = self.returned
        if self.hits is None:
            walked = (passage_of(step.target) for step in self.trace if step.kind == "path")
            returned = [Returned(doc_id) for doc_id in dict.fromkeys(walked)]
        left = range(len(returned), 0, -1)
        hits = [
            Hit(each.doc_id, float(below) if each.score is None else each.score)
            for each, below in zip(returned, left, strict=True)
        ]
        return Response(hits=hits, trace=list(self.trace), observed=observed)


class Kept(msgspec.Struct, frozen=True):
    """A line that was read, as it stands: a trace in memory is many times as large."""

    item_id: str
    raw: bytes
    problems: Sequence[Problem] = ()
    readable: bool = True

    @property
    def answer(self) -> TracedAnswer:
        """What the line says; nothing but its item where it is not readable."""
        return (
            msgspec.json.decode(self.raw, type=TracedAnswer) if self.readable else TracedAnswer(self.item_id)
        )


class _Named(msgspec.Struct, frozen=True):
    """As much of a line as says which item it is about."""

    item_id: str


def kept(raw: bytes, walked: Walked | None) -> Kept:
    """A line of answers and all that is wrong with it, as far as the line and the graph tell.

    A line that cannot be read counts for the item it names, so that the item is not told to be missing;
    without an item it is refused.
    """
    try:
        answer = decoded(raw, TracedAnswer)
    except (msgspec.ValidationError, DataError) as error:
        try:
            item_id = msgspec.json.decode(raw, type=_Named).item_id
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise error from None
        told = error.problems if isinstance(error, DataError) else [explained(error)]
        return Kept(item_id, b"", told, readable=False)
    problems = [*_hit_problems(answer), *_trace_problems(answer.trace)]
    if walked is not None:
        problems += _walk_problems(answer.trace, walked)
    if answer.seconds is not None and answer.seconds < 0:
        problems.append(Problem(f"{answer.seconds} is no duration", field="seconds", fix="Write seconds."))
    return Kept(answer.item_id, raw, problems)


def _hit_problems(answer: TracedAnswer) -> Iterator[Problem]:
    """Hits that stand twice, that only partly have scores, or whose scores rise."""
    first: dict[str, int] = {}
    returned = answer.returned
    for at, each in enumerate(returned):
        if (earlier := first.setdefault(each.doc_id, at)) != at:
            what = f"{each.doc_id!r} is hit {earlier} already"
            yield Problem(what, field=f"hits[{at}]", fix="Name each hit once.")
    scores = [each.score for each in returned if each.score is not None]
    if 0 < len(scores) < len(returned):
        what = f"{len(returned) - len(scores)} of {len(returned)} hits have no score"
        yield Problem(what, field="hits", fix="Give every hit a score, or none.")
        return
    for at, (above, below) in enumerate(pairwise(scores), 1):
        if below > above:
            fix = "Put the best first, or leave the scores out: the order counts then."
            yield Problem(f"the score rises from {above:g} to {below:g}", field=f"hits[{at}].score", fix=fix)


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
        elif step.kind in KINDS:
            yield from _event_problems(step, field)
        elif near := difflib.get_close_matches(step.kind.lower(), KINDS, 1, _NEAR):
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


def _walk_problems(trace: Sequence[Step], walked: Walked) -> Iterator[Problem]:
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


# --------------------------------------------------------------------------------------- files


@dataclass(frozen=True)
class Engine:
    """What the files of an engine hold as far as they could be read, and what is wrong with their form."""

    answers: Rows[Kept]
    graph: Graph | None = None
    graph_where: str = ""
    graph_lines: Mapping[str, int] = field(default_factory=dict)  # the line of each node
    problems: Sequence[Problem] = ()


def read_engine(path: Path, structure: Path | None = None) -> Engine:
    """Reads the files of an engine. What is wrong with their form is among its problems, never raised."""
    engine = Engine(Rows(str(path), [], []))
    if structure is not None:
        engine = _with_graph(engine, structure)
    # A graph that is broken itself accuses no walk.
    walked = None if engine.graph is None or engine.problems else engine.graph.walked
    try:
        reader = Reader(path.parent)
    except DataError as error:
        return replace(engine, problems=[*engine.problems, *error.problems])
    rows = reader.jsonl(reader.need(path.name), lambda raw: kept(raw, walked), "item_id")
    faulty = [replace(each, where=rows.where, line=line) for line, row in rows for each in row.problems]
    of_answers = sorted([*faulty, *reader.problems], key=lambda problem: problem.line or 0)
    return replace(engine, answers=rows, problems=[*engine.problems, *of_answers])


def _with_graph(engine: Engine, path: Path) -> Engine:
    try:
        reader = Reader(path.parent)
    except DataError as error:
        return replace(engine, problems=error.problems)
    found = reader.need(path.name)
    graph, lines = read_graph(reader, found)
    return replace(engine, graph=graph, graph_where=str(found), graph_lines=lines, problems=reader.problems)
