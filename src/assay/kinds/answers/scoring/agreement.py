"""Measures how far two raters, or two rounds of one rater, agree on the responses that both scored.

Graded metrics get weighted kappa over all levels of their scale. Yes-or-no metrics get plain kappa. Counts
get a rank correlation. Responses to one question depend on each other, so questions are resampled.

The hallucinations of two raters are matched by the marked text. People who mean the same claim seldom select
the same characters: one person selects the sentence, another only the few wrong words. Claims that overlap
enough count as the same claim. Each claim is matched once, and the matching with the largest total overlap
counts. Categories do not influence the matching: if they did, the raters would seem to agree.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.results import ClaimOverlap, DisputedResponse, RaterAgreement
from assay.kinds.answers.scoring.marks import AGAIN, FIRST, Claim, Mark, current_marks, rater_label
from assay.stats.agreement import cohen_kappa, spearman
from assay.stats.intervals import LEVEL
from assay.stats.paired_tests import interval_over_clusters
from assay.stats.resample import RESAMPLES, Draws

if TYPE_CHECKING:
    from assay.core.protocols import Floats

ACCURACY_LEVELS, CITATION_LEVELS = range(4), range(3)
KAPPA, LINEAR, QUADRATIC = "kappa", "kappa, linear weights", "kappa, quadratic weights"
RHO = "Spearman's rho"
STEPS = ("accuracy", "hallucination", "completeness", "citation")
# by metric and statistic: with less agreement, raters discuss, improve the rubric and score again
THRESHOLDS = {("accuracy", LINEAR): 0.6, ("completeness", KAPPA): 0.6, ("citation", LINEAR): 0.6}
LEAST = 0.1  # the least overlap of two matching claims; a few words must match the sentence around them

Grades = Mapping[str, float]  # by response
Claims = Mapping[str, Sequence[Claim]]  # by response
Statistic = Callable[["Floats", "Floats", "Floats"], "Floats"]  # two columns and weights


# ------------------------------------------------------------------------------- matching claims


class ClaimMatch(NamedTuple):
    """A claim that both raters marked, in the version of each rater."""

    response_id: str
    first: Claim
    second: Claim


def overlap(one: Claim, other: Claim) -> float:
    """Returns the characters that both claims mark, as a share of the characters that either claim marks.

    The share is 0 if the claims have no character in common.
    """
    shared = min(one.end, other.end) - max(one.start, other.start)
    either = (one.end - one.start) + (other.end - other.start) - shared
    return shared / either if shared > 0 else 0.0


def match_claims(
    first: Sequence[Claim], second: Sequence[Claim], least: float = LEAST
) -> list[tuple[int, int]]:
    """Matches the claims of two raters on one response. Returns pairs of places in both lists."""
    if not (first and second):
        return []
    from scipy.optimize import linear_sum_assignment  # imported late: every report would wait for it

    table = np.array([[overlap(one, other) for other in second] for one in first])
    table[table < least] = 0.0
    rows, columns = linear_sum_assignment(table, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if table[row, column]]


def matched_claims(first: Claims, second: Claims, least: float = LEAST) -> Iterator[ClaimMatch]:
    """Yields the claims that both raters marked, over the responses that both scored."""
    for response_id in sorted(first.keys() & second.keys()):
        # in the order of the text, so that equally good matchings always give the same result
        one, other = (
            sorted(each[response_id], key=lambda claim: (claim.start, claim.end)) for each in (first, second)
        )
        for left, right in match_claims(one, other, least):
            yield ClaimMatch(response_id, one[left], other[right])


def claim_overlap(
    raters: tuple[str, str], first: Claims, second: Claims, least: float = LEAST
) -> ClaimOverlap:
    """Counts the claims that both raters or only one rater marked, and the categories of shared claims."""
    found = list(matched_claims(first, second, least))
    marked = [sum(len(each[key]) for key in first.keys() & second.keys()) for each in (first, second)]
    met = Counter((match.first.category, match.second.category) for match in found)
    names = sorted({name for pair in met for name in pair})
    table = {one: {other: met[one, other] for other in names} for one in names}
    return ClaimOverlap(raters, len(found), marked[0] - len(found), marked[1] - len(found), table)


# ------------------------------------------------------------------------------------ agreement


@dataclass(frozen=True)
class RaterMarks:
    """All marks of one rater in one round, by response. A response without an entry was not scored."""

    rater: str
    accuracy: Grades = field(default_factory=dict)
    claims: Claims = field(default_factory=dict)
    completeness: Grades = field(default_factory=dict)
    citation: Mapping[str, float | None] = field(default_factory=dict)  # None: it does not apply


def marks_of_rater(marks: Iterable[Mark], rater: str, turn: str = FIRST) -> RaterMarks:
    """Returns the current marks of a rater in one round."""
    found: dict[str, dict[str, Mark]] = {step: {} for step in STEPS}
    for (who, when, step, response_id), mark in current_marks(marks).items():
        if (who, when) == (rater, turn) and step in found:
            found[step][response_id] = mark
    accuracy, completeness = (
        {key: float(mark.grade) for key, mark in found[step].items() if mark.grade is not None}
        for step in ("accuracy", "completeness")
    )
    return RaterMarks(
        rater_label(rater, turn),
        accuracy,
        {key: mark.claims for key, mark in found["hallucination"].items()},
        completeness,
        {key: None if mark.grade is None else float(mark.grade) for key, mark in found["citation"].items()},
    )


def rater_pairs(
    pack: BlindPack,
    marks: Sequence[Mark],
    thresholds: Mapping[tuple[str, str], float],
    resamples: int = RESAMPLES,
) -> list[RaterPair]:
    """Pairs the primary rater with each other rater, or with their own second round if nobody else scores."""
    primary, draws = pack.panel.primary, Draws(resamples)
    first = marks_of_rater(marks, primary)
    seconds = [marks_of_rater(marks, name) for name in pack.panel.others]
    return [
        RaterPair(first, each, pack.question_of, draws, thresholds=thresholds)
        for each in seconds or [marks_of_rater(marks, primary, AGAIN)]
    ]


@dataclass(frozen=True)
class RaterPair:
    """Two raters to compare. `questions` has the question of every response.

    `thresholds` has the smallest acceptable value for each metric and statistic.
    """

    first: RaterMarks
    second: RaterMarks
    questions: Mapping[str, str]
    draws: Draws = field(default_factory=lambda: Draws(RESAMPLES))
    level: float = LEVEL
    thresholds: Mapping[tuple[str, str], float] = field(default_factory=lambda: THRESHOLDS)

    @property
    def raters(self) -> tuple[str, str]:
        return self.first.rater, self.second.rater

    def agreement(self) -> list[RaterAgreement]:
        """Computes every statistic, in the order of the passes. Those without a threshold only inform."""
        one, other = self.first, self.second
        kappa = _kappa("none")
        counts = [{key: float(len(claims)) for key, claims in each.claims.items()} for each in (one, other)]
        applies = [
            {key: float(grade is not None) for key, grade in each.citation.items()} for each in (one, other)
        ]
        cited = [
            {key: grade for key, grade in each.citation.items() if grade is not None} for each in (one, other)
        ]
        return [
            *self._weighted("accuracy", one.accuracy, other.accuracy, ACCURACY_LEVELS),
            self._statistic("hallucinations", RHO, spearman, *counts),
            self._categories(kappa),
            self._statistic("completeness", KAPPA, kappa, one.completeness, other.completeness),
            self._statistic("citation applies", KAPPA, kappa, *applies),
            *self._weighted("citation", cited[0], cited[1], CITATION_LEVELS),
        ]

    def claim_overlap(self) -> ClaimOverlap:
        """Counts how many hallucinations of the two raters are the same claims."""
        return claim_overlap(self.raters, self.first.claims, self.second.claims)

    def disputed(self, metric: str) -> list[DisputedResponse]:
        """Returns the responses that both raters scored and marked differently."""
        one, other = (_marks_in_words(each, metric) for each in (self.first, self.second))
        return [
            DisputedResponse(metric, each, self.raters, (one[each], other[each]))
            for each in sorted(one.keys() & other.keys())
            if one[each] != other[each]
        ]

    def _categories(self, statistic: Statistic) -> RaterAgreement:
        found = list(matched_claims(self.first.claims, self.second.claims))
        names = sorted({name for match in found for name in (match.first.category, match.second.category)})
        pairs = [(names.index(match.first.category), names.index(match.second.category)) for match in found]
        questions = [self.questions[match.response_id] for match in found]
        return self._over_pairs("hallucination categories", KAPPA, statistic, pairs, questions)

    def _weighted(
        self, metric: str, one: Grades, other: Grades, levels: Sequence[int]
    ) -> list[RaterAgreement]:
        return [
            self._statistic(metric, LINEAR, _kappa("linear", levels), one, other),
            self._statistic(metric, QUADRATIC, _kappa("quadratic", levels), one, other),
        ]

    def _statistic(
        self, metric: str, name: str, statistic: Statistic, one: Grades, other: Grades
    ) -> RaterAgreement:
        """Computes one statistic over the responses that both raters graded."""
        both = sorted(one.keys() & other.keys())
        pairs = [(one[key], other[key]) for key in both]
        return self._over_pairs(metric, name, statistic, pairs, [self.questions[key] for key in both])

    def _over_pairs(
        self,
        metric: str,
        name: str,
        statistic: Statistic,
        pairs: Sequence[tuple[float, float]],
        questions: Sequence[str],
    ) -> RaterAgreement:
        again = self.second.rater == rater_label(self.first.rater, AGAIN)
        threshold = None if again else self.thresholds.get((metric, name))
        plain = RaterAgreement(metric, name, self.raters, len(pairs), threshold=threshold)
        if not pairs:
            return replace(plain, note="nothing that both scored")
        a, b = np.array(pairs, dtype=np.float64).T
        value, interval = interval_over_clusters(
            partial(statistic, a, b), np.array(questions), self.draws, self.level
        )
        note = ""
        if math.isnan(value):
            note = "undefined: only one grade occurs, and chance leaves no room to disagree"
            if name == RHO:
                note = "undefined: one of the two gave the same count everywhere"
        elif math.isnan(interval.low):
            alike = np.array_equal(a, b)
            note = "no interval: they never differ" if alike else "no interval: too few questions"
        return replace(
            plain,
            value=_finite(value),
            low=_finite(interval.low),
            high=_finite(interval.high),
            equal=float(np.mean(a == b)),
            note=note,
        )


def _marks_in_words(marks: RaterMarks, metric: str) -> dict[str, str]:
    """Returns the marks of a rater for a metric as words, by response."""
    if metric.startswith("hallucination"):
        return {
            key: ", ".join(sorted(each.category for each in claims)) or "none"
            for key, claims in marks.claims.items()
        }
    grades = {"accuracy": marks.accuracy, "completeness": marks.completeness}.get(metric, marks.citation)
    return {key: "not applicable" if grade is None else f"{grade:g}" for key, grade in grades.items()}


def _kappa(scheme: str, levels: Sequence[int] | None = None) -> Statistic:
    """Returns a function that computes kappa, with this weighting and these levels, from two columns."""
    return lambda a, b, weights: cohen_kappa(a, b, scheme, weights, levels)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
