"""Where hits come from: sections, distinct documents, nothing where nothing is right; and people's marks."""

from __future__ import annotations

import msgspec
import polars as pl
import pytest

from assay.core.block import LABEL_COLUMNS, Block, Labels
from assay.core.dataset import Corpus
from assay.core.records import Arm, Hit, Item, Passage, Response, Status
from assay.measures.parse import parse_measure
from assay.measures.score import score_block

SECTIONS = {
    "r1#1": "SYNOPSIS",
    "r1#2": "(a) CAUSE",
    "r1#3": "FIRE",
    "r2#1": "1.2 Cause",
    "r2#2": "FIRE",
    "r3#1": "FIRE",
}
CORPUS = Corpus(
    [Passage(doc, doc, source=doc.partition("#")[0], section=section) for doc, section in SECTIONS.items()]
)
Grades = dict[str, dict[str, float]]


def block(
    items: list[Item], hits: list[list[str]], labels: Grades, marks: dict[str, dict[str, str]] | None = None
) -> Block:
    """Hits ranked as listed; labels of rules, and people's marks under the label review."""
    found = [Response([Hit(doc, 100.0 - rank) for rank, doc in enumerate(docs)]) for docs in hits]
    answers = pl.DataFrame(
        {
            "failed": [False] * len(items),
            "docs": hits,
            "scores": [[hit.score for hit in each.hits] for each in found],
            "rest": [msgspec.json.encode(each) for each in found],
        },
        schema_overrides={"docs": pl.List(pl.String), "scores": pl.List(pl.Float64)},
    )
    rows = [
        {"item": item, "label": "relevance", "target": doc, "grade": grade, "rank": 1}
        for item, by in labels.items()
        for doc, grade in by.items()
    ]
    rows += [
        {"item": item, "label": "review", "target": doc, "category": mark, "rank": 0}
        | {"grade": 0.0 if mark == "FALSE_POSITIVE" else 1.0}
        for item, by in (marks or {}).items()
        for doc, mark in by.items()
    ]
    frame = pl.DataFrame(rows, schema=LABEL_COLUMNS)
    return Block(Arm("s"), 0, items, answers, Labels(frame, frozenset({"relevance"})), corpus=CORPUS)


def score(name: str, block: Block) -> list[tuple[float | None, str]]:
    values, statuses = score_block(parse_measure(name), block)
    return [
        (None if value != value else round(float(value), 6), list(Status)[status].value)  # noqa: PLR0124
        for value, status in zip(values, statuses, strict=True)
    ]


def test_section_accuracy_counts_named_and_universal_sections() -> None:
    gold = {"sections": ["Cause"], "universal": ["Synopsis"]}
    items = [Item("q", "?", gold=gold), Item("p", "?", gold={"sections": ["Cause"]}), Item("o", "?")]
    found = block(items, [["r1#1", "r1#2", "r2#2", "r2#1"], ["r1#1", "r2#1"], ["r1#1"]], {})
    assert score("SectionAccuracy@10", found) == [
        (0.75, "scored"),  # synopsis, cause and cause of four
        (0.5, "scored"),  # without universal sections the synopsis is wrong
        (None, "not_applicable"),
    ]
    assert score("SectionAccuracy@1", found)[1] == (0.0, "scored")


def test_section_accuracy_against_the_items_own_minimum() -> None:
    gold = {"sections": ["Cause"], "declared": {"min_section_accuracy": 0.5}}
    items = [
        Item("q", "?", gold=gold),
        Item("p", "?", gold=gold),
        Item("o", "?", gold={"sections": ["Cause"]}),
    ]
    found = block(items, [["r1#2", "r1#3"], ["r1#3", "r2#2", "r1#2"], ["r1#2"]], {})
    assert score("SectionPass@10", found) == [(1.0, "scored"), (0.0, "scored"), (None, "not_applicable")]


def test_spread_counts_each_document_once_and_no_more_than_was_asked() -> None:
    def item(name: str, least: int) -> Item:
        return Item(name, "?", gold={"declared": {"min_relevant_reports": least}})

    items = [item("q", 2), item("p", 20), item("o", 1), item("n", 0)]
    hits = [["r1#1", "r1#2", "r1#3"], ["r1#1", "r2#1", "r3#1"], ["r1#1", "r2#1"], ["r1#1"]]
    relevant = dict.fromkeys(SECTIONS, 1.0)
    found = block(items, hits, dict.fromkeys("qpon", relevant))
    assert score("Spread@3", found) == [
        (0.5, "scored"),  # three passages of one report, and two reports were asked for
        (1.0, "scored"),  # three reports; twenty cannot stand in three ranks
        (1.0, "scored"),
        (None, "not_applicable"),
    ]


def test_a_negative_item_is_clean_where_nothing_that_must_stay_away_came_back() -> None:
    items = [Item(name, "?", expects="nothing") for name in ("q", "p", "o")] + [Item("n", "?")]
    found = block(items, [["r1#1", "r1#2"], ["r1#1"], [], ["r1#1"]], {"q": {"r1#2": 1.0}, "n": {"r1#1": 1.0}})
    expected = [(0.0, "scored"), (1.0, "scored"), (1.0, "missing"), (None, "not_applicable")]
    assert score("Clean@10", found) == expected
    assert score("Clean@1", found)[0] == (1.0, "scored")
    assert score("RR@10", found)[:3] == [(None, "not_applicable")] * 3


