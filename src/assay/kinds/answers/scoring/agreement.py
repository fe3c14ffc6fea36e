"""How far two raters agree on the responses that both scored, or one rater with themselves a while later.

Graded metrics get weighted kappa over all levels of their scale, yes and no plain kappa, counts a rank
correlation. Responses to one question depend on each other, so that questions are what intervals draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from assay.kinds.answers.blinding.pack import BlindPack
from assay.kinds.answers.results import ClaimOverlap, DisputedResponse, RaterAgreement
from assay.kinds.answers.scoring.marks import AGAIN, FIRST, Claim, Mark, current_marks
from assay.kinds.answers.scoring.matching import claim_overlap, matched_claims
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
# by metric and statistic: below it the raters talk, mend the rubric and score again
THRESHOLDS = {("accuracy", LINEAR): 0.6, ("completeness", KAPPA): 0.6, ("citation", LINEAR): 0.6}

Grades = Mapping[str, float]  # by response
Statistic = Callable[["Floats", "Floats", "Floats"], "Floats"]  # two columns and weights


@dataclass(frozen=True)
class RaterMarks:
    """All that one rater gave in one round, by response. What is not there was not scored."""

    rater: str
    accuracy: Grades = field(default_factory=dict)
    claims: Mapping[str, Sequence[Claim]] = field(default_factory=dict)
    completeness: Grades = field(default_factory=dict)
    citation: Mapping[str, float | None] = field(default_factory=dict)  # None: it does not apply


def rater_label(rater: str, turn: str = FIRST) -> str:
    """The name that a rater's scores of one round go by."""
    return f"{rater} ({AGAIN})" if turn == AGAIN else rater


def marks_of_rater(marks: Iterable[Mark], rater: str, turn: str = FIRST) -> RaterMarks:
    """What a rater's marks of one round say, those that stand."""
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
    """The primary rater beside each of the others, or beside themself where there are none."""
    questions, primary = {each.response_id: each.question_id for each in pack.responses}, pack.panel.primary
    seconds = [marks_of_rater(marks, name) for name in pack.panel.others] or [
        marks_of_rater(marks, primary, AGAIN)
    ]
    first, draws = marks_of_rater(marks, primary), Draws(resamples)
    return [RaterPair(first, each, questions, draws, thresholds=thresholds) for each in seconds]


@dataclass(frozen=True)
class RaterPair:
    """Two raters to compare. `questions` holds the question of every response.

    `thresholds` are what a statistic of a metric has to reach.
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

    def _threshold(self, metric: str, name: str) -> float | None:
        """What a statistic has to reach; nothing is asked of a rater who scores again."""
        again = self.second.rater == rater_label(self.first.rater, AGAIN)
        return None if again else self.thresholds.get((metric, name))

    def figures(self) -> list[RaterAgreement]:
        """Every figure, in the order of the passes; those without a threshold inform."""
        return [*self._accuracy(), *self._hallucinations(), *self._completeness(), *self._citation()]

    def matched(self) -> ClaimOverlap:
        """What their hallucinations have in common."""
        return claim_overlap(self.raters, self.first.claims, self.second.claims)

    def differences(self, metric: str) -> list[DisputedResponse]:
        """The responses that both scored and gave another mark."""
        one, other = (_words(each, metric) for each in (self.first, self.second))
        return [
            DisputedResponse(metric, each, self.raters, (one[each], other[each]))
            for each in sorted(one.keys() & other.keys())
            if one[each] != other[each]
        ]

    def _accuracy(self) -> list[RaterAgreement]:
        return self._weighted("accuracy", self.first.accuracy, self.second.accuracy, ACCURACY_LEVELS)

    def _hallucinations(self) -> list[RaterAgreement]:
        one, other = (
            {key: float(len(claims)) for key, claims in each.claims.items()}
            for each in (self.first, self.second)
        )
        found = list(matched_claims(self.first.claims, self.second.claims))
        names = sorted({name for match in found for name in (match.first.category, match.second.category)})
        pairs = [(names.index(match.first.category), names.index(match.second.category)) for match in found]
        asked = [self.questions[match.response_id] for match in found]
        return [
            self._shared("hallucinations", RHO, spearman, one, other),
            self._agreed("hallucination categories", KAPPA, _kappa("none"), pairs, asked),
        ]

    def _completeness(self) -> list[RaterAgreement]:
        kappa = _kappa("none")
        one, other = self.first.completeness, self.second.completeness
        return [self._shared("completeness", KAPPA, kappa, one, other)]

    def _citation(self) -> list[RaterAgreement]:
        given = self.first.citation, self.second.citation
        one, other = ({key: float(grade is not None) for key, grade in by.items()} for by in given)
        applies = self._shared("citation applies", KAPPA, _kappa("none"), one, other)
        one, other = ({key: grade for key, grade in by.items() if grade is not None} for by in given)
        return [applies, *self._weighted("citation", one, other, CITATION_LEVELS)]

    def _weighted(
        self, metric: str, one: Grades, other: Grades, levels: Sequence[int]
    ) -> list[RaterAgreement]:
        linear, quadratic = (_kappa(scheme, levels) for scheme in ("linear", "quadratic"))
        return [
            self._shared(metric, LINEAR, linear, one, other),
            self._shared(metric, QUADRATIC, quadratic, one, other),
        ]

    def _shared(
        self, metric: str, name: str, statistic: Statistic, one: Grades, other: Grades
    ) -> RaterAgreement:
        """One figure over the responses that both have a grade for."""
        both = sorted(one.keys() & other.keys())
        pairs = [(one[key], other[key]) for key in both]
        return self._agreed(metric, name, statistic, pairs, [self.questions[key] for key in both])

    def _agreed(
        self,
        metric: str,
        name: str,
        statistic: Statistic,
        pairs: Sequence[tuple[float, float]],
        asked: Sequence[str],
    ) -> RaterAgreement:
        threshold = self._threshold(metric, name)
        if not pairs:
            return RaterAgreement(
                metric, name, self.raters, 0, threshold=threshold, note="nothing that both scored"
            )
        a, b = np.array(pairs, dtype=np.float64).T
        value, interval = interval_over_clusters(
            partial(statistic, a, b), np.array(asked), self.draws, self.level
        )
        return RaterAgreement(
            metric,
            name,
            self.raters,
            len(pairs),
            _finite(value),
            _finite(interval.low),
            _finite(interval.high),
            equal=float(np.mean(a == b)),
            threshold=threshold,
            note=_note(name, a, b, value, interval.low),
        )


def _words(given: RaterMarks, metric: str) -> dict[str, str]:
    """What a rater gave under a metric, by response."""
    if metric.startswith("hallucination"):
        return {
            key: ", ".join(sorted(each.category for each in of)) or "none" for key, of in given.claims.items()
        }
    grades = {"accuracy": given.accuracy, "completeness": given.completeness}.get(metric, given.citation)
    return {key: "not applicable" if grade is None else f"{grade:g}" for key, grade in grades.items()}


def _kappa(scheme: str, levels: Sequence[int] | None = None) -> Statistic:
    """Kappa with these weights over these levels, as a function of two columns and weights."""
    return lambda a, b, weights: cohen_kappa(a, b, scheme, weights, levels)


def _note(name: str, a: Floats, b: Floats, value: float, low: float) -> str:
    """Why there is no figure, or no interval."""
    if math.isnan(value):
        if name == RHO:
            return "undefined: one of the two gave the same count everywhere"
        return "undefined: only one grade occurs, and chance leaves no room to disagree"
    if math.isnan(low):
        return "no interval: they never differ" if np.array_equal(a, b) else "no interval: too few questions"
    return ""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
