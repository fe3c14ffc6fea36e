"""The contract of every vector store: the same hits, scores, order and refusals, wherever they are kept."""

from __future__ import annotations

import pickle
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.core.parts import Ranking, Vectors, VectorStore, normalize_rows
from assay.core.protocols import Kit
from assay.retrieval.vectors.qdrant import Qdrant
from vector_stores import APPROXIMATE, EXACT, by_force, clustered, made

K = 10
LANGUAGES = ["en", "de", "fr", "it"]


@pytest.fixture(scope="module", params=[*EXACT, *APPROXIMATE])
def store(request: pytest.FixtureRequest) -> Any:
    return made(request.param, request)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(cache=tmp_path / "cache", root=tmp_path)


@pytest.fixture
def name() -> str:
    """Servers live longer than a test, so each has names of its own."""
    return uuid.uuid4().hex


@pytest.fixture
def build(store: Any, kit: Kit, name: str) -> Iterator[Any]:
    """Builds an index that is closed at the end."""
    opened: list[Any] = []

    def one(vectors: Vectors, metadata: Any = (), under: str = name) -> Any:
        opened.append(store.build(under, vectors, kit, metadata))
        return opened[-1]

    yield one
    for index in opened:
        index.close()


def same(found: Ranking, expected: Ranking) -> None:
    """The same hits: scores to 1e-6, positions wherever scores differ by more than that."""
    assert len(found.positions) == len(expected.positions)
    assert found.scores == pytest.approx(expected.scores, abs=1e-6)
    swapped = found.positions != expected.positions
    scores = dict(zip(expected.positions.tolist(), expected.scores.tolist(), strict=True))
    for at in np.flatnonzero(swapped):
        assert scores[int(found.positions[at])] == pytest.approx(expected.scores[at], abs=1e-6)


def plain(rankings: list[Ranking]) -> list[tuple[list[int], list[float]]]:
    return [(found.positions.tolist(), found.scores.tolist()) for found in rankings]


def metadata(rows: int) -> list[dict[str, object]]:
    """Of every sort: one value, several, a number, a truth, none at all, and some that nobody can ask for."""
    return [
        {
            "language": LANGUAGES[at % 4],
            "year": 2000 + at % 10,
            "draft": at % 3 == 0,
            "topics": [f"t{at % 5}", f"t{at % 7}"],
            "weight": 0.5,
            "a.b[]": "odd key",
            **({"rare": 1} if at == 17 else {}),
        }
        for at in range(rows)
    ]


@pytest.mark.slow
def test_a_store_looks_like_one(store: Any) -> None:
    assert isinstance(store, VectorStore)


def test_hits_are_those_of_brute_force(store: Any, build: Any, request: pytest.FixtureRequest) -> None:
    vectors, queries = clustered(1, 120, 48), clustered(2, 12, 48)
    for found, query in zip(build(vectors).search(queries, K), queries, strict=True):
        expected = by_force(vectors, query, K)
        if request.node.callspec.params["store"] in EXACT:
            same(found, expected)
        else:
            every = by_force(vectors, query, len(vectors))
            true = dict(zip(every.positions.tolist(), every.scores.tolist(), strict=True))
            assert found.scores == pytest.approx([true[at] for at in found.positions.tolist()], abs=1e-6)
            assert len(set(found.positions.tolist()) & set(expected.positions.tolist())) >= 8


@pytest.mark.parametrize("store", APPROXIMATE, indirect=True)
def test_approximate_stores_miss_few(build: Any, request: pytest.FixtureRequest) -> None:
    # Measured on these vectors: 1.000 of the ten nearest by either.
    vectors, queries = clustered(3, 5000, 64), clustered(4, 60, 64)
    hits = 0
    for found, query in zip(build(vectors).search(queries, K), queries, strict=True):
        hits += len(set(found.positions.tolist()) & set(by_force(vectors, query, K).positions.tolist()))
    assert hits / (K * len(queries)) >= 0.95


