"""How far people agree with each other, and with a model judge, on passages that several graded."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.core.records import Judgment
from assay.judges.labels import shared_ratings
from assay.measures.semantic import REVIEW
from assay.review.verdicts import JudgedItem
from assay.stats.agreement import cohen_kappa, krippendorff_alpha

Ratings = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Agreement:
    """How far people agree on what is relevant, on the passages that several judged."""

    raters: list[str]
    judges: list[str]  # paying ones that have graded something
    shared: int  # passages that two or more judged
    pairs: list[dict[str, Any]]  # of every two: n, share of equal marks, Cohen's kappa
    alpha: float | None  # Krippendorff's, of all
    verdicts: list[dict[str, Any]]  # of people with paying judges, and with each other on what those judged

    @classmethod
    def of(
        cls, judgments: Sequence[Judgment], raters: Sequence[str], asked: Sequence[JudgedItem]
    ) -> Agreement:
        """`raters` are the people whose marks count, `asked` what paying judges graded."""
        marks = [mark for mark in judgments if mark.label == REVIEW]
        shared = shared_ratings(marks, raters)
        table = np.array([[by.get(rater, np.nan) for rater in raters] for by in shared.values()])
        return cls(
            list(raters),
            list(dict.fromkeys(each.judge for each in asked)),
            len(shared),
            list(_pairs(table, raters)) if len(table) else [],
            _number(krippendorff_alpha(list(table.T), "nominal")[0]) if len(table) else None,
            _on_verdicts(asked, judgments, raters),
        )

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/agreement/1", **dataclasses.asdict(self)}


def _pairs(table: Ratings, raters: Sequence[str]) -> Iterator[dict[str, Any]]:
    for one, other in combinations(range(len(raters)), 2):
        both = table[~np.isnan(table[:, [one, other]]).any(axis=1)]
        if len(both):
            a, b = both[:, one], both[:, other]
            kappa = _number(cohen_kappa(a, b)[0])
            agree = float((a == b).mean())
            yield {"raters": [raters[one], raters[other]], "n": len(both), "agree": agree, "kappa": kappa}


def _on_verdicts(
    asked: Sequence[JudgedItem], judgments: Sequence[Judgment], people: Sequence[str]
) -> list[dict[str, Any]]:
    """Of every judge with every person, and every two people, on what both graded under the judge's label.

    Raw agreement, Cohen's kappa, plain and with quadratic weights, and how often each word of the first met
    each of the second.
    """
    found = []
    for judge, label in dict.fromkeys((each.judge, each.label) for each in asked):
        grades = next(each.grades for each in asked if (each.judge, each.label) == (judge, label))
        said = [each for each in judgments if each.label == label]
        for pair in [*((judge, person) for person in people), *combinations(people, 2)]:
            ratings = np.array([[by[name] for name in pair] for by in shared_ratings(said, pair).values()])
            if len(ratings):
                found.append({"label": label, "raters": list(pair), **_agreement(ratings, grades)})
    return found


def _agreement(ratings: Ratings, grades: Mapping[str, float]) -> dict[str, Any]:
    a, b = ratings.T
    words = {grade: word for word, grade in grades.items()}
    met = Counter((words.get(one, f"{one:g}"), words.get(other, f"{other:g}")) for one, other in ratings)
    named = list(dict.fromkeys([*words.values(), *(word for pair in sorted(met) for word in pair)]))
    return {
        "n": len(ratings),
        "agree": float((a == b).mean()),
        "kappa": _number(cohen_kappa(a, b)[0]),
        "kappa_quadratic": _number(cohen_kappa(a, b, "quadratic")[0]),
        "confusion": {one: {other: met[one, other] for other in named} for one in named},
    }


def _number(value: float) -> float | None:
    """The value, None where it is not finite."""
    return float(value) if np.isfinite(value) else None
