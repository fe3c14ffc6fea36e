"""Reading a trace: paths, spreads, tensions, what edges were worth, and what a case expects of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.core.records import Hit, Response, Step
from assay.kinds.memory.walk import (
    ExpectedStep,
    ExpectedTraceStep,
    MatchMode,
    WalkExpectation,
    change_without,
    follows,
    paths_of,
    reached_nodes,
    returned_nodes,
    spreads_in,
    tension_pairs,
    walk_expectations,
)
from walked_block import hits, item, path, seed, spread, walked

TWO = walked(
    *path("a", "next_unit>b"),
    *path("c", "depends_on>b", "next_unit>d"),
    seed("a"),
    spread(1, "a", "b", "next_unit"),
    spread(2, "b", "e", "next_unit", "below_threshold"),
    seed("c"),
    spread(1, "c", "b", "depends_on"),
    Step("tension", 0, "b", "a", edge="contradicts"),
    Step("removed", 0, "b", edge="path", scores={"change": 0.5, "edges": 1}),
    Step("removed", 0, "b", edge="random", scores={"change": 0.125, "edges": 1}),
)
FLAT = Response([Hit("y", 2.0), Hit("a", 1.0), Hit("z", 1.0)])


def targets(parts: list[list[Step]]) -> list[list[str]]:
    return [[step.target for step in part] for part in parts]


def test_a_step_of_depth_0_begins_a_path_and_a_seed_a_spread() -> None:
    assert targets(paths_of(TWO)) == [["a", "b"], ["c", "b", "d"]]
    assert targets(spreads_in(TWO.trace)) == [["a", "b", "e"], ["c", "b"]]


def test_what_a_trace_begins_with_is_a_part_even_where_it_does_not_say_so() -> None:
    lost = Response(trace=[Step("path", 1, "b"), Step("spread", 1, "c"), Step("path", 2, "d")])
    assert targets(paths_of(lost)) == [["b", "d"]]
    assert targets(spreads_in(lost.trace)) == [["c"]]


def test_without_path_steps_each_hit_is_a_path_of_one_step() -> None:
    # y scores 2; z and a tie, and the greater id stands first, as in every ranking
    assert targets(paths_of(FLAT)) == [["y"], ["z"], ["a"]]
    assert {step.depth for one in paths_of(FLAT) for step in one} == {0}
    assert targets(paths_of(Response())) == []
    assert spreads_in(FLAT.trace) == []


def test_the_nodes_counted_are_those_of_all_paths_the_best_one_or_the_ranking() -> None:
    assert returned_nodes(TWO, "paths") == ["a", "b", "c", "d"]  # b once, where it comes first
    assert returned_nodes(TWO, "best_path") == ["a", "b"]
    other = Response(hits("d", "b"), trace=TWO.trace)
    assert returned_nodes(other, "hits") == ["d", "b"]
    assert returned_nodes(other, "paths") == ["a", "b", "c", "d"]
    assert returned_nodes(FLAT, "paths") == returned_nodes(FLAT, "hits") == ["y", "z", "a"]
    assert returned_nodes(FLAT, "best_path") == ["y"]
    assert returned_nodes(Response(), "best_path") == []


def test_energy_reaches_seeds_and_what_it_was_passed_on_to() -> None:
    assert reached_nodes(TWO) == {"a", "b", "c"}  # e was tried, and stopped below the threshold
    assert reached_nodes(walked(*path("a", "x>b"))) == {"a", "b"}
    assert reached_nodes(FLAT) == {"y", "z", "a"}


def test_tensions_are_pairs_in_any_order() -> None:
    assert tension_pairs(TWO) == {frozenset({"a", "b"})}
    assert tension_pairs(Response(trace=[Step("tension", 0, "b")])) == set()  # a pair needs two


def test_what_edges_were_worth_is_read_by_which_they_were() -> None:
    assert [change_without(TWO, which) for which in ("path", "random", "nearby")] == [0.5, 0.125, None]
    assert change_without(Response(trace=[Step("removed", 0, "b", edge="path")]), "path") is None


# ------------------------------------------------------------------------------------- matching

CHAIN = path("a", "next_unit>b", "depends_on>c", "next_unit>b")


@pytest.mark.parametrize(
    ("wanted", "modes"),
    [
        ("a b c b", {"exact", "prefix", "subsequence"}),
        ("a b c", {"prefix", "subsequence"}),
        ("a", {"prefix", "subsequence"}),
        ("b b", {"subsequence"}),
        ("a c", {"subsequence"}),
        ("c a", set()),
        ("b b b", set()),  # there are two
        ("a b c b a", set()),
        ("z", set()),
        ("a next_unit>b", {"prefix", "subsequence"}),
        ("a depends_on>b", set()),
        ("a next_unit>c", set()),  # an edge is the one that leads to the node, not one on the way
        ("next_unit>a", set()),  # no edge leads to where a path begins
    ],
)
def test_a_path_matches_as_its_mode_says(wanted: str, modes: set[str]) -> None:
    steps = [
        ExpectedStep(node, edge or None) for edge, _, node in (w.rpartition(">") for w in wanted.split())
    ]
    every: tuple[MatchMode, ...] = ("exact", "prefix", "subsequence")
    assert {mode for mode in every if follows(steps, CHAIN, mode, ExpectedStep.fits)} == modes


words = st.lists(st.sampled_from("abc"), max_size=5)


@given(words, words)
def test_a_subsequence_is_one_of_all_choices_of_steps(wanted: list[str], there: list[str]) -> None:
    steps = [Step("path", depth, node) for depth, node in enumerate(there)]
    choices = combinations(there, len(wanted))
    found = follows([ExpectedStep(node) for node in wanted], steps, "subsequence", ExpectedStep.fits)
    assert found == (tuple(wanted) in set(choices))


@pytest.mark.parametrize(
    ("stated", "fits"),
    [
        ({}, True),
        ({"edge_type": "next_unit"}, True),
        ({"edge_type": "depends_on"}, False),
        ({"hop": 2}, True),
        ({"hop": 0}, False),
        ({"is_seed": False}, True),
        ({"is_seed": True}, False),
        ({"stopped_reason": "below_threshold"}, True),
        ({"stopped_reason": "node_limit"}, False),
    ],
)
def test_only_what_is_stated_of_an_event_must_hold(stated: dict[str, Any], fits: bool) -> None:
    event = spread(2, "b", "e", "next_unit", "below_threshold")
    assert ExpectedTraceStep("e", **stated).fits(event) is fits
    assert not ExpectedTraceStep("b", **stated).fits(event)


def test_a_seed_is_a_seed_of_hop_0() -> None:
    assert ExpectedTraceStep("a", hop=0, is_seed=True).fits(seed("a"))
    assert not ExpectedTraceStep("a", is_seed=False).fits(seed("a"))


# ----------------------------------------------------------------------------- what is expected


def test_what_a_case_does_not_state_it_does_not_expect() -> None:
    assert walk_expectations([item("q", "a", anchors=[{"text": "…"}])]) == [WalkExpectation()]
    (found,) = walk_expectations([item("q", "a", path={"steps": [{"node_id": "a"}]})])
    assert found.path is not None
    assert (found.path.match_mode, found.path_scope) == ("subsequence", "any_path")
    assert found.path.steps == [ExpectedStep("a")]


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        ({"path": [["a", None]]}, "path: expected object"),
        ({"path": {"steps": []}}, "path.steps: expected array of length >= 1"),
        ({"path": {"match_mode": "exact"}}, "path.steps: the field is missing"),
        ({"path": {"steps": [{"node": "a"}]}}, "path.steps"),
        ({"path": {"steps": [{"node_id": "a"}], "match_mode": "fuzzy"}}, "path.match_mode"),
        ({"path": {"steps": [{"node_id": "a"}]}, "path_scope": "worst"}, "path_scope"),
        ({"required_contradiction_pairs": [["a"]]}, "required_contradiction_pairs"),
        ({"required_semantic_roles": "exception"}, "required_semantic_roles"),
        ({"activation_trace": {"steps": [{"node_id": "a", "energy": 1}]}}, "activation_trace.steps"),
        ({"min_activation_trace_length": "5"}, "min_activation_trace_length: expected int"),
        ({"minimum_evidence_matches": -1}, "minimum_evidence_matches: expected int >= 0"),
        ({"unprimed_of": 3}, "unprimed_of: expected str"),
    ],
)
def test_gold_that_cannot_be_read_is_reported_with_its_item(gold: dict[str, Any], told: str) -> None:
    fine, wrong = item("fine"), item("c-7", **gold)
    with pytest.raises(DataError) as caught:
        walk_expectations([fine, wrong, wrong])
    assert len(caught.value.problems) == 2  # all of them at once
    message = str(caught.value.problems[0])
    assert "'c-7'" in message
    assert told in message
