"""The trace of an outcome, as every memory writes it: paths, spreads, tensions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.core.records import Step
from assay.kinds.memory.systems.building import Memory
from assay.kinds.memory.systems.graph import Bools, MemoryGraph
from assay.kinds.memory.systems.outcome import NodePath, WalkOutcome
from assay.kinds.memory.systems.spread import PASSED, STOPS, Activation


def trace_of(memory: Memory, outcome: WalkOutcome, usable: Bools, most: int) -> list[Step]:
    """Paths best first, the spreads of their seeds, and the tensions they touch.

    Of a spread every propagation that passed is told, and of those that were stopped so many that it has
    `most` steps; how many more there were stands with its seed.
    """
    graph = memory.graph
    steps = [step for path in outcome.paths for step in _path_steps(graph, path, outcome)]
    steps += [step for each in outcome.spreads for step in _spread_steps(graph, each, most)]
    return [*steps, *_tensions(memory, outcome, usable)]


def _path_steps(graph: MemoryGraph, path: NodePath, outcome: WalkOutcome) -> Iterator[Step]:
    for place, node in enumerate(path.nodes):
        before = None if place == 0 else graph.node_ids[path.nodes[place - 1]]
        edge = None if place == 0 else graph.kinds[graph.kind[path.edges[place - 1]]]
        score = {"score": float(outcome.scores[node])}
        role = graph.traits.roles[node]
        yield Step("path", place, graph.node_ids[node], before, score, edge=edge, role=role)


def _spread_steps(graph: MemoryGraph, each: Activation, most: int) -> Iterator[Step]:
    roles, seed, tried = graph.traits.roles, each.seed, each.attempts
    passed = np.flatnonzero(tried.stop == PASSED)
    stopped = np.flatnonzero(tried.stop != PASSED)[: max(most - 1 - len(passed), 0)]
    told = np.sort(np.concatenate([passed, stopped]))
    scores = {"energy": float(each.energy[seed])}
    if len(told) < len(tried):
        scores["untold"] = float(len(tried) - len(told))
    yield Step("seed", 0, graph.node_ids[seed], scores=scores, role=roles[seed])
    for place in told.tolist():
        edge, stop = int(tried.edge[place]), int(tried.stop[place])
        target = int(graph.target[edge])
        yield Step(
            "spread",
            int(tried.hop[place]),
            graph.node_ids[target],
            graph.node_ids[int(graph.start[edge])],
            {"incoming": float(tried.incoming[place]), "energy": float(tried.energy[place])},
            selected=stop == PASSED,
            edge=graph.kinds[graph.kind[edge]],
            stop=STOPS[stop],
            role=roles[target],
        )


def _tensions(memory: Memory, outcome: WalkOutcome, usable: Bools) -> Iterator[Step]:
    """Pairs in tension of which one is on a path, and the other there too, or next to it."""
    graph, walked = memory.graph, outcome.walked
    edges = graph.edges_of(walked)
    tense = np.array([kind in memory.tensions for kind in graph.kinds], dtype=bool)
    edges = edges[tense[graph.kind[edges]] & usable[graph.link[edges]]]
    for number in dict.fromkeys(graph.link[edges].tolist()):
        link = graph.links[number]
        pair = (graph.node_ids[link.source], graph.node_ids[link.target])
        yield Step("tension", 0, pair[1], pair[0], edge=link.kind)
