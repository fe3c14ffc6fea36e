"""Everything after the answers are stored: 50 queries, two systems, 28,000 passages of about 600 words.

The study is that of `assay init models`, its passages longer and twenty times as many. Systems are replayed,
so that neither embedding nor searching is in any figure. A process of its own each time, best of three;
imports are not counted. The peer does the judging alone, by hand: DuckDB with a query per clause, and a loop
over words and texts. It has less to do: it takes a word for found wherever its letters are.

    python -m bench.judging
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bench.size import sized

PASSAGES, MORE_WORDS, HITS = sized((28_000, 500, 20), (1_400, 5, 20))
REPEATS = sized(3, 1)
SECONDS = 5.0  # for judging, scoring and statistics together
MODELS = Path(__file__).parents[1] / "src/assay/kinds/models/template"
SYSTEMS = ("static", "minilm")

Part = tuple[float, float]  # seconds by the clock, seconds of all processors


# ------------------------------------------------------------------------------------------ the work


def write_study(folder: Path) -> None:
    """The passages, the golden set as it is, a run file a system, and the study; its answers stored."""
    import polars as pl

    from assay.pipeline.runner import run_study
    from assay.study.study import open_study

    passages = longer(pl.read_parquet(MODELS / "chunks.parquet"))
    passages.write_parquet(folder / "chunks.parquet")
    golden = (MODELS / "gold_queries.yaml").read_text()
    (folder / "gold_queries.yaml").write_text(golden)
    study = (MODELS / "study.yaml").read_text()
    for name in SYSTEMS:
        study = re.sub(rf"(?m)^  {name}: .*$", f"  {name}: replay(path={name}.run)", study)
    (folder / "study.yaml").write_text(study)
    draw = np.random.default_rng(5)
    doc_ids = passages["chunk_id"].to_list()
    for name in SYSTEMS:
        with (folder / f"{name}.run").open("w") as run:
            for item_id in re.findall(r"(?m)^  - id: (\S+)", golden):
                hits = draw.choice(len(doc_ids), HITS, replace=False)
                run.writelines(
                    f"{item_id} Q0 {doc_ids[hit]} {rank} {1 / rank:.6f} {name}\n"
                    for rank, hit in enumerate(hits, 1)
                )
    run_study(open_study(folder))


def longer(short: Any) -> Any:
    """Copies of the passages, each with words of its own after its text, drawn by Zipf's law."""
    import polars as pl
    from bench.retrieval import vocabulary

    words = np.array(vocabulary(), dtype=object)
    weights = 1 / (np.arange(len(words)) + 10)
    draw = np.random.default_rng(7)
    chosen = draw.choice(words, (PASSAGES, MORE_WORDS), p=weights / weights.sum())
    every = pl.concat([short] * -(-PASSAGES // len(short))).head(PASSAGES)
    copy = pl.int_range(PASSAGES) // len(short)
    return every.with_columns(
        pl.col("chunk_text") + pl.Series([" " + " ".join(row) for row in chosen]),
        chunk_id=pl.format("{}-{}", "chunk_id", copy),
        report_id=pl.when(copy == 0).then("report_id").otherwise(pl.format("{}-{}", "report_id", copy)),
    )


# ---------------------------------------------------------------------------------------- the parties


def ours(folder: Path) -> dict[str, Part]:
    """The stages of one evaluation, as `assay report` goes through them."""
    import scipy.stats  # noqa: F401

    from assay.pipeline.evaluation import Evaluation
    from assay.study.study import open_study

    study = open_study(folder)
    parts = {"load": timed(lambda: [study.dataset(arm).hash for arm in study.arms])}
    evaluation = Evaluation(study)
    (evaluation.store.root / "scores.parquet").unlink(missing_ok=True)
    parts["answers"] = timed(lambda: evaluation.items)
    parts["judge"] = timed(lambda: evaluation.labels)
    parts["score"] = timed(lambda: evaluation.scores)
    parts["statistics"] = timed(lambda: (evaluation.summary, evaluation.verdicts, evaluation.review))
    parts["results"] = timed(lambda: evaluation.results)
    return parts


def by_hand(folder: Path) -> dict[str, Part]:
    """The clauses and the words that our rules look up, by plain DuckDB and a loop."""
    import duckdb
    import polars as pl

    clauses, words = asked(folder)
    table = duckdb.connect()
    path = str(folder / "chunks.parquet")
    parts = {"load": timed(lambda: table.execute("CREATE TABLE chunks AS FROM read_parquet(?)", [path]))}
    texts = pl.read_parquet(path, columns=["chunk_text"])["chunk_text"].to_list()

    def sql() -> None:
        for clause in clauses:
            table.execute(f"SELECT chunk_id FROM chunks {clause}").fetchall()  # noqa: S608

    def signals() -> None:
        lowered = [text.lower() for text in texts]
        for word in words:
            _ = [word in text for text in lowered]

    return parts | {"sql": timed(sql), "signals": timed(signals)}


def asked(folder: Path) -> tuple[list[str], list[str]]:
    """The clauses and the words that the study's rules ask for."""
    from assay.study.study import open_study

    study = open_study(folder)
    items = study.dataset(study.arms[0]).items
    (rules,) = (judge for judge in study.judges if hasattr(judge, "rules_of"))
    clauses = [item.gold["sql"] for item in items if "sql" in rules.rules_of(item)]
    words = [
        word.lower() for item in items if "signals" in rules.rules_of(item) for word in item.gold["signals"]
    ]
    return clauses, list(dict.fromkeys(words))


PARTIES: dict[str, Callable[[Path], dict[str, Part]]] = {"ours": ours, "by hand": by_hand}


# --------------------------------------------------------------------------------------- measuring


def timed(work: Callable[[], Any]) -> Part:
    start, busy = time.perf_counter(), processors()
    work()
    return time.perf_counter() - start, processors() - busy


def processors() -> float:
    """The seconds that this process, and those it waited for, have had of all processors."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measured(party: str, folder: Path) -> dict[str, Part]:
    """The quickest of some processes."""
    command = [sys.executable, "-m", "bench.judging", party, str(folder)]
    seen: list[dict[str, Part]] = []
    for _ in range(REPEATS):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seen.append(json.loads(done.stdout.splitlines()[-1]))
    return min(seen, key=lambda parts: sum(wall for wall, _ in parts.values()))


def rows() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_study(folder)
        mine, peer = (measured(party, folder) for party in PARTIES)
    return list(_rows(mine, peer))


def _rows(mine: dict[str, Part], peer: dict[str, Part]) -> Iterator[dict[str, Any]]:
    by_peer = {"load": peer["load"], "judge": _sum(peer, "sql", "signals")}
    for part, seen in mine.items():
        yield _row(part, seen, by_peer.get(part))
    whole = _sum(mine, *(part for part in mine if part != "load"))
    target = {"target": f"< {SECONDS:g} s", "met": whole[0] < SECONDS}
    yield _row("all after loading", whole) | target


def _sum(parts: dict[str, Part], *names: str) -> Part:
    return sum(parts[name][0] for name in names), sum(parts[name][1] for name in names)


def _row(part: str, mine: Part, peer: Part | None = None) -> dict[str, Any]:
    busy = f"{mine[1]:.1f} s of processors" + (f", peer {peer[1]:.1f} s" if peer else "")
    return {
        "what": f"{PASSAGES:,} passages, {part} ({busy})",
        "ours_s": mine[0],
        "peer": "DuckDB + loops, by hand" if peer else "",
        "peer_s": peer[0] if peer else None,
        "ratio": peer[0] / mine[0] if peer else None,
        "target": None,
        "met": None,
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        party, place = sys.argv[1:]
        print(json.dumps(PARTIES[party](Path(place))))
    else:
        for each in rows():
            peer_s = "" if each["peer_s"] is None else f"{each['peer']} {each['peer_s']:.2f} s"
            met = "" if each["met"] is None else f"{each['target']}: {'met' if each['met'] else 'missed'}"
            print(f"{each['what']:75} {each['ours_s']:6.2f} s  {peer_s}{met}")
