"""Measures that ask of one answer whether it is as its item expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

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
