"""A small tree with made-up routes, from a study file to results, worked out by the program itself.

    root ── L1:0 ── L2:0 (p0 p1), L2:1 (p2 p3)
         ── L1:1 ── L2:2 (p4 p5), L2:3 (p6 p7)
         ── L1:2 ── L2:3, L2:4 (p8 p9)              L2:3 has two parents

A query says in words which nodes are taken: "lost: L1:1 L2:2".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit
from assay.core.records import Budget, Edge, Hit, Item, Node, Passage, Query, Response, Step, Structure
from assay.core.registry import DATASETS, SYSTEMS, Registry
from assay.core.results import Results
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.study.study import open_study

CHILDREN = {
    "root": ["L1:0", "L1:1", "L1:2"],
    "L1:0": ["L2:0", "L2:1"],
    "L1:1": ["L2:2", "L2:3"],
    "L1:2": ["L2:3", "L2:4"],
    **{f"L2:{leaf}": [f"p{2 * leaf}", f"p{2 * leaf + 1}"] for leaf in range(5)},
}
ABOUT = {"L1:0": "contracts and vendors", "L1:1": "travel and expenses", "L1:2": "incidents"}
# what is taken, and the passages that hold the evidence
ASKED = {
    "through": ("L1:0 L2:1", ["p2"]),
    "low": ("L1:0 L2:0", ["p3"]),
    "high": ("L1:1 L2:2", ["p2"]),
    "higher": ("L1:2 L2:4", ["p0"]),
    "shared": ("L1:2 L2:3", ["p6"]),
    "part": ("L1:2 L2:4", ["p8", "p4"]),
    "none": ("L1:2 L2:4", []),
}
STUDY = """
kind: hierarchy
data: told_items
systems: {beam: told, race: told(races=true), flat: told(routes=false)}
measures: [eps@L1, eps@L2, "eps(gold=all)@L1"]
by: [tag]
compare: {resamples: 200}
"""


@dataclass(frozen=True)
class ToldItems:
    """Six items with evidence, and one without."""

    plant: str = ""

    def load(self, kit: Kit) -> Dataset:
        passages = [Passage(f"p{number}", f"Passage {number}.") for number in range(10)]
        items = []
        for name, (taken, doc_ids) in ASKED.items():
            units = [
                {"doc_id": each, "source": each, "start": 0, "end": 10, "text": f"Passage {each[1]}."}
                for each in doc_ids
            ]
            tags = {"tag": ["two_hop" if len(doc_ids) > 1 else "detail"]}
            items.append(Item(name, f"{name}{self.plant}: {taken}", tags=tags, gold={"evidence": units}))
        return Dataset("told", Corpus(passages), items)


@dataclass(frozen=True)
class Told:
    """Takes the nodes that a query names."""

    races: bool = False
    routes: bool = True
    plant: str = ""
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Told:
        return self

    def session(self) -> Told:
        return self

    def structure(self) -> Structure:
        levels = {each: int(each[1]) for below in CHILDREN.values() for each in below if each[0] == "L"}
        nodes = [
            Node(each, level, "branch", about=ABOUT.get(each, f"leaf {each}") + self.plant, entities=["Ann"])
            for each, level in levels.items()
        ]
        passages = [Node(f"p{number}", role="passage", doc_id=f"p{number}") for number in range(10)]
        edges = [Edge(parent, child) for parent, below in CHILDREN.items() for child in below]
        return Structure([Node("root", 0, "root"), *nodes, *passages], edges)

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        taken = query.text.rpartition(": ")[2].split()
        trace = _routes(taken) if self.routes else [Step("scan", 0, "p0")]
        trace += [Step("visited", 1, "L1", scores={"nodes": 3, "of": 3})]
        trace += [Step("visited", 3, "passages", scores={"nodes": 2, "of": 10})]
        if query.text.startswith("shared"):
            trace.append(Step("link", 1, "p6", "p8", {"weight": 0.6, "score": 0.4}, edge="names", role="Ann"))
        route = "beam"
        if self.races:
            route = "collapsed" if "L1:2" in taken else "beam"
            for path, confidence in (("beam", 0.5), ("collapsed", 0.7 if route == "collapsed" else 0.25)):
                trace.append(Step("race", 0, path, scores={"confidence": confidence}, selected=path == route))
        return Response([Hit("p0", 1.0)], trace=trace, route=route)


def _routes(taken: Sequence[str]) -> list[Step]:
    """The candidates of every expanded node: those taken score 0.9, the others 0.4, 0.3 and so on."""
    trace, parents = [], ["root"]
    for level in (1, 2):
        here = [(parent, child) for parent in parents for child in CHILDREN[parent]]
        for place, (parent, child) in enumerate(here):
            kept = child in taken
            score = 0.9 if kept else 0.4 - 0.1 * place
            trace.append(
                Step("route", level, child, parent, {"score": score}, kept, stop=None if kept else "beam")
            )
        parents = [each for each in taken if each.startswith(f"L{level}")]
    return trace


PLUGINS: Mapping[str, Mapping[str, type[Any]]] = {
    DATASETS: {"told_items": ToldItems},
    SYSTEMS: {"told": Told},
}


def tree_evaluation(folder: Path, text: str = STUDY) -> Evaluation:
    """The study, run, with everything that follows from its answers."""
    (folder / "study.yaml").write_text(text)
    evaluate(folder, registry=Registry(PLUGINS))
    return Evaluation(open_study(folder, registry=Registry(PLUGINS)))


def tree_results(folder: Path, text: str = STUDY) -> Results:
    """What the study finds."""
    return tree_evaluation(folder, text).results
