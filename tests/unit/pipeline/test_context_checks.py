"""Contexts are one a budget, and none larger than it: anything else is a fault of the answer."""

from __future__ import annotations

import pytest

from assay.core.records import Context, Piece, Response
from assay.pipeline.response import check_response

WORDS = "ferry " * 50  # more than 40 tokens, by any count


def context(budget: int | None, text: str = "The ferry.", tokens: int = 3, by: str = "o200k_base") -> Context:
    return Context(budget, [Piece("a", text)], tokens, by)


@pytest.mark.parametrize(
    ("contexts", "what"),
    [
        ([context(40)], "contexts for the budgets 40; asked for were 40, inf"),
        ([context(40), context(40), context(None)], "contexts for the budgets 40, 40, inf"),
        ([context(40), context(99), context(None)], "99"),
        ([context(40, WORDS, 3), context(None)], "the context for 40 tokens has 5"),  # told 3, counted anew
        ([context(40, tokens=41, by="mine"), context(None)], "has 41, counted by mine"),
    ],
)
def test_what_breaks_the_budgets_is_a_fault(contexts: list[Context], what: str) -> None:
    error = check_response(Response(contexts=contexts), [40, None]).error
    assert error is not None
    assert what in error.message


def test_what_keeps_them_passes_and_no_context_is_no_fault() -> None:
    good = Response(contexts=[context(None, WORDS, 900), context(40)])
    assert check_response(good, [40, None]).error is None
    assert check_response(Response(), [40, None]).error is None
    assert check_response(good, ()).error is None
