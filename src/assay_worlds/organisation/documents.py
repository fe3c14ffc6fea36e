"""Drafts of the organisation's pages: people, handbook, release notes. Some sentences state facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from random import Random
from typing import Any, NamedTuple

from assay.core.records import Document, Passage, Span
from assay_worlds.organisation.world import (
    STYLES,
    Fact,
    Office,
    Person,
    Phrase,
    Product,
    Topic,
    World,
    company,
)
from assay_worlds.texts import TextEntry, read_texts

STATES, REPEATS = (
    2,
    1,
)  # what a passage is worth to a question: it is the source, or it repeats or supports it


class Sentence(NamedTuple):
    """A sentence. If it states a fact, `grade` is its passage's relevance to a question on that fact."""

    text: str
    fact: Any = None
    grade: int = STATES


class PageParagraph(NamedTuple):
    """A paragraph of a page. Each paragraph becomes one passage."""

    section: str
    sentences: tuple[Sentence, ...]


class Mention(NamedTuple):
    """A sentence that mentions a fact, with its passage, document and span."""

    fact: Any
    grade: int
    doc_id: str
    source: str
    span: Span
    text: str


@dataclass(frozen=True)
class PageDraft:
    """A document before its text is laid out."""

    doc_id: str
    title: str
    metadata: Mapping[str, str]
    paragraphs: tuple[PageParagraph, ...]


class FinishedPage(NamedTuple):
    """A finished document, its passages, and the places where they mention facts."""

    document: Document
    passages: list[Passage]
    mentions: list[Mention]


def state(fact: Fact) -> Sentence:
    """Returns the sentence that states a fact."""
    return Sentence(fact.sentence, fact)


def prose(*texts: str) -> tuple[Sentence, ...]:
    """Returns sentences without facts."""
    return tuple(Sentence(text) for text in texts)


def lay_out(draft: PageDraft) -> FinishedPage:
    """Writes a draft as text, and records the spans of its passages and facts."""
    parts, passages, mentions, at, metadata = [draft.title], [], [], len(draft.title), dict(draft.metadata)
    for number, paragraph in enumerate(draft.paragraphs, 1):
        doc_id, heading = f"{draft.doc_id}#p{number}", f"\n\n{paragraph.section}\n"
        text = " ".join(sentence.text for sentence in paragraph.sentences)
        start = at = at + len(heading)
        for sentence in paragraph.sentences:
            if sentence.fact is not None:
                span = Span(at, at + len(sentence.text))
                place = (doc_id, draft.doc_id, span, sentence.text)
                mentions.append(Mention(sentence.fact, sentence.grade, *place))
            at += len(sentence.text) + 1
        at = start + len(text)
        span = Span(start, at)
        passages.append(Passage(doc_id, text, draft.title, draft.doc_id, span, paragraph.section, metadata))
        parts += [heading, text]
    return FinishedPage(Document(draft.doc_id, "".join(parts), draft.title, metadata), passages, mentions)


class Duty(TextEntry, frozen=True):
    """A duty, in the words of its holder's page and in the plain words of a colleague."""

    text: str
    plain: str


class PeopleTexts(TextEntry, frozen=True):
    """The texts of people's pages."""

    duties: tuple[Duty, ...]
    duty: Phrase
    extension: Phrase
    background: Phrase
    prose: tuple[str, ...]


@cache
def people_texts() -> PeopleTexts:
    return read_texts(PeopleTexts, __package__, "people")


def pages(world: World) -> Iterator[PageDraft]:
    """Yields one page per person. The first people get the duties."""
    bearers = Counter(person.name for person in world.people)
    extensions = world.rng("extensions").sample(range(2000, 9999), len(world.people))
    known = people_texts().duties
    duties = world.rng("duties").sample(known, len(known))
    for number, person in enumerate(world.people):
        duty = duties[number] if number < len(duties) else None
        doc_id = f"people-{person.name.partition(' ')[2].lower()}-{number:03d}"
        yield _page(doc_id, person, duty, (str(extensions[number]), bearers[person.name] > 1), world)


