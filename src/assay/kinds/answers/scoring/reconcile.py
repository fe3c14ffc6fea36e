"""What two passes say of one response and cannot both be true: the rater settles it, nobody else.

An accuracy of 3 excludes a claim that is made up, goes too far or has the wrong time, and a part of the
question that is left out. A wrong source alone does not lower it. The rater is shown the response again and
changes either mark; nothing is rewritten.
"""

from __future__ import annotations

from assay.kinds.answers.scoring.marks import Mark
from assay.kinds.answers.scoring.rubric import BEST, CAPPING, COMPLETENESS, HALLUCINATION

LATER = (HALLUCINATION, COMPLETENESS)  # the passes that can contradict the one on accuracy


def contradiction(accuracy: Mark | None, later: Mark | None) -> str | None:
    """Why the marks of two passes exclude each other, and what settles it; None: they do not."""
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
