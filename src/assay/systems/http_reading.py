"""Reads the answers of a search API by JMESPath: results, contexts, the route of the query, and flags.

An empty list is a valid answer. A missing list is a failure, and never counts as an empty list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from assay.core.dataset import Corpus, digest
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.parts import Tokens
from assay.core.records import NO_RESULTS, Budget, Context, Hit, Piece, Response, Span

SEARCH = "search"  # the route of an answer that has results and names no route
_SHOWN = 80  # characters of a wrong value that a message shows
_NOT_JSON = (ValueError, RecursionError)  # what reading JSON raises; the second if it is nested too deeply


class DefaultField(StrEnum):
    """The fields that are read if a study names none. Only a field that a study names must exist."""

    ID = "id"
    SCORE = "score"


@dataclass(frozen=True)
class Expression:
    """A compiled JMESPath expression, with the parameter that contains it and its text."""

    field: str
    written: str
    find: Callable[[Any], Any]
    required: bool = False

    @classmethod
    def of(cls, field: str, written: str | None) -> Expression:
        """Compiles an expression; None finds nothing. A UsageError names the parameter with the mistake."""
        import jmespath  # type: ignore[import-untyped]
        from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]

        if written is None:
            return cls(field, "", lambda _: None)
        required, written = not isinstance(written, DefaultField), str(written)
        try:
            compiled = jmespath.compile(written)
        except JMESPathError as error:
            why = " ".join(str(error).split()).partition(":")[2].strip()
            raise _not_one(field, written, why) from None
        for function in _unknown_functions(compiled.parsed):  # the library finds these only when called
            raise _not_one(field, written, f"there is no function {function}")
        if compiled.parsed["type"] == "field":  # most are a plain name, which needs no interpreter
            name = compiled.parsed["value"]
            return cls(field, written, lambda at: at.get(name) if isinstance(at, dict) else None, required)

        def find(value: Any) -> Any:
            try:
                return compiled.search(value)
            except JMESPathError as error:
                got = getattr(error, "actual_type", "something else")
                what = f"{field}: {written!r} cannot be applied to the answer, which has {got} there"
                raise SystemFailure(f"{what}. Correct it in the study.") from None

        return cls(field, written, find, required)


def _not_one(field: str, written: str, why: str) -> UsageError:
    what = f"{field}: {written!r} is not a JMESPath expression: {why}".rstrip(": .")
    return UsageError(f"{what}. See https://jmespath.org.")


def _unknown_functions(parsed: Mapping[str, Any]) -> Iterator[str]:
    from jmespath.functions import Functions  # type: ignore[import-untyped]

    if parsed.get("type") == "function_expression" and parsed["value"] not in Functions.FUNCTION_TABLE:
        yield parsed["value"]
    for part in parsed.get("children", ()):
        if isinstance(part, Mapping):  # the parts of a slice are numbers
            yield from _unknown_functions(part)


@dataclass(frozen=True)
class AnswerReader:
    """Reads the answers of one service."""

    results: Expression
    doc_id: Expression
    text: Expression
    score: Expression
    route: (
        Expression | Sequence[tuple[str, Expression]]
    )  # its name, or for each route an expression that must be true
    flags: Mapping[str, Expression]
    k: int
    corpus: Corpus
    conceal: Callable[[str], str]
    contexts: Callable[[Any, Sequence[Budget]], list[Context]] | None = None  # if it gives any

    def response(self, body: bytes, budgets: Sequence[Budget] = ()) -> Response:
        """Turns an answer into a record.

        Raises Retryable if the answer is not JSON, and SystemFailure if a part of it is wrong.
        """
        try:
            answer = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
        except _NOT_JSON as error:
            begins = self.conceal(body[:1000].decode("utf-8", "replace"))[:_SHOWN]
            raise Retryable(f"{error}. The answer begins {begins!r}. Check url, or run again.") from None
        found = self.results.find(answer)
        if not isinstance(found, list):
            raise SystemFailure(self._no_results(found, answer))
        hits = self._hits(found[: self.k])
        flags = {name: _flag(place.find(answer)) for name, place in self.flags.items()}
        contexts = self.contexts(answer, budgets) if self.contexts is not None else []
        return Response(hits=hits, contexts=contexts, route=self._route(answer, hits), flags=flags)

    def _no_results(self, found: Any, answer: Any) -> str:
        at = self.results.written
        if found is not None:
            what = f"At {at!r} there is {self._shown(found)}, not a list of results"
            return f"{what}. Correct results: in the study."
        fix = f"Correct results: in the study; where they may be absent, write {at} || `[]`."
        return f"There are no results at {at!r}: the answer {self._holds(answer)}. {fix}"

    def _hits(self, found: Sequence[Any]) -> list[Hit]:
        texts = [self._text(result, rank) for rank, result in enumerate(found, 1)]
        names = [self._name(result, texts[rank - 1], rank) for rank, result in enumerate(found, 1)]
        names = self._distinct_names(names)
        scores = descending_scores(self._scores(found))
        return [Hit(name, score, None, text) for name, score, text in zip(names, scores, texts, strict=True)]

    def _text(self, result: Any, rank: int) -> str | None:
        text = self.text.find(result)
        if text is None or isinstance(text, str):
            return text
        raise self._wrong(rank, self.text, text, "text")

    def _name(self, result: Any, text: str | None, rank: int) -> str:
        """Returns the id of a result. A hash of the text is added unless our corpus has the same text."""
        given = self.doc_id.find(result)
        if isinstance(given, bool) or not isinstance(given, str | int | None):
            raise self._wrong(rank, self.doc_id, given, "text or a whole number")
        if given is None and self.doc_id.required:
            raise self._lacking(rank, self.doc_id, result)
        doc_id = "" if given is None else str(given)
        known = self.corpus.position.get(doc_id)
        if text is None:
            if not doc_id:
                fix = "Correct id: or text: in the study."
                raise SystemFailure(f"Result {rank} has no id and no text. {fix}")
            if known is None and self.text.required:  # without a text it could not be judged
                raise self._lacking(rank, self.text, result)
            return doc_id
        if known is not None and _same(self.corpus.passages[known].text, text):
            return doc_id
        return f"{doc_id}~{digest([text.encode('utf-8', 'surrogatepass')])[:12]}"

    def _distinct_names(self, names: Sequence[str]) -> list[str]:
        """Raises a SystemFailure if an id occurs twice. Equal results without ids get numbers."""
        seen: dict[str, int] = {}
        apart = []
        for rank, name in enumerate(names, 1):
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1 and not name.startswith("~"):
                what = (
                    f"Results {names.index(name) + 1} and {rank} are the same: {self.conceal(name)[:_SHOWN]}"
                )
                raise SystemFailure(
                    f"{what}. A service names each result once; correct it, or id: in the study."
                )
            apart.append(f"{name}~{seen[name]}" if seen[name] > 1 else name)
        return apart

    def _scores(self, found: Sequence[Any]) -> list[float]:
        given = [self.score.find(result) for result in found]
        if all(score is None for score in given):
            if found and self.score.required:
                raise self._lacking(1, self.score, found[0])
            return [1.0 / rank for rank in range(1, len(found) + 1)]
        return [self._score(score, rank) for rank, score in enumerate(given, 1)]

    def _score(self, given: Any, rank: int) -> float:
        if given is None:
            fix = "Name a score that every result has, or write score: null, so that none is read."
            raise SystemFailure(f"Result {rank} has no score, and others have. {fix}")
        if isinstance(given, bool) or not isinstance(given, int | float) or not _finite(given):
            raise self._wrong(rank, self.score, given, "a number")
        return float(given)

    def _route(self, answer: Any, hits: Sequence[Hit]) -> str:
        if isinstance(self.route, Expression):
            name = self.route.find(answer)
            if isinstance(name, str) and name:
                return name
            if name is not None and name != "":
                what = f"route: at {self.route.written!r} there is {self._shown(name)}, not a route's name"
                raise SystemFailure(f"{what}. Correct it, or write route: {{NAME: expression}}.")
        else:
            for name, place in self.route:
                if place.find(answer):
                    return name
        return SEARCH if hits else NO_RESULTS

    def _lacking(self, rank: int, place: Expression, result: Any) -> SystemFailure:
        what = f"Result {rank} has no {place.field} at {place.written!r}; it {self._holds(result)}"
        return SystemFailure(f"{what}. Correct {place.field}: in the study, or write {place.field}: null.")

    def _holds(self, found: Any) -> str:
        if not isinstance(found, dict):
            return f"is {self._shown(found)}"
        return f"has {self.conceal(', '.join(sorted(found)))[:_SHOWN] or 'nothing in it'}"

    def _wrong(self, rank: int, place: Expression, found: Any, wanted: str) -> SystemFailure:
        what = f"Result {rank} has {self._shown(found)} at {place.written!r}, not {wanted}"
        return SystemFailure(f"{what}. Correct {place.field}: in the study.")

    def _shown(self, found: Any) -> str:
        if found is None or isinstance(found, bool):
            return {None: "null", True: "true", False: "false"}[found]
        if isinstance(found, str | int | float):
            return self.conceal(repr(found))[:_SHOWN]
        return "a list" if isinstance(found, list) else "an object"


def descending_scores(scores: Sequence[float]) -> list[float]:
    """Changes scores so that they fall in the order of the results.

    If a later result has a higher score, the results before it get that score too. So the first result has
    the best score, which thresholds are compared with. Equal scores then differ by the smallest possible
    step.
    """
    best = [*scores]
    for place in range(len(best) - 2, -1, -1):
        best[place] = max(best[place], best[place + 1])
    for place in range(1, len(best)):
        best[place] = min(best[place], math.nextafter(best[place - 1], -math.inf))
    return best


def _same(ours: str, theirs: str) -> bool:
    return ours == theirs or ours.split() == theirs.split()


def _flag(found: Any) -> bool | str:
    return found if isinstance(found, str) else bool(found)


def _finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that is too large for a float
        return False


_UNBOUNDED = "inf"


def parse_budget(written: str | int) -> Budget:
    """Reads a budget as a study writes it: a number of tokens, or inf."""
    if str(written) == _UNBOUNDED:
        return None
    if not str(written).isdecimal() or int(written) < 1:
        raise UsageError(f"contexts: {written!r} is not a budget. Write a number of tokens, or inf.")
    return int(written)


@dataclass(frozen=True)
class ContextReader:
    """Reads contexts from answers: it knows the place of each budget's context, and the parts of a piece."""

    places: Mapping[Budget, Expression]
    doc_id: Expression
    text: Expression
    corpus: Corpus
    tokens: Tokens

    def contexts(self, answer: Any, budgets: Sequence[Budget]) -> list[Context]:
        """Returns one context per budget, counted by our tokenizer. A missing context is a SystemFailure."""
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
        """Reads a piece: a text, or an object with a text. Passages of our corpus get their span."""
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
