"""Routing measures beside a slow reading of their definitions, on random trees with many parents.

The reference knows no ancestors: it writes down every path from the root to every passage, and asks of each.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.protocols import Measure
from assay.core.records import Arm, Context, Edge, Item, Node, Passage, Piece, Response, Span, Step, Structure
from assay.core.registry import Registry
from assay.gates.decision import decide_clause
from assay.gates.evaluator import Evaluator
from assay.gates.gate import GateFile
from assay.gates.grammar import parse_clause
from assay.kinds.hierarchy.measures.budget import A
from assay.kinds.hierarchy.measures.routing import (
    ChildRecall,
    RoutingError,
    RoutingSurvival,
    StrictRoutingError,
)
from assay.measures.score import score_blocks
from assay.stats.rows import Rows
from walked_block import block_of, scored

Below = dict[str, list[str]]  # the children of each node
CASES = 12  # an example
SEEDS = st.integers(0, 10**6)
STOPS = (None, "cut", "expand", "beam")


# ------------------------------------------------------------------------------ what is drawn


@dataclass(frozen=True)
class Drawn:
    """A random tree, what was asked, and a random way down."""

    name: str
    below: Below
    levels: list[list[str]]  # the nodes of each level, the root first
    units: list[list[str]]
    trace: list[Step]

    @property
    def depth(self) -> int:
        return len(self.levels) - 1

    @property
    def structure(self) -> Structure:
        docs = dict.fromkeys(doc for leaf in self.levels[-1] for doc in self.below.get(leaf, ()))
        nodes = [Node(name, level) for level, names in enumerate(self.levels) for name in names]
        nodes += [Node(doc, doc_id=doc) for doc in docs]
        return Structure(nodes, [Edge(above, each) for above, below in self.below.items() for each in below])

    @property
    def item(self) -> Item:
        """The item, in a scope of its own, so that it is answered from its own tree."""
        also = [[{"doc_id": each} for each in unit[1:]] for unit in self.units]
        evidence = [{"doc_id": unit[0], "also": more} for unit, more in zip(self.units, also, strict=True)]
        return Item(self.name, "?", gold={"evidence": evidence}, scope=[])


def block(cases: Sequence[Drawn]) -> Block:
    """Many cases as one block."""
    made = block_of([case.item for case in cases], [Response(trace=case.trace) for case in cases])
    return dataclasses.replace(made, structures={case.name: case.structure for case in cases})


def several(seed: int) -> list[Drawn]:
    rng = random.Random(seed)
    return [drawn(f"q{number}", rng) for number in range(CASES)]


def drawn(name: str, rng: random.Random) -> Drawn:
    """Up to three levels; a node has up to three parents, or none, and is an orphan then."""
    levels = [["root"]]
    below: Below = {}
    for level in range(1, rng.randint(1, 3) + 1):
        names = [f"L{level}:{n}" for n in range(rng.randint(1, 4))]
        _hang(names, levels[-1], below, rng)
        levels.append(names)
    docs = [f"d{n}" for n in range(rng.randint(1, 6))]
    _hang(docs, levels[-1], below, rng)
    units = [rng.sample([*docs, "elsewhere"], rng.choice([1, 1, 2])) for _ in range(rng.randint(1, 3))]
    trace = list(_way(below, len(levels) - 1, rng))
    rng.shuffle(trace)
    return Drawn(name, below, levels, units, trace)


def _hang(names: Sequence[str], above: Sequence[str], below: Below, rng: random.Random) -> None:
    for name in names:
        for parent in rng.sample(above, min(len(above), rng.choice([0, 1, 1, 2, 3]))):
            below.setdefault(parent, []).append(name)


def _way(below: Below, depth: int, rng: random.Random) -> Iterator[Step]:
    """Every child of every expanded node, each selected or not by chance; few scores, so that many tie."""
    expanded = ["root"]
    for level in range(1, depth + 1):
        steps = [
            Step("route", level, child, parent, {"first": rng.randint(0, 2)},
                 chosen, stop=None if chosen else rng.choice(STOPS))
            for parent in expanded
            for child in below.get(parent, ())
            for chosen in [rng.random() < 0.5]
        ]  # fmt: skip
        yield from steps
        expanded = sorted({step.target for step in steps if step.selected})


# --------------------------------------------------------------------------- the definitions


class Reference:
    """The measures of one drawn case, from all its paths."""

    def __init__(self, case: Drawn) -> None:
        self.case = case
        self.paths = [path for path in self._down(["root"]) if len(path) == case.depth + 2]

    def _down(self, path: list[str]) -> Iterator[list[str]]:
        yield path
        for child in self.case.below.get(path[-1], ()):
            yield from self._down([*path, child])

    def correct(self, level: int, docs: Sequence[str]) -> set[str]:
        return {path[level] for path in self.paths if path[-1] in docs}

    @property
    def docs(self) -> list[str]:
        return [doc for unit in self.case.units for doc in unit]

    def selected(self, level: int) -> set[str]:
        return {step.target for step in self.case.trace if step.depth == level and step.selected}

    def eps(self, level: int) -> float:
        kept = [node for node in self.selected(level) if node in self.correct(level, self.docs)]
        return 0.0 if kept else 1.0

    def eps_all(self, level: int) -> float:
        for unit in self.case.units:
            if not any(node in self.selected(level) for node in self.correct(level, unit)):
                return 1.0
        return 0.0

    def strict(self, level: int) -> float:
        expanded = {step.source for step in self.case.trace if step.depth == level}
        for parent in expanded:
            kept = [step.target for step in self.case.trace if step.source == parent and step.selected]
            if not set(kept) & self.correct(level, self.docs):
                return 1.0
        return 0.0 if expanded else 1.0

    def child_recall(self, level: int, m: int | None) -> float | None:
        there, among = set(), set()
        for parent in {step.source for step in self.case.trace if step.depth == level}:
            steps = [step for step in self.case.trace if step.source == parent]
            right = [step for step in steps if step.target in self.correct(level, self.docs)]
            for step in right:
                number = int(step.target.partition(":")[2])
                better = [
                    other
                    for other in steps
                    if other.scores["first"] > step.scores["first"]
                    or (other.scores["first"] == step.scores["first"]
                        and int(other.target.partition(":")[2]) < number)
                ]  # fmt: skip
                there.add(step.target)
                if (step.stop != "cut") if m is None else (len(better) < m):
                    among.add(step.target)
        return len(among) / len(there) if there else None

    def survival(self) -> float:
        kept, product = {"root"}, 1.0
        for level in range(1, self.case.depth + 1):
            right = {path[level] for path in self.paths if path[-1] in self.docs and path[level - 1] in kept}
            kept = right & self.selected(level)
            if not kept:
                return 0.0
            product *= len(kept) / len(right)
        return product


Found = dict[str, list[float | None]]  # by measure, a value a case
LEVELS = (1, 2, 3)


def measured(cases: Sequence[Drawn]) -> Found:
    """Every measure at every level, None where it has no value."""
    here = block(cases)
    measures: list[Measure] = [RoutingSurvival()]
    for name in (f"L{level}" for level in LEVELS):
        measures += [RoutingError(name), RoutingError(name, gold="all"), StrictRoutingError(name)]
        measures += [ChildRecall(name, m=m) for m in (None, 1, 2)]
    return {measure.name: [value for value, _ in scored(measure, here)] for measure in measures}


def by_reference(case: Drawn) -> dict[str, float | None]:
    """The same of one case; one that does not apply has no value, one without a trace the worst."""
    reference = Reference(case)
    held = {node.doc_id for node in case.structure.nodes if node.doc_id}
    if held.isdisjoint(reference.docs):
        return {}
    found: dict[str, float | None] = {"Survival": reference.survival() if case.trace else 0.0}
    for level in range(1, case.depth + 1):
        found[f"eps@L{level}"] = reference.eps(level)
        found[f"eps(gold='all')@L{level}"] = reference.eps_all(level)
        found[f"eps_strict@L{level}"] = reference.strict(level)
        for m, name in ((None, ""), (1, "(m=1)"), (2, "(m=2)")):
            recall = reference.child_recall(level, m)
            found[f"ChildRecall{name}@L{level}"] = recall if case.trace else 0.0
    return found


@settings(max_examples=30)
@given(SEEDS)
def test_every_measure_is_what_all_paths_say(seed: int) -> None:
    cases = several(seed)
    found = measured(cases)
    for row, case in enumerate(cases):
        expected = by_reference(case)
        for name, values in found.items():
            assert values[row] == pytest.approx(expected.get(name)), (name, case)


@settings(max_examples=10)
@given(SEEDS)
def test_errors_are_ordered_and_carried_down(seed: int) -> None:
    cases = several(seed)
    found = measured(cases)
    for row, case in enumerate(cases):
        lost = [found[f"eps@L{level}"][row] for level in LEVELS[: case.depth]]
        known = [each for each in lost if each is not None]
        assert known == sorted(known)
        for level, any_gold in enumerate(lost, 1):
            for harder in (found[f"eps(gold='all')@L{level}"][row], found[f"eps_strict@L{level}"][row]):
                assert (harder is None) == (any_gold is None)
                assert harder is None or any_gold is None or harder >= any_gold
        survival = found["Survival"][row]
        assert survival is None or (survival == 0) == (known[-1] == 1)


# ------------------------------------------------------------------------- routers whose error is known


@settings(max_examples=8)
@given(SEEDS)
def test_a_perfect_router_has_no_error(seed: int) -> None:
    cases = [made for case in several(seed) if (made := _routed_perfectly(case)) is not None]
    found = measured(cases) if cases else {}
    for row, case in enumerate(cases):
        for level in range(1, case.depth + 1):
            errors = ("eps", "eps(gold='all')", "eps_strict")
            assert [found[f"{name}@L{level}"][row] for name in errors] == [0.0, 0.0, 0.0]
            assert found[f"ChildRecall@L{level}"][row] == 1.0
        assert found["Survival"][row] == 1.0


def _routed_perfectly(case: Drawn) -> Drawn | None:
    """The case with what its tree leads to alone as evidence, and exactly the right nodes kept."""
    reference = Reference(case)
    reached = {path[-1] for path in reference.paths}
    units = [unit for unit in case.units if reached.intersection(unit)]
    if not units:
        return None
    docs = [doc for unit in units for doc in unit]
    trace, expanded = [], ["root"]
    for level in range(1, case.depth + 1):
        right = reference.correct(level, docs)
        trace += [
            Step("route", level, child, parent, {"score": 1.0}, child in right)
            for parent in expanded
            for child in case.below.get(parent, ())
        ]
        expanded = sorted(right)
    return dataclasses.replace(case, units=units, trace=trace)


@pytest.mark.parametrize(("n", "b", "c"), [(10, 3, 3), (8, 2, 1), (6, 4, 3)])
def test_picking_at_random_misses_as_often_as_drawing_without_replacement(n: int, b: int, c: int) -> None:
    """Every choice of b among n children, c of which lead to the evidence, is an item: the mean is exact."""
    nodes = [Node("root", 0), *(Node(f"L1:{k}", 1) for k in range(n)), Node("d", doc_id="d")]
    edges = [*(Edge("root", f"L1:{k}") for k in range(n)), *(Edge(f"L1:{k}", "d") for k in range(c))]
    picks = list(combinations(range(n), b))
    answers = [
        Response(trace=[Step("route", 1, f"L1:{k}", "root", {"score": 0.0}, k in pick) for k in range(n)])
        for pick in picks
    ]
    items = [Item(f"q{at}", "?", gold={"evidence": [{"doc_id": "d"}]}) for at in range(len(picks))]
    block = dataclasses.replace(block_of(items, answers), structure=Structure(nodes, edges))
    assert RoutingError("L1").values(block).mean() == pytest.approx(math.comb(n - c, b) / math.comb(n, b))


def test_a_random_router_over_two_levels() -> None:
    """One node a level is right: kept with b/n at each, 2/6 and then 2/5."""
    rng = random.Random(3)
    below = {"root": [f"L1:{k}" for k in range(6)]}
    below |= {f"L1:{k}": [f"L2:{5 * k + j}" for j in range(5)] for k in range(6)}
    nodes = [Node("root", 0), *(Node(name, int(name[1])) for each in below.values() for name in each)]
    edges = [Edge(above, each) for above, names in below.items() for each in names]
    structure = Structure([*nodes, Node("d", doc_id="d")], [*edges, Edge("L2:7", "d")])
    answers = []
    for _ in range(1_000):
        first = rng.sample(below["root"], 2)
        trace = [Step("route", 1, each, "root", selected=each in first) for each in below["root"]]
        for parent in first:
            kept = rng.sample(below[parent], 2)
            trace += [Step("route", 2, each, parent, selected=each in kept) for each in below[parent]]
        answers.append(Response(trace=trace))
    items = [Item(f"q{at}", "?", gold={"evidence": [{"doc_id": "d"}]}) for at in range(len(answers))]
    block = dataclasses.replace(block_of(items, answers), structure=structure)
    for level, kept_share in (("L1", 2 / 6), ("L2", 2 / 6 * 2 / 5)):
        error = 3 * math.sqrt(kept_share * (1 - kept_share) / len(answers))  # three standard errors
        assert RoutingError(level).values(block).mean() == pytest.approx(1 - kept_share, abs=error)
    # 2 of 6 branches are expanded, and the other can keep no way: strict is 1 everywhere at L2
    assert StrictRoutingError("L2").values(block).min() == 1


# ----------------------------------------------------------------------------- what links are worth


def test_what_removing_links_costs_is_what_a_loop_counts() -> None:
    """A@400 with links less A@400 without, on items of one tag, over two seeds."""
    rng = np.random.default_rng(5)
    text = "Ada runs the mill. Bo runs the lock."
    spans = [Span(0, 18), Span(19, 36)]
    corpus = Corpus([Passage("p", text)])
    said = [Piece("p", text[span.start : span.end], span) for span in spans]
    units = [
        {"doc_id": "p", "source": "p", "start": s.start, "end": s.end, "text": text[s.start : s.end]}
        for s in spans
    ]
    tags = [["entity_spanning"] if rng.random() < 0.6 else ["detail"] for _ in range(60)]
    items = [Item(f"i{n}", "?", tags={"tag": tag}, gold={"evidence": units}) for n, tag in enumerate(tags)]
    shows: Mapping[tuple[str, int], Any] = {
        (system, seed): rng.random((60, 2)) < share
        for system, share in (("linked", 0.9), ("plain", 0.7))
        for seed in (0, 1)
    }
    blocks = []
    for (system, seed), shown in shows.items():
        pieces = [[piece for piece, there in zip(said, row, strict=True) if there] for row in shown]
        answers = [Response(contexts=[Context(400, each, 8, "words")]) for each in pieces]
        made = block_of(items, answers, corpus=corpus)
        blocks.append(dataclasses.replace(made, arm=Arm(system), seed=seed))

    drops = []
    for row, tag in enumerate(tags):
        if "entity_spanning" in tag:
            answered = {key: float(shown[row].all()) for key, shown in shows.items()}
            drops.append(np.mean([answered["linked", seed] - answered["plain", seed] for seed in (0, 1)]))
    evaluator = Evaluator(
        Rows(score_blocks([A(400)], blocks), items), Registry(), resamples=200, systems=["linked", "plain"]
    )
    clause = parse_clause("A@400(linked) - A@400(plain) >= 0 where tag=entity_spanning")
    found: Any = decide_clause(clause, GateFile(), evaluator)
    assert found.left == pytest.approx(np.mean(drops))
    assert found.n == len(drops)
