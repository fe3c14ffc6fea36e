"""Results of five systems under token budgets, worked out by the program itself from made-up answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.records import Arm, Item
from assay.core.registry import MEASURES, Registry
from assay.core.results import Results, TrustSummary
from assay.gates.evaluator import Evaluator
from assay.gates.figures import evaluate_figures
from assay.kinds.hierarchy.report.curves import curve_section, curves_of
from assay.report.views import measure_infos
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows
from score_rows import Made, frame_of

BUDGETS: list[int | None] = [200, 400, 800, 1200, None]
# the share of items answerable at each budget, by system
SHARES = {
    "bm25": (0.22, 0.34, 0.46, 0.52, 0.60),
    "dense": (0.18, 0.30, 0.44, 0.50, 0.57),
    "hybrid": (0.30, 0.46, 0.58, 0.64, 0.70),
    "hybrid_rerank": (0.42, 0.57, 0.66, 0.70, 0.74),
    "flat_strong": (0.47, 0.64, 0.73, 0.755, 0.77),
}
PARITY = (
    "parity(within=0.02)(A@200({system}), A@400({system}), A@800({system}), A@1200({system}), "
    "A@inf({system}), A@inf(flat_strong))"
)


@dataclass(frozen=True)
class Answerable(Made):
    """Whether the context shows all that an answer needs."""

    cutoff: int | None = None
    family: ClassVar[str] = "A"
    at: ClassVar[str] = "tokens"
    binary: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"{self.family}@{self.cutoff or 'inf'}"


@dataclass(frozen=True)
class Area(Answerable):
    """The area under the curve."""

    family: ClassVar[str] = "AUC"
    binary: ClassVar[bool] = False


REGISTRY = Registry({MEASURES: {"A": Answerable, "AUC": Area}})
CURVE = [Answerable(budget) for budget in BUDGETS]
CURVES = curves_of([*CURVE, Area(1200)])


def answered(shares: Sequence[float], n: int, seed: int) -> dict[int | None, NDArray[np.float64]]:
    """Whether each item is answerable at each budget; one that is stays so at larger ones."""
    luck = np.random.default_rng(seed).permutation(n) / n
    return {budget: (luck < share).astype(float) for budget, share in zip(BUDGETS, shares, strict=True)}


def columns_of(n: int, stages: Sequence[str] = ("",)) -> dict[Any, NDArray[np.float64]]:
    columns: dict[Any, NDArray[np.float64]] = {}
    for step, stage in enumerate(stages):
        for seed, (system, shares) in enumerate(SHARES.items()):
            less = [share - 0.06 * step for share in shares]
            found = answered(less, n, 10 * step + seed)
            factors = [f"stage={stage}"] if stage else []
            for measure in CURVE:
                columns[(system, measure.name, *factors)] = found[measure.cutoff]
            # by trapezoids from 0 at no tokens
            at = [found[budget] for budget in BUDGETS[:4]]
            area = (
                100 * at[0] + 100 * (at[0] + at[1]) + 200 * (at[1] + at[2]) + 200 * (at[2] + at[3])
            ) / 1200
            columns[(system, "AUC@1200", *factors)] = area
    return columns


def budget_results(
    n: int = 180,
    stages: Sequence[str] = ("",),
    figures: dict[str, str] | None = None,
    systems: Sequence[str] = tuple(SHARES),
) -> Results:
    """The whole of it: means, differences, curves and figures over `n` items, half of them feasible."""
    items = [
        Item(f"q{at}", f"Question {at}", tags={"feasible": ["yes" if at % 2 else "no"]}) for at in range(n)
    ]
    columns = {key: column for key, column in columns_of(n, stages).items() if key[0] in systems}
    frame = frame_of(columns, items)
    rows = Rows(frame, items)
    measures = [*CURVE, Area(1200)]
    baseline = systems[-1]
    estimates, comparisons = summarise(
        rows, measures, ComparisonSettings(baseline, resamples=500, by=["feasible"])
    )
    evaluator = Evaluator(rows, REGISTRY, resamples=500, systems=systems)
    arms = list(dict.fromkeys(Arm(one.system, one.factors).name for one in estimates))
    made = Results(
        study="budgets",
        kind="",
        systems=list(systems),
        arms=arms,
        baseline=baseline if len(systems) > 1 else None,
        measures=measure_infos(measures),
        by=["feasible"],
        scores=frame.with_columns(pl.col("status").cast(pl.String)),
        estimates=estimates,
        comparisons=comparisons,
        verdicts=[],
        verdict=None,
        trust=TrustSummary({}, [], {}),
        figures=evaluate_figures({"Budget at parity": PARITY} if figures is None else figures, evaluator),
    )
    return with_curves(made)


def with_curves(results: Results) -> Results:
    """The same results with the section that their figures give."""
    section = curve_section(results, CURVES)
    return dataclasses.replace(results, sections=[] if section is None else [section])
