"""Trees against flat retrieval by size: what building takes, what a query takes, what is answered.

Every stage and system is measured in a process of its own; all share one cache: the first builds what all
need (words, vectors, names), the next find it made. The memory is that of the process, corpus included.
Queries are those of the test split that have evidence, asked one after another on an index that is open; the
first round warms, the second is timed.

    python -m bench.hierarchy            all stages, then docs/images/hierarchy-size.png
    python -m bench.hierarchy 10k 50k    some of them; the others as they were measured last
    python -m bench.hierarchy --routers  every system of the study's routers.yaml, at 10k
"""

from __future__ import annotations

import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import yaml
from bench import size

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit, Session
from assay.core.records import Arm, Item, Response
from assay.core.registry import SYSTEMS, Registry
from assay.kinds.hierarchy.measures.budget import A
from assay.kinds.hierarchy.measures.routing import RoutingError
from assay_worlds.suites.workplace import Workplace
from assay_worlds.workplace.corpus import STAGES

RESULTS = size.RESULTS / "hierarchy.json"
PICTURE = size.PICTURES / "hierarchy-size.png"
FLAT = {
    "use": "flat_strong",
    "grain": "sentence",
    "fuse": "weighted(weights=[0.8, 0.2])",
    "rerank_depth": 20,
    "select": "top",
}
TREE = {"use": "tree", "tree": "kmeans(depth=3, leaf=10)", "router": "both(beam=[6, 30, 80], share=0.7)"}
MEASURED: dict[str, dict[str, Any]] = {
    "flat_strong": FLAT,
    "flat_linked": {**FLAT, "links": "names"},
    "beam": TREE,
    "beam_linked": {**TREE, "links": "names"},
    "collapsed_linked": {**TREE, "path": "collapsed", "links": "names"},
    "race_linked": {**TREE, "path": "race", "links": "names"},
}
BUDGETS = [400]
WANTED = size.sized(tuple(MEASURED), ("flat_strong", "beam"))
ALL = size.sized(STAGES, STAGES[:1])
SHOWN = {
    "flat_strong": ("#000000", "-", "o"),
    "flat_linked": ("#56B4E9", "--", "s"),
    "beam": ("#0072B2", "-", "^"),
    "beam_linked": ("#009E73", "--", "D"),
}
PANELS = (
    ("answered", "Answered within 400 tokens"),
    ("build_s", "Building, seconds (cold, in this order)"),
    ("p50_ms", "One query, median, milliseconds"),
    ("p95_ms", "One query, 95th percentile, milliseconds"),
    ("gib", "Largest memory, GiB"),
)


def asked(dataset: Dataset) -> list[Item]:
    """The queries of the test split that have evidence."""
    found = [item for item in dataset.items if item.split == "test" and item.gold.get("evidence")]
    return found[: size.sized(None, 20)]


def measured(dataset: Dataset, name: str, cache: str) -> dict[str, Any]:
    """One system on one stage: seconds to build, milliseconds a query, what is answered, what is lost."""
    kit = Kit(cache=Path(cache))
    items = asked(dataset)
    started = time.perf_counter()
    index = Registry().create(SYSTEMS, MEASURED[name]).build(dataset.corpus, 0, kit)
    build = time.perf_counter() - started
    took, responses = _timed(index.session(), items)
    p50, p95 = np.percentile(took, [50, 95])
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    found = {"build_s": build, "p50_ms": p50, "p95_ms": p95, "gib": gib}
    return {**found, **_quality(name, items, responses, index, dataset.corpus)}


def _quality(
    name: str, items: list[Item], responses: list[Response], index: Any, corpus: Corpus
) -> dict[str, Any]:
    encode = msgspec.json.encode
    answers = pl.DataFrame(
        {
            "failed": [False] * len(items),
            "docs": [[hit.doc_id for hit in each.hits] for each in responses],
            "scores": [[hit.score for hit in each.hits] for each in responses],
            "rest": [encode(each) for each in responses],
        }
    )
    structure = index.structure() if name.startswith("beam") else None
    block = Block(Arm(name), 0, items, answers, Labels.none(), structure=structure, corpus=corpus)
    feasible = np.array([item.values("feasible") == ["yes"] for item in items])
    found: dict[str, Any] = {
        "answered": float(A(400).values(block)[feasible].mean()),
        "n": int(feasible.sum()),
    }
    if structure is not None:
        found["eps"] = [float(np.nanmean(RoutingError(f"L{level}").values(block))) for level in (1, 2, 3)]
        scored = [step.scores for each in responses for step in each.trace if step.target == "passages"]
        found["visited"] = float(np.mean([each["nodes"] / each["of"] for each in scored]))
    return found


def apart(dataset: Path, name: str, cache: str) -> dict[str, Any]:
    """The same in a process of its own, which reads the corpus from a file."""
    command = [sys.executable, "-m", "bench.hierarchy", "--measured", str(dataset), name, cache]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def apart_in_turn(dataset: Path, cache: str) -> None:
    """`beside`, in a process of its own."""
    subprocess.run(
        [sys.executable, "-m", "bench.hierarchy", "--beside", str(dataset), cache], check=True, text=True
    )


