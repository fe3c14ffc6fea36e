"""What people say of a whole response: how right it is, what it makes up, whether it answers everything.

The values are the raters' own; a response that nobody scored yet is unjudged. See `docs/scoring.md` for what
each grade means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block
from assay.measures.parse import measure_name

FIRST_ADDRESS = "assay.measures.rubric"

ACCURACY, HALLUCINATIONS, HALLUCINATION = "accuracy", "hallucinations", "hallucination"
COMPLETENESS, CITATION, CITATION_APPLIES = "completeness", "citation", "citation_applies"


def response_grades(block: Block, label: str) -> NDArray[np.float64]:
    """The grade of each item's response under a label; NaN where nobody gave one."""
    found = block.label(label).filter(pl.col("target").is_null(), pl.col("start").is_null())
    grades = dict(found.select("item", "grade").iter_rows())
    return np.array([grades.get(item_id, np.nan) for item_id in block.item_ids], dtype=np.float64)


@dataclass(frozen=True)
class _RubricMeasure:
    """A measure that is a grade of the response as a whole."""

    family: ClassVar[str]
    label: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"answer", "labels"})
    blank: ClassVar[frozenset[str]] = frozenset()  # an empty answer is scored like any other
    at: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    low: ClassVar[float] = 0.0
    high: ClassVar[float | None]
    absent: ClassVar[float | None] = None
    binary: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return measure_name(self)

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        return response_grades(block, self.label)


@dataclass(frozen=True)
class Accuracy(_RubricMeasure):
    """Factual accuracy against the gold answer: 0 wrong, 1 partly, 2 mostly, 3 fully correct."""

    family: ClassVar[str] = "Accuracy"
    label: ClassVar[str] = ACCURACY
    high: ClassVar[float | None] = 3.0


@dataclass(frozen=True)
class Hallucinations(_RubricMeasure):
    """How many distinct claims the source does not support: from 0, unbounded, lower is better."""

    family: ClassVar[str] = "Hallucinations"
    label: ClassVar[str] = HALLUCINATIONS
    better: ClassVar[str] = "lower"
    high: ClassVar[float | None] = None


@dataclass(frozen=True)
class Completeness(_RubricMeasure):
    """Whether every part of the question is addressed: 1 or 0."""

    family: ClassVar[str] = "Completeness"
    label: ClassVar[str] = COMPLETENESS
    high: ClassVar[float | None] = 1.0
    binary: ClassVar[bool] = True


@dataclass(frozen=True)
class CitationFidelity(_RubricMeasure):
    """How far citations point to the right place: 0 none, 1 inaccurate, 2 accurate; only where they apply."""

    family: ClassVar[str] = "CitationFidelity"
    label: ClassVar[str] = CITATION
    high: ClassVar[float | None] = 2.0

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.not_equal(response_grades(block, CITATION_APPLIES), 0.0)
