"""A dataset cut anew: gold stays, hits count as what they stand for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.block import LABEL_COLUMNS, Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Arm, Document, Item, Passage, Span
from assay.measures.parse import parse_measure
from assay.retrieval.chunk import rechunk


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
