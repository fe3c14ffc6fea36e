"""Building the graph of a corpus: the passages of each pack are drawn by it, then all stand in one graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import PluginError, Problem, UsageError, did_you_mean
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.core.registry import Registry
from assay.kinds.memory.systems.graph import MemoryGraph, Traits, UnitLink
from assay.kinds.memory.systems.packs import PACKS, DomainPack, PackGraph
from assay.kinds.memory.systems.spread import STOPS

PLAIN = "sentence_chain"  # for passages that name no pack
_ROLE, _EDGE, _STOP = "role", "edge type", "stop reason"  # what words a case may ask for
_NAMED = 3


@dataclass(frozen=True)
class Memory:
    """A corpus as a graph, and which of its edges are tensions."""

    corpus: Corpus
    graph: MemoryGraph
    tensions: frozenset[str]


@cache
def named_pack(name: str) -> DomainPack:
    """The pack that passages name."""
    pack: DomainPack = Registry().create(PACKS, name)
    return pack


def build_memory(corpus: Corpus, pack: DomainPack | None, kit: Kit) -> Memory:
    """Draws the graph of a corpus, by one pack for all or by those that its passages name."""
    groups: dict[str, list[int]] = {}
    for position, passage in enumerate(corpus.passages):
        groups.setdefault("" if pack is not None else pack_of(passage), []).append(position)
    roles = [""] * len(corpus)
    traits = Traits(roles, np.zeros(len(corpus)), np.zeros(len(corpus), bool), np.zeros(len(corpus)))
    links: list[UnitLink] = []
    tensions: frozenset[str] = frozenset()
    for name, positions in groups.items():
        passages = [corpus.passages[each] for each in positions]
        drawn = _checked(name, (pack or named_pack(name)).draw(passages, kit), len(passages))
        for place, position in enumerate(positions):
            roles[position] = drawn.traits.roles[place]
        traits.weight[positions] = drawn.traits.weight
        traits.striking[positions] = drawn.traits.striking
        traits.bonus[positions] = drawn.traits.bonus
        links += [
            link._replace(source=positions[link.source], target=positions[link.target])
            for link in drawn.links
        ]
        tensions |= drawn.tensions
    node_ids = [passage.doc_id for passage in corpus.passages]
    return Memory(corpus, MemoryGraph.of(node_ids, traits, links), tensions)


def pack_of(passage: Passage) -> str:
    """The pack that a passage names."""
    return str(passage.metadata.get("pack") or PLAIN)


def pack_identities(kit: Kit) -> dict[str, Any]:
    """What decides the work of the packs that passages may name: all there are, by name."""
    names = sorted(point.name for point in entry_points(group=PACKS))
    return {name: identity_of(name, kit) for name in names}


def identity_of(name: str, kit: Kit) -> list[str]:
    """Where a pack comes from, its version, and what it says of itself; none where it needs parameters."""
    try:
        pack = named_pack(name)
    except PluginError:
        return []
    declared = getattr(pack, "identity", None)
    said = "" if declared is None else str(declared(kit))
    return [Registry().provider(PACKS, name), str(getattr(pack, "version", "")), said]


def pack_problems(
    passages: Sequence[Passage],
    pack: DomainPack | None,
    edges: Sequence[str],
    kit: Kit,
    places: Mapping[str, Place] | None = None,
) -> list[Problem]:
    """The packs that passages name and nobody offers, and kinds of edges that none of them draws.

    `places` may say of documents where their pack is named.
    """
    problems, known = [], set[str]()
    for name in [""] if pack is not None else dict.fromkeys(map(pack_of, passages)):
        try:
            known |= (pack or named_pack(name)).edges(kit)
        except (PluginError, UsageError) as error:
            first = next(each for each in passages if pack_of(each) == name)
            document = first.source or first.doc_id
            place = (places or {}).get(document, Place(document))
            problems.append(_unusable(name, document, place, str(error)))
    for kind in edges if not problems else ():
        if kind not in known:
            what = f"no pack of this dataset draws an edge {kind!r}"
            problems.append(Problem(what, field="edges", fix=did_you_mean(kind, known)))
    return problems


def _unusable(name: str, document: str, place: Place, error: str) -> Problem:
    """A pack that passages name, and that cannot be had under its name."""
    names = Registry().names(PACKS)
    if name not in names:
        what, fix = f"{document!r} has the domain pack {name!r}, which is unknown", did_you_mean(name, names)
    else:
        what, fix = f"{document!r} has the domain pack {name!r}, which cannot be used", error
    field = "domain_pack_name" if place.line is not None else ""
    return Problem(what, *place, field, f"{fix} Or give the system a pack.".lstrip())


# ------------------------------------------------------------------------ words that cases ask for


def gold_warnings(dataset: Dataset, pack: DomainPack | None, kit: Kit) -> list[str]:
    """Roles, edge types and stop reasons that cases ask for and no pack of their documents gives.

    A slip there would count as every memory's failure. It is no error: an engine may have words of its own.
    """
    known: dict[int, Mapping[str, frozenset[str] | None]] = {}  # by scope, which cases of a file share
    strange: dict[tuple[str, str, str], list[str]] = {}
    for item in dataset.items:
        for kind, word in _asked(item.gold):
            if id(item.scope) not in known:
                known[id(item.scope)] = _vocabulary(dataset.corpus, item, pack, kit)
            words = known[id(item.scope)][kind]
            if words is not None and word not in words:
                strange.setdefault((kind, word, did_you_mean(word, words)), []).append(item.item_id)
    return [_told(dataset, *which, items) for which, items in strange.items()]


def _asked(gold: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The words that an item asks for, each once."""
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


