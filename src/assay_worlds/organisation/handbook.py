"""Policies and procedures: editions of one topic, by office and year, that differ in a few values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from assay_worlds.organisation.company import Office, company
from assay_worlds.organisation.draft import Draft, Paragraph, Sentence, prose, state
from assay_worlds.organisation.phrase import STYLES, Topic
from assay_worlds.organisation.world import Fact, World
from assay_worlds.texts import read_texts

YEARS = range(2019, 2027)
CURRENT = YEARS[-1]
SECTIONS = {
    "policy": ("Purpose", "Provision", "Administration"),
    "procedure": ("Before you start", "Step", "Afterwards"),
}


class Edition(NamedTuple):
    """One text of a topic: whose it is (None: the whole company's) and from which year."""

    kind: str
    topic: Topic
    office: Office | None
    year: int

    @property
    def place(self) -> str:
        return self.office.name if self.office else ""


@cache
def topics(name: str) -> tuple[Topic, ...]:
    """The topics of one file of texts."""
    return read_texts(tuple[Topic, ...], __package__, name)


def editions(kind: str, topics: Sequence[Topic], world: World) -> Iterator[Draft]:
    """Every edition, the newest first, so that a small corpus holds what is in force and some of what was."""
    numbers = dict.fromkeys((topic.key for topic in topics), 0)
    for year in reversed(YEARS):
        for topic in topics:
            for office in world.offices if topic.local else (None,):
                numbers[topic.key] += 1
                doc_id = f"{kind}-{topic.key}-{numbers[topic.key]:02d}"
                yield _draft(doc_id, Edition(kind, topic, office, year), world)


def _draft(doc_id: str, edition: Edition, world: World) -> Draft:
    rng = world.rng(doc_id)
    kind, topic, office, year = edition
    first, middle, last = SECTIONS[kind]
    owner = rng.choice(company().teams)
    opening = f"This {kind} of {company().name} replaces all earlier ones and is owned by {owner}."
    facts = _facts(edition, world)
    paragraphs = (
        Paragraph(first, prose(opening, *rng.sample(topic.prose, 2))),
        *(
            Paragraph(f"{middle} {number}", _clause(fact, topic, rng))
            for number, fact in enumerate(rng.sample(facts, len(facts)), 1)
        ),
        Paragraph(last, prose(*rng.sample(company().filler, 3))),
    )
    metadata = {"kind": kind, "date": f"{year}-01-01", "version": str(year)}
    if office:
        metadata["office"] = office.name
    scope = f"{office.name} {year}" if office else str(year)
    return Draft(doc_id, f"{topic.title}, {scope}", metadata, paragraphs)


def _clause(fact: Fact, topic: Topic, rng: Random) -> tuple[Sentence, ...]:
    around = list(prose(rng.choice(topic.prose), *rng.sample(company().filler, rng.randint(0, 1))))
    around.insert(rng.randint(0, len(around)), state(fact))
    return tuple(around)


def _facts(edition: Edition, world: World) -> list[Fact]:
    kind, topic, office, year = edition
    facts = []
    for number, (phrase, value) in enumerate(zip(topic.clauses, _values(edition, world), strict=True)):
        relation = f"{kind}/{topic.key}/{number}"
        undated = year == CURRENT and world.rng(relation, edition.place).random() < 0.5
        asked = _scopes(edition.place, None if undated else year)
        facts.append(Fact(kind, relation, phrase, value, {}, asked, contested=office is not None))
    return facts


def _values(edition: Edition, world: World) -> list[str]:
    """The values in force in a year: each edition takes over its predecessor's and changes one of them."""
    rng = world.rng("values", edition.topic.key, edition.place)
    choices = [phrase.values for phrase in edition.topic.clauses]
    values = [rng.choice(options) for options in choices]
    for _ in range(YEARS[0], edition.year):
        changed = rng.randrange(len(values))
        values[changed] = rng.choice([value for value in choices[changed] if value != values[changed]])
    return [_local(value, edition.office) for value in values]


def _local(value: str, office: Office | None) -> str:
    amount, _, unit = value.partition(" ")
    return f"{int(amount) * office.rate} {office.currency}" if office and unit == "cur" else value


def _scopes(place: str, year: int | None) -> dict[str, dict[str, str]]:
    """How a question in each style says whose rule it means; without a year it means the one in force."""
    if place:
        when = (f" {year}", f" in {year}", f" in {year}") if year else ("", " today", " now")
        where = (place, f"at the {place} office", f"in {place}")
    else:
        when = (f"{year}", f"under the {year} edition", f"by the {year} rules") if year else ("", "", "")
        where = ("", "", "")
    return {style: {"scope": office + time} for style, office, time in zip(STYLES, where, when, strict=True)}
