"""Evidence among the nodes returned: minimum matches, fractions, and what the first k means."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.dataset import Corpus
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Measure
from assay.core.records import Fault, Hit, Item, Passage, Response, Step
from assay.kinds.memory.measures.expectations import EvidenceHit, EvidenceRecall
from assay.kinds.memory.walk import Over
from assay.measures.parse import parse_measure
from assay.measures.ranking import Complete, R, Success
from assay.measures.score import score_block
from walked_block import CLOSED, block_of, hits, item, path, scored, value, walked

# paths a-b and c-d; the ranking holds d first and e, on no path, second
TRACE = [*path("a", "next_unit>b"), *path("c", "next_unit>b", "next_unit>d")]
FOUND = Response(hits("d", "e", "a", "b", "c"), trace=TRACE)


@pytest.mark.parametrize(
    ("over", "cutoff", "recall"),
    [
        ("paths", None, 2 / 4),  # a b c d hold b and d of b, d, e and x
        ("paths", 3, 1 / 4),  # a b c hold b
        ("best_path", None, 1 / 4),  # a b hold b
        ("best_path", 1, 0.0),  # a
        ("hits", None, 3 / 4),  # d e a b c
        ("hits", 2, 2 / 4),  # d e
    ],
)
def test_what_the_first_k_means_is_named(over: Over, cutoff: int | None, recall: float) -> None:
    case = item("q", "b", "d", "e", "x")
    assert value(EvidenceRecall(over, cutoff), case, FOUND) == recall
    assert value(EvidenceHit(over, cutoff), case, FOUND) == float(recall > 0)


@pytest.mark.parametrize(("least", "hit"), [(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.0)])
def test_the_item_says_how_much_evidence_is_enough(least: int, hit: float) -> None:
    # paths hold b and d, of the three that are evidence
    case = item("q", "b", "d", "x", minimum_evidence_matches=least)
    assert value(EvidenceHit(), case, FOUND) == hit


def test_where_people_struck_evidence_out_what_is_left_is_enough() -> None:
    case = item("q", "b", "x", minimum_evidence_matches=2)
    struck = msgspec.structs.replace(case, gold=case.gold | {"relevant": {"b": 1.0, "x": 0.0}})
    assert value(EvidenceHit(), case, FOUND) == 0.0
    assert value(EvidenceHit(), struck, FOUND) == 1.0
    none = msgspec.structs.replace(case, gold=case.gold | {"relevant": {"b": 0.0, "x": 0.0}})
    beside = block_of([none, item("other", "b")], [FOUND, FOUND])
    assert scored(EvidenceHit(), beside) == [(0.0, "scored"), (1.0, "scored")]
    assert scored(EvidenceHit(), block_of([none], [FOUND])) == [(None, "not_applicable")]  # none anywhere


def test_a_node_on_two_paths_counts_once() -> None:
    found = walked(*path("a", "x>b"), *path("b", "x>a"), *path("c"))
    assert value(EvidenceRecall(cutoff=3), item("q", "c"), found) == 1.0  # a b c


def test_evidence_is_a_grade_of_1_or_more() -> None:
    case = Item("q", "?", gold={"relevant": {"a": 0.5, "b": 2.0, "z": -1.0}})
    assert value(EvidenceRecall(), case, FOUND) == 1.0  # b of b
    assert value(EvidenceRecall("best_path", 1), case, FOUND) == 0.0


def test_statuses_are_those_of_every_measure() -> None:
    items = [item("none"), item("asked", "a"), item("empty", "a"), item("broke", "a"), item("late", "a")]
    twin = item("twin", unprimed_of="asked")
    answers = [FOUND, FOUND, Response(), Response(error=Fault("timeout", "too long")), None, FOUND]
    told = [
        (None, "not_applicable"),
        (1.0, "scored"),
        (0.0, "missing"),
        (None, "failed"),
        (None, "pending"),
        (None, "not_applicable"),
    ]
    measures: list[Measure] = [EvidenceHit(), EvidenceRecall("best_path"), EvidenceHit("hits")]
    for measure in measures:
        assert scored(measure, block_of([*items, twin], answers)) == told
    silent = block_of([*items, twin], answers, gives=frozenset({"answer"}))
    assert all(scored(each, silent) == [(None, "not_applicable")] * 6 for each in measures)
    flat = block_of([*items, twin], answers, gives=frozenset({"hits"}))
    assert all(scored(each, flat) == told for each in measures)  # a trace is not needed


def test_in_an_open_world_the_nodes_counted_must_be_judged() -> None:
    # e stands second in the ranking, and nobody judged it; on the paths everything is judged
    case = Item("q", "?", gold={"relevant": {"a": 0.0, "b": 1.0, "c": 0.0, "d": 1.0}})
    block = block_of([case, item("twin", unprimed_of="q")], [FOUND, FOUND], closed=frozenset())
    assert scored(EvidenceRecall(), block) == [(1.0, "scored"), (None, "not_applicable")]
    assert scored(EvidenceRecall("hits"), block)[0] == (None, "unjudged")
    assert scored(EvidenceRecall("hits", 1), block)[0] == (1 / 2, "scored")  # d of b and d
    partly = block_of([item("q", "a")], [FOUND], closed=frozenset())
    assert scored(EvidenceHit("best_path"), partly) == [(None, "unjudged")]  # b is not judged
    assert scored(EvidenceHit("best_path", 1), partly) == [(1.0, "scored")]


def test_a_passage_counts_as_the_units_it_holds() -> None:
    corpus = Corpus([Passage("p", "…"), Passage("r", "…")], units={"p": ["u1", "u2"]})
    found = walked(*path("p", "next_unit>r"))
    block = block_of([item("q", "u2", "u3")], [found], corpus=corpus)
    overs: tuple[Over, ...] = ("paths", "best_path", "hits")
    assert [EvidenceRecall(over).values(block)[0] for over in overs] == [0.5] * 3
    assert [EvidenceRecall(over, 1).values(block)[0] for over in overs] == [0.0] * 3  # u1
    shared = dataclasses.replace(corpus, units={"p": ["u1", "u2"], "r": ["u2", "u3"]})
    both = dataclasses.replace(block, corpus=shared)
    assert [EvidenceRecall(over, 3).values(both)[0] for over in overs] == [1.0] * 3  # u1 u2 u3: u2 once


def test_names_print_and_parse() -> None:
    for text in ("EvidenceHit(over=best_path)@3", "EvidenceRecall(over='hits')@10", "EvidenceHit"):
        measure = parse_measure(text)
        assert parse_measure(measure.name) == measure
    assert parse_measure("EvidenceHit(over=best_path)@3") == EvidenceHit("best_path", 3)
    with pytest.raises(UsageError, match="at least 1"):
        EvidenceHit(cutoff=0)


def test_a_minimum_that_is_not_a_number_is_reported_with_its_item() -> None:
    block = block_of([item("c-7", "a", minimum_evidence_matches="all")], [FOUND])
    with pytest.raises(DataError, match=r"'c-7'.*minimum_evidence_matches"):
        score_block(EvidenceHit(), block)


# -------------------------------------------------------------------------------------- oracles

DOCS = st.sampled_from("abcdefgh")
rankings = st.lists(st.dictionaries(DOCS, st.sampled_from([0.0, 1.0, 2.0, 2.5])), min_size=1, max_size=6)
labels = st.dictionaries(DOCS, st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1)


@st.composite
def flat_blocks(draw: st.DrawFn, least: int | None) -> Any:
    """A block of flat results, in a closed or an open world; `least` None: all evidence is asked for."""
    items, responses = [], []
    for number, scores in enumerate(draw(rankings)):
        grades = draw(labels)
        there = sum(grade >= 1 for grade in grades.values())
        gold = {"relevant": grades, "minimum_evidence_matches": there if least is None else least}
        items.append(Item(f"q{number}", "?", gold=gold))
        best = sorted(scores.items(), key=lambda pair: -pair[1])
        responses.append(Response([Hit(doc, score) for doc, score in best]))
    return block_of(items, responses, closed=draw(st.sampled_from([CLOSED, frozenset()])))


def same(one: Measure, other: Measure, block: Any) -> None:
    (values, status), (wanted, wanted_status) = score_block(one, block), score_block(other, block)
    np.testing.assert_array_equal(status, wanted_status)
    np.testing.assert_array_equal(values, wanted)


@settings(max_examples=30)
@given(flat_blocks(1), st.sampled_from([None, 1, 2, 3, 8]))
def test_over_hits_it_is_recall_and_success(block: Any, cutoff: int | None) -> None:
    same(EvidenceRecall("hits", cutoff), R(cutoff), block)
    same(EvidenceHit("hits", cutoff), Success(cutoff), block)


@settings(max_examples=30)
@given(flat_blocks(None), st.sampled_from([None, 1, 2, 3, 8]))
def test_asked_for_everything_it_is_completeness(block: Any, cutoff: int | None) -> None:
    same(EvidenceHit("hits", cutoff), Complete(cutoff), block)


@settings(max_examples=30)
@given(flat_blocks(1), st.sampled_from([None, 1, 2, 3, 8]))
def test_a_flat_result_is_read_hit_by_hit(block: Any, cutoff: int | None) -> None:
    same(EvidenceRecall("paths", cutoff), R(cutoff), block)
    same(EvidenceHit("paths", cutoff), Success(cutoff), block)
    same(EvidenceRecall("best_path"), R(1), block)


# ---------------------------------------------------------------------------------------- speed


def test_two_thousand_traces_of_sixty_steps_are_measured_in_no_time() -> None:
    trace = [Step("path", n % 6, f"n{n}", scores={"score": 1.0}) for n in range(60)]
    response = Response(hits(*(f"n{n}" for n in range(60))), trace=trace)
    items = [item(f"q{n}", "n3", "n40", "z", minimum_evidence_matches=2) for n in range(2000)]
    block = block_of(items, [response] * 2000)
    block.responses, block.gains  # noqa: B018  decoding and ranking are the block's own
    began = time.process_time()
    assert EvidenceHit().values(block).mean() == 1.0
    assert EvidenceRecall("best_path").values(block).mean() == pytest.approx(1 / 3)
    assert time.process_time() - began < 2.0  # 0.25 s on an idle core
