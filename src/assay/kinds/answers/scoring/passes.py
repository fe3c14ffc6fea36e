"""Passes of the rubric: who scores what, in which order and when; also contradictions and precedents.

The primary rater scores every response in four passes. The other raters score the drawn share. If there are
no other raters, the primary rater scores a drawn share again. This second round comes some time after the
first, and does not show the first marks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.scoring.marks import AGAIN, FIRST, Mark, MarkKey, RaterPrecedent
from assay.kinds.answers.scoring.rubric import BEST, CAPPING, COMPLETENESS, HALLUCINATION, RubricStep, rubric

HOUR, MINUTE = 3600.0, 60.0
QUESTION, WORDS, ALL = "question", "words", "all"  # which responses to look at again; or "none"
CONTRADICTING = (HALLUCINATION, COMPLETENESS)  # the passes that can contradict the one on accuracy
_JOINED = ", "

# pack, rater, name of the pass, response_ids -> the same in the order in which this rater sees them
Order = Callable[[BlindPack, str, str, Sequence[str]], list[str]]


@dataclass(frozen=True)
class RubricPass:
    """One step of the rubric over all responses that one rater scores in one round."""

    rater: str
    step: RubricStep
    round: str
    response_ids: frozenset[str]

    @property
    def name(self) -> str:
        """The name of the pass: `accuracy`, or `accuracy:again` in the second round."""
        return self.step.name if self.round == FIRST else f"{self.step.name}:{self.round}"

    @property
    def title(self) -> str:
        return self.step.title if self.round == FIRST else f"{self.step.title}, second time"

    def key(self, response_id: str) -> MarkKey:
        """Returns the key of this pass's mark on a response."""
        return self.rater, self.round, self.step.name, response_id


def passes_of(pack: BlindPack, rater: str) -> list[RubricPass]:
    """Returns the passes of a rater in their order; empty for a person who is not on the panel."""
    if rater not in pack.panel.raters:
        return []
    known = {each.response_id for each in pack.responses}
    is_primary = rater == pack.panel.primary
    rounds = [(FIRST, frozenset(known if is_primary else known & {*pack.drawn}))]
    if is_primary and (again := frozenset(known & {*pack.drawn_again})):
        rounds.append((AGAIN, again))
    steps = rubric().steps
    return [RubricPass(rater, step, name, response_ids) for name, response_ids in rounds for step in steps]


def due_time(pack: BlindPack, first: Mark | None) -> float:
    """Returns the time from which a response may be scored again, given its mark of the first round."""
    return math.inf if first is None else first.time + pack.panel.wait_hours * HOUR


def format_time(time: float) -> str:
    """Formats a time for people, rounded up to the minute: 2026-02-25 14:05 UTC."""
    return datetime.fromtimestamp(math.ceil(time / MINUTE) * MINUTE, UTC).strftime("%Y-%m-%d %H:%M UTC")


# ------------------------------------------------------------------------------- contradictions


def contradiction(accuracy: Mark | None, later: Mark | None) -> str | None:
    """Says why the marks of two passes on one response exclude each other, and what to do.

    Returns None if they do not. An accuracy of 3 excludes a claim that is made up, goes too far or has the
    wrong time. An accuracy of 3 also excludes an incomplete answer. A wrong source does not lower the
    accuracy. Only the rater can resolve a contradiction: the rater sees the response again and changes either
    mark.
    """
    if accuracy is None or accuracy.grade != BEST or later is None:
        return None
    found = [claim.category for claim in later.claims if claim.category in CAPPING]
    if found:
        counted = ", ".join(f"{found.count(each)} {each}" for each in dict.fromkeys(found))
        return (
            f"You gave accuracy {BEST} and marked {counted}. Such a claim allows {BEST - 1} at most: lower "
            "the accuracy, or take the claim back in the pass on hallucinations."
        )
    if later.step == COMPLETENESS and later.grade == 0:
        return (
            f"You gave accuracy {BEST} and called it incomplete. A part that is left out allows {BEST - 1} "
            "at most: lower the accuracy, or call it complete in the pass on completeness."
        )
    return None


# ----------------------------------------------------------------------------------- precedents
#
# A precedent also holds for what was scored before it. Everybody who has scored a response that it may
# concern looks at it again. Saving the mark again, changed or not, settles that.


def next_precedent_id(cases: Iterable[RaterPrecedent]) -> str:
    """Returns the id of the next precedent: EC-11 after the ten that come with the rubric."""
    return f"EC-{len(rubric().precedents) + len(list(cases)) + 1:02d}"


def concerned_responses(
    pack: BlindPack, again: str, *, question_id: str | None = None, words: str = ""
) -> set[str]:
    """Returns the responses that a precedent may concern.

    `again` selects no response, the responses to one question, the responses with some words, or all
    responses. A response must contain all of the words, as whole words; letter case does not matter.
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
    """Returns the precedents for which the response of a mark was looked at again."""
    return mark.case.split(_JOINED) if mark.case else []


def join_precedents(case_ids: Iterable[str]) -> str | None:
    """Joins precedents for the one field that a mark has for them; None if there are no precedents."""
    return _JOINED.join(case_ids) or None


def why_again(cases: Iterable[RaterPrecedent]) -> str:
    """Says why a response is to be looked at again. The text does not name who set the precedents."""
    texts = [f"{each.case_id}: {_with_stop(each.situation)} {_with_stop(each.decision)}" for each in cases]
    return f"A precedent was set after you scored it. {' '.join(texts)} Save it again, changed or as it is."


def _with_stop(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "!", "?", "…")) else f"{stripped}."
