"""Domain packs, and the graph that they draw over a corpus.

A domain pack turns passages into typed nodes and edges. It is a plugin of the group `assay.packs`. The packs
that come with the program are rules in YAML files. `rules(path=my_pack.yaml)` reads your own rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from assay.core.dataset import Corpus, Dataset, Place, digest
from assay.core.errors import PluginError, Problem, UsageError, did_you_mean
from assay.core.optional import IdentifiedPlugin, VersionedPlugin
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.core.registry import Registry
from assay.kinds.memory.systems.graph import MemoryGraph, Traits, UnitLink
from assay.kinds.memory.systems.pack_rules import PackRules, read_rules
from assay.kinds.memory.systems.rule_graph import RuleGraph
from assay.kinds.memory.systems.spread import STOPS

PACKS = "assay.packs"  # the group of plugins
PLAIN = "sentence_chain"  # the pack of passages that name no pack

FIRST_ADDRESS = "assay.systems.graph.packs"

_FOLDER = Path(__file__).parent / "rules"
_ROLE, _EDGE, _STOP = "role", "edge type", "stop reason"  # the kinds of words that a case may require
_NAMED = 3  # the most items that a warning names


class PackGraph(NamedTuple):
    """The graph that a pack draws over passages: their traits, and the links between their positions.

    `tensions` names the kinds of links that join two units that are at odds.
    """

    traits: Traits
    links: list[UnitLink]
    tensions: frozenset[str]


@runtime_checkable
class DomainPack(Protocol):
    """A pack draws the graph of passages. The passages are in order, from one document or from several.

    `edges` returns the kinds of edges that the pack can draw. A pack may also be a `RoleDeclaringPack` and,
    like every part, a `VersionedPlugin` and an `IdentifiedPlugin` of `core/optional.py`.
    """

    def draw(self, passages: Sequence[Passage], kit: Kit) -> PackGraph: ...
    def edges(self, kit: Kit) -> frozenset[str]: ...


@runtime_checkable
class RoleDeclaringPack(Protocol):
    """A pack that lists all roles it can give. The roles that cases require can then be checked."""

    def roles(self, kit: Kit) -> frozenset[str]: ...


class _RulePack:
    """A pack whose rules are in a YAML file."""

    def file(self, kit: Kit) -> Path:
        raise NotImplementedError

    def _rules(self, kit: Kit) -> PackRules:
        return read_rules(self.file(kit))

    def draw(self, passages: Sequence[Passage], kit: Kit) -> PackGraph:
        rules = self._rules(kit)
        graph = RuleGraph(passages, rules)
        return PackGraph(graph.traits(), graph.links(), frozenset(rules.tensions))

    def edges(self, kit: Kit) -> frozenset[str]:
        return self._rules(kit).edges

    def roles(self, kit: Kit) -> frozenset[str]:
        rules = self._rules(kit)
        return frozenset({rules.otherwise, *(each.role for each in rules.roles)})

    def identity(self, kit: Kit) -> str:
        """Returns the hash of the file with the rules."""
        return digest([self.file(kit).read_bytes()])


@dataclass(frozen=True)
class OwnRules(_RulePack):
    """A pack whose rules are in a YAML file of the study."""

    path: str

    def file(self, kit: Kit) -> Path:
        return kit.path(self.path)


@cache
def _built_in_rules(path: Path) -> PackRules:
    return read_rules(path)


@dataclass(frozen=True)
class _BuiltInPack(_RulePack):
    """A pack whose rules come with the program."""

    name: ClassVar[str]

    def file(self, kit: Kit) -> Path:
        return _FOLDER / f"{self.name}.yaml"

    def _rules(self, kit: Kit) -> PackRules:
        return _built_in_rules(self.file(kit))


@dataclass(frozen=True)
class ExampleContractPack(_BuiltInPack):
    """A pack for numbered clauses: conditions, exceptions to general rules, remedies, contradictions."""

    name: ClassVar[str] = "example_contract_pack"


@dataclass(frozen=True)
class ExampleRunbookPack(_BuiltInPack):
    """A pack for numbered steps: their order, what depends on what, and when to escalate."""

    name: ClassVar[str] = "example_runbook_pack"


@dataclass(frozen=True)
class Policy(_BuiltInPack):
    """A pack for the numbered rules of a policy: duties, conditions, exemptions, overrides."""

    name: ClassVar[str] = "policy"


@dataclass(frozen=True)
class Conversation(_BuiltInPack):
    """A pack for turns and sessions, which it links in their order."""

    name: ClassVar[str] = "conversation"


@dataclass(frozen=True)
class SentenceChain(_BuiltInPack):
    """A pack for sentences under a title. It links each sentence to the next one, and draws nothing else."""

    name: ClassVar[str] = "sentence_chain"


@dataclass(frozen=True)
class SentenceLinks(_BuiltInPack):
    """A pack that links sentences to the next one, to titles that they mention, and by rare shared names."""

    name: ClassVar[str] = "sentence_links"


# ------------------------------------------------------------------------- the graph of a corpus


@cache
def pack_named(name: str) -> DomainPack:
    """Returns the pack with that name, created without parameters."""
    pack: DomainPack = Registry().create(PACKS, name)
    return pack


def pack_name(passage: Passage) -> str:
    """Returns the name of the pack that a passage names, or the name of the default pack."""
    return str(passage.metadata.get("pack") or PLAIN)


def build_graph(corpus: Corpus, pack: DomainPack | None, kit: Kit) -> MemoryGraph:
    """Builds the graph of a corpus. Either `pack` draws all passages, or each passage's own pack draws it."""
    groups: dict[str, list[int]] = {}
    for position, passage in enumerate(corpus.passages):
        groups.setdefault("" if pack is not None else pack_name(passage), []).append(position)
    size = len(corpus)
    traits = Traits([], np.zeros(size), np.zeros(size, bool), np.zeros(size))
    roles, links, tensions = [""] * size, list[UnitLink](), frozenset[str]()
    for name, positions in groups.items():
        drawn = (pack or pack_named(name)).draw([corpus.passages[each] for each in positions], kit)
        _check_drawn(name, drawn, len(positions))
        for position, role in zip(positions, drawn.traits.roles, strict=True):
            roles[position] = role
        traits.weight[positions] = drawn.traits.weight
        traits.striking[positions] = drawn.traits.striking
        traits.bonus[positions] = drawn.traits.bonus
        links += [
            link._replace(source=positions[link.source], target=positions[link.target])
            for link in drawn.links
        ]
        tensions |= drawn.tensions
    node_ids = [passage.doc_id for passage in corpus.passages]
    return MemoryGraph.of(
        node_ids, Traits(roles, traits.weight, traits.striking, traits.bonus), links, tensions
    )


