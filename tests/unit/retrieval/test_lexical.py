"""BM25 on tantivy."""

from __future__ import annotations

import errno
import math
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from assay.core.errors import DataError, UsageError
from assay.retrieval.lexical import Analysis, LexicalIndex, TermWeights, largest_child_weights

ANIMALS = ["red fox", "red red hen", "blue whale deep sea"]


@pytest.fixture(scope="module")
def animals() -> LexicalIndex:
    return LexicalIndex.build(ANIMALS)


def test_scores_as_the_formula_says(animals: LexicalIndex) -> None:
    found = animals.search("red", k=10)
    # idf = ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6 = 0.470004; lengths 2, 3, 4, mean 3
    # "red red hen": 0.470004 × 2 × 2.2 / (2 + 1.2 × (0.25 + 0.75 × 3/3)) = 2.068016 / 3.2 = 0.646255
    # "red fox":     0.470004 × 1 × 2.2 / (1 + 1.2 × (0.25 + 0.75 × 2/3)) = 1.034008 / 1.9 = 0.544215
    assert found.positions.tolist() == [1, 0]
    assert found.scores == pytest.approx([0.646255, 0.544215], abs=1e-6)


def reference(texts: list[list[str]], query: list[str], k1: float = 1.2, b: float = 0.75) -> dict[int, float]:
    """BM25 word by word, for texts that share a word with the query."""
    mean = sum(map(len, texts)) / len(texts)
    scores: dict[int, float] = {}
    for position, text in enumerate(texts):
        counts = Counter(text)
        for word in query:
            if counts[word]:
                holding = sum(word in other for other in texts)
                idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
                norm = k1 * (1 - b + b * len(text) / mean)
                part = idf * counts[word] * (k1 + 1) / (counts[word] + norm)
                scores[position] = scores.get(position, 0.0) + part
    return scores


vocabulary = st.sampled_from(["ape", "bat", "cod", "doe", "eel"])  # words that stemming leaves as they are


@given(
    st.lists(st.lists(vocabulary, max_size=12), min_size=1, max_size=12).filter(any),
    st.lists(vocabulary, min_size=1, max_size=5),
)
@settings(max_examples=40)
def test_agrees_with_the_formula_on_any_texts(texts: list[list[str]], query: list[str]) -> None:
    found = LexicalIndex.build(map(" ".join, texts)).search(" ".join(query), k=20)
    expected = reference(texts, query)
    assert set(found.positions.tolist()) == set(expected)
    assert found.scores == pytest.approx(
        [expected[position] for position in found.positions.tolist()], rel=1e-5
    )
    assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)


@pytest.mark.parametrize(
    "query",
    [
        "+red -hen",
        "red AND hen",
        '"red',
        "red* hen~2",
        "text:red hen^9",
        "((red",
        "red/hen\\",
        "[red TO hen]",
        "NOT red, hen",
    ],
)
def test_punctuation_and_operators_are_never_syntax(animals: LexicalIndex, query: str) -> None:
    plain = animals.search("red hen" if "hen" in query else "red", k=10)
    found = animals.search(query, k=10)
    assert found.positions.tolist() == plain.positions.tolist()
    assert found.scores.tolist() == plain.scores.tolist()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_any_text_may_be_asked_and_indexed(text: str) -> None:
    index = LexicalIndex.build([text, "red fox"])
    assert len(index) == 2
    assert set(index.search(text, k=5).positions.tolist()) <= {0, 1}


def test_words_are_stemmed_and_folded() -> None:
    index = LexicalIndex.build(["He RUNS daily", "ran", "runner"])
    assert index.search("running", k=5).positions.tolist() == [0]


def test_the_language_chooses_stemmer_and_stop_words() -> None:
    texts = ["die Häuser", "the houses"]
    assert LexicalIndex.build(texts, Analysis("german")).search("Haus", k=5).positions.tolist() == [0]
    assert LexicalIndex.build(texts, Analysis("german")).search("die", k=5).positions.tolist() == []
    assert LexicalIndex.build(texts, Analysis("english")).search("die", k=5).positions.tolist() == [0]


def test_stop_words_may_be_given_or_left_out() -> None:
    texts = ["the fox", "a hen"]
    assert LexicalIndex.build(texts).search("The", k=5).positions.tolist() == []
    assert LexicalIndex.build(texts, Analysis(stop_words=())).search("The", k=5).positions.tolist() == [0]
    assert (
        LexicalIndex.build(texts, Analysis(stop_words=("Fox",))).search("fox", k=5).positions.tolist() == []
    )


def test_a_language_without_a_stop_list_asks_for_one() -> None:
    with pytest.raises(UsageError, match=r"greek.*stop_words"):
        LexicalIndex.build(["ένα"], Analysis("greek"))
    assert LexicalIndex.build(["ένα"], Analysis("greek", ())).search("ένα", k=1).positions.tolist() == [0]


def test_equal_scores_stand_in_corpus_order_at_any_cut() -> None:
    index = LexicalIndex.build(["red fox"] * 300)
    for k in (1, 10, 299, 1000):
        assert index.search("fox", k).positions.tolist() == list(range(min(k, 300)))


def test_nothing_shared_or_nothing_asked_finds_nothing(animals: LexicalIndex) -> None:
    for query, k in [("zebra", 10), ("the", 10), ("", 10), ("?!", 10), ("red", 0)]:
        assert animals.search(query, k).positions.tolist() == []
    assert LexicalIndex.build([]).search("red", k=10).positions.tolist() == []


def test_threads_get_what_one_thread_gets() -> None:
    index = LexicalIndex.build([f"red fox number {n % 17} and {n % 5} hens" for n in range(500)])
    queries = [f"fox {n % 17} hens {n % 7}" for n in range(200)]
    alone = [index.search(query, k=20).positions.tolist() for query in queries]
    with ThreadPoolExecutor(4) as pool:
        together = [
            found.positions.tolist() for found in pool.map(lambda query: index.search(query, 20), queries)
        ]
    assert together == alone


def test_an_index_in_a_folder_is_the_same_when_it_is_opened_again(tmp_path: Path) -> None:
    texts = [f"red fox number {n % 17} and {n % 5} hens" for n in range(500)]
    analysis = Analysis("english", ("and",))
    built = LexicalIndex.build(texts, analysis, tmp_path)
    opened, memory = LexicalIndex.open(tmp_path, analysis), LexicalIndex.build(texts, analysis)
    assert len(opened) == 500
    for query in ("red 16", "hens 3 and 4", "nothing here"):
        expected = memory.search(query, k=50)
        for index in (built, opened):
            found = index.search(query, k=50)
            assert found.positions.tolist() == expected.positions.tolist()
            assert found.scores.tolist() == expected.scores.tolist()


def test_any_language_keeps_vowel_signs_with_their_letters_and_stems_nothing() -> None:
    texts = ["मुख्य हिन्दी पाठ", "हिन्द महासागर", "runs", "the run"]
    index = LexicalIndex.build(texts, Analysis("any"))
    assert index.search("हिन्दी", k=5).positions.tolist() == [0]
    assert index.search("RUN", k=5).positions.tolist() == [3]
    assert index.search("the", k=5).positions.tolist() == [3]


def test_a_full_disk_is_an_error_of_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tantivy

    class Full:
        def __init__(self, *_: object, **__: object) -> None:
            raise ValueError("An IO error occurred: 'No space left on device (os error 28)'")

    monkeypatch.setattr(tantivy, "Index", Full)
    with pytest.raises(OSError, match="No space left") as caught:
        LexicalIndex.build(["a"], folder=tmp_path)
    assert caught.value.errno == errno.ENOSPC


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
