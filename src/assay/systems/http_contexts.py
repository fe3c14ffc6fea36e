"""What a service would show a reader under each token budget, read from its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.dataset import Corpus
from assay.core.errors import SystemFailure, UsageError
from assay.core.parts import Tokens
from assay.core.records import Budget, Context, Piece, Span
from assay.systems.http_reading import Expression

_UNBOUNDED = "inf"


def parse_budget(written: str | int) -> Budget:
    """A budget as a study writes it: a number of tokens, or inf."""
    if str(written) == _UNBOUNDED:
        return None
    if not str(written).isdecimal() or int(written) < 1:
        raise UsageError(f"contexts: {written!r} is no budget. Write a number of tokens, or inf.")
    return int(written)


@dataclass(frozen=True)
class ContextReader:
    """Where an answer holds the context of each budget, and what a piece of one is made of."""

    places: Mapping[Budget, Expression]
    doc_id: Expression
    text: Expression
    corpus: Corpus
    tokens: Tokens

    def contexts(self, answer: Any, budgets: Sequence[Budget]) -> list[Context]:
        """One context a budget, counted by our tokenizer; SystemFailure where there is none."""
        return [self._context(answer, budget) for budget in budgets if budget in self.places]

    def _context(self, answer: Any, budget: Budget) -> Context:
        place = self.places[budget]
        found = place.find(answer)
        if not isinstance(found, str | list):
            what = f"At {place.written!r} there is {_what(found)}, not a context: a text, or a list of pieces"
            fix = f"Correct {place.field}; where it may be absent, write {place.written} || `[]`."
            raise SystemFailure(f"{what}. {fix}")
        pieces = [self._piece(each, place) for each in ([found] if isinstance(found, str) else found)]
        shown = Context(budget, [each for each in pieces if each.text], 0, self.tokens.name)
        return Context(budget, shown.pieces, self.tokens.counts([shown.text])[0], self.tokens.name)

    def _piece(self, found: Any, place: Expression) -> Piece:
        """A text, or what has one where results have theirs; in its place where it is a passage of ours."""
        text = found if isinstance(found, str) else self.text.find(found)
        given = None if isinstance(found, str) else self.doc_id.find(found)
        if not isinstance(text, str):
            what = f"A piece of the context at {place.written!r} is {_what(found)}"
            raise SystemFailure(
                f"{what}, without a text at {self.text.written!r}. Correct text: in the study."
            )
        doc_id = "" if given is None else str(given)
        known = self.corpus.position.get(doc_id)
        passage = None if known is None else self.corpus.passages[known]
        if passage is None or passage.text != text:
            return Piece(doc_id, text)
        return Piece(doc_id, text, passage.span or Span(0, len(text)))


def _what(found: Any) -> str:
    named = {type(None): "nothing", dict: "an object", list: "a list"}
    return named.get(type(found), "neither text nor an object")
