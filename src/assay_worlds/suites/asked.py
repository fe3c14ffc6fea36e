"""Generated questions: the words of a question, and the program that answers it."""

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
    """A question as a text and as a program."""

    text: str
    program: Program

    @property
    def identity(self) -> tuple[str, Program]:
        """The text and the program. No two questions of the suite share a text or a program."""
        return self.text.casefold(), self.program


def word_question(relation: Relation, rng: Random, style: str = "", **slots: str) -> str:
    """Words a question on a relation. Without `style`, a style is drawn by its share."""
    style = style or rng.choices(list(STYLES), list(STYLES.values()))[0]
    template = relation.keyword if style == "keyword" else rng.choice(getattr(relation, style))
    return capital(render(template, rng, slots))


def word_open_question(relation: Relation, rng: Random, **slots: str) -> str | None:
    """Words a question that ends with its subject and time, so that both may be lists.

    Returns None if the relation has no such wording.
    """
    fitting = [each for each in relation.natural if each.endswith("{of} in {when}?")]
    return capital(say(rng, fitting, **slots)) if fitting else None


def join_questions(first: str, second: str) -> str:
    """Joins two questions into one."""
    return f"{first.rstrip('?. ')}, and {second[:1].lower()}{second[1:]}"


def list_in_words(parts: Sequence[str], last: str) -> str:
    """Writes a list in words: "a, b and c"."""
    return f" {last} ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


class FactLookup:
    """Looks up the facts that pages state about entities of any tier, without writing the pages."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self._entities: dict[str, dict[str, Entity]] = {}

    def find(self, relation: Relation, subject: str, when: str = "") -> Atom | None:
        """Returns the fact that a page states about a subject, or None."""
        kind = relation.kind
        if kind not in self._entities:
            self._entities[kind] = {entity.name: entity for entity in self.directory.every(kind)}
        entity = self._entities[kind].get(subject)
        if entity is None or not self.directory.stated(entity, relation):
            return None
        return Atom(relation.key, subject, self.directory.value(entity, relation, when), when)

    def ends(self, subject: str, relations: tuple[Relation, ...]) -> str | None:
        """Returns the value at the end of a chain of relations, or None if a link is not stated."""
        at: str | None = subject
        for relation in relations:
            atom = None if at is None else self.find(relation, at)
            at = None if atom is None else atom.value
        return at
