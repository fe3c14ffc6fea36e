"""What may be saved: the rules of the rubric that a program can check.

What needs judgement is shown beside the form instead. Nothing here changes what a person said: a draft that
breaks a rule is sent back with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

from assay.kinds.answers.scoring.marks import Claim, Mark
from assay.kinds.answers.scoring.rubric import (
    ACCURACY,
    CITATION,
    COMPLETENESS,
    HALLUCINATION,
    NONE_FOUND,
    REFUSAL,
    WRONG_SOURCE,
    RubricStep,
)

_SHOWN = 60  # characters of a claim that a message repeats


@dataclass(frozen=True)
class DraftMark:
    """What a rater wants to save."""

    choice: str | None = None
    note: str = ""
    claims: Sequence[Claim] = ()
    flags: Sequence[str] = ()

    @classmethod
    def of(cls, step: RubricStep, mark: Mark) -> DraftMark:
        """What a mark says. One of claims that has none says so, as it once was not asked to."""
        none = [NONE_FOUND] if step.categories and not mark.claims and not mark.flags else []
        return cls(step.choice_of(mark.grade), mark.note, mark.claims, [*mark.flags, *none])


def draft_problems(step: RubricStep, said: DraftMark, text: str, others: Mapping[str, Mark]) -> list[str]:
    """Why a draft cannot be saved; empty: it can.

    `text` is the response as shown, `others` are the same rater's standing marks of it in the other passes.
    """
    return [
        *_grade(step, said),
        *_flags(step, said),
        *_none_found(step, said),
        *_claims(step, said, text),
        *_refusal(step, said, others),
    ]


def _grade(step: RubricStep, said: DraftMark) -> Iterator[str]:
    values = [grade.value for grade in step.grades]
    if not values:
        if said.choice is not None:
            yield f"{step.title} takes no grade: mark claims, or choose “None found”."
        return
    if said.choice is None:
        yield f"Choose a grade: {', '.join(values)}."
    elif said.choice not in values:
        yield f"There is no grade {said.choice[:_SHOWN]!r} here. Choose one of {', '.join(values)}."
    elif said.choice in step.note_needed and is_blank(said.note):
        yield f"Write a note: {_WHY[step.name]}."


_WHY = {
    ACCURACY: "an accuracy below 3 needs what is right and what is missing or wrong",
    CITATION: "a citation fidelity below 2 needs what is cited and why it is wrong",
}


def _flags(step: RubricStep, said: DraftMark) -> Iterator[str]:
    known = {flag.name: flag for flag in step.flags}
    for name in said.flags:
        if name not in known:
            yield f"{step.title} has no flag {name[:_SHOWN]!r}."
        elif (flag := known[name]).forces is not None and said.choice not in {None, flag.forces}:
            yield f"“{flag.label}” goes with {flag.forces} alone. Choose it, or take the flag away."


def _none_found(step: RubricStep, said: DraftMark) -> Iterator[str]:
    """That there is no claim has to be said: an empty form may be one that nobody has looked at."""
    if not step.categories:
        return
    if said.claims and NONE_FOUND in said.flags:
        yield "“None found” is chosen, and claims are marked. Delete the claims, or take “None found” away."
    if not said.claims and NONE_FOUND not in said.flags:
        yield "Mark a claim; if there is none, choose “None found” (press 0)."


def _claims(step: RubricStep, said: DraftMark, text: str) -> Iterator[str]:
    categories = [category.value for category in step.categories]
    if said.claims and not categories:
        yield f"{step.title} takes no claims: mark them in the pass on hallucinations."
        return
    before: dict[str, int] = {}
    for number, claim in enumerate(said.claims, 1):
        where = f"Claim {number}"
        if claim.category not in categories:
            yield f"{where}: choose a category: {', '.join(categories)}."
        if not 0 <= claim.start < claim.end <= len(text):
            yield f"{where}: the marked text lies outside the response. Mark it again."
        elif is_blank(text[claim.start : claim.end]):
            yield f"{where}: the marked text is blank. Mark the words that make the claim."
        if is_blank(claim.claim):
            yield f"{where}: say what is claimed."
        elif (first := before.setdefault(_normal(claim.claim), number)) != number:
            yield f"{where}: the same as claim {first}. A claim that is repeated counts once."
        if is_blank(claim.note):
            yield f"{where}: write a note: why does the source not support it?"


def is_blank(text: str) -> bool:
    """Whether there is nothing in a text that a reader would see."""
    return not any(sign.isprintable() and not sign.isspace() for sign in text)


def _normal(claim: str) -> str:
    """A claim as it is compared: letter case, spaces and punctuation aside."""
    return " ".join(re.findall(r"\w+", claim.casefold())) or " ".join(claim.casefold().split())


def _refusal(step: RubricStep, said: DraftMark, others: Mapping[str, Mark]) -> Iterator[str]:
    """A refusal is graded 0, claims nothing and answers no part, in whichever pass it is said last."""
    if step.name == ACCURACY:
        if REFUSAL not in said.flags:
            return
        if (claims := others.get(HALLUCINATION)) is not None and claims.claims:
            yield "A refusal claims nothing, but you marked claims in it. Take these back first."
        if (complete := others.get(COMPLETENESS)) is not None and complete.grade != 0:
            yield "A refusal is incomplete, but you called it complete. Change that first."
        return
    accuracy = others.get(ACCURACY)
    if accuracy is None or REFUSAL not in accuracy.flags:
        return
    back = "or take the flag back in the pass on accuracy"
    if step.name == HALLUCINATION and said.claims:
        yield f"You flagged it as a refusal, which claims nothing. Take the claims away, {back}."
    if step.name == COMPLETENESS and said.choice not in {None, "0"}:
        yield f"You flagged it as a refusal, which is incomplete. Choose 0, {back}."


def reminders(step: RubricStep, others: Mapping[str, Mark]) -> list[str]:
    """What the same rater said of the same response in other passes, and this one has to fit."""
    accuracy, claims = others.get(ACCURACY), others.get(HALLUCINATION)
    return [*_of_accuracy(step, accuracy), *_of_claims(step, claims), *_of_completeness(step, others)]


def _of_accuracy(step: RubricStep, accuracy: Mark | None) -> Iterator[str]:
    if accuracy is None or step.name == ACCURACY:
        return
    if REFUSAL in accuracy.flags and step.name in _OF_A_REFUSAL:
        yield f"You flagged it as a refusal: {_OF_A_REFUSAL[step.name]}."
    # No later pass is told of a grade: whoever knows what a claim or a gap would cost sees fewer.


_OF_A_REFUSAL = {HALLUCINATION: "it claims nothing", COMPLETENESS: "it is incomplete (0)"}


def _of_claims(step: RubricStep, claims: Mark | None) -> Iterator[str]:
    if claims is None or not claims.claims or step.name not in {ACCURACY, CITATION}:
        return
    wrong = [claim for claim in claims.claims if claim.category == WRONG_SOURCE]
    if step.name == ACCURACY:
        yield f"You marked in it: {_quoted(claims.claims)}. All but H-SRC allow accuracy 2 at most."
    elif wrong:
        yield f"You marked in it: {_quoted(wrong)}."


def _quoted(claims: Sequence[Claim]) -> str:
    return "; ".join(
        f"{claim.category} “{shorten(claim.claim, _SHOWN, placeholder=' …')}”" for claim in claims
    )


def _of_completeness(step: RubricStep, others: Mapping[str, Mark]) -> Iterator[str]:
    complete = others.get(COMPLETENESS)
    if step.name == ACCURACY and complete is not None and complete.grade == 0:
        yield "You called it incomplete, which is no accuracy 3."
    if step.name == CITATION and (accuracy := others.get(ACCURACY)) is not None and REFUSAL in accuracy.flags:
        yield "You flagged it as a refusal: citations apply only where the question asks for a source."
