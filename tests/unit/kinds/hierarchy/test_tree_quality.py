"""How far siblings can be told apart, and what a tree holds, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.core.records import Edge, Node, Structure
from assay.kinds.hierarchy.measures.tree import LevelQuality, coverage, tree_quality

VECTORS = {"north": [1.0, 0.0], "east": [0.0, 1.0], "south": [-1.0, 0.0], "up": [0.6, 0.8]}


def embed(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([VECTORS[text] for text in texts])


def branch(name: str, about: str | None, *entities: str) -> Node:
    return Node(name, int(name[1]), "branch", about=about, entities=list(entities))


STRUCTURE = Structure(
    [
        Node("root", 0, "root"),
        branch("L1:0", "north", "ada", "bo"),
        branch("L1:1", "east", "bo", "cy"),
        branch("L1:2", "south"),
        branch("L2:0", "north", "ada"),
        branch("L2:1", "up", "ada"),
        branch("L2:2", None, "ada"),
        branch("L2:3", "north"),
        branch("L2:4", "north"),
        *(Node(doc_id, role="passage", doc_id=doc_id) for doc_id in "abcd"),
        Node("entity:ada", role="entity"),
    ],
    [
        *(Edge("root", f"L1:{n}") for n in range(3)),
        *(Edge("L1:0", f"L2:{n}") for n in range(3)),
        *(Edge("L1:1", f"L2:{n}") for n in (3, 4)),
        Edge("L1:2", "L2:4"),
        Edge("L2:0", "a"),
        Edge("L2:3", "a"),
        Edge("L2:4", "b"),
        Edge("L2:9", "c"),  # nothing leads to L2:9
        Edge("a", "entity:ada", "mentions"),
        Edge("entity:ada", "d", "names"),  # a link is no place in the tree
    ],
)


def test_quality_by_level() -> None:
    one, two = tree_quality(STRUCTURE, embed)
    # L1, one parent: distances 1, 2 and 1 between north, east and south; Jaccard 1/3, 0 and 0
    assert one == LevelQuality(1, 3, (3 + 2 + 1) / 3, pytest.approx(4 / 3), pytest.approx(1 / 9))  # type: ignore[arg-type]
    # L2: below L1:0 north and up, 1 - 0.6, and the third says nothing; below L1:1 twice the same, 0.
    # Names: below L1:0 all alike, 1; below L1:1 nobody has any. L1:2 has one child alone.
    assert two == LevelQuality(2, 5, 3 / 5, pytest.approx((0.4 + 0) / 2), pytest.approx(1.0))  # type: ignore[arg-type]


def test_nothing_to_compare() -> None:
    alone = Structure([Node("root", 0), branch("L1:0", "north", "ada")], [Edge("root", "L1:0")])
    assert tree_quality(alone, embed) == [LevelQuality(1, 1, 0.0, None, None)]
    assert tree_quality(Structure([], []), embed) == []


def test_coverage() -> None:
    assert coverage(STRUCTURE) == 2 / 4  # a and b; c hangs below an orphan, d below nothing
    assert coverage(Structure([Node("root", 0)], [])) is None
