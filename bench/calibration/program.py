"""The one place where the simulation calls the program under test: rows, gates, looks, baselines, tables.

It runs unchanged against an earlier version of the program, so it uses little of it, and looks for what may
not be there yet when it is asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import polars as pl
from bench.calibration.families import PairedScores
from bench.calibration.shapes import SLICES

from assay.core.errors import UsageError
from assay.core.protocols import Measure
from assay.core.records import Comparison, Estimate, Item, Verdict
from assay.core.registry import Registry
from assay.measures.parse import parse_measure
from assay.measures.score import STATUS
from assay.stats.compare import summarise
from assay.stats.resample import Draws, bootstrap_weights, cluster_sums
from assay.stats.rows import Rows

try:
    from assay.gates.evaluator import Evaluator
    from assay.gates.gate import Gate, GateFile
    from assay.gates.verdict import decide_gates
    from assay.stats.compare import ComparisonSettings
except ImportError:  # the earlier version that today's is compared with
    from assay.gates.evaluate import Evaluator

    from assay.gates.verdict import Gate, GateFile
    from assay.gates.verdict import decide as decide_gates
    from assay.stats.compare import Comparing as ComparisonSettings

RESAMPLES = 2_000
LEVEL = 0.95
MOST_GROWTH, LEAST_GROWTH = 2.0, 1.1  # of a study from one look to the next, whatever is advised
CLUSTER = "group"


class NotYet(Exception):
    """The program cannot decide such a cell; the message says what is missing."""


@cache
def registry() -> Registry:
    return Registry()


@cache
def measure_named(name: str) -> Measure:
    return parse_measure(name, registry())


@cache
def _plain_items(n: int) -> tuple[Item, ...]:
    return tuple(Item(f"i{index}", "", None, {"part": [f"p{index % SLICES}"]}) for index in range(n))


def rows_of(scores: PairedScores, measure: str, first: int | None = None) -> Rows:
    """Scores as the score stage leaves them: systems `old`, `v0`, `v1`, …; of a study's first items only."""
    n = scores.n if first is None else first
    names = ["old", *(f"v{index}" for index in range(len(scores.candidates)))]
    items: Sequence[Item] = _plain_items(n)
    if scores.clusters is not None:
        groups = scores.clusters.tolist()
        items = [
            Item(each.item_id, "", None, {**each.tags, CLUSTER: [f"g{group}"]})
            for each, group in zip(items, groups, strict=False)
        ]
    ids = [item.item_id for item in items]
    parts = []
    for name, values in zip(names, (scores.baseline, *scores.candidates), strict=True):
        for seed, column in enumerate(np.atleast_2d(values)):
            parts.append(
                pl.DataFrame({"item": ids, "value": column[:n]}).with_columns(
                    system=pl.lit(name),
                    factors=pl.lit("{}"),
                    arm=pl.lit(name),
                    seed=pl.lit(seed, pl.Int64),
                    measure=pl.lit(measure_named(measure).name),
                    status=pl.lit("scored", STATUS),
                )
            )
    return Rows(pl.concat(parts), items, None if scores.clusters is None else CLUSTER)


def gate_of(rules: Mapping[str, Any], *, strict: bool = False, planned: int | None = None) -> Gate:
    """A gate as a study file would declare it."""
    if planned is not None and "planned" in GateFile.model_fields:
        rules = {**rules, "planned": planned}
    if strict and "strict" not in GateFile.model_fields:
        raise NotYet("gates have no `strict` yet")
    try:
        return Gate.from_file("ship", GateFile(**rules, **({"strict": True} if strict else {})))
    except UsageError as error:
        raise NotYet(f"the clause is refused: {str(error).splitlines()[0]}") from error


def verdict_on(gate: Gate, rows: Rows, level: float = LEVEL, book: Any = None) -> Verdict:
    """What the program says of one gate; `book` remembers the looks before."""
    evaluator = Evaluator(rows, registry(), resamples=RESAMPLES, level=level)
    kept = KeptWeights(RESAMPLES, seed=0)  # what it would draw itself
    vars(evaluator).update(draws=kept, _draws=kept)
    (found,) = decide_gates([gate], evaluator, **({} if book is None else {"book": book}))
    # a clause about nothing is never decided, and would keep any budget
    if empty := [f"{clause.text}: {clause.reason}" for clause in found.clauses if not clause.n]:
        raise ValueError(f"no item applies to {empty[0]}")
    return found


class KeptWeights(Draws):
    """Bootstrap weights that all studies of one size share."""

    def weights(self, n: int) -> Iterator[Any]:
        return iter(_weights(n, self.resamples, self.seed))


@lru_cache(maxsize=8)
def _weights(n: int, resamples: int, seed: int) -> list[Any]:
    return list(bootstrap_weights(n, resamples, seed))


def verdicts_over_looks(
    gate: Gate, scores: PairedScores, measure: str, looks: int, *, planned: bool, first: int
) -> tuple[list[Verdict], Verdict]:
    """The verdicts at several looks at a study that grows, until one is decided; and a plain one at the last.

    Looks at a planned study are evenly spaced. Otherwise the next size is what the program advises, within
    reason.
    """
    sizes = [round(scores.n * look / looks) for look in range(1, looks + 1)] if planned else [first]
    found: list[Verdict] = []
    book = book_of_looks()
    for look in range(looks):
        if look == len(sizes):
            sizes.append(next_size(sizes[-1], advice_of(found[-1]), scores.n))
        rows = rows_of(scores, measure, sizes[look])
        found.append(verdict_on(gate, rows, book=book))
        if found[-1].verdict != "inconclusive" or sizes[look] >= scores.n:
            break
    return found, verdict_on(gate, rows)


def book_of_looks() -> Any:
    """What remembers the looks at a gate; None in a version that does not."""
    try:
        from assay.gates.looks import LookHistory
    except ImportError:
        return None
    return LookHistory()


def looks_are_recorded() -> bool:
    """Whether a decision takes earlier looks into account."""
    return book_of_looks() is not None


def advice_of(verdict: Verdict) -> int | None:
    """How many more items the program says are likely to settle a verdict."""
    found = (getattr(each, "advice", None) for each in verdict.clauses)
    return max((each.items or 0 for each in found if each is not None), default=0) or None


def next_size(n: int, advised: int | None, most: int) -> int:
    """The size of the next look: what was advised, grown by 10 % at least and to the double at most."""
    wanted = n * MOST_GROWTH if advised is None else n + advised
    return int(min(most, max(n * LEAST_GROWTH, min(wanted, n * MOST_GROWTH))))


def loss_is_shown(rows: Rows, measure: Measure) -> bool:
    """Whether a new version `v0` shows a loss against a stored version `old`."""
    from assay.stats.losses import loss_tests

    new, old = (rows.column(name, measure.name).values for name in ("v0", "old"))
    sign = -1.0 if measure.better == "lower" else 1.0
    lost, _ = cluster_sums(sign * (new - old), rows.clusters)
    return loss_tests(lost, RESAMPLES)[0].shown


def tables_of(rows: Rows, measure: Measure) -> tuple[Estimate, Comparison]:
    """The interval of one system and that of its difference from the baseline, as a report shows them."""
    estimates, comparisons = summarise(
        rows, [measure], ComparisonSettings("old", resamples=RESAMPLES, level=LEVEL)
    )
    return next(each for each in estimates if each.system == "v0"), comparisons[0]
