"""Checks what a system returned or raised, and makes plain records that can be stored and read back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from assay.core.errors import Retryable, fault_kind
from assay.core.records import Budget, Context, Fault, Hit, Response, Span
from assay.retrieval.tokens import PACKAGED, load_packaged

PASSING = (Retryable, TimeoutError, ConnectionError)  # after these another attempt may succeed
LONGEST_MESSAGE = 2000  # characters


def fault_of(error: BaseException, conceal: Callable[[str], str]) -> Fault:
    """Turns an exception into a record. `conceal` removes from its message what must not be stored."""
    try:
        message = str(error)
    except Exception:  # the message too is made by the system's own code
        message = ""
    return Fault(fault_kind(error), _storable(conceal(message)), isinstance(error, PASSING))


def check_response(response: Any, budgets: Sequence[Budget] = ()) -> Response:
    """Returns a copy of the response in plain values, or a fault if measures could not rely on it."""
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
    """Says what is wrong with contexts. There must be one per budget, and none may exceed its budget."""
    if not contexts or not budgets:
        return None

    def size(budget: Budget) -> float:
        return math.inf if budget is None else budget

    given = [context.budget for context in contexts]
    if sorted(map(size, given)) != sorted(map(size, budgets)):
        wanted, found = (
            ", ".join("inf" if each is None else str(each) for each in some) for some in (budgets, given)
        )
        return f"there are contexts for the budgets {found}; asked for were {wanted}, each once"
    for context in contexts:
        counted = context.tokens
        if context.budget is not None and context.tokenizer in PACKAGED:  # we have this tokenizer
            counted = load_packaged(context.tokenizer).counts([context.text])[0]
        if context.budget is not None and counted > context.budget:
            return f"the context for {context.budget} tokens has {counted}, counted by {context.tokenizer}"
    return None


def _bad_response(what: str) -> Response:
    return Response(error=Fault("BadResponse", _storable(what)))


def _storable(text: str) -> str:
    """Cuts a text at `LONGEST_MESSAGE` characters, and escapes characters that UTF-8 cannot encode."""
    return text[:LONGEST_MESSAGE].encode("utf-8", "backslashreplace").decode()


def _plain(value: Any) -> Any:
    """Converts a NumPy number to a Python number. It looks for `item()`, so that NumPy need not be loaded."""
    if callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"there is a {type(value).__name__} in it")


_encode = msgspec.json.Encoder(enc_hook=_plain).encode
_decode = msgspec.json.Decoder(Response).decode
