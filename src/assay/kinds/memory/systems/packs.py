"""Domain packs: what turns the passages of a document into typed nodes and edges.

A pack is a plugin of the group `assay.packs`. Those that come with the program are rules read from a file;
`rules(path=my_pack.yaml)` is one of your own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from assay.core.dataset import digest
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.kinds.memory.systems.drawing import RuleGraph
from assay.kinds.memory.systems.graph import Traits, UnitLink
from assay.kinds.memory.systems.rule_file import PackRules, read_rules

PACKS = "assay.packs"  # the group of plugins

FIRST_ADDRESS = "assay.systems.graph.packs"

_FOLDER = Path(__file__).parent / "rules"


class PackGraph(NamedTuple):
    """What a pack makes of some passages: their traits, the links between their positions, and which edges
    are tensions between the units they join."""

    traits: Traits
    links: list[UnitLink]
    tensions: frozenset[str]


@runtime_checkable
class DomainPack(Protocol):
    """Draws the graph of some passages, which are of one or several documents, in order.

    `edges` are the kinds of edges it can draw. It may have `roles(kit)`, all roles that it can give: a role
    that a case asks for is held against them. Like every part it may have `version` and `identity(kit)`.
    """

    def draw(self, passages: Sequence[Passage], kit: Kit) -> PackGraph: ...
    def edges(self, kit: Kit) -> frozenset[str]: ...


@cache
def _shipped(name: str) -> PackRules:
    return read_rules(_FOLDER / f"{name}.yaml")


def _draw(passages: Sequence[Passage], rules: PackRules) -> PackGraph:
    drawing = RuleGraph(passages, rules)
    return PackGraph(drawing.traits(), drawing.links(), frozenset(rules.tensions))


def _roles(rules: PackRules) -> frozenset[str]:
    """The roles that rules can give."""
    return frozenset({rules.otherwise, *(each.role for each in rules.roles)})


@dataclass(frozen=True)
class _BuiltInPack:
    """A pack whose rules come with the program."""

    name: ClassVar[str]

    def draw(self, passages: Sequence[Passage], kit: Kit) -> PackGraph:
        return _draw(passages, _shipped(self.name))

    def edges(self, kit: Kit) -> frozenset[str]:
        return _shipped(self.name).edges

    def roles(self, kit: Kit) -> frozenset[str]:
        return _roles(_shipped(self.name))

    def identity(self, kit: Kit) -> str:
        """The hash of its rules."""
        return digest([(_FOLDER / f"{self.name}.yaml").read_bytes()])


@dataclass(frozen=True)
class OwnRules:
    """A pack whose rules are a YAML file of the study."""

    path: str

    def draw(self, passages: Sequence[Passage], kit: Kit) -> PackGraph:
        return _draw(passages, read_rules(kit.path(self.path)))

    def edges(self, kit: Kit) -> frozenset[str]:
        return read_rules(kit.path(self.path)).edges

    def roles(self, kit: Kit) -> frozenset[str]:
        return _roles(read_rules(kit.path(self.path)))

    def identity(self, kit: Kit) -> str:
        """The hash of its rules."""
        return digest([kit.path(self.path).read_bytes()])


@dataclass(frozen=True)
class ExampleContractPack(_BuiltInPack):
    """Numbered clauses: conditions, exceptions to general rules, remedies, contradictions."""

    name: ClassVar[str] = "example_contract_pack"


@dataclass(frozen=True)
class ExampleRunbookPack(_BuiltInPack):
    """Numbered steps: what follows what, what depends on what, when to escalate."""

    name: ClassVar[str] = "example_runbook_pack"


@dataclass(frozen=True)
class Policy(_BuiltInPack):
    """Numbered rules of a policy: duties, conditions, exemptions, overrides."""

    name: ClassVar[str] = "policy"


@dataclass(frozen=True)
class Conversation(_BuiltInPack):
    """Turns and sessions in their order."""

    name: ClassVar[str] = "conversation"


@dataclass(frozen=True)
class SentenceChain(_BuiltInPack):
    """Sentences under a title, each linked to the next, and nothing else."""

    name: ClassVar[str] = "sentence_chain"


@dataclass(frozen=True)
class SentenceLinks(_BuiltInPack):
    """Sentences under titles, linked to the next, to titles they mention, and by rare names they share."""

    name: ClassVar[str] = "sentence_links"
