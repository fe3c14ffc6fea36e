"""Routes, flags and intents: hand-made answers, each right or wrong for one reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from assay.core.block import STATUSES, Block, Labels, View
from assay.core.dataset import Corpus
from assay.core.errors import UsageError
from assay.core.protocols import Measure
from assay.core.records import Arm, Fault, Hit, Item, Judgment, Passage, Response
from assay.judges.labels import resolve
from assay.kinds.search.measures import Flagged, IntentMet, Routed
from assay.measures.parse import parse_measure
from assay.measures.score import score_block

CORPUS = Corpus([Passage("p", "of peace"), Passage("t", "sit down, and count")])
GIVES = frozenset({"hits", "texts", "route", "flags"})


def item(name: str, expects: str | None, **gold: Any) -> Item:
    return Item(name, "a query", gold=gold, expects=expects)


def block_of(
    items: Sequence[Item], responses: Sequence[Response | None], judgments: Sequence[Judgment] = ()
) -> Block:
    rows = [
        {
            "failed": None if each is None else each.error is not None,
            "docs": None if each is None else [hit.doc_id for hit in each.hits],
            "scores": None if each is None else [hit.score for hit in each.hits],
            "rest": None if each is None else msgspec.json.encode(each).decode(),
        }
        for each in responses
    ]
    schema: dict[str, Any] = {
        "failed": pl.Boolean,
        "docs": pl.List(pl.String),
        "scores": pl.List(pl.Float64),
        "rest": pl.String,
    }
    labels = resolve(judgments, ["anchors"], {"forbidden"}) if judgments else Labels.none()
    answers = pl.DataFrame(rows, schema)
    return Block(Arm("server"), 0, items, answers, labels, judgments, gives=GIVES, corpus=CORPUS)


def scored(measure: Measure, block: Block) -> list[tuple[float | None, str]]:
    values, status = score_block(measure, block)
    return [
        (None if np.isnan(value) else float(value), STATUSES[code].value)
        for value, code in zip(values, status, strict=True)
    ]


HITS = [Hit("p", 0.6), Hit("t", 0.2)]
TECHNIQUE = [{"book": "the-still-oar", "chapter": None, "text": None}]


def test_a_route_is_right_or_wrong_wherever_an_item_names_one() -> None:
    items = [
        item("b1", "route", route="practice_bridge"),
        item("b2", "route", route="practice_bridge"),
        item("s", "route", route="search"),
        item("d", None, route="search"),
        item("e", None, route="search"),
        item("n", None),
    ]
    took = ["practice_bridge", "search", "search", "search", "practice_bridge", "search"]
    block = block_of(items, [Response(hits=HITS, route=route) for route in took])
    assert scored(Routed(), block) == [
        (1.0, "scored"),
        (0.0, "scored"),
        (1.0, "scored"),
        (1.0, "scored"),
        (0.0, "scored"),  # handed to a teacher instead of being answered
        (None, "not_applicable"),
    ]


def test_text_that_must_be_withheld_is_wrong_whatever_the_route() -> None:
    items = [item(name, "route", route="practice_bridge", forbidden=TECHNIQUE) for name in ("b1", "b2")]
    responses = [
        Response(hits=HITS, route="practice_bridge"),
        Response(hits=HITS[:1], route="practice_bridge"),
    ]
    technique = [Judgment(name, "forbidden", 1.0, "anchors", target="t") for name in ("b1", "b2")]
    assert scored(Routed(), block_of(items, responses, technique)) == [(0.0, "scored"), (1.0, "scored")]


@pytest.mark.parametrize(
    ("hit", "value"),
    [
        (Hit("x", 0.9), None),
        (Hit("x", 0.9, text=""), None),
        (Hit("x", 0.9, text=" \n"), None),
        (Hit("x", 0.9, text="the river at dusk"), 1.0),
        (Hit("p", 0.9), 1.0),  # a passage of ours, whose text is known
        (Hit("t", 0.9), 0.0),
        (Hit("seen", 0.9), 1.0),  # somebody looked it up, and it is harmless
    ],
)
def test_what_cannot_be_read_is_not_known_to_be_withheld(hit: Hit, value: float | None) -> None:
    withholding = item("b", "route", route="practice_bridge", forbidden=TECHNIQUE)
    said = [
        Judgment("b", "forbidden", 1.0, "anchors", target="t"),
        Judgment("b", "forbidden", 0.0, "anchors", target="seen"),
    ]
    right, wrong = (Response(hits=[hit], route=route) for route in ("practice_bridge", "search"))
    status = "unjudged" if value is None else "scored"
    assert scored(Routed(), block_of([withholding], [right], said)) == [(value, status)]
    assert scored(Routed(), block_of([withholding], [wrong], said)) == [(0.0, "scored")]
    free = item("b", "route", route="practice_bridge")
    assert scored(Routed(), block_of([free], [right])) == [(1.0, "scored")]


def test_text_that_no_judge_looks_for_is_not_known_to_be_withheld() -> None:
    withholding = item("b", "route", route="practice_bridge", forbidden=TECHNIQUE)
    empty = Response(route="practice_bridge")
    shown = Response(hits=HITS, route="practice_bridge")
    assert scored(Routed(), block_of([withholding], [empty])) == [(1.0, "scored")]
    assert scored(Routed(), block_of([withholding], [shown])) == [(None, "unjudged")]


def test_a_route_rests_on_what_is_forbidden_and_not_on_what_is_relevant() -> None:
    # so a figure is no lower bound where only some of what is relevant is known
    assert Routed().seen_in == View(label="forbidden")


def test_off_topic_results_count_above_the_declared_score() -> None:
    items = [item(str(place), "nothing", route="no_results") for place in range(5)]
    responses = [
        Response(route="no_results"),
        Response(hits=[Hit("p", 0.35)], route="search"),
        Response(hits=[Hit("p", 0.36)], route="search"),
        Response(hits=[Hit("p", 0.9)], route="no_results"),  # it says so, and shows something all the same
        Response(),  # it says nothing, and shows nothing
    ]
    block = block_of(items, responses)
    assert [value for value, _ in scored(Routed(above=0.35), block)] == [1.0, 1.0, 0.0, 1.0, 1.0]
    assert [value for value, _ in scored(Routed(), block)] == [1.0, 0.0, 0.0, 1.0, 1.0]


def test_a_failure_is_no_wrong_route_and_no_missing_flag() -> None:
    items = [item(str(n), "route", route="search", flags={"safe": True}) for n in range(3)]
    responses = [Response(error=Fault("HTTP 500", "broken")), None, Response(hits=HITS)]
    block = block_of(items, responses)
    # the third says neither which route it took nor any flag
    assert scored(Routed(), block) == [(None, "failed"), (None, "pending"), (0.0, "scored")]
    assert scored(Flagged(), block) == [(None, "failed"), (None, "pending"), (0.0, "scored")]


def test_every_expected_flag_must_be_set() -> None:
    wanted: dict[str, bool | str] = {"safety_interstitial": True, "kind": "console"}
    items = [item(str(n), "intent", flags=wanted) for n in range(3)] + [item("3", "intent", flags={})]
    given: list[dict[str, bool | str]] = [wanted, {"safety_interstitial": True}, {"kind": "console"}, {}]
    block = block_of(items, [Response(hits=HITS, flags=flags) for flags in given])
    assert [value for value, _ in scored(Flagged(), block)] == [1.0, 0.0, 0.0, None]
    unset = block_of([item("f", "intent", flags={"adult": False})], [Response(hits=HITS)])
    assert [value for value, _ in scored(Flagged(), unset)] == [1.0]  # what is not there is not set
    one = parse_measure("Flagged(flag='safety_interstitial')")
    assert [value for value, _ in scored(one, block)] == [1.0, 1.0, 0.0, None]
    assert one.name == "Flagged(flag='safety_interstitial')"


def test_intent_is_met_by_a_hit_within_the_cut_off() -> None:
    items = [item("n1", "intent"), item("n2", "intent"), item("d", None)]
    block = block_of(items, [Response(hits=HITS)] * 3)
    said = [
        Judgment("n1", "intent", 1.0, "anchors", target="t"),
        Judgment("n1", "intent", 0.0, "anchors", target="p"),
        Judgment("n2", "intent", 0.0, "anchors", target="p"),
    ]
    judged = dataclasses.replace(block, labels=resolve(said, ["anchors"], {"intent"}))
    assert [value for value, _ in scored(IntentMet(2), judged)] == [1.0, 0.0, None]
    assert [value for value, _ in scored(IntentMet(1), judged)] == [0.0, 0.0, None]
    # in an open world a hit that nobody judged leaves the item open
    opened = dataclasses.replace(block, labels=resolve(said, ["anchors"], set()))
    assert [status for _, status in scored(IntentMet(2), opened)] == ["scored", "unjudged", "not_applicable"]


def test_ranking_measures_do_not_apply_where_no_passage_is_expected() -> None:
    items = [
        item("r", "route", route="search"),
        item("i", "intent"),
        item("d", None, anchors=[{"text": "x"}]),
    ]
    block = block_of(items, [Response(hits=HITS)] * 3)
    judged = dataclasses.replace(block, labels=Labels(block.labels.frame, frozenset({"relevance"})))
    # the last one's anchor is in no passage that came back: a miss, and not "does not apply"
    assert scored(parse_measure("Success(rel=2)@3"), judged) == [
        (None, "not_applicable"),
        (None, "not_applicable"),
        (0.0, "scored"),
    ]


def test_a_cut_off_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        IntentMet(0)
