"""What two passes say of one response and cannot both be true: the rater settles it, nobody else.

An accuracy of 3 and a claim that is made up, goes too far or has the wrong time exclude each other. A wrong
source alone does not. The rater is shown the response again and changes either mark; nothing is rewritten.
"""

from __future__ import annotations

from assay.review.scoring.marks import Mark
from assay.review.scoring.rubric import BEST, CAPPING


def capping(hallucination: Mark | None) -> list[str]:
    """The categories of a mark's claims that cap accuracy, each as often as it is there."""
    claims = [] if hallucination is None else hallucination.claims
    return [claim.category for claim in claims if claim.category in CAPPING]


def contradiction(accuracy: Mark | None, hallucination: Mark | None) -> str | None:
    """Why the two marks exclude each other, and what settles it; None: they do not."""
    if accuracy is None or accuracy.grade != BEST or not (found := capping(hallucination)):
        return None
    counted = ", ".join(f"{found.count(each)} {each}" for each in dict.fromkeys(found))
    return (
        f"You gave accuracy {BEST} and marked {counted}. Such a claim allows {BEST - 1} at most: lower the "
        "accuracy, or take the claim back in the pass on hallucinations."
    )