def _page(doc_id: str, person: Person, duty: Duty | None, call: tuple[str, bool], world: World) -> PageDraft:
    rng, texts = world.rng(doc_id), people_texts()
    extension, contested = call
    year = str(rng.randint(2008, 2025))
    slots = {**person._asdict(), "first": person.first, "year": year}
    reach = Fact("people", "people/extension", texts.extension, extension, slots, contested=contested)
    before = rng.choice(texts.background.values)
    past = Fact("people", "people/past", texts.background, before, slots, contested=contested)
    lines = rng.sample(texts.prose, 5)
    profile = f"{person.name} is {person.role} in {person.team} at the {person.office} office."
    paragraphs = [
        PageParagraph("Profile", prose(profile, *lines[:2])),
        PageParagraph("Background", (state(past), *prose(lines[2]))),
        PageParagraph("Contact", (state(reach), *prose(lines[3]))),
    ]
    if duty:
        own = {"duty": duty.text, "plain": duty.plain}
        holds = Fact("people", f"people/duty/{duty.text}", texts.duty, person.name, own)
        paragraphs.append(PageParagraph("Responsibilities", (state(holds), *prose(lines[4]))))
    metadata = {
        "kind": "people",
        "date": f"{year}-04-01",
        "team": person.team,
        "office": person.office,
    }
    return PageDraft(doc_id, f"{person.name}, {person.team}", metadata, tuple(paragraphs))


YEARS = range(2019, 2027)
CURRENT = YEARS[-1]
SECTIONS = {
    "policy": ("Purpose", "Provision", "Administration"),
    "procedure": ("Before you start", "Step", "Afterwards"),
}


class Edition(NamedTuple):
    """One text on a topic, for an office and a year. Without an office, it is for the whole company."""

    kind: str
    topic: Topic
    office: Office | None
    year: int

    @property
    def place(self) -> str:
        return self.office.name if self.office else ""


@cache
def topics(name: str) -> tuple[Topic, ...]:
    """Reads the topics of one file of texts."""
    return read_texts(tuple[Topic, ...], __package__, name)


def editions(kind: str, topics: Sequence[Topic], world: World) -> Iterator[PageDraft]:
    """Yields all editions, the newest first. So even a small corpus has current and some earlier editions."""
    numbers = dict.fromkeys((topic.key for topic in topics), 0)
    for year in reversed(YEARS):
        for topic in topics:
            for office in world.offices if topic.local else (None,):
                numbers[topic.key] += 1
                doc_id = f"{kind}-{topic.key}-{numbers[topic.key]:02d}"
                yield _draft(doc_id, Edition(kind, topic, office, year), world)


def _draft(doc_id: str, edition: Edition, world: World) -> PageDraft:
    rng = world.rng(doc_id)
    kind, topic, office, year = edition
    first, middle, last = SECTIONS[kind]
    owner = rng.choice(company().teams)
    opening = f"This {kind} of {company().name} replaces all earlier ones and is owned by {owner}."
    facts = _facts(edition, world)
    paragraphs = (
        PageParagraph(first, prose(opening, *rng.sample(topic.prose, 2))),
        *(
            PageParagraph(f"{middle} {number}", _clause(fact, topic, rng))
            for number, fact in enumerate(rng.sample(facts, len(facts)), 1)
        ),
        PageParagraph(last, prose(*rng.sample(company().filler, 3))),
    )
    metadata = {"kind": kind, "date": f"{year}-01-01", "version": str(year)}
    if office:
        metadata["office"] = office.name
    scope = f"{office.name} {year}" if office else str(year)
    return PageDraft(doc_id, f"{topic.title}, {scope}", metadata, paragraphs)


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
    """Returns the values of an edition. Each edition changes one value of the edition before it."""
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
    """Returns the words for office and year, by question style. Without a year, they mean the current one."""
    if place:
        when = (f" {year}", f" in {year}", f" in {year}") if year else ("", " today", " now")
        where = (place, f"at the {place} office", f"in {place}")
    else:
        when = (f"{year}", f"under the {year} edition", f"by the {year} rules") if year else ("", "", "")
        where = ("", "", "")
    return {style: {"scope": office + time} for style, office, time in zip(STYLES, where, when, strict=True)}


