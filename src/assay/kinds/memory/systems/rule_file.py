"""The rules of a domain pack as data: which words make a role, an edge, a weight."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated

import msgspec

from assay.core.errors import DataError, Problem
from assay.core.yaml_lines import read_yaml

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]


class WordList(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """Words and phrases, whole and in any case; one that ends in * stands for every word that begins so."""

    words: list[str]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = [_whole(word) for word in self.words]
        return re.compile(rf"(?:{'|'.join(parts)})", re.IGNORECASE)

    def found(self, text: str) -> str | None:
        """The first of them that a text has, as it stands there."""
        if not self.words:
            return None
        match = self._pattern.search(text)
        return None if match is None else match[0]


def _whole(phrase: str) -> str:
    """A pattern for a phrase that stands alone; a sign, such as a question mark, has no such ends."""
    body = re.escape(phrase).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")
    begin, end = (r"\b" if re.match(r"\w", edge) else "" for edge in (phrase[:1], phrase[-1:]))
    return f"{begin}{body}{end}"


class NeighbourRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Neighbours: an edge from each unit to the next, within a section or a document."""

    edge: str = "next_unit"
    weight: Share = 0.4
    within: str = "section"  # or "source"
    across: str | None = None  # the edge between the last unit of a group and the first of the next


class LinkRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """An edge from a unit that has one of the words to the units before it that it is about.

    Those are what it shares at least `shared` content words with, and more than half as many as with the
    closest, at most `most` of them. `once`: only where no other rule has linked the two.
    """

    edge: str = "depends_on"
    shared: Annotated[int, msgspec.Meta(ge=1)] = 2
    most: Annotated[int, msgspec.Meta(ge=1)] = 5  # units that one is linked to
    weight: Share = 0.7
    both_ways: bool = False
    once: bool = False


class ReferenceRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """An edge to the unit that a text names by number: clause 4, step 3."""

    edge: str = "refers_to"
    weight: Share = 0.7


class ConflictRule(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """An edge between units that share most of their content words but disagree.

    They give another number of the same thing (4 hours, 8 hours), or only one of them denies. Two that both
    state a condition are not held to deny each other: they are the two cases of one question.
    """

    edge: str = "contradicts"
    share: Share = 0.6
    shared: Annotated[int, msgspec.Meta(ge=1)] = 3
    most: Annotated[int, msgspec.Meta(ge=1)] = 5  # units that one is held against
    weight: Share = 0.7
    negations: tuple[str, ...] = ("not", "no", "never", "without", "cannot")

    @cached_property
    def _negations(self) -> WordList:
        return WordList(list(self.negations))

    def denial(self, text: str) -> str | None:
        """The first negation that a text has."""
        return self._negations.found(text)


class NameRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Edges between units of different documents that speak of the same thing by name."""

    title_edge: str = "mentions"  # to the first unit of the document whose title a text has
    name_edge: str = "shares_name"  # between units that have the same rare capitalised name
    weight: Share = 0.6
    rarest: Annotated[int, msgspec.Meta(ge=2)] = 5  # in how many units a name may stand


class RoleRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """What a unit is that has one of the words; `bonus` is the energy it adds when it is reached."""

    role: str = ""
    bonus: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0


class WeightRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """A part of a unit's weight: `high` where it has one of the words, else `low`."""

    high: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.9
    low: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3
    part: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.35


class PackRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All rules of a pack. What is left out does nothing."""

    otherwise: str  # the role of a unit that no word decides
    following: NeighbourRule = NeighbourRule()
    roles: list[RoleRule] = []
    links: list[LinkRule] = []
    references: ReferenceRule | None = None
    conflicts: ConflictRule | None = None
    amendments: list[str] = []  # X_addendum is read after X, as one document with it
    names: NameRule | None = None
    weights: dict[str, WeightRule] = {}  # risk, importance, novelty
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.95
    striking: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.8  # from where risk or novelty is
    tensions: tuple[str, ...] = ("exception_to", "contradicts")
    stop_words: list[str] | None = None

    @property
    def edges(self) -> frozenset[str]:
        """The kinds of edges that these rules can draw."""
        found = {self.following.edge, self.following.across, *(rule.edge for rule in self.links)}
        found |= {rule.edge for rule in (self.references, self.conflicts) if rule is not None}
        if self.names is not None:
            found |= {self.names.title_edge, self.names.name_edge}
        return frozenset(kind for kind in found if kind is not None)


def read_rules(path: Path) -> PackRules:
    """The rules of a YAML file, checked."""
    content, _ = read_yaml(path)
    try:
        return msgspec.convert(content, PackRules)
    except msgspec.ValidationError as error:
        fix = "See docs/memory.md for what a pack may say."
        raise DataError(Problem(str(error), str(path), fix=fix)) from error
