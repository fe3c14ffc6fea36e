"""Bootstrap intervals and sign-flip tests of many columns, beside scipy and ranx on the same data.

20 systems, 1,000 items, 5 measures; 10,000 resamples and 10,000 flips. Peers test one column at a time, so
they are timed on a stated part of the columns and scaled up.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from assay.stats.intervals import mean_intervals
from assay.stats.resample import cluster_sums
from assay.stats.tests import sign_flip, sign_flip_all_pairs

SYSTEMS, ITEMS, MEASURES, RESAMPLES = 20, 1_000, 5, 10_000
PART = 4  # columns a peer is timed on
RANX_SYSTEMS = 3  # systems given to ranx, which tests all their pairs
TARGET = 20.0

Floats = NDArray[np.float64]


def scores() -> Floats:
    """Reciprocal-rank-like scores: (items × systems × measures)."""
    random = np.random.default_rng(0)
    return random.choice([1, 1 / 2, 1 / 3, 1 / 4, 1 / 10, 0], size=(ITEMS, SYSTEMS, MEASURES))


def seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """The quickest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def our_intervals(table: Floats) -> None:
    columns = table.reshape(ITEMS, -1)
    mean_intervals(*cluster_sums(columns), [(0.0, 1.0)] * columns.shape[1], resamples=RESAMPLES)


def our_flips(table: Floats) -> None:
    sign_flip((table[:, 1:] - table[:, :1]).reshape(ITEMS, -1), flips=RESAMPLES)


def our_flips_all_pairs(table: Floats) -> None:
    for measure in range(MEASURES):
        sign_flip_all_pairs(table[:, :, measure], flips=RESAMPLES)


def scipy_intervals(table: Floats) -> float:
    def work() -> None:
        for column in table.reshape(ITEMS, -1).T[:PART]:
            stats.bootstrap(
                (column,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=1_000, rng=0
            )

    return seconds(work) / PART * SYSTEMS * MEASURES


def scipy_flips(table: Floats) -> float:
    def statistic(x: Floats, y: Floats, axis: int) -> Floats:
        return np.mean(x - y, axis=axis)

    def work() -> None:
        for column in table[:, 1 : PART + 1, 0].T:
            pair = (column, table[:, 0, 0])
            options = {"permutation_type": "samples", "n_resamples": RESAMPLES, "batch": 1_000, "rng": 0}
            stats.permutation_test(pair, statistic, **options)

    return seconds(work) / PART * (SYSTEMS - 1) * MEASURES


def ranx_flips(pairs: int) -> float:
    """ranx's Fisher randomisation, per pair and measure, scaled to `pairs` of them."""
    from ranx import Qrels, Run, compare

    random = np.random.default_rng(0)
    items, docs = [f"q{item}" for item in range(ITEMS)], [f"d{doc}" for doc in range(10)]
    qrels = Qrels({item: {docs[random.integers(10)]: 1} for item in items})
    runs = [
        Run(
            {item: dict(zip(docs, random.random(10).tolist(), strict=True)) for item in items},
            name=f"s{system}",
        )
        for system in range(RANX_SYSTEMS)
    ]

    def work(n_permutations: int) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            compare(qrels, runs, ["mrr@10"], stat_test="fisher", n_permutations=n_permutations)

    work(10)  # compiles, and is left out of the timing
    return seconds(lambda: work(RESAMPLES)) / (RANX_SYSTEMS * (RANX_SYSTEMS - 1) / 2) * pairs


def rows() -> list[dict[str, Any]]:
    """One row a comparison: ours and the peer's seconds for the whole of it."""
    table = scores()
    baseline, every = (SYSTEMS - 1) * MEASURES, SYSTEMS * (SYSTEMS - 1) // 2 * MEASURES
    intervals = seconds(lambda: our_intervals(table), repeats=5)
    flips = seconds(lambda: our_flips(table), repeats=5)
    all_pairs = seconds(lambda: our_flips_all_pairs(table), repeats=5)
    scaled = f"timed on {PART} columns, scaled"
    timed = [
        (
            f"{SYSTEMS * MEASURES} bootstrap intervals",
            intervals,
            f"scipy bootstrap ({scaled})",
            scipy_intervals(table),
        ),
        (f"{baseline} sign-flip tests", flips, f"scipy permutation_test ({scaled})", scipy_flips(table)),
        (
            f"{every} sign-flip tests, all pairs",
            all_pairs,
            f"ranx compare, fisher (timed on {RANX_SYSTEMS} systems and 1 measure, scaled)",
            ranx_flips(every),
        ),
    ]
    return [
        {
            "what": what,
            "ours_s": ours,
            "peer": peer,
            "peer_s": theirs,
            "ratio": theirs / ours,
            "target": TARGET,
            "met": theirs / ours >= TARGET,
        }
        for what, ours, peer, theirs in timed
    ]


def main() -> None:
    """Prints the table."""
    print(f"{SYSTEMS} systems × {ITEMS} items × {MEASURES} measures, {RESAMPLES} resamples or flips")
    for row in rows():
        verdict = "met" if row["met"] else "missed"
        print(
            f"{row['what']:36} ours {row['ours_s']:6.2f} s   {row['peer_s']:7.1f} s {row['peer']}"
            f"   {row['ratio']:.0f}× (target {row['target']:.0f}×: {verdict})"
        )


if __name__ == "__main__":
    main()