@pytest.mark.parametrize(
    ("where", "matches"),
    [
        ({"language": "de"}, lambda at: at % 4 == 1),
        ({"language": ["de", "fr"]}, lambda at: at % 4 in {1, 2}),
        ({"year": 2003}, lambda at: at % 10 == 3),
        ({"draft": True}, lambda at: at % 3 == 0),
        ({"draft": False, "language": "en"}, lambda at: at % 3 != 0 and at % 4 == 0),
        ({"topics": "t3"}, lambda at: at % 5 == 3 or at % 7 == 3),
        ({"topics": ["t0", "t6"], "year": [2000, 2001]}, lambda at: _topic(at) and at % 10 in {0, 1}),
        ({"rare": 1}, lambda at: at == 17),
        ({"a.b[]": "odd key"}, lambda _: True),
        ({}, lambda _: True),
        ({"rare": True}, lambda _: False),  # 1 is not true
        ({"rare": "1"}, lambda _: False),
        ({"draft": 1}, lambda _: False),
        ({"language": []}, lambda _: False),
        ({"nobody has": "this"}, lambda _: False),
    ],
    ids=lambda value: "" if callable(value) else str(value),
)
def test_a_filter_keeps_to_what_matches(store: Any, filtered: Any, where: Any, matches: Any) -> None:
    vectors, index = filtered
    allowed = [at for at in range(len(vectors)) if matches(at)]
    for found, query in zip(index.search(clustered(6, 3, 24), K, where), clustered(6, 3, 24), strict=True):
        expected = by_force(vectors, query, K, allowed)
        assert set(found.positions.tolist()) <= set(allowed)
        assert len(found.positions) == min(K, len(allowed))
        if len(allowed) <= 50:  # what approximate stores also do one by one
            same(found, expected)


def _topic(at: int) -> bool:
    return bool({at % 5, at % 7} & {0, 6})


