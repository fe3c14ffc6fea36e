"""The contract of every part of a retrieval system found by entry points, ours and those of others.

Vector stores have a larger suite of their own, `test_vector_stores`. Services are stand-ins on this machine.
"""

from __future__ import annotations

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from plugins import each

from assay.core.parts import (
    NOTHING,
    Candidates,
    Chunker,
    Embedder,
    Fusion,
    Ranking,
    Reranker,
    Selector,
    Tokenizer,
    TokenModel,
)
from assay.core.protocols import Kit
from assay.core.records import Document
from assay.core.registry import CHUNKERS, EMBEDDERS, FUSIONS, RERANKERS, SELECTORS, TOKENIZERS
from assay.retrieval.embed.static import StaticEmbedder

TEXTS = [
    "The quick brown fox jumps over the lazy dog. It was tired!",
    "größe, 検索, поиск and naïve cafés 🦊 e\u0301",
    "<h1>Rules</h1><p>No smoking.</p>\n# Heading\n\nA paragraph, and\r\n- an item",
    "    \n",
    "",
    "word",
    "<|endoftext|> [SEP] </s>",
]


# ------------------------------------------------------------------------------ tokens and chunks


@pytest.mark.parametrize("plugin", each(TOKENIZERS), indirect=True)
@pytest.mark.parametrize("text", TEXTS)
class TestTokenizers:
    def test_spans_cover_the_text_without_a_gap(self, plugin: Any, kit: Kit, text: str) -> None:
        assert isinstance(plugin, Tokenizer)
        tokens = plugin.load(kit)
        spans = tokens.spans(text)
        if spans or text.strip():  # nothing but spaces may be no token at all
            assert "".join(text[span.start : span.end] for span in spans) == text
        assert len(spans) == tokens.counts([text])[0]

    def test_counts_do_not_depend_on_the_batch(self, plugin: Any, kit: Kit, text: str) -> None:
        tokens = plugin.load(kit)
        assert tokens.counts([*TEXTS, text])[-1] == tokens.counts([text])[0]
        assert tokens.counts([]) == []


@pytest.mark.parametrize("plugin", each(CHUNKERS), indirect=True)
class TestChunkers:
    def test_passages_lie_in_their_documents(self, plugin: Any, kit: Kit) -> None:
        assert isinstance(plugin, Chunker)
        documents = [Document(f"d{n}", text, f"T{n}", {"n": n}) for n, text in enumerate(TEXTS)]
        passages = plugin.cut(documents, kit)
        by_id = {document.doc_id: document for document in documents}
        assert len({passage.doc_id for passage in passages}) == len(passages)
        for passage in passages:
            document, span = by_id[passage.source or ""], passage.span
            assert span is not None
            assert 0 <= span.start < span.end <= len(document.text)
            assert passage.doc_id == f"{passage.source}#{span.start}-{span.end}"
            assert passage.text.strip()
            assert (passage.title, passage.metadata) == (document.title, document.metadata)

    def test_documents_are_cut_apart_from_each_other(self, plugin: Any, kit: Kit) -> None:
        documents = [Document(f"d{n}", text * 20) for n, text in enumerate(TEXTS)]
        alone = [passage for document in documents for passage in plugin.cut([document], kit)]
        assert plugin.cut(documents, kit) == alone
        assert plugin.cut([], kit) == []


# ---------------------------------------------------------------------------------------- models


