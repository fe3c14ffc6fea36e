"""Walks as cases expect them: paths, roles and edges, tensions, spreads, and all of it together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Measure
from assay.core.records import Fault, Response, Step
from assay.kinds.memory.measures.expectations import CaseHit, ContradictionHit, PathHit, SemanticHit, TraceHit
from assay.measures.parse import parse_measure
from assay.measures.score import score_block
from walked_block import block_of, hits, item, path, scored, seed, spread, value, walked

# the rule n1, its exception n2, the remedy n3: two paths, two spreads, one tension
TRACE = [
    *path("n3:remedy", "depends_on>n2:exception"),
    *path("n1:obligation", "next_unit>n2:exception"),
    seed("n3"),
    spread(1, "n3", "n2", "depends_on"),
    spread(1, "n3", "n4", "next_unit", "disallowed_edge"),
    spread(2, "n2", "n1", "exception_to"),
    spread(3, "n1", "n0", "next_unit", "below_threshold"),
    seed("n1"),
    spread(1, "n1", "n9", "next_unit", "node_limit"),
    Step("tension", 0, "n1", "n2", edge="exception_to"),
]
WALK = Response(hits("n3", "n2", "n1"), trace=TRACE)
FLAT = Response(hits("n3", "n2"))
EVERY: list[Measure] = [PathHit(), SemanticHit(), ContradictionHit(), TraceHit(), CaseHit()]


def steps(*wanted: str) -> list[dict[str, str | None]]:
    """Steps of a path as a case writes them: "node", or "edge>node"."""
    pairs = [text.rpartition(">") for text in wanted]
    return [{"node_id": node, "via_edge_type": edge or None} for edge, _, node in pairs]


# ----------------------------------------------------------------------------------------- path


@pytest.mark.parametrize(
    ("mode", "scope", "wanted", "hit"),
    [
        ("exact", "best_path", ["n3", "depends_on>n2"], 1.0),
        ("exact", "best_path", ["n3"], 0.0),
        ("prefix", "best_path", ["n3"], 1.0),
        ("prefix", "best_path", ["n2"], 0.0),
        ("subsequence", "best_path", ["n2"], 1.0),
        ("exact", "best_path", ["n1", "next_unit>n2"], 0.0),  # that is the second
        ("exact", "any_path", ["n1", "next_unit>n2"], 1.0),
        ("exact", "any_path", ["n1", "n2"], 1.0),  # any edge
        ("exact", "any_path", ["n1", "depends_on>n2"], 0.0),
        ("subsequence", "any_path", ["n3", "n1"], 0.0),  # each on a path, but on two
        ("subsequence", "any_path", ["elsewhere:7"], 0.0),  # no such node
    ],
)
def test_a_path_is_met_by_the_best_or_any(mode: str, scope: str, wanted: list[str], hit: float) -> None:
    case = item("q", path={"match_mode": mode, "steps": steps(*wanted)}, path_scope=scope)
    assert value(PathHit(), case, WALK) == hit


def test_a_flat_result_is_paths_of_one_step() -> None:
    first, second, two = (
        item(name, path={"match_mode": "exact", "steps": steps(*nodes)}, path_scope=scope)
        for name, nodes, scope in (
            ("first", ["n3"], "best_path"),
            ("second", ["n2"], "best_path"),
            ("two", ["n3", "n2"], "any_path"),
        )
    )
    block = block_of([first, second, two], [FLAT] * 3, gives=frozenset({"hits"}))
    assert [told for told, _ in scored(PathHit(), block)] == [1.0, 0.0, 0.0]


# ------------------------------------------------------------------------------------ semantics


@pytest.mark.parametrize(
    ("gold", "part", "hit"),
    [
        ({"required_semantic_roles": ["exception", "remedy"]}, "both", 1.0),
        ({"required_semantic_roles": ["obligation"]}, "both", 1.0),  # on the second path
        ({"required_semantic_roles": ["exception", "escalation"]}, "both", 0.0),
        ({"required_edge_types": ["depends_on"]}, "both", 1.0),
        ({"required_edge_types": ["next_unit"]}, "both", 0.0),  # on the second path only
        ({"required_edge_types": ["exception_to"]}, "both", 0.0),  # in the spread only
        ({"required_edge_types": ["depends_on"], "required_semantic_roles": ["step"]}, "both", 0.0),
        ({"required_edge_types": ["depends_on"], "required_semantic_roles": ["step"]}, "edges", 1.0),
        ({"required_edge_types": ["next_unit"], "required_semantic_roles": ["remedy"]}, "roles", 1.0),
        ({"required_edge_types": ["depends_on"]}, "roles", None),
        ({"required_semantic_roles": ["remedy"]}, "edges", None),
        ({"required_semantic_roles": []}, "both", None),  # nothing is required
    ],
)
def test_roles_are_of_all_paths_and_edges_of_the_best(gold: Any, part: str, hit: float | None) -> None:
    assert value(parse_measure(f"SemanticHit(part={part})"), item("q", **gold), WALK) == hit


# ------------------------------------------------------------------------------- contradictions


@pytest.mark.parametrize(
    ("pairs", "hit"),
    [
        ([["n1", "n2"]], 1.0),
        ([["n2", "n1"]], 1.0),
        ([["n1", "n3"]], 0.0),
        ([["n1", "n2"], ["n1", "n3"]], 0.0),
    ],
)
def test_every_pair_must_be_shown_in_any_order(pairs: list[list[str]], hit: float) -> None:
    assert value(ContradictionHit(), item("q", required_contradiction_pairs=pairs), WALK) == hit


# --------------------------------------------------------------------------------- the spread


@pytest.mark.parametrize(
    ("gold", "hit"),
    [
        ({"min_activation_trace_length": 5, "max_activation_trace_length": 5}, 1.0),  # the seed and four
        ({"min_activation_trace_length": 6}, 0.0),
        ({"max_activation_trace_length": 4}, 0.0),
        ({"required_trace_stop_reasons": ["below_threshold", "disallowed_edge"]}, 1.0),
        ({"required_trace_stop_reasons": ["node_limit"]}, 0.0),  # in the second spread only
        ({"required_trace_stop_reasons": ["below_threshold"], "min_activation_trace_length": 6}, 0.0),
    ],
)
def test_the_first_spread_has_its_length_and_its_reasons_to_stop(gold: Any, hit: float) -> None:
    assert value(TraceHit(), item("q", **gold), WALK) == hit


SEED = {"node_id": "n3", "is_seed": True, "hop": 0}


@pytest.mark.parametrize(
    ("mode", "wanted", "hit"),
    [
        ("subsequence", [SEED, {"node_id": "n1", "edge_type": "exception_to", "hop": 2}], 1.0),
        ("prefix", [SEED, {"node_id": "n1", "edge_type": "exception_to", "hop": 2}], 0.0),
        ("prefix", [SEED, {"node_id": "n2"}], 1.0),
        ("exact", [SEED, {"node_id": "n2"}], 0.0),
        ("exact", [{"node_id": f"n{n}"} for n in (3, 2, 4, 1, 0)], 1.0),
        ("subsequence", [{"node_id": "n0", "stopped_reason": "below_threshold"}], 1.0),
        ("subsequence", [{"node_id": "n1", "is_seed": True}], 0.0),  # the second spread's seed
        ("subsequence", [{"node_id": "n2", "hop": 2}], 0.0),
    ],
)
def test_the_first_spread_goes_as_expected(mode: str, wanted: list[dict[str, Any]], hit: float) -> None:
    case = item("q", activation_trace={"match_mode": mode, "steps": wanted})
    assert value(TraceHit(), case, WALK) == hit


def test_an_answer_that_spread_nothing_has_met_nothing() -> None:
    brief = item("q", max_activation_trace_length=5)
    assert value(TraceHit(), brief, walked(*path("n3"))) == 0.0


# ------------------------------------------------------------------------------------ all cases

STATED: dict[str, Any] = {
    "path": {"match_mode": "prefix", "steps": steps("n3")},
    "required_semantic_roles": ["remedy"],
    "required_contradiction_pairs": [["n1", "n2"]],
    "required_trace_stop_reasons": ["below_threshold"],
}
WRONG: dict[str, Any] = {
    "path": {"match_mode": "prefix", "steps": steps("n2")},
    "required_semantic_roles": ["step"],
    "required_contradiction_pairs": [["n1", "n3"]],
    "required_trace_stop_reasons": ["node_limit"],
}


@pytest.mark.parametrize("wrong", [None, *WRONG])
def test_a_case_holds_where_everything_it_states_holds(wrong: str | None) -> None:
    changed = STATED if wrong is None else STATED | {wrong: WRONG[wrong]}
    assert value(CaseHit(), item("q", "n3", **changed), WALK) == float(wrong is None)
    assert value(CaseHit(), item("q", "elsewhere", **changed), WALK) == 0.0
    assert value(CaseHit(), item("q", **changed), WALK) == float(wrong is None)  # no evidence is named


def test_a_case_counts_the_evidence_over_what_it_names() -> None:
    case = item("q", "n1")
    assert value(CaseHit(), case, WALK) == 1.0
    assert value(CaseHit("best_path"), case, WALK) == 0.0  # n3 n2


def test_what_is_not_stated_does_not_apply() -> None:
    block = block_of([item("q"), item("twin", unprimed_of="q")], [WALK, WALK])
    for measure in EVERY:
        assert scored(measure, block) == [(None, "not_applicable")] * 2


def test_a_failure_is_not_a_wrong_walk() -> None:
    items = [item(name, "n3", **STATED) for name in ("broke", "late", "empty", "fine")]
    answers = [Response(error=Fault("timeout", "too long")), None, Response(), WALK]
    told = [(None, "failed"), (None, "pending"), (0.0, "missing"), (1.0, "scored")]
    for measure in EVERY:
        assert scored(measure, block_of(items, answers)) == told


def test_a_system_that_never_gives_a_trace_is_not_measured_by_it() -> None:
    only_path = {"path": STATED["path"]}
    items = [item("all", "n3", **STATED), item("path", "n3", **only_path)]
    never = block_of(items, [FLAT, FLAT], gives=frozenset({"hits", "contexts"}))
    for measure in (SemanticHit(), ContradictionHit(), TraceHit()):
        assert scored(measure, never) == [(None, "not_applicable")] * 2
    assert scored(PathHit(), never) == [(1.0, "scored")] * 2
    assert scored(CaseHit(), never) == [(None, "not_applicable"), (1.0, "scored")]
    silent = block_of(items, [FLAT, FLAT], gives=frozenset({"answer"}))
    assert scored(PathHit(), silent) == scored(CaseHit(), silent) == [(None, "not_applicable")] * 2


def test_a_trace_that_could_have_been_given_and_was_not_is_missing() -> None:
    # it counts as 0, and shows that it was never there
    block = block_of([item("all", "n3", **STATED)], [FLAT])
    for measure in (SemanticHit(), ContradictionHit(), TraceHit()):
        assert scored(measure, block) == [(0.0, "missing")]
    assert scored(CaseHit(), block) == [(0.0, "scored")]


def test_a_case_whose_evidence_nobody_judged_is_unjudged_unless_it_failed_already() -> None:
    items = [item("open", "n3", path=STATED["path"]), item("failed", "n3", path=WRONG["path"])]
    block = block_of(items, [WALK, WALK], closed=frozenset())  # n2 and n1 are returned, and not judged
    assert scored(CaseHit(), block) == [(None, "unjudged"), (0.0, "scored")]


def test_gold_that_cannot_be_read_is_reported_with_its_item() -> None:
    block = block_of([item("c-7", "a", path=[["a", None]])], [WALK])
    for measure in EVERY:
        with pytest.raises(DataError, match="'c-7', gold: path"):
            score_block(measure, block)


def test_what_cases_state_is_read_as_their_authors_write_it(shared_data: Callable[[str], Path]) -> None:
    """Every expectation of the case files, met by an answer made from it."""
    folder = shared_data("structured_memory") / "benchmarks" / "structured_memory"
    seen: set[str] = set()
    for file in sorted(folder.glob("*.json")):
        for case in json.loads(file.read_text())["cases"]:
            gold = dict(case["expectation"])
            evidence = gold.pop("evidence_node_ids", [])
            made = item(case["case_id"], *evidence, **gold)
            met, missed = value(CaseHit(), made, _as_expected(evidence, gold)), value(CaseHit(), made, FLAT)
            assert (met, missed) == (1.0, 0.0), case["case_id"]
            seen |= set(gold)
    assert {"path", "required_semantic_roles", "activation_trace", "required_trace_stop_reasons"} <= seen


def _as_expected(evidence: list[str], gold: dict[str, Any]) -> Response:
    """An answer that meets a case: its path first, then its evidence with its roles, spread and tensions."""
    wanted = gold.get("path", {}).get("steps", [])
    best = [
        Step("path", depth, each["node_id"], edge=each.get("via_edge_type"))
        for depth, each in enumerate(wanted)
    ]
    edges = [
        Step("path", 1, f"e{n}", edge=edge) for n, edge in enumerate(gold.get("required_edge_types", []))
    ]
    required = gold.get("required_semantic_roles", [])
    roles = [Step("path", 0, evidence[n], role=role) for n, role in enumerate(required)]
    others = [Step("path", 0, node) for node in evidence]
    events = [
        Step("seed" if each.get("is_seed") else "spread", each.get("hop", 1), each["node_id"])
        if "edge_type" not in each
        else Step("spread", each["hop"], each["node_id"], edge=each["edge_type"])
        for each in gold.get("activation_trace", {}).get("steps", [])
    ]
    stops = [Step("spread", 9, "s", stop=stop) for stop in gold.get("required_trace_stop_reasons", [])]
    short = max(gold.get("min_activation_trace_length", 0) - len(events) - len(stops), 0)
    spread_steps = [*events, *[Step("spread", 9, "s")] * short, *stops]
    pairs = gold.get("required_contradiction_pairs", [])
    tensions = [Step("tension", 0, b, a, edge="contradicts") for a, b in pairs]
    return walked(*best, *edges, *others, *roles, *spread_steps, *tensions)
