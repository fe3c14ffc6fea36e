"""The contexts that an engine elsewhere would show a reader, one a token budget, as its file writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import msgspec

from assay.core.errors import Problem
from assay.core.records import Budget, Context, Piece, Span


class TracedPiece(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch of text; `start` and `end` are its place in the document, where it is known."""

    doc_id: str
    text: str
    start: int | None = None
    end: int | None = None

    @property
    def span(self) -> Span | None:
        return None if self.start is None or self.end is None else Span(self.start, self.end)


class TracedContext(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A context as the file writes it. Its budget has to be said: null is none."""

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
    """Budgets that are none or stand twice, contexts that are too long, pieces that contradict themselves."""
    first: dict[Budget, int] = {}
    for at, context in enumerate(contexts):
        field, budget = f"contexts[{at}]", context.budget
        if budget is not None and budget < 1:
            fix = "Write a number of tokens, or null for none."
            yield Problem(f"{budget} is no budget", field=f"{field}.budget", fix=fix)
        if (earlier := first.setdefault(budget, at)) != at:
            what = f"the budget {_named([budget])} is that of contexts[{earlier}] already"
            yield Problem(what, field=f"{field}.budget", fix="Write one context a budget.")
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
    """Lines whose budgets are not those of the first line that has contexts. One with none at all says so."""
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
    """Budgets as a study writes them, rising."""
    counted = sorted(each for each in budgets if each is not None)
    return ", ".join([*map(str, counted), *(["inf"] if None in budgets else [])])
