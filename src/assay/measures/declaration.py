"""Measures that ask of one answer whether it is as its item expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.core.errors import UsageError
from assay.measures.parse import measure_name


@dataclass(frozen=True)
class ExpectationMeasure:
    """A measure that asks of one answer whether it is as its item expects: 1 or 0.

    What an answer does not say is an answer too: no route taken, a flag not set.
    """

    family: ClassVar[str]
    blank: ClassVar[frozenset[str]] = frozenset()
    pooled: ClassVar[bool] = False
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return measure_name(self)


@dataclass(frozen=True)
class TopHitsMeasure:
    """A measure of the hits within a cut-off: higher is better, from 0 to 1, 0 when nothing came back."""

    cutoff: int = 10

    family: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"hits", "labels"})
    at: ClassVar[str] = "rank"
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None] = 1.0
    absent: ClassVar[float | None] = 0.0
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.cutoff < 1:
            raise UsageError(f"{self.family}: the cut-off is {self.cutoff}, and must be at least 1.")

    @property
    def name(self) -> str:
        return measure_name(self)
