"""Routing measures on one small tree, by hand; and what has no value."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Measure
from assay.core.records import Arm, Edge, Item, Node, Passage, Response, Step, Structure
from assay.core.registry import Registry
from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.gate import GateFile
from assay.gates.grammar import parse_clause
from assay.kinds.hierarchy.measures.routing import (
    ChildRecall,
    RoutingError,
    RoutingSurvival,
    StrictRoutingError,
)
from assay.kinds.hierarchy.measures.tree import NodeError, node_errors
from assay.measures.parse import parse_measure
from assay.measures.score import score_blocks
from assay.stats.rows import Rows
from walked_block import block_of, scored

REGISTRY = Registry()

# L2:1 hangs below two branches, and c below two leaves:
#   L1:0 - L2:0 - a b      L1:1 - L2:1 - c      L1:2 - L2:3 - e
#        - L2:1 - c             - L2:2 - c d
BELOW = {
    "root": ["L1:0", "L1:1", "L1:2"],
    "L1:0": ["L2:0", "L2:1"],
    "L1:1": ["L2:1", "L2:2"],
    "L1:2": ["L2:3"],
    "L2:0": ["a", "b"],
    "L2:1": ["c"],
    "L2:2": ["c", "d"],
    "L2:3": ["e"],
}


def tree(below: dict[str, list[str]]) -> Structure:
    """A structure from what lies below each node; what is neither root nor L… is a passage."""
    names = dict.fromkeys(["root", *(child for children in below.values() for child in children)])
    nodes = [
        Node("root", 0, "root")
        if name == "root"
        else Node(name, int(name[1]), "branch")
        if ":" in name
        else Node(name, role="passage", doc_id=name)
        for name in names
    ]
    return Structure(nodes, [Edge(parent, child) for parent, each in below.items() for child in each])


def item(*units: str, item_id: str = "q") -> Item:
    """An item with evidence in passages; "c|d" is one unit that two of them say."""
    evidence = []
    for unit in units:
        first, *also = ({"doc_id": doc_id} for doc_id in unit.split("|"))
        evidence.append({**first, "also": also})
    return Item(item_id, "where?", gold={"evidence": evidence})


def steps(source: str, **children: str) -> list[Step]:
    """The candidates below a node: L1_0="first rerank score *", with "-" for none and a star where selected.

    A fourth word other than a star is why it was not selected.
    """
    found = []
    for child, text in children.items():
        *values, end = text.split()
        named = zip(("first", "rerank", "score"), values, strict=True)
        scores = {stage: float(value) for stage, value in named if value != "-"}
        stop = None if end == "*" else end
        name = child.replace("_", ":")
        found.append(Step("route", int(name[1]), name, source, scores, end == "*", stop=stop))
    return found


# The beam keeps L1:0 and L1:2, and below them L2:0 and L2:3.
WAY = [
    *steps("root", L1_0=".5 .9 .9 *", L1_1=".6 .8 .8 beam", L1_2=".7 .2 .2 *"),
    *steps("L1:0", L2_0=".4 - .4 *", L2_1=".3 - .3 cut"),
    *steps("L1:2", L2_3=".6 - .6 *"),
]


def block(
    items: Sequence[Item], answers: Sequence[Response | None], structure: Structure | None = None
) -> Block:
    return dataclasses.replace(block_of(items, answers), structure=structure or tree(BELOW))


def value(measure: Measure | str, *units: str, way: list[Step] | None = None) -> float | None:
    """The value of one measure on an item with this evidence; None where there is none."""
    made = parse_measure(measure, REGISTRY) if isinstance(measure, str) else measure
    return scored(made, block([item(*units)], [Response(trace=WAY if way is None else way)]))[0][0]


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        # evidence        eps@L1, all@L1, eps@L2, all@L2
        (["a"], (0, 0, 0, 0)),
        (["d"], (1, 1, 1, 1)),  # L1:1 alone leads to d: lost at L1, and so at L2
        (["c"], (0, 0, 1, 1)),  # L1:0 leads to c over L2:1, which is cut
        (["a", "d"], (0, 1, 0, 1)),
        (["a", "c"], (0, 0, 0, 1)),
        (["a", "e"], (0, 0, 0, 0)),
        (["a", "d|e"], (0, 0, 0, 0)),  # e says the same as d
        (["a", "nowhere"], (0, 1, 0, 1)),  # what the tree does not hold is not kept
    ],
)
def test_eps(units: list[str], expected: tuple[float, ...]) -> None:
    names = ["eps@L1", "eps(gold=all)@L1", "eps@L2", "eps(gold=all)@L2"]
    assert tuple(value(name, *units) for name in names) == expected


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        (
            ["d"],
            (1 / 3, 1 / 2),
        ),  # L1: C(3 - 1, 2) / C(3, 2) = 1/3 of the pairs miss it; L2: C(3, 2) / C(4, 2)
        (["c"], (0, 1 / 6)),  # two of three branches are right, two are kept; L2: C(2, 2) / C(4, 2)
        (["a", "e"], (0, 1 / 6)),
    ],
)
def test_eps_by_chance(units: list[str], expected: tuple[float, ...]) -> None:
    found = tuple(value(f"eps_chance@{level}", *units) for level in ("L1", "L2"))
    assert found == pytest.approx(expected)


def test_a_child_of_two_parents_is_kept_where_either_kept_it() -> None:
    way = [
        *steps("root", L1_0=".5 - .5 *", L1_1=".4 - .4 *", L1_2=".1 - .1 beam"),
        *steps("L1:0", L2_0=".4 - .4 *", L2_1=".3 - .3 cut"),
        *steps("L1:1", L2_1=".6 - .6 *", L2_2=".1 - .1 expand"),
    ]
    assert value("eps@L2", "c", way=way) == 0
    # L2:1 and L2:2 lead to c; L1:1 reranked both, and cut neither
    assert value(ChildRecall("L2"), "c", way=way) == 1
    # every expanded node kept a child that leads to c, or L1:0 did not: it kept L2:0 alone
    assert value(StrictRoutingError("L2"), "c", way=way) == 1
    assert value(StrictRoutingError("L2"), "a", "c", way=way) == 0


def test_eps_strict_asks_every_expanded_node() -> None:
    assert value(StrictRoutingError("L1"), "a") == 0
    assert value(StrictRoutingError("L1"), "d") == 1
    # L1:2 was expanded and cannot keep a way to a; eps is 0 there
    assert value(StrictRoutingError("L2"), "a") == 1
    assert value(StrictRoutingError("L2"), "a", "e") == 0
    # nothing was expanded below the root
    assert value(StrictRoutingError("L2"), "a", way=WAY[:3]) == 1
    assert value(RoutingError("L2"), "a", way=WAY[:3]) == 1


def test_child_recall_before_the_rerank() -> None:
    # correct for a and d: L1:0 (third by "first") and L1:1 (second)
    assert [value(f"ChildRecall(m={m})@L1", "a", "d") for m in (1, 2, 3)] == [0, 1 / 2, 1]
    assert value("ChildRecall@L1", "a", "d") == 1  # the system's own cut left all three
    # correct below the expanded nodes for a and c: L2:0, and L2:1, which was cut; L1:1 was not expanded
    assert value("ChildRecall@L2", "a", "c") == 1 / 2
    # each parent has its own first: L2:0 of L1:0, L2:3 of L1:2
    assert value("ChildRecall(m=1)@L2", "a", "e") == 1
    assert value("ChildRecall@L2", "d") is None  # its parent was lost above


def test_child_recall_breaks_ties_by_the_order_of_the_tree_and_counts_what_was_not_logged() -> None:
    way = steps("root", L1_2=".5 - .5 *", L1_1=".5 - .5 beam")  # L1:0 is not told of
    assert value("ChildRecall(m=1)@L1", "d", way=way) == 1  # L1:1 stands before L1:2
    assert value("ChildRecall(m=1)@L1", "e", way=way) == 0
    assert value("ChildRecall@L1", "a", "d", way=way) == 1 / 2
    # without a "first" score, the one that decided
    assert value("ChildRecall(m=1)@L1", "e", way=steps("root", L1_1="- - .1 *", L1_2="- - .2 *")) == 1


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        (["a"], 1.0),
        (["d"], 0.0),
        # L1: of L1:0 and L1:1 one is kept, 1/2; L2: below L1:0 of L2:0 and L2:1 one, 1/2
        (["a", "c"], 1 / 4),
        (["c"], 0.0),  # 1/2, then L2:1 is lost
        (["a", "e"], 1.0),
        (["a", "d"], 1 / 2),  # L1:0 of L1:0 and L1:1; L2:2 is not below a node that was kept
    ],
)
def test_survival(units: list[str], expected: float) -> None:
    assert value("Survival", *units) == expected


def test_margin() -> None:
    assert value("Margin@L1", "a") == pytest.approx(0.9 - 0.8)  # by the rerank
    assert value("Margin@L1", "d") == pytest.approx(0.8 - 0.9)
    assert value("Margin(stage=first)@L1", "a") == pytest.approx(0.5 - 0.7)
    assert value("Margin@L2", "a") == pytest.approx(0.4 - 0.6)  # nothing was reranked there
    assert value("Margin@L1", "a", "d", "e") is None  # every branch is right
    assert value("Margin@L2", "d") is None  # none is
    assert value("Margin(stage=nosuch)@L1", "a") is None


@pytest.mark.parametrize("text", ["eps@L1", "eps_strict@L1", "Survival", "ChildRecall@L1", "Margin@L1"])
def test_where_there_is_no_value(text: str) -> None:
    measure = parse_measure(text, REGISTRY)
    elsewhere = [Step("visited", 3, "passages", scores={"nodes": 5, "of": 5})]
    items = [item(item_id="none"), item("nowhere", item_id="outside")]
    items += [item("a", item_id=name) for name in ("unrouted", "silent", "pending")]
    answers = [Response(trace=WAY), Response(trace=WAY), Response(trace=elsewhere), Response(), None]
    worst = {"eps@L1": 1.0, "eps_strict@L1": 1.0, "Margin@L1": None}.get(text, 0.0)
    not_applicable = (None, "not_applicable")
    expected = [not_applicable] * 3 + [(worst, "missing"), (None, "pending")]
    assert scored(measure, block(items, answers)) == expected
    # no structure, no tree; a system that never gives a trace is not measured by one
    bare = block_of(items, answers)
    assert {status for _, status in scored(measure, bare)} == {"not_applicable"}
    flat = block_of(items, answers, gives=frozenset({"hits"}))
    assert {status for _, status in scored(measure, flat)} == {"not_applicable"}


@pytest.mark.parametrize("text", ["eps@L3", "eps_strict@L3", "ChildRecall@L3", "Margin@L3"])
def test_a_level_that_the_tree_does_not_have(text: str) -> None:
    found = scored(
        parse_measure(text, REGISTRY),
        block([item("a"), item("b", item_id="p")], [Response(trace=WAY), Response()]),
    )
    assert found == [(None, "not_applicable")] * 2


def test_trees_of_uneven_depth_and_orphans() -> None:
    below = {**BELOW, "L1:2": ["L2:3", "f"], "L2:9": ["g"]}
    answers = [Response(trace=WAY)] * 3
    uneven = block(
        [item("f", item_id="1"), item("g", item_id="2"), item("f", "c", item_id="3")], answers, tree(below)
    )
    # f hangs below L1:2, so no choice at L2 can lose it; nothing leads to g
    assert scored(RoutingError("L2"), uneven) == [(None, "not_applicable"), (1.0, "scored"), (1.0, "scored")]
    assert [found for found, _ in scored(RoutingSurvival(), uneven)] == [1.0, 0.0, 0.0]
    # only c, which was cut, has to do with L2; at L1 it is kept over L1:0, as f is over L1:2
    assert scored(RoutingError("L1", gold="all"), uneven)[2] == (0.0, "scored")


def test_items_with_a_scope_have_a_tree_of_their_own() -> None:
    own = Item("q", "where?", gold={"evidence": [{"doc_id": "z"}]}, scope=["z"])
    small = tree({"root": ["L1:0", "L1:1"], "L1:0": ["z"], "L1:1": ["y"]})
    scoped = dataclasses.replace(
        block_of([own], [Response(trace=steps("root", L1_0="- - 1 *", L1_1="- - 0 beam"))]),
        structures={"q": small},
    )
    assert scored(RoutingError("L1"), scoped) == [(0.0, "scored")]
    assert scored(RoutingError("L2"), scoped) == [(None, "not_applicable")]


def test_gold_from_before_the_corpus_was_cut_again() -> None:
    cut = Corpus([Passage("a", "?")], units={"a": ["old"], "d": ["old", "other"]})
    made = dataclasses.replace(
        block_of([item("old")], [Response(trace=WAY)], corpus=cut), structure=tree(BELOW)
    )
    assert scored(RoutingError("L1"), made) == [(0.0, "scored")]  # a stands for it, and L1:0 was kept


def test_the_error_of_those_still_alive_is_an_expression() -> None:
    units = [["a"], ["c"], ["d"], ["e"], ["c"]]
    items = [item(*each, item_id=f"i{number}") for number, each in enumerate(units)]
    here = dataclasses.replace(block(items, [Response(trace=WAY)] * 5), arm=Arm("s"))
    scores = score_blocks([RoutingError("L1"), RoutingError("L2")], [here])
    evaluator = Evaluator(Rows(scores, items), REGISTRY, resamples=200, systems=["s"])
    text = "1 - (1 - eps@L2(s)) / (1 - eps@L1(s)) <= 0.6 on estimate"
    found: Any = decide_clause(parse_clause(text), GateFile(), evaluator)
    # d is lost at L1; of the four that are left, both c are lost at L2
    assert found.left == pytest.approx(2 / 4)
    assert found.holds


def test_node_errors() -> None:
    units = [["a"], ["c"], ["d"], ["nowhere"], ["e"]]
    items = [item(*each, item_id=f"i{number}") for number, each in enumerate(units)]
    answers = [Response(trace=WAY)] * 4 + [Response()]
    assert node_errors(block(items, answers)) == {
        "root": NodeError(3, 1),  # a, c and d; d's branch was not kept
        "L1:0": NodeError(2, 1),  # a and c; L2:1 was not kept
    }


@pytest.mark.parametrize("text", ["eps@1", "eps@L0", "eps@level", "ChildRecall(m=0)@L1", "eps(gold=most)@L1"])
def test_what_cannot_be_meant(text: str) -> None:
    with pytest.raises(Exception, match=r"not a level|at least 1|most") as caught:
        parse_measure(text, REGISTRY)
    assert isinstance(caught.value, UsageError) or "gold" in str(caught.value)


def test_names() -> None:
    for text in (
        "eps@L1",
        "eps(gold='all')@L2",
        "ChildRecall(m=3)@L1",
        "Survival",
        "Margin(stage='first')@L3",
    ):
        assert parse_measure(text, REGISTRY).name == text


def test_evidence_that_names_no_passage_is_an_error() -> None:
    broken = [Item(f"q{n}", "?", gold={"evidence": [{"source": "s"}]}) for n in range(2)]
    with pytest.raises(DataError, match=r"(?s)'q0'.*doc_id.*'q1'"):
        scored(RoutingError("L1"), block(broken, [Response(trace=WAY)] * 2))
