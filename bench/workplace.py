"""The generated organisation: what building each stage takes, and what its text is like.

Every stage is built twice, each time in a process of its own, whose largest memory Linux tells; both must
give the same hash, and every stage must begin with the one before it. BM25 then answers the test queries.

    python -m bench.workplace            all stages
    python -m bench.workplace 10k 50k    some of them
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.corpus_profile import heaps, near_duplicates
from bench.size import sized

from assay.core.dataset import digest
from assay.core.protocols import Kit
from assay.pipeline.evaluate import evaluate
from assay_worlds.suites.leaks import overlap_by_tag
from assay_worlds.suites.workplace import Workplace
from assay_worlds.workplace.corpus import SIZES, STAGES

SEED = 7
ALL = sized(STAGES, STAGES[:1])
STUDY = """
data: workplace(seed={seed}, stage={stage})
split: test
systems: {{bm25: bm25}}
measures: [nDCG@10]
compare: {{resamples: 1000}}
"""


def built(stage: str) -> dict[str, Any]:
    """One stage: seconds, memory, hashes of all of it and of what each earlier stage holds."""
    started = time.perf_counter()
    dataset = Workplace(stage, SEED).load(Kit())
    seconds = time.perf_counter() - started
    whole = dataset.hash
    begins = {
        earlier: digest(passage.text.encode() for passage in dataset.corpus.passages[: SIZES[earlier]])
        for earlier in STAGES[: STAGES.index(stage) + 1]
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {"passages": len(dataset.corpus), "seconds": seconds, "gib": peak, "hash": whole, "begins": begins}


def apart(stage: str) -> dict[str, Any]:
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.workplace", "--built", stage],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def text_of(stage: str) -> None:
    """Vocabulary, near-duplicates, and how much of a query stands in its evidence."""
    dataset = Workplace(stage, SEED).load(Kit())
    texts = [passage.text for passage in dataset.corpus.passages]
    growth = heaps(texts)
    alike = len(near_duplicates(texts)) / len(texts)
    law = f"V = {growth.k:.1f} n^{growth.beta:.3f}"
    print(f"  words {growth.words:,}, distinct {growth.distinct:,}; Heaps {law}")
    print(f"  near-duplicates (Jaccard of 5-word shingles at least 0.8): {alike:.2%}")
    shares = overlap_by_tag(item for item in dataset.items if item.split == "test")
    print(
        "  query words in evidence: " + ", ".join(f"{tag} {share:.2f}" for tag, (share, _) in shares.items())
    )


def ndcg(stage: str) -> None:
    """BM25 over title and text, passages as they are."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(STUDY.format(seed=SEED, stage=stage))
        (found,) = evaluate(path).estimates
    print(f"  BM25 nDCG@10 {found.value:.3f} [{found.low:.3f}, {found.high:.3f}], n {found.n_scored}")


def main(stages: list[str]) -> None:
    begins: dict[str, str] = {}
    for stage in stages:
        first, second = apart(stage), apart(stage)
        if first["hash"] != second["hash"]:
            raise SystemExit(f"{stage}: built twice, two hashes: {first['hash']} and {second['hash']}")
        for earlier, beginning in first["begins"].items():
            if begins.setdefault(earlier, beginning) != beginning:
                raise SystemExit(f"{stage} does not begin with {earlier}")
        took = " and ".join(f"{each['seconds']:.1f} s" for each in (first, second))
        memory = max(first["gib"], second["gib"])
        print(f"{stage}: {first['passages']:,} passages in {took}, {memory:.2f} GiB, twice {first['hash']}")
        text_of(stage)
        ndcg(stage)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--built"]:
        print(json.dumps(built(sys.argv[2])))
    else:
        main(sys.argv[1:] or list(ALL))
