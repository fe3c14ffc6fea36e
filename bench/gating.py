"""A verdict from what is stored: `assay gate` on 1,000 items × 20 systems, of which the best must gain.

The gate chooses among 19 candidates by `max`, so that all of them share one error budget. Answers are stored
beforehand. Time is that of the whole command, start of Python included; the quickest of a few runs counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench.size import sized

SYSTEMS, ITEMS, DOCS = sized((20, 1_000, 2_000), (4, 30, 60))
REPEATS = sized(3, 1)
TARGET = 2.0  # seconds
DEPTH = 10


def write_study(folder: Path) -> None:
    """A corpus, one relevant document per query, and a ranking per system that finds it rather often."""
    random = np.random.default_rng(0)
    data = folder / "data"
    (data / "qrels").mkdir(parents=True)
    docs = [f'{{"_id": "d{at}", "title": "", "text": "text {at}"}}' for at in range(DOCS)]
    (data / "corpus.jsonl").write_text("\n".join(docs) + "\n")
    queries = [f'{{"_id": "q{at}", "text": "question {at}"}}' for at in range(ITEMS)]
    (data / "queries.jsonl").write_text("\n".join(queries) + "\n")
    qrels = ["query-id\tcorpus-id\tscore", *(f"q{at}\td{at % DOCS}\t1" for at in range(ITEMS))]
    (data / "qrels" / "test.tsv").write_text("\n".join(qrels) + "\n")
    for system in range(SYSTEMS):
        ranks = random.geometric(0.25 + 0.005 * system, size=ITEMS)
        others = random.integers(0, DOCS, size=(ITEMS, DEPTH))
        lines = []
        for item in range(ITEMS):
            found = dict.fromkeys(f"d{each}" for each in others[item] if each != item % DOCS)
            ranked = list(found)[: DEPTH - 1]
            if ranks[item] <= len(ranked) + 1:
                ranked.insert(int(ranks[item]) - 1, f"d{item % DOCS}")
            lines += [f"q{item} Q0 {doc} {rank + 1} {DEPTH - rank} s" for rank, doc in enumerate(ranked)]
        (folder / f"s{system}.run").write_text("\n".join(lines) + "\n")
    candidates = [f"RR@10(s{at})" for at in range(1, SYSTEMS)]
    systems = "".join(f"\n  s{at}: replay(path=s{at}.run)" for at in range(SYSTEMS))
    (folder / "study.yaml").write_text(
        f"""kind: search
data: data
systems:{systems}
baseline: s0
measures: [RR@10, nDCG@10]
gates:
  best:
    go: ["max({", ".join(candidates)}) >= RR@10(s0) + 0.02"]
"""
    )


def command(*words: str) -> float:
    """How long a command takes; a verdict is an answer, whichever it is."""
    start = time.perf_counter()
    words = (sys.executable, "-m", "assay", *words)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 10, 11}:
        raise RuntimeError(done.stderr)
    return time.perf_counter() - start


def rows() -> list[dict[str, Any]]:
    """One row: the seconds of the command, beside the seconds it may take."""
    with tempfile.TemporaryDirectory() as place:
        write_study(Path(place))
        command("run", place)
        quickest = min(command("gate", place) for _ in range(REPEATS))
    return [
        {
            "what": f"assay gate, {ITEMS} items × {SYSTEMS} systems, best of {SYSTEMS - 1}",
            "ours_s": quickest,
            "peer": "",
            "peer_s": None,
            "ratio": None,
            "target": f"{TARGET:g} s",
            "met": quickest <= TARGET,
        }
    ]
