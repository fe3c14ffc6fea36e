"""Questions as programs over facts. A program computes the answer and the facts that the answer needs.

Run on all facts of a corpus, a program gives the answer and its evidence. Run on a few facts, it gives the
conclusion of a reader who knows only these facts. Evidence is minimal if leaving out any part changes the
answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from assay_worlds.workplace.facts import Atom, Facts
from assay_worlds.workplace.injections import MEANS, MEASURE
from assay_worlds.workplace.pages import STEP

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Derivation(NamedTuple):
    """The parts of an answer, and the facts from which the answer follows."""

    answer: tuple[str, ...]
    atoms: tuple[Atom, ...]


class Program(Protocol):
    """A question whose answer can be computed from facts."""

    def derive(self, facts: Facts) -> Derivation | None: ...


@dataclass(frozen=True)
class Chain:
    """A program that follows relations from a subject. With one relation, it is a look-up."""

    subject: str
    relations: tuple[str, ...]
    when: str = ""

    def derive(self, facts: Facts) -> Derivation | None:
        at, atoms = self.subject, list[Atom]()
        for relation in self.relations:
            atom = facts.find(relation, at, self.when)
            if atom is None:
                return None
            atoms.append(atom)
            at = atom.value
        return Derivation((at,), tuple(atoms))


@dataclass(frozen=True)
class LargerOfTwo:
    """A program that finds which of two subjects has the larger number."""

    relation: str
    subjects: tuple[str, str]

    def derive(self, facts: Facts) -> Derivation | None:
        found = [facts.find(self.relation, subject) for subject in self.subjects]
        atoms = tuple(atom for atom in found if atom is not None)
        numbers = [number(atom.value) for atom in atoms]
        if len(atoms) < 2 or None in numbers or numbers[0] == numbers[1]:
            return None
        larger = atoms[numbers.index(max(each for each in numbers if each is not None))]
        # with its value: the name is in the question already
        return Derivation((f"{larger.subject}, with {larger.value}",), atoms)


@dataclass(frozen=True)
class ValueChange:
    """A program that finds the values of a relation in two editions."""

    relation: str
    subject: str
    before: str
    after: str

    def derive(self, facts: Facts) -> Derivation | None:
        old, new = (facts.find(self.relation, self.subject, when) for when in (self.before, self.after))
        if old is None or new is None or old.value == new.value:
            return None
        return Derivation((old.value, new.value), (old, new))


@dataclass(frozen=True)
class ValueAsOf:
    """A program that finds the value valid at a time: the value of the latest version until then."""

    relation: str
    subject: str
    when: str

    def derive(self, facts: Facts) -> Derivation | None:
        versions = [atom for atom in facts.about(self.subject) if atom.relation == self.relation]
        valid = [atom for atom in versions if atom.when <= self.when]
        if not valid:
            return None
        latest = max(valid, key=lambda atom: atom.when)
        return Derivation((latest.value,), (latest,))


@dataclass(frozen=True)
class Listing:
    """A program that finds all subjects with a value."""

    relation: str
    value: str

    def derive(self, facts: Facts) -> Derivation | None:
        atoms = facts.having(self.relation, self.value)
        return _listed([atom.subject for atom in atoms], atoms)


@dataclass(frozen=True)
class Join:
    """A program that finds all subjects whose related entity has a value."""

    outer: str
    inner: str
    value: str

    def derive(self, facts: Facts) -> Derivation | None:
        between = facts.having(self.inner, self.value)
        found = [(atom, each) for each in between for atom in facts.having(self.outer, each.subject)]
        atoms = dict.fromkeys(fact for pair in found for fact in pair)
        return _listed([atom.subject for atom, _ in found], list(atoms))


@dataclass(frozen=True)
class Readings:
    """A program that finds the values of all things with the same name."""

    relation: str
    name: str

    def derive(self, facts: Facts) -> Derivation | None:
        atoms = [atom for atom in facts.all(self.relation) if atom.subject.endswith(f" {self.name}")]
        return _listed([atom.value for atom in atoms], atoms)


@dataclass(frozen=True)
class Steps:
    """A program that finds the steps of a procedure, in order."""

    subject: str

    def derive(self, facts: Facts) -> Derivation | None:
        found = [atom for atom in facts.about(self.subject) if atom.relation == STEP]
        atoms = sorted(found, key=lambda atom: atom.when)
        return _listed([atom.value for atom in atoms], atoms)


@dataclass(frozen=True)
class Conjunction:
    """A program that answers several questions together."""

    parts: tuple[Program, ...]

    def derive(self, facts: Facts) -> Derivation | None:
        found = [part.derive(facts) for part in self.parts]
        known = [derived for derived in found if derived is not None]
        if len(known) < len(found):
            return None
        atoms = dict.fromkeys(atom for derived in known for atom in derived.atoms)
        return Derivation(tuple(part for derived in known for part in derived.answer), tuple(atoms))


@dataclass(frozen=True)
class Series:
    """A program that finds the value of a topic at every office, in one edition."""

    relation: str
    topic: str
    when: str

    def derive(self, facts: Facts) -> Derivation | None:
        start = f"{self.topic} at the "
        atoms = [
            atom
            for atom in facts.all(self.relation)
            if atom.when == self.when and atom.subject.startswith(start)
        ]
        listed = [f"{atom.subject.removeprefix(start)}, {self.when}: {atom.value}" for atom in atoms]
        return _listed(listed, atoms)


@dataclass(frozen=True)
class History:
    """A program that finds all facts about a subject, edition by edition."""

    subject: str

    def derive(self, facts: Facts) -> Derivation | None:
        atoms = [atom for atom in facts.about(self.subject) if atom.when and atom.relation != STEP]
        atoms.sort(key=lambda atom: (atom.when, atom.relation))
        return _listed([f"{_word(atom)}, {atom.when}: {atom.value}" for atom in atoms], atoms)


@dataclass(frozen=True)
class Portraits:
    """A program that finds all facts about several subjects."""

    subjects: tuple[str, ...]

    def derive(self, facts: Facts) -> Derivation | None:
        atoms = [atom for subject in self.subjects for atom in facts.about(subject) if not atom.when]
        if {atom.subject for atom in atoms} != set(self.subjects):
            return None
        return _listed([f"{atom.subject}, {_word(atom)}: {atom.value}" for atom in atoms], atoms)


@dataclass(frozen=True)
class GlossedTerm:
    """A program that finds the value of a rare word that a glossary explains."""

    meaning: str
    office: str

    def derive(self, facts: Facts) -> Derivation | None:
        for word in (atom for atom in facts.all(MEANS) if atom.value == self.meaning):
            if value := facts.find(MEASURE, f"{word.subject} at the {self.office} office"):
                return Derivation((value.value,), (word, value))
        return None


@dataclass(frozen=True)
class NoAnswer:
    """A program for a question that has no answer in the corpus."""

    what: tuple[str, ...]

    def derive(self, facts: Facts) -> Derivation | None:
        return None


def number(value: str) -> float | None:
    """Returns the first number in a value, or None."""
    found = _NUMBER.search(value.replace(",", ""))
    return float(found.group()) if found else None


def _word(atom: Atom) -> str:
    """Returns the word for a relation in an answer."""
    return atom.relation.partition(".")[2].replace("_", " ")


def _listed(answer: list[str], atoms: list[Atom]) -> Derivation | None:
    return Derivation(tuple(answer), tuple(atoms)) if atoms else None


def minimal(program: Program, derived: Derivation) -> bool:
    """Whether the facts give the answer, and leaving out any one of them changes the answer."""
    whole = program.derive(Facts(derived.atoms))
    if whole is None or set(whole.answer) != set(derived.answer):
        return False
    for left_out in derived.atoms:
        rest = program.derive(Facts(atom for atom in derived.atoms if atom != left_out))
        if rest is not None and sorted(rest.answer) == sorted(derived.answer):
            return False
    return True
