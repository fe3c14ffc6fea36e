"""Measures side by side with pytrec-eval-terrier, ir_measures and ranx: arrays to scores, files to scores.

10,000 queries × 100 documents, 20 judgments each; nDCG@10, AP, RR@10 (pytrec-eval has recip_rank only), P@10
and R@100. Everybody runs in processes of its own, best of three; imports are not counted. From files nobody
is warmed up: it is the first call of a fresh process, best of five. ranx compiles itself at first use and
keeps the result on disk, so that it is shown three times: with nothing compiled, in a fresh process, warm.
The run file stands in rank order, as run files do.

    python -m bench.measures
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.size import SMALL, sized

QUERIES, DEPTH, JUDGED, DOCS = sized(10_000, 100), 100, 20, 1_000_000
OURS = ["nDCG@10", "AP", "RR@10", "P@10", "R@100"]
PYTREC = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}
RANX = ["ndcg@10", "map", "mrr@10", "precision@10", "recall@100"]
ARRAYS = {"pytrec": 10, "ranx": 10, "ir_measures": 20}  # how many times faster we mean to be
FILES = {"pytrec": 3, "ranx": 20, "ir_measures": 10}
TITLES = {"pytrec": "pytrec-eval-terrier", "ir_measures": "ir_measures", "ranx": "ranx"}
REPEATS, STARTS = sized((3, 5), (1, 1))  # in one process, and of fresh processes
MEMORY = 1e9


def write_files(folder: Path) -> None:
    """A seeded run and its qrels; about half of what is judged is among what was retrieved."""
    import numpy as np

    rng = np.random.default_rng(20)
    with (folder / "run").open("w") as run, (folder / "qrels").open("w") as qrels:
        for query in range(QUERIES):
            docs = rng.choice(DOCS, DEPTH + JUDGED, replace=False)
            scores = np.sort(rng.random(DEPTH) * 30)[::-1]
            run.writelines(
                f"q{query} Q0 doc{doc:07d} {rank} {score:.6f} tag\n"
                for rank, (doc, score) in enumerate(zip(docs[:DEPTH], scores, strict=True), 1)
            )
            judged = np.concatenate([rng.choice(docs[:DEPTH], JUDGED // 2, replace=False), docs[DEPTH:]])
            grades = rng.integers(0, 3, JUDGED)
            qrels.writelines(
                f"q{query} 0 doc{doc:07d} {grade}\n"
                for doc, grade in zip(judged[:JUDGED], grades, strict=True)
            )


Calls = dict[str, Callable[[], Any]]


def ours(run: str, qrels: str) -> tuple[Callable[[], Any], Callable[[], Calls]]:
    """From files, and what else there is to time once everything is in memory."""
    from assay.core.gains import gain_matrix
    from assay.datasets.trec_files import read_qrels, read_run
    from assay.measures.files import score_files
    from assay.measures.parse import parse_measure

    def in_memory() -> Calls:
        measures: list[Any] = [parse_measure(name) for name in OURS]
        ranking, labels = read_run(run), read_qrels(qrels)
        items = labels["item"].unique(maintain_order=True).to_list()
        gains = gain_matrix(ranking, labels, items)
        return {
            "arrays": lambda: [measure.of(gains) for measure in measures],
            "build": lambda: gain_matrix(ranking, labels, items),
        }

    return lambda: score_files(run, qrels, OURS), in_memory


def pytrec(run: str, qrels: str) -> tuple[Callable[[], Any], Callable[[], Calls]]:
    import pytrec_eval

    def read() -> tuple[Any, Any]:
        with Path(run).open() as stream, Path(qrels).open() as judged:
            return pytrec_eval.parse_run(stream), pytrec_eval.parse_qrel(judged)

    def from_files() -> Any:
        ranking, labels = read()
        return pytrec_eval.RelevanceEvaluator(labels, PYTREC).evaluate(ranking)

    def in_memory() -> Calls:
        ranking, labels = read()
        evaluator = pytrec_eval.RelevanceEvaluator(labels, PYTREC)
        return {"arrays": lambda: evaluator.evaluate(ranking)}

    return from_files, in_memory


def ir_measures(run: str, qrels: str) -> tuple[Callable[[], Any], Callable[[], Calls]]:
    library: Any = importlib.import_module("ir_measures")
    measures = [library.parse_measure(name) for name in OURS]

    def from_files() -> Any:
        return list(library.iter_calc(measures, library.read_trec_qrels(qrels), library.read_trec_run(run)))

    def in_memory() -> Calls:
        ranking: dict[str, dict[str, float]] = {}
        for row in library.read_trec_run(run):
            ranking.setdefault(row.query_id, {})[row.doc_id] = row.score
        labels: dict[str, dict[str, int]] = {}
        for judgment in library.read_trec_qrels(qrels):
            labels.setdefault(judgment.query_id, {})[judgment.doc_id] = judgment.relevance
        return {"arrays": lambda: list(library.iter_calc(measures, labels, ranking))}

    return from_files, in_memory


def ranx(run: str, qrels: str) -> tuple[Callable[[], Any], Callable[[], Calls]]:
    library: Any = importlib.import_module("ranx")

    def read() -> tuple[Any, Any]:
        return library.Qrels.from_file(qrels, kind="trec"), library.Run.from_file(run, kind="trec")

    def from_files() -> Any:
        return library.evaluate(*read(), RANX, return_mean=False)

    def in_memory() -> Calls:
        labels, ranking = read()
        return {"arrays": lambda: library.evaluate(labels, ranking, RANX, return_mean=False)}

    return from_files, in_memory


PARTIES = {"ours": ours, "pytrec": pytrec, "ir_measures": ir_measures}
if not SMALL:  # it compiles for half a minute
    PARTIES["ranx"] = ranx


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def party(name: str, run: str, qrels: str, warm: str = "") -> dict[str, float]:
    """One party in this process: its first call from files; then, warm, everything, best of three."""
    from_files, in_memory = PARTIES[name](run, qrels)
    found = {"first": timed(from_files)}
    if warm:
        calls = {"files": from_files, **in_memory()}
        found |= {task: min(timed(call) for _ in range(REPEATS + 1)) for task, call in calls.items()}
    return found


def in_process(name: str, folder: Path, *more: str, env: dict[str, str] | None = None) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "bench.measures",
        name,
        str(folder / "run"),
        str(folder / "qrels"),
        *more,
    ]
    done = subprocess.run(command, check=True, capture_output=True, env={**os.environ, **(env or {})})
    found: dict[str, float] = json.loads(done.stdout)
    return found


def peak_of_scoring_files(folder: Path) -> float:
    """Peak memory, in bytes, of a process that does nothing but score the two files."""
    code = (
        "import resource, sys; from assay.measures.files import score_files;"
        "score_files(sys.argv[1], sys.argv[2], sys.argv[3:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    command = [sys.executable, "-c", code, str(folder / "run"), str(folder / "qrels"), *OURS]
    return float(subprocess.run(command, check=True, capture_output=True).stdout)


def rows() -> list[dict[str, Any]]:
    """What was measured: what, ours_s, peer, peer_s, ratio, target, met."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        fresh = {"NUMBA_CACHE_DIR": str(folder / "jit")}
        never = None if SMALL else in_process("ranx", folder, env=fresh)["first"]
        warm = {each: in_process(each, folder, "warm") for each in PARTIES}
        cold = {each: min(in_process(each, folder)["first"] for _ in range(STARTS)) for each in PARTIES}
        peak = peak_of_scoring_files(folder)
    return [
        *(
            row(
                "arrays to per-query scores",
                warm["ours"]["arrays"],
                TITLES[peer],
                warm[peer]["arrays"],
                times,
            )
            for peer, times in ARRAYS.items()
            if peer in warm
        ),
        row("frames to gain matrix (before arrays)", warm["ours"]["build"]),
        *(
            row("files to per-query scores, first call", cold["ours"], TITLES[peer], cold[peer], times)
            for peer, times in FILES.items()
            if peer in cold
        ),
        *(() if never is None else ranx_rows(never, cold["ours"], warm)),
        row(f"peak memory from files: {peak / 1e6:.0f} MB") | {"target": "< 1 GB", "met": peak < MEMORY},
    ]


