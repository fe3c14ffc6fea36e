"""Calling queries impossible: what was said, what is true, and what it is worth, each case by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.errors import AssayError, UsageError
from assay.core.records import Context, Fault, Item, Passage, Piece, Response, Span
from assay.kinds.hierarchy.measures.budget import ImpossibleCalls, ImpossibleItems, Utility
from assay.measures.parse import parse_measure
from walked_block import block_of, scored

TEXT = "Leave is 40 days."
CORPUS = Corpus([Passage("leave", TEXT)])
EVIDENCE = [{"doc_id": "leave", "source": "leave", "start": 0, "end": 17, "text": TEXT}]


def item(item_id: str, impossible: str | None = None, labelled: bool = True) -> Item:
    gold: dict[str, Any] = {} if impossible == "out_of_kb" else {"evidence": EVIDENCE}
    gold |= {} if impossible is None else {"impossible": impossible}
    tags = {"feasible": ["no" if impossible else "yes"]} if labelled else {}
    expects = "nothing" if impossible == "out_of_kb" else None
    return Item(item_id, "how long?", tags=tags, gold=gold, expects=expects)


def answer(said: bool | str = False, right: bool = True, budget: int | None = 400) -> Response:
    pieces = [Piece("leave", TEXT if right else TEXT[:5], Span(0, 17 if right else 5))]
    flags: dict[str, bool | str] = {"impossible": said} if said else {}
    return Response(contexts=[Context(budget, pieces, 5, "words")], flags=flags)


def block(*cases: tuple[Item, Response | None]) -> Block:
    return block_of([each for each, _ in cases], [told for _, told in cases], corpus=CORPUS)


SAID: list[bool | str] = ["aggregation", "out_of_kb", True, False]


def test_what_was_said_by_reason() -> None:
    asked = block(*((item(str(said)), answer(said)) for said in SAID))
    by_kind = {
        "CallsImpossible": [1, 1, 1, 0],
        "CallsImpossible(kind=any)": [1, 1, 1, 0],
        "CallsImpossible(kind=aggregation)": [1, 0, 0, 0],
        "CallsImpossible(kind=out_of_kb)": [0, 1, 0, 0],
    }
    for text, values in by_kind.items():
        assert scored(parse_measure(text), asked) == [(value, "scored") for value in values]


def test_the_truth_by_reason_does_not_depend_on_calls() -> None:
    truths = [item("a", "aggregation"), item("b", "out_of_kb"), item("c")]
    for said in SAID:
        asked = block(*((each, answer(said)) for each in truths))
        assert [value for value, _ in scored(ImpossibleItems(), asked)] == [1, 1, 0]
        assert [value for value, _ in scored(ImpossibleItems("aggregation"), asked)] == [1, 0, 0]
        assert [value for value, _ in scored(ImpossibleItems("out_of_kb"), asked)] == [0, 1, 0]


def test_statuses() -> None:
    asked = block(
        (item("unlabelled", labelled=False), answer(True)),
        (item("failed"), Response(error=Fault("timeout", "too slow"))),
        (item("pending"), None),
        (item("nothing at all", "out_of_kb"), Response()),
    )
    assert scored(ImpossibleCalls(), asked) == [
        (None, "not_applicable"),
        (None, "failed"),
        (None, "pending"),
        (0.0, "scored"),  # an empty answer does not say why
    ]
    assert [status for _, status in scored(ImpossibleItems(), asked)] == [
        "not_applicable",
        "failed",
        "pending",
        "scored",
    ]
    # a system that declares no flags never says so, and that is an answer
    without = dataclasses.replace(asked, gives=frozenset({"hits", "contexts"}))
    assert scored(ImpossibleCalls(), without)[3] == (0.0, "scored")


OUTCOMES = [
    (item("right"), answer()),
    (item("wrong"), answer(right=False)),
    (item("refused"), answer("aggregation")),
    (item("spared a", "aggregation"), answer("out_of_kb")),
    (item("spared b", "out_of_kb"), answer(True)),
    (item("attempted a", "aggregation"), answer()),
    (item("attempted b", "out_of_kb"), answer()),
]


def test_utility_by_outcome() -> None:
    asked = block(*OUTCOMES)
    assert scored(Utility(cutoff=400), asked) == [
        (worth, "scored") for worth in (1.0, 0.0, -1.0, 1.0, 1.0, -2.0, -2.0)
    ]
    costs = parse_measure("Utility(right=2, wrong=-0.5, spared=0.5, refused=-1, attempted=-3)@400")
    assert [value for value, _ in scored(costs, asked)] == [2, -0.5, -1, 0.5, 0.5, -3, -3]
    assert (costs.low, costs.high) == (-3, 2)
    assert (Utility().low, Utility().high) == (-2, 1)


def test_utility_where_something_is_not_there() -> None:
    asked = block(
        (item("no context"), Response()),  # it was attempted, and shows nothing
        (item("refused without"), Response(flags={"impossible": True})),
        (item("spared without", "aggregation"), Response(flags={"impossible": True})),
        (item("attempted without", "aggregation"), Response()),
        (item("other budget"), answer(budget=200)),
        (item("failed"), Response(error=Fault("timeout", "too slow"))),
        (item("pending"), None),
        (item("unlabelled", labelled=False), answer()),
    )
    assert scored(Utility(cutoff=400), asked) == [
        (0.0, "scored"),
        (-1.0, "scored"),
        (1.0, "scored"),
        (-2.0, "scored"),
        (None, "not_applicable"),
        (None, "failed"),
        (None, "pending"),
        (None, "not_applicable"),
    ]


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ("attempted=-1", "attempted must be below refused"),
        ("refused=-3", "attempted must be below refused"),
        ("refused=1", "refused must be below right"),
        ("spared=-2", "attempted must be below spared"),
        ("wrong=1.5", "wrong must not be above right"),
        ("right=nan", "finite"),
    ],
)
def test_costs_that_reward_the_wrong_thing_are_refused(params: str, told: str) -> None:
    with pytest.raises(AssayError, match=told):
        parse_measure(f"Utility({params})@400")


def test_a_budget_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1 token"):
        Utility(cutoff=0)


@pytest.mark.parametrize(
    "text",
    [
        "CallsImpossible",
        "CallsImpossible(kind='aggregation')",
        "IsImpossible(kind='out_of_kb')",
        "Utility@400",
        "Utility@inf",
        "Utility(right=2.0, attempted=-4.0)@800",
    ],
)
def test_a_name_prints_and_parses_back(text: str) -> None:
    assert parse_measure(text).name == text


def test_a_reason_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AssayError, match="aggregation"):
        parse_measure("CallsImpossible(kind=agregation)")
