"""Questions about the organisation, made from its facts. The sentence that answers each question is known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from operator import itemgetter
from random import Random
from typing import Any

from assay.core.errors import UsageError
from assay.core.records import Item
from assay_worlds.organisation.documents import STATES, Mention
from assay_worlds.organisation.world import STYLES, Fact, World
from assay_worlds.texts import TextEntry, read_texts

DIFFICULTY = ("easy", "medium", "hard")
# The categories in turn: as often as people ask for them, spread so that any number of items is balanced.
TURNS = (
    *("policy", "release", "email", "procedure", "decision", "policy", "people"),
    *("release", "procedure", "policy", "email", "decision", "release", "policy", "email", "people"),
)
ONE_IN = 15  # one item in fifteen expects nothing


class Unanswerable(TextEntry, frozen=True):
    """A question without an answer in the knowledge base, and a word that does not occur there."""

    category: str
    style: str
    text: str
    absent: str


@cache
def unanswerable() -> tuple[Unanswerable, ...]:
    return read_texts(tuple[Unanswerable, ...], __package__, "unanswerable")


def questions(mentions: Sequence[Mention], world: World, count: int) -> list[Item]:
    """Makes `count` items, balanced over categories and styles. Some of them have no answer."""
    silent = min(count // ONE_IN, len(unanswerable()))
    mentioned: dict[Fact, list[Mention]] = defaultdict(list)
    for mention in mentions:
        mentioned[mention.fact].append(mention)
    clear = _clear_questions(mentioned)
    waiting = {
        category: _varied([fact for fact in mentioned if fact.kind == category], world.rng("asked", category))
        for category in dict.fromkeys(TURNS)
    }
    numbers: Counter[str] = Counter()
    items = []
    for turn in range(count - silent):
        category = TURNS[turn % len(TURNS)]
        style = STYLES[numbers[category] % len(STYLES)]
        fact = next((fact for fact in waiting[category] if (fact, style) in clear), None)
        if fact is None:
            raise UsageError(
                f"There are not enough facts for {count} queries. Ask for fewer, or more passages."
            )
        waiting[category].remove(fact)
        numbers[category] += 1
        items.append(_item(f"q-{category}-{numbers[category]:03d}", fact, style, mentioned[fact]))
    for asked in unanswerable()[:silent]:
        numbers[asked.category] += 1
        items.append(_silent_item(f"q-{asked.category}-{numbers[asked.category]:03d}", asked))
    return items


def _clear_questions(facts: Iterable[Fact]) -> set[tuple[Fact, str]]:
    """Returns the facts and styles whose question has exactly one answer and does not contain that answer."""
    asked: dict[str, list[tuple[Fact, str]]] = defaultdict(list)
    for fact in facts:
        for style in STYLES:
            asked[fact.question(style).lower()].append((fact, style))
    return {
        claims[0]
        for text, claims in asked.items()
        if len(claims) == 1 and claims[0][0].value.lower() not in text
    }


def _varied(facts: Sequence[Fact], rng: Random) -> list[Fact]:
    """Returns facts in random order. Each relation occurs once before any relation occurs again."""
    seen: Counter[str] = Counter()
    laps = []
    for fact in rng.sample(facts, len(facts)):
        laps.append((seen[fact.relation], fact))
        seen[fact.relation] += 1
    return [fact for _, fact in sorted(laps, key=itemgetter(0))]


def _item(item_id: str, fact: Fact, style: str, mentions: Sequence[Mention]) -> Item:
    # Two hurdles: words other than the text's, and rivals that read almost the same.
    hurdles = (style == "paraphrase") + fact.contested
    gold = {
        "relevant": _grades(mentions),
        "evidence": [_evidence(mention) for mention in mentions if mention.grade == STATES],
        "answer": fact.value,
    }
    tags = {"category": [fact.kind], "difficulty": [DIFFICULTY[hurdles]], "style": [style]}
    return Item(item_id, fact.question(style), "en", tags, gold)


def _grades(mentions: Iterable[Mention]) -> dict[str, int]:
    grades: dict[str, int] = {}
    for mention in mentions:
        grades[mention.doc_id] = max(mention.grade, grades.get(mention.doc_id, 0))
    return grades


def _evidence(mention: Mention) -> dict[str, Any]:
    return {
        "doc_id": mention.doc_id,
        "source": mention.source,
        "start": mention.span.start,
        "end": mention.span.end,
        "text": mention.text,
    }


def _silent_item(item_id: str, asked: Unanswerable) -> Item:
    tags = {"category": [asked.category], "difficulty": ["hard"], "style": [asked.style]}
    return Item(item_id, asked.text, "en", tags, {"absent": asked.absent}, expects="nothing")