@pytest.fixture(scope="module")
def filtered(store: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Vectors with metadata, and their index; fewer where each is written to the disk by itself."""
    vectors = clustered(5, 105 if store == Qdrant() else 210, 24)
    kit = Kit(cache=tmp_path_factory.mktemp("filtered"))
    index = store.build(uuid.uuid4().hex, vectors, kit, metadata(len(vectors)))
    yield vectors, index
    index.close()


def test_a_filter_that_nothing_could_match_is_refused(filtered: Any) -> None:
    with pytest.raises(UsageError, match=r"year is compared with 1\.5"):
        filtered[1].search(np.ones((1, 24)), K, {"year": 1.5})


def test_reopened_it_gives_identical_hits(store: Any, kit: Kit, name: str) -> None:
    vectors, queries = clustered(1, 60, 32), clustered(2, 9, 32)
    assert store.open(name, kit) is None
    built = store.build(name, vectors, kit, metadata(len(vectors)))
    first = plain(built.search(queries, K)), plain(built.search(queries, K, {"language": "it"}))
    built.close()
    opened = store.open(name, kit)
    assert len(opened) == 60
    assert (plain(opened.search(queries, K)), plain(opened.search(queries, K, {"language": "it"}))) == first
    again = store.build(name, vectors, kit, metadata(len(vectors)))  # which is there, so nothing is done
    assert plain(again.search(queries, K)) == first[0]
    opened.close()
    again.close()


IN_A_NEW_PROCESS = """
import pickle, sys

stores, kit, queries = pickle.load(sys.stdin.buffer)
for name, store in stores.items():
    index = store.open(name, kit)
    for found in index.search(queries, 10):
        print(name, found.positions.tolist(), found.scores.tolist())
    index.close()
"""


@pytest.mark.slow
def test_a_new_process_finds_the_same(request: pytest.FixtureRequest, kit: Kit) -> None:
    """One process for all of the stores: it takes longer to start than to search."""
    vectors, queries = clustered(1, 30, 16), clustered(2, 4, 16)
    stores: dict[str, Any] = {}
    expected = []
    for kind in [*EXACT, *APPROXIMATE]:
        with suppress(pytest.skip.Exception):  # what is not installed
            stores[name := uuid.uuid4().hex] = made(kind, request)
            index = stores[name].build(name, vectors, kit)
            expected += [f"{name} {found} {scores}" for found, scores in plain(index.search(queries, K))]
            index.close()
    given = pickle.dumps((stores, Kit(cache=kit.cache, env={}), queries))
    code = [sys.executable, "-c", IN_A_NEW_PROCESS]
    done = subprocess.run(code, input=given, capture_output=True, check=False)
    assert done.stdout.decode().splitlines() == expected, done.stderr.decode()


def test_readers_at_the_same_time_agree(store: Any, build: Any) -> None:
    vectors, queries = clustered(1, 40, 16), clustered(2, 16, 16)
    index = build(vectors, metadata(len(vectors)))
    alone = [plain(index.search(query[np.newaxis], K, {"draft": False})) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        together = pool.map(
            lambda query: plain(index.search(query[np.newaxis], K, {"draft": False})), queries
        )
        assert list(together) == alone


@pytest.mark.parametrize("store", EXACT, indirect=True)
def test_equal_scores_stand_in_corpus_order(build: Any) -> None:
    # 30 of 100 vectors are copies of one: any of them may be among the ten, and the first ten are.
    vectors = clustered(1, 100, 32)
    copies = np.arange(3, 93, 3)
    vectors[copies] = vectors[3]
    index = build(vectors)
    (found,) = index.search(vectors[3][np.newaxis], K)
    assert found.positions.tolist() == copies[:K].tolist()
    assert len(set(found.scores.tolist())) == 1
    (wider,) = index.search(vectors[3][np.newaxis], 40)
    assert wider.positions.tolist()[:30] == copies.tolist()


@pytest.mark.parametrize("store", EXACT, indirect=True)
def test_what_rounds_to_one_score_stands_in_corpus_order(build: Any) -> None:
    # Copies of one vector, each moved a little: in float64 every score is its own, in float32 they are few.
    noise = np.random.default_rng(1).normal(scale=2e-8, size=(60, 32))
    vectors, query = normalize_rows(clustered(1, 1, 32) + noise), clustered(2, 1, 32)
    exact = vectors.astype(np.float64) @ query[0].astype(np.float64)
    assert len(set(exact.tolist())) > 3 * len(set(exact.astype(np.float32).tolist()))
    (found,) = build(vectors).search(query, 40)
    tied = np.diff(found.scores.astype(np.float32)) == 0
    assert (np.diff(found.scores) <= 0).all()
    assert (np.diff(found.positions)[tied] > 0).all()


@pytest.mark.parametrize("store", EXACT, indirect=True)
def test_scores_that_are_near_each_other_are_not_one(build: Any, request: pytest.FixtureRequest) -> None:
    # Cosines from 0.8 up in steps of 8e-7: each neighbour is close, the first and the last of five are not.
    cosines = 0.8 + 8e-7 * np.arange(60)
    vectors = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)
    (found,) = build(vectors).search([[1, 0]], 5)
    best = cosines[[59, 58, 57, 56, 55]]
    assert found.scores == pytest.approx(best, abs=1e-6)
    assert cosines[found.positions] == pytest.approx(best, abs=1e-6)
    if (
        request.node.callspec.params["store"] != "qdrant"
    ):  # a server's own scores are taken to be good to 1e-6
        assert found.positions.tolist() == [59, 58, 57, 56, 55]


def test_vectors_and_queries_without_direction_are_never_found(build: Any) -> None:
    # The cosine with the other two is negative, so a zero of cosine 0 would come before them.
    vectors = np.array([[0, 0], [-1, 0], [0, 0], [-0.8, 0.6], [0, 0]], np.float32)
    index = build(vectors, [{"all": 1}] * 5)
    assert len(index) == 5
    for where in (None, {"all": 1}):
        found, nothing = index.search([[1, 0], [0, 0]], 5, where)
        assert found.positions.tolist() == [3, 1]
        assert found.scores == pytest.approx([-0.8, -1.0], abs=1e-6)
        assert plain([nothing]) == [([], [])]


def test_asking_for_more_than_there_is_gives_all(build: Any) -> None:
    vectors = clustered(1, 30, 8)
    (found,) = build(vectors).search(vectors[:1], 1000)
    same(found, by_force(vectors, vectors[0], 30))


@pytest.mark.parametrize("k", [0, -1])
def test_asking_for_none_gives_none(build: Any, k: int) -> None:
    assert plain(build(clustered(1, 20, 8)).search(clustered(2, 2, 8), k)) == [([], [])] * 2


def test_no_queries_are_no_answers(build: Any) -> None:
    assert build(clustered(1, 20, 8)).search(np.empty((0, 8)), K) == []


@pytest.mark.parametrize("dims", [8, 0])
def test_an_empty_index_finds_nothing(store: Any, build: Any, kit: Kit, name: str, dims: int) -> None:
    index = build(np.empty((0, dims), np.float32))
    assert len(index) == 0
    assert plain(index.search(clustered(2, 2, 8), K)) == [([], [])] * 2
    assert plain(index.search(clustered(2, 2, 8), K, {"language": "en"})) == [([], [])] * 2
    opened = store.open(name, kit)
    assert len(opened) == 0
    opened.close()


def test_queries_of_other_dimensions_are_refused(build: Any) -> None:
    index = build(clustered(1, 20, 8))
    with pytest.raises(UsageError, match="3 dimensions and the index 8"):
        index.search(np.ones((1, 3)), K)


@pytest.mark.parametrize("queries", [np.ones(8), np.ones((1, 1, 8)), []], ids=["one row", "a cube", "none"])
def test_queries_are_a_matrix(build: Any, queries: Any) -> None:
    with pytest.raises(UsageError, match="one row per query"):
        build(clustered(1, 20, 8)).search(queries, K)


@pytest.mark.parametrize("store", ["qdrant local", "qdrant", "postgres"], indirect=True)
def test_what_is_closed_is_not_searched(store: Any, kit: Kit, name: str) -> None:
    vectors = clustered(1, 5, 4)
    closed, other = store.build(name, vectors, kit), store.open(name, kit)
    closed.close()
    with pytest.raises(UsageError, match=r"closed\. Open it again"):
        closed.search(vectors, K)
    assert len(other.search(vectors, K)) == 5
    other.close()


def test_a_name_stands_for_one_content(store: Any, build: Any, kit: Kit, name: str) -> None:
    build(clustered(1, 20, 8))
    with pytest.raises(UsageError, match="20 vectors of 8 dimensions, and these are 20 of 16"):
        store.build(name, clustered(1, 20, 16), kit)
    with pytest.raises(UsageError, match="these are 0 of 8"):
        store.build(name, np.empty((0, 8), np.float32), kit)


def test_every_vector_has_metadata_or_none_has(store: Any, kit: Kit, name: str) -> None:
    with pytest.raises(UsageError, match="20 vectors and metadata of 19"):
        store.build(name, clustered(1, 20, 8), kit, [{}] * 19)
    assert store.open(name, kit) is None


def test_any_text_is_a_name(build: Any, name: str) -> None:
    vectors = clustered(1, 4, 4)
    odd = ["", "a/b c", "a/b_c", "ü" * 300, "ü" * 301, 'quote"d; --', ".."]
    for turned, text in enumerate(odd):
        build(np.roll(vectors, turned, axis=0), under=name + text)
    for turned, text in enumerate(odd):
        (found,) = build(vectors, under=name + text).search(vectors[:1], 1)
        assert found.positions.tolist() == [turned % 4]


def test_text_of_any_kind_can_be_filtered_by(build: Any) -> None:
    values = ["", "größe", "検索", "a\0b", "\ud800", 'say "yes"', "{}", "a,b", "NULL", "\\N", "🦊"]
    index = build(clustered(1, len(values), 4), [{"v": value, value: 1} for value in values])
    for at, value in enumerate(values):
        for where in ({"v": value}, {value: 1}):
            (found,) = index.search(np.ones((1, 4)), K, where)
            assert found.positions.tolist() == [at]
