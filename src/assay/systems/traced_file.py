"""Reads the file in which an engine that ran elsewhere writes its answers, contexts and traces.

    {"item_id": "q1", "hits": [{"doc_id": "msa:4", "score": 0.9}], "trace": [{"kind": "path", …}, …]}

There is one line per item. An unknown field is refused by name, so that no misspelt field is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import msgspec

from assay.core.errors import DataError, Problem, decoding_problem
from assay.core.records import Budget, Context, Fault, Hit, Observed, Piece, Response, Span, Step
from assay.datasets.reading import FileRecords, FolderReader
from assay.datasets.trec_files import read_bytes
from assay.systems.traced_steps import LINK, RACE, ROUTE, trace_problems
from assay.systems.traced_structure import PublishedStructure, decode_line, read_structure

# ------------------------------------------------------------------------------------- answers


class TracedHit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hit as the file has it."""

    doc_id: str
    score: float | None = None


class TracedStep(Step, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A step of a trace. Unknown fields are refused."""


class TracedFailure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reason why the engine did not answer."""

    kind: str
    message: str


class TracedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer for one item."""

    item_id: str
    hits: list[str | TracedHit] | None = None
    contexts: list[TracedContext] | None = None
    trace: list[TracedStep] = []
    route: str | None = None
    flags: dict[str, bool | str] = {}
    seconds: float | None = None
    error: TracedFailure | None = None

    @property
    def returned(self) -> list[TracedHit]:
        """The hits that the line lists, if it lists hits."""
        return [TracedHit(each) if isinstance(each, str) else each for each in self.hits or ()]

    def response(self, passage_of: Callable[[str], str]) -> Response:
        """Returns the answer as a response. If no hits are listed, the passages of the paths are the hits."""
        observed = Observed(seconds={} if self.seconds is None else {"total": self.seconds})
        if self.error is not None:
            return Response(error=Fault(self.error.kind, self.error.message), observed=observed)
        returned = self.returned
        if self.hits is None:
            walked = (passage_of(step.target) for step in self.trace if step.kind == "path")
            returned = [TracedHit(doc_id) for doc_id in dict.fromkeys(walked)]
        left = range(len(returned), 0, -1)
        hits = [
            Hit(each.doc_id, float(below) if each.score is None else each.score)
            for each, below in zip(returned, left, strict=True)
        ]
        contexts = [each.context for each in self.contexts or ()]
        return Response(hits, contexts, self.taken, self.flags, None, list(self.trace), None, observed)

    @property
    def taken(self) -> str | None:
        """The route that the line names, or the path that won the race."""
        won = (step.target for step in self.trace if step.kind == RACE and step.selected)
        return self.route or next(won, None)


class TracedLine(msgspec.Struct, frozen=True):
    """A line that was checked. It keeps the bytes, because a decoded trace needs much more memory."""

    item_id: str
    raw: bytes
    problems: Sequence[Problem] = ()
    readable: bool = True
    budgets: frozenset[Budget] | None = None  # of its contexts; None: the line has no `contexts`

    @property
    def answer(self) -> TracedAnswer:
        """The decoded line. If the line is not readable, the answer has only the item."""
        return (
            msgspec.json.decode(self.raw, type=TracedAnswer) if self.readable else TracedAnswer(self.item_id)
        )


class _Named(msgspec.Struct, frozen=True):
    """The part of a line that names its item."""

    item_id: str


def read_line(raw: bytes, published: PublishedStructure | None) -> TracedLine:
    """Reads a line and checks it, also against the graph if there is one.

    A line that cannot be decoded counts for the item that it names, so that the item is not reported as
    missing. A line without an item is refused.
    """
    try:
        answer = decode_line(raw, TracedAnswer)
    except (msgspec.ValidationError, DataError) as error:
        try:
            item_id = msgspec.json.decode(raw, type=_Named).item_id
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise error from None
        found = error.problems if isinstance(error, DataError) else [decoding_problem(error)]
        return TracedLine(item_id, b"", found, readable=False)
    problems = [*_hit_problems(answer), *trace_problems(answer.trace, published), *_routed_problems(answer)]
    problems += context_problems(answer.contexts or ())
    if answer.seconds is not None and answer.seconds < 0:
        what = f"{answer.seconds} is not a duration"
        problems.append(Problem(what, field="seconds", fix="Write seconds."))
    budgets = None if answer.contexts is None else frozenset(each.budget for each in answer.contexts)
    if answer.error is not None:
        budgets = frozenset()  # a failed item needs no context
    return TracedLine(answer.item_id, raw, problems, budgets=budgets)


def _hit_problems(answer: TracedAnswer) -> Iterator[Problem]:
    """Yields hits that are repeated, that have scores only in part, or whose scores rise."""
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


def _routed_problems(answer: TracedAnswer) -> Iterator[Problem]:
    """Yields contradictions between the trace of a tree and the hits or the route."""
    kinds = {step.kind for step in answer.trace}
    if answer.hits is None and answer.error is None and ROUTE in kinds and "path" not in kinds:
        fix = "List them; an empty list says that nothing was found."
        yield Problem("there are routing steps, and no hits", field="hits", fix=fix)
    listed = {each.doc_id for each in answer.returned}
    for at, step in enumerate(answer.trace):
        if step.kind == LINK and step.selected and answer.hits is not None and step.target not in listed:
            fix = "Add the hit, or write selected: false where it did not count."
            what = f"a link led to {step.target!r}, which is not a hit"
            yield Problem(what, field=f"trace[{at}].target", fix=fix)
    won = [step.target for step in answer.trace if step.kind == RACE and step.selected]
    if answer.route is not None and won and answer.route not in won:
        what = f"the route is {answer.route!r}, and {won[0]!r} won the race"
        yield Problem(what, field="route", fix="Name the path whose answer this is, or leave it out.")


# --------------------------------------------------------------------------------------- files


@dataclass(frozen=True)
class EngineFiles:
    """The content of an engine's files, as far as it could be read, and the problems of their form."""

    answers: FileRecords[TracedLine]
    published: PublishedStructure | None = None
    published_where: str = ""
    node_lines: Mapping[str, int] = field(default_factory=dict)  # the line of each node
    problems: Sequence[Problem] = ()


def read_engine(path: Path, structure: Path | None = None) -> EngineFiles:
    """Reads the files of an engine. Problems of their form are returned, never raised."""
    engine = EngineFiles(FileRecords(str(path), [], []))
    if structure is not None:
        engine = _with_structure(engine, structure)
    # no walk is compared with a graph that has problems itself
    published = None if engine.problems else engine.published
    try:
        reader = FolderReader(path.parent)
    except DataError as error:
        return replace(engine, problems=[*engine.problems, *error.problems])
    rows = reader.jsonl(reader.need(path.name), lambda raw: read_line(raw, published), "item_id")
    faulty = [replace(each, where=rows.where, line=line) for line, row in rows for each in row.problems]
    shown = [(line, row.budgets) for line, row in rows if row.readable]
    faulty += [replace(each, where=rows.where) for each in uneven_budget_problems(shown)]
    of_answers = sorted([*faulty, *reader.problems], key=lambda problem: problem.line or 0)
    return replace(engine, answers=rows, problems=[*engine.problems, *of_answers])


def _with_structure(engine: EngineFiles, path: Path) -> EngineFiles:
    try:
        reader = FolderReader(path.parent)
    except DataError as error:
        return replace(engine, problems=error.problems)
    found = reader.need(path.name)
    published, lines = read_structure(reader, found)
    return replace(
        engine, published=published, published_where=str(found), node_lines=lines, problems=reader.problems
    )


class _Held(msgspec.Struct, frozen=True):
    """The optional parts of an answer."""

    contexts: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    route: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    flags: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def parts_held(path: Path) -> frozenset[str]:
    """Returns the optional parts that occur in any line. Lines that cannot be read are ignored."""
    held: set[str] = set()
    try:
        lines = read_bytes(path).splitlines()
    except DataError:
        return frozenset()
    for line in lines:
        try:
            found = msgspec.json.decode(line, type=_Held)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        held.update(name for name in _Held.__struct_fields__ if getattr(found, name) is not msgspec.UNSET)
    return frozenset(held)


class TracedPiece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a text. `start` and `end` are its place in the document, if the place is known."""

    doc_id: str
    text: str
    start: int | None = None
    end: int | None = None

    @property
    def span(self) -> Span | None:
        return None if self.start is None or self.end is None else Span(self.start, self.end)


class TracedContext(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A context as the file has it. The budget must be given; null means no limit."""

    budget: Budget
    pieces: list[TracedPiece]
    tokens: int
    tokenizer: str
    route: str | None = None
    reason: str | None = None

    @property
    def context(self) -> Context:
        pieces = [Piece(each.doc_id, each.text, each.span) for each in self.pieces]
        return Context(self.budget, pieces, self.tokens, self.tokenizer, self.route, self.reason)


def context_problems(contexts: Sequence[TracedContext]) -> Iterator[Problem]:
    """Yields wrong or repeated budgets, contexts that are too long, and pieces that contradict themselves."""
    first: dict[Budget, int] = {}
    for at, context in enumerate(contexts):
        field, budget = f"contexts[{at}]", context.budget
        if budget is not None and budget < 1:
            fix = "Write a number of tokens, or null for none."
            yield Problem(f"{budget} is not a budget", field=f"{field}.budget", fix=fix)
        if (earlier := first.setdefault(budget, at)) != at:
            what = f"the budget {_named([budget])} is that of contexts[{earlier}] already"
            yield Problem(what, field=f"{field}.budget", fix="Write one context per budget.")
        if context.tokens < 0 or (budget is not None and context.tokens > budget):
            what = f"{context.tokens} tokens for a budget of {_named([budget])}"
            yield Problem(what, field=f"{field}.tokens", fix="Leave pieces out until it fits.")
        for number, piece in enumerate(context.pieces):
            yield from _piece_problems(piece, f"{field}.pieces[{number}]")


def _piece_problems(piece: TracedPiece, field: str) -> Iterator[Problem]:
    if (piece.start is None) != (piece.end is None):
        lacking = "start" if piece.start is None else "end"
        yield Problem(f"there is no {lacking}", field=field, fix="Write start and end, or neither.")
    elif (span := piece.span) is not None and (span.start < 0 or span.end - span.start != len(piece.text)):
        what = f"the text has {len(piece.text)} characters, [{span.start}, {span.end}) has not"
        fix = "Take both from the document, or leave start and end out: its words count then."
        yield Problem(what, field=field, fix=fix)


def uneven_budget_problems(shown: Sequence[tuple[int, Set[Budget] | None]]) -> Iterator[Problem]:
    """Yields lines whose budgets differ from those of the first line with contexts."""
    model = next(((line, each) for line, each in shown if each), None)
    if model is None:
        return
    for line, budgets in shown:
        if budgets is None:
            what = f"there are no contexts, and line {model[0]} has some"
            fix = "Add them; an empty list says that nothing was shown."
            yield Problem(what, line=line, field="contexts", fix=fix)
        elif budgets and budgets != model[1]:
            what = f"contexts for {_named(budgets)}, and for {_named(model[1])} on line {model[0]}"
            yield Problem(what, line=line, field="contexts", fix="Give every item the same budgets.")


def _named(budgets: Sequence[Budget] | Set[Budget]) -> str:
    """Returns budgets as a study writes them, in ascending order."""
    counted = sorted(each for each in budgets if each is not None)
    return ", ".join([*map(str, counted), *(["inf"] if None in budgets else [])])
