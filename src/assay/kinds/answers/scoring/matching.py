"""Two raters' hallucinations of the same responses, matched by the text they mark.

Two people who mean the same claim seldom select the same characters: one takes the sentence, another the few
words that are wrong. What overlaps enough is one claim, each claim is matched once, and among all ways to
match, the one with the largest overlap in all counts. Categories are never looked at: a match chosen for its
category would make the raters seem to agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.kinds.answers.results import ClaimOverlap
from assay.kinds.answers.scoring.marks import Claim

# Of the text that either marks, the share that both do: a few words out of a sentence still count as it.
LEAST = 0.1

Claims = Mapping[str, Sequence[Claim]]  # by response


@dataclass(frozen=True)
class ClaimMatch:
    """A claim that both raters marked, in the words of each."""

    response_id: str
    first: Claim
    second: Claim


def overlap(one: Claim, other: Claim) -> float:
    """Characters that both mark, of those that either does; 0 where neither marks any."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    either = (one.end - one.start) + (other.end - other.start) - shared
    return shared / either if shared > 0 else 0.0


def match_claims(
    first: Sequence[Claim], second: Sequence[Claim], least: float = LEAST
) -> list[tuple[int, int]]:
    """Which claim of the first rater is which of the second's, in one response: places in both lists."""
    if not (first and second):
        return []
    from scipy.optimize import (
        linear_sum_assignment,  # here, not above: every report would wait for its import
    )

    table = np.array([[overlap(one, other) for other in second] for one in first])
    table[table < least] = 0.0
    rows, columns = linear_sum_assignment(table, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if table[row, column]]


def matched_claims(first: Claims, second: Claims, least: float = LEAST) -> Iterator[ClaimMatch]:
    """What both marked, over the responses that both scored."""
    for response_id in sorted(first.keys() & second.keys()):
        # in the order of the text, so that of equally good matches the same one is always taken
        one, other = (sorted(each[response_id], key=_place) for each in (first, second))
        for left, right in match_claims(one, other, least):
            yield ClaimMatch(response_id, one[left], other[right])


def claim_overlap(
    raters: tuple[str, str], first: Claims, second: Claims, least: float = LEAST
) -> ClaimOverlap:
    """How many claims both marked and how many only one did, and the categories of those in common."""
    found = list(matched_claims(first, second, least))
    marked = [sum(len(each[key]) for key in first.keys() & second.keys()) for each in (first, second)]
    met = Counter((match.first.category, match.second.category) for match in found)
    names = sorted({name for pair in met for name in pair})
    table = {one: {other: met[one, other] for other in names} for one in names}
    return ClaimOverlap(raters, len(found), marked[0] - len(found), marked[1] - len(found), table)


def _place(claim: Claim) -> tuple[int, int]:
    return claim.start, claim.end