class ReleaseSetting(TextEntry, frozen=True):
    """A setting, the plain words that a user has for it, and its possible values."""

    name: str
    plain: str
    values: tuple[str, ...]


class ReleaseTexts(TextEntry, frozen=True):
    """The texts of release notes."""

    defects: tuple[Phrase, ...]
    settings: tuple[ReleaseSetting, ...]
    setting: Phrase
    upgrade: tuple[str, ...]


@cache
def release_texts() -> ReleaseTexts:
    return read_texts(ReleaseTexts, __package__, "releases")


def releases(world: World) -> Iterator[PageDraft]:
    """Yields releases without end. The products take turns."""
    streams = [_versions(product, world.rng("release", product.name)) for product in world.products]
    for stream in cycle(streams):
        yield next(stream)


def _versions(product: Product, rng: Random) -> Iterator[PageDraft]:
    major, minor, month = rng.randint(1, 6), 0, rng.randint(1, 6) + 12 * 2021
    ticket = rng.randint(1100, 1900)
    texts = release_texts()
    defects = cycle(rng.sample(range(len(texts.defects)), len(texts.defects)))
    values = {setting.name: rng.choice(setting.values) for setting in texts.settings}
    number = 0
    while True:
        number += 1
        month += rng.randint(1, 3)
        major, minor = (major + 1, 0) if minor > 2 and rng.random() < 0.3 else (major, minor + 1)
        slots = {"product": product.name, "version": f"{major}.{minor}"}
        repaired = []
        for _ in range(2):
            ticket += rng.randint(3, 60)
            repaired.append(_repair(next(defects), {**slots, "ticket": f"{product.prefix}-{ticket}"}))
        chosen = sorted(rng.sample(range(len(texts.settings)), 2))
        moved = [_move(texts.settings[index], slots, values, rng) for index in chosen]
        doc_id = f"release-{product.name.lower()}-{number:02d}"
        date = f"{month // 12}-{month % 12 + 1:02d}-{rng.randint(1, 28):02d}"
        metadata = {"kind": "release", "date": date, "version": slots["version"], "product": product.name}
        title = f"{product.name} {slots['version']} release notes"
        yield PageDraft(doc_id, title, metadata, _sections(product, repaired, moved, rng))


def _sections(
    product: Product, repaired: list[Fact], moved: list[Fact], rng: Random
) -> tuple[PageParagraph, ...]:
    upgrade = rng.sample(release_texts().upgrade, 6)
    summary = f"This version of {product.about} is available to all tenants and signed with the new key."
    return (
        PageParagraph("Summary", prose(summary, *upgrade[:2])),
        PageParagraph("Repaired", tuple(map(state, repaired))),
        PageParagraph("Changed", (*map(state, moved), *prose(upgrade[2]))),
        PageParagraph("Upgrading", prose(*upgrade[3:])),
    )


def _repair(index: int, slots: dict[str, str]) -> Fact:
    return Fact("release", f"release/defect/{index}", release_texts().defects[index], slots["version"], slots)


def _move(setting: ReleaseSetting, slots: dict[str, str], values: dict[str, str], rng: Random) -> Fact:
    """Changes the default of a setting to a value that differs from the last release."""
    name, old = setting.name, values[setting.name]
    values[name] = rng.choice([choice for choice in setting.values if choice != old])
    own = {**slots, "setting": name, "plain": setting.plain, "old": old}
    moves = release_texts().setting
    return Fact("release", f"release/setting/{name}", moves, values[name], own, contested=True)
