"""Flat systems with links: what comes in, where it stands, what is shown of it, and what stays as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.core.dataset import Corpus
from assay.core.optional import StructuredIndex
from assay.core.parts import LinkedPassage, Ranking
from assay.core.protocols import Kit
from assay.core.records import Passage, Query, Response
from assay.core.registry import SYSTEMS, Registry, identity
from assay.retrieval.context import Arrival, ContextBuilder, Top
from assay.retrieval.embed.static import StaticEmbedder
from assay.retrieval.fuse import WeightedFusion
from assay.retrieval.lexical import Analysis
from assay.retrieval.links import SharedNames
from assay.retrieval.tokens import O200kBase
from assay.retrieval.vectors.exact import ExactStore
from assay.systems import retrievers
from assay.systems.answering import merge_links
from assay.systems.flat import BM25, Dense, FlatStrong, Hybrid
from assay.systems.retrievers import FusedRetriever, VectorRetriever, WordRetriever, build_scorer

DAM = "the dam in spring"
CORPUS = Corpus(
    [
        Passage("mill", "The sponsor of the mill is Ada Finch.", title="The mill in brief"),
        Passage(
            "ada", "She was born in Oslo. Parcels for Ada Finch go to C2-24.", title="Who is who: Ada Finch"
        ),
        Passage("dam", "The dam was opened in spring.", title="The dam in brief"),
        Passage("ferry", "The ferry holds 40 cars.", title="The ferry in brief"),
    ]
)
ASKED = Query("q", "sponsor of the mill")
System = BM25 | Dense | Hybrid
LINKS = SharedNames()
LINKED: list[System] = [BM25(links=LINKS), Hybrid(links=LINKS, depth=1), FlatStrong(links=LINKS, depth=1)]


class Searched:
    """An index that can be searched, and nothing else."""

    def __len__(self) -> int:
        return len(CORPUS)

    def search(self, queries: object, k: int, where: object = None) -> list[Ranking]:
        return []

    def close(self) -> None: ...


def ask(system: System, budgets: tuple[int | None, ...] = (), corpus: Corpus = CORPUS) -> Response:
    return system.build(corpus, 0, Kit()).answer(ASKED, budgets)


# ------------------------------------------------------------------------------------ the hits


@pytest.mark.parametrize("system", LINKED, ids=lambda system: type(system).__name__)
def test_a_passage_that_shares_no_word_with_the_query_comes_in_by_its_name(system: System) -> None:
    response = ask(system)
    found = [hit.doc_id for hit in response.hits]
    assert found[0] == "mill"
    assert "ada" in found
    (step,) = [each for each in response.trace if each.target == "ada"]
    assert (step.kind, step.depth, step.source, step.edge, step.role) == (
        "link", 1, "mill", "names", "ada finch",
    )  # fmt: skip
    assert step.selected
    assert set(step.scores) == {"weight", "score"}
    assert step.scores["weight"] == pytest.approx(0.7)
    scores = [hit.score for hit in response.hits]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_without_links_it_is_not_found_and_nothing_is_traced() -> None:
    response = ask(BM25())
    assert ("ada" in [hit.doc_id for hit in response.hits], response.trace) == (False, [])


def test_the_first_hits_stay_and_a_linked_one_stands_where_its_relevance_is() -> None:
    ranking = Ranking(np.array([7, 8, 9, 5]), np.array([8.0, 6.0, 4.0, 2.0]))
    # relevances by rank: 1, 0.631, 0.5, 0.431; 0.55 lies between the second and third hit
    linked = [
        LinkedPassage(3, 7, "ada", 1, 0.6, 0.55),
        LinkedPassage(8, 7, "ada", 1, 0.6, 0.4),
        LinkedPassage(2, 7, "ada", 2, 0.3, 0.1),
    ]
    found = merge_links(ranking, linked, k=10)
    assert [each.position for each in found] == [7, 8, 3, 9, 5, 2]
    assert [each.score for each in found[:2]] == [8.0, 6.0]
    # on the line from (0.5, 4) to (0.63093, 6): 4 + 2 × 0.05 / 0.13093
    assert found[2].score == pytest.approx(4.7638, abs=1e-4)
    assert [each.by is not None for each in found] == [False, False, True, False, False, True]
    # below the last: on the line from (0.43068, 2) to (0, 2 − 8)
    assert found[5].score == pytest.approx(2 - 8 * (0.43068 - 0.1) / 0.43068, abs=1e-3)
    assert [each.position for each in merge_links(ranking, linked, k=3)] == [7, 8, 3]


def test_a_hit_whose_link_is_worth_more_than_its_rank_moves_up_once() -> None:
    ranking = Ranking(np.arange(9), np.linspace(1, 0, 9))
    found = merge_links(ranking, [LinkedPassage(8, 0, "ada", 1, 0.6, 0.6)], k=9)
    assert [each.position for each in found] == [0, 1, 8, 2, 3, 4, 5, 6, 7]
    assert [each.relevance for each in found] == sorted((each.relevance for each in found), reverse=True)


def test_an_empty_query_and_an_empty_corpus_have_no_links() -> None:
    for system in LINKED:
        assert system.build(CORPUS, 0, Kit()).answer(Query("q", ""), [50]).hits == []
        assert ask(system, (50,), Corpus([])).trace == []


# -------------------------------------------------------------------------------- the contexts


def test_the_sentence_with_the_name_is_shown_before_others_of_its_passage() -> None:
    (context,) = ask(BM25(links=LINKS, grain="sentence", show=1), (None,)).contexts
    shown = [piece.text for piece in context.pieces]
    assert shown[0] == "The sponsor of the mill is Ada Finch."
    assert shown.index("Parcels for Ada Finch go to C2-24.") < shown.index("She was born in Oslo.")


def test_an_arrival_decides_relevance_and_a_name_which_sentences_count() -> None:
    showing = ContextBuilder(Top(), "sentence", O200kBase().load(Kit()), StaticEmbedder().load(Kit()))
    passages = [CORPUS.passages[0], CORPUS.passages[1]]
    query = "sponsor of the mill"
    vectors = (
        StaticEmbedder()
        .load(Kit())
        .embed([query, "She was born in Oslo.", "Parcels for Ada Finch go to C2-24."], "query")
    )
    plain, named = np.clip(vectors.vectors[1:] @ vectors.vectors[0], 0, 1).tolist()
    pieces, relevance = showing._pieces(query, passages, [Arrival(1.0), Arrival(0.5, "ada finch", 0.3)])
    found = dict(zip([piece.text for piece in pieces], relevance.tolist(), strict=True))
    assert found["Parcels for Ada Finch go to C2-24."] == pytest.approx(0.5 * (0.3 + 0.7 * named))
    assert found["She was born in Oslo."] == pytest.approx(0.5 * 0.3 * plain)


def test_arrivals_by_rank_without_names_show_what_none_show() -> None:
    for grain in ("passage", "sentence"):
        showing = ContextBuilder(Top(), grain, O200kBase().load(Kit()), StaticEmbedder().load(Kit()))
        ranked = list(CORPUS.passages)
        by_rank = [Arrival(1 / np.log2(rank)) for rank in range(2, len(ranked) + 2)]
        expected = showing.contexts("the mill", ranked, [20, None])
        assert showing.contexts("the mill", ranked, [20, None], by_rank) == expected


# --------------------------------------------------------------------------------- the scoring


def test_what_was_not_found_is_scored_by_the_system_s_own_scorer() -> None:
    kit = Kit()
    words = WordRetriever.build(CORPUS, Analysis(), 10, kit)
    vectors = VectorRetriever.build(CORPUS, StaticEmbedder(), ExactStore(), 10, kit)
    every = np.arange(len(CORPUS))
    (by_words, by_vectors) = (
        build_scorer(part, CORPUS, Analysis(), kit).scores_for(DAM, Ranking(every, np.ones(4)))(every)
        for part in (words, vectors)
    )
    ranked = words.index.search(DAM, 10)
    assert by_words[ranked.positions] == pytest.approx(ranked.scores / ranked.scores[0], rel=0.05)
    assert by_words[3] == 0.0  # the ferry has no word of it
    (cosine,) = vectors.index.search(vectors.embedding.query(DAM)[0].vector[np.newaxis], 10)
    assert by_vectors[cosine.positions] == pytest.approx(
        np.maximum(cosine.scores / cosine.scores[0], 0), abs=1e-6
    )
    fused = build_scorer(
        FusedRetriever([words, vectors], WeightedFusion((3.0, 1.0))), CORPUS, Analysis(), kit
    )
    both = fused.scores_for(DAM, Ranking(every, np.ones(4)))(every)
    assert both == pytest.approx(0.75 * by_words + 0.25 * by_vectors)
    vectors.close()


def test_a_store_that_gives_no_vectors_back_scores_the_same() -> None:
    kit, every = Kit(), np.arange(len(CORPUS))
    exact = VectorRetriever.build(CORPUS, StaticEmbedder(), ExactStore(), 10, kit)
    found = [
        build_scorer(by, CORPUS, Analysis(), kit).scores_for("the dam", Ranking(every, np.ones(4)))(every)
        for by in (exact, replace(exact, index=Searched()))
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    assert found[0].argmax() == 2
    exact.close()


def test_weights_of_words_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ask(BM25(links=LINKS), (30,))
    monkeypatch.setattr(retrievers, "WORTH_KEEPING", 1)
    for _ in range(2):
        found = BM25(links=LINKS).build(CORPUS, 0, Kit(cache=tmp_path)).answer(ASKED, (30,))
        assert (found.hits, found.trace, found.contexts) == (expected.hits, expected.trace, expected.contexts)


# ------------------------------------------------------------------------------- what it says


def test_a_system_without_links_is_the_one_it_was() -> None:
    assert "links" not in identity(FlatStrong())
    assert "links" not in FlatStrong().identity(Kit())
    assert FlatStrong().gives == frozenset({"hits", "contexts"})
    assert BM25().version == "2"


def test_links_and_their_settings_are_part_of_what_decides() -> None:
    told = [identity(BM25(links=links)) for links in (None, LINKS, SharedNames(hops=1))]
    assert len(set(told)) == 3
    assert FlatStrong(links=LINKS).gives == frozenset({"hits", "contexts", "trace"})


def test_a_flat_system_has_no_tree_to_publish() -> None:
    assert not isinstance(BM25(links=LINKS).build(CORPUS, 0, Kit()), StructuredIndex)


def test_following_links_is_timed() -> None:
    seconds = ask(BM25(links=LINKS), (50,)).observed.seconds
    assert set(seconds) == {"search", "link", "select", "total"}
    assert sum(seconds[stage] for stage in ("search", "link", "select")) == pytest.approx(seconds["total"])


def test_a_study_names_it() -> None:
    made = Registry().create(SYSTEMS, "flat_strong(links=names(hops=1), grain=sentence)")
    assert made == FlatStrong(links=SharedNames(hops=1), grain="sentence")
    assert Registry().create(SYSTEMS, {"use": "bm25", "links": None}) == BM25()
