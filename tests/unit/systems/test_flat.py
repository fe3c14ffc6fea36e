"""The flat systems, end to end on a corpus that fits on a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import PluginError, UsageError
from assay.core.parts import RerankResult
from assay.core.protocols import Kit
from assay.core.records import Passage, Query, Response, Span
from assay.core.registry import SYSTEMS, Registry, identity
from assay.retrieval.context import MMR, Knapsack, Top
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.fuse import RRF, WeightedFusion
from assay.retrieval.rerankers import MaxSim
from assay.retrieval.tokens import Cl100kBase
from assay.systems import retrievers
from assay.systems.flat import BM25, Dense, FlatIndex, FlatStrong, Hybrid

System = BM25 | Dense | Hybrid

CORPUS = Corpus(
    [
        Passage("cats", "They sleep most of the day.", title="Cats"),
        Passage("tax", "Income tax returns are due in April."),
        Passage("dogs", "Dogs bark at the mail carrier."),
        Passage("fish", "Trout swim upstream in spring.", title="Fish"),
    ]
)
SYSTEMS_TO_TRY = [BM25(), Dense(), Hybrid(), FlatStrong()]


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
    [
        (BM25(), {"search"}),
        (Dense(), {"embed", "search"}),
        (Hybrid(), {"embed", "search"}),
        (FlatStrong(), {"embed", "search", "rerank"}),
    ],
)
def test_every_stage_is_timed_and_the_total_is_their_sum(system: System, stages: set[str]) -> None:
    seconds = ask(system, "tax").observed.seconds
    assert set(seconds) == {*stages, "total"}
    assert min(seconds.values()) > 0
    assert sum(seconds[stage] for stage in stages) == pytest.approx(seconds["total"])
    shown = built(system).answer(Query("q", "tax"), budgets=[50]).observed.seconds
    assert set(shown) == {*stages, "select", "total"}


def test_tokens_that_models_read_are_counted() -> None:
    assert ask(BM25(), "tax returns").observed.tokens is None
    read = ask(Dense(), "tax returns").observed.tokens
    assert read is not None
    strong = ask(FlatStrong(), "tax returns").observed.tokens
    assert strong is not None
    assert strong > read  # the passages that it looks at again


@pytest.mark.parametrize("system", [BM25(k=1), Dense(k=1), Hybrid(k=1)])
def test_k_bounds_the_hits(system: System) -> None:
    assert len(ask(system, "dogs bark and cats sleep").hits) == 1


def test_hybrid_fuses_what_its_parts_return() -> None:
    text = "fish that swim and dogs that bark"
    ranks: dict[str, float] = {}
    for part in (BM25(k=2), Dense(k=2)):
        for rank, hit in enumerate(ask(part, text).hits, start=1):
            ranks[hit.doc_id] = ranks.get(hit.doc_id, 0.0) + 1 / (10 + rank)
    fused = ask(Hybrid(fuse=RRF(10), depth=2), text).hits
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
    model = StaticEmbedder().load(Kit()).identity
    assert BM25().identity(Kit())["words"].startswith("tantivy ")
    assert Dense().identity(Kit())["model"] == model
    assert Hybrid().identity(Kit())["model"] == model
    assert "splintr" in BM25().identity(Kit())["tokenizer"]
    assert FlatStrong(rerank=MaxSim(StaticEmbedder())).identity(Kit())["rerank"] == [model, {"model": model}]


@pytest.mark.parametrize(
    "make",
    [
        lambda: BM25(k=0),
        lambda: Dense(k=-1),
        lambda: Hybrid(depth=0),
        lambda: BM25(show=0),
        lambda: FlatStrong(rerank_depth=0),
    ],
)
def test_counts_below_one_are_refused(make: Any) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        make()


def test_a_share_of_trust_beyond_one_is_refused() -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        FlatStrong(trust=1.5)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("dense(model=huge)", "'dense': model: There is no embedder 'huge'"),
        ("dense(store=cellar)", "'dense': store: There is no store 'cellar'"),
        ("hybrid(fuse=rrf(k=-1))", "'hybrid': fuse: rrf: k is -1"),
        ("flat_strong(select=mmr(diversity=2))", "diversity is 2"),
        ("hybrid(fuse=weighted(weights=[1]))", "1 weights for two rankings"),
        ("bm25(grain=word)", "grain: it cannot be 'word'. It takes passage, sentence"),
    ],
)
def test_parts_that_are_not_there_or_make_no_sense_are_refused(spec: str, told: str) -> None:
    with pytest.raises((PluginError, UsageError), match=re.escape(told)):
        Registry().create(SYSTEMS, spec)


def test_specs_make_them() -> None:
    registry = Registry()
    assert registry.create(SYSTEMS, "bm25") == BM25()
    assert registry.create(SYSTEMS, "bm25(k=5, language=german, stop_words=[der, die])") == BM25(
        "german", ("der", "die"), k=5
    )
    assert registry.create(SYSTEMS, "dense(k=5)") == Dense(k=5)
    assert registry.create(SYSTEMS, "dense:static") == Dense(model=StaticEmbedder())
    assert registry.create(
        SYSTEMS, "flat_strong(model=static, rerank=maxsim(model=static), select=mmr(diversity=0.5))"
    ) == FlatStrong(model=StaticEmbedder(), rerank=MaxSim(StaticEmbedder()), select=MMR(0.5))
    assert registry.create(SYSTEMS, "hybrid(fuse=weighted(weights=[0.3, 0.7]))") == Hybrid(
        fuse=WeightedFusion((0.3, 0.7))
    )
    assert registry.create(SYSTEMS, {"use": "hybrid", "depth": 50}) == Hybrid(depth=50)
    with pytest.raises(PluginError, match="klingon"):
        registry.create(SYSTEMS, "bm25(language=klingon)")


def test_every_parameter_is_part_of_the_plugin_identity() -> None:
    variants = [BM25(), BM25(k=5), BM25(language="french"), BM25(stop_words=()), BM25(stop_words=("the",))]
    assert len({identity(variant) for variant in variants}) == len(variants)


# -------------------------------------------------------------------------------------- contexts


@pytest.mark.parametrize("system", SYSTEMS_TO_TRY)
def test_every_budget_gets_a_context_that_fits_it(system: System) -> None:
    budgets = [3, 10, 20, None]
    contexts = built(system).answer(Query("q", "dogs and cats in spring"), budgets).contexts
    assert [context.budget for context in contexts] == budgets
    for context in contexts:
        assert context.tokenizer == "o200k_base"
        assert context.tokens == system.tokenizer.load(Kit()).counts([context.text])[0]
        assert context.budget is None or context.tokens <= context.budget
    assert contexts[0].reason == "cut to fit"
    assert contexts[-1].tokens == max(context.tokens for context in contexts)


def test_no_budget_asked_no_context_given() -> None:
    assert ask(BM25(), "dogs").contexts == []


def test_contexts_hold_the_best_first() -> None:
    (context,) = built(BM25()).answer(Query("q", "dogs bark"), [None]).contexts
    assert [piece.doc_id for piece in context.pieces] == ["dogs"]
    assert context.text == "Dogs bark at the mail carrier."


def test_the_tokenizer_can_be_chosen() -> None:
    (context,) = built(BM25(tokenizer=Cl100kBase())).answer(Query("q", "dogs bark"), [None]).contexts
    assert context.tokenizer == "cl100k_base"


def test_pieces_know_their_place_in_the_document() -> None:
    text = "Rain fell all day. The dam broke at noon. Nobody was hurt."
    cut = Corpus([Passage("p", text[19:], source="report", span=Span(19, len(text)))])
    index = BM25(grain="sentence").build(cut, 0, Kit())
    (context,) = index.answer(Query("q", "when did the dam break"), [8]).contexts
    (piece,) = context.pieces
    assert piece.text == "The dam broke at noon."
    assert piece.span is not None
    assert text[piece.span.start : piece.span.end] == piece.text


def test_sentences_fit_where_a_passage_does_not() -> None:
    filler = "Nothing of note was recorded on this day by anybody at the station. " * 10
    passage = Passage("p", f"{filler}The password of the archive is swordfish. {filler}")
    query = Query("q", "what is the password of the archive")
    for grain, found in (("sentence", True), ("passage", False)):
        index = BM25(grain=grain).build(Corpus([passage]), 0, Kit())  # type: ignore[arg-type]
        (context,) = index.answer(query, [40]).contexts
        assert ("swordfish" in context.text) is found


def test_a_twin_is_not_shown_where_something_else_fits() -> None:
    passages = [
        Passage("one", "The harbour bridge opens at nine for ships."),
        Passage("twin", "The harbour bridge opens at nine for ships!"),
        Passage("else", "Ships pay their harbour dues at the office by the bridge."),
    ]
    index = Hybrid(select=Knapsack()).build(Corpus(passages), 0, Kit())
    (context,) = index.answer(Query("q", "harbour bridge ships"), [26]).contexts
    shown = {piece.doc_id for piece in context.pieces}
    assert "else" in shown
    assert len(shown & {"one", "twin"}) == 1


def test_show_bounds_what_contexts_are_made_of() -> None:
    index = built(Dense(show=2, select=Top()))
    (context,) = index.answer(Query("q", "dogs"), [None]).contexts
    assert len(context.pieces) == 2


# ------------------------------------------------------------------------------------- reranking


class Backwards:
    """Scores texts by how late they stand in the alphabet."""

    def load(self, embedder: object, kit: Kit) -> Backwards:
        return self

    def scores(self, query: str, texts: Sequence[str]) -> RerankResult:
        order = sorted(texts)
        return RerankResult(np.array([float(order.index(text)) for text in texts]), tokens=7, cost=0.25)


def test_a_reranker_that_is_trusted_wholly_decides_the_head_and_leaves_the_tail() -> None:
    text = "fish that swim and dogs that bark in april"
    first = [hit.doc_id for hit in ask(Hybrid(), text).hits]
    system = FlatStrong(rerank=Backwards(), rerank_depth=2, trust=1.0)
    response = ask(system, text)
    titles = {passage.doc_id: retrievers.indexed_text(passage) for passage in CORPUS.passages}
    assert [hit.doc_id for hit in response.hits] == [
        *sorted(first[:2], key=lambda doc: titles[doc], reverse=True),
        *first[2:],
    ]
    scores = [hit.score for hit in response.hits]
    assert scores == sorted(scores, reverse=True)
    assert response.observed.cost == 0.25


def test_a_reranker_that_is_not_trusted_changes_nothing() -> None:
    text = "fish that swim and dogs that bark in april"
    system = FlatStrong(rerank=Backwards(), trust=0.0)
    assert [hit.doc_id for hit in ask(system, text).hits] == [hit.doc_id for hit in ask(Hybrid(), text).hits]


# ---------------------------------------------------------------------------------- kept indexes


@pytest.mark.parametrize("system", SYSTEMS_TO_TRY)
def test_an_index_that_was_kept_answers_as_one_just_built(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = Query("q", "dogs that bark in spring")
    expected = system.build(CORPUS, 0, Kit(cache=tmp_path / "one")).answer(query, [20])
    monkeypatch.setattr(retrievers, "WORTH_KEEPING", 1)
    kit = Kit(cache=tmp_path / "two")
    for _ in range(2):
        index = system.build(CORPUS, 0, kit)
        found = index.answer(query, [20])
        index.close()
        assert found.hits == expected.hits
        assert found.contexts == expected.contexts


def test_nothing_is_embedded_or_built_a_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrievers, "WORTH_KEEPING", 1)
    kit = Kit(cache=tmp_path)
    Hybrid().build(CORPUS, 0, kit).close()
    kept = sorted(path.name for path in (tmp_path / "indexes").iterdir())
    told: list[str] = []

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(retrievers.LexicalIndex, "build", refuse)
    monkeypatch.setattr(retrievers.EmbeddingCache, "passages", refuse)
    Hybrid().build(CORPUS, 1, Kit(cache=tmp_path, progress=lambda what, *_: told.append(what))).close()
    assert told == []
    assert sorted(path.name for path in (tmp_path / "indexes").iterdir()) == kept
