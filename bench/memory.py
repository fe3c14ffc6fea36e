"""Graph memories: activation and PageRank over a large graph, and LongMemEval in nine modes end to end.

The graph has 100,000 nodes and 400,000 typed, weighted links, drawn at random. networkx holds the same edges
in a DiGraph: the peers spread energy by the same rule, edge by edge through its dictionaries, and call its
own `pagerank`. Both sides must agree. An answer is what a session does once the query is matched: walks,
hits and trace. Best of some rounds, in each of which both sides have a turn; a warm-up before.

LongMemEval runs as `assay run` does it, in a process of its own each time, whose largest memory Linux tells.
Over a part of the questions it loads the same data; but only a whole run is sealed, which reads it back. The
data is where ASSAY_DATA says, or beside the repository; without it those rows are left out.

    python -m bench.memory
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from timeit import timeit
from typing import Any

import numpy as np
from bench.size import SMALL, sized

from assay.core.records import Query, Response
from assay.kinds.memory.systems.graph import Bools, Floats, MemoryGraph, Traits, UnitLink
from assay.kinds.memory.systems.memories import MemoryIndex
from assay.kinds.memory.systems.modes import ActivationSpreading, PageRank
from assay.kinds.memory.systems.spread import SpreadRule, WalkableGraph, personalised_pagerank, spread
from assay.systems.answering import Meter

NODES, LINKS, KINDS = *sized((100_000, 400_000), (1_000, 4_000)), 6
SEEDS, DAMPING, REPEATS = 3, 0.5, sized(5, 1)
ANSWER_MS = 50.0
USUAL = SpreadRule()
EVERYWHERE = SpreadRule(hops=6, decay=0.95, threshold=1e-6, limit=NODES)  # reaches all but a few nodes

MODES = (
    *(
        "lexical_baseline",
        "embedding_baseline",
        "structure_only",
        "weighted_graph",
        "activation_spreading_v1",
    ),
    *("weighted_graph_static", "weighted_graph_dynamic"),
    *("activation_spreading_static", "activation_spreading_dynamic"),
)
DATA = Path(os.environ.get("ASSAY_DATA") or Path(__file__).parents[2] / "shared" / "data")
LONGMEMEVAL = DATA / "longmemeval_s_trunc500"
STATUS = Path("/proc/self/status")
FEW = 100  # questions
MINUTES = 10
GROWTH = 1.1  # of the largest memory, from few questions to all

Energies = dict[int, float]
Row = dict[str, Any]


# ------------------------------------------------------------------------------------------ the graph


def draw_graph(nodes: int = NODES, links: int = LINKS) -> MemoryGraph:
    """A random graph, whose kinds of edges and roles of nodes are drawn too."""
    draw = np.random.default_rng(17)
    source, target = draw.integers(0, nodes, (2, links)).tolist()
    kind, weight = draw.integers(0, KINDS, links).tolist(), draw.uniform(0.2, 1.0, links).tolist()
    both = (draw.random(links) < 0.3).tolist()
    ends = zip(source, target, kind, weight, both, strict=True)
    drawn = [UnitLink(a, b, f"kind{c}", w, each) for a, b, c, w, each in ends]
    traits = Traits(
        ["step"] * nodes,
        draw.uniform(0.0, 1.0, nodes),
        draw.random(nodes) < 0.1,
        np.where(draw.random(nodes) < 0.2, 0.05, 0.0),
    )
    return MemoryGraph.of([f"n{each}" for each in range(nodes)], traits, drawn, frozenset({"kind0"}))


def ground_of(graph: MemoryGraph) -> WalkableGraph:
    """All links stand and all kinds are allowed; edges of the first kind are tensions."""
    every: Bools = np.ones(len(graph.kinds), dtype=bool)
    return WalkableGraph(graph, graph.every_link, every)


def as_networkx(ground: WalkableGraph) -> Any:
    """The same edges in a DiGraph. Of several from one node to another, what each passes on is kept."""
    import networkx  # type: ignore[import-untyped]

    graph, tension = ground.graph, ground.graph.tense
    peer = networkx.DiGraph()
    peer.add_nodes_from((node, {"bonus": bonus}) for node, bonus in enumerate(graph.traits.bonus.tolist()))
    columns = (graph.start, graph.target, graph.weight, tension[graph.kind], ~graph.against)
    for start, target, *way in zip(*(each.tolist() for each in columns), strict=True):
        if peer.has_edge(start, target):
            peer[start][target]["ways"].append(way)
            peer[start][target]["weight"] += way[0]
        else:
            peer.add_edge(start, target, weight=way[0], ways=[way])
    return peer


# ---------------------------------------------------------------------------------------- the parties


def our_spread(ground: WalkableGraph, seed: int, rule: SpreadRule) -> Energies:
    """What a seed's energy reaches."""
    found = spread(ground, seed, 1.0, rule)
    return dict(zip(found.reached.tolist(), found.energy[found.reached].tolist(), strict=True))


