"""Trees by k-means, by halves and by mixtures; how they grow, and how they are kept in the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from assay.core.dataset import Corpus
from assay.core.errors import DataError, PluginError, UsageError
from assay.core.parts import Ints, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.core.registry import Registry
from assay.kinds.hierarchy.systems import builders
from assay.kinds.hierarchy.systems.builders import (
    TREES,
    BisectingKMeans,
    Builder,
    KMeans,
    cached_tree,
    grow,
    nearest_centres,
    spherical_kmeans,
)
from assay.kinds.hierarchy.systems.mixture import Mixture, _fit_mixture, _MixtureModel, _principal_directions
from assay.kinds.hierarchy.systems.tree import ChildLists, Tree, read_tree, save_tree
from assay.store import disk as shelf

TOP_DOWN = [KMeans, BisectingKMeans]
BUILDERS = [KMeans, BisectingKMeans, Mixture]


def scattered(count: int, dims: int = 16, seed: int = 3) -> Vectors:
    return normalize_rows(np.random.default_rng(seed).standard_normal((count, dims)))


def bunched(bunches: int, each: int) -> Vectors:
    """Bunches of nearly equal rows, far from each other: bunch b lies along axis b."""
    noise = 0.02 * np.random.default_rng(9).standard_normal((bunches * each, bunches))
    return normalize_rows(np.repeat(np.eye(bunches), each, axis=0) + noise)


def same(left: Tree, right: Tree) -> bool:
    pairs = zip(left.below, right.below, strict=True)
    return all(np.array_equal(a.starts, b.starts) and np.array_equal(a.items, b.items) for a, b in pairs)


def check_sound(tree: Tree, depth: int, passages: int) -> None:
    """Every node and every passage has a parent, no node is empty, and every path has the same length."""
    assert tree.depth == depth
    assert tree.size(0) == 1
    below = [*(tree.size(level) for level in range(1, depth + 1)), passages]
    for level, reached in zip(tree.below, below, strict=True):
        assert np.array_equal(np.unique(level.items), np.arange(reached))
        assert (np.diff(level.starts) > 0).all() or passages == 0
        for node in range(len(level)):
            assert (np.diff(level.of(node)) > 0).all()
    assert tree.passages[0].sum() == passages


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_every_passage_is_reached_by_paths_of_one_length(builder: type[KMeans], depth: int) -> None:
    check_sound(builder(depth=depth, leaf=5).build(scattered(120), 0), depth, 120)


@pytest.mark.parametrize("builder", BUILDERS)
@settings(max_examples=15)
@given(count=st.integers(0, 12), depth=st.integers(1, 3), leaf=st.integers(1, 4), seed=st.integers(0, 3))
def test_few_passages_are_enough(builder: type[KMeans], count: int, depth: int, leaf: int, seed: int) -> None:
    tree = builder(depth=depth, leaf=leaf).build(scattered(count, 4, seed), seed)
    check_sound(tree, depth, count)
    wider = builder(depth=depth, branching=(9,) * depth).build(scattered(count, 4, seed), seed)
    check_sound(wider, depth, count)


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_seed_decides_the_tree(builder: type[KMeans]) -> None:
    vectors = scattered(200)
    trees = [builder(leaf=8).build(vectors, seed) for seed in (0, 0, 1)]
    assert same(trees[0], trees[1])
    assert not same(trees[0], trees[2])


@pytest.mark.parametrize("builder", TOP_DOWN)
def test_leaves_hold_about_as_many_as_was_asked(builder: type[KMeans]) -> None:
    # (600 / 10) ** (1 / 2) = 7.7, so the root has 8 children; these have round(size / 10) leaves each,
    # about 600 / 10 = 60 together: each of 8 roundings errs by at most a half.
    tree = builder(leaf=10).build(scattered(600), 0)
    sizes = np.diff(tree.below[-1].starts)
    assert tree.size(1) == 8
    assert abs(tree.size(2) - 60) <= 4
    assert sizes.mean() == pytest.approx(10, abs=0.8)
    assert np.quantile(sizes, 0.9) <= 20


def test_whole_roots_are_not_rounded_up() -> None:
    # 1000 ** (1 / 3) is 9.999… in floating point, and 125 ** (1 / 3) is 5.
    assert KMeans(depth=3, leaf=1).equal(1000) == 10
    assert KMeans(depth=3, leaf=8).equal(1000) == 5
    assert KMeans(depth=3, leaf=8).equal(1001) == 6
    assert KMeans().equal(0) == 1


@pytest.mark.parametrize("builder", TOP_DOWN)
def test_branching_can_be_fixed(builder: type[KMeans]) -> None:
    tree = builder(depth=2, branching=(3, 4)).build(scattered(300), 0)
    assert [tree.size(level) for level in (1, 2)] == [3, 12]


@pytest.mark.parametrize("builder", TOP_DOWN)
def test_bunches_are_found(builder: type[KMeans]) -> None:
    tree = builder(depth=1, branching=(4,)).build(bunched(4, 6), 0)
    found = {tuple(tree.members(1, node).tolist()) for node in range(4)}
    assert found == {tuple(range(start, start + 6)) for start in (0, 6, 12, 18)}


@pytest.mark.parametrize("builder", BUILDERS)
def test_equal_passages_stay_together(builder: type[KMeans]) -> None:
    twins = np.repeat(normalize_rows(np.eye(3)), 40, axis=0)
    tree = builder(leaf=10).build(twins, 0)
    check_sound(tree, 2, 120)
    assert tree.size(2) == 3  # three directions, and nothing in them to divide further


@pytest.mark.parametrize("builder", BUILDERS)
def test_passages_without_a_direction_are_kept(builder: type[KMeans]) -> None:
    vectors = scattered(60)
    vectors[[0, 17, 59]] = 0.0
    check_sound(builder(leaf=6).build(vectors, 0), 2, 60)
    check_sound(builder(leaf=6).build(np.zeros((30, 4), np.float32), 0), 2, 30)


def test_the_largest_part_is_halved_next() -> None:
    # Two bunches, of 12 and of 4. Halved first between them, then the one of 12, whose halves are at most 11.
    vectors = bunched(2, 12)[:16]
    parts = BisectingKMeans().divide(vectors, 3, np.random.default_rng(0))
    whole = [part.tolist() for part in parts if 12 in part]
    assert whole == [[12, 13, 14, 15]]
    assert sorted(each for part in parts for each in part.tolist()) == list(range(16))
    assert len(parts) == 3


def test_the_first_of_equally_near_centres_is_taken_despite_float32() -> None:
    centres = scattered(1, 64).repeat(5, axis=0)
    assert nearest_centres(scattered(50, 64, 4), centres).tolist() == [0] * 50


def test_the_nearest_centre_is_that_of_the_largest_cosine() -> None:
    rows, centres = scattered(500, 32, 1), scattered(7, 32, 2)
    exact = (rows.astype(np.float64) @ centres.astype(np.float64).T).argmax(axis=1)
    assert np.array_equal(nearest_centres(rows, centres), exact)


def test_clusters_beat_a_division_at_random() -> None:
    rows = scattered(300)
    parts = spherical_kmeans(rows, 6, np.random.default_rng(0))

    def tightness(groups: list[np.ndarray[tuple[int], np.dtype[np.int64]]]) -> float:
        return sum(float(np.linalg.norm(rows[group].sum(axis=0))) for group in groups)

    shuffled = np.split(np.random.default_rng(1).permutation(300), np.cumsum([len(p) for p in parts])[:-1])
    assert tightness(parts) > 1.5 * tightness(shuffled)


def test_soft_assignment_adds_leaves_and_takes_none() -> None:
    vectors = scattered(300)
    hard = KMeans(leaf=10).build(vectors, 0)
    soft = KMeans(leaf=10, parents=3, within=0.1).build(vectors, 0)
    check_sound(soft, 2, 300)
    counts = np.bincount(soft.below[-1].items)
    assert counts.min() == 1
    assert counts.max() == 3
    for leaf in range(hard.size(2)):
        assert np.isin(hard.below[-1].of(leaf), soft.below[-1].of(leaf)).all()
    branches = soft.passages[1].sum(axis=0)
    assert branches.max() > 1  # a passage may lie in two branches


def test_soft_assignment_asks_how_much_farther_a_leaf_is() -> None:
    # Leaves along x and y. The passage between them lies at (1, 0.88) / 1.332 = (0.751, 0.661). It is of
    # x's leaf, so that its centroid points at (30.75, 0.66) / 30.76 = (0.9998, 0.021): cosines of
    # 0.751 × 0.9998 + 0.661 × 0.021 = 0.765 and 0.661, 0.104 apart.
    middle = [[1.0, 0.88]]
    vectors = normalize_rows(np.array([[1.0, 0.0]] * 30 + [[0.0, 1.0]] * 30 + middle))
    for within, leaves in ((0.02, 1), (0.2, 2)):
        tree = KMeans(depth=1, branching=(2,), parents=2, within=within).build(vectors, 0)
        assert np.bincount(tree.below[-1].items)[60] == leaves
        assert (np.bincount(tree.below[-1].items)[:60] == 1).all()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("kmeans(depth=0)", "depth is 0"),
        ("bisecting(leaf=0)", "leaf is 0"),
        ("kmeans(branching=[4])", r"branching is \[4\] for a depth of 2"),
        ("kmeans(branching=[4, 0])", "Give a number from 1 up for each level"),
        ("kmeans(parents=0)", "parents is 0"),
        ("bisecting(within=-0.1)", "within is -0.1"),
        ("gmm(threshold=0)", "threshold is 0"),
        ("gmm(dims=0)", "dims is 0"),
    ],
)
def test_wrong_parameters_are_errors(spec: str, words: str) -> None:
    with pytest.raises((UsageError, PluginError), match=words):
        Registry().create(TREES, spec)


def test_builders_are_found_by_name() -> None:
    registry = Registry()
    assert {"bisecting", "gmm", "kmeans"} <= set(registry.names(TREES))
    built = registry.create(TREES, "kmeans(depth=3, branching=[4, 3, 2])")
    assert built == KMeans(depth=3, branching=(4, 3, 2))
    assert isinstance(built, Builder)


# ------------------------------------------------------------------------------- kept between runs


def corpus_of(count: int) -> Corpus:
    return Corpus([Passage(f"p{number}", f"text {number}") for number in range(count)])


def test_a_tree_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builders, "WORTH_KEEPING", 50)
    # No crash is tested here, and a disk takes its time.
    monkeypatch.setattr(shelf, "sync", lambda _: None)
    told: list[tuple[str, int, int]] = []
    kit = Kit(cache=tmp_path, progress=lambda *each: told.append(each))
    corpus, vectors = corpus_of(80), scattered(80)

    def plant(start: int = 0, seed: int = 0, model: str = "m", leaf: int = 8) -> Tree:
        return cached_tree(KMeans(leaf=leaf), start, corpus, vectors, model, seed, kit)

    tree = plant()
    assert same(tree, KMeans(leaf=8).build(vectors, 0))
    assert told == [("building the tree", 0, 80), ("building the tree", 80, 80)]
    assert same(plant(), tree)
    assert same(plant(start=80), tree)  # begun with all of them
    assert len(told) == 2  # the second and third time nothing was made
    for other in (plant(seed=1), plant(leaf=9), plant(start=40), plant(model="n")):
        check_sound(other, 2, 80)
    assert len(told) == 2 + 2 + 2 + 3 + 2  # one more where a tree is grown


def test_small_trees_are_not_kept(tmp_path: Path) -> None:
    tree = cached_tree(KMeans(leaf=8), 40, corpus_of(80), scattered(80), "m", 0, Kit(cache=tmp_path))
    first = KMeans(leaf=8).build(scattered(80)[:40], 0)
    assert same(tree, grow(first, scattered(80)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("starts-2", None),  # the last level: what is left would be a tree too
        ("sizes", None),
        ("starts-1", lambda starts: starts[:-1]),  # fewer nodes than are named above
        ("items-0", lambda items: items + 1),  # a node that the next level lacks
        ("items-2", lambda items: items[:-1]),
        ("items-2", lambda items: items - 1),
    ],
)
def test_a_stored_tree_reads_back_and_a_damaged_one_is_an_error(
    tmp_path: Path, part: str, change: Callable[[Ints], Ints] | None
) -> None:
    tree = KMeans(leaf=4).build(scattered(80), 0)
    assert tree.depth == 2
    save_tree(tmp_path, tree)
    assert same(read_tree(tmp_path), tree)
    (path,) = tmp_path.glob(f"{part}.*")
    if change is None:
        path.unlink()
    else:
        np.save(path, change(np.load(path)))
    with pytest.raises(DataError, match="damaged"):
        read_tree(tmp_path)


def test_data_that_does_not_fit_is_reported(tmp_path: Path) -> None:
    kit = Kit(cache=tmp_path)
    with pytest.raises(UsageError, match="9 vectors for 10 passages"):
        cached_tree(KMeans(), 0, corpus_of(10), scattered(9), "m", 0, kit)
    with pytest.raises(UsageError, match="start is -1"):
        cached_tree(KMeans(), -1, corpus_of(10), scattered(10), "m", 0, kit)
    with pytest.raises(DataError, match="damaged"):
        read_tree(tmp_path)


def cones() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """200 rows around x, the same around y mirrored, and one halfway."""
    rows = np.array([1.0, 0.0, 0.0]) + 0.35 * np.random.default_rng(2).standard_normal((200, 3))
    return normalize_rows(np.concatenate([rows, rows[:, [1, 0, 2]], [[1.0, 1.0, 0.0]]]))


def test_what_lies_between_two_clusters_belongs_to_both() -> None:
    tree = Mixture(depth=1, branching=(2,)).build(cones(), 0)
    parents = np.bincount(tree.below[-1].items)
    assert tree.size(1) == 2
    assert parents[400] == 2
    assert (parents[:400] == 1).mean() > 0.8
    # Nearly all around x are in one leaf, few of them in the other.
    shares = sorted((tree.members(1, leaf) < 200).sum() / 200 for leaf in (0, 1))
    assert shares[0] < 0.3
    assert shares[1] > 0.8


def test_a_threshold_above_a_half_leaves_one_cluster_each() -> None:
    soft = Mixture(depth=1, branching=(4,), threshold=0.05).build(cones(), 0)
    hard = Mixture(depth=1, branching=(4,), threshold=0.51).build(cones(), 0)
    assert np.bincount(hard.below[-1].items).max() == 1
    assert np.bincount(soft.below[-1].items).max() > 1
    assert np.bincount(soft.below[-1].items).min() == 1


def test_nodes_have_several_parents_too() -> None:
    vectors = normalize_rows(np.random.default_rng(1).standard_normal((600, 12)))
    tree = Mixture(depth=3, leaf=6, dims=3).build(vectors, 0)
    assert np.bincount(tree.below[1].items).max() > 1
    assert np.bincount(tree.below[2].items).max() > 1
    # 600 / 6 = 100 leaves asked for: more than are found at once, so in two steps; 100 ** (1 / 3) = 4.6, up 5
    assert tree.size(1) == 5
    assert tree.size(2) == 25
    assert tree.size(3) == pytest.approx(100, abs=10)


def test_probabilities_are_those_of_gauss() -> None:
    fitted = _MixtureModel(np.array([0.25, 0.75]), np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([1.0, 0.5]))
    rows = np.random.default_rng(0).normal([1.0, 0.5], 1.0, (30, 2))
    each = np.column_stack(
        [
            0.25 * multivariate_normal([0.0, 0.0], 1.0 * np.eye(2)).pdf(rows),
            0.75 * multivariate_normal([2.0, 1.0], 0.5 * np.eye(2)).pdf(rows),
        ]
    )
    assert fitted.probabilities(rows) == pytest.approx(each / each.sum(axis=1, keepdims=True))


@pytest.mark.slow  # scikit-learn takes seconds to import
def test_the_fit_is_that_of_scikit_learn() -> None:
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.normal([0.0, 0.0], 1.0, (300, 2)), rng.normal([5.0, 1.0], 0.5, (100, 2))])
    first = [np.arange(300), np.arange(300, 400)]
    ours = _fit_mixture(rows, first)
    theirs = GaussianMixture(2, covariance_type="spherical", means_init=[[0, 0], [5, 1]], tol=1e-9).fit(rows)
    assert ours.middles == pytest.approx(theirs.means_, abs=1e-3)
    assert ours.variances == pytest.approx(theirs.covariances_, abs=1e-3)
    assert ours.shares == pytest.approx(theirs.weights_, abs=1e-3)


def test_directions_are_those_of_the_largest_variance() -> None:
    rng = np.random.default_rng(6)
    rows = (rng.standard_normal((200, 5)) * [0.1, 3.0, 0.1, 1.0, 0.1] + 7.0).astype(np.float32)
    found = np.abs(_principal_directions(rows, 2))
    assert found.shape == (5, 2)
    assert found[1, 0] > 0.98  # the second axis varies most, then the fourth
    assert found[3, 1] > 0.98


def spread_out(count: int, dims: int = 8, seed: int = 3) -> Vectors:
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
    vectors = spread_out(first + new, seed=seed)
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
        grow(KMeans().build(spread_out(0), 0), spread_out(3))
    assert grow(THREE, along(*OLD)) is THREE
