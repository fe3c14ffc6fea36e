"""Engines that deserve no go, run through the whole pipeline against the gates of the memory template."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.core.records import Budget, Query, Response, Step
from assay.core.registry import SYSTEMS, Registry
from assay.kinds.memory.systems.modes import LexicalBaseline
from assay.pipeline.evaluate import evaluate

TEMPLATE = Path(__file__).parents[4] / "src/assay/kinds/memory/template"
ROLES = ["remedy", "exception", "escalation", "action", "obligation", "condition", "step"]
EDGES = ["depends_on", "exception_to", "refers_to", "next_unit", "next_session", "contradicts", "causes"]


def claims(nodes: Sequence[str]) -> list[Step]:
    """Every role, edge, way and tension over the best hits."""
    steps: list[Step] = []
    ways = [tuple(nodes[:4]), *itertools.permutations(nodes[:4], 2), *itertools.permutations(nodes[:4], 3)]
    for way in [*ways, *((node,) for node in nodes[:4])]:
        steps.append(Step("path", 0, way[0], role=ROLES[0]))
        places = [node for node in way[1:] or way for _ in ROLES]
        for depth, (node, role, edge) in enumerate(
            zip(places, itertools.cycle(ROLES), itertools.cycle(EDGES), strict=False), 1
        ):
            steps.append(Step("path", depth, node, way[0], edge=edge, role=role))
    steps.append(Step("seed", 0, nodes[0]))
    for hop, node, edge in itertools.product((1, 2, 3), nodes[:4], EDGES):
        steps.append(Step("spread", hop, node, nodes[0], edge=edge))
    return [*steps, *(Step("tension", 0, b, a) for a, b in itertools.combinations(nodes[:10], 2))]


@dataclass
class _Session:
    inner: Any
    number: int
    bluffs: bool

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        found = self.inner.answer(query, budgets)
        if self.bluffs:
            return msgspec.structs.replace(found, trace=claims([hit.doc_id for hit in found.hits]))
        draw = random.Random(f"{query.item_id} {self.number}")
        moved = [msgspec.structs.replace(hit, score=hit.score * draw.uniform(0.9, 1.1)) for hit in found.hits]
        return msgspec.structs.replace(found, hits=sorted(moved, key=lambda hit: -hit.score))


@dataclass
class _Index:
    inner: Any
    bluffs: bool
    opened: int = 0

    def session(self) -> _Session:
        self.opened += 1
        return _Session(self.inner.session(), self.opened, self.bluffs)


@dataclass(frozen=True)
class Bluffing:
    """Takes the order of words, and claims everything."""

    version = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> _Index:
        return _Index(LexicalBaseline().build(corpus, seed, kit), bluffs=True)


@dataclass(frozen=True)
class Trembling:
    """Takes the order of words, with a tenth of noise."""

    version = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> _Index:
        return _Index(LexicalBaseline().build(corpus, seed, kit), bluffs=False)


def verdict_of(folder: Path, gate: str, systems: dict[str, str]) -> str:
    """What a gate of the template says of other systems under the names that it knows."""
    study = yaml.safe_load((TEMPLATE / "study.yaml").read_text())
    rules = {"on" if key is True else key: value for key, value in study["gates"][gate].items()}
    made = {
        "kind": "memory",
        "data": f"cases(path={TEMPLATE / 'cases'})",
        "systems": systems,
        "baseline": "lexical_baseline",
        "measures": ["EvidenceHit@3"],
        "cluster": study["cluster"],
        "gates": {gate: {**rules, "deciding": True}},
        "compare": {"resamples": 1000},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(made))
    known = Registry({SYSTEMS: {"bluffing": Bluffing, "trembling": Trembling}})
    (found,) = evaluate(folder, registry=known).verdicts
    return found.verdict


@pytest.mark.slow
def test_an_engine_that_claims_everything_may_not_be_relied_on(tmp_path: Path) -> None:
    graphs = ("structure_only", "weighted_graph", "activation_spreading_v1")
    systems = {"lexical_baseline": "lexical_baseline", **dict.fromkeys(graphs, "bluffing")}
    assert verdict_of(tmp_path, "structured", systems) != "go"


@pytest.mark.slow
def test_scores_that_tremble_were_not_primed(tmp_path: Path) -> None:
    systems = {
        "lexical_baseline": "lexical_baseline",
        "activation_spreading_static": "lexical_baseline",
        "weighted_graph_static": "lexical_baseline",
        "activation_spreading_dynamic": "trembling",
        "weighted_graph_dynamic": "trembling",
    }
    assert verdict_of(tmp_path, "priming", systems) != "go"