# ------------------------------------------------------------------------ passages and documents


def test_repeated_passages_of_one_document_count_once_by_document() -> None:
    hits = [["r2#2", "r1#1", "r1#2", "r1#3", "r3#1"]]
    labels = {"q": {"r1#1": 1.0, "r1#2": 2.0, "r1#3": 1.0, "r3#1": 1.0}}
    found = block([Item("q", "?")], hits, labels)
    assert score("P@4", found) == [(0.75, "scored")]
    assert score("P(view='document')@4", found) == [(0.5, "scored")]  # r2, r1, r3 and nothing
    assert score("RR(view='document')@10", found) == [(0.5, "scored")]
    assert score("R@2", found) == [(0.25, "scored")]
    assert score("R(view='document')@2", found) == [(0.5, "scored")]  # r1 of r1 and r3
    # grades 0, 2, 1 against the ideal 2, 1: (2/log2 3 + 1/log2 4) / (2 + 1/log2 3)
    assert score("nDCG(view='document')@10", found) == [(0.669672, "scored")]


def test_a_wrong_passage_of_the_right_document_is_wrong() -> None:
    found = block(
        [Item("q", "?"), Item("p", "?")],
        [["r1#1", "r2#1"], ["r1#1", "r1#2"]],
        {"q": {"r1#2": 1.0}, "p": {"r1#2": 1.0}},
    )
    # r1 is relevant by a passage that was not returned for q; for p it was, and r1 stands first
    assert score("RR(view='document')@10", found) == [(0.0, "scored"), (1.0, "scored")]
    assert score("R(view='document')@10", found) == [(0.0, "scored"), (1.0, "scored")]


# --------------------------------------------------------------------------------- people's marks

ASKED = {"review": ["yes"]}


def test_marks_come_before_rules_and_an_unmarked_hit_leaves_the_item_unjudged() -> None:
    items = [Item(name, "?", tags=ASKED) for name in ("q", "p")] + [Item("o", "?", tags={"review": ["no"]})]
    hits = [["r1#1", "r1#2", "r1#3", "r2#1"], ["r1#1", "r2#1"], ["r1#1"]]
    labels = {"q": {"r1#1": 1.0, "r1#2": 1.0}, "p": {"r1#1": 1.0}, "o": {"r1#1": 1.0}}
    marks = {"q": {"r1#2": "FALSE_POSITIVE", "r1#3": "SEMANTIC_MATCH", "r2#1": "FALSE_POSITIVE"}}
    found = block(items, hits, labels, marks)
    no, open_ = (None, "not_applicable"), (None, "unjudged")
    assert score("SemanticPrecision@10", found) == [(0.5, "scored"), open_, no]  # one by rule, one by person
    assert score("SemanticLift@10", found) == [(0.25, "scored"), open_, no]
    assert score("FalsePositiveRate@10", found) == [(0.5, "scored"), open_, no]
    assert score("SemanticPrecision@1", found)[1] == (1.0, "scored")  # the unmarked hit stands below


def test_adjusted_labels_are_marks_first_then_rules() -> None:
    labels = {"q": {"r1#1": 1.0}, "p": {"r1#1": 1.0}}
    marks = {"q": {"r1#1": "FALSE_POSITIVE", "r1#2": "SEMANTIC_MATCH"}}
    items = [Item("q", "?", tags=ASKED), Item("p", "?", tags=ASKED)]
    found = block(items, [["r1#1", "r1#2"], ["r1#1", "r1#2"]], labels, marks)
    assert score("RR@10", found) == [(1.0, "scored"), (1.0, "scored")]
    # p's second hit is neither marked nor matched: with people's marks to come it is unknown, not wrong
    assert score("RR(label='review|relevance')@10", found) == [(0.5, "scored"), (None, "unjudged")]
    assert score("RR(label='review|relevance')@1", found) == [(0.0, "scored"), (1.0, "scored")]


def test_a_mark_counts_as_it_was_made_also_where_a_rule_fires() -> None:
    marks = {"q": {"r1#1": "SEMANTIC_MATCH", "r1#2": "SEMANTIC_MATCH", "r1#3": "KEYWORD_MATCH"}}
    found = block([Item("q", "?", tags=ASKED)], [["r1#1", "r1#2", "r1#3"]], {"q": {"r1#1": 1.0}}, marks)
    assert score("SemanticLift@10", found) == [(0.666667, "scored")]  # SEMANTIC_MATCH / hits: 2 of 3
    assert score("SemanticPrecision@10", found) == [(1.0, "scored")]
    assert score("FalsePositiveRate@10", found) == [(0.0, "scored")]


def test_where_nothing_is_right_nobody_is_asked() -> None:
    found = block([Item("q", "?", tags=ASKED, expects="nothing")], [["r1#1"]], {"q": {"r1#1": 1.0}})
    assert score("SemanticPrecision@10", found) == [(None, "not_applicable")]


@pytest.mark.parametrize("name", ["SemanticLift@0", "Spread@0", "nDCG(view='book')@10", "Clean(k=3)"])
def test_measures_that_make_no_sense_are_refused(name: str) -> None:
    from assay.core.errors import AssayError

    with pytest.raises(AssayError):
        parse_measure(name)
