"""A question that was made: its words, and the program that answers it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from assay_worlds.template import capital, render, say
from assay_worlds.workplace.directory import Directory, Entity, Relation
from assay_worlds.workplace.facts import Atom
from assay_worlds.workplace.programs import Program

STYLES = {"keyword": 0.2, "natural": 0.45, "paraphrase": 0.35}


class WordedQuestion(NamedTuple):
    """A question in words, and as a program."""

    text: str
    program: Program

    @property
    def identity(self) -> tuple[str, Program]:
        """What no other question of the suite may share: its words, and what it asks for."""
        return self.text.casefold(), self.program


def worded(relation: Relation, rng: Random, style: str = "", **slots: str) -> str:
    """A relation asked for, in a style drawn by its share unless one is given."""
    style = style or rng.choices(list(STYLES), list(STYLES.values()))[0]
    template = relation.keyword if style == "keyword" else rng.choice(getattr(relation, style))
    return capital(render(template, rng, slots))


def closing(relation: Relation, rng: Random, **slots: str) -> str | None:
    """A relation asked for in words that end with whom and when, so that lists can stand there; or None."""
    fitting = [each for each in relation.natural if each.endswith("{of} in {when}?")]
    return capital(say(rng, fitting, **slots)) if fitting else None


def in_one(first: str, second: str) -> str:
    """Two questions as one."""
    return f"{first.rstrip('?. ')}, and {second[:1].lower()}{second[1:]}"


def enumerated(parts: Sequence[str], last: str) -> str:
    """A list in words: "a, b and c"."""
    return f" {last} ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


class FactLookup:
    """What is stated of entities of any tier, looked up one at a time, without writing any page."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self._entities: dict[str, dict[str, Entity]] = {}

    def find(self, relation: Relation, subject: str, when: str = "") -> Atom | None:
        """What a page states of a subject; None where no page does."""
        kind = relation.kind
        if kind not in self._entities:
            self._entities[kind] = {entity.name: entity for entity in self.directory.every(kind)}
        entity = self._entities[kind].get(subject)
        if entity is None or not self.directory.stated(entity, relation):
            return None
        return Atom(relation.key, subject, self.directory.value(entity, relation, when), when)

    def ends(self, subject: str, relations: tuple[Relation, ...]) -> str | None:
        """Where a chain ends; None where a link of it is stated nowhere."""
        at: str | None = subject
        for relation in relations:
            atom = None if at is None else self.find(relation, at)
            at = None if atom is None else atom.value
        return at
