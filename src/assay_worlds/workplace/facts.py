"""The facts of the organisation, one per sentence, and the places where the corpus states them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay_worlds.organisation.documents import Mention


class Atom(NamedTuple):
    """One fact: a relation between a subject and a value. If the kind has editions, also an edition."""

    relation: str
    subject: str
    value: str
    when: str = ""


class Facts:
    """The facts that a corpus, or a few sentences, state. Each fact is stated once.

    A reader of only these sentences knows only these facts.
    """

    def __init__(self, atoms: Iterable[Atom]) -> None:
        self._of: dict[tuple[str, str, str], Atom] = {}
        self._by_value: dict[tuple[str, str, str], list[Atom]] = {}
        self._by_relation: dict[str, list[Atom]] = {}
        self._by_subject: dict[str, list[Atom]] = {}
        for atom in atoms:
            self._of[atom.relation, atom.subject, atom.when] = atom
            self._by_value.setdefault((atom.relation, atom.value, atom.when), []).append(atom)
            self._by_relation.setdefault(atom.relation, []).append(atom)
            self._by_subject.setdefault(atom.subject, []).append(atom)

    def find(self, relation: str, subject: str, when: str = "") -> Atom | None:
        """Returns the fact about a subject, or None."""
        return self._of.get((relation, subject, when))

    def having(self, relation: str, value: str, when: str = "") -> list[Atom]:
        """Returns the facts with a value, in the order of the corpus."""
        return self._by_value.get((relation, value, when), [])

    def all(self, relation: str) -> list[Atom]:
        """Returns all facts of one relation."""
        return self._by_relation.get(relation, [])

    def about(self, subject: str) -> list[Atom]:
        """Returns all facts about a subject."""
        return self._by_subject.get(subject, [])

    def __iter__(self) -> Iterator[Atom]:
        return iter(self._of.values())


def places_of_facts(mentions: Iterable[Mention]) -> dict[Atom, Mention]:
    """Maps each fact to the place where the corpus states it."""
    return {mention.fact: mention for mention in mentions}
