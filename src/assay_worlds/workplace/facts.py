"""What holds in the organisation, one fact per sentence, and where the corpus states it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay_worlds.organisation.documents import Mention


class Atom(NamedTuple):
    """A relation holds between a subject and a value, in an edition where the kind has several."""

    relation: str
    subject: str
    value: str
    when: str = ""


class Facts:
    """The facts that a corpus, or a handful of sentences, states. Each is stated once.

    This is not all that holds: a reader of only these sentences knows nothing else.
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
        """What is stated of a subject."""
        return self._of.get((relation, subject, when))

    def having(self, relation: str, value: str, when: str = "") -> list[Atom]:
        """What is stated with a value, in the order of the corpus."""
        return self._by_value.get((relation, value, when), [])

    def all(self, relation: str) -> list[Atom]:
        """Everything that is stated by one relation."""
        return self._by_relation.get(relation, [])

    def about(self, subject: str) -> list[Atom]:
        """Everything that is stated of a subject."""
        return self._by_subject.get(subject, [])

    def __iter__(self) -> Iterator[Atom]:
        return iter(self._of.values())


def stated(mentions: Iterable[Mention]) -> dict[Atom, Mention]:
    """Where each fact is stated."""
    return {mention.fact: mention for mention in mentions}