@pytest.mark.parametrize("plugin", each(EMBEDDERS), indirect=True)
class TestEmbedders:
    def test_rows_have_length_one_and_no_text_has_no_direction(self, plugin: Any, kit: Kit) -> None:
        assert isinstance(plugin, Embedder)
        vectors, tokens, cost = plugin.load(kit).embed(TEXTS, "passage")
        lengths = np.linalg.norm(vectors, axis=1)
        assert vectors.dtype == np.float32
        assert np.isclose(lengths, 1, atol=1e-5)[[0, 1, 5]].all()
        assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()
        assert tokens > 0
        assert cost >= 0

    def test_a_vector_does_not_depend_on_the_batch(self, plugin: Any, kit: Kit) -> None:
        model = plugin.load(kit)
        together = model.embed(TEXTS, "passage").vectors
        for text, row in zip(TEXTS, together, strict=True):
            assert model.embed([text], "passage").vectors[0] == pytest.approx(row, abs=1e-4)

    def test_identity_is_known_before_loading(self, plugin: Any, kit: Kit) -> None:
        assert plugin.identity(kit) == plugin.load(kit).identity
        assert dataclasses.replace(plugin).identity(kit) == plugin.identity(kit)

    def test_threads_agree(self, plugin: Any, kit: Kit) -> None:
        model = plugin.load(kit)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: model.embed(TEXTS, "query").vectors, range(8)))
        for vectors in found:
            assert vectors == pytest.approx(found[0], abs=1e-5)

    def test_token_vectors_are_one_a_token_and_of_length_one(self, plugin: Any, kit: Kit) -> None:
        model = plugin.load(kit)
        if isinstance(model, TokenModel):
            rows = model.embed_tokens(TEXTS, "passage")
            assert len(rows) == len(TEXTS)
            assert len(rows[0]) > len(rows[5]) >= 1
            for matrix in rows:
                assert np.linalg.norm(matrix, axis=1) == pytest.approx(np.ones(len(matrix)), abs=1e-4)


@pytest.mark.parametrize("plugin", each(RERANKERS), indirect=True)
class TestRerankers:
    def test_a_score_a_text_whatever_stands_beside_it(self, plugin: Any, kit: Kit) -> None:
        assert isinstance(plugin, Reranker)
        scorer = plugin.load(StaticEmbedder(), kit)
        together = scorer.scores("brown fox", TEXTS).scores
        assert together.shape == (len(TEXTS),)
        assert np.isfinite(together).all()
        backwards = scorer.scores("brown fox", TEXTS[::-1]).scores[::-1]
        assert backwards == pytest.approx(together, abs=1e-6)
        assert together.argmax() == 0
        assert len(scorer.scores("brown fox", []).scores) == 0


# --------------------------------------------------------------------------- fusion and selection

RANKINGS = [
    Ranking(np.array([3, 1, 2]), np.array([9.0, 5.0, 1.0])),
    Ranking(np.array([1, 7]), np.array([0.5, 0.5])),
]


@pytest.mark.parametrize("plugin", each(FUSIONS), indirect=True)
class TestFusions:
    def test_it_holds_all_that_any_ranking_holds_best_first(self, plugin: Any) -> None:
        assert isinstance(plugin, Fusion)
        positions, scores = plugin.fuse(RANKINGS)
        assert sorted(positions.tolist()) == [1, 2, 3, 7]
        assert (np.diff(scores) <= 0).all()
        assert positions[0] == 1  # high in both

    @pytest.mark.parametrize("rankings", [[], [NOTHING, NOTHING]])
    def test_of_nothing_it_makes_nothing(self, plugin: Any, rankings: list[Ranking]) -> None:
        assert len(plugin.fuse(rankings).positions) == 0

    def test_a_ranking_alone_keeps_its_order(self, plugin: Any) -> None:
        assert plugin.fuse(RANKINGS[:1]).positions.tolist() == [3, 1, 2]


def candidates(count: int) -> Candidates:
    rng = np.random.default_rng(count)
    vectors = rng.normal(size=(count, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Candidates(np.sort(rng.random(count))[::-1], rng.integers(1, 50, count), lambda: vectors)


@pytest.mark.parametrize("plugin", each(SELECTORS), indirect=True)
class TestSelectors:
    @pytest.mark.parametrize(
        ("count", "budget"), list(itertools.product([0, 1, 2, 40], [0, 1, 20, 100, 10_000, None]))
    )
    def test_what_is_chosen_fits_and_is_chosen_once(
        self, plugin: Any, count: int, budget: int | None
    ) -> None:
        assert isinstance(plugin, Selector)
        given = candidates(count)
        chosen = plugin.select(given, budget)
        assert len(set(chosen)) == len(chosen)
        assert set(chosen) <= set(range(count))
        assert budget is None or given.tokens[chosen].sum() <= budget
        assert chosen == plugin.select(candidates(count), budget)

    def test_something_is_chosen_where_something_fits(self, plugin: Any) -> None:
        given = candidates(40)
        assert plugin.select(given, int(given.tokens.min()))