def routers() -> None:
    """What a query takes with each router, at 10k."""
    folder = Path(__file__).parents[1] / "src/assay/kinds/hierarchy/template"
    specs = yaml.safe_load((folder / "routers.yaml").read_text())["systems"]
    dataset = Workplace("10k", 7).load(Kit())
    items = asked(dataset)
    with tempfile.TemporaryDirectory() as cache:
        for name, spec in specs.items():
            kit = Kit(cache=Path(cache), root=folder)
            session = Registry().create(SYSTEMS, spec).build(dataset.corpus, 0, kit).session()
            p50, p95 = np.percentile(_timed(session, items)[0], [50, 95])
            print(f"{name:<14} p50 {p50:6.1f} ms  p95 {p95:6.1f} ms", flush=True)


def beside(dataset: Dataset, cache: str) -> None:
    """Flat and beam asked in turn, query by query, so that whatever else the machine does slows both."""
    items = asked(dataset)
    kit = Kit(cache=Path(cache))
    sessions = {
        name: Registry().create(SYSTEMS, MEASURED[name]).build(dataset.corpus, 0, kit).session()
        for name in ("flat_strong", "beam")
    }
    took: dict[str, list[float]] = {name: [] for name in sessions}
    for timed in (False, True):  # the first round warms
        for item in items:
            for name, session in sessions.items():
                started = time.perf_counter()
                session.answer(item.query, BUDGETS)
                if timed:
                    took[name].append(1000 * (time.perf_counter() - started))
    for name, each in took.items():
        p50, p95 = np.percentile(each, [50, 95])
        print(f"{len(dataset.corpus):,} passages, in turn: {name:<12} p50 {p50:6.1f} ms  p95 {p95:6.1f} ms")
    share = np.median(np.array(took["beam"]) / np.array(took["flat_strong"]))
    print(f"a beam's query takes {share:.2f} of the flat one's time (median over queries)")


def _timed(session: Session, items: list[Item]) -> tuple[list[float], list[Response]]:
    """Milliseconds and responses of the second round of queries; the first warms."""
    for item in items:
        session.answer(item.query, BUDGETS)
    took, responses = [], []
    for item in items:
        started = time.perf_counter()
        responses.append(session.answer(item.query, BUDGETS))
        took.append(1000 * (time.perf_counter() - started))
    return took, responses


def main(stages: list[str]) -> None:
    table: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for stage in stages:
            corpus = Path(folder) / "corpus.pickle"
            corpus.write_bytes(pickle.dumps(Workplace(stage, 7).load(Kit())))
            table[stage] = {}
            for name in WANTED:
                one = table[stage][name] = apart(corpus, name, f"{folder}/cache")
                lost = " ".join(f"{each:.3f}" for each in one.get("eps", []))
                print(
                    f"{stage:>4} {name:<16} A@400 {one['answered']:.3f} (n {one['n']})  "
                    f"build {one['build_s']:6.1f} s  p50 {one['p50_ms']:6.1f} ms  "
                    f"p95 {one['p95_ms']:6.1f} ms  {one['gib']:.2f} GiB  "
                    + (f"eps {lost}, {one['visited']:.1%} of passages scored" if lost else ""),
                    flush=True,
                )
            apart_in_turn(corpus, f"{folder}/cache")
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(table, indent=1) + "\n")
    if set(ALL) <= table.keys():
        draw()


def draw() -> None:
    """The curves, from the last run over all stages."""
    from matplotlib import pyplot as plt

    read = json.loads(RESULTS.read_text())
    table = {stage: read[stage] for stage in ALL}
    figure, axes = plt.subplots(1, len(PANELS), figsize=(17, 3.4), constrained_layout=True)
    for axis, (key, title) in zip(axes, PANELS, strict=True):
        for name, (colour, line, mark) in SHOWN.items():
            values = [table[stage].get(name, {}).get(key, np.nan) for stage in table]
            axis.plot(list(table), values, color=colour, linestyle=line, marker=mark, label=name)
        axis.set_title(title, fontsize=9)
        axis.set_ylim(bottom=0)
        axis.grid(color="#e2e5e8")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--draw"]:
        draw()
    elif sys.argv[1:2] == ["--measured"]:
        given = pickle.loads(Path(sys.argv[2]).read_bytes())  # noqa: S301 (our own file)
        print(json.dumps(measured(given, *sys.argv[3:])))
    elif sys.argv[1:2] == ["--beside"]:
        beside(pickle.loads(Path(sys.argv[2]).read_bytes()), sys.argv[3])  # noqa: S301 (our own file)
    elif sys.argv[1:2] == ["--routers"]:
        routers()
    else:
        main(sys.argv[1:] or list(ALL))
