"""Setting a precedent at the desk, and finding what has to be looked at again for it."""

from __future__ import annotations

from assay.kinds.answers.blinding.pack import BlindedResponse
from assay.kinds.answers.scoring.assignment import RubricPass
from assay.kinds.answers.scoring.ledger import MarkIndex
from assay.kinds.answers.scoring.marks import FIRST, RaterPrecedent
from assay.kinds.answers.scoring.precedents import QUESTION, WORDS, concerned_responses, next_precedent_id
from assay.review.work import NewPrecedent, RuleViolation


def new_precedent(
    ledger: MarkIndex, of: RubricPass, sent: NewPrecedent, response: BlindedResponse | None, now: float
) -> RaterPrecedent:
    """The precedent that a rater sets in a pass, with the number that is next; `response` is the one at hand.

    It is about what anybody has scored in this pass and may be like it. Each rater is asked about their own.
    """
    if wrong := _problems(of, sent, response):
        raise RuleViolation(wrong)
    question_id = None if response is None else response.question_id
    fits = concerned_responses(ledger.pack, sent.again, question_id=question_id, words=sent.words)
    about = sorted(each for each in fits if ledger.scored(of.step.name, each))
    told = (sent.situation.strip(), sent.decision.strip(), sent.rationale.strip())
    return RaterPrecedent(
        next_precedent_id(ledger.cases.values()), sent.mark_id, of.rater, *told, of.step.name, about, now
    )


def _problems(of: RubricPass, sent: NewPrecedent, response: BlindedResponse | None) -> list[str]:
    told = {"situation": sent.situation, "decision": sent.decision, "rationale": sent.rationale}
    wrong = [f"Say the {name}." for name, text in told.items() if not text.strip()]
    if of.round != FIRST:
        wrong.append("Precedents are set in the first round: the second one checks what that gave.")
    if sent.again == QUESTION and response is None:
        wrong.append("Say which response the precedent is about, so that its question is known.")
    if sent.again == WORDS and not any(sign.isalnum() for sign in sent.words):
        wrong.append("Give the words that responses must hold to be looked at again.")
    return wrong
