"""A graph memory: typed hops in order, and a session that learns along a sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Item, Passage, Query, Response, Step
from assay.core.registry import MEASURES, SYSTEMS
from assay.pipeline.evaluation import Evaluation
from assay.study.study import Study

RUNBOOKS = [f"book{number}" for number in range(12)]
PASSAGES = [
    Passage(f"{book}:{unit}", f"{book} step {unit}", source=book) for book in RUNBOOKS for unit in (1, 2, 3)
]


def sequence(book: str) -> list[Item]:
    """Two primes about a runbook, then a probe that only the primes make answerable."""
    steps = [[f"{book}:2", None], [f"{book}:3", "next_unit"]]
    return [
        Item(f"{book}-prime-1", f"open {book}", sequence=book, tags={"part": ["prime"]}),
        Item(f"{book}-prime-2", f"read {book}", sequence=book, tags={"part": ["prime"]}),
        Item(
            f"{book}-probe", "what comes next?", sequence=book, tags={"part": ["probe"]}, gold={"path": steps}
        ),
    ]


ITEMS = [item for book in RUNBOOKS for item in sequence(book)]


@dataclass(frozen=True)
class Memory:
    """Walks from the unit it is at along next_unit; the dynamic one remembers what was opened."""

    dynamic: bool
    version: ClassVar[str] = "1"
    threads: ClassVar[int] = 3

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Memory:
        return self

    def session(self) -> Walk:
        return Walk(self.dynamic)


@dataclass
class Walk:
    dynamic: bool
    energy: dict[str, int] = field(default_factory=dict)

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        named = next((book for book in RUNBOOKS if query.text.endswith(book)), None)
        if named is not None:
            self.energy[named] = self.energy.get(named, 0) + 1
            return Response(hits=[Hit(f"{named}:1", 1.0)], trace=[Step("seed", 0, f"{named}:1")])
        book = max(self.energy, key=self.energy.__getitem__) if self.dynamic and self.energy else RUNBOOKS[0]
        start = self.energy.get(book, 1)
        trace = [
            Step("seed", 0, f"{book}:{start}"),
            Step("hop", 1, f"{book}:3", f"{book}:{start}", edge="next_unit"),
        ]
        return Response(hits=[Hit(step.target, 1 / (1 + step.depth)) for step in trace], trace=trace)


@dataclass(frozen=True)
class PathHit:
    """1 where the trace walks the gold path, edge types included."""

    name: ClassVar[str] = "PathHit"
    needs: ClassVar[frozenset[str]] = frozenset({"trace"})
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = True

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.array(["path" in item.gold for item in block.items])

    def values(self, block: Block) -> NDArray[np.float64]:
        found = []
        for item, response in zip(block.items, block.responses, strict=True):
            walked = [[step.target, step.edge] for step in (response.trace if response else ())]
            found.append(float(walked == item.gold.get("path")))
        return np.array(found)


STUDY = """
kind: memory
data: folder(path=.)
systems: {static: memory(dynamic=false), dynamic: memory(dynamic=true)}
measures: [PathHit, Success@1]
cluster: sequence
gates:
  learns:
    go: ["PathHit(dynamic) - PathHit(static) >= 0.15 where part=probe"]
"""


def test_sequences_run_in_order_and_the_probe_sees_the_primes(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, PASSAGES, {SYSTEMS: {"memory": Memory}, MEASURES: {"PathHit": PathHit}})
    results = evaluated(study).results
    hits = {each.system: each for each in results.estimates if each.measure == "PathHit"}
    assert hits["dynamic"].value == 1.0  # two primes bring the walk to unit 2 of its own runbook
    assert hits["static"].value == 1 / 12  # it always looks in the first runbook
    assert (hits["static"].n_scored, hits["static"].counts) == (12, {"not_applicable": 24})
    assert results.verdict == "go"


def test_a_measure_that_applies_to_no_case_has_no_value(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, PASSAGES, {SYSTEMS: {"memory": Memory}, MEASURES: {"PathHit": PathHit}})
    results = evaluated(study).results
    success = next(each for each in results.estimates if each.measure == "Success@1")
    assert (success.value, success.n_scored, success.n_expected) == (None, 0, 0)  # no ids in the gold
    comparison = next(each for each in results.comparisons if each.measure == "Success@1")
    assert comparison.refused == "no item applies to both"
