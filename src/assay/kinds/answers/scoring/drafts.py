"""Drafts of marks: which drafts may be saved, and how a draft becomes a mark.

These are the rules of the rubric that a program can check. Rules that need judgement are shown beside the
form instead. Nothing here changes a rater's draft: a draft that breaks a rule is sent back with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten

from msgspec.structs import asdict

from assay.kinds.answers.scoring.marks import FIRST, Claim, Mark
from assay.kinds.answers.scoring.passes import RubricPass, join_precedents
from assay.kinds.answers.scoring.progress import MarkIndex
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
from assay.review.work import Draft, SpanClaim

_SHOWN = 60  # characters of a claim that a message repeats


def draft_of(step: RubricStep, mark: Mark) -> Draft:
    """Returns the draft of a mark.

    Early marks without claims lack the flag that there are no claims. The flag is added here.
    """
    none = [NONE_FOUND] if step.categories and not mark.claims and not mark.flags else []
    return Draft.model_construct(
        mark_id=mark.mark_id,
        choice=step.choice_of(mark.grade),
        note=mark.note,
        spans=[SpanClaim.model_construct(**asdict(each)) for each in mark.claims],
        flags=[*mark.flags, *none],
    )


def new_mark(index: MarkIndex, pass_: RubricPass, task_id: str, draft: Draft, now: float) -> Mark:
    """Makes a mark from a draft.

    The mark replaces the current mark. It names the precedents for which the response was looked at again.
    """
    current = index.mark(pass_.key(task_id))
    seen = index.suggestion_view(pass_.rater, pass_.step.name, task_id) if pass_.round == FIRST else None
    return Mark(
        draft.mark_id,
        pass_.rater,
        task_id,
        pass_.step.name,
        pass_.step.grade_of(draft.choice),
        [Claim(each.category, each.start, each.end, each.claim, each.note) for each in draft.spans],
        draft.note,
        list(dict.fromkeys(draft.flags)),
        pass_.round,
        now,
        replaces=None if current is None else current.mark_id,
        case=join_precedents(index.concerning(pass_, task_id)),
        suggested=None if seen is None else seen.value,
    )


def draft_problems(step: RubricStep, draft: Draft, text: str, others: Mapping[str, Mark]) -> list[str]:
    """Returns the reasons why a draft cannot be saved; empty if it can be saved.

    `text` is the response as shown. `others` are the same rater's marks on the response in the other passes.
    """
    return [
        *_grade(step, draft),
        *_flags(step, draft),
        *_claims(step, draft, text),
        *_refusal(step, draft, others),
    ]


_WHY_NOTE = {
    ACCURACY: "an accuracy below 3 needs what is right and what is missing or wrong",
    CITATION: "a citation fidelity below 2 needs what is cited and why it is wrong",
}


def _grade(step: RubricStep, draft: Draft) -> Iterator[str]:
    values = [grade.value for grade in step.grades]
    if not values:
        if draft.choice is not None:
            yield f"{step.title} takes no grade: mark claims, or choose “None found”."
    elif draft.choice is None:
        yield f"Choose a grade: {', '.join(values)}."
    elif draft.choice not in values:
        yield f"There is no grade {draft.choice[:_SHOWN]!r} here. Choose one of {', '.join(values)}."
    elif draft.choice in step.note_needed and is_blank(draft.note):
        yield f"Write a note: {_WHY_NOTE[step.name]}."


def _flags(step: RubricStep, draft: Draft) -> Iterator[str]:
    known = {flag.name: flag for flag in step.flags}
    for name in draft.flags:
        if name not in known:
            yield f"{step.title} has no flag {name[:_SHOWN]!r}."
        elif (flag := known[name]).forces is not None and draft.choice not in {None, flag.forces}:
            yield f"“{flag.label}” goes only with {flag.forces}. Choose it, or take the flag away."
    if step.categories and draft.spans and NONE_FOUND in draft.flags:
        yield "“None found” is chosen, and claims are marked. Delete the claims, or take “None found” away."
    if step.categories and not draft.spans and NONE_FOUND not in draft.flags:
        yield "Mark a claim; if there is none, choose “None found” (press 0)."


def _claims(step: RubricStep, draft: Draft, text: str) -> Iterator[str]:
    categories = [category.value for category in step.categories]
    if draft.spans and not categories:
        yield f"{step.title} takes no claims: mark them in the pass on hallucinations."
        return
    before: dict[str, int] = {}
    for number, claim in enumerate(draft.spans, 1):
        where = f"Claim {number}"
        if claim.category not in categories:
            yield f"{where}: choose a category: {', '.join(categories)}."
        if not 0 <= claim.start < claim.end <= len(text):
            yield f"{where}: the marked text lies outside the response. Mark it again."
        elif is_blank(text[claim.start : claim.end]):
            yield f"{where}: the marked text is blank. Mark the words that make the claim."
        if is_blank(claim.claim):
            yield f"{where}: say what is claimed."
        elif (first := before.setdefault(_normalized(claim.claim), number)) != number:
            yield f"{where}: the same as claim {first}. A claim that is repeated counts once."
        if is_blank(claim.note):
            yield f"{where}: write a note: why does the source not support it?"


def is_blank(text: str) -> bool:
    """Whether a text contains nothing that a reader would see."""
    return not any(each.isprintable() and not each.isspace() for each in text)


def _normalized(claim: str) -> str:
    """Returns a claim in the form for comparison: without letter case, spaces and punctuation."""
    return " ".join(re.findall(r"\w+", claim.casefold())) or " ".join(claim.casefold().split())


def _refusal(step: RubricStep, draft: Draft, others: Mapping[str, Mark]) -> Iterator[str]:
    """Yields a problem if a refusal has claims or is called complete, whichever pass is saved last."""
    if step.name == ACCURACY:
        if REFUSAL not in draft.flags:
            return
        if (claims := others.get(HALLUCINATION)) is not None and claims.claims:
            yield "A refusal claims nothing, but you marked claims in it. Take these back first."
        if (complete := others.get(COMPLETENESS)) is not None and complete.grade != 0:
            yield "A refusal is incomplete, but you called it complete. Change that first."
    elif _is_refused(others):
        back = "or take the flag back in the pass on accuracy"
        if step.name == HALLUCINATION and draft.spans:
            yield f"You flagged it as a refusal, which claims nothing. Take the claims away, {back}."
        if step.name == COMPLETENESS and draft.choice not in {None, "0"}:
            yield f"You flagged it as a refusal, which is incomplete. Choose 0, {back}."


def _is_refused(others: Mapping[str, Mark]) -> bool:
    accuracy = others.get(ACCURACY)
    return accuracy is not None and REFUSAL in accuracy.flags


_OF_A_REFUSAL = {
    HALLUCINATION: "it claims nothing",
    COMPLETENESS: "it is incomplete (0)",
    CITATION: "citations apply only where the question asks for a source",
}


def reminders(step: RubricStep, others: Mapping[str, Mark]) -> list[str]:
    """Returns what the same rater marked in other passes, if the mark of this pass has to fit to it.

    No later pass shows an earlier grade: a rater who knows what a claim or a gap would cost finds fewer of
    them.
    """
    found = []
    claims, complete = others.get(HALLUCINATION), others.get(COMPLETENESS)
    marked = claims.claims if claims is not None else []
    if step.name == ACCURACY and marked:
        found.append(f"You marked in it: {_quoted(marked)}. All but H-SRC allow accuracy 2 at most.")
    if step.name == ACCURACY and complete is not None and complete.grade == 0:
        found.append("You called it incomplete, which excludes accuracy 3.")
    wrong_source = [claim for claim in marked if claim.category == WRONG_SOURCE]
    if step.name == CITATION and wrong_source:
        found.append(f"You marked in it: {_quoted(wrong_source)}.")
    if step.name in _OF_A_REFUSAL and _is_refused(others):
        found.append(f"You flagged it as a refusal: {_OF_A_REFUSAL[step.name]}.")
    return found


def _quoted(claims: Sequence[Claim]) -> str:
    return "; ".join(
        f"{claim.category} “{shorten(claim.claim, _SHOWN, placeholder=' …')}”" for claim in claims
    )
