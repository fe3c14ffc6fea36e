"""Whether a private set is fit to decide anything: enough cases, hard enough, and agreed on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from assay.kinds.memory.annotation.agreement import GATE, LEAST, AnnotatorAgreement
from assay.report.wording import first_names, number, quantity

LEAST_A_FAMILY, MOST_A_FAMILY = 20, 50  # cases of a family of documents
HARD_SHARE = 0.30
HARD = frozenset({"multi_hop", "exception", "contradiction"})
_NAMED = 5


class QualityCriterion(msgspec.Struct, frozen=True):
    """One line of the quality gate."""

    name: str
    value: str
    needed: str
    holds: bool


class CaseCount(msgspec.Struct, frozen=True):
    """What the quality gate looks at in a case that is exported."""

    case_id: str
    family: str
    documents: str  # the family of its document
    double: bool  # labelled by both


def checks_of(
    cases: Sequence[CaseCount], agreement: AnnotatorAgreement, unfinished: Sequence[str]
) -> list[QualityCriterion]:
    """The quality gate of the pilot."""
    n = len(cases)
    hard = sum(case.family in HARD for case in cases)
    negatives = sum(case.family == "hard_negative" for case in cases)
    double = sum(case.double for case in cases)
    share = hard / n if n else 0.0
    return [
        QualityCriterion("approved cases", str(n), f"at least {LEAST_A_FAMILY}", n >= LEAST_A_FAMILY),
        *_by_family(cases),
        QualityCriterion(
            "multi-hop, exception, contradiction",
            f"{hard} of {n} ({share:.0%})",
            f"at least {HARD_SHARE:.0%}",
            share >= HARD_SHARE,
        ),
        QualityCriterion("hard negatives", str(negatives), "at least 1", negatives >= 1),
        QualityCriterion("labelled by both", f"{double} of {n}", "all", 0 < n == double),
        QualityCriterion("review complete", _left(unfinished), "nothing left", not unfinished),
        QualityCriterion(
            "mean Jaccard of evidence",
            f"{number(agreement.jaccard)} over {quantity(agreement.doubles, 'case')}",
            f"at least {GATE} over {LEAST}",
            agreement.verdict == "go",
        ),
    ]


def _by_family(cases: Sequence[CaseCount]) -> list[QualityCriterion]:
    counts = Counter(case.documents or "unnamed" for case in cases)
    needed = f"{LEAST_A_FAMILY} to {MOST_A_FAMILY}"
    return [
        QualityCriterion(f"cases of {family}", str(counts[family]), needed, counts[family] >= LEAST_A_FAMILY)
        for family in sorted(counts)
    ]


def _left(unfinished: Sequence[str]) -> str:
    if not unfinished:
        return "nothing left"
    return f"{quantity(len(unfinished), 'case')} left: {first_names(unfinished, _NAMED)}"
