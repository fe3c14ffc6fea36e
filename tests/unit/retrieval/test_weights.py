"""BM25 taken apart: the same scores as the engine's formula, and the most that lies below a node."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.core.errors import DataError
from assay.retrieval.lexical import Analysis, LexicalIndex, TermWeights, largest_child_weights

TEXTS = ["red fox", "red red dog", "grey dog and grey fox and grey wolf", "", "wolf"]


def test_a_score_is_lucene_s_formula() -> None:
    weights = TermWeights.build(TEXTS)
    # lengths less the stop word "and": 2, 3, 6, 0, 1; mean 12/5 = 2.4. "red" is in 2 of 5 texts.
    rarity = math.log(1 + (5 - 2 + 0.5) / (2 + 0.5))
    first = rarity * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 2.4))
    second = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2.4))
    assert weights.scores(weights.terms("red")) == pytest.approx([first, second, 0, 0, 0])


def test_a_word_that_is_asked_twice_counts_twice_and_an_unknown_one_not_at_all() -> None:
    weights = TermWeights.build(TEXTS)
    once, twice = (weights.scores(weights.terms(query)) for query in ("dog", "dog, dogs and unicorns"))
    assert twice == pytest.approx(2 * once)


def test_it_ranks_as_the_engine_does_where_lengths_are_not_rounded() -> None:
    texts = [f"word{i % 7} word{i % 5} word{i % 3} common" for i in range(40)]  # 4 words: stored exactly
    weights, index = TermWeights.build(texts), LexicalIndex.build(texts)
    for query in ("word1 word2", "common word6", "word0"):
        found = index.search(query, 40)
        assert weights.scores(weights.terms(query))[found.positions] == pytest.approx(found.scores, rel=1e-5)


def test_it_comes_back_from_a_folder(tmp_path: Path) -> None:
    weights = TermWeights.build(TEXTS)
    weights.save(tmp_path)
    again = TermWeights.read(tmp_path, Analysis())
    assert (
        again.scores(again.terms("grey wolf")).tolist() == weights.scores(weights.terms("grey wolf")).tolist()
    )
    (tmp_path / "data.npy").unlink()
    with pytest.raises(DataError, match="damaged"):
        TermWeights.read(tmp_path, Analysis())


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("indptr", lambda starts: starts + 1),  # not from 0
        ("indptr", lambda starts: np.r_[0, starts[-1], starts[2:]]),  # falls
        ("indptr", lambda starts: np.r_[starts[:-1], 10**9]),  # beyond the entries
        ("indptr", lambda starts: starts[:-1]),  # a term is lacking
        ("indptr", lambda starts: starts.astype(float)),
        ("indices", lambda rows: np.r_[rows[:-1], 5]),  # there are texts 0 to 4
        ("indices", lambda rows: np.r_[-1, rows[1:]]),
        ("indices", lambda rows: rows[:-1]),
        ("indices", np.zeros_like),  # do not rise
        ("data", lambda weights: weights[:-1]),
    ],
)
def test_parts_that_do_not_fit_together_are_told(
    tmp_path: Path, part: str, change: Callable[[Any], Any]
) -> None:
    TermWeights.build(TEXTS).save(tmp_path)
    np.save(tmp_path / f"{part}.npy", change(np.load(tmp_path / f"{part}.npy")))
    with pytest.raises(DataError, match="damaged"):
        TermWeights.read(tmp_path, Analysis())


def test_no_texts_and_no_words_have_no_scores() -> None:
    assert TermWeights.build([]).scores(TermWeights.build([]).terms("red")).tolist() == []
    assert TermWeights.build(["", ""]).scores(TermWeights.build(["", ""]).terms("red")).tolist() == [0, 0]


def test_the_most_below_a_node_is_the_largest_of_its_children_s() -> None:
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(12)]
    texts = [" ".join(rng.choice(words, size=rng.integers(0, 9))) for _ in range(50)]
    weights = TermWeights.build(texts)
    children = csr_array((rng.random((7, 50)) < 0.2).astype(np.float32))  # some texts below several nodes
    dense, below = weights.by_term.toarray(), children.toarray() > 0
    wanted = np.array([dense[row].max(axis=0, initial=0.0) for row in below])
    assert np.array_equal(largest_child_weights(children, weights.by_term).toarray(), wanted)
