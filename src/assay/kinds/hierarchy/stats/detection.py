"""Precision, recall and F1 of saying yes, over two columns: what was said, and what is true.

Both hold 0 and 1. Where a row is the mean over several seeds, what was said lies in between: it counts as
the share of seeds that said yes, so that every figure is that over the answers of all seeds together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.core.errors import UsageError
from assay.stats.columns import checked_pair, ratio

if TYPE_CHECKING:
    from assay.core.protocols import Floats


def _counts(columns: Sequence[Floats], weights: Floats, name: str) -> tuple[Floats, Floats, Floats]:
    """How often yes was said and true, was said, and was true, in each resample."""
    if len(columns) != 2:
        call = f"{name}(CallsImpossible(new), IsImpossible(new))"
        raise UsageError(f"{name} takes two columns, what was said and what is true, as in {call}.")
    said, true = checked_pair(*columns)
    if min(said.min(initial=0.0), true.min(initial=0.0)) < 0:
        raise UsageError(f"{name} takes columns of 0 and 1, and one holds a negative number.")
    return weights @ np.minimum(said, true), weights @ said, weights @ true


def _once(columns: Sequence[Floats], of: int, name: str) -> tuple[int, int]:
    """Said and true, and the count it is a share of, each row once."""
    counts = _counts(columns, np.ones((1, len(columns[0]))), name)
    return int(counts[0][0]), int(counts[of][0])


@dataclass(frozen=True)
class Precision:
    """Precision: of the rows where yes was said, the share where it is true; undefined where it never was."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    settled: ClassVar[bool] = False  # that no resample moves it does not make it certain

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        both, said, _ = _counts(columns, weights, "precision")
        return ratio(both, said)

    def trials(self, columns: Sequence[Floats]) -> tuple[int, int]:
        """How often it was right, of how often yes was said."""
        return _once(columns, 1, "precision")


@dataclass(frozen=True)
class Recall:
    """Recall: of the rows where yes is true, the share where it was said; undefined where it never is."""

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    settled: ClassVar[bool] = False  # that no resample moves it does not make it certain

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        both, _, true = _counts(columns, weights, "recall")
        return ratio(both, true)

    def trials(self, columns: Sequence[Floats]) -> tuple[int, int]:
        """How often it was said, of how often yes is true."""
        return _once(columns, 2, "recall")


@dataclass(frozen=True)
class F1:
    """F1: the harmonic mean of precision and recall.

    0 where yes was said and never true, or true and never said; undefined where it was neither. Where every
    row was right, or none was, resampling shows nothing, and there is no interval.
    """

    reads: ClassVar[str] = "scores"
    takes: ClassVar[int] = 2
    settled: ClassVar[bool] = False  # that no resample moves it does not make it certain

    def values(self, columns: Sequence[Floats], weights: Floats) -> Floats:
        both, said, true = _counts(columns, weights, "f1")
        return ratio(2 * both, said + true)
