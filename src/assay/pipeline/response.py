"""What a system returned or raised, made fit to be stored: plain values that read back as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from assay.core.errors import Retryable
from assay.core.records import Budget, Context, Fault, Hit, Response, Span
from assay.retrieval.tokens import PACKAGED, packaged

PASSING = (Retryable, TimeoutError, ConnectionError)
LONGEST_MESSAGE = 2000  # characters


def fault_of(error: BaseException, conceal: Callable[[str], str]) -> Fault:
    """An exception as a record, without what `conceal` takes out of its message."""
    try:
        message = str(error)
    except Exception:  # even its message is the system's own code
        message = ""
    return Fault(type(error).__name__, _storable(conceal(message)), isinstance(error, PASSING))


def check_response(response: Any, budgets: Sequence[Budget] = ()) -> Response:
    """A copy of the response in plain values, or a fault where it breaks what every measure relies on."""
    if not isinstance(response, Response):
        return _bad_response(f"answer() returned {type(response).__name__}, not Response")
    if (what := _hit_fault(response.hits) or _context_fault(response.contexts, budgets)) is not None:
        observed = response.observed
        response = _bad_response(what)
        response.observed = observed
    try:
        return _decode(_encode(response))
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        return _bad_response(f"it cannot be stored: {error}")


def _hit_fault(hits: Sequence[Hit]) -> str | None:
    seen: set[tuple[str, Span | None]] = set()
    above = math.inf
    for rank, hit in enumerate(hits, 1):
        if not math.isfinite(hit.score):
            return f"hit {rank} ({hit.doc_id}) has the score {hit.score}"
        if (hit.doc_id, hit.span) in seen:
            return f"hit {rank} repeats {hit.doc_id}; a response names each passage or span once"
        if hit.score > above:
            return f"hit {rank} scores higher than hit {rank - 1}; hits come best first"
        seen.add((hit.doc_id, hit.span))
        above = hit.score
    return None


def _context_fault(contexts: Sequence[Context], budgets: Sequence[Budget]) -> str | None:
    """What is wrong with contexts: they are one a budget, none larger than it, or nothing is compared."""
    if not contexts or not budgets:
        return None
    given = [context.budget for context in contexts]
    if sorted(map(_size, given)) != sorted(map(_size, budgets)):
        wanted, found = (", ".join(map(_budget_name, some)) for some in (budgets, given))
        return f"there are contexts for the budgets {found}; asked for were {wanted}, each once"
    for context in contexts:
        counted = _count_tokens(context)
        if context.budget is not None and counted > context.budget:
            return f"the context for {context.budget} tokens has {counted}, counted by {context.tokenizer}"
    return None


def _count_tokens(context: Context) -> int:
    """The tokens of what a reader sees: counted anew where the tokenizer is one of ours, else as told."""
    if context.budget is None or context.tokenizer not in PACKAGED:
        return context.tokens
    return packaged(context.tokenizer).counts([context.text])[0]


def _size(budget: Budget) -> float:
    return math.inf if budget is None else budget


def _budget_name(budget: Budget) -> str:
    return "inf" if budget is None else str(budget)


def _bad_response(what: str) -> Response:
    return Response(error=Fault("BadResponse", _storable(what)))


def _storable(text: str) -> str:
    """Text that UTF-8 can hold, and not too much of it."""
    return text[:LONGEST_MESSAGE].encode("utf-8", "backslashreplace").decode()


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, known by their `item()` so that NumPy need not be loaded."""
    if callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"there is a {type(value).__name__} in it")


_encode = msgspec.json.Encoder(enc_hook=_plain).encode
_decode = msgspec.json.Decoder(Response).decode
