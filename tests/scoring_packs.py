"""Small packs of blinded responses, and marks on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from assay.kinds.answers.blinding.pack import (
    Assignment,
    BlindedResponse,
    BlindPack,
    GoldQuestion,
    MergedSource,
)
from assay.kinds.answers.scoring.marks import FIRST, Claim, Mark

TEXT = "Tokens last 24 hours. They are renewed by a daily job. See the Limits section."
_NUMBERS = count(1)


def pack_of(
    responses: int = 4,
    *,
    panel: Assignment | None = None,
    drawn: Sequence[str] = (),
    drawn_again: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> BlindPack:
    """R-01, R-02 …; two responses a question, Q1, Q1, Q2, Q2 …"""
    texts = [*texts, *[TEXT] * (responses - len(texts))]
    shown = [
        BlindedResponse(f"R-{at + 1:02d}", f"Q{at // 2 + 1}", text, "S") for at, text in enumerate(texts)
    ]
    return BlindPack(
        "tokens",
        panel or Assignment("anna", ["ben"]),
        commitment="0" * 64,
        order_key="key",
        responses=shown,
        questions={each.question_id: asked_of(each.question_id) for each in shown},
        sources={"S": MergedSource("Tokens", "Tokens last 24 hours. Limits: 100 a minute.")},
        drawn=list(drawn),
        drawn_again=list(drawn_again),
    )


def asked_of(question_id: str = "Q1", complexity: str = "single-fact") -> GoldQuestion:
    return GoldQuestion(
        question_id, "How long do tokens last?", "24 hours.", complexity, "S1", ["Tokens", "Limits"]
    )


def by_id(pack: BlindPack, rater: str, step: str, response_ids: Sequence[str]) -> list[str]:
    """An order that tests can read."""
    return sorted(response_ids)


def mark(response_id: str, step: str = "accuracy", grade: int | None = 3, **more: object) -> Mark:
    """A mark of anna's with an id of its own."""
    told = {"rater": "anna", "mark_id": f"mark-{next(_NUMBERS):06d}", "round": FIRST, **more}
    return Mark(response_id=response_id, step=step, grade=grade, **told)  # type: ignore[arg-type]


def claim(category: str = "H-FAB", start: int = 22, end: int = 54, what: str = "a daily job") -> Claim:
    return Claim(category, start, end, what, "the source knows no job")
