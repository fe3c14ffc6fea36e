"""People beside a model judge: which of its verdicts they are shown, and how far they agree with it.

People see a random part of the items whose results the judge judged. Random, because what they find there is
carried over to the rest: items that somebody picked, the doubtful ones for instance, would say how the judge
does on doubtful items. Of each item they grade every passage that the judge graded, in its own words, and see
neither its verdict nor a rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.datasets.dataset import digest
from assay.judges.marks import Present
from assay.judges.ratings import shared_ratings
from assay.protocols import Judge, PayingJudge
from assay.records import Item, Judgment
from assay.stats.agreement import cohen_kappa
from assay.stats.rectified import LEAST, Sides

ITEMS = 50  # drawn where nobody says how many


@dataclass(frozen=True)
class Asked:
    """One item, and the passages that a paying judge graded for it under one label."""

    item: Item
    label: str
    judge: str
    grades: Mapping[str, float]  # the judge's words, best first, and what each counts
    passages: Mapping[str, str]  # doc_id -> text

    @property
    def key(self) -> tuple[str, str]:
        return self.item.item_id, self.label

    def order(self, seed: int) -> list[str]:
        """The passages in an order that comes from a hash, which no ranking decides."""
        return sorted(self.passages, key=lambda doc_id: _hash(seed, *self.key, doc_id))


def asked_of(
    judges: Iterable[Judge], judgments: Sequence[Judgment], present: Sequence[Present]
) -> list[Asked]:
    """Everything that paying judges graded and whose text is at hand, items in the order of the blocks."""
    items = {item.item_id: item for each in present for item in each.block.items}
    found = []
    for judge in judges:
        if not isinstance(judge, PayingJudge):
            continue
        name = judge.names[0]
        said = [each for each in judgments if each.judge == name and each.item_id in items]
        grades, texts = _grades(judge, said), dict[tuple[str, str], dict[str, str]]()
        for each in said:
            if each.target is not None and (text := _text(each, present)):
                texts.setdefault((each.item_id, each.label), {})[each.target] = text
        found += [Asked(items[item_id], label, name, grades, own) for (item_id, label), own in texts.items()]
    place = {item_id: number for number, item_id in enumerate(items)}
    return sorted(found, key=lambda each: place[each.item.item_id])


def _text(judgment: Judgment, present: Sequence[Present]) -> str:
    return next(filter(None, (each.text(judgment) for each in present)), "")


def _grades(judge: Judge, said: Iterable[Judgment]) -> dict[str, float]:
    """What a judge says of itself, or else the words it was heard to use."""
    heard = {each.category: each.grade for each in said if each.category is not None}
    words: Mapping[str, float] = getattr(judge, "grades", None) or heard
    return dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0])))


def drawn(asked: Sequence[Asked], items: int, seed: int) -> list[Asked]:
    """A random part of the items; with the same seed a larger part holds every smaller one."""
    ids = sorted({each.item.item_id for each in asked}, key=lambda item_id: _hash(seed, item_id))
    chosen = set(ids[:items])
    return [each for each in asked if each.item.item_id in chosen]


def _hash(seed: int, *parts: str) -> str:
    return digest(part.encode() for part in (str(seed), *parts))


@dataclass(frozen=True)
class Checked:
    """How far people have come with what paying judges graded."""

    items: int  # that a paying judge graded
    finished: int  # those whose every passage somebody among the people graded
    before: list[str]  # paying judges whose word comes before that of people

    @classmethod
    def of(
        cls,
        asked: Sequence[Asked],
        judges: Sequence[Judge],
        judgments: Iterable[Judgment],
        names: Sequence[str],
    ) -> Checked:
        """`names` are those that count, best first."""
        sides = Sides.of(judges, names)
        graded = {(each.item_id, each.label, each.target) for each in judgments if each.judge in sides.people}
        done = [each for each in asked if all((*each.key, doc_id) in graded for doc_id in each.passages)]
        people = [hasattr(judge, "raters") for judge in judges]
        first = people.index(True) if True in people else len(people)
        before = [judge.names[0] for judge in judges[:first] if isinstance(judge, PayingJudge)]
        return cls(len(asked), len(done), before)

    @property
    def in_words(self) -> str:
        """The same in a sentence."""
        if self.before:
            return f"people's grades do not count: list human before {', '.join(self.before)} in judges"
        said = f"people finished {self.finished} of the {self.items} items that a model judged"
        return said if self.finished >= LEAST else f"{said}; from {LEAST} on, estimates combine both"


# -------------------------------------------------------------------------------- agreement


def agreement_on_verdicts(
    asked: Sequence[Asked], judgments: Sequence[Judgment], people: Sequence[str]
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


def _agreement(ratings: np.ndarray[Any, Any], grades: Mapping[str, float]) -> dict[str, Any]:
    a, b = ratings.T
    words = {grade: word for word, grade in grades.items()}
    met = Counter((words.get(one, f"{one:g}"), words.get(other, f"{other:g}")) for one, other in ratings)
    named = list(dict.fromkeys([*words.values(), *(word for pair in sorted(met) for word in pair)]))
    return {
        "n": len(ratings),
        "agree": float((a == b).mean()),
        "kappa": number(cohen_kappa(a, b)[0]),
        "kappa_quadratic": number(cohen_kappa(a, b, "quadratic")[0]),
        "confusion": {one: {other: met[one, other] for other in named} for one in named},
    }


def number(value: float) -> float | None:
    """The value, None where it is not finite."""
    return float(value) if np.isfinite(value) else None
