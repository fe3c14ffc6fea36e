"""Statistics of clauses: precision, recall and F1 of a yes-or-no call, and the budget at parity.

Precision, recall and F1 read two columns of 0 and 1: the calls and the truth. If a row is the mean over
several seeds, its call lies between 0 and 1 and is the share of seeds that said yes. So every value counts
the answers of all seeds together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.core.errors import UsageError
from assay.measures.declaration import cutoff_of
from assay.stats.columns import TIE, finite_pair, ratio

if TYPE_CHECKING:
    from assay.core.protocols import Floats, Measure


def _call_counts(columns: Sequence[Floats], weights: Floats, name: str) -> tuple[Floats, Floats, Floats]:
    """Returns three weighted counts per resample: the true calls, all calls, and all rows that are true."""
    if len(columns) != 2:
        call = f"{name}(CallsImpossible(new), IsImpossible(new))"
        raise UsageError(f"{name} takes two columns, what was said and what is true, as in {call}.")
    said, true = finite_pair(*columns)
    if min(said.min(initial=0.0), true.min(initial=0.0)) < 0:
        raise UsageError(f"{name} takes columns of 0 and 1, and one holds a negative number.")
    return weights @ np.minimum(said, true), weights @ said, weights @ true


@dataclass(frozen=True)
class _CallShare:
    """A share of the true calls: of all calls, or of all rows that are true."""

    call: ClassVar[str]
    base: ClassVar[int]  # the index of the count that is the divisor
    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    settled: ClassVar[bool] = False  # a value that no resample changes is still not certain

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        counts = _call_counts(columns, weights, self.call)
        return ratio(counts[0], counts[self.base])

    def trials(self, columns: Sequence[Floats]) -> tuple[int, int]:
        """Returns the number of true calls, and the number that they are a share of. Each row counts once."""
        counts = _call_counts(columns, np.ones((1, len(columns[0]))), self.call)
        return int(counts[0][0]), int(counts[self.base][0])


@dataclass(frozen=True)
class Precision(_CallShare):
    """Precision: of the rows that were called, the share that is true; undefined if none was called."""

    call: ClassVar[str] = "precision"
    base: ClassVar[int] = 1


@dataclass(frozen=True)
class Recall(_CallShare):
    """Recall: of the rows that are true, the share that was called; undefined if none is true."""

    call: ClassVar[str] = "recall"
    base: ClassVar[int] = 2


@dataclass(frozen=True)
class DetectionF1:
    """F1: the harmonic mean of precision and recall.

    F1 is 0 if some rows were called but none is true, or some are true but none was called. It is undefined
    if no row was called and none is true. If every row was right, or none was, resampling cannot change the
    value, and there is no interval.
    """

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    settled: ClassVar[bool] = False  # a value that no resample changes is still not certain

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        both, said, true = _call_counts(columns, weights, "f1")
        return ratio(2 * both, said + true)


@dataclass(frozen=True)
class Parity:
    """The smallest budget T with mean(curve at T) >= mean(reference) - within; infinite if there is none.

    The last column is the reference, as in `parity(A@200(new), A@400(new), A@inf(new), A@inf(old))`. The
    columns before it are the curve of one system, with rising budgets. Nothing is interpolated: a curve is
    known only at its budgets. Without measures, the budgets are the numbers 1, 2, … of the columns.
    """

    reads: ClassVar[str] = "scores"
    stepwise: ClassVar[bool] = True  # its interval ends at budgets, never between two
    within: float = 0.02

    def __post_init__(self) -> None:
        if not (math.isfinite(self.within) and self.within >= 0):
            raise UsageError(f"within is {self.within:g}. Give what the curve may fall short, such as 0.02.")

    def of(self, measures: Sequence[Measure]) -> ParityAt:
        """Returns the statistic for these measures. The cut-offs of the measures are its budgets."""
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
    """Parity of a curve whose budgets are known."""

    within: float
    budgets: tuple[float, ...]

    reads: ClassVar[str] = "scores"
    stepwise: ClassVar[bool] = True
    unit: ClassVar[str] = "tokens"

    @property
    def most(self) -> float | None:
        """The largest bounded budget, or None if no budget is bounded. An infinite value lies above it."""
        return max((budget for budget in self.budgets if math.isfinite(budget)), default=None)

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        if len(columns) != len(self.budgets) + 1 or not self.budgets:
            raise UsageError(f"parity takes a curve and a reference, not {len(columns)} columns.")
        means = ratio(weights @ np.column_stack(columns), _repeat_columns(weights.sum(axis=1), len(columns)))
        reached = means[:, :-1] >= means[:, -1:] - self.within - TIE
        found = np.where(reached, np.array(self.budgets), np.inf).min(axis=1)
        return np.where(np.isnan(means[:, -1]), np.nan, found)


def _repeat_columns(totals: Floats, columns: int) -> Floats:
    return np.repeat(totals[:, None], columns, axis=1)


def without_cutoff(measure: Measure) -> str:
    """Returns the name of a measure without its cut-off: `A` for `A@400`."""
    head, sign, _ = measure.name.rpartition("@")
    return head if sign else measure.name


def _budget(measure: Measure) -> float:
    cutoff = cutoff_of(measure)
    return math.inf if cutoff is None else float(cutoff)
