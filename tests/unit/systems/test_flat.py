"""The flat systems, end to end on a corpus that fits on a page."""

from __future__ import annotations

from typing import Any

import pytest

from assay.datasets.dataset import Corpus
from assay.errors import PluginError, UsageError
from assay.plugins import SYSTEMS, Registry, identity
from assay.protocols import Kit
from assay.records import Passage, Query, Response
from assay.retrieval.embed import load_embedder
from assay.systems.flat import BM25, Dense, FlatIndex, Hybrid

System = BM25 | Dense | Hybrid

CORPUS = Corpus(
    [
        Passage("cats", "They sleep most of the day.", title="Cats"),
        Passage("tax", "Income tax returns are due in April."),
        Passage("dogs", "Dogs bark at the mail carrier."),
        Passage("fish", "Trout swim upstream in spring.", title="Fish"),
    ]
)
SYSTEMS_TO_TRY = [BM25(), Dense(), Hybrid()]


def built(system: System) -> FlatIndex:
    return system.build(CORPUS, seed=0, kit=Kit())


def ask(system: System, text: str) -> Response:
    return built(system).session().answer(Query("q", text), budgets=[])


@pytest.mark.parametrize("system", SYSTEMS_TO_TRY)
def test_the_passage_that_answers_comes_first(system: System) -> None:
    hits = ask(system, "when are tax returns due?").hits
    assert hits[0].doc_id == "tax"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("system", SYSTEMS_TO_TRY)
def test_titles_are_indexed(system: System) -> None:
    assert ask(system, "cats").hits[0].doc_id == "cats"


@pytest.mark.parametrize(
    ("system", "stages"),
    [(BM25(), {"search"}), (Dense(), {"embed", "search"}), (Hybrid(), {"embed", "search", "fuse"})],
)
def test_every_stage_is_timed_and_the_total_holds_them_all(system: System, stages: set[str]) -> None:
    seconds = ask(system, "tax").observed.seconds
    assert set(seconds) == {*stages, "total"}
    assert min(seconds.values()) > 0
    assert sum(seconds[stage] for stage in stages) <= seconds["total"]


@pytest.mark.parametrize("system", [BM25(k=1), Dense(k=1), Hybrid(k=1)])
def test_k_bounds_the_hits(system: System) -> None:
    assert len(ask(system, "dogs bark and cats sleep").hits) == 1


def test_hybrid_fuses_what_its_parts_return() -> None:
    text = "fish that swim and dogs that bark"
    ranks: dict[str, float] = {}
    for part in (BM25(k=2), Dense(k=2)):
        for rank, hit in enumerate(ask(part, text).hits, start=1):
            ranks[hit.doc_id] = ranks.get(hit.doc_id, 0.0) + 1 / (10 + rank)
    fused = ask(Hybrid(rrf_k=10, depth=2), text).hits
    assert {hit.doc_id: hit.score for hit in fused} == pytest.approx(ranks)


@pytest.mark.parametrize("system", SYSTEMS_TO_TRY)
def test_an_empty_query_has_no_hits(system: System) -> None:
    assert ask(system, "").hits == []


@pytest.mark.parametrize("system", SYSTEMS_TO_TRY)
def test_an_empty_corpus_has_no_hits(system: System) -> None:
    index = system.build(Corpus([]), seed=0, kit=Kit())
    assert index.session().answer(Query("q", "tax"), budgets=[]).hits == []


@pytest.mark.parametrize("system", SYSTEMS_TO_TRY)
def test_building_again_changes_nothing_and_no_seed_matters(system: System) -> None:
    again = system.build(CORPUS, seed=9, kit=Kit()).session().answer(Query("q", "dogs in spring"), budgets=[])
    assert again.hits == ask(system, "dogs in spring").hits


def test_identities_name_engine_and_model() -> None:
    model = load_embedder("static").identity
    assert BM25().identity(Kit()).startswith("tantivy ")
    assert model in Dense().identity(Kit())
    assert model in Hybrid().identity(Kit())
    assert BM25().identity(Kit()) in Hybrid().identity(Kit())


@pytest.mark.parametrize(
    "make", [lambda: BM25(k=0), lambda: Dense(k=-1), lambda: Hybrid(depth=0), lambda: Hybrid(rrf_k=0)]
)
def test_counts_below_one_are_refused(make: Any) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        make()


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(UsageError, match="no embedding model 'huge'"):
        built(Dense(model="huge"))


def test_specs_make_them() -> None:
    registry = Registry()
    assert registry.create(SYSTEMS, "bm25") == BM25()
    assert registry.create(SYSTEMS, "bm25(k=5, language=german, stop_words=[der, die])") == BM25(
        5, "german", ("der", "die")
    )
    assert registry.create(SYSTEMS, "dense(k=5)") == Dense("static", 5)
    assert registry.create(SYSTEMS, {"use": "hybrid", "depth": 50}) == Hybrid(depth=50)
    with pytest.raises(PluginError, match="klingon"):
        registry.create(SYSTEMS, "bm25(language=klingon)")


def test_every_parameter_is_part_of_the_plugin_identity() -> None:
    variants = [BM25(), BM25(k=5), BM25(language="french"), BM25(stop_words=()), BM25(stop_words=("the",))]
    assert len({identity(variant) for variant in variants}) == len(variants)
