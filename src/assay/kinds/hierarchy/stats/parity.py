"""Budget at parity: the smallest budget at which a system does about as well as a reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.core.errors import UsageError
from assay.stats.columns import TIE, ratio

if TYPE_CHECKING:
    from assay.core.protocols import Floats, Measure


@dataclass(frozen=True)
class Parity:
    """The smallest budget T with mean(curve at T) >= mean(reference) - within; infinite where none is.

    The last column is the reference, as in `parity(A@200(new), A@400(new), A@inf(new), A@inf(old))`; those
    before it are one system's curve, budgets rising. Nothing is interpolated: a curve is known at its budgets
    alone. Bound to no measures, columns count from 1.
    """

    reads: ClassVar[str] = "scores"
    stepwise: ClassVar[bool] = True  # its interval ends at budgets, never between two
    within: float = 0.02

    def __post_init__(self) -> None:
        if not (math.isfinite(self.within) and self.within >= 0):
            raise UsageError(f"within is {self.within:g}. Give what the curve may fall short, such as 0.02.")

    def of(self, measures: Sequence[Measure]) -> ParityAt:
        """The statistic over these measures, whose cut-offs are the budgets."""
        *curve, reference = measures
        if not curve:
            raise UsageError("parity takes a curve, then a reference: parity(A@200(new), …, A@inf(old))")
        if others := [each.name for each in curve if without_cutoff(each) != without_cutoff(reference)]:
            raise UsageError(f"parity compares one measure, not {others[0]} with {reference.name}")
        if reference.at != "tokens" or reference.better != "higher":
            raise UsageError("parity takes a measure under a token budget that should be high, such as A")
        budgets = tuple(_budget(each) for each in curve)
        if list(budgets) != sorted(set(budgets)):
            raise UsageError("parity takes the budgets of a curve in rising order, each once")
        return ParityAt(self.within, budgets)

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        return ParityAt(self.within, tuple(map(float, range(1, len(columns))))).values(columns, weights)


@dataclass(frozen=True)
class ParityAt:
    """Parity with the budgets of its curve."""

    within: float
    budgets: tuple[float, ...]

    reads: ClassVar[str] = "scores"
    stepwise: ClassVar[bool] = True
    unit: ClassVar[str] = "tokens"

    @property
    def most(self) -> float | None:
        """The largest bounded budget: an infinite value lies above it."""
        return max((budget for budget in self.budgets if math.isfinite(budget)), default=None)

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        if len(columns) != len(self.budgets) + 1 or not self.budgets:
            raise UsageError(f"parity takes a curve and a reference, not {len(columns)} columns.")
        means = ratio(weights @ np.column_stack(columns), _beside(weights.sum(axis=1), len(columns)))
        reached = means[:, :-1] >= means[:, -1:] - self.within - TIE
        found = np.where(reached, np.array(self.budgets), np.inf).min(axis=1)
        return np.where(np.isnan(means[:, -1]), np.nan, found)


def _beside(totals: Floats, columns: int) -> Floats:
    return np.repeat(totals[:, None], columns, axis=1)


def without_cutoff(measure: Measure) -> str:
    """The name that a measure shares with itself at other cut-offs: `A` of `A@400`."""
    head, sign, _ = measure.name.rpartition("@")
    return head if sign else measure.name


def _budget(measure: Measure) -> float:
    cutoff = getattr(measure, "cutoff", None)
    return math.inf if cutoff is None else float(cutoff)
