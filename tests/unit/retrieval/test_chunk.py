"""Chunkers of plain text."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.block import LABEL_COLUMNS, Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, PluginError, UsageError
from assay.core.parts import Chunker, Tokens
from assay.core.protocols import Kit
from assay.core.records import Arm, Document, Item, Passage, Span
from assay.core.registry import CHUNKERS, TOKENIZERS, Registry, identity
from assay.measures.parse import parse_measure
from assay.retrieval.chunk import SentenceGroups, TokenLine, TokenWindows, WholeDocuments, rechunk
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


@dataclass(frozen=True)
class Every:
    """Cuts every so many characters."""

    size: int

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        return [
            Passage(
                f"{document.doc_id}#{start}-{min(start + self.size, len(document.text))}",
                document.text[start : start + self.size],
                document.title,
                document.doc_id,
                Span(start, min(start + self.size, len(document.text))),
                metadata=document.metadata,
            )
            for document in documents
            for start in range(0, len(document.text), self.size)
        ]


def test_documents_that_were_never_cut_are_what_their_passages_stand_for() -> None:
    corpus = Corpus([Passage("a", "0123456789", "Digits"), Passage("b", "xyz")])
    items = [Item("q", "?", gold={"relevant": {"a": 1}}), Item("r", "?", scope=["b"])]
    new = rechunk(Dataset("d", corpus, items), Every(4), Kit())
    assert [passage.doc_id for passage in new.corpus.passages] == ["a#0-4", "a#4-8", "a#8-10", "b#0-3"]
    assert new.corpus.units == {"a#0-4": ("a",), "a#4-8": ("a",), "a#8-10": ("a",), "b#0-3": ("b",)}
    assert new.items[0] == items[0]  # gold stays as it was written
    assert new.items[1].scope == ["b#0-3"]
    assert new.corpus.documents["a"] == Document("a", "0123456789", "Digits")
    assert new.corpus.text_of("a") == "0123456789"


def passages_of(text: str, borders: Sequence[int]) -> list[Passage]:
    pairs = pairwise(borders)
    return [
        Passage(f"p{start}", text[start:end], source="doc", span=Span(start, end)) for start, end in pairs
    ]


def cut_dataset(borders: Sequence[int], text: str = "0123456789" * 3) -> Dataset:
    return Dataset("d", Corpus(passages_of(text, borders), {"doc": Document("doc", text)}), [Item("q", "?")])


def test_a_passage_stands_for_what_it_shares_half_with() -> None:
    # old: [0, 10) [10, 20) [20, 30); new, every 12: [0, 12) [12, 24) [24, 30)
    units = rechunk(cut_dataset([0, 10, 20, 30]), Every(12), Kit()).corpus.units
    # [0, 12) holds all of p0, and 2 of the 10 of p10; [12, 24) holds 8 of p10 and 4 of p20;
    # [24, 30) shares all its 6 with p20
    assert units == {"doc#0-12": ("p0",), "doc#12-24": ("p10",), "doc#24-30": ("p20",)}


def test_a_large_passage_stands_for_all_that_it_holds() -> None:
    units = rechunk(cut_dataset([0, 10, 20, 30]), Every(30), Kit()).corpus.units
    assert units == {"doc#0-30": ("p0", "p10", "p20")}


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=8),
    st.integers(1, 40),
)
def test_halves_are_counted_right(lengths: list[int], size: int) -> None:
    borders = [sum(lengths[:n]) for n in range(len(lengths) + 1)]
    dataset = cut_dataset(borders, "x" * borders[-1])
    new = rechunk(dataset, Every(size), Kit())
    for passage in new.corpus.passages:
        assert passage.span is not None
        expected = []
        for old in dataset.corpus.passages:
            assert old.span is not None
            shared = len(
                set(range(passage.span.start, passage.span.end)) & set(range(old.span.start, old.span.end))
            )
            if shared and 2 * shared >= min(len(passage.text), len(old.text)):
                expected.append(old.doc_id)
        assert list(new.corpus.units[passage.doc_id]) == expected


def test_all_documents_are_cut_and_gold_keeps_its_text() -> None:
    text = "0123456789" * 3
    documents = {"doc": Document("doc", text), "other": Document("other", "new")}
    passages = passages_of(text, [0, 10, 20])
    dataset = Dataset("d", Corpus(passages, documents), [Item("q", "?", gold={"relevant": {"p10": 1}})])
    new = rechunk(dataset, Every(15), Kit())
    assert {passage.source for passage in new.corpus.passages} == {"doc", "other"}
    assert new.corpus.text_of("p10") == text[10:20]
    assert new.warnings == []


@dataclass(frozen=True)
class Beginnings:
    """Keeps only the first ten characters of a document."""

    def cut(self, documents: Sequence[Document], kit: Kit) -> list[Passage]:
        return [passage for passage in Every(10).cut(documents, kit) if passage.span == Span(0, 10)]


def test_gold_that_a_chunker_leaves_out_is_warned_of() -> None:
    dataset = cut_dataset([0, 10, 20, 30])
    items = [Item("q", "?", gold={"relevant": {"p0": 1, "p20": 1}})]
    new = rechunk(dataclasses.replace(dataset, items=items), Beginnings(), Kit())
    assert new.warnings == ["1 passages that gold names are in no passage of this chunking (p20)"]


def test_passages_without_a_place_cannot_be_cut_anew() -> None:
    corpus = Corpus([Passage("p", "text", source="doc")])
    told = r"the document 'doc' of the passage 'p' is missing.*documents\.jsonl"
    with pytest.raises(DataError, match=told):
        rechunk(Dataset("d", corpus, [Item("q", "?")]), Every(2), Kit())


def block(hits: list[str], units: dict[str, tuple[str, ...]], relevant: dict[str, float]) -> Block:
    answers = pl.DataFrame(
        {
            "failed": [False],
            "docs": [hits],
            "scores": [[float(len(hits) - place) for place in range(len(hits))]],
            "rest": [b"{}"],
        }
    )
    rows = [
        {"item": "q", "label": "relevance", "target": doc, "grade": grade, "rank": 0}
        for doc, grade in relevant.items()
    ]
    labels = Labels(pl.DataFrame(rows, schema=LABEL_COLUMNS), frozenset({"relevance"}))
    return Block(Arm("s"), 0, [Item("q", "?")], answers, labels, corpus=Corpus((), units=units))


def score(measure: str, block: Block) -> float:
    return float(parse_measure(measure).values(block)[0])


def test_several_passages_of_one_document_take_one_place() -> None:
    units = {"a#0-4": ("a",), "a#4-8": ("a",), "b#0-3": ("b",)}
    found = block(["a#4-8", "a#0-4", "b#0-3"], units, {"b": 1.0})
    assert score("RR@10", found) == 1 / 2  # a, b
    assert score("P@1", found) == 0.0


def test_a_passage_that_stands_for_three_units_takes_three_places() -> None:
    units = {"large": ("p0", "p1", "p2"), "small": ("p3",)}
    found = block(["large", "small"], units, {"p3": 1.0})
    assert score("RR@10", found) == 1 / 4
    assert score("R@3", found) == 0.0
    assert score("R@4", found) == 1.0
    assert score("RR@10", block(["large"], units, {"p1": 1.0})) == 1 / 2  # they stand in their order


def test_a_hit_that_stands_for_nothing_takes_a_place_of_its_own() -> None:
    found = block(["lost", "a#0-4"], {"lost": (), "a#0-4": ("a",)}, {"a": 1.0})
    assert score("RR@10", found) == 1 / 2


def test_a_mark_on_a_passage_is_one_on_what_it_counts_as() -> None:
    units = {"a#0-4": ("a",), "a#4-8": ("a",), "b#0-3": ("b",)}
    found = block(["a#0-4", "b#0-3"], units, {"a#4-8": 1.0, "b#0-3": 0.0})
    assert score("RR@10", found) == 1.0
    assert score("R@10", found) == 1.0
    assert score("Judged@10", found) == 1.0
