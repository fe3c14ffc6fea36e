"""Exact cosine search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from assay.errors import DataError, UsageError
from assay.retrieval.vectors import VectorIndex, unit


def test_ranks_by_angle_and_not_by_length() -> None:
    index = VectorIndex([[10.0, 10.0], [0.1, 0.0], [-3.0, 0.0], [3.0, 4.0]])
    (found,) = index.search([[2.0, 0.0]], k=3)
    # (1, 0) against (1, 1)/√2: 0.70711; (1, 0): 1; (-1, 0): -1; (3, 4)/5: 0.6
    assert found.positions.tolist() == [1, 0, 3]
    assert found.scores == pytest.approx([1.0, 0.70711, 0.6], abs=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.integers(1, 40), st.integers(1, 80))
@settings(max_examples=40, deadline=None)
def test_agrees_with_scikit_learn(seed: int, passages: int, dims: int, k: int) -> None:
    generator = np.random.default_rng(seed)
    vectors, queries = generator.normal(size=(passages, dims)), generator.normal(size=(3, dims))
    expected = cosine_similarity(queries, vectors)
    for found, row in zip(VectorIndex(vectors).search(queries, k), expected, strict=True):
        assert len(set(found.positions.tolist())) == min(k, passages)
        assert found.scores == pytest.approx(row[found.positions], abs=1e-6)
        assert found.scores == pytest.approx(np.sort(row)[::-1][:k], abs=1e-6)


def test_equal_vectors_tie_exactly_and_stand_in_corpus_order() -> None:
    # 1,430 copies of one vector among others: a matrix product alone gives some of them another last bit.
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(10_007, 256))
    copies = np.arange(0, len(vectors), 7)
    vectors[copies] = vectors[0]
    queries = np.vstack([vectors[0] + generator.normal(size=256) for _ in range(70)])
    for found in VectorIndex(vectors).search(queries, k=1500):
        among = np.isin(found.positions, copies)
        assert len(np.unique(found.scores[among])) == 1
        assert (np.diff(found.positions[among]) > 0).all()


def test_a_tie_at_the_cut_goes_to_the_first_in_the_corpus() -> None:
    (found,) = VectorIndex(np.ones((50, 8))).search(np.ones((1, 8)), k=10)
    assert found.positions.tolist() == list(range(10))


def test_a_batch_gives_what_its_queries_give_alone() -> None:
    generator = np.random.default_rng(1)
    index, queries = VectorIndex(generator.normal(size=(500, 64))), generator.normal(size=(150, 64))
    for together, query in zip(index.search(queries, k=20), queries, strict=True):
        (alone,) = index.search(query[np.newaxis], k=20)
        assert together.positions.tolist() == alone.positions.tolist()
        assert together.scores.tolist() == alone.scores.tolist()


def test_a_query_without_direction_finds_nothing() -> None:
    empty, found = VectorIndex(np.eye(3)).search([[0, 0, 0], [0, 1, 0]], k=2)
    assert empty.positions.tolist() == []
    assert found.positions.tolist() == [1, 0]


def test_an_empty_index_finds_nothing() -> None:
    (found,) = VectorIndex(np.empty((0, 4))).search(np.ones((1, 4)), k=5)
    assert found.positions.tolist() == []


def test_asking_for_none_finds_none() -> None:
    (found,) = VectorIndex(np.eye(3)).search(np.ones((1, 3)), k=0)
    assert found.positions.tolist() == []


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_named(wrong: float) -> None:
    vectors = np.ones((4, 3))
    vectors[2, 1] = wrong
    with pytest.raises(DataError, match="row 2"):
        VectorIndex(vectors)
    with pytest.raises(DataError, match="row 2"):
        VectorIndex(np.eye(3)).search(vectors, k=1)


def test_dimensions_must_agree() -> None:
    with pytest.raises(UsageError, match="3 dimensions and the index 4"):
        VectorIndex(np.eye(4)).search(np.eye(3), k=1)


def test_unit_scales_rows_and_leaves_zeros() -> None:
    assert unit([[3, 4], [0, 0]]) == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))
