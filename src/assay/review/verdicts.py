"""People beside a model judge: which of its verdicts they are shown, and how far they agree with it.

People see a random part of the items whose results the judge judged. Random, because what they find there is
carried over to the rest: items that somebody picked, the doubtful ones for instance, would say how the judge
does on doubtful items. Of each item they grade every passage that the judge graded, in its own words, and see
neither its verdict nor a rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from assay.core.dataset import digest
from assay.core.protocols import Judge, PayingJudge, PersonJudge
from assay.core.records import Item, Judgment
from assay.judges.labels import BlockTexts
from assay.judges.llm_prompt import Prompt, expected_of
from assay.stats.checked_judge import LEAST, LabelSources

ITEMS = 50  # drawn where nobody says how many


@dataclass(frozen=True)
class JudgedItem:
    """One item, and the passages that a paying judge graded for it under one label."""

    item: Item
    label: str
    judge: str
    grades: Mapping[str, float]  # the judge's words, best first, and what each counts
    passages: Mapping[str, str]  # doc_id -> text
    prompt: Prompt | None = None  # what it was asked by, where it says so

    @property
    def key(self) -> tuple[str, str]:
        return self.item.item_id, self.label

    @property
    def query(self) -> dict[str, Any]:
        """What there is to know of the query: as much as the judge was shown."""
        intent = self.item.gold.get("intent")
        quoted = expected_of(self.item) if self.prompt is not None and self.prompt.quotes("expected") else []
        found = {"text": self.item.text, "intent": intent and str(intent), "expected": quoted}
        return {name: value for name, value in found.items() if value or name == "text"}

    @property
    def rules(self) -> dict[str, Any]:
        """What the grades mean, and the item's intent, in the words that the judge was given."""
        if self.prompt is None or not self.prompt.meanings:
            return {"grades": f"Write one of {', '.join(self.grades)}."}
        intent = str(self.item.gold.get("intent"))
        meant = {intent: self.prompt.intents[intent]} if intent in self.prompt.intents else {}
        grades = {word: self.prompt.meanings[word] for word in self.grades}
        return {"intent": meant, "grades": grades} if meant else {"grades": grades}

    def order(self, seed: int) -> list[str]:
        """The passages in an order that comes from a hash, which no ranking decides."""
        return sorted(self.passages, key=lambda doc_id: _hash(seed, *self.key, doc_id))


def judged_items(
    judges: Iterable[Judge], judgments: Sequence[Judgment], present: Sequence[BlockTexts]
) -> list[JudgedItem]:
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
        prompt: Prompt | None = getattr(judge, "asks", None)
        for (item_id, label), own in texts.items():
            found.append(JudgedItem(items[item_id], label, name, grades, own, prompt))
    place = {item_id: number for number, item_id in enumerate(items)}
    return sorted(found, key=lambda each: place[each.item.item_id])


def _text(judgment: Judgment, present: Sequence[BlockTexts]) -> str:
    return next(filter(None, (each.text(judgment) for each in present)), "")


def _grades(judge: Judge, said: Iterable[Judgment]) -> dict[str, float]:
    """What a judge says of itself, or else the words it was heard to use."""
    heard = {each.category: each.grade for each in said if each.category is not None}
    words: Mapping[str, float] = getattr(judge, "grades", None) or heard
    return dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0])))


def drawn(asked: Sequence[JudgedItem], items: int, seed: int) -> list[JudgedItem]:
    """A random part of the items; with the same seed a larger part holds every smaller one."""
    ids = sorted({each.item.item_id for each in asked}, key=lambda item_id: _hash(seed, item_id))
    chosen = set(ids[:items])
    return [each for each in asked if each.item.item_id in chosen]


def _hash(seed: int, *parts: str) -> str:
    return digest(part.encode() for part in (str(seed), *parts))


@dataclass(frozen=True)
class GradingProgress:
    """How far people have come with what paying judges graded."""

    items: int  # that a paying judge graded
    finished: int  # those whose every passage somebody among the people graded
    before: list[str]  # paying judges whose word comes before that of people
    drawn: int = 0  # items that people have forms for, where that is known
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
        """`names` are those that count, best first; `drawn` the items that people have forms for."""
        sides = LabelSources.of(judges, names)
        graded = {(each.item_id, each.label, each.target) for each in judgments if each.judge in sides.people}
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
        """The same in a sentence."""
        if self.before:
            return f"people's grades do not count: list human before {', '.join(self.before)} in judges"
        said = f"people finished {self.finished} of the {self.items} items that a model judged"
        if self.drawn:
            said = f"people finished {self.drawn_finished} of the {self.drawn} items that were drawn"
        return f"{said}; from {LEAST} on, estimates combine both"
