"""Chunkers of plain text."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import PluginError, UsageError
from assay.core.parts import Chunker, Tokens
from assay.core.protocols import Kit
from assay.core.records import Document, Passage, Span
from assay.core.registry import CHUNKERS, TOKENIZERS, Registry, identity
from assay.retrieval.chunk import SentenceGroups, TokenLine, TokenWindows, WholeDocuments
from assay.retrieval.tokens import Cl100kBase, Llama3, O200kBase, sentence_spans


@dataclass(frozen=True)
class Words:
    """A tokenizer whose tokens can be counted by eye: a word and the white space before it."""

    name = "words"

    def load(self, kit: Kit) -> Tokens:
        return self

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [len(self.spans(text)) for text in texts]

    def spans(self, text: str) -> list[Span]:
        return [Span(*found.span()) for found in re.finditer(r"\s*\S+\s*\Z|\s*\S+|\s+\Z", text)]


def cut(chunker: Chunker, text: str) -> list[str]:
    return [passage.text for passage in chunker.cut([Document("d", text)], Kit())]


# ------------------------------------------------------------------------------------------ by tokens


def test_windows_have_the_size_and_the_overlap_that_was_asked_for() -> None:
    text = " one two  three\nfour five six seven "
    assert cut(TokenWindows(3, 0, Words()), text) == ["one two  three", "four five six", "seven"]
    # Each window begins 3 - 1 = 2 tokens after the one before; a fourth would only repeat "seven".
    assert cut(TokenWindows(3, 1, Words()), text) == ["one two  three", "three\nfour five", "five six seven"]
    assert cut(TokenWindows(7, 6, Words()), text) == [text.strip()]
    assert cut(TokenWindows(6, 5, Words()), text) == [
        "one two  three\nfour five six",
        "two  three\nfour five six seven",
    ]


def test_a_passage_says_where_it_is_from() -> None:
    document = Document("a/b.txt", "one two three", "Numbers", {"year": 2024})
    assert TokenWindows(2, tokenizer=Words()).cut([document], Kit()) == [
        Passage("a/b.txt#0-7", "one two", "Numbers", "a/b.txt", Span(0, 7), None, {"year": 2024}),
        Passage("a/b.txt#8-13", "three", "Numbers", "a/b.txt", Span(8, 13), None, {"year": 2024}),
    ]


def test_blank_text_gives_no_passage_and_no_window_lies_inside_another() -> None:
    assert cut(TokenWindows(2, tokenizer=Words()), " \n ") == []
    assert cut(TokenWindows(2), "") == []
    # o200k_base: "a", " b" and a long run of blanks, which alone would be a third window.
    assert cut(TokenWindows(2, 1), "a b" + " " * 200) == ["a b"]


def test_windows_of_a_real_tokenizer_are_counted_in_tokens_of_the_document() -> None:
    text = "antidisestablishmentarianism"  # ant idis est ablishment arian ism
    assert cut(TokenWindows(2), text) == ["antidis", "establishment", "arianism"]
    assert cut(TokenWindows(4, 2, Cl100kBase()), text) == ["antidisestablishment", "establishmentarianism"]


# --------------------------------------------------------------------------------------- by sentences

STORY = "A cat sat. It ate two fish. Then it slept well. Nobody saw. The end."  # 3 + 4 + 4 + 2 + 2 words


def test_whole_sentences_are_packed_up_to_the_limit() -> None:
    assert cut(SentenceGroups(7, tokenizer=Words()), STORY) == [
        "A cat sat. It ate two fish.",
        "Then it slept well. Nobody saw.",
        "The end.",
    ]
    assert cut(SentenceGroups(8, tokenizer=Words()), STORY)[1] == "Then it slept well. Nobody saw. The end."
    assert cut(SentenceGroups(200), STORY) == [STORY]


def test_a_count_limits_sentences_with_and_without_a_limit_of_tokens() -> None:
    assert cut(SentenceGroups(None, 2, tokenizer=Words()), STORY) == [
        "A cat sat. It ate two fish.",
        "Then it slept well. Nobody saw.",
        "The end.",
    ]
    assert cut(SentenceGroups(6, 2, tokenizer=Words()), STORY) == [
        "A cat sat.",
        "It ate two fish.",
        "Then it slept well. Nobody saw.",
        "The end.",
    ]


def test_the_overlap_is_in_sentences_and_gives_way_to_new_ones() -> None:
    assert cut(SentenceGroups(None, 3, 2, tokenizer=Words()), STORY) == [
        "A cat sat. It ate two fish. Then it slept well.",
        "It ate two fish. Then it slept well. Nobody saw.",
        "Then it slept well. Nobody saw. The end.",
    ]
    # "It ate two fish." (4) and "Then it slept well." (4) are 8 tokens: no room to repeat the first.
    assert cut(SentenceGroups(7, overlap=1, tokenizer=Words()), STORY) == [
        "A cat sat. It ate two fish.",
        "Then it slept well. Nobody saw.",
        "Nobody saw. The end.",
    ]


def test_a_sentence_above_the_limit_is_cut_by_tokens() -> None:
    assert cut(SentenceGroups(3, tokenizer=Words()), "Hi. One two three four five six seven. Bye now.") == [
        "Hi.",
        "One two three",
        "four five six",
        "seven. Bye now.",
    ]


def test_languages_end_sentences_their_own_way() -> None:
    text = "यह एक वाक्य है। यह दूसरा है।"
    assert cut(SentenceGroups(None, 1, language="hi"), text) == ["यह एक वाक्य है।", "यह दूसरा है।"]


# ---------------------------------------------------------------------------------- what all promise

letters = st.characters(exclude_categories=["Cs"])
texts = st.text(letters, max_size=200) | st.text("ab. \n\t!é弘👩", max_size=200)
tokenizers = st.sampled_from([O200kBase(), Cl100kBase(), Llama3(), Words()])


@st.composite
def chunkers(draw: st.DrawFn) -> TokenWindows | SentenceGroups:
    tokenizer, limit = draw(tokenizers), draw(st.integers(1, 12))
    if draw(st.booleans()):
        return TokenWindows(limit, draw(st.integers(0, limit - 1)), tokenizer)
    count = draw(st.none() | st.integers(1, 4))
    overlap = draw(st.integers(0, 3 if count is None else count - 1))
    return SentenceGroups(limit, count, overlap, tokenizer=tokenizer)


@given(chunkers(), texts)
@settings(max_examples=200)
def test_passages_are_stretches_of_the_document_in_order_that_lose_nothing(
    chunker: TokenWindows | SentenceGroups, text: str
) -> None:
    document = Document("d", text, "T", {"k": 1})
    passages = chunker.cut([document], Kit())
    assert chunker.cut([document], Kit()) == passages
    covered: set[int] = set()
    for passage in passages:
        assert passage.span is not None
        assert 0 <= passage.span.start < passage.span.end <= len(text)
        assert passage.text == text[passage.span.start : passage.span.end] == passage.text.strip()
        assert passage.doc_id == f"d#{passage.span.start}-{passage.span.end}"
        assert (passage.source, passage.title, passage.metadata) == ("d", "T", {"k": 1})
        covered.update(range(passage.span.start, passage.span.end))
    assert covered >= {at for at, letter in enumerate(text) if not letter.isspace()}
    spans = [passage.span for passage in passages if passage.span]
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    ends = [span.end for span in spans]
    assert ends == sorted({*ends})  # each ends later than the one before, so that none lies inside it


@given(chunkers(), texts)
@settings(max_examples=100)
def test_no_passage_has_more_tokens_than_asked_for(chunker: TokenWindows | SentenceGroups, text: str) -> None:
    spans = chunker.tokenizer.load(Kit()).spans(text)
    limit = chunker.size if isinstance(chunker, TokenWindows) else chunker.tokens
    assert limit is not None
    for passage in chunker.cut([Document("d", text)], Kit()):
        assert passage.span is not None
        assert sum(span.overlap(passage.span) > 0 for span in spans) <= limit


@given(st.integers(1, 4), texts)
@settings(max_examples=100)
def test_passages_of_a_count_are_runs_of_that_many_sentences(count: int, text: str) -> None:
    sentences = sentence_spans(text)
    runs = [sentences[start : start + count] for start in range(0, len(sentences), count)]
    expected = [Span(run[0].start, run[-1].end) for run in runs]
    passages = SentenceGroups(None, count).cut([Document("d", text)], Kit())
    assert [passage.span for passage in passages] == expected


@given(st.lists(texts, max_size=4))
@settings(max_examples=50)
def test_whole_gives_every_document_as_it_is(batch: list[str]) -> None:
    documents = [Document(f"d{n}", text) for n, text in enumerate(batch)]
    passages = WholeDocuments().cut(documents, Kit())
    assert [(each.source, each.text, each.span) for each in passages] == [
        (document.doc_id, document.text, Span(0, len(document.text)))
        for document in documents
        if document.text.strip()
    ]


def test_passages_stand_in_the_order_of_their_documents() -> None:
    documents = [Document("z", "one two three"), Document("a", ""), Document("m", "four")]
    passages = TokenWindows(2, tokenizer=Words()).cut(documents, Kit())
    assert [passage.doc_id for passage in passages] == ["z#0-7", "z#8-13", "m#0-4"]


@pytest.mark.parametrize("chunker", [TokenWindows(200, 20), SentenceGroups(200, overlap=1)])
def test_a_long_document_takes_time_in_proportion(chunker: Chunker) -> None:
    line = "The quick brown fox jumps over the lazy dog, and nobody minds. It is late. "

    def seconds(characters: int) -> float:
        text = line * (characters // len(line))
        start = time.process_time()
        chunker.cut([Document("d", text)], Kit())
        return time.process_time() - start

    seconds(100_000)
    small = min(seconds(250_000) for _ in range(2))
    assert seconds(2_000_000) < 8 * 4 * small


@pytest.mark.slow
@pytest.mark.parametrize("chunker", [TokenWindows(), SentenceGroups()])
def test_ten_megabytes_are_cut_and_nothing_is_lost(chunker: Chunker) -> None:
    text = "The quick brown fox jumps over the lazy dog, and nobody minds. It is late. " * 140_000
    passages = chunker.cut([Document("d", text)], Kit())
    assert " ".join(passage.text for passage in passages).split() == text.split()


# -------------------------------------------------------------------------------------- as parts


@pytest.mark.parametrize(
    ("cls", "params", "message"),
    [
        (TokenWindows, {"size": 0}, "size is 0. Give 1 or more"),
        (TokenWindows, {"overlap": -1}, "overlap is -1. Give 0 or more"),
        (TokenWindows, {"size": 5, "overlap": 5}, "below the size"),
        (SentenceGroups, {"tokens": 0}, "tokens is 0. Give 1 or more"),
        (SentenceGroups, {"count": 0}, "count is 0. Give 1 or more"),
        (SentenceGroups, {"tokens": None}, "Give tokens, count or both"),
        (SentenceGroups, {"count": 2, "overlap": 2}, "below the count"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(cls: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        cls(**params)


def test_a_study_names_a_chunker_and_its_tokenizer() -> None:
    registry = Registry(
        {CHUNKERS: {"tokens": TokenWindows, "sentences": SentenceGroups}, TOKENIZERS: {"llama3": Llama3}}
    )
    made = registry.create(CHUNKERS, "tokens(size=50, tokenizer=llama3)")
    assert made == TokenWindows(50, tokenizer=Llama3())
    assert registry.create(CHUNKERS, "sentences(tokens=none, count=5)") == SentenceGroups(None, 5)
    with pytest.raises(PluginError, match="tokenizer: There is no tokenizer 'llama4'"):
        registry.create(CHUNKERS, "tokens(tokenizer=llama4)")
    assert identity(made) != identity(TokenWindows(50))


def test_the_identity_names_what_decides_the_cuts() -> None:
    assert re.fullmatch(r"o200k_base by splintr-rs [\d.]+", TokenWindows().identity(Kit()))
    assert re.fullmatch(r"sentencex [\d.]+, llama3 by .*", SentenceGroups(tokenizer=Llama3()).identity(Kit()))
    assert SentenceGroups(tokenizer=Words()).identity(Kit()).startswith("sentencex ")
    assert all(isinstance(part, Chunker) for part in (WholeDocuments(), TokenWindows(), SentenceGroups()))


def test_a_token_across_an_edge_counts_on_both_sides() -> None:
    line = TokenLine("ab cd ef", Words().load(Kit()))  # tokens 0-2, 2-5, 5-8
    assert line.reach([Span(0, 2), Span(1, 4), Span(2, 8), Span(4, 4)]) == ([0, 0, 1, 1], [1, 2, 3, 2])