def spread_by_dictionaries(peer: Any, seed: int, rule: SpreadRule) -> Energies:
    """The same rule over a networkx.DiGraph: hop by hop, edge by edge."""
    held, front = {seed: 1.0}, [seed]
    bonus = peer.nodes
    for _ in range(rule.hops):
        best: dict[
            int, tuple[bool, float]
        ] = {}  # an edge along its direction comes first, then the strongest
        for node in front:
            for target, edge in peer.adj[node].items():
                if target in held:
                    continue
                for weight, tense, along in edge["ways"]:
                    energy = held[node] * rule.decay * weight
                    if energy >= rule.threshold:
                        gained = min(energy + bonus[target]["bonus"] + rule.tension * tense, 1.0)
                        best[target] = max(best.get(target, (False, 0.0)), (along, gained))
        arriving = {target: gained for target, (_, gained) in best.items()}
        if len(arriving) > rule.limit - len(held):
            kept = sorted(arriving, key=arriving.__getitem__, reverse=True)[: rule.limit - len(held)]
            arriving = {target: arriving[target] for target in kept}
        held |= arriving
        front = list(arriving)
    return held


@dataclass(frozen=True)
class Matched:
    """A query's match with every node, given beforehand."""

    values: Floats

    def of(self, text: str, meter: Meter) -> Floats:  # noqa: ARG002
        meter.lap("match")
        return self.values

    def close(self) -> None:
        """Holds nothing."""


def answering(system: ActivationSpreading | PageRank, graph: MemoryGraph) -> Callable[[], Response]:
    """One answer of a memory, from the match of a query on."""
    draw = np.random.default_rng(23)
    match = Matched(np.where(draw.random(len(graph)) < 0.01, draw.uniform(0.2, 0.9, len(graph)), 0.0))
    index = MemoryIndex(graph, match, system.strategy(), system.settings(0))
    return lambda: index.session().answer(Query("q", "anything"), [])


# ------------------------------------------------------------------------------------------ measuring


def fastest(*work: Callable[[], Any]) -> list[float]:
    """The quickest of some rounds, in each of which everybody has a turn."""
    for each in work:
        each()
    taken = [[timeit(each, number=1) for each in work] for _ in range(REPEATS)]
    return [min(column) for column in zip(*taken, strict=True)]


def graph_rows() -> Iterator[Row]:
    """Spreading and PageRank over the large graph, ours and networkx's."""
    import networkx

    graph = draw_graph()
    ground = ground_of(graph)
    peer = as_networkx(ground)
    seeds = np.random.default_rng(29).choice(NODES, SEEDS, replace=False).tolist()
    size = f"{NODES:,} nodes, {LINKS:,} links"
    for name, rule in (("as usual", USUAL), ("everywhere", EVERYWHERE)):
        mine = [our_spread(ground, seed, rule) for seed in seeds]
        for seed, each in zip(seeds, mine, strict=True):
            agree(each, spread_by_dictionaries(peer, seed, rule), 1e-9)
        ours, dictionaries = fastest(
            lambda rule=rule: [spread(ground, seed, 1.0, rule) for seed in seeds],  # type: ignore[misc]
            lambda rule=rule: [spread_by_dictionaries(peer, seed, rule) for seed in seeds],  # type: ignore[misc]
        )
        reached = f"{sum(map(len, mine)):,} nodes from {SEEDS} seeds"
        yield _row(f"{size}, spread {name} ({reached})", ours, "networkx.DiGraph, same rule", dictionaries)

    home = dict.fromkeys(seeds, 1.0)
    weights = np.zeros(NODES)
    weights[seeds] = 1.0
    shares = dict(enumerate(personalised_pagerank(graph, graph.every_link, weights, DAMPING).tolist()))
    agree(shares, networkx.pagerank(peer, DAMPING, home, tol=1e-12), 1e-6)
    ours, theirs_s = fastest(
        lambda: personalised_pagerank(graph, graph.every_link, weights, DAMPING),
        lambda: networkx.pagerank(peer, DAMPING, home, tol=1e-8 / NODES),  # it multiplies by the nodes
    )
    yield _row(f"{size}, personalised PageRank", ours, "networkx.pagerank", theirs_s)
    yield from _answer_rows(graph, size)


