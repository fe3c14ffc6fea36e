"""Building the graph of a corpus: the passages of each pack are drawn by it, then all stand in one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from assay.datasets.dataset import Corpus
from assay.errors import PluginError, Problem, did_you_mean
from assay.plugins import PACKS, Registry
from assay.protocols import Kit
from assay.records import Passage
from assay.systems.graph.graph import Link, MemoryGraph, Traits
from assay.systems.graph.packs import Drawn, Pack

PLAIN = "sentence_chain"  # for passages that name no pack


@dataclass(frozen=True)
class Memory:
    """A corpus as a graph, and which of its edges are tensions."""

    corpus: Corpus
    graph: MemoryGraph
    tensions: frozenset[str]


@cache
def named_pack(name: str) -> Pack:
    """The pack that passages name."""
    pack: Pack = Registry().create(PACKS, name)
    return pack


def build_memory(corpus: Corpus, pack: Pack | None, kit: Kit) -> Memory:
    """Draws the graph of a corpus, by one pack for all or by those that its passages name."""
    groups: dict[str, list[int]] = {}
    for position, passage in enumerate(corpus.passages):
        groups.setdefault("" if pack is not None else pack_of(passage), []).append(position)
    roles = [""] * len(corpus)
    traits = Traits(roles, np.zeros(len(corpus)), np.zeros(len(corpus), bool), np.zeros(len(corpus)))
    links: list[Link] = []
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
    passages: Sequence[Passage], pack: Pack | None, edges: Sequence[str], kit: Kit
) -> list[Problem]:
    """The packs that passages name and nobody offers, and kinds of edges that none of them draws."""
    problems, known = [], set[str]()
    for name in [""] if pack is not None else dict.fromkeys(map(pack_of, passages)):
        try:
            known |= (pack or named_pack(name)).edges(kit)
        except PluginError as error:
            first = next(each for each in passages if pack_of(each) == name)
            what = f"its domain pack {name!r} is unknown. {error}"
            problems.append(Problem(what, first.source or first.doc_id, fix="Or give the system a pack."))
    for kind in edges if not problems else ():
        if kind not in known:
            what = f"no pack of this dataset draws an edge {kind!r}"
            problems.append(Problem(what, field="edges", fix=did_you_mean(kind, known)))
    return problems


def _checked(name: str, drawn: Drawn, size: int) -> Drawn:
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
