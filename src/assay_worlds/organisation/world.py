"""The organisation as facts: offices, people, products and projects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import NamedTuple

from assay_worlds.texts import TextEntry, read_texts

SHARED_NAMES = 0.1  # the share of people with the name of another person


class Person(NamedTuple):
    """An employee. Two employees of different teams may have the same name."""

    name: str
    role: str
    team: str
    office: str

    @property
    def first(self) -> str:
        return self.name.partition(" ")[0]


class Project(NamedTuple):
    """A project of a team. Another team may have a project of the same name."""

    name: str
    team: str
    shared: bool


@dataclass(frozen=True, eq=False)
class Fact:
    """A fact about the organisation: a relation between a subject and a value.

    Facts are compared by identity, because two offices may have the same rule.

    `slots` fill the sentence and the questions. `asked` fills only the questions, by style. A contested fact
    has rivals that read almost the same: facts of other offices and years, or of a subject of the same name.
    """

    kind: str
    relation: str
    phrase: Phrase
    value: str
    slots: Mapping[str, str]
    asked: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    contested: bool = False

    @property
    def sentence(self) -> str:
        return self.phrase.state.format_map({**self.slots, "value": self.value})

    def question(self, style: str) -> str:
        """Returns the question for this fact in one of the styles `keyword`, `natural` and `paraphrase`."""
        template: str = getattr(self.phrase, style)
        words = template.format_map({**self.slots, **self.asked.get(style, {})})
        return words.replace(" ?", "?").strip()


@dataclass(frozen=True)
class World:
    """All people and things that documents may mention."""

    seed: int
    offices: tuple[Office, ...]
    products: tuple[Product, ...]
    people: tuple[Person, ...]
    projects: tuple[Project, ...]

    def rng(self, *path: object) -> Random:
        """Returns a random generator for one part of the world. Parts do not influence each other."""
        return Random("/".join(map(str, (self.seed, *path))))


def create_world(seed: int, people: int, projects: int) -> World:
    """Makes a world with these numbers of people and projects. The same seed gives the same world."""
    rng, names = Random(seed), company()
    return World(
        seed, names.offices, names.products, _people(rng, names, people), _projects(rng, names, projects)
    )


def _people(rng: Random, known: Company, count: int) -> tuple[Person, ...]:
    names = [f"{first} {last}" for first in known.first_names for last in known.last_names]
    rng.shuffle(names)
    people: list[Person] = []
    for name in names[: count - int(count * SHARED_NAMES)]:
        office = rng.choice(known.offices).name
        people.append(Person(name, rng.choice(known.roles), rng.choice(known.teams), office))
    for namesake in people[: count - len(people)]:
        role = rng.choice([role for role in known.roles if role != namesake.role])
        team = rng.choice([team for team in known.teams if team != namesake.team])
        people.append(Person(namesake.name, role, team, rng.choice(known.offices).name))
    rng.shuffle(people)
    return tuple(people)


def _projects(rng: Random, known: Company, count: int) -> tuple[Project, ...]:
    names = rng.sample(known.project_names, len(known.project_names))
    teams = rng.sample(known.teams, len(known.teams))
    projects = []
    for index in range(count):
        lap, place = divmod(index, len(names))
        # Five teams further each lap: the second bearer of a name belongs to another team.
        team = teams[(place + 5 * lap) % len(teams)]
        shared = lap > 0 or index + len(names) < count
        projects.append(Project(f"Project {names[place]}", team, shared))
    return tuple(projects)


class Office(NamedTuple):
    """A site and its currency. One euro costs `rate` units of the currency."""

    name: str
    currency: str
    rate: int


class Product(NamedTuple):
    """A product, with the prefix of its ticket numbers."""

    name: str
    prefix: str
    about: str


class Company(TextEntry, frozen=True):
    """The names that the organisation uses."""

    name: str
    offices: tuple[Office, ...]
    teams: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    roles: tuple[str, ...]
    products: tuple[Product, ...]
    project_names: tuple[str, ...]
    months: tuple[str, ...]
    filler: tuple[str, ...]  # sentences that fit on any page


@cache
def company() -> Company:
    return read_texts(Company, __package__, "company")


STYLES = ("keyword", "natural", "paraphrase")


class Phrase(TextEntry, frozen=True):
    """The texts of one relation. `{value}` is the answer; `{scope}` in a question names office and year.

    The templates have slots but no alternatives, so that every quotation of a fact reads the same.

    `state` is the sentence of the document. `keyword` uses the words of `state`, and `natural` uses some of
    them. `paraphrase` uses as few of them as possible, like a person who does not know the company's terms.
    """

    state: str
    keyword: str
    natural: str
    paraphrase: str
    values: tuple[str, ...] = ()


class Topic(TextEntry, frozen=True):
    """A topic of the handbook: its prose, and the clauses whose values differ between editions."""

    key: str
    title: str
    prose: tuple[str, ...]
    clauses: tuple[Phrase, ...]
    local: bool = False  # every office keeps its own edition
