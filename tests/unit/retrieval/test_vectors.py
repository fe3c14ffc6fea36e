"""Exact cosine search, and a graph whose hits it decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from assay.core.errors import DataError, UsageError
from assay.core.parts import normalize_rows
from assay.core.protocols import Kit
from assay.retrieval.vectors.exact import ExactStore, InMemoryIndex, facets_of, storage_name, wanted_facets
from assay.retrieval.vectors.hnsw import Hnsw
from assay.retrieval.vectors.postgres import Postgres
from assay.retrieval.vectors.qdrant import Qdrant
from vector_stores import by_force, clustered


def test_ranks_by_angle_and_not_by_length() -> None:
    index = InMemoryIndex([[10.0, 10.0], [0.1, 0.0], [-3.0, 0.0], [3.0, 4.0]])
    (found,) = index.search([[2.0, 0.0]], k=3)
    # (1, 0) against (1, 1)/√2: 0.70711; (1, 0): 1; (-1, 0): -1; (3, 4)/5: 0.6
    assert found.positions.tolist() == [1, 0, 3]
    assert found.scores == pytest.approx([1.0, 0.70711, 0.6], abs=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.integers(1, 40), st.integers(1, 80))
@settings(max_examples=40)
def test_agrees_with_scikit_learn(seed: int, passages: int, dims: int, k: int) -> None:
    generator = np.random.default_rng(seed)
    vectors, queries = generator.normal(size=(passages, dims)), generator.normal(size=(3, dims))
    expected = cosine_similarity(queries, vectors)
    for found, row in zip(InMemoryIndex(vectors).search(queries, k), expected, strict=True):
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
    for found in InMemoryIndex(vectors).search(queries, k=1500):
        among = np.isin(found.positions, copies)
        assert len(np.unique(found.scores[among])) == 1
        assert (np.diff(found.positions[among]) > 0).all()


def test_a_tie_at_the_cut_goes_to_the_first_in_the_corpus() -> None:
    (found,) = InMemoryIndex(np.ones((50, 8))).search(np.ones((1, 8)), k=10)
    assert found.positions.tolist() == list(range(10))


def test_a_batch_gives_what_its_queries_give_alone() -> None:
    generator = np.random.default_rng(1)
    index, queries = InMemoryIndex(generator.normal(size=(500, 64))), generator.normal(size=(150, 64))
    for together, query in zip(index.search(queries, k=20), queries, strict=True):
        (alone,) = index.search(query[np.newaxis], k=20)
        assert together.positions.tolist() == alone.positions.tolist()
        assert together.scores.tolist() == alone.scores.tolist()


def test_a_query_without_direction_finds_nothing() -> None:
    empty, found = InMemoryIndex(np.eye(3)).search([[0, 0, 0], [0, 1, 0]], k=2)
    assert empty.positions.tolist() == []
    assert found.positions.tolist() == [1, 0]


def test_an_empty_index_finds_nothing() -> None:
    (found,) = InMemoryIndex(np.empty((0, 4))).search(np.ones((1, 4)), k=5)
    assert found.positions.tolist() == []


def test_asking_for_none_finds_none() -> None:
    (found,) = InMemoryIndex(np.eye(3)).search(np.ones((1, 3)), k=0)
    assert found.positions.tolist() == []


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_named(wrong: float) -> None:
    vectors = np.ones((4, 3))
    vectors[2, 1] = wrong
    with pytest.raises(DataError, match="row 2"):
        InMemoryIndex(vectors)
    with pytest.raises(DataError, match="row 2"):
        InMemoryIndex(np.eye(3)).search(vectors, k=1)


def test_dimensions_must_agree() -> None:
    with pytest.raises(UsageError, match="3 dimensions and the index 4"):
        InMemoryIndex(np.eye(4)).search(np.eye(3), k=1)


def test_unit_scales_rows_and_leaves_zeros() -> None:
    assert normalize_rows([[3, 4], [0, 0]]) == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


def test_a_value_is_one_facet_whatever_its_key_and_type() -> None:
    metadata = {
        "year": 1,
        "draft": True,
        "tags": ["a", 1, True, 0.5, None, ["b"]],
        "weight": 0.5,
        "none": None,
    }
    assert facets_of(metadata) == [
        '["year", 1]',
        '["draft", true]',
        '["tags", "a"]',
        '["tags", 1]',
        '["tags", true]',
    ]
    assert wanted_facets({"year": 1, "tags": ["a", "b"]}) == [
        ['["year", 1]'],
        ['["tags", "a"]', '["tags", "b"]'],
    ]
    assert wanted_facets(None) == wanted_facets({}) == []


@pytest.mark.parametrize("wrong", [1.5, None, [1, 2.5], {"a": 1}, b"x"])
def test_what_no_facet_could_be_is_not_asked_for(wrong: Any) -> None:
    with pytest.raises(UsageError, match="where: key is compared with"):
        wanted_facets({"key": wrong})


@given(st.text(max_size=80), st.text(max_size=80))
def test_names_fit_where_they_go_and_stay_apart(one: str, other: str) -> None:
    first, second = storage_name("v", 1, one), storage_name("v", 1, other)
    assert (first == second) == (one == other)
    assert len(first) <= 60
    assert first.replace("-", "").replace("_", "").isalnum()
    assert first.isascii()


def test_facets_that_are_damaged_are_made_again(tmp_path: Path) -> None:
    kit = Kit(cache=tmp_path)
    given = normalize_rows(np.eye(50)), kit, [{"at": at} for at in range(50)]
    ExactStore().build("name", *given)
    (file,) = tmp_path.rglob("facets.json")
    file.write_bytes(file.read_bytes()[:-100])
    opened = ExactStore().open("name", kit)  # facets are read when they are first asked for
    assert opened is not None
    with pytest.raises(DataError, match=r"damaged.*Run again"):
        opened.among({"at": 3})
    assert ExactStore().open("name", kit) is None
    assert ExactStore().build("name", *given).among({"at": 3}) is not None


HEAD = b"\x93NUMPY\x01\x00v\x00{'descr': (" + b" " * 120  # which NumPy reads as Python


@pytest.mark.parametrize("content", [b"", b"garbage", HEAD], ids=["empty", "garbage", "head"])
@pytest.mark.parametrize("file", ["vectors.npy", "directed.npy"])
def test_a_damaged_file_is_made_again(tmp_path: Path, file: str, content: bytes) -> None:
    kit, pattern = Kit(cache=tmp_path), f"*/{file}"
    for damaged in (
        ExactStore().open,
        lambda name, kit: ExactStore().build(name, normalize_rows(np.eye(5)), kit),
    ):
        ExactStore().build("name", normalize_rows(np.eye(5)), kit)
        next((tmp_path / "indexes").glob(pattern)).write_bytes(content)
        found = damaged("name", kit)
        assert found is None or found.shape == (5, 5)
        assert (found is None) == (not list((tmp_path / "indexes").glob(pattern)))


@pytest.mark.parametrize(
    ("store", "params"),
    [
        (Hnsw, {"m": 1}),
        (Hnsw, {"ef_construction": 0}),
        (Hnsw, {"ef_search": 0}),
        (Hnsw, {"exact_below": -1}),
        (Postgres, {"m": 101}),
        (Postgres, {"m": 40, "ef_construction": 79}),
        (Postgres, {"ef_search": 1001}),
        (Postgres, {"timeout": 0}),
        (Postgres, {"retries": -1}),
        (Postgres, {"backoff": float("nan")}),
        (Postgres, {"schema": ""}),
        (Qdrant, {"url": "http://here", "path": "there"}),
        (Qdrant, {"collection_prefix": "a/b"}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(store: type, params: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(params))):
        store(**params)


def test_no_store_shows_its_secrets() -> None:
    shown = f"{Postgres('postgresql://me:hush@host/db')} {Qdrant('http://me:hush@host', key='hush')}"
    assert "hush" not in shown


VECTORS = clustered(1, 3000, 32)
GROUPS = [{"third": at % 3, "near": bool(vector @ VECTORS[0] > 0.3)} for at, vector in enumerate(VECTORS)]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    pytest.importorskip("faiss", reason="the store hnsw needs Faiss")
    return Kit(cache=tmp_path_factory.mktemp("graphs"))


class TestHnsw:
    """Over a graph of 3,000 vectors of 32 dimensions in 50 groups."""

    def recall(self, index: Any, where: Any, allowed: list[int], k: int = 10) -> float:
        queries = clustered(2, 40, 32)
        hits = 0
        for found, query in zip(index.search(queries, k, where), queries, strict=True):
            expected = by_force(VECTORS, query, k, allowed)
            assert len(found.positions) == k
            assert set(found.positions.tolist()) <= set(allowed)
            hits += len(set(found.positions.tolist()) & set(expected.positions.tolist()))
        return hits / (k * len(queries))

    def test_a_filter_is_walked_through(self, kit: Kit) -> None:
        # A third of the vectors matches, everywhere. Measured: 1.000.
        index = Hnsw(exact_below=0).build("graph", VECTORS, kit, GROUPS)
        assert self.recall(index, {"third": 1}, list(range(1, 3000, 3))) >= 0.95

    def test_a_filter_far_from_the_query_still_gives_enough(self, kit: Kit) -> None:
        # What matches lies in one corner, so most walks start far away from it and are widened.
        index = Hnsw(exact_below=0).build("graph", VECTORS, kit, GROUPS)
        corner = [at for at, group in enumerate(GROUPS) if group["near"]]
        assert 20 < len(corner) < 1000
        assert self.recall(index, {"near": True}, corner) >= 0.8

    def test_few_matches_are_compared_one_by_one(self, kit: Kit) -> None:
        index = Hnsw(exact_below=1000).build("graph", VECTORS, kit, GROUPS)
        assert self.recall(index, {"third": 1}, list(range(1, 3000, 3))) == 1.0

    def test_a_wider_search_misses_less(self, kit: Kit) -> None:
        every = list(range(3000))
        narrow = self.recall(
            Hnsw(m=4, ef_construction=8, ef_search=1).build("thin", VECTORS, kit), None, every
        )
        wide = self.recall(
            Hnsw(m=4, ef_construction=8, ef_search=500).build("thin", VECTORS, kit), None, every
        )
        assert narrow < wide

    def test_how_it_is_searched_does_not_make_another_graph(self, kit: Kit) -> None:
        Hnsw().build("one", VECTORS[:100], kit)
        assert Hnsw(ef_search=10, exact_below=3).open("one", kit) is not None
        assert Hnsw(m=8).open("one", kit) is None
        assert ExactStore().open("one", kit) is None

    def test_an_empty_file_is_a_damaged_one(self, kit: Kit) -> None:
        Hnsw().build("cut", VECTORS[:10], kit)
        next((kit.cache / "indexes").glob("*-cut/directed.npy")).write_bytes(b"")
        assert Hnsw().open("cut", kit) is None
        assert Hnsw().build("cut", VECTORS[:10], kit).shape == (10, VECTORS.shape[1])
