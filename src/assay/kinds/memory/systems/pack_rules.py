"""The rules of a domain pack as data: which words make a role, an edge or a weight."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated

import msgspec

from assay.core.errors import DataError, Problem
from assay.core.yaml_lines import read_yaml

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
ShareOrNone = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class WordList(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """Whole words and phrases, in upper or lower case; one that ends in * also matches longer words."""

    words: list[str]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = []
        for phrase in self.words:
            body = re.escape(phrase).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")
            # a sign at an end, such as a question mark, has no word boundary
            begin, end = (r"\b" if re.match(r"\w", edge) else "" for edge in (phrase[:1], phrase[-1:]))
            parts.append(f"{begin}{body}{end}")
        return re.compile(rf"(?:{'|'.join(parts)})", re.IGNORECASE)

    def found(self, text: str) -> str | None:
        """The first match in a text, as the text writes it."""
        match = self._pattern.search(text) if self.words else None
        return None if match is None else match[0]


class NeighbourRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An edge from each unit to the next one, within a section or a document."""

    edge: str = "next_unit"
    weight: Share = 0.4
    within: str = "section"  # or "source"
    across: str | None = None  # the edge from the last unit of a section to the first of the next


class LinkRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """An edge from a unit that has one of the words to the earlier units that it is about.

    Those share at least `shared` content words with it, and more than half as many as the closest unit
    shares. At most `most` units are linked. With `once`, units that another rule has linked are left out.
    """

    edge: str = "depends_on"
    shared: Count = 2
    most: Count = 5
    weight: Share = 0.7
    both_ways: bool = False
    once: bool = False


class ReferenceRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """An edge to the unit that a text names by its number: clause 4, step 3."""

    edge: str = "refers_to"
    weight: Share = 0.7


class ConflictRule(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """An edge between units that share most of their content words but disagree.

    They give different numbers of the same thing (4 hours, 8 hours), or only one of them has a negation. Two
    units that both have a condition are not compared by their negations: they are two cases of one question.
    """

    edge: str = "contradicts"
    share: Share = 0.6
    shared: Count = 3
    most: Count = 5  # earlier units that a unit is compared with
    weight: Share = 0.7
    negations: tuple[str, ...] = ("not", "no", "never", "without", "cannot")

    @cached_property
    def negation_words(self) -> WordList:
        return WordList(list(self.negations))


class NameRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Edges between units of different documents that name the same thing."""

    title_edge: str = "mentions"  # to the first unit of the document whose title a text has
    name_edge: str = "shares_name"  # between units that have the same rare capitalised name
    weight: Share = 0.6
    rarest: Annotated[int, msgspec.Meta(ge=2)] = 5  # a name in more units than this is not rare


class RoleRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """The role of a unit that has one of the words. `bonus` is the energy that the unit adds if reached."""

    role: str = ""
    bonus: ShareOrNone = 0.0


class WeightRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """A part of a unit's weight: `high` if it has one of the words, else `low`."""

    high: ShareOrNone = 0.9
    low: ShareOrNone = 0.3
    part: ShareOrNone = 0.35


class PackRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All rules of a pack. A rule that is left out does nothing."""

    otherwise: str  # the role of a unit that no role rule matches
    following: NeighbourRule = NeighbourRule()
    roles: list[RoleRule] = []
    links: list[LinkRule] = []
    references: ReferenceRule | None = None
    conflicts: ConflictRule | None = None
    amendments: list[str] = []  # X_addendum is read after X, as one document with it
    names: NameRule | None = None
    weights: dict[str, WeightRule] = {}  # risk, importance, novelty
    confidence: ShareOrNone = 0.95
    striking: ShareOrNone = 0.8  # a unit with at least this risk or novelty is striking
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
    """Read and check the rules of a YAML file."""
    content, _ = read_yaml(path)
    try:
        return msgspec.convert(content, PackRules)
    except msgspec.ValidationError as error:
        fix = "See docs/memory.md for what a pack may say."
        raise DataError(Problem(str(error), str(path), fix=fix)) from error
