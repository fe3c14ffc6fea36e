"""Bootstrap intervals and sign-flip tests of many columns, beside scipy and ranx.

20 systems, 1,000 items, 5 measures; 10,000 resamples and 10,000 flips. Peers test one column at a time, so
they are timed on a stated part of the work and scaled up. scipy gets our scores; ranx takes runs, so it gets
random runs with as many items. Either side runs equally often, in turn, and its quickest run counts.

On a machine that is busy otherwise set OPENBLAS_NUM_THREADS=1: threads that wait for a core cost the matrix
product more than they bring, and the figures swing.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from bench.size import SMALL, sized
from numpy.typing import NDArray
from scipy import stats

from assay.stats.intervals import mean_intervals
from assay.stats.paired_tests import sign_flip, sign_flip_all_pairs
from assay.stats.resample import cluster_sums

SYSTEMS, ITEMS, MEASURES, RESAMPLES = sized((20, 1_000, 5, 10_000), (5, 50, 2, 100))
PART = 4  # columns a peer is timed on
RANX_SYSTEMS = 3  # systems given to ranx, which tests all their pairs
REPEATS = sized(3, 1)
TARGET = 20.0

Floats = NDArray[np.float64]


def scores() -> Floats:
    """Reciprocal-rank-like scores: (items × systems × measures)."""
    random = np.random.default_rng(0)
    return random.choice([1, 1 / 2, 1 / 3, 1 / 4, 1 / 10, 0], size=(ITEMS, SYSTEMS, MEASURES))


def seconds(work: Callable[[], Any]) -> float:
    """How long one run takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def our_intervals(table: Floats) -> None:
    columns = table.reshape(ITEMS, -1)
    mean_intervals(*cluster_sums(columns), [(0.0, 1.0)] * columns.shape[1], resamples=RESAMPLES)


def our_flips(table: Floats) -> None:
    sign_flip((table[:, 1:] - table[:, :1]).reshape(ITEMS, -1), flips=RESAMPLES)


def our_flips_all_pairs(table: Floats) -> None:
    for measure in range(MEASURES):
        sign_flip_all_pairs(table[:, :, measure], flips=RESAMPLES)


def scipy_intervals(table: Floats) -> None:
    for column in table.reshape(ITEMS, -1).T[:PART]:
        stats.bootstrap((column,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=1_000, rng=0)


def scipy_flips(table: Floats) -> None:
    def statistic(x: Floats, y: Floats, axis: int) -> Any:
        return np.mean(x - y, axis=axis)

    for column in table[:, 1 : PART + 1, 0].T:
        pair = (column, table[:, 0, 0])
        options = {"permutation_type": "samples", "n_resamples": RESAMPLES, "batch": 1_000, "rng": 0}
        stats.permutation_test(pair, statistic, **options)


def ranx_flips() -> Callable[[], None]:
    """All pairs of a few random runs on one measure by Fisher's randomisation, compiled beforehand."""
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

    def work(flips: int = RESAMPLES) -> None:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ranx's compiled code warns of casts
            compare(qrels, runs, ["mrr@10"], stat_test="fisher", n_permutations=flips)

    work(10)
    return work


def rows() -> list[dict[str, Any]]:
    """One row a comparison: seconds for the whole of it, the quickest of as many runs on either side."""
    table = scores()
    means, tests = SYSTEMS * MEASURES, (SYSTEMS - 1) * MEASURES
    pairs, ranx_pairs = SYSTEMS * (SYSTEMS - 1) // 2 * MEASURES, RANX_SYSTEMS * (RANX_SYSTEMS - 1) // 2
    timed: list[tuple[str, Callable[[], None], str, Callable[[], None], float]] = [
        (
            f"{means} bootstrap intervals",
            partial(our_intervals, table),
            "scipy bootstrap *",
            partial(scipy_intervals, table),
            means / PART,
        ),
        (
            f"{tests} sign-flip tests",
            partial(our_flips, table),
            "scipy permutation_test *",
            partial(scipy_flips, table),
            tests / PART,
        ),
    ]
    if not SMALL:  # ranx compiles for half a minute
        timed.append(
            (
                f"{pairs} sign-flip tests, all pairs",
                partial(our_flips_all_pairs, table),
                "ranx compare, Fisher *",
                ranx_flips(),
                pairs / ranx_pairs,
            )
        )
    return [_row(*each) for each in timed]


def _row(
    what: str, ours: Callable[[], None], peer: str, theirs: Callable[[], None], scale: float
) -> dict[str, Any]:
    turns = [(seconds(ours), seconds(theirs)) for _ in range(REPEATS)]  # in turn: both meet the same load
    ours_s, peer_s = min(one for one, _ in turns), min(other for _, other in turns) * scale
    ratio = peer_s / ours_s
    return {
        "what": what,
        "ours_s": ours_s,
        "peer": peer,
        "peer_s": peer_s,
        "ratio": ratio,
        "target": TARGET,
        "met": ratio >= TARGET,
    }


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