def _check_drawn(name: str, drawn: PackGraph, size: int) -> None:
    lengths = {len(part) for part in (drawn.traits.roles, drawn.traits.weight, drawn.traits.striking)}
    if lengths != {size}:
        raise PluginError(f"The pack {name!r} gives traits of {sorted(lengths)} nodes for {size} passages.")
    for link in drawn.links:
        inside = 0 <= link.source < size and 0 <= link.target < size
        if not inside or not 0 < link.weight <= 1:
            raise PluginError(
                f"The pack {name!r} draws {link} over {size} passages; weights are above 0, up to 1."
            )


def pack_identities(kit: Kit) -> dict[str, Any]:
    """Returns the identity of each pack that passages may name, by the name of the pack."""
    return {name: pack_identity(name, kit) for name in sorted(p.name for p in entry_points(group=PACKS))}


def pack_identity(name: str, kit: Kit) -> list[str]:
    """Returns the provider of a pack, its version and its own identity; empty if it needs parameters."""
    try:
        pack = pack_named(name)
    except PluginError:
        return []
    version = str(pack.version) if isinstance(pack, VersionedPlugin) else ""
    own = str(pack.identity(kit)) if isinstance(pack, IdentifiedPlugin) else ""
    return [Registry().provider(PACKS, name), version, own]