def _vocabulary(
    corpus: Corpus, item: Item, pack: DomainPack | None, kit: Kit
) -> Mapping[str, frozenset[str] | None]:
    """The words there are for an item, by kind; None where a pack does not tell."""
    part = corpus if item.scope is None else corpus.restricted(item.scope)
    names = dict.fromkeys(map(pack_of, part.passages))
    try:
        packs = [pack] if pack is not None else [named_pack(name) for name in names]
    except (PluginError, UsageError):  # `pack_problems` tells of it
        return {_ROLE: None, _EDGE: None, _STOP: None}
    giving = [getattr(each, "roles", None) for each in packs]
    roles = None if None in giving else frozenset().union(*(each(kit) for each in giving if each))
    stops = frozenset(stop for stop in STOPS if stop is not None)
    return {_ROLE: roles, _EDGE: frozenset().union(*(each.edges(kit) for each in packs)), _STOP: stops}


def _told(dataset: Dataset, kind: str, word: str, near: str, items: Sequence[str]) -> str:
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    place = dataset.places.get(items[0])
    where = "" if place is None else f"{place.file}:{place.line}: " if place.line else f"{place.file}: "
    lacks = "which no graph memory writes" if kind == _STOP else "which no pack of the documents gives"
    asked = f"{', '.join(items[:_NAMED])}{more} ask{'s' * (len(items) == 1)} for the {kind} {word!r}"
    return f"{where}{asked}, {lacks}. {near}".rstrip(". ")


def _checked(name: str, drawn: PackGraph, size: int) -> PackGraph:
    """What a pack drew, if it is a graph of its passages."""
    lengths = {len(part) for part in (drawn.traits.roles, drawn.traits.weight, drawn.traits.striking)}
    if lengths != {size}:
        raise PluginError(f"The pack {name!r} gives traits of {sorted(lengths)} nodes for {size} passages.")
    for link in drawn.links:
        inside = 0 <= link.source < size and 0 <= link.target < size
        if not inside or not 0 < link.weight <= 1:
            raise PluginError(
                f"The pack {name!r} draws {link}, of {size} passages; weights are above 0, up to 1."
            )
    return drawn
