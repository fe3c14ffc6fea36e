"""Trees of overlapping clusters: who belongs to several, and whether the mixture fits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from assay.core.parts import normalize_rows
from assay.kinds.hierarchy.systems.mixture import Mixture, _fit_mixture, _MixtureModel, _principal_directions


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
