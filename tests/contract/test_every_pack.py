"""The contract of every domain pack found by entry points, ours and those of others."""

from __future__ import annotations

import pytest
from plugins import each

from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.kinds.memory.systems.packs import PACKS, DomainPack

TEXTS = [
    "Supplier shall deliver the pumps within 10 days.",
    "Unless the dock is closed, Supplier shall deliver the pumps within 5 days.",
    "If Supplier does not deliver the pumps, Buyer may terminate under clause 1.",
    "",
    "Actually, I moved to Lisbon. Ana Prado called?",
    "दूसरा नियम लागू नहीं होता \u200f \u0301",
]


PACK = pytest.mark.parametrize("plugin", each(PACKS), indirect=True)


def passages(number: int) -> list[Passage]:
    return [
        Passage(f"d{place // 4}:{place % 4}", text, f"Title {place // 4}", f"d{place // 4}", section="S")
        for place, text in enumerate((TEXTS * 2)[:number])
    ]


@PACK
@pytest.mark.parametrize("number", [0, 1, 2, 6, 12])
def test_a_pack_draws_a_graph_of_its_passages(plugin: DomainPack, kit: Kit, number: int) -> None:
    assert isinstance(plugin, DomainPack)
    drawn = plugin.draw(passages(number), kit)
    for part in (drawn.traits.roles, drawn.traits.weight, drawn.traits.striking, drawn.traits.bonus):
        assert len(part) == number
    for link in drawn.links:
        assert 0 <= link.source < number
        assert 0 <= link.target < number
        assert 0 < link.weight <= 1
        assert link.kind in plugin.edges(kit)
        assert link.rule, "an edge says why it is there"


@PACK
def test_a_pack_draws_the_same_again(plugin: DomainPack, kit: Kit) -> None:
    one, other = (plugin.draw(passages(12), kit) for _ in range(2))
    assert one.links == other.links
    assert list(one.traits.roles) == list(other.traits.roles)


@PACK
def test_a_document_is_drawn_alike_alone_and_beside_others(plugin: DomainPack, kit: Kit) -> None:
    """Only names join documents."""
    alone = plugin.draw(passages(4), kit).links
    beside = [link for link in plugin.draw(passages(12), kit).links if max(link.source, link.target) < 4]
    assert [link for link in alone if not link.rule.startswith("shares")] == [
        link for link in beside if not link.rule.startswith("shares")
    ]