def pack_problems(
    passages: Sequence[Passage],
    pack: DomainPack | None,
    edges: Sequence[str],
    kit: Kit,
    places: Mapping[str, Place] | None = None,
) -> list[Problem]:
    """Returns a problem for each named pack that cannot be used and each kind of edge that no pack draws.

    `places` says where the pack of each document is named, as far as that place is known.
    """
    problems, known = [], set[str]()
    for name in [""] if pack is not None else dict.fromkeys(map(pack_name, passages)):
        try:
            known |= (pack or pack_named(name)).edges(kit)
        except (PluginError, UsageError) as error:
            first = next(each for each in passages if pack_name(each) == name)
            document, names = first.source or first.doc_id, Registry().names(PACKS)
            place = (places or {}).get(document, Place(document))
            fault = "cannot be used" if name in names else "is unknown"
            fix = str(error) if name in names else did_you_mean(name, names)
            what = f"{document!r} has the domain pack {name!r}, which {fault}"
            field = "domain_pack_name" if place.line is not None else ""
            problems.append(Problem(what, *place, field, f"{fix} Or give the system a pack.".lstrip()))
    for kind in edges if not problems else ():
        if kind not in known:
            what = f"no pack of this dataset draws an edge {kind!r}"
            problems.append(Problem(what, field="edges", fix=did_you_mean(kind, known)))
    return problems


# ----------------------------------------------------------------------- words that cases require


def gold_warnings(dataset: Dataset, pack: DomainPack | None, kit: Kit) -> list[str]:
    """Warns of each role, edge type or stop reason that cases require and no pack of their documents gives.

    A misspelt word would make every memory fail the case. This is only a warning, because an external engine
    may use words of its own.
    """
    known: dict[int, Mapping[str, frozenset[str] | None]] = {}  # by scope; cases of a file share one
    strange: dict[tuple[str, str, str], list[str]] = {}
    for item in dataset.items:
        for kind, word in _required_words(item.gold):
            if id(item.scope) not in known:
                known[id(item.scope)] = _known_words(dataset.corpus, item, pack, kit)
            words = known[id(item.scope)][kind]
            if words is not None and word not in words:
                strange.setdefault((kind, word, did_you_mean(word, words)), []).append(item.item_id)
    found = []
    for (kind, word, near), items in strange.items():
        more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
        place = dataset.places.get(items[0])
        where = "" if place is None else f"{place.file}:{place.line}: " if place.line else f"{place.file}: "
        lacks = "which no graph memory writes" if kind == _STOP else "which no pack of the documents gives"
        asks = f"{', '.join(items[:_NAMED])}{more} ask{'s' * (len(items) == 1)} for the {kind} {word!r}"
        found.append(f"{where}{asks}, {lacks}. {near}".rstrip(". "))
    return found


def _required_words(gold: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields each word that an item requires once, with the kind of the word."""
    steps = [
        step
        for name in ("path", "activation_trace")
        for step in (gold.get(name) or {}).get("steps", ())  # a loader has checked its form
    ]
    found = [
        *((_ROLE, word) for word in gold.get("required_semantic_roles") or ()),
        *((_EDGE, word) for word in gold.get("required_edge_types") or ()),
        *((_EDGE, step.get(name)) for step in steps for name in ("via_edge_type", "edge_type")),
        *((_STOP, word) for word in gold.get("required_trace_stop_reasons") or ()),
        *((_STOP, step.get("stopped_reason")) for step in steps),
    ]
    return iter(dict.fromkeys((kind, word) for kind, word in found if word is not None))


def _known_words(
    corpus: Corpus, item: Item, pack: DomainPack | None, kit: Kit
) -> Mapping[str, frozenset[str] | None]:
    """Returns the words that can occur in walks of an item, by kind; None if the words are not known."""
    part = corpus if item.scope is None else corpus.restricted(item.scope)
    names = dict.fromkeys(map(pack_name, part.passages))
    try:
        packs = [pack] if pack is not None else [pack_named(name) for name in names]
    except (PluginError, UsageError):  # `pack_problems` reports it
        return {_ROLE: None, _EDGE: None, _STOP: None}
    declared = [each.roles(kit) for each in packs if isinstance(each, RoleDeclaringPack)]
    return {
        _ROLE: frozenset().union(*declared) if len(declared) == len(packs) else None,
        _EDGE: frozenset().union(*(each.edges(kit) for each in packs)),
        _STOP: frozenset(stop for stop in STOPS if stop is not None),
    }
