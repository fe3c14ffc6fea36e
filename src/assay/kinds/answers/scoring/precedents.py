"""The register of precedents: ten that come with the rubric, and those that raters set while they score.

A precedent that is set late holds for what was scored before, too: the responses it may concern are looked at
again by everybody who has scored them. Saving a grade again, changed or not, settles that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.marks import Mark, RaterPrecedent
from assay.kinds.answers.scoring.rubric import ACCURACY, COMPLETENESS, HALLUCINATION

NOBODY, QUESTION, WORDS, ALL = "none", "question", "words", "all"  # which responses to look at again
_JOINED = ", "


@dataclass(frozen=True)
class Precedent:
    """One that comes with the rubric."""

    case_id: str
    situation: str
    decision: str
    rationale: str
    steps: tuple[str, ...]


GIVEN = (
    Precedent(
        "EC-01",
        "The response says more than the reference, and rightly: four features where the reference has two.",
        "Accuracy 3. What is right and in the source is no hallucination.",
        "The reference says what must be there at least. Sources hold more than any reference repeats.",
        (ACCURACY, HALLUCINATION),
    ),
    Precedent(
        "EC-02",
        "It uses an older name for the same thing.",
        "Go by what is meant: 2 or 3, by the rest of the response.",
        "Comprehension is tested, not who knows the latest name. Sources often use both.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-03",
        "The fact is right but stands on another page than the reference gives.",
        "Grade accuracy as usual. No hallucination, unless a source was invented.",
        "Pages overlap, and a fact is a fact wherever it was read.",
        (ACCURACY, HALLUCINATION),
    ),
    Precedent(
        "EC-04",
        "A number is put in another way: a day for 24 hours, or roughly that.",
        "3 where the values are equal. 2 where it is vague and the exact value matters.",
        "The same value in other words costs nothing. Vagueness where one must be exact costs a little.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-05",
        "It refuses, for want of information.",
        "Accuracy 0 with the flag, completeness 0, no hallucination.",
        "The content was there: that it could not be used is what the study is after. Nothing was invented.",
        (ACCURACY, HALLUCINATION, COMPLETENESS),
    ),
    Precedent(
        "EC-06",
        "The right answer stands somewhere in much that has nothing to do with the question.",
        "Grade accuracy and completeness by the part that answers. Inventions in the rest count as claims.",
        "Ballast does not make an answer wrong; what is made up in it is made up all the same.",
        (ACCURACY, HALLUCINATION, COMPLETENESS),
    ),
    Precedent(
        "EC-07",
        "The site has changed since the reference was verified, and the response fits the site of today.",
        "Grade against the reference, and put the difference into the note. Where it happens often, tell "
        "whoever runs the study, so that the reference can be renewed.",
        "The reference is frozen on purpose: a goal that moves would blur every comparison.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-08",
        "It holds code, paths or settings.",
        "Grade what it claims, not whether the code would run. Code that shows the right thing helps, code "
        "that contradicts the reference lowers the grade.",
        "The study is about facts, not programming; but wrong code shows that something was misread.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-09",
        "It answers another question than the one asked, perhaps correctly.",
        "Accuracy 0, completeness 0, and what it says of the other question is no hallucination.",
        "The question was misread. That is no invention, and completeness shows it.",
        (ACCURACY, HALLUCINATION, COMPLETENESS),
    ),
    Precedent(
        "EC-10",
        "It says that the question takes something for granted that is not so, and it is right.",
        "3 where it goes on to say what is the case.",
        "Seeing a wrong premise is better reading, and a mistake in our question must not cost the response.",
        (ACCURACY,),
    ),
)


def next_precedent_id(cases: Iterable[RaterPrecedent]) -> str:
    """The number of the next precedent: EC-11 after the ten that were there."""
    return f"EC-{len(GIVEN) + len(list(cases)) + 1:02d}"


def concerned_responses(
    pack: BlindPack, again: str, *, question_id: str | None = None, words: str = ""
) -> set[str]:
    """The responses that a precedent may concern: none, those of a question, those that hold words, or all.

    Words count as such wherever they stand, letter case aside; all of them have to be there.
    """
    if again == ALL:
        return {each.response_id for each in pack.responses}
    if again == QUESTION:
        return {each.response_id for each in pack.responses if each.question_id == question_id}
    if again == WORDS and (wanted := _words(words)):
        return {each.response_id for each in pack.responses if wanted <= _words(each.text)}
    return set()


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def precedents_named(mark: Mark) -> list[str]:
    """The precedents that a mark was looked at again for."""
    return mark.case.split(_JOINED) if mark.case else []


def join_precedents(case_ids: Iterable[str]) -> str | None:
    """Several precedents in the one field that a mark has for them."""
    return _JOINED.join(case_ids) or None


def why_again(cases: Iterable[RaterPrecedent]) -> str:
    """Why a response is to be looked at again, in words that say nothing of who set the precedent."""
    told = " ".join(f"{case.case_id}: {_closed(case.situation)} {_closed(case.decision)}" for case in cases)
    return f"A precedent was set after you scored it. {told} Save it again, changed or as it is."


def _closed(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "!", "?", "…")) else f"{stripped}."
