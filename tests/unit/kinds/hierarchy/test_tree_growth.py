"""Growing a tree: what is new finds a leaf, what was there stays, and leaves that are too full are halved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.parts import Vectors, normalize_rows
from assay.kinds.hierarchy.systems.builders import KMeans, grow
from assay.kinds.hierarchy.systems.mixture import Mixture
from assay.kinds.hierarchy.systems.tree import ChildLists, Tree


def scattered(count: int, dims: int = 8, seed: int = 3) -> Vectors:
    return normalize_rows(np.random.default_rng(seed).standard_normal((count, dims)))


def along(*degrees: float) -> Vectors:
    """Directions in a plane."""
    turned = np.radians(degrees)
    return normalize_rows(np.column_stack([np.cos(turned), np.sin(turned)]))


def leaves(tree: Tree) -> list[list[int]]:
    return [tree.below[-1].of(leaf).tolist() for leaf in range(tree.size(tree.depth))]


#     root
#    /    \
#  L1:0   L1:1
#   |     /   \
# L2:0  L2:1  L2:2      passages at 0 and 10, at 80 and 90, at 170 and 180 degrees
THREE = Tree(
    (
        ChildLists.of_lists([[0, 1]]),
        ChildLists.of_lists([[0], [1, 2]]),
        ChildLists.of_lists([[0, 1], [2, 3], [4, 5]]),
    )
)
OLD = (0, 10, 80, 90, 170, 180)


def test_a_new_passage_goes_down_to_the_nearest_leaf() -> None:
    grown = grow(THREE, along(*OLD, 4, 84, 176), most=5)
    assert leaves(grown) == [[0, 1, 6], [2, 3, 7], [4, 5, 8]]
    assert [grown.below[1].of(node).tolist() for node in (0, 1)] == [[0], [1, 2]]


def test_the_way_down_decides_not_the_nearest_of_all_leaves() -> None:
    # L1:0 points at 5 degrees, L1:1 at 130 (the mean of 85 and 175). At 60 degrees the nearest leaf is L2:1,
    # 25 away, but 55 to L1:0 is less than 70 to L1:1: it goes where a query of 60 degrees is led.
    assert leaves(grow(THREE, along(*OLD, 60), most=5))[0] == [0, 1, 6]


def test_a_leaf_that_grew_too_large_is_halved_beside_itself() -> None:
    # L2:1 gets 79, 91 and 92 besides 80 and 90: five passages where four may be, in two groups.
    grown = grow(THREE, along(*OLD, 79, 91, 92), most=4)
    assert leaves(grown)[0] == [0, 1]
    assert leaves(grown)[2] == [4, 5]
    assert sorted([leaves(grown)[1], leaves(grown)[3]]) == [[2, 6], [3, 7, 8]]
    # Both parts hold one old passage; that of the first keeps the number.
    assert leaves(grown)[1] == [2, 6]
    assert grown.below[1].of(0).tolist() == [0]
    assert grown.below[1].of(1).tolist() == [1, 2, 3]


def test_the_part_with_most_old_passages_keeps_the_number() -> None:
    # Three new ones at 60 leave 80 and 90 to themselves, which are the old ones.
    old = Tree((ChildLists.of_lists([[0, 1]]), ChildLists.of_lists([[0, 1], [2, 3]])))
    grown = grow(old, along(170, 180, 80, 90, 60, 61, 62), most=4)
    assert leaves(grown) == [[0, 1], [2, 3], [4, 5, 6]]


def test_a_new_leaf_gets_every_parent_of_the_old() -> None:
    shared = Tree(
        (ChildLists.of_lists([[0, 1]]), ChildLists.of_lists([[0, 1], [1]]), ChildLists.of_lists([[0], [1]]))
    )
    grown = grow(shared, along(0, 90, 80, 81, 99, 100), most=3)
    assert grown.size(2) == 3
    assert grown.below[1].of(0).tolist() == [0, 1, 2]
    assert grown.below[1].of(1).tolist() == [1, 2]


def test_a_full_leaf_that_got_nothing_stays() -> None:
    grown = grow(THREE, along(*OLD, 4), most=1)
    assert leaves(grown)[1:3] == [[2, 3], [4, 5]]
    assert sorted([leaves(grown)[0], *leaves(grown)[3:]]) == [[0], [1], [6]]


def test_equal_passages_are_not_halved_for_ever() -> None:
    grown = grow(THREE, along(*OLD, *[5.0] * 30), most=3)
    assert list(range(6, 36)) in leaves(grown)


def test_twice_the_mean_leaf_is_the_most() -> None:
    # Two passages a leaf: up to four may be there, the fifth halves it.
    assert grow(THREE, along(*OLD, 3, 4)).size(2) == 3
    assert grow(THREE, along(*OLD, 3, 4, 5)).size(2) == 4


@settings(max_examples=10)
@given(first=st.integers(1, 60), new=st.integers(0, 60), soft=st.booleans(), seed=st.integers(0, 5))
def test_growth_keeps_what_was_there(first: int, new: int, soft: bool, seed: int) -> None:
    vectors = scattered(first + new, seed=seed)
    builder = Mixture(depth=2, leaf=6) if soft else KMeans(depth=2, leaf=6)
    old = builder.build(vectors[:first], seed)
    grown = grow(old, vectors, seed=seed)
    assert np.array_equal(np.unique(grown.below[-1].items), np.arange(first + new))
    assert grown.depth == old.depth
    assert grown.size(1) == old.size(1)
    before, after = old.passages[1].toarray(), grown.passages[1].toarray()[:, :first]
    assert np.array_equal(before, after)  # no old passage changed its branch
    for leaf in range(old.size(2)):
        held = old.below[-1].of(leaf)
        kept = grown.below[-1].of(leaf)
        assert np.isin(kept[kept < first], held).all()  # and no leaf has old ones of another
    for node in range(old.size(1)):
        children = grown.below[1].of(node)
        assert np.array_equal(children[children < old.size(2)], old.below[1].of(node))


def test_a_tree_that_cannot_grow_is_an_error() -> None:
    with pytest.raises(UsageError, match="holds 6 passages, and there are 4 vectors"):
        grow(THREE, along(*OLD[:4]))
    with pytest.raises(UsageError, match="without passages"):
        grow(KMeans().build(scattered(0), 0), scattered(3))
    assert grow(THREE, along(*OLD)) is THREE
