"""Draws the items on which people check a model judge, and computes how far people agree with it.

People see a random part of the items that the judge graded. The part must be random, because its result is
carried over to the other items. If somebody picked doubtful items, the result would hold only for doubtful
items. For each item people grade every passage that the judge graded, with the judge's own words. They see
neither the judge's grade nor a rank.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, runtime_checkable

import numpy as np

from assay.core.dataset import digest
from assay.core.optional import GradingJudge
from assay.core.protocols import Judge, PayingJudge, PersonJudge
from assay.core.records import Item, Judgment
from assay.judges.labels import BlockTexts, shared_ratings
from assay.judges.llm_prompt import Prompt, expected_of
from assay.measures.marks import REVIEW
from assay.stats.agreement import cohen_kappa, krippendorff_alpha
from assay.stats.checked_judge import LEAST, LabelSources

ITEMS = 50  # drawn by default


@runtime_checkable
class PromptedJudge(Protocol):
    """A judge that asks a model by means of a prompt."""

    @property
    def asks(self) -> Prompt: ...


@dataclass(frozen=True)
class JudgedItem:
    """An item, and the passages that a paying judge graded for it under one label."""

    item: Item
    label: str
    judge: str
    grades: Mapping[str, float]  # the judge's words, best first, each with its value
    passages: Mapping[str, str]  # doc_id -> text
    prompt: Prompt | None = None  # the prompt of the judge, if it has one

    @property
    def key(self) -> tuple[str, str]:
        return self.item.item_id, self.label

    @property
    def query(self) -> dict[str, Any]:
        """The parts of the query that people see: as much as the judge saw."""
        intent = self.item.gold.get("intent")
        quoted = expected_of(self.item) if self.prompt is not None and self.prompt.quotes("expected") else []
        found = {"text": self.item.text, "intent": intent and str(intent), "expected": quoted}
        return {name: value for name, value in found.items() if value or name == "text"}

    @property
    def rules(self) -> dict[str, Any]:
        """The meaning of the grades and of the item's intent, in the words that the judge got."""
        if self.prompt is None or not self.prompt.meanings:
            return {"grades": f"Write one of {', '.join(self.grades)}."}
        intent = str(self.item.gold.get("intent"))
        meant = {intent: self.prompt.intents[intent]} if intent in self.prompt.intents else {}
        grades = {word: self.prompt.meanings[word] for word in self.grades}
        return {"intent": meant, "grades": grades} if meant else {"grades": grades}

    def order(self, seed: int) -> list[str]:
        """Returns the passages in an order by hash, which does not depend on a ranking."""
        return sorted(self.passages, key=lambda doc_id: _hash(seed, *self.key, doc_id))


def judged_items(
    judges: Iterable[Judge], judgments: Sequence[Judgment], present: Sequence[BlockTexts]
) -> list[JudgedItem]:
    """Returns the items and passages that paying judges graded, if the text of the passage is known.

    The items are in the order of the blocks.
    """
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
        prompt = judge.asks if isinstance(judge, PromptedJudge) else None
        for (item_id, label), own in texts.items():
            found.append(JudgedItem(items[item_id], label, name, grades, own, prompt))
    place = {item_id: number for number, item_id in enumerate(items)}
    return sorted(found, key=lambda each: place[each.item.item_id])


def _text(judgment: Judgment, present: Sequence[BlockTexts]) -> str:
    return next(filter(None, (each.text(judgment) for each in present)), "")


def _grades(judge: Judge, said: Iterable[Judgment]) -> dict[str, float]:
    """Returns the grades that a judge declares, or else the grades that it used.

    The best grade comes first.
    """
    heard = {each.category: each.grade for each in said if each.category is not None}
    words = (judge.grades if isinstance(judge, GradingJudge) else None) or heard
    return dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0])))


def drawn(asked: Sequence[JudgedItem], items: int, seed: int) -> list[JudgedItem]:
    """Draws a random part of the items. With the same seed a larger part contains every smaller part."""
    ids = sorted({each.item.item_id for each in asked}, key=lambda item_id: _hash(seed, item_id))
    chosen = set(ids[:items])
    return [each for each in asked if each.item.item_id in chosen]


def _hash(seed: int, *parts: str) -> str:
    return digest(part.encode() for part in (str(seed), *parts))


@dataclass(frozen=True)
class GradingProgress:
    """The progress of people in checking the items that paying judges graded."""

    items: int  # items that a paying judge graded
    finished: int  # items of which people graded all passages
    before: list[str]  # paying judges that are listed before people
    drawn: int = 0  # items that people have forms for, if that is known
    drawn_finished: int = 0

    @classmethod
    def of(
        cls,
        asked: Sequence[JudgedItem],
        judges: Sequence[Judge],
        judgments: Iterable[Judgment],
        names: Sequence[str],
        drawn: Set[str] = frozenset(),
    ) -> GradingProgress:
        """Computes the progress.

        `names` are the raters that count, best first. `drawn` are the items that people have forms for.
        """
        sources = LabelSources.of(judges, names)
        graded = {
            (each.item_id, each.label, each.target) for each in judgments if each.judge in sources.people
        }
        items = {each.item.item_id for each in asked}
        left = {
            each.item.item_id
            for each in asked
            if not all((*each.key, doc_id) in graded for doc_id in each.passages)
        }
        people = [isinstance(judge, PersonJudge) for judge in judges]
        first = people.index(True) if True in people else len(people)
        before = [judge.names[0] for judge in judges[:first] if isinstance(judge, PayingJudge)]
        draw = items & drawn
        return cls(len(items), len(items - left), before, len(draw), len(draw - left))

    @property
    def in_words(self) -> str:
        """The progress as a sentence."""
        if self.before:
            return f"people's grades do not count: list human before {', '.join(self.before)} in judges"
        said = f"people finished {self.finished} of the {self.items} items that a model judged"
        if self.drawn:
            said = f"people finished {self.drawn_finished} of the {self.drawn} items that were drawn"
        return f"{said}; from {LEAST} on, estimates combine both"


# ----------------------------------------------------------------------------------------------

Ratings = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Agreement:
    """The agreement of people with each other and with paying judges, on passages that several judged."""

    raters: list[str]
    judges: list[str]  # paying judges that have graded something
    shared: int  # passages that two or more judged
    pairs: list[dict[str, Any]]  # per pair: n, share of equal marks, Cohen's kappa
    alpha: float | None  # Krippendorff's alpha, over all raters
    verdicts: list[dict[str, Any]]  # agreement of people with paying judges and with each other

    @classmethod
    def of(
        cls, judgments: Sequence[Judgment], raters: Sequence[str], asked: Sequence[JudgedItem]
    ) -> Agreement:
        """Computes the agreement.

        `raters` are the people whose marks count; `asked` is what paying judges graded.
        """
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
    """Returns the agreement of every judge with every person, and of every two people.

    It is computed under the judge's label. An entry has the raw agreement, and Cohen's kappa without weights
    and with quadratic weights. It also counts how often each grade of the first rater met each grade of the
    second.
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
    """Returns the value; None if it is not finite."""
    return float(value) if np.isfinite(value) else None
