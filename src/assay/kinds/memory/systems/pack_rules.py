"""The rules of a domain pack as data: which words give a unit a role, an edge or a weight."""

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
    """Whole words and phrases; case does not matter. An entry that ends in * also matches longer words."""

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
        """Returns the first match in a text, spelled as in the text; None if there is no match."""
        match = self._pattern.search(text) if self.words else None
        return None if match is None else match[0]


class NeighbourRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule that draws an edge from each unit to the next one, within a section or a document."""

    edge: str = "next_unit"
    weight: Share = 0.4
    within: str = "section"  # or "source"
    across: str | None = None  # the edge from the last unit of a section to the first of the next


class LinkRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule that draws edges from a unit that has one of the words to the earlier units that it refers to.

    An earlier unit is linked if it shares at least `shared` content words with the unit, and more than half
    as many as the closest earlier unit shares. At most `most` earlier units are linked. With `once`, earlier
    units that another rule has linked already are skipped.
    """

    edge: str = "depends_on"
    shared: Count = 2
    most: Count = 5
    weight: Share = 0.7
    both_ways: bool = False
    once: bool = False


class ReferenceRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule that draws an edge to the unit that a text names by its number, such as clause 4 or step 3."""

    edge: str = "refers_to"
    weight: Share = 0.7


class ConflictRule(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule that draws an edge between two units that share most of their content words but disagree.

    Two units disagree if they give different numbers for the same thing (4 hours, 8 hours), or if only one of
    them has a negation. If both units have a condition, their negations are not compared, because the units
    are two cases of one question.
    """

    edge: str = "contradicts"
    share: Share = 0.6
    shared: Count = 3
    most: Count = 5  # how many earlier units a unit is compared with at most
    weight: Share = 0.7
    negations: tuple[str, ...] = ("not", "no", "never", "without", "cannot")

    @cached_property
    def negation_words(self) -> WordList:
        return WordList(list(self.negations))


class NameRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule that draws edges between units of different documents that name the same thing."""

    title_edge: str = "mentions"  # leads to the first unit of the document whose title a text has
    name_edge: str = "shares_name"  # joins units that have the same rare capitalised name
    weight: Share = 0.6
    rarest: Annotated[int, msgspec.Meta(ge=2)] = 5  # a name in more units than this number is not rare


class RoleRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule that gives a role to a unit that has one of the words.

    `bonus` is the energy that the role adds when a spread reaches the unit.
    """

    role: str = ""
    bonus: ShareOrNone = 0.0


class WeightRule(WordList, frozen=True, dict=True, forbid_unknown_fields=True):
    """A rule for one part of a unit's weight: `high` if the unit has one of the words, else `low`."""

    high: ShareOrNone = 0.9
    low: ShareOrNone = 0.3
    part: ShareOrNone = 0.35


class PackRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All rules of a pack. A rule that is absent has no effect."""

    otherwise: str  # the role of a unit that no role rule matches
    following: NeighbourRule = NeighbourRule()
    roles: list[RoleRule] = []
    links: list[LinkRule] = []
    references: ReferenceRule | None = None
    conflicts: ConflictRule | None = None
    amendments: list[str] = []  # X_addendum is read after X, as one document with it
    names: NameRule | None = None
    weights: dict[str, WeightRule] = {}  # by name: risk, importance, novelty
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
    """Reads the rules in a YAML file and checks their form."""
    content, _ = read_yaml(path)
    try:
        return msgspec.convert(content, PackRules)
    except msgspec.ValidationError as error:
        fix = "See docs/memory.md for what a pack may say."
        raise DataError(Problem(str(error), str(path), fix=fix)) from error
