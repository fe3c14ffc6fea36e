"""The runner end to end: 20,000 items of a system that answers at once with ten hits, into the store.

Also how long `assay --help` takes, and that it loads no numeric library.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from bench.size import sized

from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.study.study import open_study

ITEMS, DEPTH, PASSAGES = sized((20_000, 10, 1_000), (200, 10, 50))
RATE = 5_000  # items a second
HELP_SECONDS, HELP_RUNS = 0.3, sized(5, 1)
HEAVY = ("numpy", "pandas", "polars", "scipy")
HELP = "from assay.cli.main import main; import sys; sys.argv = ['assay', '--help']; main()"

STUDY = """
data: data
systems: {instant: instant}
measures: [nDCG@10]
"""


@dataclass(frozen=True)
class Instant:
    """Answers at once: ten hits that depend on the query."""

    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Instant:  # noqa: ARG002
        return self

    def session(self) -> Instant:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:  # noqa: ARG002
        first = int(query.item_id[1:])
        return Response(hits=[Hit(f"d{(first + rank) % PASSAGES}", 1 / (rank + 1)) for rank in range(DEPTH)])


def write_study(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "study.yaml").write_text(STUDY)
    items = (
        {"item_id": f"q{n}", "text": f"question {n}", "gold": {"relevant": {f"d{n % PASSAGES}": 1}}}
        for n in range(ITEMS)
    )
    passages = ({"doc_id": f"d{n}", "text": f"passage {n}"} for n in range(PASSAGES))
    for name, lines in (("items", items), ("passages", passages)):
        (folder / f"data/{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def runner_seconds() -> dict[str, float]:
    """A run, another with nothing left to ask, and reading back into blocks; each opens the study anew."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_study(folder)
        registry = Registry({SYSTEMS: {"instant": Instant}})
        return {
            "run: plan, ask, journal, seal": seconds(
                lambda: run_study(open_study(folder, registry=registry))
            ),
            "run again: nothing to ask": seconds(lambda: run_study(open_study(folder, registry=registry))),
            "read back into blocks": seconds(
                lambda: Evaluation(open_study(folder, registry=registry)).blocks
            ),
        }


def help_seconds() -> float:
    """`assay --help` in a process of its own, the quickest of five."""
    command = [sys.executable, "-c", HELP]
    return min(
        seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(HELP_RUNS)
    )


def loaded_by_help() -> list[str]:
    """The heavy libraries that `assay --help` imports."""
    command = [sys.executable, "-X", "importtime", "-c", HELP]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in said.splitlines()}
    return [name for name in HEAVY if name in modules]


def row(what: str, ours: float, target: str, met: bool) -> dict[str, Any]:
    return {
        "what": what,
        "ours_s": ours,
        "peer": "",
        "peer_s": None,
        "ratio": None,
        "target": target,
        "met": met,
    }


def rows() -> list[dict[str, Any]]:
    """One row a measurement; there is no peer to run beside."""
    timed = runner_seconds()
    found = [
        row(f"{what} ({ITEMS / taken:,.0f} items/s)", taken, f"≥ {RATE:,} items/s", ITEMS / taken >= RATE)
        for what, taken in timed.items()
    ]
    taken, heavy = help_seconds(), loaded_by_help()
    loads = f"loads {', '.join(heavy)}" if heavy else "no numeric library loaded"
    met = taken <= HELP_SECONDS and not heavy
    found.append(row(f"assay --help ({loads})", taken, f"≤ {HELP_SECONDS} s", met))
    return found


def main() -> None:
    """Prints the table."""
    print(f"{ITEMS:,} items, {DEPTH} hits each")
    for each in rows():
        verdict = "met" if each["met"] else "missed"
        print(f"{each['what']:60} {each['ours_s']:6.2f} s   target {each['target']}: {verdict}")


if __name__ == "__main__":
    main()
