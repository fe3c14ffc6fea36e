"""Measures of people's marks on whole responses: accuracy, hallucinations, completeness, citations.

The values are the grades that raters gave. A response without a mark is unjudged. `docs/scoring.md` explains
each grade.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.core.block import Block
from assay.measures.declaration import Declaration, DeclaredMeasure

FIRST_ADDRESS = "assay.measures.rubric"

ACCURACY, HALLUCINATIONS, HALLUCINATION = "accuracy", "hallucinations", "hallucination"
COMPLETENESS, CITATION, CITATION_APPLIES = "completeness", "citation", "citation_applies"


def response_grades(block: Block, label: str) -> NDArray[np.float64]:
    """Returns the grade of each item's response under a label, or NaN for a response without a grade."""
    found = block.label(label).filter(pl.col("target").is_null(), pl.col("start").is_null())
    grades = dict(found.select("item", "grade").iter_rows())
    return np.array([grades.get(item_id, np.nan) for item_id in block.item_ids], dtype=np.float64)


# an empty answer is scored like any other
rubric_declaration = partial(
    Declaration, needs=frozenset({"answer", "labels"}), absent=None, blank=frozenset()
)


@dataclass(frozen=True)
class _RubricMeasure(DeclaredMeasure):
    """A measure whose value is the raters' grade of the whole response."""

    label: ClassVar[str]

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.ones(len(block.items), dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        return response_grades(block, self.label)


@dataclass(frozen=True)
class Accuracy(_RubricMeasure):
    """Factual accuracy against the gold answer: 0 wrong, 1 partly, 2 mostly, 3 fully correct."""

    declares: ClassVar[Declaration] = rubric_declaration("Accuracy", high=3.0)
    label: ClassVar[str] = ACCURACY


@dataclass(frozen=True)
class Hallucinations(_RubricMeasure):
    """The number of distinct claims that the source does not support: 0 or more; lower is better."""

    declares: ClassVar[Declaration] = rubric_declaration("Hallucinations", better="lower", high=None)
    label: ClassVar[str] = HALLUCINATIONS


@dataclass(frozen=True)
class Completeness(_RubricMeasure):
    """Whether every part of the question is addressed: 1 or 0."""

    declares: ClassVar[Declaration] = rubric_declaration("Completeness", binary=True)
    label: ClassVar[str] = COMPLETENESS


@dataclass(frozen=True)
class CitationFidelity(_RubricMeasure):
    """How far citations point to the right place: 0 none, 1 inaccurate, 2 accurate.

    The measure does not apply to a response to which citations do not apply.
    """

    declares: ClassVar[Declaration] = rubric_declaration("CitationFidelity", high=2.0)
    label: ClassVar[str] = CITATION

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.not_equal(response_grades(block, CITATION_APPLIES), 0.0)
