"""The contract of every part of a retrieval system found by entry points, ours and those of others.

Vector stores have a suite of their own. What cannot be had here, a model that is not installed or a service,
is left out: it is tried on a stand-in elsewhere.
"""

from __future__ import annotations

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from assay.core.errors import AssayError
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
from assay.core.registry import CHUNKERS, EMBEDDERS, FUSIONS, RERANKERS, SELECTORS, TOKENIZERS, Registry
from assay.retrieval.embed.static import Static

REGISTRY = Registry()
KIT = Kit()
TEXTS = [
    "The quick brown fox jumps over the lazy dog. It was tired!",
    "größe, 検索, поиск and naïve cafés 🦊 e\u0301",
    "<h1>Rules</h1><p>No smoking.</p>\n# Heading\n\nA paragraph, and\r\n- an item",
    "    \n",
    "",
    "word",
    "<|endoftext|> [SEP] </s>",
]


def made(group: str) -> list[Any]:
    """Every plugin of a group that can be made without further ado, and whose files are there."""
    found = []
    for name in REGISTRY.names(group):
        try:
            part = REGISTRY.create(group, name)
            part.identity(KIT) if group in {TOKENIZERS, EMBEDDERS} else None
        except AssayError:
            continue
        found.append(pytest.param(part, id=name))
    return found


# ------------------------------------------------------------------------------ tokens and chunks


@pytest.mark.parametrize("tokenizer", made(TOKENIZERS))
@pytest.mark.parametrize("text", TEXTS)
class TestTokenizers:
    def test_spans_cover_the_text_without_a_gap(self, tokenizer: Any, text: str) -> None:
        assert isinstance(tokenizer, Tokenizer)
        tokens = tokenizer.load(KIT)
        spans = tokens.spans(text)
        assert "".join(text[span.start : span.end] for span in spans) == text
        assert len(spans) == tokens.counts([text])[0]

    def test_counts_do_not_depend_on_the_batch(self, tokenizer: Any, text: str) -> None:
        tokens = tokenizer.load(KIT)
        assert tokens.counts([*TEXTS, text])[-1] == tokens.counts([text])[0]
        assert tokens.counts([]) == []


@pytest.mark.parametrize("chunker", made(CHUNKERS))
class TestChunkers:
    def test_passages_lie_in_their_documents(self, chunker: Any) -> None:
        assert isinstance(chunker, Chunker)
        documents = [Document(f"d{n}", text, f"T{n}", {"n": n}) for n, text in enumerate(TEXTS)]
        passages = chunker.cut(documents, KIT)
        by_id = {document.doc_id: document for document in documents}
        assert len({passage.doc_id for passage in passages}) == len(passages)
        for passage in passages:
            document, span = by_id[passage.source or ""], passage.span
            assert span is not None
            assert 0 <= span.start < span.end <= len(document.text)
            assert passage.doc_id == f"{passage.source}#{span.start}-{span.end}"
            assert passage.text.strip()
            assert (passage.title, passage.metadata) == (document.title, document.metadata)

    def test_documents_are_cut_apart_from_each_other(self, chunker: Any) -> None:
        documents = [Document(f"d{n}", text * 20) for n, text in enumerate(TEXTS)]
        alone = [passage for document in documents for passage in chunker.cut([document], KIT)]
        assert chunker.cut(documents, KIT) == alone
        assert chunker.cut([], KIT) == []


# ---------------------------------------------------------------------------------------- models


@pytest.mark.parametrize("embedder", made(EMBEDDERS))
class TestEmbedders:
    def test_rows_have_length_one_and_no_text_has_no_direction(self, embedder: Any) -> None:
        assert isinstance(embedder, Embedder)
        vectors, tokens, cost = embedder.load(KIT).embed(TEXTS, "passage")
        lengths = np.linalg.norm(vectors, axis=1)
        assert vectors.dtype == np.float32
        assert np.isclose(lengths, 1, atol=1e-5)[[0, 1, 5]].all()
        assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()
        assert tokens > 0
        assert cost >= 0

    def test_a_vector_does_not_depend_on_the_batch(self, embedder: Any) -> None:
        model = embedder.load(KIT)
        together = model.embed(TEXTS, "passage").vectors
        for text, row in zip(TEXTS, together, strict=True):
            assert model.embed([text], "passage").vectors[0] == pytest.approx(row, abs=1e-4)

    def test_identity_is_known_before_loading(self, embedder: Any) -> None:
        assert embedder.identity(KIT) == embedder.load(KIT).identity
        assert dataclasses.replace(embedder).identity(KIT) == embedder.identity(KIT)

    def test_threads_agree(self, embedder: Any) -> None:
        model = embedder.load(KIT)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: model.embed(TEXTS, "query").vectors, range(8)))
        for each in found:
            assert each == pytest.approx(found[0], abs=1e-5)

    def test_token_vectors_are_one_a_token_and_of_length_one(self, embedder: Any) -> None:
        model = embedder.load(KIT)
        if isinstance(model, TokenModel):
            rows = model.embed_tokens(TEXTS, "passage")
            assert len(rows) == len(TEXTS)
            assert len(rows[0]) > len(rows[5]) >= 1
            for matrix in rows:
                assert np.linalg.norm(matrix, axis=1) == pytest.approx(np.ones(len(matrix)), abs=1e-4)


@pytest.mark.parametrize("reranker", made(RERANKERS))
class TestRerankers:
    def test_a_score_a_text_whatever_stands_beside_it(self, reranker: Any) -> None:
        assert isinstance(reranker, Reranker)
        scorer = reranker.load(Static(), KIT)
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


@pytest.mark.parametrize("fusion", made(FUSIONS))
class TestFusions:
    def test_it_holds_all_that_any_ranking_holds_best_first(self, fusion: Any) -> None:
        assert isinstance(fusion, Fusion)
        positions, scores = fusion.fuse(RANKINGS)
        assert sorted(positions.tolist()) == [1, 2, 3, 7]
        assert (np.diff(scores) <= 0).all()
        assert positions[0] == 1  # high in both

    @pytest.mark.parametrize("rankings", [[], [NOTHING, NOTHING]])
    def test_of_nothing_it_makes_nothing(self, fusion: Any, rankings: list[Ranking]) -> None:
        assert len(fusion.fuse(rankings).positions) == 0

    def test_a_ranking_alone_keeps_its_order(self, fusion: Any) -> None:
        assert fusion.fuse(RANKINGS[:1]).positions.tolist() == [3, 1, 2]


def candidates(count: int) -> Candidates:
    rng = np.random.default_rng(count)
    vectors = rng.normal(size=(count, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Candidates(np.sort(rng.random(count))[::-1], rng.integers(1, 50, count), lambda: vectors)


@pytest.mark.parametrize("selector", made(SELECTORS))
class TestSelectors:
    @pytest.mark.parametrize(
        ("count", "budget"), list(itertools.product([0, 1, 2, 40], [0, 1, 20, 100, 10_000, None]))
    )
    def test_what_is_chosen_fits_and_is_chosen_once(
        self, selector: Any, count: int, budget: int | None
    ) -> None:
        assert isinstance(selector, Selector)
        given = candidates(count)
        chosen = selector.select(given, budget)
        assert len(set(chosen)) == len(chosen)
        assert set(chosen) <= set(range(count))
        assert budget is None or given.tokens[chosen].sum() <= budget
        assert chosen == selector.select(candidates(count), budget)

    def test_something_is_chosen_where_something_fits(self, selector: Any) -> None:
        given = candidates(40)
        assert selector.select(given, int(given.tokens.min()))