def ranx_rows(never: float, cold: float, warm: dict[str, dict[str, float]]) -> Iterator[dict[str, Any]]:
    """ranx with nothing compiled, and with everything in memory."""
    yield row("files to per-query scores, first call", cold, "ranx, nothing compiled yet", never)
    yield row("files to per-query scores, warm", warm["ours"]["files"], "ranx", warm["ranx"]["files"])


def row(
    what: str,
    ours_s: float | None = None,
    peer: str = "",
    peer_s: float | None = None,
    target: float | None = None,
) -> dict[str, Any]:
    ratio = peer_s / ours_s if peer_s and ours_s else None
    met = None if target is None or ratio is None else ratio >= target
    times = {"what": what, "ours_s": ours_s, "peer": peer, "peer_s": peer_s}
    return times | {"ratio": ratio, "target": target, "met": met}


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(party(*sys.argv[1:])))
        return
    print(f"{'what':40} {'ours s':>8} {'peer':22} {'peer s':>8} {'ratio':>7} {'target':>7} met")
    for each in rows():
        cells = [f"{each[key]:.4f}" if each[key] is not None else "" for key in ("ours_s", "peer_s")]
        ratio = f"{each['ratio']:.1f}" if each["ratio"] else ""
        target = "" if each["target"] is None else each["target"]
        met = {True: "yes", False: "NO", None: ""}[each["met"]]
        print(
            f"{each['what']:40} {cells[0]:>8} {each['peer']:22} {cells[1]:>8} {ratio:>7} {target!s:>7} {met}"
        )


if __name__ == "__main__":
    main()