def agree(one: Energies, other: Energies, within: float) -> None:
    """Both sides did the same work."""
    assert one.keys() == other.keys()
    worst = max(abs(value - other[node]) for node, value in one.items())
    assert worst <= within, worst


def _answer_rows(graph: MemoryGraph, size: str) -> Iterator[Row]:
    for name, system in (("activation_spreading_v1", ActivationSpreading()), ("pagerank", PageRank())):
        (taken,) = fastest(answering(system, graph))
        target = {"target": f"< {ANSWER_MS:g} ms", "met": 1000 * taken < ANSWER_MS}
        yield _row(f"{size}, one answer of {name} ({1000 * taken:.1f} ms)", taken) | target


# ---------------------------------------------------------------------------------- LongMemEval, nine modes


def run_modes(questions: str) -> dict[str, float]:
    """What `assay run` takes in this process, over the first so many questions or all of them."""
    from assay.pipeline.runner import Selection, run_study
    from assay.study.study import open_study

    with tempfile.TemporaryDirectory() as name:
        systems = "".join(f"  {mode}: {mode}\n" for mode in MODES)
        data = f"data: {{use: longmemeval, path: {LONGMEMEVAL}}}\n"
        (Path(name) / "study.yaml").write_text(f"{data}systems:\n{systems}measures: [R@5, nDCG@10]\n")
        start = time.perf_counter()
        limit = None if questions == "all" else int(questions)
        outcome = run_study(open_study(name), Selection(limit=limit))
        taken = time.perf_counter() - start
    assert outcome.failed == 0
    return {"seconds": taken, "bytes": largest(), "answered": outcome.answered}


def largest() -> int:
    """The largest memory of this process, in bytes. getrusage would count that of who started it, too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())
    assert found is not None
    return 1024 * int(found[1])


def measured(questions: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.memory", questions]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def study_rows() -> Iterator[Row]:
    """The whole of it, and how much more memory it took than a part."""
    few, every = measured(str(FEW)), measured("all")
    growth = every["bytes"] / few["bytes"]
    peak = f"peak {every['bytes'] / 2**20:,.0f} MiB"
    what = f"LongMemEval, {len(MODES)} modes ({every['answered']:,.0f} answers, {peak})"
    target = {"target": f"< {MINUTES} min", "met": every["seconds"] < 60 * MINUTES}
    yield _row(what, every["seconds"]) | target
    what = (
        f"LongMemEval, {FEW} questions (peak {few['bytes'] / 2**20:,.0f} MiB; all: {growth:.2f} times that)"
    )
    yield _row(what, few["seconds"]) | {"target": f"memory ≤ {GROWTH}×", "met": growth <= GROWTH}


def rows() -> list[Row]:
    wanted = LONGMEMEVAL.is_dir() and STATUS.is_file() and not SMALL  # it takes minutes to read
    return [*graph_rows(), *(study_rows() if wanted else ())]


def _row(what: str, ours: float, peer: str = "", theirs: float | None = None) -> Row:
    ratio = None if theirs is None else theirs / ours
    known = {"what": what, "ours_s": ours, "peer": peer, "peer_s": theirs, "ratio": ratio}
    return known | {"target": None, "met": None}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run_modes(sys.argv[1])))
    else:
        for each in rows():
            beside = (
                ""
                if each["peer_s"] is None
                else f"{each['peer']} {each['peer_s']:.3f} s, {each['ratio']:.1f}×"
            )
            met = "" if each["met"] is None else f"{each['target']}: {'met' if each['met'] else 'missed'}"
            print(f"{each['what']:90} {each['ours_s']:8.4f} s  {beside}{met}", flush=True)
