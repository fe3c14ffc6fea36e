"""Spreading and PageRank, by hand and against other ways to the same numbers."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.kinds.memory.systems.graph import MemoryGraph, Traits, UnitLink, best
from assay.kinds.memory.systems.spread import (
    STOPS,
    Activation,
    SpreadRule,
    WalkableGraph,
    personalised_pagerank,
    spread,
)


def graph_of(
    size: int, links: list[UnitLink], bonus: dict[int, float] | None = None, tension: str = ""
) -> MemoryGraph:
    extra = np.array([(bonus or {}).get(node, 0.0) for node in range(size)])
    traits = Traits([""] * size, np.zeros(size), np.zeros(size, bool), extra)
    return MemoryGraph.of([str(node) for node in range(size)], traits, links, frozenset({tension}))


def ground_of(graph: MemoryGraph, *, allowed: str = "") -> WalkableGraph:
    return WalkableGraph(
        graph,
        graph.every_link,
        np.array([not allowed or kind == allowed for kind in graph.kinds], dtype=bool),
    )


# A rule (0), its exception (1), what follows from the exception (2): 2 depends on 1, 1 is an exception to 0.
CHAIN = [
    UnitLink(0, 1, "next", 0.4, True),
    UnitLink(1, 0, "exception_to", 0.7, True),
    UnitLink(1, 2, "next", 0.4, True),
    UnitLink(2, 1, "depends_on", 0.7),
]


def attempts_of(graph: MemoryGraph, done: Activation) -> list[tuple[int, str, int, float, str | None]]:
    tried = done.attempts
    return [
        (
            int(tried.hop[place]),
            graph.kinds[graph.kind[tried.edge[place]]],
            int(graph.target[tried.edge[place]]),
            round(float(tried.energy[place]), 6),
            STOPS[tried.stop[place]],
        )
        for place in range(len(tried))
    ]


def test_energy_fades_by_hop_and_stops_below_the_threshold() -> None:
    graph = graph_of(3, CHAIN, bonus={1: 0.15}, tension="exception_to")
    done = spread(ground_of(graph), 2, 0.4, SpreadRule())
    assert attempts_of(graph, done) == [
        (1, "next", 1, 0.12, "below_threshold"),  # 0.4 × 0.75 × 0.4
        (1, "depends_on", 1, 0.36, None),  # 0.4 × 0.75 × 0.7 = 0.21, + 0.15 for its role
        (2, "next", 0, 0.108, "below_threshold"),  # 0.36 × 0.75 × 0.4
        (2, "exception_to", 0, 0.309, None),  # 0.36 × 0.75 × 0.7 = 0.189, + 0.12 for the tension
    ]
    assert done.hop.tolist() == [2, 1, 0]
    assert [graph.kinds[graph.kind[edge]] for edge in done.way_to(graph, 0)] == ["depends_on", "exception_to"]


def test_one_of_several_edges_brings_the_energy() -> None:
    links = [
        UnitLink(0, 1, "weak", 0.5, True),
        UnitLink(0, 1, "strong", 0.9, True),
        UnitLink(1, 0, "back", 1.0),
    ]
    graph = graph_of(2, links)
    done = spread(ground_of(graph), 0, 1.0, SpreadRule(hops=1))
    assert attempts_of(graph, done) == [
        (1, "weak", 1, 0.375, "weaker_edge"),
        (1, "strong", 1, 0.675, None),
        # 1.0 × 0.75 × 0.7 against its direction: it would lead there only if nothing else did
        (1, "back", 1, 0.525, "weaker_edge"),
    ]


def test_edges_that_are_not_allowed_and_nodes_beyond_the_limit_are_reported() -> None:
    links = [UnitLink(0, node, "a", 1.0 - node / 100, True) for node in (1, 2, 3)] + [
        UnitLink(0, 4, "b", 1.0, True)
    ]
    graph = graph_of(5, links)
    done = spread(ground_of(graph, allowed="a"), 0, 1.0, SpreadRule(hops=1, limit=3))
    assert [(target, stop) for _, _, target, _, stop in attempts_of(graph, done)] == [
        (1, None),
        (2, None),
        (3, "node_limit"),  # the seed and two more are three
        (4, "disallowed_edge"),
    ]
    assert done.reached.tolist() == [0, 1, 2]


def test_cycles_end_and_self_loops_do_nothing() -> None:
    links = [
        UnitLink(0, 1, "a", 1.0),
        UnitLink(1, 2, "a", 1.0),
        UnitLink(2, 0, "a", 1.0),
        UnitLink(1, 1, "a", 1.0),
    ]
    graph = graph_of(3, links)
    done = spread(ground_of(graph), 0, 1.0, SpreadRule(hops=9, threshold=0.0))
    assert sorted(done.reached.tolist()) == [0, 1, 2]


GRAPHS = st.integers(2, 9).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.lists(
            st.tuples(
                st.integers(0, size - 1),
                st.integers(0, size - 1),
                st.sampled_from("ab"),
                st.floats(0.05, 1.0),
                st.booleans(),
            ),
            max_size=20,
        ),
    )
)


@given(GRAPHS, st.integers(1, 4), st.floats(0.1, 1.0))
def test_spreading_equals_a_queue_over_neighbours(
    drawn: tuple[int, list[tuple[int, int, str, float, bool]]], hops: int, energy: float
) -> None:
    size, raw = drawn
    graph = graph_of(size, [UnitLink(*each) for each in raw])
    done = spread(ground_of(graph), 0, energy, SpreadRule(hops=hops, limit=1000))
    assert done.energy == pytest.approx(queued(size, raw, hops, energy), abs=1e-12)


def queued(size: int, raw: list[tuple[int, int, str, float, bool]], hops: int, energy: float) -> list[float]:
    """The same energies, node by node: what a hop brings is the best of each node's own-way edges first."""
    ways: dict[int, list[tuple[int, float, bool]]] = {node: [] for node in range(size)}
    for source, target, _, weight, both in raw:
        ways[source].append((target, weight, False))
        ways[target].append((source, weight if both else weight * 0.7, not both))
    held, layer, waiting = {0: energy}, {0: 0}, deque([0])
    for hop in range(1, hops + 1):
        brought: dict[int, list[tuple[bool, float]]] = {}
        for _ in range(len(waiting)):
            node = waiting.popleft()
            for target, weight, against in ways[node]:
                passed = held[node] * 0.75 * weight
                if target not in layer and passed >= 0.15:
                    brought.setdefault(target, []).append((against, -passed))
        for target, offers in brought.items():
            held[target], layer[target] = -min(offers)[1], hop
            waiting.append(target)
    return [held.get(node, 0.0) for node in range(size)]


@given(GRAPHS, st.floats(0.1, 0.9), st.lists(st.floats(0.1, 1.0), min_size=9, max_size=9))
def test_pagerank_solves_its_equation(
    drawn: tuple[int, list[tuple[int, int, str, float, bool]]], damping: float, weights: list[float]
) -> None:
    size, raw = drawn
    graph = graph_of(size, [UnitLink(*each) for each in raw])
    home = np.array(weights[:size])
    shares = personalised_pagerank(graph, graph.every_link, home, damping, tolerance=1e-12)

    step = np.zeros((size, size))  # x = damping · step · x + (1 − damping) · home, solved directly
    for start, target, weight in zip(graph.start, graph.target, graph.weight, strict=True):
        step[target, start] += weight
    out = step.sum(axis=0)
    home = home / home.sum()
    step = np.where(out > 0, step / np.where(out > 0, out, 1.0), home[:, None])
    exact = np.linalg.solve(np.eye(size) - damping * step, (1 - damping) * home)
    assert shares == pytest.approx(exact, abs=1e-6)
    assert shares.sum() == pytest.approx(1.0)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]), max_size=12), st.integers(1, 6))
def test_best_is_a_stable_sort(scores: list[float], number: int) -> None:
    ordered = sorted((each for each in range(len(scores)) if scores[each] > 0), key=lambda at: -scores[at])
    assert best(np.array(scores), number).tolist() == ordered[:number]
